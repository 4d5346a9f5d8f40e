//! Compute ops: elementwise ops, reductions, contractions.

use crate::random::{
    build::{ElementKind, OperandRead, ProgramBuilder, TensorValue, for_each_point, join_list, map_text},
    number::{BinaryFunction, BoundedValue, ComparisonKind, NEAR_OVERFLOW, UnaryFunction},
    scalar::{ScalarExpression, ScalarWriter},
};

/// Function that combines the elements of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReductionKind {
    Sum,
    Max,
    Min,
    Prod,
}

/// Destination that an op overwrites.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OpDestination<'a> {
    Nothing,
    /// Tensor with a literal in each element.
    Filled(&'a str),
    /// Another operand of the op.
    Operand(usize),
}

impl UnaryFunction {
    pub(crate) fn op(self) -> &'static str {
        match self {
            Self::Neg => "arith.negf",
            Self::Abs => "math.absf",
            Self::Exp => "math.exp",
            Self::Log => "math.log",
            Self::Sqrt => "math.sqrt",
            Self::Rsqrt => "math.rsqrt",
            Self::Tanh => "math.tanh",
            Self::Floor => "math.floor",
            Self::Ceil => "math.ceil",
            Self::Erf => "math.erf",
            Self::Exp2 => "math.exp2",
            Self::Log1p => "math.log1p",
            Self::Expm1 => "math.expm1",
            Self::Log2 => "math.log2",
        }
    }

    /// Returns the named op of `linalg`, if there is one.
    fn linalg_op_name(self) -> Option<&'static str> {
        Some(match self {
            Self::Neg => "linalg.negf",
            Self::Abs => "linalg.abs",
            Self::Exp => "linalg.exp",
            Self::Log => "linalg.log",
            Self::Sqrt => "linalg.sqrt",
            Self::Rsqrt => "linalg.rsqrt",
            Self::Tanh => "linalg.tanh",
            Self::Floor => "linalg.floor",
            Self::Ceil => "linalg.ceil",
            Self::Erf => "linalg.erf",
            Self::Exp2 | Self::Log1p | Self::Expm1 | Self::Log2 => return None,
        })
    }
}

impl BinaryFunction {
    pub(crate) fn op(self) -> &'static str {
        match self {
            Self::Add => "arith.addf",
            Self::Sub => "arith.subf",
            Self::Mul => "arith.mulf",
            Self::Div => "arith.divf",
            Self::Max => "arith.maximumf",
            Self::Min => "arith.minimumf",
            Self::MaxNum => "arith.maxnumf",
            Self::MinNum => "arith.minnumf",
        }
    }

    fn linalg_op_name(self) -> Option<&'static str> {
        Some(match self {
            Self::Add => "linalg.add",
            Self::Sub => "linalg.sub",
            Self::Mul => "linalg.mul",
            Self::Div => "linalg.div",
            Self::Max => "linalg.max",
            Self::Min => "linalg.min",
            Self::MaxNum | Self::MinNum => return None,
        })
    }
}

impl ComparisonKind {
    pub(crate) fn predicate(self) -> &'static str {
        match self {
            Self::Less => "olt",
            Self::LessEqual => "ole",
            Self::Greater => "ogt",
            Self::GreaterEqual => "oge",
            Self::Equal => "oeq",
            Self::NotEqual => "une",
            Self::UnorderedOrEqual => "ueq",
            Self::OrderedAndNotEqual => "one",
            Self::NotGreaterEqual => "ult",
            Self::NotGreater => "ule",
            Self::NotLessEqual => "ugt",
            Self::NotLess => "uge",
            Self::Unordered => "uno",
            Self::Ordered => "ord",
        }
    }
}

impl ReductionKind {
    pub(crate) fn binary(self) -> BinaryFunction {
        match self {
            Self::Sum => BinaryFunction::Add,
            Self::Max => BinaryFunction::Max,
            Self::Min => BinaryFunction::Min,
            Self::Prod => BinaryFunction::Mul,
        }
    }

    pub(crate) fn initial_value(self, element: &str) -> (&'static str, f64) {
        match (self, element) {
            (Self::Sum, _) => ("0.0", 0.0),
            (Self::Prod, _) => ("1.0", 1.0),
            (Self::Max, "f16") => ("0xFC00", f64::NEG_INFINITY),
            (Self::Max, "bf16") => ("0xFF80", f64::NEG_INFINITY),
            (Self::Max, _) => ("0xFF800000", f64::NEG_INFINITY),
            (Self::Min, "f16") => ("0x7C00", f64::INFINITY),
            (Self::Min, "bf16") => ("0x7F80", f64::INFINITY),
            (Self::Min, _) => ("0x7F800000", f64::INFINITY),
        }
    }
}

impl ProgramBuilder {
    /// Unifies the classes of dimensions that share an iteration dimension; returns the classes of the iteration space.
    pub(crate) fn unify_classes(&mut self, sizes: &[usize], reads: &[OperandRead]) -> Vec<usize> {
        let mut classes: Vec<Option<usize>> = vec![None; sizes.len()];
        for (value, map) in reads {
            for (position, dim) in map.iter().enumerate() {
                let Some(dim) = *dim else { continue };
                let class = self.values[*value].classes[position];
                match classes[dim] {
                    Some(known) => self.unite(known, class),
                    None => classes[dim] = Some(class),
                }
            }
        }
        classes.into_iter().map(|class| class.unwrap_or_else(|| self.new_class())).collect()
    }

    /// Appends an elementwise op whose result has the dimensions of its iteration space.
    pub(crate) fn add_pointwise(&mut self, sizes: &[usize], reads: &[OperandRead], body: &ScalarExpression) -> usize {
        let classes = self.unify_classes(sizes, reads);
        // A body in f32 between 16-bit values.
        let is_wide = self.element != "f32" && self.choices.one_in(8);
        let dims: Vec<(usize, usize)> = classes.iter().copied().zip(sizes.iter().copied()).collect();
        let round = |number: f64| if is_wide { f64::from(number as f32) } else { self.round(number) };
        let steps: Vec<_> = reads.iter().map(|read| self.read_strides(read, sizes.len())).collect();
        let mut data = Vec::with_capacity(sizes.iter().product());
        for_each_point(sizes, |point| {
            let at = |steps: &Vec<usize>| steps.iter().zip(point).map(|(step, index)| step * index).sum::<usize>();
            let operands: Vec<BoundedValue> =
                reads.iter().zip(&steps).map(|((value, _), steps)| self.values[*value].data[at(steps)]).collect();
            data.push(body.evaluate(&operands, point, &round));
        });
        let operands: Vec<usize> = reads.iter().map(|(value, _)| *value).collect();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let are_plain = reads.iter().all(|(value, map)| *map == identity && self.values[*value].shape == sizes);
        let spelling = if are_plain && !is_wide { self.choices.below(4) } else { 0 };
        let short = self.short_text(sizes, body, spelling);
        let text = short.unwrap_or_else(|| self.elementwise_text(sizes, reads, body, is_wide));
        self.push_over(TensorValue { shape: sizes.to_vec(), classes, data, kind: self.kind }, &operands, text, dims)
    }

    /// Returns the text of a single function without a body: on tensors, named, or as `linalg.map`.
    fn short_text(&self, sizes: &[usize], body: &ScalarExpression, spelling: usize) -> Option<String> {
        let (result, shape) = (self.next_number(), self.float_type(sizes));
        let is_operand = |scalar: &ScalarExpression| matches!(scalar, ScalarExpression::Operand(_));
        let one = |scalar: &ScalarExpression| matches!(scalar, ScalarExpression::Constant("1.0"));
        let (op, named, count) = match body {
            ScalarExpression::Binary(BinaryFunction::Mul, left, right)
                if matches!((&**left, &**right), (ScalarExpression::Operand(0), ScalarExpression::Operand(0))) =>
            {
                ("", Some("linalg.square"), 1)
            }
            ScalarExpression::Binary(BinaryFunction::Div, left, right) if one(left) && is_operand(right) => {
                ("", Some("linalg.reciprocal"), 1)
            }
            ScalarExpression::Unary(function, of) if is_operand(of) => (function.op(), function.linalg_op_name(), 1),
            ScalarExpression::Binary(function, left, right)
                if matches!((&**left, &**right), (ScalarExpression::Operand(0), ScalarExpression::Operand(1))) =>
            {
                (function.op(), function.linalg_op_name(), 2)
            }
            _ => return None,
        };
        let names = join_list((0..count).map(|position| format!("{{{position}}}")));
        let types = join_list((0..count).map(|_| &shape));
        let empty = format!("%e{result} = tensor.empty() : {shape}\n");
        match (spelling, named) {
            (1 | 3, _) if op.is_empty() => None,
            (1, _) => Some(format!("%v{result} = {op} {names} : {shape}\n")),
            (2, Some(named)) => Some(format!(
                "{empty}%v{result} = {named} ins({names} : {types}) outs(%e{result} : {shape}) -> {shape}\n"
            )),
            (3, _) => Some(format!(
                "{empty}%v{result} = linalg.map {{ {op} }} ins({names} : {types}) outs(%e{result} : {shape})\n"
            )),
            _ => None,
        }
    }

    fn elementwise_text(
        &self,
        sizes: &[usize],
        reads: &[OperandRead],
        body: &ScalarExpression,
        is_wide: bool,
    ) -> String {
        let element = if is_wide { "f32" } else { self.element };
        let is_float = |position: usize| self.values[reads[position].0].kind == self.kind;
        let mut names = Vec::new();
        let mut start = String::new();
        for position in 0..reads.len() {
            if is_wide && is_float(position) {
                start += &format!("  %w{position} = arith.extf %x{position} : {} to f32\n", self.element);
                names.push(format!("%w{position}"));
            } else {
                names.push(format!("%x{position}"));
            }
        }
        let mut lines = ScalarWriter { text: start, next: 0, element, names: &names };
        let mut last = lines.write(body);
        if is_wide {
            last = lines.define(&format!("arith.truncf {last} : f32 to {}", self.element));
        }
        let text = std::mem::take(&mut lines.text);
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let body = format!("{text}  linalg.yield {last} : {}\n", self.element);
        self.generic_text(sizes, reads, &identity, &body, OpDestination::Nothing, self.kind)
    }

    /// Returns the text of a `linalg.generic` with the given element kind.
    pub(crate) fn generic_text(
        &self,
        sizes: &[usize],
        reads: &[OperandRead],
        map: &[Option<usize>],
        body: &str,
        start: OpDestination<'_>,
        to: ElementKind,
    ) -> String {
        let (result, element, rank) = (self.next_number(), self.element_type(to), sizes.len());
        let of_result: Vec<usize> = map.iter().map(|dim| dim.map_or(1, |dim| sizes[dim])).collect();
        let of_result = self.type_of(&of_result, to);
        let is_reduced = |dim: usize| !map.contains(&Some(dim));
        let kinds = (0..rank).map(|dim| if is_reduced(dim) { "\"reduction\"" } else { "\"parallel\"" });
        let maps = reads.iter().map(|(_, map)| map.as_slice()).chain([map]).map(|map| map_text(rank, map));
        let names = (0..reads.len()).map(|position| format!("{{{position}}}"));
        let types = reads.iter().map(|(value, _)| self.type_text(*value));
        let scalars: String = reads
            .iter()
            .enumerate()
            .map(|(at, (value, _))| format!("%x{at}: {}, ", self.element_type(self.values[*value].kind)))
            .collect();
        let (text, outs) = self.destination_text(&of_result, start);
        let ins =
            if reads.is_empty() { String::new() } else { format!("ins({} : {}) ", join_list(names), join_list(types)) };
        text + &format!(
            "%v{result} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}}\n    {ins}outs({outs} : {of_result}) {{\n\
             ^bb0({scalars}%out: {element}):\n{body}}} -> {of_result}\n",
            join_list(maps),
            join_list(kinds),
        )
    }

    /// Returns the lines that define the output operand of an op, and its name.
    pub(crate) fn destination_text(&self, of_result: &str, start: OpDestination<'_>) -> (String, String) {
        let (result, element) = (self.next_number(), self.element);
        let empty = format!("%e{result} = tensor.empty() : {of_result}\n");
        match start {
            OpDestination::Nothing => (empty, format!("%e{result}")),
            OpDestination::Operand(position) => (String::new(), format!("{{{position}}}")),
            OpDestination::Filled(literal) => (
                format!(
                    "{empty}%c{result} = arith.constant {literal} : {element}\n\
                     %f{result} = linalg.fill ins(%c{result} : {element}) outs(%e{result} : {of_result}) -> {of_result}\n"
                ),
                format!("%f{result}"),
            ),
        }
    }

    /// Appends a reduction over some dimensions, which are kept with size 1 or removed.
    pub(crate) fn add_reduction(&mut self, operand: usize, fold: ReductionKind, dims: &[usize], keeps: bool) -> usize {
        let TensorValue { shape: sizes, classes, .. } = self.values[operand].clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let left = (0..sizes.len()).filter(|dim| keeps || !dims.contains(dim));
        let map: Vec<Option<usize>> = left.map(|dim| Some(dim).filter(|dim| !dims.contains(dim))).collect();
        let reads = [(operand, identity)];
        let (literal, start) = fold.initial_value(self.element);
        let data = self.compute_reduction(&sizes, &reads, &map, fold, start);
        let of_map = |dim: &Option<usize>| dim.map_or(1, |dim| sizes[dim]);
        let shape: Vec<usize> = map.iter().map(of_map).collect();
        let of_result: Vec<usize> =
            map.iter().map(|dim| dim.map_or_else(|| self.new_class(), |dim| classes[dim])).collect();
        let op = fold.binary().op();
        let text = if !keeps && self.choices.one_in(3) {
            self.named_reduction(operand, &shape, dims, literal, op)
        } else {
            let element = self.element;
            let body = format!("  %q0 = {op} %x0, %out : {element}\n  linalg.yield %q0 : {element}\n");
            self.generic_text(&sizes, &reads, &map, &body, OpDestination::Filled(literal), self.kind)
        };
        let dims = classes.iter().copied().zip(sizes).collect();
        self.push_over(TensorValue { shape, classes: of_result, data, kind: self.kind }, &[operand], text, dims)
    }

    fn named_reduction(&self, operand: usize, shape: &[usize], dims: &[usize], literal: &str, op: &str) -> String {
        let (result, of_result) = (self.next_number(), self.float_type(shape));
        let (start, outs) = self.destination_text(&of_result, OpDestination::Filled(literal));
        format!(
            "{start}%v{result} = linalg.reduce {{ {op} }} ins({{0}} : {}) outs({outs} : {of_result}) dimensions = [{}]\n",
            self.type_text(operand),
            join_list(dims),
        )
    }

    /// Appends a `linalg.softmax`.
    pub(crate) fn add_named_softmax(&mut self, operand: usize, dim: usize) -> usize {
        let TensorValue { shape, classes, data: x, kind } = self.values[operand].clone();
        let (result, of_value) = (self.next_number(), self.type_text(operand));
        let identity: Vec<Option<usize>> = (0..shape.len()).map(Some).collect();
        let map: Vec<Option<usize>> = identity.iter().map(|own| own.filter(|own| *own != dim)).collect();
        let highest =
            self.compute_reduction(&shape, &[(operand, identity.clone())], &map, ReductionKind::Max, f64::NEG_INFINITY);
        let rows = crate::random::build::compute_strides(
            &map.iter().map(|dim| dim.map_or(1, |dim| shape[dim])).collect::<Vec<_>>(),
        );
        let mut of = Vec::with_capacity(x.len());
        for_each_point(&shape, |point| {
            of.push((0..shape.len()).filter(|own| *own != dim).map(|own| point[own] * rows[own]).sum::<usize>())
        });
        let grown: Vec<BoundedValue> = x
            .iter()
            .zip(&of)
            .map(|(x, row)| x.apply_binary(BinaryFunction::Sub, highest[*row]).apply_unary(UnaryFunction::Exp))
            .collect();
        let mut sums = vec![BoundedValue::from_exact(0.0); highest.len()];
        grown
            .iter()
            .zip(&of)
            .for_each(|(grown, row)| sums[*row] = sums[*row].apply_binary(BinaryFunction::Add, *grown));
        let data =
            grown.iter().zip(&of).map(|(grown, row)| grown.apply_binary(BinaryFunction::Div, sums[*row])).collect();
        let text = format!(
            "%e{result} = tensor.empty() : {of_value}\n\
             %v{result} = linalg.softmax dimension({dim}) ins({{0}} : {of_value}) outs(%e{result} : {of_value}) -> {of_value}\n"
        );
        let dims = classes.iter().copied().zip(shape.iter().copied()).collect();
        self.push_over(TensorValue { shape, classes, data, kind }, &[operand], text, dims)
    }

    /// Returns the products of all reads, reduced over the dimensions that the map lacks.
    fn compute_reduction(
        &self,
        sizes: &[usize],
        reads: &[OperandRead],
        map: &[Option<usize>],
        fold: ReductionKind,
        start: f64,
    ) -> Vec<BoundedValue> {
        let shape: Vec<usize> = map.iter().map(|dim| dim.map_or(1, |dim| sizes[dim])).collect();
        let mut data = vec![BoundedValue::from_exact(start); shape.iter().product()];
        let (mut magnitudes, mut largest) = (vec![0.0; data.len()], vec![1.0; data.len()]);
        let steps: Vec<_> = reads.iter().map(|read| self.read_strides(read, sizes.len())).collect();
        let mut of_result = vec![0; sizes.len()];
        for (dim, stride) in map.iter().zip(crate::random::build::compute_strides(&shape)) {
            if let Some(dim) = dim {
                of_result[*dim] = stride;
            }
        }
        for_each_point(sizes, |point| {
            let at = |steps: &Vec<usize>| steps.iter().zip(point).map(|(step, index)| step * index).sum::<usize>();
            let factors = reads.iter().zip(&steps).map(|((value, _), steps)| self.values[*value].data[at(steps)]);
            let mut product = factors
                .reduce(|one, other| one.apply_binary(BinaryFunction::Mul, other))
                .unwrap_or(BoundedValue::from_exact(0.0));
            // The machine computes 0 for a product with 0, even if the other factor is not finite.
            if reads.len() > 1 && !product.value.is_finite() {
                product.error = f64::INFINITY;
            }
            let place = at(&of_result);
            magnitudes[place] += product.value.abs();
            largest[place] *= product.value.abs().max(1.0);
            data[place] = data[place].apply_binary(fold.binary(), product);
        });
        if fold == ReductionKind::Prod {
            // In another order the product may overflow before it is multiplied by a zero.
            data.iter_mut()
                .zip(&largest)
                .filter(|(_, largest)| **largest > NEAR_OVERFLOW)
                .for_each(|(number, _)| number.error = f64::INFINITY);
        }
        if fold == ReductionKind::Sum {
            // Sums in different orders differ by roundings of cancelled terms.
            let n = sizes.iter().product::<usize>() as f64 / data.len() as f64;
            data.iter_mut().zip(&magnitudes).for_each(|(number, magnitude)| {
                number.error += if magnitude.is_finite() { 1e-16 * n * magnitude } else { 0.0 };
            });
        }
        data
    }

    /// Returns whether an iteration space and a result are small enough.
    pub(crate) fn fits(&self, points: &[usize], shape: &[usize]) -> bool {
        points.iter().product::<usize>() <= self.most_points && shape.iter().product::<usize>() <= self.most_elements
    }

    /// Appends a contraction: `sizes` are the result's dimensions and then the contracted one. It may accumulate into a
    /// value.
    pub(crate) fn add_contraction(
        &mut self,
        sizes: &[usize],
        left: OperandRead,
        right: OperandRead,
        onto: Option<usize>,
    ) -> usize {
        let mut reads = vec![left, right];
        let rank = sizes.len() - 1;
        let map: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let data = self.compute_reduction(sizes, &reads, &map, ReductionKind::Sum, 0.0);
        let data = match onto {
            None => data,
            Some(value) => data
                .into_iter()
                .zip(&self.values[value].data)
                .map(|(sum, start)| sum.apply_binary(BinaryFunction::Add, *start))
                .collect(),
        };
        let start = if onto.is_some() { OpDestination::Operand(2) } else { OpDestination::Filled("0.0") };
        let named =
            if self.choices.one_in(2) { self.named_product(sizes, &[&reads[0], &reads[1]], start) } else { None };
        let text = named.unwrap_or_else(|| {
            let element = self.element;
            let body = format!(
                "  %q0 = arith.mulf %x0, %x1 : {element}\n  %q1 = arith.addf %q0, %out : {element}\n  linalg.yield %q1 : {element}\n"
            );
            self.generic_text(sizes, &reads, &map, &body, start, self.kind)
        });
        let operands: Vec<usize> = reads.iter().map(|(value, _)| *value).chain(onto).collect();
        reads.extend(onto.map(|value| (value, map)));
        let classes = self.unify_classes(sizes, &reads);
        let dims = classes.iter().copied().zip(sizes.iter().copied()).collect();
        let value =
            TensorValue { shape: sizes[..rank].to_vec(), classes: classes[..rank].to_vec(), data, kind: self.kind };
        self.push_over(value, &operands, text, dims)
    }

    /// Returns the named op of a matmul if its operands have the order of that op; otherwise `linalg.contract`, which
    /// has maps.
    fn named_product(&self, sizes: &[usize], reads: &[&OperandRead; 2], start: OpDestination<'_>) -> Option<String> {
        let rank = sizes.len() - 1;
        let some = |dims: &[usize]| dims.iter().map(|dim| Some(*dim)).collect::<Vec<_>>();
        let are = |left: &[usize], right: &[usize]| reads[0].1 == some(left) && reads[1].1 == some(right);
        let result_map: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let all_used = (0..rank).all(|dim| reads.iter().any(|read| read.1.contains(&Some(dim))));
        let contract = format!(
            "linalg.contract indexing_maps = [{}, {}, {}]",
            map_text(rank + 1, &reads[0].1),
            map_text(rank + 1, &reads[1].1),
            map_text(rank + 1, &result_map)
        );
        let op = match rank {
            0 if are(&[0], &[0]) => "linalg.dot",
            1 if are(&[0, 1], &[1]) => "linalg.matvec",
            1 if are(&[1], &[1, 0]) => "linalg.vecmat",
            2 if are(&[0, 2], &[2, 1]) => "linalg.matmul",
            2 if are(&[0, 1, 2], &[0, 2]) => "linalg.batch_matvec",
            3 if are(&[0, 1, 3], &[0, 3, 2]) => "linalg.batch_matmul",
            _ if all_used => contract.as_str(),
            _ => return None,
        };
        let (result, of_result) = (self.next_number(), self.float_type(&sizes[..rank]));
        let (text, outs) = self.destination_text(&of_result, start);
        let [left, right] = [0, 1].map(|position| self.type_text(reads[position].0));
        Some(format!(
            "{text}%v{result} = {op} ins({{0}}, {{1}} : {left}, {right}) outs({outs} : {of_result}) -> {of_result}\n"
        ))
    }
}
