//! Random chains of views: what they are made of, their text, and what they compute.
//!
//! As in `random_programs`, a case is the interpretation of a recipe of plain choices, so that a failing recipe can be made smaller.

use crate::array::Array;
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

/// More elements take the simulator of a debug build too long.
const MOST_ELEMENTS: usize = 20_000;
const MOST_DIMS: usize = 5;

/// Around multiples of a stick of 64, and of its half.
const SIZES: [usize; 16] = [1, 2, 3, 4, 31, 32, 33, 63, 64, 64, 65, 127, 128, 128, 129, 130];
/// What stands for a size that would make a case too large.
const SMALL_SIZES: [usize; 4] = [1, 2, 3, 5];
/// Elements of a stick.
const STICK: usize = 64;

/// Options of a batch of cases.
pub(crate) struct Choice {
    pub(crate) cores: &'static str,
    pub(crate) sticks: &'static str,
    pub(crate) addresses: &'static str,
    pub(crate) lx_planner: &'static str,
}

impl Choice {
    /// The options of a batch.
    pub(crate) fn of(batch: usize) -> Self {
        let pick = |from: [&'static str; 2], every: usize| from[batch / every % 2];
        Self {
            cores: ["32", "1", "2", "5"][batch % 4],
            sticks: pick(["global", "greedy"], 4),
            addresses: pick(["symbolic", "baked"], 8),
            lx_planner: pick(["first-fit", "none"], 16),
        }
    }
}

/// One step of the chain.
#[derive(Clone, Debug)]
enum Step {
    Permute(Vec<Index>),
    /// For each dimension: whether it is cut, whether its offset is a multiple of the stick, the offset and the size.
    Slice(Vec<Cut>),
    Collapse(Index),
    Expand(Index, Index),
    Negate,
}

#[derive(Clone, Debug)]
struct Cut {
    is_cut: bool,
    at_stick: bool,
    offset: Index,
    size: Index,
}

/// The op at the end; its operands are read through permuted access maps.
#[derive(Clone, Debug)]
enum End {
    Negate(Vec<Index>),
    /// The sum with a slice of another argument.
    Add(Vec<Index>, Vec<Index>, Vec<Cut>),
    /// The largest along a dimension.
    Max(Index),
}

/// The choices behind a case.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    sizes: Vec<(usize, u8)>,
    steps: Vec<Step>,
    end: End,
}

pub(crate) fn recipes() -> impl Strategy<Value = Recipe> {
    let sizes = select(vec![1, 2, 2, 3, 3, 4, 5]).prop_flat_map(|rank| vec((select(&SIZES[..]), any::<u8>()), rank));
    (sizes, vec(step(), 0..4), end()).prop_map(|(sizes, steps, end)| Recipe { sizes, steps, end })
}

fn order() -> impl Strategy<Value = Vec<Index>> {
    prop_oneof![1 => Just(vec![]), 2 => vec(any::<Index>(), MOST_DIMS)]
}

fn cuts() -> impl Strategy<Value = Vec<Cut>> {
    let choices = (prop::bool::weighted(0.5), prop::bool::weighted(0.9), any::<Index>(), any::<Index>());
    vec(choices.prop_map(|(is_cut, at_stick, offset, size)| Cut { is_cut, at_stick, offset, size }), MOST_DIMS)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => vec(any::<Index>(), MOST_DIMS).prop_map(Step::Permute),
        3 => cuts().prop_map(Step::Slice),
        1 => any::<Index>().prop_map(Step::Collapse),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(dim, divisor)| Step::Expand(dim, divisor)),
        1 => Just(Step::Negate),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => order().prop_map(End::Negate),
        3 => (order(), order(), cuts()).prop_map(|(one, two, cuts)| End::Add(one, two, cuts)),
        1 => any::<Index>().prop_map(End::Max),
    ]
}

impl Recipe {
    /// The shape of the argument.
    fn shape(&self) -> Vec<usize> {
        let mut shape: Vec<usize> = self.sizes.iter().map(|(size, _)| *size).collect();
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.sort_by_key(|&dim| self.sizes[dim].1);
        for dim in order {
            if shape.iter().product::<usize>() > MOST_ELEMENTS && shape[dim] > 5 {
                shape[dim] = SMALL_SIZES[usize::from(self.sizes[dim].1) % SMALL_SIZES.len()];
            }
        }
        shape
    }

    /// The case, whose names begin with its number in its batch.
    pub(crate) fn case(&self, number: usize) -> Case {
        let mut case = Case::new(number, &self.shape());
        self.steps.iter().for_each(|step| case.step(step));
        case.end(&self.end);
        case
    }
}

/// A permutation of some dimensions; the same order if there are no choices.
fn permutation(choices: &[Index], rank: usize) -> Vec<usize> {
    let mut rest: Vec<usize> = (0..rank).collect();
    let picked = |index: &Index| rest.remove(index.index(rest.len()));
    let mut order: Vec<usize> = choices.iter().take(rank).map(picked).collect();
    order.extend(rest);
    order
}

/// The offset and size of a cut of a dimension.
fn cut(cut: &Cut, size: usize) -> (usize, usize) {
    if !cut.is_cut {
        return (0, size);
    }
    let offset = cut.offset.index(size);
    let offset = if cut.at_stick { offset / STICK * STICK } else { offset };
    (offset, cut.size.index(size - offset) + 1)
}

fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

pub(crate) fn type_of(shape: &[usize]) -> String {
    format!("tensor<{}f16>", shape.iter().map(|size| format!("{size}x")).collect::<String>())
}

/// The access map of an operand whose dimension `order[dim]` is dimension `dim` of the iteration space.
fn access(order: &[usize]) -> String {
    let mut results = vec![0; order.len()];
    order.iter().enumerate().for_each(|(dim, &of_operand)| results[of_operand] = dim);
    format!("affine_map<({}) -> ({})>", list(dims(0..order.len())), list(dims(results)))
}

fn dims(numbers: impl IntoIterator<Item = usize>) -> impl Iterator<Item = String> {
    numbers.into_iter().map(|dim| format!("d{dim}"))
}

/// A chain of ops, its inputs and its result.
pub(crate) struct Case {
    number: usize,
    n_names: usize,
    /// The arguments' names and numbers.
    pub(crate) arguments: Vec<(String, Array)>,
    /// One op a line.
    pub(crate) lines: Vec<String>,
    /// The value at the end of the chain, and its name.
    pub(crate) result: (String, Array),
}

impl Case {
    fn new(number: usize, shape: &[usize]) -> Self {
        let name = format!("%c{number}_x");
        let array = Array::numbered(shape, number);
        Self { number, n_names: 0, arguments: vec![(name.clone(), array.clone())], lines: vec![], result: (name, array) }
    }

    fn new_name(&mut self) -> String {
        self.n_names += 1;
        format!("%c{}_{}", self.number, self.n_names)
    }

    /// The chain goes on with an op: its text after `=`, and what it gives.
    fn push(&mut self, text: &str, result: Array) {
        let name = self.new_name();
        self.lines.push(format!("{name} = {text} -> {}", type_of(&result.shape)));
        self.result = (name, result);
    }

    fn empty(&mut self, shape: &[usize]) -> String {
        let name = self.new_name();
        self.lines.push(format!("{name} = tensor.empty() : {}", type_of(shape)));
        name
    }

    fn shape(&self) -> Vec<usize> {
        self.result.1.shape.clone()
    }

    fn step(&mut self, step: &Step) {
        let rank = self.shape().len();
        match step {
            Step::Permute(choices) => self.transpose(&permutation(choices, rank)),
            Step::Slice(cuts) => self.slice(cuts),
            Step::Collapse(at) if rank > 1 => self.collapse(at.index(rank - 1)),
            Step::Expand(at, divisor) if (1..MOST_DIMS).contains(&rank) => self.expand(at.index(rank), divisor),
            Step::Negate => self.negate(&(0..rank).collect::<Vec<_>>()),
            Step::Collapse(_) | Step::Expand(..) => {}
        }
    }

    fn transpose(&mut self, order: &[usize]) {
        let (name, array) = self.result.clone();
        let result = array.permuted(order);
        let empty = self.empty(&result.shape);
        let (from, to) = (type_of(&array.shape), type_of(&result.shape));
        let own = self.new_name();
        self.lines.push(format!("{own} = linalg.transpose ins({name} : {from}) outs({empty} : {to}) permutation = [{}]", list(order)));
        self.result = (own, result);
    }

    fn slice(&mut self, cuts: &[Cut]) {
        let (name, array) = self.result.clone();
        self.result = self.sliced(&name, &array, cuts);
    }

    /// A slice of a value.
    fn sliced(&mut self, name: &str, array: &Array, cuts: &[Cut]) -> (String, Array) {
        let (offsets, sizes): (Vec<_>, Vec<_>) = array.shape.iter().zip(cuts).map(|(size, one)| cut(one, *size)).unzip();
        self.extract(name, array, &offsets, &sizes)
    }

    fn extract(&mut self, name: &str, array: &Array, offsets: &[usize], sizes: &[usize]) -> (String, Array) {
        let result = array.sliced(offsets, sizes);
        let own = self.new_name();
        let (ones, types) = (list(vec![1; sizes.len()]), [type_of(&array.shape), type_of(sizes)]);
        let [from, to] = types;
        self.lines.push(format!("{own} = tensor.extract_slice {name}[{}] [{}] [{ones}] : {from} to {to}", list(offsets), list(sizes)));
        (own, result)
    }

    /// Makes one dimension of two.
    fn collapse(&mut self, at: usize) {
        let (name, array) = self.result.clone();
        let mut shape = array.shape.clone();
        let inner = shape.remove(at + 1);
        shape[at] *= inner;
        let groups = groups(shape.len(), at);
        let (from, to) = (type_of(&array.shape), type_of(&shape));
        let own = self.new_name();
        self.lines.push(format!("{own} = tensor.collapse_shape {name} {groups} : {from} into {to}"));
        self.result = (own, array.reshaped(&shape));
    }

    /// Makes two dimensions of one.
    fn expand(&mut self, at: usize, divisor: &Index) {
        let (name, array) = self.result.clone();
        let size = array.shape[at];
        let divisors: Vec<usize> = (1..=size).filter(|divisor| size % divisor == 0).collect();
        let inner = *divisor.get(&divisors);
        let mut shape = array.shape.clone();
        shape[at] = size / inner;
        shape.insert(at + 1, inner);
        let groups = groups(array.shape.len(), at);
        let (from, to, sizes) = (type_of(&array.shape), type_of(&shape), list(&shape));
        let own = self.new_name();
        self.lines.push(format!("{own} = tensor.expand_shape {name} {groups} output_shape [{sizes}] : {from} into {to}"));
        self.result = (own, array.reshaped(&shape));
    }

    fn end(&mut self, end: &End) {
        let rank = self.shape().len();
        match end {
            End::Max(axis) if rank > 0 => self.max(axis.index(rank)),
            End::Max(_) => self.negate(&[]),
            End::Negate(choices) => self.negate(&permutation(choices, rank)),
            End::Add(one, two, cuts) => self.add(&permutation(one, rank), &permutation(two, rank), cuts),
        }
    }

    fn negate(&mut self, order: &[usize]) {
        let (name, array) = self.result.clone();
        let result = array.permuted(order).negated();
        let shape = type_of(&array.shape);
        self.generic(&[access(order)], &format!("{name} : {shape}"), "^bb0(%a: f16, %o: f16):\n    %r = arith.negf %a : f16", result);
    }

    fn generic(&mut self, accesses: &[String], inputs: &str, body: &str, result: Array) {
        let rank = result.shape.len();
        let same = access(&(0..rank).collect::<Vec<_>>());
        let empty = self.empty(&result.shape);
        let maps = list(accesses.iter().chain([&same]));
        let kinds = list(vec!["\"parallel\""; rank]);
        let to = type_of(&result.shape);
        let text = format!(
            "linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({inputs}) outs({empty} : {to}) {{ {} linalg.yield %r : f16 }}",
            body.replace('\n', " ")
        );
        self.push(&text, result);
    }

    /// Adds a slice of another argument, whose dimensions lie in another order.
    fn add(&mut self, order: &[usize], other_order: &[usize], cuts: &[Cut]) {
        let (name, array) = self.result.clone();
        let moved = array.permuted(order);
        let mut part = vec![0; moved.shape.len()];
        other_order.iter().zip(&moved.shape).for_each(|(&dim, &size)| part[dim] = size);
        let offsets: Vec<usize> =
            cuts.iter().take(part.len()).map(|cut| if cut.is_cut { [1, STICK][usize::from(cut.at_stick)] } else { 0 }).collect();
        let mut whole: Vec<usize> = part.iter().zip(&offsets).map(|(size, offset)| size + offset).collect();
        let is_part = offsets.iter().any(|offset| *offset > 0) && whole.iter().product::<usize>() <= MOST_ELEMENTS;
        if !is_part {
            whole.clone_from(&part);
        }
        let mut other = (format!("%c{}_y", self.number), Array::numbered(&whole, self.number + 17));
        self.arguments.push(other.clone());
        if is_part {
            other = self.extract(&other.0, &other.1, &offsets, &part);
        }
        let inputs = format!("{name}, {} : {}, {}", other.0, type_of(&array.shape), type_of(&part));
        let body = "^bb0(%a: f16, %b: f16, %o: f16):\n    %r = arith.addf %a, %b : f16";
        self.generic(&[access(order), access(other_order)], &inputs, body, moved.plus(&other.1.permuted(other_order)));
    }

    fn max(&mut self, axis: usize) {
        let (name, array) = self.result.clone();
        let result = array.largest(axis);
        let empty = self.empty(&result.shape);
        let (from, to) = (type_of(&array.shape), type_of(&result.shape));
        let (lowest, filled, own) = (self.new_name(), self.new_name(), self.new_name());
        self.lines.push(format!("{lowest} = arith.constant 0xFC00 : f16"));
        self.lines.push(format!("{filled} = linalg.fill ins({lowest} : f16) outs({empty} : {to}) -> {to}"));
        self.lines
            .push(format!("{own} = linalg.reduce {{ arith.maximumf }} ins({name} : {from}) outs({filled} : {to}) dimensions = [{axis}]"));
        self.result = (own, result);
    }
}

/// The groups of a reshape that joins dimensions `at` and `at + 1` of the longer shape, given the rank of the shorter one.
fn groups(rank: usize, at: usize) -> String {
    let group = |dim: usize| match dim.cmp(&at) {
        std::cmp::Ordering::Less => format!("[{dim}]"),
        std::cmp::Ordering::Equal => format!("[{dim}, {}]", dim + 1),
        std::cmp::Ordering::Greater => format!("[{}]", dim + 1),
    };
    format!("[{}]", list((0..rank).map(group)))
}
