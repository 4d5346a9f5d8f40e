//! Derives the order of a tensor's dimensions from its coordinates ("SuperDSC schema, section 2.1").

use super::{Access, Label};
use crate::bundle::OpFamily;
use crate::bundle::{Coordinate, Mover, OpSpec};

/// Inputs of the ordering rules: the op, its labels and its accesses.
pub(super) struct OpView<'a> {
    pub(super) op: &'a OpSpec,
    pub(super) family: OpFamily,
    /// By position in the iteration space.
    pub(super) labels: Vec<Label>,
    /// By operand.
    pub(super) accesses: Vec<Access>,
}

/// Dimensions of a tensor, starting with the innermost one except the stick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DimOrder {
    pub(super) dims: Vec<Label>,
    /// The dimension that runs along the stick; none when a stick holds one element.
    pub(super) stick: Option<Label>,
}

impl DimOrder {
    fn append(&mut self, label: Label) {
        if !self.dims.contains(&label) {
            self.dims.push(label);
        }
    }
}

impl OpView<'_> {
    /// Returns the label of the dimension that moves a coordinate.
    pub(super) fn label_of(&self, coordinate: &Coordinate) -> Option<Label> {
        self.labels.get(coordinate.moving_dim()?).copied()
    }

    /// Returns whether the op reads or writes through an index tensor.
    pub(super) fn is_indirect(&self) -> bool {
        self.accesses.iter().any(|access| access.is_index())
    }

    /// Returns the index tensors, in operand order.
    pub(super) fn index_tensors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.accesses.len()).filter(|operand| self.accesses[*operand].is_index())
    }

    /// Returns the dimension order of an operand as a reference for the op; indirect coordinates are ignored.
    pub(super) fn reference_order(&self, operand: usize) -> DimOrder {
        let coordinates = &self.op.operands[operand].coordinates;
        let Some((last, others)) = coordinates.split_last() else { return DimOrder::default() };
        let mut order = DimOrder { dims: Vec::new(), stick: self.label_of(last) };
        for coordinate in others.iter().rev() {
            self.append_coordinate(&mut order, coordinate);
        }
        order
    }

    /// Returns the dimension order of an operand itself; an indirect coordinate contributes the dimensions of its index tensor.
    pub(super) fn own_order(&self, operand: usize) -> DimOrder {
        let coordinates = &self.op.operands[operand].coordinates;
        let Some((last, others)) = coordinates.split_last() else { return DimOrder::default() };
        let mut order = DimOrder { dims: Vec::new(), stick: self.label_of(last) };
        let is_weight = self.is_depthwise_weight(operand);
        for coordinate in others.iter().rev() {
            if let (Some(Mover::Indirect(_)), Access::Value { index }) = (&coordinate.term, self.accesses[operand]) {
                self.index_dims(index).into_iter().for_each(|label| order.append(label));
            } else if !(is_weight && self.is_unit_spatial(coordinate)) {
                self.append_coordinate(&mut order, coordinate);
            }
        }
        if is_weight {
            for label in [Label::Ki, Label::Kj] {
                if !order.dims.contains(&label) {
                    order.dims.insert(0, label);
                }
            }
        }
        order
    }

    /// Returns the dimensions that index an index tensor, right to left, without its stick coordinate.
    pub(super) fn index_dims(&self, index: usize) -> Vec<Label> {
        let coordinates = &self.op.operands[index].coordinates;
        let others = &coordinates[..coordinates.len().saturating_sub(1)];
        others.iter().rev().filter_map(|coordinate| self.label_of(coordinate)).collect()
    }

    fn append_coordinate(&self, order: &mut DimOrder, coordinate: &Coordinate) {
        match &coordinate.term {
            Some(Mover::Indirect(_)) => {}
            // The outer position of a stick that has only one block is written as 0.
            None => {
                if let (0, Some(stick)) = (coordinate.offset, order.stick) {
                    order.append(stick);
                }
            }
            Some(Mover::Digits(_)) => {
                if let Some(label) = self.label_of(coordinate) {
                    order.append(label);
                }
            }
        }
    }

    /// Returns whether an operand is the weight of a depthwise convolution, which has the window's dimensions even if they are single
    /// points.
    fn is_depthwise_weight(&self, operand: usize) -> bool {
        self.family == OpFamily::Depthwise && operand == 1
    }

    fn is_unit_spatial(&self, coordinate: &Coordinate) -> bool {
        let size = coordinate.moving_dim().and_then(|dim| self.op.iteration_space.get(dim)).map(|dim| dim.range);
        matches!(self.label_of(coordinate), Some(Label::I | Label::J)) && size == Some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{view, view_of};
    use super::*;
    use crate::bundle::testing::{op, operand};
    use crate::bundle::{Window, WindowAxis};

    fn order(coordinates: Vec<Coordinate>) -> DimOrder {
        let size = vec![1; coordinates.len()];
        view("add", &[8, 8, 8], vec![operand(&size, coordinates)], |view| view.own_order(0))
    }

    #[test]
    fn the_innermost_dimension_beside_the_stick_comes_first() {
        let found = order(vec![Coordinate::floordiv(2, 64), Coordinate::dim(0), Coordinate::dim(1), Coordinate::modulo(2, 64)]);
        assert_eq!(found, DimOrder { dims: vec![Label::X, Label::Mb, Label::Out], stick: Some(Label::Out) });
    }

    #[test]
    fn a_zero_stands_for_the_only_block_of_the_stick() {
        let found = order(vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::dim(2)]);
        assert_eq!(found, DimOrder { dims: vec![Label::Mb, Label::Out], stick: Some(Label::Out) });
        let shifted = order(vec![Coordinate::constant(1), Coordinate::dim(0), Coordinate::dim(2)]);
        assert_eq!(shifted.dims, [Label::Mb]);
    }

    #[test]
    fn a_sparse_tensor_has_no_stick() {
        let found = order(vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)]);
        assert_eq!(found, DimOrder { dims: vec![Label::Mb], stick: None });
    }

    #[test]
    fn an_indirect_coordinate_stands_for_the_dimensions_of_its_index_tensor() {
        let mut index = operand(&[1, 1, 32], vec![Coordinate::dim(1), Coordinate::dim(0), Coordinate::constant(0)]);
        index.name = Some("t".to_owned());
        let table = operand(&[4, 1, 64], vec![Coordinate::indirect("t"), Coordinate::floordiv(2, 64), Coordinate::modulo(2, 64)]);
        view("identity", &[8, 8, 64], vec![index, table], |view| {
            assert_eq!(view.own_order(1).dims, [Label::Out, Label::Mb, Label::X]);
            assert_eq!(view.reference_order(1).dims, [Label::Out]);
        });
    }

    #[test]
    fn the_weight_of_a_depthwise_convolution_has_its_window_and_no_single_position_of_the_result() {
        // [mb, out, i, j, ki, kj]: one column of results, and a window of one row.
        let ranges = [2, 64, 8, 1, 1, 3];
        let axis = |kernel| WindowAxis { kernel, ..WindowAxis::default() };
        let weight = [Coordinate::dim(3), Coordinate::dim(4), Coordinate::dim(5), Coordinate::floordiv(1, 64), Coordinate::modulo(1, 64)];
        let rows = [Coordinate::dim(2), Coordinate::dim(0), Coordinate::floordiv(1, 64), Coordinate::modulo(1, 64)];
        let rows = || operand(&[8, 2, 1, 64], rows.to_vec());
        let op = OpSpec {
            window: Some(Window { height: axis(1), width: axis(3), pad_type: None }),
            node_output_ranges: Some([2, 64, 8, 1]),
            ..op("depthwiseconv2dnative", &ranges, vec![rows(), operand(&[1, 1, 3, 1, 64], weight.to_vec()), rows()])
        };
        view_of(&op, |view| {
            assert_eq!(view.own_order(1), DimOrder { dims: vec![Label::Out, Label::Kj, Label::Ki], stick: Some(Label::Out) });
        });
    }
}
