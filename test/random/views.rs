//! Ops that move elements: permutations, slices, reshapes, broadcasts, concatenations, borders.

use crate::random::{
    build::{ProgramBuilder, TensorValue, compute_strides, for_each_point, join_list, map_text},
    number::BoundedValue,
};

impl ProgramBuilder {
    /// Appends a value whose elements are copies of another value's elements.
    fn push_copy(
        &mut self,
        operand: usize,
        shape: Vec<usize>,
        classes: Vec<usize>,
        at: impl Fn(&[usize]) -> usize,
        text: String,
    ) -> usize {
        let mut data = Vec::with_capacity(shape.iter().product());
        for_each_point(&shape, |point| data.push(self.values[operand].data[at(point)]));
        let kind = self.values[operand].kind;
        self.push(TensorValue { shape, classes, data, kind }, &[operand], text)
    }

    /// Returns the text of a `linalg.generic` that yields its operand's element.
    fn copy_text(
        &self,
        rank: usize,
        operand: usize,
        read: &[Option<usize>],
        map: &[Option<usize>],
        shape: &[usize],
    ) -> String {
        let (result, kind) = (self.next_number(), self.values[operand].kind);
        let (of_result, element) = (self.type_of(shape, kind), self.element_type(kind));
        format!(
            "%e{result} = tensor.empty() : {of_result}\n\
             %v{result} = linalg.generic {{indexing_maps = [{}, {}], iterator_types = [{}]}}\n    \
             ins({{0}} : {}) outs(%e{result} : {of_result}) {{\n^bb0(%x0: {element}, %out: {element}):\n  linalg.yield %x0 : {element}\n}} -> {of_result}\n",
            map_text(rank, read),
            map_text(rank, map),
            join_list((0..rank).map(|_| "\"parallel\"")),
            self.type_text(operand),
        )
    }

    /// Permutes dimensions: dimension `d` of the result is dimension `order[d]` of the operand.
    pub(crate) fn permute(&mut self, operand: usize, order: &[usize]) -> usize {
        let TensorValue { shape, classes, kind, .. } = self.values[operand].clone();
        let of_result: Vec<usize> = order.iter().map(|&dim| shape[dim]).collect();
        let rank = shape.len();
        let identity: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let (result, type_text) = (self.next_number(), self.type_of(&of_result, kind));
        let text = match self.choices.below(3) {
            0 => {
                // The result's dimensions are those of the iteration space.
                let read: Vec<Option<usize>> = (0..rank).map(|dim| order.iter().position(|&of| of == dim)).collect();
                self.copy_text(rank, operand, &read, &identity, &of_result)
            }
            1 => format!(
                "%e{result} = tensor.empty() : {type_text}\n\
                 %v{result} = linalg.transpose ins({{0}} : {}) outs(%e{result} : {type_text}) permutation = [{}]\n",
                self.type_text(operand),
                join_list(order),
            ),
            _ => {
                let map: Vec<Option<usize>> = order.iter().map(|&dim| Some(dim)).collect();
                self.copy_text(rank, operand, &identity, &map, &of_result)
            }
        };
        let (steps, order) = (compute_strides(&shape), order.to_vec());
        let of_classes = order.iter().map(|&dim| classes[dim]).collect();
        self.push_copy(
            operand,
            of_result,
            of_classes,
            move |point| point.iter().zip(&order).map(|(at, &dim)| at * steps[dim]).sum(),
            text,
        )
    }

    pub(crate) fn slice(
        &mut self,
        operand: usize,
        offsets: &[usize],
        sizes: &[usize],
        steps: &[usize],
        drops: &[usize],
    ) -> usize {
        let TensorValue { shape, classes, kind, .. } = self.values[operand].clone();
        let left: Vec<usize> = (0..shape.len()).filter(|dim| !drops.contains(dim)).collect();
        let of_result: Vec<usize> = left.iter().map(|&dim| sizes[dim]).collect();
        let of_classes =
            left.iter().map(|&dim| if sizes[dim] == shape[dim] { classes[dim] } else { self.new_class() }).collect();
        let text = format!(
            "%v{} = tensor.extract_slice {{0}}[{}] [{}] [{}] : {} to {}\n",
            self.next_number(),
            join_list(offsets),
            join_list(sizes),
            join_list(steps),
            self.type_text(operand),
            self.type_of(&of_result, kind),
        );
        let of_operand = compute_strides(&shape);
        let start: usize = offsets.iter().zip(&of_operand).map(|(offset, stride)| offset * stride).sum();
        let along: Vec<usize> = left.iter().map(|&dim| steps[dim] * of_operand[dim]).collect();
        self.push_copy(
            operand,
            of_result,
            of_classes,
            move |point| start + point.iter().zip(&along).map(|(at, step)| at * step).sum::<usize>(),
            text,
        )
    }

    /// Reshapes the operand: preserves the order of its elements, and merges or splits groups of dimensions.
    pub(crate) fn reshape(
        &mut self,
        operand: usize,
        shape: Vec<usize>,
        groups: &[Vec<usize>],
        is_merged: bool,
    ) -> usize {
        let TensorValue { shape: from, classes, kind, .. } = self.values[operand].clone();
        let groups_text = join_list(groups.iter().map(|group| format!("[{}]", join_list(group))));
        let (result, to) = (self.next_number(), self.type_of(&shape, kind));
        let given = self.type_text(operand);
        let text = if self.choices.one_in(8) {
            let (rank, sizes) = (shape.len(), join_list(&shape));
            format!(
                "%s{result} = arith.constant dense<[{sizes}]> : tensor<{rank}xindex>\n\
                 %v{result} = tensor.reshape {{0}}(%s{result}) : ({given}, tensor<{rank}xindex>) -> {to}\n"
            )
        } else if is_merged {
            format!("%v{result} = tensor.collapse_shape {{0}} [{groups_text}] : {given} into {to}\n")
        } else {
            format!(
                "%v{result} = tensor.expand_shape {{0}} [{groups_text}] output_shape [{}] : {given} into {to}\n",
                join_list(&shape)
            )
        };
        // A dimension that is alone in its group is unchanged.
        let mut of_classes = vec![usize::MAX; shape.len()];
        for (position, group) in groups.iter().enumerate().filter(|(_, group)| group.len() == 1) {
            let (fine, coarse) = (group[0], position);
            if is_merged {
                of_classes[coarse] = classes[fine];
            } else {
                of_classes[fine] = classes[coarse];
            }
        }
        for class in &mut of_classes {
            if *class == usize::MAX {
                *class = self.new_class();
            }
        }
        debug_assert_eq!(from.iter().product::<usize>(), shape.iter().product::<usize>());
        let steps = compute_strides(&shape);
        self.push_copy(
            operand,
            shape,
            of_classes,
            move |point| point.iter().zip(&steps).map(|(at, step)| at * step).sum(),
            text,
        )
    }

    /// Broadcasts a value: `added` are the dimensions of the result that the operand lacks. Dimensions of size 1 of the
    /// operand are broadcast to `shape`.
    pub(crate) fn broadcast(&mut self, operand: usize, shape: &[usize], added: &[usize]) -> usize {
        let TensorValue { shape: from, classes, kind, .. } = self.values[operand].clone();
        let own: Vec<usize> = (0..shape.len()).filter(|dim| !added.contains(dim)).collect();
        let read: Vec<Option<usize>> =
            own.iter().zip(&from).map(|(&dim, &size)| Some(dim).filter(|_| size == shape[dim])).collect();
        let rank = shape.len();
        let (result, type_text) = (self.next_number(), self.type_of(shape, kind));
        let is_plain = read.iter().all(Option::is_some) && !added.is_empty();
        let text = if is_plain && self.choices.one_in(2) {
            format!(
                "%e{result} = tensor.empty() : {type_text}\n\
                 %v{result} = linalg.broadcast ins({{0}} : {}) outs(%e{result} : {type_text}) dimensions = [{}]\n",
                self.type_text(operand),
                join_list(added),
            )
        } else {
            let identity: Vec<Option<usize>> = (0..rank).map(Some).collect();
            self.copy_text(rank, operand, &read, &identity, shape)
        };
        let mut of_classes: Vec<Option<usize>> = vec![None; rank];
        for (position, dim) in read.iter().enumerate() {
            if let Some(dim) = dim {
                of_classes[*dim] = Some(classes[position]);
            }
        }
        let of_classes = of_classes.into_iter().map(|class| class.unwrap_or_else(|| self.new_class())).collect();
        let along = self.read_strides(&(operand, read), rank);
        self.push_copy(
            operand,
            shape.to_vec(),
            of_classes,
            move |point| point.iter().zip(&along).map(|(at, step)| at * step).sum(),
            text,
        )
    }

    /// Concatenates values along a dimension.
    pub(crate) fn concat(&mut self, operands: &[usize], dim: usize) -> usize {
        let first = self.values[operands[0]].clone();
        let mut shape = first.shape.clone();
        shape[dim] = operands.iter().map(|&operand| self.values[operand].shape[dim]).sum();
        let (result, to) = (self.next_number(), self.type_of(&shape, first.kind));
        let types: Vec<String> = operands.iter().map(|&operand| self.type_text(operand)).collect();
        let names = (0..operands.len()).map(|position| format!("{{{position}}}"));
        let text = if self.choices.one_in(2) {
            let mut text = format!("%p{result}_0 = tensor.empty() : {to}\n");
            let mut offset = 0;
            for (position, &operand) in operands.iter().enumerate() {
                let sizes = &self.values[operand].shape;
                let offsets = join_list((0..shape.len()).map(|at| if at == dim { offset } else { 0 }));
                let next = if position + 1 == operands.len() {
                    format!("%v{result}")
                } else {
                    format!("%p{result}_{}", position + 1)
                };
                text += &format!(
                    "{next} = tensor.insert_slice {{{position}}} into %p{result}_{position}[{offsets}] [{}] [{}] : {} into {to}\n",
                    join_list(sizes),
                    join_list(sizes.iter().map(|_| 1)),
                    types[position],
                );
                offset += sizes[dim];
            }
            text
        } else {
            format!("%v{result} = tensor.concat dim({dim}) {} : ({}) -> {to}\n", join_list(names), join_list(&types))
        };
        let mut classes = first.classes.clone();
        for &operand in &operands[1..] {
            let others = self.values[operand].classes.clone();
            (0..classes.len()).filter(|at| *at != dim).for_each(|at| self.unite(classes[at], others[at]));
        }
        classes[dim] = self.new_class();
        let mut data = Vec::with_capacity(shape.iter().product());
        for_each_point(&shape, |point| {
            let mut at = point.to_vec();
            for &operand in operands {
                let value = &self.values[operand];
                if at[dim] < value.shape[dim] {
                    data.push(
                        value.data
                            [at.iter().zip(compute_strides(&value.shape)).map(|(at, step)| at * step).sum::<usize>()],
                    );
                    break;
                }
                at[dim] -= value.shape[dim];
            }
        });
        self.push(TensorValue { shape, classes, data, kind: first.kind }, operands, text)
    }

    /// Adds a border of one number.
    pub(crate) fn pad(&mut self, operand: usize, low: &[usize], high: &[usize], literal: &str) -> usize {
        let TensorValue { shape: from, classes, data: old, kind } = self.values[operand].clone();
        let shape: Vec<usize> = (0..from.len()).map(|dim| low[dim] + from[dim] + high[dim]).collect();
        let (result, element) = (self.next_number(), self.element);
        let text = format!(
            "%c{result} = arith.constant {literal} : {element}\n\
             %v{result} = tensor.pad {{0}} low[{}] high[{}] {{\n^bb0({}):\n  tensor.yield %c{result} : {element}\n}} : {} to {}\n",
            join_list(low),
            join_list(high),
            join_list((0..from.len()).map(|dim| format!("%i{dim}: index"))),
            self.type_text(operand),
            self.type_of(&shape, kind),
        );
        let number = BoundedValue::from_exact(self.round(literal.parse().unwrap()));
        let steps = compute_strides(&from);
        let mut data = Vec::with_capacity(shape.iter().product());
        for_each_point(&shape, |point| {
            let is_inside = (0..from.len()).all(|dim| (low[dim]..low[dim] + from[dim]).contains(&point[dim]));
            data.push(if is_inside {
                old[(0..from.len()).map(|dim| (point[dim] - low[dim]) * steps[dim]).sum::<usize>()]
            } else {
                number
            });
        });
        let of_classes =
            (0..from.len()).map(|dim| if shape[dim] == from[dim] { classes[dim] } else { self.new_class() }).collect();
        self.push(TensorValue { shape, classes: of_classes, data, kind }, &[operand], text)
    }
}
