//! Random programs: what they are made of, and their text.
//!
//! A program is the interpretation of a recipe of plain choices. Every recipe has one, whatever was left out of it, so that a failing
//! recipe can be made smaller piece by piece.

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

/// More elements take the simulator of a debug build too long.
const MOST_ELEMENTS: usize = 1 << 14;

/// Half of the largest f16: no intermediate value of the JIT may overflow, where the device would saturate.
const LARGEST: f64 = 32752.0;

/// The inputs are below this (`sim::seeded`).
const INPUT_BOUND: f64 = 4.0;

/// `exp` and `tanh` take values up to this, so never a long sum: an error relative to a sum is as large as what these functions tell apart.
const CURVED_BOUND: f64 = 8.0;

const OUTER_SIZES: [usize; 12] = [1, 2, 3, 5, 8, 16, 32, 33, 64, 70, 100, 128];
const LAST_SIZES: [usize; 11] = [1, 7, 32, 64, 64, 100, 128, 150, 192, 256, 512];
const ELEMENTS: [&str; 8] = ["f16", "f16", "f16", "f16", "f16", "f32", "f32", "bf16"];

/// The names of a matrix's dimensions, for `--dims` and `--tiles`.
const NAMES: [&str; 2] = ["A", "B"];

const OPTIONS: [&str; 16] = [
    "",
    "",
    "--lx-planner none",
    "--lx-planner greedy",
    "--lx-planner best-fit",
    "--cores 1",
    "--cores 2",
    "--cores 3",
    "--cores 4",
    "--cores 7",
    "--cores 16",
    "--lx-bytes 1024",
    "--lx-bytes 8192",
    "--lx-bytes 65536",
    "--loops unroll",
    "--addresses baked --loops unroll",
];

const ACTIONS: [Action; 20] = [
    Action::Unary("arith.negf"),
    Action::Unary("math.absf"),
    Action::Unary("math.exp"),
    Action::Unary("math.exp"),
    Action::Unary("math.tanh"),
    Action::Unary("math.tanh"),
    Action::Binary("arith.addf"),
    Action::Binary("arith.addf"),
    Action::Binary("arith.addf"),
    Action::Binary("arith.subf"),
    Action::Binary("arith.subf"),
    Action::Binary("arith.mulf"),
    Action::Binary("arith.mulf"),
    Action::Binary("arith.maximumf"),
    Action::Binary("arith.maximumf"),
    Action::Reduce("arith.addf"),
    Action::Reduce("arith.addf"),
    Action::Reduce("arith.maximumf"),
    Action::Reduce("arith.maximumf"),
    Action::Reduce("arith.maximumf"),
];

//===----------------------------------------------------------------------===//
// Recipes
//===----------------------------------------------------------------------===//

/// What one op does.
#[derive(Clone, Copy, Debug)]
enum Action {
    Unary(&'static str),
    Binary(&'static str),
    Reduce(&'static str),
}

/// One op: the operands are picked from the values that it may have.
#[derive(Clone, Debug)]
struct Step {
    action: Action,
    left: Index,
    right: Index,
    axis: Index,
    keeps_axis: bool,
}

/// An argument: the program's shape, or with some dimensions of size 1 or dropped.
#[derive(Clone, Debug)]
enum Argument {
    Full,
    Stretched(Vec<bool>),
    Dropped(Vec<bool>),
}

/// The choices behind a program.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    outer: Vec<usize>,
    last: usize,
    element: &'static str,
    /// The contracted size of a matrix product, with which the program begins.
    product: Option<usize>,
    arguments: Vec<Argument>,
    steps: Vec<Step>,
    second_result: Option<Index>,
    options: &'static str,
    tiles: Option<[Index; 2]>,
}

/// A program and how to compile it.
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) options: Vec<String>,
}

pub(crate) fn recipes() -> impl Strategy<Value = Recipe> {
    let outer = select(vec![0, 1, 1, 1, 1, 2, 2, 3]).prop_flat_map(|rank| vec(select(&OUTER_SIZES[..]), rank));
    let product = prop::option::weighted(0.3, select(vec![64, 128, 256]));
    let shape = (outer, select(&LAST_SIZES[..]), select(&ELEMENTS[..]), product);
    let content = (vec(argument(), 0..3), vec(step(), 1..7), prop::option::weighted(0.3, any::<Index>()));
    let tiles = prop::option::weighted(0.4, [any::<Index>(), any::<Index>()]);
    (shape, content, select(&OPTIONS[..]), tiles).prop_map(|(shape, content, options, tiles)| {
        let (outer, last, element, product) = shape;
        let (arguments, steps, second_result) = content;
        Recipe { outer, last, element, product, arguments, steps, second_result, options, tiles }
    })
}

fn argument() -> impl Strategy<Value = Argument> {
    let kept = || vec(any::<bool>(), 4);
    prop_oneof![2 => Just(Argument::Full), 1 => kept().prop_map(Argument::Stretched), 1 => kept().prop_map(Argument::Dropped)]
}

fn step() -> impl Strategy<Value = Step> {
    let choices = (select(&ACTIONS[..]), any::<Index>(), any::<Index>(), any::<Index>(), prop::bool::weighted(0.3));
    choices.prop_map(|(action, left, right, axis, keeps_axis)| Step { action, left, right, axis, keeps_axis })
}

impl Recipe {
    fn dims(&self) -> Vec<usize> {
        let mut dims = [&self.outer[..], &[self.last]].concat();
        while dims.iter().product::<usize>() > MOST_ELEMENTS {
            // The last of the largest, so that a size that is no power of two stays where it can.
            let largest = (0..dims.len()).max_by_key(|&dim| dims[dim]).unwrap_or(0);
            dims[largest] /= 2;
        }
        dims
    }

    pub(crate) fn program(&self) -> Program {
        let mut writer = Writer::new(self.dims(), self.element);
        // A reference in bf16 is itself off by four times what the tolerance gives an op, and sums up in bf16.
        match self.product.filter(|_| self.element != "bf16" && (2..=3).contains(&writer.dims.len())) {
            Some(k) => writer.product(k),
            None => writer.argument(&Argument::Full),
        }
        self.arguments.iter().for_each(|argument| writer.argument(argument));
        self.steps.iter().for_each(|step| writer.step(step));
        if writer.ops.is_empty() {
            let first = writer.full_values()[0].clone();
            writer.elementwise("arith.negf", &[&first], first.facts);
        }
        let mut results = vec![writer.values[writer.values.len() - 1].clone()];
        results.extend(self.second_result.map(|index| index.get(&writer.values).clone()));
        let mut options: Vec<String> = self.options.split_whitespace().map(str::to_owned).collect();
        options.extend(self.tiles.iter().flat_map(|tiles| writer.tile_options(tiles)));
        Program { text: writer.finish(&results), options }
    }
}

//===----------------------------------------------------------------------===//
// What the comparison with the JIT can bear
//===----------------------------------------------------------------------===//

/// What is known of a value's numbers.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// No element is larger than this.
    bound: f64,
    /// Every element is one of the inputs' or its negative: nothing was rounded on the way.
    is_exact: bool,
    /// An `exp` is behind it; a second one would multiply an error twice.
    is_grown: bool,
    /// A sum is behind it.
    is_summed: bool,
    /// The arguments behind it, a bit for each.
    sources: u32,
}

impl Facts {
    fn of_argument(position: usize) -> Self {
        Self { bound: INPUT_BOUND, is_exact: true, is_grown: false, is_summed: false, sources: 1 << position }
    }

    /// The result's facts, or none where the tolerance of the comparison does not cover the op.
    fn unary(self, op: &str, element: &str) -> Option<Self> {
        let is_curved = op.starts_with("math.") && op != "math.absf";
        let is_refused = is_curved && self.bound > CURVED_BOUND || op == "math.exp" && self.is_grown;
        let result = match op {
            "math.exp" => Self { bound: self.bound.exp(), is_exact: false, is_grown: true, ..self },
            "math.tanh" => Self { bound: 1.0, is_exact: false, ..self },
            _ => self,
        };
        Some(result).filter(|result| !is_refused && result.is_safe(element))
    }

    fn binary(self, op: &str, other: Self, element: &str) -> Option<Self> {
        let bound = match op {
            "arith.mulf" => self.bound * other.bound,
            "arith.maximumf" => self.bound.max(other.bound),
            _ => self.bound + other.bound,
        };
        let result = Self {
            bound,
            is_exact: op == "arith.maximumf" && self.is_exact && other.is_exact,
            is_grown: self.is_grown || other.is_grown,
            is_summed: self.is_summed || other.is_summed,
            sources: self.sources | other.sources,
        };
        let adds = matches!(op, "arith.addf" | "arith.subf");
        Some(result).filter(|result| !(adds && self.cancels(other)) && result.is_safe(element))
    }

    fn reduced(self, op: &str, length: usize, element: &str) -> Option<Self> {
        let result = match op {
            "arith.addf" => Self { bound: self.bound * length as f64, is_exact: false, is_summed: true, ..self },
            _ => self,
        };
        Some(result).filter(|result| result.is_safe(element))
    }

    /// Whether a sum or difference of both may be far smaller than they are, everywhere, and consist of their rounding errors. Values
    /// of unrelated inputs differ, unless both are long sums; of related inputs, if one is not rounded.
    fn cancels(self, other: Self) -> bool {
        let is_related = self.sources & other.sources != 0;
        !self.is_exact && !other.is_exact && (is_related || self.is_summed && other.is_summed)
    }

    /// In bf16 only what needs no rounding can be compared: half a unit of its last place is four of the device's.
    fn is_safe(self, element: &str) -> bool {
        self.bound <= LARGEST && (self.is_exact || element != "bf16")
    }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// A tensor of the program, and how its elements belong to the program's dimensions.
#[derive(Clone, Debug)]
struct Value {
    name: String,
    shape: Vec<usize>,
    map: String,
    facts: Facts,
}

struct Writer {
    dims: Vec<usize>,
    element: &'static str,
    arguments: Vec<Value>,
    /// Arguments with the program's dimensions, and results.
    values: Vec<Value>,
    /// The names of dimensions, for `--dims`.
    names: Vec<String>,
    ops: Vec<WrittenOp>,
}

/// An op's text, with what it needs around it.
struct WrittenOp {
    result: String,
    operands: Vec<String>,
    text: String,
}

impl Writer {
    fn new(dims: Vec<usize>, element: &'static str) -> Self {
        Self { dims, element, arguments: vec![], values: vec![], names: vec![], ops: vec![] }
    }

    fn type_of(&self, shape: &[usize]) -> String {
        let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{sizes}{}>", self.element)
    }

    fn types_of<'a>(&self, values: impl IntoIterator<Item = &'a Value>) -> String {
        values.into_iter().map(|value| self.type_of(&value.shape)).collect::<Vec<_>>().join(", ")
    }

    /// The map from the program's dimensions to some of them.
    fn map(&self, results: &[String]) -> String {
        let dims: Vec<_> = (0..self.dims.len()).map(|dim| format!("d{dim}")).collect();
        format!("affine_map<({}) -> ({})>", dims.join(", "), results.join(", "))
    }

    fn identity(&self) -> String {
        self.map(&(0..self.dims.len()).map(|dim| format!("d{dim}")).collect::<Vec<_>>())
    }

    fn add_argument(&mut self, shape: Vec<usize>, map: String) -> Value {
        let position = self.arguments.len();
        let value = Value { name: format!("%a{position}"), shape, map, facts: Facts::of_argument(position) };
        self.arguments.push(value.clone());
        value
    }

    fn argument(&mut self, argument: &Argument) {
        let all = 0..self.dims.len();
        let (shape, at): (Vec<usize>, Vec<String>) = match argument {
            Argument::Full => (self.dims.clone(), all.map(|dim| format!("d{dim}")).collect()),
            Argument::Stretched(kept) => {
                let at = |dim: usize| if kept[dim] || self.dims[dim] == 1 { format!("d{dim}") } else { "0".to_owned() };
                (all.clone().map(|dim| if kept[dim] { self.dims[dim] } else { 1 }).collect(), all.map(at).collect())
            }
            Argument::Dropped(kept) => all.filter(|&dim| kept[dim]).map(|dim| (self.dims[dim], format!("d{dim}"))).unzip(),
        };
        if shape.is_empty() {
            return;
        }
        if self.dims.len() == 2 && !at.contains(&"0".to_owned()) {
            let names: Vec<_> = at.iter().map(|dim| NAMES[usize::from(dim == "d1")]).collect();
            self.names.push(format!("{}={}", self.arguments.len(), names.join(":")));
        }
        let value = self.add_argument(shape, self.map(&at));
        self.values.push(value);
    }

    /// A matrix product of two arguments, or a batch of them.
    fn product(&mut self, k: usize) {
        let (batch, matrix) = self.dims.split_at(self.dims.len() - 2);
        let (left, right) = ([batch, &[matrix[0], k]].concat(), [batch, &[k, matrix[1]]].concat());
        let op = if batch.is_empty() { "linalg.matmul" } else { "linalg.batch_matmul" };
        if batch.is_empty() {
            self.names.extend(["0=A:K".to_owned(), "1=K:B".to_owned()]);
        }
        let operands = [left, right].map(|shape| self.add_argument(shape, String::new()));
        let facts = Facts { bound: INPUT_BOUND * INPUT_BOUND * k as f64, is_exact: false, is_summed: true, ..operands[0].facts };
        let facts = Facts { sources: facts.sources | operands[1].facts.sources, ..facts };
        let (name, shape, map) = (self.next_name(), self.dims.clone(), self.identity());
        let start = self.filled(&name, "0.0", &shape);
        let [x, y] = &operands;
        let (types, of_result) = (self.types_of(&operands), self.type_of(&shape));
        self.write(&format!("  {name} = {op} ins({}, {} : {types}) outs({start} : {of_result}) -> {of_result}\n", x.name, y.name));
        self.values.push(Value { name, shape, map, facts });
    }

    fn next_name(&mut self) -> String {
        let name = format!("%v{}", self.ops.len());
        self.ops.push(WrittenOp { result: name.clone(), operands: vec![], text: String::new() });
        name
    }

    /// Adds to the op that was named last.
    fn write(&mut self, text: &str) {
        self.ops.last_mut().unwrap().text += text;
    }

    fn empty(&mut self, name: &str, shape: &[usize]) -> String {
        self.write(&format!("  {name}_empty = tensor.empty() : {}\n", self.type_of(shape)));
        format!("{name}_empty")
    }

    fn filled(&mut self, name: &str, number: &str, shape: &[usize]) -> String {
        let (empty, element, of_result) = (self.empty(name, shape), self.element, self.type_of(shape));
        self.write(&format!("  {name}_from = arith.constant {number} : {element}\n"));
        self.write(&format!("  {name}_start = linalg.fill ins({name}_from : {element}) outs({empty} : {of_result}) -> {of_result}\n"));
        format!("{name}_start")
    }

    fn full_values(&self) -> Vec<Value> {
        let identity = self.identity();
        self.values.iter().filter(|value| value.map == identity).cloned().collect()
    }

    /// Writes the op if it has operands that the comparison can bear.
    fn step(&mut self, step: &Step) {
        let (element, full) = (self.element, self.full_values());
        let left = step.left.get(&full);
        match step.action {
            Action::Unary(op) => {
                let known = full.iter().filter_map(|value| Some((value, value.facts.unary(op, element)?))).collect::<Vec<_>>();
                if !known.is_empty() {
                    let (value, facts) = step.left.get(&known);
                    self.elementwise(op, &[value], *facts);
                }
            }
            Action::Binary(op) => {
                let others = self.values.clone();
                let known: Vec<_> = others.iter().filter_map(|other| Some((other, left.facts.binary(op, other.facts, element)?))).collect();
                if !known.is_empty() {
                    let (right, facts) = step.right.get(&known);
                    self.elementwise(op, &[left, right], *facts);
                }
            }
            Action::Reduce(op) => {
                let axis = step.axis.index(self.dims.len());
                if let Some(facts) = left.facts.reduced(op, self.dims[axis], element) {
                    self.reduce(op, left, axis, step.keeps_axis, facts);
                }
            }
        }
    }

    fn elementwise(&mut self, op: &str, operands: &[&Value], facts: Facts) {
        let (name, shape, map) = (self.next_name(), self.dims.clone(), self.identity());
        let empty = self.empty(&name, &shape);
        let scalars: Vec<_> = (0..operands.len()).map(|position| format!("%p{position}")).collect();
        let body = format!("{op} {}", scalars.join(", "));
        self.generic(&name, operands, &body, &empty, (&shape, &map), "parallel");
        self.values.push(Value { name, shape, map, facts });
    }

    fn reduce(&mut self, op: &str, operand: &Value, axis: usize, keeps_axis: bool, facts: Facts) {
        let name = self.next_name();
        // A result of rank 0 is another matter.
        let keeps_axis = keeps_axis || self.dims.len() == 1;
        let left = (0..self.dims.len()).filter(|&dim| keeps_axis || dim != axis);
        let (shape, at): (Vec<_>, Vec<_>) =
            left.map(|dim| if dim == axis { (1, "0".to_owned()) } else { (self.dims[dim], format!("d{dim}")) }).unzip();
        let lowest = match self.element {
            "f16" => "0xFC00",
            "bf16" => "0xFF80",
            _ => "0xFF800000",
        };
        let (map, start) = (self.map(&at), self.filled(&name, if op == "arith.addf" { "0.0" } else { lowest }, &shape));
        self.generic(&name, &[operand], &format!("{op} %p0, %out"), &start, (&shape, &map), &format!("reduction {axis}"));
        self.values.push(Value { name, shape, map, facts });
    }

    /// `kind` is `parallel`, or `reduction` and the dimension.
    fn generic(&mut self, name: &str, operands: &[&Value], body: &str, start: &str, (shape, map): (&[usize], &str), kind: &str) {
        let (element, of_result) = (self.element, self.type_of(shape));
        let reduced = kind.strip_prefix("reduction ");
        let kind_of = |dim: usize| if reduced == Some(dim.to_string().as_str()) { "\"reduction\"" } else { "\"parallel\"" };
        let kinds: Vec<_> = (0..self.dims.len()).map(kind_of).collect();
        let maps: Vec<_> = operands.iter().map(|operand| operand.map.as_str()).chain([map]).collect();
        let names: Vec<_> = operands.iter().map(|operand| operand.name.as_str()).collect();
        let scalars: String = (0..operands.len()).map(|position| format!("%p{position}: {element}, ")).collect();
        let text = format!(
            "  {name} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}}\n    \
               ins({} : {}) outs({start} : {of_result}) {{\n  \
             ^bb0({scalars}%out: {element}):\n    \
               %q = {body} : {element}\n    \
               linalg.yield %q : {element}\n  \
             }} -> {of_result}\n",
            maps.join(", "),
            kinds.join(", "),
            names.join(", "),
            self.types_of(operands.iter().copied()),
        );
        self.write(&text);
        self.ops.last_mut().unwrap().operands = names.into_iter().map(str::to_owned).collect();
    }

    /// `--dims` and `--tiles` for a program of matrices, with counts that divide.
    fn tile_options(&self, tiles: &[Index; 2]) -> Vec<String> {
        if self.dims.len() != 2 {
            return vec![];
        }
        let count = |dim: usize| {
            // A tile has whole sticks of 128 bytes.
            let unit = if dim == 0 { 1 } else { 128 / if self.element == "f32" { 4 } else { 2 } };
            let counts: Vec<usize> = (1..=8).filter(|count| *count == 1 || self.dims[dim].is_multiple_of(count * unit)).collect();
            *tiles[dim].get(&counts)
        };
        let counts: Vec<_> = (0..2).filter(|&dim| count(dim) > 1).map(|dim| format!("{}={}", NAMES[dim], count(dim))).collect();
        if counts.is_empty() { vec![] } else { vec!["--dims".to_owned(), self.names.join(","), "--tiles".to_owned(), counts.join(",")] }
    }

    /// The ops that the results need: the compiler drops the others, and a failure is easier to read without them.
    fn body(&self, results: &[&str]) -> String {
        let mut needed = results.to_vec();
        let mut ops = Vec::new();
        for op in self.ops.iter().rev() {
            if needed.contains(&op.result.as_str()) {
                needed.extend(op.operands.iter().map(String::as_str));
                ops.push(op.text.as_str());
            }
        }
        ops.into_iter().rev().collect()
    }

    fn finish(self, results: &[Value]) -> String {
        let arguments: Vec<_> = self.arguments.iter().map(|value| format!("{}: {}", value.name, self.type_of(&value.shape))).collect();
        let names: Vec<_> = results.iter().map(|value| value.name.as_str()).collect();
        let (types, body) = (self.types_of(results), self.body(&names));
        format!("func.func @main({}) -> ({types}) {{\n{body}  return {} : {types}\n}}\n", arguments.join(", "), names.join(", "))
    }
}
