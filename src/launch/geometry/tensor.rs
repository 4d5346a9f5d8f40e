//! Layout of each tensor in the op's space: order, scales, strides, gaps and page sizes ("SuperDSC schema, section 3").

use super::order::{DimOrder, OpView};
use super::space::round_up;
use super::space_plan::SpacePlan;
use super::{AddressingMode, DimLabel};
use crate::bundle::{ElementArrangement, OpSpecOperand, is_identity};
use machine::DeviceFormat;

/// Participation of a tensor in one dimension of the op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Has the dimension (1).
    Present,
    /// Lacks the dimension, which is reduced or broadcast (-1).
    Absent,
    /// Lacks the dimension, which is the op's stick: each stick of the tensor holds one element (-2).
    AbsentStick,
}

impl Scale {
    /// Returns the number in files.
    #[must_use]
    pub const fn as_number(self) -> i64 {
        match self {
            Self::Present => 1,
            Self::Absent => -1,
            Self::AbsentStick => -2,
        }
    }
}

/// One dimension of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorDim {
    /// Label of the dimension.
    pub label: DimLabel,
    /// Participation of the tensor in the dimension.
    pub scale: Scale,
    /// Number of elements that the complete dimension spans; a core's slice starts at `slot * stride / split`.
    pub stride: i64,
    /// Number of positions covered by one index, or -1 (`maxDimSizes_`).
    pub page: i64,
}

/// Tensor of an op, with the op's labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabeledTensor {
    /// Addressing mode.
    pub access: AddressingMode,
    /// Format in the file.
    pub format: DeviceFormat,
    /// Dimensions, starting with the innermost one except the stick.
    pub dims: Vec<TensorDim>,
    /// Dimensions that run along the stick.
    pub stick: Vec<DimLabel>,
    /// Number of elements of the stick along each of these dimensions.
    pub stick_sizes: Vec<i64>,
    /// Number of elements between the start of the tensor and the accessed region.
    pub front: i64,
    /// Number of elements of the tensor beyond the accessed region, by dimension.
    pub gaps: Vec<(DimLabel, i64)>,
    /// Number of its layout class.
    pub class: usize,
}

impl LabeledTensor {
    /// Returns the dimension with that label.
    #[must_use]
    pub fn dim(&self, label: DimLabel) -> Option<&TensorDim> {
        self.dims.iter().find(|dim| dim.label == label)
    }

    /// Returns the labels of its dimensions, in its own order.
    #[must_use]
    pub fn order(&self) -> Vec<DimLabel> {
        self.dims.iter().map(|dim| dim.label).collect()
    }
}

/// Computes every tensor of an op; classes are assigned afterwards.
pub(super) fn build_tensors(view: &OpView<'_>, plan: &SpacePlan) -> Vec<LabeledTensor> {
    (0..view.op.operands.len()).map(|operand| LabeledTensorBuilder::new(view, plan, operand).build()).collect()
}

/// Device dimensions of a tensor counted from the stick outwards, as in the stride rules.
struct DeviceExtents<'a>(&'a OpSpecOperand);

impl DeviceExtents<'_> {
    /// Returns the number of elements of the innermost `count` device dimensions, or of all if there are fewer.
    fn inner_elements(&self, count: usize) -> i64 {
        let size = &self.0.device_size;
        size[size.len().saturating_sub(count)..].iter().product()
    }

    /// Returns the position of the `k`-th dimension outside the stick.
    fn position(&self, k: usize) -> Option<usize> {
        self.0.device_size.len().checked_sub(k + 2)
    }
}

struct LabeledTensorBuilder<'a> {
    view: &'a OpView<'a>,
    plan: &'a SpacePlan,
    index: usize,
    operand: &'a OpSpecOperand,
    access: AddressingMode,
    order: Vec<DimLabel>,
    /// Whether the tensor has its own stick; a sparse one may use the op's.
    has_stick: bool,
    stick: Option<DimLabel>,
    absent: Vec<DimLabel>,
}

impl<'a> LabeledTensorBuilder<'a> {
    fn new(view: &'a OpView<'a>, plan: &'a SpacePlan, index: usize) -> Self {
        let DimOrder { dims, stick } = view.own_order(index);
        let access = view.accesses[index];
        let operand = &view.op.operands[index];
        Self { view, plan, index, operand, access, order: dims, has_stick: stick.is_some(), stick, absent: Vec::new() }
    }

    fn build(mut self) -> LabeledTensor {
        if self.access.is_index() {
            self.complete_index();
        } else {
            self.add_absent();
            self.add_op_stick();
        }
        if self.view.op.function == "layernormscale" && self.index == 0 {
            self.absent = self.stick.into_iter().collect();
        }
        let format = self.format();
        let mut tensor = LabeledTensor {
            access: self.access,
            format,
            dims: Vec::with_capacity(self.order.len() + 2),
            stick: Vec::new(),
            stick_sizes: vec![self.operand.format.elements_per_stick()],
            front: 0,
            gaps: Vec::new(),
            class: 0,
        };
        for label in self.order.clone() {
            self.push_dim(&mut tensor, label);
        }
        self.push_added_dims(&mut tensor);
        self.set_stick(&mut tensor);
        tensor
    }

    /// Assigns the added stick dimension to an index tensor without a stick.
    fn complete_index(&mut self) {
        if let (true, Some(outer)) = (self.order.is_empty(), self.plan.outer) {
            self.order = vec![outer];
            self.stick = Some(outer);
        } else if let (None, Some((_, private))) =
            (self.stick, self.plan.private.iter().find(|(operand, _)| *operand == self.index))
        {
            self.order.push(*private);
            self.stick = Some(*private);
        }
    }

    /// Adds the op's dimensions that the tensor lacks: those along which it is broadcast or was reduced.
    fn add_absent(&mut self) {
        use crate::bundle::OpFamily::{Conv2d, Depthwise, Elementwise, Matmul, Pool, Reduction, TopK};
        let follows_op = match self.view.family {
            Pool | Reduction | Elementwise => true,
            Matmul | Conv2d | Depthwise | TopK => false,
        };
        let is_complete = self.order.iter().copied().eq(self.plan.space.dims().iter().map(|dim| dim.label));
        if follows_op && !is_complete {
            let lacks = |label: &&DimLabel| !self.order.contains(*label) && self.plan.outer != Some(**label);
            self.absent = self.plan.order.iter().filter(lacks).copied().collect();
            self.order.extend_from_slice(&self.absent);
        }
    }

    /// Uses the added dimension as the stick if all operands are sparse.
    fn add_op_stick(&mut self) {
        let Some(stick) = self.plan.full_stick else { return };
        self.stick = Some(stick);
        self.has_stick = true;
        if !self.order.contains(&stick) {
            self.order.push(stick);
        }
    }

    /// Returns the format in files: indices are unsigned, and the back end copies 32-bit integers as floats.
    fn format(&self) -> DeviceFormat {
        if self.access.is_index() {
            DeviceFormat::SenUint32
        } else if is_identity(self.view.op) && self.operand.format == DeviceFormat::IeeeInt32 {
            DeviceFormat::IeeeFp32
        } else {
            self.operand.format
        }
    }

    fn push_dim(&self, tensor: &mut LabeledTensor, label: DimLabel) {
        let extents = DeviceExtents(self.operand);
        let k = self.stride_position(label);
        let is_private = self.access.is_index() && self.plan.is_private_stick(label);
        let mut stride = if is_private { 1 } else { extents.inner_elements(k + 2) };
        let mut extent = self.plan.space.size(label);
        let mut device = extents.position(k).map_or(extent, |position| self.operand.device_size[position]);
        if self.stick == Some(label) {
            let per_stick = self.operand.format.elements_per_stick();
            device *= per_stick;
            extent = round_up(extent, per_stick);
        }
        let coordinate = extents.position(k).map(|position| &self.operand.coordinates[position]);
        if let Some(coordinate) = coordinate.filter(|coordinate| !is_bare_indirect(coordinate) && device > extent) {
            tensor.front += if is_private { coordinate.offset } else { self.front(k, coordinate.offset) };
            if !self.view.family.is_convolution() {
                tensor.gaps.push((label, device - extent));
            }
            stride = stride / device * extent;
        }
        tensor.dims.push(TensorDim { label, scale: self.scale(label), stride, page: self.page(label, k) });
    }

    /// Returns the elements before position `offset` of the `k`-th dimension outside the stick. In LX, that dimension
    /// and the ones inside it have the elements of one core only. A divided dimension has an offset in LX only if a
    /// position of an outer dimension was folded into it. The offset is then a number of complete dimensions, of each
    /// of which a core has its slice.
    fn front(&self, k: usize, offset: i64) -> i64 {
        let (extents, coordinates) = (DeviceExtents(self.operand), &self.operand.coordinates);
        let inside = extents.position(k).map_or(&[][..], |position| &coordinates[position..coordinates.len() - 1]);
        let labels = inside
            .iter()
            .filter_map(|coordinate| self.view.coordinate_label(coordinate))
            .filter(|_| self.operand.allocation.is_lx());
        offset * extents.inner_elements(k + 1) / labels.map(|label| self.plan.space.split(label)).product::<i64>()
    }

    /// Returns the position of a dimension in the stride order; absent dimensions are last.
    fn stride_position(&self, label: DimLabel) -> usize {
        let present = self.order.iter().filter(|other| !self.absent.contains(other));
        present.chain(&self.absent).position(|other| *other == label).unwrap_or_default()
    }

    fn scale(&self, label: DimLabel) -> Scale {
        if self.access != AddressingMode::Direct && self.view.is_indirect() || !self.absent.contains(&label) {
            return Scale::Present;
        }
        let is_stick = if self.view.op.function == "layernormscale" {
            self.stick == Some(label)
        } else {
            !self.has_stick && self.plan.stick == Some(label)
        };
        if is_stick { Scale::AbsentStick } else { Scale::Absent }
    }

    /// Returns the number of positions covered by one index along a dimension; more than one only for the innermost
    /// indexed dimension.
    fn page(&self, label: DimLabel, k: usize) -> i64 {
        if self.plan.is_private_stick(label) {
            return 1;
        }
        let AddressingMode::Value { index } = self.access else { return -1 };
        if self.stick == Some(label) || !self.view.index_dims(index).contains(&label) {
            return -1;
        }
        let index_operand = &self.view.op.operands[index];
        let Some(position) = DeviceExtents(index_operand).position(k) else { return -1 };
        let moving: Vec<_> = index_operand
            .coordinates
            .iter()
            .filter_map(|coordinate| self.view.coordinate_label(coordinate))
            .fold(Vec::new(), |mut labels, label| {
                if !labels.contains(&label) {
                    labels.push(label);
                }
                labels
            });
        let is_outer = moving.len() > 1 && moving.last() != Some(&label);
        if is_outer { index_operand.device_size[position] } else { 1 }
    }

    /// Adds the leading single row, and the added dimension of a top-k's result.
    fn push_added_dims(&self, tensor: &mut LabeledTensor) {
        let extents = DeviceExtents(self.operand);
        if let (Some(label), false) = (self.plan.outer, self.access.is_index()) {
            let page = if matches!(self.access, AddressingMode::Value { .. }) { 1 } else { -1 };
            tensor.dims.insert(0, TensorDim { label, scale: Scale::Present, stride: extents.inner_elements(2), page });
        }
        if let (Some(label), true) = (self.plan.top_k, self.index + 1 == self.view.op.operands.len()) {
            let stride = extents.inner_elements(tensor.dims.len() + 2);
            tensor.dims.push(TensorDim { label, scale: Scale::Present, stride, page: -1 });
        }
    }

    fn set_stick(&self, tensor: &mut LabeledTensor) {
        let per_stick = tensor.format.elements_per_stick();
        if self.operand.arrangement == ElementArrangement::Qfp8Wt {
            self.set_weight_block(tensor);
        } else {
            tensor.stick = self.stick.or(self.plan.stick).into_iter().collect();
            tensor.stick_sizes = vec![per_stick];
        }
    }

    /// Sets the stick of fp8 weights: a block of two rows. A row of blocks spans half of two rows of sticks.
    fn set_weight_block(&self, tensor: &mut LabeledTensor) {
        let columns = self.stick.or_else(|| tensor.dims.last().map(|dim| dim.label));
        let rows = tensor.dims.iter_mut().find(|dim| Some(dim.label) != columns);
        tensor.stick = rows.as_ref().map(|rows| rows.label).into_iter().chain(columns).collect();
        tensor.stick_sizes = vec![2, tensor.format.elements_per_stick() / 2];
        if let Some(rows) = rows {
            rows.stride /= 2;
        }
    }
}

fn is_bare_indirect(coordinate: &crate::bundle::Coordinate) -> bool {
    coordinate.index_name().is_some() && coordinate.offset == 0
}

#[cfg(test)]
mod tests {
    use super::super::Geometry;
    use super::*;
    use crate::bundle::testing::{dense_operand, op, operand};
    use crate::bundle::{Allocation, Coordinate};

    fn tensors(function: &str, ranges: &[i64], operands: Vec<OpSpecOperand>) -> Vec<LabeledTensor> {
        Geometry::new(&op(function, ranges, operands)).unwrap().tensors
    }

    fn scales(tensor: &LabeledTensor) -> Vec<(DimLabel, i64)> {
        tensor.dims.iter().map(|dim| (dim.label, dim.scale.as_number())).collect()
    }

    fn sparse(rows: i64) -> OpSpecOperand {
        operand(&[1, rows, 64], vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)])
    }

    #[test]
    fn computes_strides_over_whole_dimension() {
        let found =
            tensors("neg", &[128, 256], vec![dense_operand(&[128, 256], 0, 1), dense_operand(&[128, 256], 0, 1)]);
        let strides: Vec<_> = found[0].dims.iter().map(|dim| (dim.label, dim.stride)).collect();
        assert_eq!(strides, [(DimLabel::Mb, 128 * 64), (DimLabel::Out, 4 * 128 * 64)]);
    }

    #[test]
    fn scales_reduced_stick_and_reduced_row() {
        let over_stick = tensors("sum", &[64, 256], vec![dense_operand(&[64, 256], 0, 1), sparse(64)]);
        assert_eq!(scales(&over_stick[1]), [(DimLabel::Mb, 1), (DimLabel::Out, -2)]);
        let column = operand(&[4, 64], vec![Coordinate::floordiv(1, 64), Coordinate::modulo(1, 64)]);
        let over_rows = tensors("sum", &[64, 256], vec![dense_operand(&[64, 256], 0, 1), column]);
        assert_eq!(scales(&over_rows[1]), [(DimLabel::Out, 1), (DimLabel::Mb, -1)]);
    }

    #[test]
    fn uses_added_stick_for_sparse_reduction() {
        // 32 elements, repeated twice and added twice.
        let input = operand(&[1, 32, 64], vec![Coordinate::constant(0), Coordinate::dim(1), Coordinate::constant(0)]);
        let result = operand(&[1, 2, 64], vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)]);
        let found = tensors("sum", &[2, 32], vec![input, result]);
        assert_eq!(scales(&found[0]), [(DimLabel::Out, 1), (DimLabel::Y, 1)]);
        assert!(found.iter().all(|tensor| tensor.stick == [DimLabel::Y]), "{found:?}");
    }

    #[test]
    fn computes_front_and_gap_of_slice() {
        let mut slice = dense_operand(&[128, 256], 0, 1);
        slice.coordinates[0] = Coordinate::floordiv(1, 64).shifted_by(1);
        let found = tensors("neg", &[128, 128], vec![slice, dense_operand(&[128, 128], 0, 1)]);
        assert_eq!((found[0].front, found[0].gaps.as_slice()), (128 * 64, [(DimLabel::Out, 128)].as_slice()));
        assert_eq!(found[0].dims[1].stride, 2 * 128 * 64);
        assert!(found[1].gaps.is_empty());
    }

    #[test]
    fn counts_front_of_one_core_in_lx() {
        let mut slice = dense_operand(&[128, 256], 0, 1);
        slice.coordinates[0] = Coordinate::floordiv(1, 64).shifted_by(1);
        slice.allocation = Allocation::Lx { offset_bytes: 0 };
        let mut spec = op("neg", &[128, 128], vec![slice, dense_operand(&[128, 128], 0, 1)]);
        spec.iteration_space[0].split = 32;
        let found = Geometry::new(&spec).unwrap().tensors;
        assert_eq!((found[0].front, found[0].gaps.as_slice()), (4 * 64, [(DimLabel::Out, 128)].as_slice()));
    }

    #[test]
    fn counts_slices_for_folded_position_in_lx() {
        let sizes = [6, 3, 64];
        let coordinates = vec![Coordinate::dim(0).shifted_by(4), Coordinate::dim(1), Coordinate::dim(2)];
        let mut slice = operand(&sizes, coordinates.clone());
        slice.allocation = Allocation::Lx { offset_bytes: 0 };
        let mut spec = op("neg", &[2, 3, 64], vec![slice, operand(&[2, 3, 64], coordinates)]);
        spec.operands[1].coordinates[0].offset = 0;
        spec.iteration_space[0].split = 2;
        assert_eq!(Geometry::new(&spec).unwrap().tensors[0].front, 2 * 3 * 64);
    }

    #[test]
    fn copies_integers_as_floats() {
        let mut from = operand(&[2, 32], vec![Coordinate::floordiv(0, 32), Coordinate::modulo(0, 32)]);
        from.format = DeviceFormat::IeeeInt32;
        assert_eq!(tensors("identity", &[64], vec![from.clone(), from.clone()])[0].format, DeviceFormat::IeeeFp32);
        assert_eq!(tensors("add", &[64], vec![from.clone(), from])[0].format, DeviceFormat::IeeeInt32);
    }

    #[test]
    fn splits_fp8_weight_stick_into_two_rows() {
        let mut weight = operand(&[1, 8, 128], vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::dim(1)]);
        weight.format = DeviceFormat::Sen143Fp8;
        weight.arrangement = ElementArrangement::Qfp8Wt;
        let found = tensors("qfp8wt", &[8, 128], vec![dense_operand(&[8, 128], 0, 1), weight]);
        assert_eq!(
            (found[1].stick.as_slice(), found[1].stick_sizes.as_slice()),
            ([DimLabel::Mb, DimLabel::Out].as_slice(), [2, 64].as_slice())
        );
        // Four rows of blocks of 128 bytes in each of two columns of blocks.
        assert_eq!(found[1].dims.iter().map(|dim| dim.stride).collect::<Vec<_>>(), [4 * 128, 8 * 128]);
    }

    #[test]
    fn assigns_pages_to_innermost_indexed_dimension_only() {
        // The index tensor is [3, 192]: 6 sticks of 32 for each of 3 rows.
        let mut index =
            operand(&[6, 3, 32], vec![Coordinate::floordiv(1, 32), Coordinate::dim(0), Coordinate::modulo(1, 32)]);
        index.format = DeviceFormat::IeeeInt32;
        index.name = Some("t".to_owned());
        let table = operand(
            &[4, 128, 64],
            vec![Coordinate::floordiv(2, 64), Coordinate::indirect("t"), Coordinate::modulo(2, 64)],
        );
        let size = [3, 4, 192, 64];
        let result = operand(
            &size,
            vec![Coordinate::dim(0), Coordinate::floordiv(2, 64), Coordinate::dim(1), Coordinate::modulo(2, 64)],
        );
        let found = tensors("identity", &[3, 192, 256], vec![index, table, result]);
        let pages: Vec<_> = found[1].dims.iter().map(|dim| (dim.label, dim.page)).collect();
        assert_eq!(pages, [(DimLabel::Mb, 1), (DimLabel::X, 6), (DimLabel::Out, -1)]);
        assert_eq!(found[0].format, DeviceFormat::SenUint32);
    }
}
