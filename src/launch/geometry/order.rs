//! Derives the order of a tensor's dimensions from its coordinates ("SuperDSC schema, section 2.1").

use super::{AddressingMode, DimLabel};
use crate::bundle::OpFamily;
use crate::bundle::{Coordinate, CoordinateSource, OpSpec};

/// Op with the labels of its dimensions and the addressing modes of its operands: the input of the ordering rules.
pub(super) struct OpView<'a> {
    pub(super) op: &'a OpSpec,
    pub(super) family: OpFamily,
    /// Labels by position in the iteration space.
    pub(super) labels: Vec<DimLabel>,
    /// Addressing modes by operand.
    pub(super) accesses: Vec<AddressingMode>,
}

/// Order of the dimensions of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DimOrder {
    /// Dimensions outside the stick, innermost first. They include the stick dimension if the tensor has several sticks
    /// along it.
    pub(super) dims: Vec<DimLabel>,
    /// Dimension along the stick; `None` if a stick holds one element.
    pub(super) stick: Option<DimLabel>,
}

impl DimOrder {
    /// Appends a label unless the order has it already.
    fn append(&mut self, label: DimLabel) {
        if !self.dims.contains(&label) {
            self.dims.push(label);
        }
    }
}

impl OpView<'_> {
    /// Returns the label of the iteration dimension on which a coordinate depends; `None` for constants and indirect
    /// coordinates.
    pub(super) fn coordinate_label(&self, coordinate: &Coordinate) -> Option<DimLabel> {
        self.labels.get(coordinate.moving_dim()?).copied()
    }

    /// Returns whether the op gathers or scatters through an index tensor.
    pub(super) fn is_indirect(&self) -> bool {
        self.accesses.iter().any(|access| access.is_index())
    }

    /// Returns the index tensors, in operand order.
    pub(super) fn index_tensors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.accesses.len()).filter(|operand| self.accesses[*operand].is_index())
    }

    /// Returns the dimension order of the reference operand, from which the op takes its own order: the first operand
    /// of a reduction, otherwise the result. Indirect coordinates are ignored.
    pub(super) fn reference_order(&self, operand: usize) -> DimOrder {
        let coordinates = &self.op.operands[operand].coordinates;
        let Some((last, others)) = coordinates.split_last() else { return DimOrder::default() };
        let mut order = DimOrder { dims: Vec::new(), stick: self.coordinate_label(last) };
        for coordinate in others.iter().rev() {
            self.append_coordinate(&mut order, coordinate);
        }
        order
    }

    /// Returns the dimension order of an operand in its own description; an indirect coordinate contributes the
    /// dimensions of its index tensor.
    pub(super) fn own_order(&self, operand: usize) -> DimOrder {
        let coordinates = &self.op.operands[operand].coordinates;
        let Some((last, others)) = coordinates.split_last() else { return DimOrder::default() };
        let mut order = DimOrder { dims: Vec::new(), stick: self.coordinate_label(last) };
        let is_weight = self.is_depthwise_weight(operand);
        for coordinate in others.iter().rev() {
            if let (Some(CoordinateSource::Indirect(_)), AddressingMode::Value { index }) =
                (&coordinate.term, self.accesses[operand])
            {
                self.index_dims(index).into_iter().for_each(|label| order.append(label));
            } else if !(is_weight && self.is_unit_spatial(coordinate)) {
                self.append_coordinate(&mut order, coordinate);
            }
        }
        if is_weight {
            for label in [DimLabel::Ki, DimLabel::Kj] {
                if !order.dims.contains(&label) {
                    order.dims.insert(0, label);
                }
            }
        }
        order
    }

    /// Returns the iteration dimensions that address an index tensor, innermost first, without its stick coordinate.
    pub(super) fn index_dims(&self, index: usize) -> Vec<DimLabel> {
        let coordinates = &self.op.operands[index].coordinates;
        let others = &coordinates[..coordinates.len().saturating_sub(1)];
        others.iter().rev().filter_map(|coordinate| self.coordinate_label(coordinate)).collect()
    }

    /// Appends the dimension of a coordinate to the order.
    fn append_coordinate(&self, order: &mut DimOrder, coordinate: &Coordinate) {
        match &coordinate.term {
            Some(CoordinateSource::Indirect(_)) => {}
            // A constant 0 is the block coordinate of a stick dimension with a single block.
            None => {
                if let (0, Some(stick)) = (coordinate.offset, order.stick) {
                    order.append(stick);
                }
            }
            Some(CoordinateSource::Digits(_)) => {
                if let Some(label) = self.coordinate_label(coordinate) {
                    order.append(label);
                }
            }
        }
    }

    /// Returns whether an operand is the weight of a depthwise convolution. Its order includes the dimensions of the
    /// kernel window even if they have a single point.
    fn is_depthwise_weight(&self, operand: usize) -> bool {
        self.family == OpFamily::Depthwise && operand == 1
    }

    /// Returns whether a coordinate depends on a spatial dimension, `i` or `j`, of a single point.
    fn is_unit_spatial(&self, coordinate: &Coordinate) -> bool {
        let size = coordinate.moving_dim().and_then(|dim| self.op.iteration_space.get(dim)).map(|dim| dim.range);
        matches!(self.coordinate_label(coordinate), Some(DimLabel::I | DimLabel::J)) && size == Some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{with_op_view, with_view};
    use super::*;
    use crate::bundle::testing::{op, operand};
    use crate::bundle::{OpWindow, WindowAxis};

    fn order(coordinates: Vec<Coordinate>) -> DimOrder {
        let size = vec![1; coordinates.len()];
        with_view("add", &[8, 8, 8], vec![operand(&size, coordinates)], |view| view.own_order(0))
    }

    #[test]
    fn orders_innermost_dimension_outside_stick_first() {
        let found =
            order(vec![Coordinate::floordiv(2, 64), Coordinate::dim(0), Coordinate::dim(1), Coordinate::modulo(2, 64)]);
        assert_eq!(
            found,
            DimOrder { dims: vec![DimLabel::X, DimLabel::Mb, DimLabel::Out], stick: Some(DimLabel::Out) }
        );
    }

    #[test]
    fn treats_zero_as_only_stick_block() {
        let found = order(vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::dim(2)]);
        assert_eq!(found, DimOrder { dims: vec![DimLabel::Mb, DimLabel::Out], stick: Some(DimLabel::Out) });
        let shifted = order(vec![Coordinate::constant(1), Coordinate::dim(0), Coordinate::dim(2)]);
        assert_eq!(shifted.dims, [DimLabel::Mb]);
    }

    #[test]
    fn finds_no_stick_in_sparse_tensor() {
        let found = order(vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)]);
        assert_eq!(found, DimOrder { dims: vec![DimLabel::Mb], stick: None });
    }

    #[test]
    fn expands_indirect_coordinate_to_index_dimensions() {
        let mut index = operand(&[1, 1, 32], vec![Coordinate::dim(1), Coordinate::dim(0), Coordinate::constant(0)]);
        index.name = Some("t".to_owned());
        let table = operand(
            &[4, 1, 64],
            vec![Coordinate::indirect("t"), Coordinate::floordiv(2, 64), Coordinate::modulo(2, 64)],
        );
        with_view("identity", &[8, 8, 64], vec![index, table], |view| {
            assert_eq!(view.own_order(1).dims, [DimLabel::Out, DimLabel::Mb, DimLabel::X]);
            assert_eq!(view.reference_order(1).dims, [DimLabel::Out]);
        });
    }

    #[test]
    fn keeps_window_dims_of_depthwise_weight() {
        // [mb, out, i, j, ki, kj]: one column of results, and a window of one row.
        let ranges = [2, 64, 8, 1, 1, 3];
        let axis = |kernel| WindowAxis { kernel, ..WindowAxis::default() };
        let weight = [
            Coordinate::dim(3),
            Coordinate::dim(4),
            Coordinate::dim(5),
            Coordinate::floordiv(1, 64),
            Coordinate::modulo(1, 64),
        ];
        let rows = [Coordinate::dim(2), Coordinate::dim(0), Coordinate::floordiv(1, 64), Coordinate::modulo(1, 64)];
        let rows = || operand(&[8, 2, 1, 64], rows.to_vec());
        let op = OpSpec {
            window: Some(OpWindow { height: axis(1), width: axis(3), pad_type: None }),
            node_output_ranges: Some([2, 64, 8, 1]),
            ..op("depthwiseconv2dnative", &ranges, vec![rows(), operand(&[1, 1, 3, 1, 64], weight.to_vec()), rows()])
        };
        with_op_view(&op, |view| {
            assert_eq!(
                view.own_order(1),
                DimOrder { dims: vec![DimLabel::Out, DimLabel::Kj, DimLabel::Ki], stick: Some(DimLabel::Out) }
            );
        });
    }
}
