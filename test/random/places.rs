//! Generates slices that are written to or read from runtime offsets, and overlapping windows.

use crate::random::{
    build::{ElementDistribution, MAX_RANK, ProgramBuilder, TensorValue, compute_strides, for_each_point, join_list},
    compute::{OpDestination, ReductionKind},
    lookup::index_kind,
    number::BinaryFunction,
};

/// Effect of a written slice on the previous contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteEffect {
    Replaced,
    Added,
}

/// Finite numbers, which a product with ones and zeros preserves: an infinite one would make every row NaN.
const FINITE_DISTRIBUTIONS: [ElementDistribution; 4] =
    [ElementDistribution::Offset, ElementDistribution::Centred, ElementDistribution::Ties, ElementDistribution::Tiny];

impl ProgramBuilder {
    /// Adds a read or an overwrite of a slice at an offset that an argument contains.
    pub(crate) fn add_slice_at(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let dim = self.choices.below(shape.len());
        let size = (1 + self.choices.below(3)).min(shape[dim]);
        let mut of_part = shape.clone();
        of_part[dim] = size;
        let mut classes = self.values[value].classes.clone();
        classes[dim] = self.new_class();
        let kind = index_kind(shape[dim] - size + 1, self.choices.one_in(4));
        let of_place = vec![self.new_class()];
        let place = self.add_argument(vec![1], of_place, kind);
        // If the offsets are along columns, reads use a matmul with ones and zeros, too.
        let is_finite = self.values[value].data.iter().all(|number| number.value.is_finite());
        if self.choices.one_in(2) && is_finite {
            self.add_slice_read(value, place, dim, of_part, classes);
        } else {
            let draw = *self.choices.pick(&FINITE_DISTRIBUTIONS);
            let part = self.add_argument_with(of_part, classes, self.values[value].kind, draw);
            self.add_slice_write(value, part, place, dim);
        }
    }

    /// Returns the lines that define an offset from operand `position`, and a slice of these sizes at it.
    fn window_text(&self, place: usize, position: usize, dim: usize, sizes: &[usize]) -> (String, String) {
        let (result, element, rank) = (self.next_number(), self.element_type(self.values[place].kind), sizes.len());
        let lines = format!(
            "%z{result} = arith.constant 0 : index\n%p{result} = tensor.extract {{{position}}}[%z{result}] : tensor<1x{element}>\n\
             %at{result} = arith.index_cast %p{result} : {element} to index\n"
        );
        let offsets =
            join_list((0..rank).map(|other| if other == dim { format!("%at{result}") } else { "0".to_owned() }));
        (lines, format!("[{offsets}] [{}] [{}]", join_list(sizes), join_list(vec![1; rank])))
    }

    fn add_slice_read(&mut self, value: usize, place: usize, dim: usize, of_part: Vec<usize>, classes: Vec<usize>) {
        let whole = self.values[value].clone();
        let (lines, window) = self.window_text(place, 1, dim, &of_part);
        let (result, of_result) = (self.next_number(), self.type_of(&of_part, whole.kind));
        let text = format!(
            "{lines}%v{result} = tensor.extract_slice {{0}}{window} : {} to {of_result}\n",
            self.type_text(value)
        );
        let (steps, first) = (compute_strides(&whole.shape), self.values[place].data[0].value as usize);
        let mut data = Vec::new();
        for_each_point(&of_part, |point| {
            data.push(
                whole.data
                    [point.iter().zip(&steps).map(|(index, step)| index * step).sum::<usize>() + first * steps[dim]],
            );
        });
        self.push(TensorValue { shape: of_part, classes, data, kind: whole.kind }, &[value, place], text);
    }

    fn add_slice_write(&mut self, value: usize, part: usize, place: usize, dim: usize) {
        let (whole, written) = (self.values[value].clone(), self.values[part].clone());
        let (lines, window) = self.window_text(place, 2, dim, &written.shape);
        let (result, of_part, of_whole) = (self.next_number(), self.type_text(part), self.type_text(value));
        let text =
            format!("{lines}%v{result} = tensor.insert_slice {{1}} into {{0}}{window} : {of_part} into {of_whole}\n");
        let (steps, first) = (compute_strides(&whole.shape), self.values[place].data[0].value as usize);
        let mut data = whole.data.clone();
        let mut elements = written.data.into_iter();
        for_each_point(&written.shape, |point| {
            let at = point.iter().zip(&steps).map(|(index, step)| index * step).sum::<usize>() + first * steps[dim];
            data[at] = elements.next().unwrap();
        });
        self.push(TensorValue { data, ..whole }, &[value, part, place], text);
    }

    /// Adds a scatter: rows are written or added to the rows given by an argument, often several to the same row.
    pub(crate) fn add_scatter(&mut self, value: usize) {
        let whole = self.values[value].clone();
        let rank = whole.shape.len();
        let num_parts = *self.choices.pick(&[1, 3, 5, 8]);
        if rank < 2 || rank == MAX_RANK || num_parts * whole.shape[1..].iter().product::<usize>() > self.most_elements {
            return;
        }
        let of_parts: Vec<usize> = [num_parts, 1].iter().chain(&whole.shape[1..]).copied().collect();
        let classes = of_parts.iter().map(|_| self.new_class()).collect();
        let draw = *self.choices.pick(&FINITE_DISTRIBUTIONS);
        let parts = self.add_argument_with(of_parts, classes, whole.kind, draw);
        let kind = index_kind(whole.shape[0], self.choices.one_in(4));
        let classes = vec![self.new_class(), self.new_class()];
        let places = self.add_argument(vec![num_parts, 1], classes, kind);
        let written = if self.choices.one_in(2) { WriteEffect::Added } else { WriteEffect::Replaced };
        let (result, element, of_whole) = (self.next_number(), self.element_type(whole.kind), self.type_text(value));
        let body = match written {
            WriteEffect::Replaced => format!("  tm_tensor.yield %part : {element}\n"),
            WriteEffect::Added => {
                format!("  %q = arith.addf %old, %part : {element}\n  tm_tensor.yield %q : {element}\n")
            }
        };
        let text = format!(
            "%v{result} = tm_tensor.scatter {{dimension_map = array<i64: 0>}} unique_indices(false)\n    ins({{1}}, {{2}} : {}, {}) \
             outs({{0}} : {of_whole}) {{\n^bb0(%part: {element}, %old: {element}):\n{body}}} -> {of_whole}\n",
            self.type_text(parts),
            self.type_text(places),
        );
        let row: usize = whole.shape[1..].iter().product();
        let mut data = whole.data.clone();
        for part in 0..num_parts {
            let place = self.values[places].data[part].value as usize;
            for at in 0..row {
                let (old, new) = (data[place * row + at], self.values[parts].data[part * row + at]);
                data[place * row + at] =
                    if written == WriteEffect::Added { old.apply_binary(BinaryFunction::Add, new) } else { new };
            }
        }
        self.push(TensorValue { data, ..whole }, &[value, parts, places], text);
    }

    /// Adds sums or maxima of windows along a dimension, which overlap or have gaps.
    pub(crate) fn add_windows(&mut self, value: usize) {
        let from = self.values[value].clone();
        let rank = from.shape.len();
        let dim = self.choices.below(rank);
        let (size, stride, apart) = (2 + self.choices.below(2), 1 + self.choices.below(2), 1 + self.choices.below(2));
        let span = (size - 1) * apart + 1;
        if from.shape[dim] < span || from.shape.iter().product::<usize>() * size > self.most_points {
            return;
        }
        let mut shape = from.shape.clone();
        shape[dim] = (from.shape[dim] - span) / stride + 1;
        let fold = *self.choices.pick(&[ReductionKind::Sum, ReductionKind::Max]);
        let (literal, start) = fold.initial_value(self.element);
        let (result, element, of_result) = (self.next_number(), self.element, self.float_type(&shape));
        let dims: Vec<String> = (0..=rank).map(|dim| format!("d{dim}")).collect();
        let read = |other: usize| {
            if other == dim { format!("d{dim} * {stride} + d{rank} * {apart}") } else { format!("d{other}") }
        };
        let maps = [join_list((0..rank).map(read)), format!("d{rank}"), join_list(&dims[..rank])];
        let maps = join_list(maps.iter().map(|map| format!("affine_map<({}) -> ({map})>", join_list(&dims))));
        let kinds = join_list((0..=rank).map(|dim| if dim == rank { "\"reduction\"" } else { "\"parallel\"" }));
        let (before, outs) = self.destination_text(&of_result, OpDestination::Filled(literal));
        let op = fold.binary().op();
        let text = before
            + &format!(
                "%win{result} = tensor.empty() : tensor<{size}x{element}>\n\
                 %v{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}\n    \
                 ins({{0}}, %win{result} : {}, tensor<{size}x{element}>) outs({outs} : {of_result}) {{\n\
                 ^bb0(%x0: {element}, %x1: {element}, %out: {element}):\n  %q0 = {op} %x0, %out : {element}\n  \
                 linalg.yield %q0 : {element}\n}} -> {of_result}\n",
                self.type_text(value),
            );
        let steps = compute_strides(&from.shape);
        let mut data = Vec::new();
        for_each_point(&shape, |point| {
            let first: usize =
                (0..rank).map(|other| point[other] * if other == dim { stride } else { 1 } * steps[other]).sum();
            let elements = (0..size).map(|at| from.data[first + at * apart * steps[dim]]);
            data.push(elements.fold(crate::random::number::BoundedValue::from_exact(start), |sum, element| {
                element.apply_binary(fold.binary(), sum)
            }));
        });
        let mut classes = from.classes.clone();
        classes[dim] = self.new_class();
        self.push(TensorValue { shape, classes, data, kind: from.kind }, &[value], text);
    }
}
