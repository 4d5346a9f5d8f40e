//! A program as it grows: its values, with their dimensions and numbers, and its ops.

use crate::{
    array::{Array, Read, are_exact_products, mixed, odd_part},
    generate::{Action, Step, TiledOp},
    write::Op,
};
use proptest::sample::Index;

/// More elements, or points of a contraction, take the simulator of a debug build too long.
const MOST_ELEMENTS: usize = 1 << 14;
const MOST_POINTS: usize = 1 << 19;
const MOST_RANK: usize = 4;

/// The elements of a stick.
pub(crate) const STICK: usize = 64;

/// A dimension of the program. Tensors that have it have the same indices along it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dim {
    pub(crate) size: usize,
    /// None for a part of another dimension.
    pub(crate) name: Option<String>,
    /// The dimensions that a merged one consists of, outer and inner.
    pub(crate) parts: Option<[usize; 2]>,
}

/// A dimension of a tensor: one of the program's, or one of size 1.
pub(crate) type Axis = Option<usize>;

/// A tensor.
pub(crate) struct Value {
    pub(crate) axes: Vec<Axis>,
    pub(crate) array: Array,
    /// Whether the compiler can know the name of each dimension.
    pub(crate) is_known: Vec<bool>,
}

impl Value {
    pub(crate) fn type_text(&self) -> String {
        type_of(&self.array.shape)
    }

    fn dims(&self) -> impl Iterator<Item = usize> {
        self.axes.iter().flatten().copied()
    }

    fn has(&self, dim: usize) -> bool {
        self.axes.contains(&Some(dim))
    }
}

pub(crate) struct Builder {
    pub(crate) dims: Vec<Dim>,
    pub(crate) values: Vec<Value>,
    pub(crate) arguments: Vec<usize>,
    /// Arguments without names.
    nameless: Vec<usize>,
    pub(crate) ops: Vec<TiledOp>,
    seed: u64,
}

/// The iteration space of an op.
struct Space {
    axes: Vec<Axis>,
    sizes: Vec<usize>,
}

impl Space {
    /// The iteration dimensions behind a tensor's; one of size 1 is read at 0.
    fn map(&self, axes: &[Axis]) -> Vec<Option<usize>> {
        axes.iter().map(|axis| axis.and_then(|dim| self.axes.iter().position(|own| *own == Some(dim)))).collect()
    }

    fn map_text(&self, map: &[Option<usize>]) -> String {
        let results = map.iter().map(|dim| dim.map_or_else(|| "0".to_owned(), |dim| format!("d{dim}")));
        format!("affine_map<({}) -> ({})>", list((0..self.axes.len()).map(|dim| format!("d{dim}"))), list(results))
    }
}

pub(crate) fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

pub(crate) fn type_of(shape: &[usize]) -> String {
    format!("tensor<{}f16>", shape.iter().map(|size| format!("{size}x")).collect::<String>())
}

impl Builder {
    pub(crate) fn new(sizes: &[usize], seed: u64) -> Self {
        let dim =
            |(position, &size): (usize, &usize)| Dim { size, name: Some(["A", "B", "C", "D", "E"][position].to_owned()), parts: None };
        let dims = sizes.iter().enumerate().map(dim).collect();
        Self { dims, values: vec![], arguments: vec![], nameless: vec![], ops: vec![], seed }
    }

    pub(crate) fn shape(&self, axes: &[Axis]) -> Vec<usize> {
        axes.iter().map(|axis| axis.map_or(1, |dim| self.dims[dim].size)).collect()
    }

    fn space(&self, axes: Vec<Axis>) -> Space {
        Space { sizes: self.shape(&axes), axes }
    }

    /// The attribute that names an argument's dimensions.
    pub(crate) fn names_text(&self, value: usize) -> String {
        let axes = &self.values[value].axes;
        let name = |axis: &Axis| axis.and_then(|dim| self.dims[dim].name.clone()).unwrap_or_default();
        let names = list(axes.iter().map(|axis| format!("{:?}", name(axis))));
        if self.nameless.contains(&value) { String::new() } else { format!(" {{spyre.dims = [{names}]}}") }
    }

    /// What nobody reads: the results of the program.
    pub(crate) fn unread(&self) -> Vec<usize> {
        let is_read = |value: usize| self.ops.iter().any(|op| op.op.operands.contains(&value));
        self.ops.iter().map(|op| op.op.result).filter(|&value| !is_read(value)).collect()
    }

    //===------------------------------------------------------------------===//
    // Arguments
    //===------------------------------------------------------------------===//

    pub(crate) fn first_argument(&mut self, rank: Index, order: Index) {
        let n_dims = self.dims.len();
        let mut axes: Vec<Axis> = Vec::new();
        let mut choice = mixed(order.index(1 << 20) as u64) as usize;
        while axes.len() < 2 + rank.index(4) / 2 {
            // A wide dimension is among the first two.
            let from = if axes.len() == 1 { 2 } else { n_dims };
            let dim = choice % from;
            choice = mixed(choice as u64) as usize;
            if !axes.contains(&Some(dim)) {
                axes.push(Some(dim));
            }
        }
        if order.index(2) == 0 {
            axes.reverse();
        }
        while self.shape(&axes).iter().product::<usize>() > MOST_ELEMENTS {
            axes.remove(0);
        }
        self.argument(axes, false);
    }

    fn argument(&mut self, axes: Vec<Axis>, is_nameless: bool) -> usize {
        let number = self.values.len();
        let seed = mixed(self.seed ^ number as u64);
        let array = Array::seeded(&self.shape(&axes), seed, seed.is_multiple_of(3));
        let names: Vec<bool> = axes.iter().map(|axis| !is_nameless && axis.is_some_and(|dim| self.dims[dim].name.is_some())).collect();
        self.values.push(Value { axes, array, is_known: names });
        self.arguments.push(number);
        if is_nameless {
            self.nameless.push(number);
        }
        number
    }

    //===------------------------------------------------------------------===//
    // Steps
    //===------------------------------------------------------------------===//

    /// Adds the op of a step, unless it has no operands here or would round.
    pub(crate) fn step(&mut self, step: &Step) {
        let n_values = self.values.len();
        // The last values are taken more often.
        let back = [step.operand.index(n_values), step.operand.index(3)][usize::from(step.flag)];
        let operand = n_values - 1 - back.min(n_values - 1);
        match step.action {
            Action::Unary(function) => self.unary(function, operand),
            Action::Binary(function) => self.binary(function, operand, step),
            Action::Reduce(function) => self.reduce(function, operand, step),
            Action::Matmul => self.matmul(operand, step),
            Action::Transpose => self.transpose(operand, step),
            Action::Merge => self.merge(operand, step),
            Action::Split => self.split(operand, step),
            Action::Slice => self.slice(operand, step),
        }
    }

    pub(crate) fn unary(&mut self, function: &'static str, operand: usize) {
        let space = self.space(self.values[operand].axes.clone());
        let (body, of): (_, fn(f32) -> f32) = match function {
            "neg" => ("%r = arith.negf %x : f16", |x| -x),
            "abs" => ("%r = math.absf %x : f16", f32::abs),
            "relu" => ("%c = arith.constant 0.0 : f16\n  %r = arith.maximumf %x, %c : f16", |x| x.max(0.0)),
            "half" => ("%c = arith.constant 0.5 : f16\n  %r = arith.mulf %x, %c : f16", |x| x * 0.5),
            _ => ("%c = arith.constant 1.0 : f16\n  %r = arith.addf %x, %c : f16", |x| x + 1.0),
        };
        let array = self.values[operand].array.map(of);
        if array.is_exact() {
            // A dimension of size 1 is one of the iteration space here.
            let map: Vec<Option<usize>> = (0..space.axes.len()).map(Some).collect();
            self.generic(&space, &[(operand, map.clone())], &map, body, array, "");
        }
    }

    fn binary(&mut self, function: &'static str, operand: usize, step: &Step) {
        let other = self.other(operand, step);
        let (first, second) = (&self.values[operand].axes, &self.values[other].axes);
        let (main, rest) = if first.len() >= second.len() { (first, second) } else { (second, first) };
        let missing = rest.iter().filter(|axis| axis.is_some() && !main.contains(axis)).copied();
        let space = self.space(missing.chain(main.iter().copied()).collect());
        if space.axes.len() > MOST_RANK || space.sizes.iter().product::<usize>() > MOST_ELEMENTS {
            return self.unary("neg", operand);
        }
        let (body, of): (_, fn(f32, f32) -> f32) = match function {
            "add" => ("arith.addf", |x, y| x + y),
            "sub" => ("arith.subf", |x, y| x - y),
            "mul" => ("arith.mulf", |x, y| x * y),
            "max" => ("arith.maximumf", f32::max),
            _ => ("arith.minimumf", f32::min),
        };
        let maps = [space.map(first), space.map(second)];
        let own: Vec<Option<usize>> = (0..space.axes.len()).map(Some).collect();
        let mut array = Array::filled(&space.sizes, 0.0);
        let reads = [(&self.values[operand].array, &maps[0][..]), (&self.values[other].array, &maps[1][..])];
        array.fold(&space.sizes, &own, reads, |_, x, y| of(x, y));
        if array.is_exact() {
            let [one, two] = maps;
            self.generic(&space, &[(operand, one), (other, two)], &own, &format!("%r = {body} %x, %y : f16"), array, "");
        }
    }

    /// The second operand: a value that is there, or an argument with some of the first one's dimensions.
    fn other(&mut self, operand: usize, step: &Step) -> usize {
        let dims: Vec<usize> = self.values[operand].dims().collect();
        let is_near = |value: &Value| value.dims().any(|dim| dims.contains(&dim)) || value.dims().count() == 0;
        let near: Vec<usize> = (0..self.values.len()).filter(|&value| is_near(&self.values[value])).collect();
        let choice = step.other.index(near.len() + 2);
        if choice < near.len() {
            return near[near.len() - 1 - choice];
        }
        let bits = step.order.index(64);
        let mut axes = self.values[operand].axes.clone();
        match bits % 4 {
            // As it is, in another order, without some dimensions, with some of size 1.
            1 => axes.reverse(),
            2 => {
                let mut position = 0;
                axes.retain(|_| {
                    position += 1;
                    bits >> (1 + position) & 1 == 0
                });
            }
            3 => axes.iter_mut().enumerate().filter(|(position, _)| bits >> (2 + position) & 1 == 1).for_each(|(_, axis)| *axis = None),
            _ => {}
        }
        if axes.is_empty() {
            axes.push(None);
        }
        self.argument(axes, step.axis.index(8) == 0)
    }

    fn reduce(&mut self, function: &'static str, operand: usize, step: &Step) {
        let value = &self.values[operand];
        let candidates: Vec<usize> = (0..value.axes.len()).filter(|&axis| value.axes[axis].is_some()).collect();
        if candidates.is_empty() {
            return;
        }
        let mut reduced = vec![*step.axis.get(&candidates)];
        if step.order.index(8) == 0 {
            reduced.extend(candidates.iter().filter(|axis| !reduced.contains(axis)).take(1).copied().collect::<Vec<_>>());
        }
        let space = self.space(value.axes.clone());
        let keeps = step.order.index(3) == 0 || reduced.len() == value.axes.len();
        let left = (0..space.axes.len()).filter(|axis| keeps || !reduced.contains(axis));
        let map: Vec<Option<usize>> = left.map(|axis| Some(axis).filter(|axis| !reduced.contains(axis))).collect();
        let Some(array) = self.reduced(function, operand, &space, &map) else { return };
        let (start, combine) = match function {
            "max" => ("0xFC00", "arith.maximumf"),
            "min" => ("0x7C00", "arith.minimumf"),
            "prod" => ("1.0", "arith.mulf"),
            _ => ("0.0", "arith.addf"),
        };
        let own: Vec<Option<usize>> = (0..space.axes.len()).map(Some).collect();
        let length: usize = reduced.iter().map(|&axis| space.sizes[axis]).product();
        let sum = self.generic(&space, &[(operand, own)], &map, &format!("%r = {combine} %x, %out : f16"), array, start);
        if function == "mean" {
            self.divide(sum, length);
        }
    }

    /// The numbers of a reduction, if they are exact however it is done.
    fn reduced(&self, function: &str, operand: usize, space: &Space, map: &[Option<usize>]) -> Option<Array> {
        let input = &self.values[operand].array;
        let own: Vec<Option<usize>> = (0..space.axes.len()).map(Some).collect();
        let shape: Vec<usize> = map.iter().map(|dim| dim.map_or(1, |dim| space.sizes[dim])).collect();
        let fold = |input: &Array, start: f32, fold: fn(f32, f32) -> f32| {
            let mut array = Array::filled(&shape, start);
            array.fold(&space.sizes, map, [(input, &own), (input, &own)], |element, value, _| fold(element, value));
            array
        };
        let length = (space.sizes.iter().product::<usize>() / shape.iter().product::<usize>()) as f64;
        match function {
            "max" => Some(fold(input, f32::NEG_INFINITY, f32::max)),
            "min" => Some(fold(input, f32::INFINITY, f32::min)),
            "prod" => {
                let parts = input.map(|value| if value == 0.0 { 1.0 } else { odd_part(value).0 });
                let exponents = input.map(|value| if value == 0.0 { 0.0 } else { odd_part(value).1 });
                let is_exact = are_exact_products(&fold(&parts, 1.0, |x, y| x * y), &fold(&exponents, 0.0, |x, y| x + y));
                Some(fold(input, 1.0, |x, y| x * y)).filter(|array| is_exact && !array.is_zero())
            }
            _ => {
                let magnitudes = fold(&input.map(f32::abs), 0.0, |x, y| x + y);
                let is_exact = Array::are_exact_sums(&magnitudes, input.quantum()) && (function == "sum" || length.log2().fract() == 0.0);
                // Their mean's last place must not be too small either.
                let array = fold(input, 0.0, |x, y| x + y);
                Some(array).filter(|array| is_exact && (function == "sum" || array.map(|sum| sum / length as f32).is_exact()))
            }
        }
    }

    /// The step that makes a mean of a sum.
    fn divide(&mut self, sum: usize, length: usize) {
        let space = self.space(self.values[sum].axes.clone());
        let map: Vec<Option<usize>> = (0..space.axes.len()).map(Some).collect();
        let body = format!("%c = arith.constant {length}.0 : f16\n  %r = arith.divf %x, %c : f16");
        let array = self.values[sum].array.map(|value| value / length as f32);
        self.generic(&space, &[(sum, map.clone())], &map, &body, array, "");
    }

    fn matmul(&mut self, operand: usize, step: &Step) {
        let left = &self.values[operand];
        let axes = left.axes.clone();
        let (rank, is_whole) = (axes.len(), axes.iter().all(Option::is_some));
        if !(2..=3).contains(&rank) || !is_whole {
            return;
        }
        let (batch, k) = (axes[..rank - 2].to_vec(), axes[rank - 1]);
        let columns: Vec<Axis> =
            (0..self.dims.len()).map(Some).filter(|dim| !axes.contains(dim) && self.dims[dim.unwrap_or(0)].parts.is_none()).collect();
        let fits = |value: &Value| {
            let last = value.axes.get(rank - 1).copied().flatten();
            value.axes.len() == rank
                && value.axes[..rank - 2] == batch
                && value.axes[rank - 2] == k
                && last.is_some_and(|dim| !left.has(dim))
        };
        let known: Vec<usize> = (0..self.values.len()).filter(|&value| fits(&self.values[value])).collect();
        let right = if !known.is_empty() && step.order.index(4) > 0 {
            *step.other.get(&known)
        } else if columns.is_empty() {
            return;
        } else {
            let mut of_right = [&batch[..], &[k, *step.other.get(&columns)]].concat();
            if step.order.index(5) == 0 {
                of_right.swap(rank - 2, rank - 1);
            }
            self.argument(of_right, step.axis.index(8) == 0)
        };
        let n = *self.values[right].axes.iter().find(|axis| !axes.contains(axis)).unwrap_or(&None);
        let space = self.space([&axes[..rank - 1], &[n, k]].concat());
        if space.sizes.iter().product::<usize>() <= MOST_POINTS && space.sizes[..rank].iter().product::<usize>() <= MOST_ELEMENTS {
            self.contract(&space, operand, right);
        }
    }

    /// The product over the last iteration dimension, if all its sums are exact.
    fn contract(&mut self, space: &Space, left: usize, right: usize) {
        let maps = [left, right].map(|value| space.map(&self.values[value].axes));
        let own: Vec<Option<usize>> = (0..space.axes.len() - 1).map(Some).collect();
        let shape = &space.sizes[..space.axes.len() - 1];
        let arrays = [left, right].map(|value| &self.values[value].array);
        let product = |arrays: [&Array; 2]| {
            let reads: [Read<'_>; 2] = [(arrays[0], &maps[0]), (arrays[1], &maps[1])];
            let mut array = Array::filled(shape, 0.0);
            array.fold(&space.sizes, &own, reads, |sum, x, y| sum + x * y);
            array
        };
        let magnitudes = product([&arrays[0].map(f32::abs), &arrays[1].map(f32::abs)]);
        let quantum = arrays[0].quantum() * arrays[1].quantum();
        let array = product(arrays);
        if Array::are_exact_sums(&magnitudes, quantum) && array.is_exact() {
            let [one, two] = maps;
            let body = "%p = arith.mulf %x, %y : f16\n  %r = arith.addf %p, %out : f16";
            self.generic(space, &[(left, one), (right, two)], &own, body, array, "0.0");
        }
    }

    /// Writes a `linalg.generic` whose body makes `%r` of `%x`, `%y` and, if it starts from something, `%out`.
    fn generic(
        &mut self,
        space: &Space,
        reads: &[(usize, Vec<Option<usize>>)],
        map: &[Option<usize>],
        body: &str,
        array: Array,
        start: &str,
    ) -> usize {
        let result = self.values.len();
        let axes: Vec<Axis> = map.iter().map(|dim| dim.and_then(|dim| space.axes[dim])).collect();
        // A kept dimension of size 1 that is none of the program's stays one of the iteration space.
        let is_reduced = |dim: usize| !map.contains(&Some(dim));
        let of_result = type_of(&array.shape);
        let kinds = (0..space.axes.len()).map(|dim| if is_reduced(dim) { "\"reduction\"" } else { "\"parallel\"" });
        let maps = reads.iter().map(|(_, map)| map).map(Vec::as_slice).chain([map]).map(|map| space.map_text(map));
        let operands: Vec<usize> = reads.iter().map(|(value, _)| *value).collect();
        let names = (0..operands.len()).map(|position| format!("{{{position}}}"));
        let types = operands.iter().map(|&value| self.values[value].type_text());
        let scalars: String = ["%x", "%y"].iter().take(operands.len()).map(|name| format!("{name}: f16, ")).collect();
        let mut text = format!("%e{result} = tensor.empty() : {of_result}\n");
        let mut outs = format!("%e{result}");
        if !start.is_empty() {
            text += &format!("%c{result} = arith.constant {start} : f16\n");
            text += &format!("%f{result} = linalg.fill ins(%c{result} : f16) outs({outs} : {of_result}) -> {of_result}\n");
            outs = format!("%f{result}");
        }
        text += &format!(
            "%v{result} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}}\n    ins({} : {}) outs({outs} : {of_result}) {{\n\
             ^bb0({scalars}%out: f16):\n  {body}\n  linalg.yield %r : f16\n}} -> {of_result}\n",
            list(maps),
            list(kinds),
            list(names),
            list(types),
        );
        let known: Vec<bool> = (0..space.axes.len()).map(|dim| self.is_known(dim, reads)).collect();
        let named = (0..space.axes.len()).filter(|&dim| known[dim]).filter_map(|dim| Some((space.axes[dim]?, is_reduced(dim))));
        let dims = named.filter_map(|(dim, is_reduced)| Some((self.dims[dim].name.clone()?, self.dims[dim].size, is_reduced))).collect();
        let is_known = map.iter().map(|dim| dim.is_some_and(|dim| known[dim])).collect();
        self.values.push(Value { axes, array, is_known });
        let last =
            operands.iter().chain([&result]).filter_map(|&value| self.dims[(*self.values[value].axes.last()?)?].name.clone()).collect();
        let is_matmul = reads.len() == 2 && !start.is_empty();
        self.ops.push(TiledOp { op: Op { operands, result, text }, is_view: false, is_matmul, dims, last });
        result
    }

    fn is_known(&self, dim: usize, reads: &[(usize, Vec<Option<usize>>)]) -> bool {
        let by = |(value, map): &(usize, Vec<Option<usize>>)| {
            map.iter().zip(&self.values[*value].is_known).any(|(of, is_known)| *of == Some(dim) && *is_known)
        };
        reads.iter().any(by)
    }
}
