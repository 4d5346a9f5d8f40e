//! Program model for the choice of sticks: buffers, and ops that read and write them through index maps.

use machine::{DeviceFormat, Family, MAX_MATMUL_DIMS_PER_ROLE, STICK_BYTES, is_conversion};
use program::layout::{
    Coordinate, CoordinateTerm, DeviceLayout, DimOrder, HostTensor, IndexDigit, LayoutError, ReadableOperand,
    TensorIndex, ViewedOperand, count_sticks, make_readable,
};
use std::collections::BTreeSet;

/// Buffer of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LayoutBuffer {
    /// Sizes as the program sees them.
    pub sizes: Vec<i64>,
    /// Number format of the elements.
    pub format: DeviceFormat,
    /// Layout that the caller, or an op that needs it, has fixed.
    pub given: Option<DeviceLayout>,
    /// Dimensions that are split or merged when the buffer is returned: sticks of one of these are full.
    pub regrouped: Vec<usize>,
    /// Dimensions whose sizes are known only at launch: none of them may be in the sticks.
    pub symbolic: Vec<usize>,
    /// Uses of the buffer outside of the ops.
    pub role: BufferRole,
}

/// Use of a buffer outside of the ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BufferRole {
    /// The host fills it: an argument.
    Input,
    /// The host fills it with data from the compiler: a constant, which can be emitted in any other layout too.
    Constant,
    /// No use outside of the ops.
    Inner,
    /// The host reads it.
    Output,
}

/// Read of a buffer by an op.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferRead {
    /// The buffer.
    pub buffer: usize,
    /// One index per buffer dimension, in terms of the iteration dimensions.
    pub indices: Vec<TensorIndex>,
    /// Whether the operand is an index tensor or a table: its layout is fixed by the gather, and the choice skips it.
    pub is_exempt: bool,
}

/// An op.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LayoutOp {
    /// Rules for the sticks of the op.
    pub kind: StickRule,
    /// Sizes of the iteration dimensions, output dimensions first.
    pub ranges: Vec<i64>,
    /// How many of the last iteration dimensions are reduced.
    pub n_reduced: usize,
    /// The operands.
    pub reads: Vec<BufferRead>,
    /// The buffer of the result.
    pub result: usize,
    /// One index per dimension of that buffer.
    pub written: Vec<TensorIndex>,
    /// For a gather: the iteration dimension in the sticks of its table.
    pub table_stick: Option<usize>,
    /// Iteration dimensions whose sizes are known only at launch: none of them may be in the sticks.
    pub symbolic: Vec<usize>,
}

/// Stick rules of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StickRule {
    /// One dimension in the sticks of all operands.
    Elementwise,
    /// The last dimension in the sticks of operand and result: a conversion, which moves the elements of a stick, and
    /// the op that it reads.
    Conversion,
    /// One dimension in the sticks of all operands. If that dimension is reduced, the result has one element per stick.
    Reduction,
    /// A reduction that cannot run along the sticks (`prod`).
    ReductionOffStick,
    /// K in the sticks of the left operand, N in those of the right one and of the result.
    Matmul,
    /// One dimension in the sticks of part and buffer, of which the part fills whole ones.
    Insert,
    /// One dimension in the sticks of table and result.
    Gather,
    /// A move of the sticks that the program asks for.
    Restickify,
}

impl StickRule {
    /// Returns the rules of an op's family; inserts and restickifies are copies with rules of their own.
    #[must_use]
    pub fn from_family(family: Family, function: &str) -> Self {
        match family {
            Family::Reduce if function == "prod" => Self::ReductionOffStick,
            Family::Reduce => Self::Reduction,
            Family::Matmul => Self::Matmul,
            Family::Gather => Self::Gather,
            Family::Pointwise if is_conversion(function) => Self::Conversion,
            Family::Pointwise | Family::Copy => Self::Elementwise,
        }
    }
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct LayoutFlow {
    /// Its buffers.
    pub buffers: Vec<LayoutBuffer>,
    /// Its ops in order.
    pub ops: Vec<LayoutOp>,
}

impl LayoutFlow {
    /// Keeps the last dimension in the sticks of the ops whose results conversions read: a conversion reads sticks of
    /// equal elements, which a relayout would make of others.
    pub fn keep_converted_sticks(&mut self) {
        let conversions = self.ops.iter().filter(|op| op.kind == StickRule::Conversion);
        let read: BTreeSet<usize> = conversions.flat_map(|op| op.reads.iter().map(|read| read.buffer)).collect();
        for op in self.ops.iter_mut().filter(|op| op.kind == StickRule::Elementwise && read.contains(&op.result)) {
            op.kind = StickRule::Conversion;
        }
    }
}

impl LayoutBuffer {
    /// Returns the host dimensions that may be in the sticks; `None` among them is one element per stick.
    #[must_use]
    pub fn candidate_sticks(&self) -> Vec<Option<usize>> {
        if let Some(given) = &self.given {
            return vec![HostTensor::row_major(&self.sizes).ok().and_then(|host| given.stick_dim(&host))];
        }
        let may_be = |&dim: &usize| self.sizes[dim] > 1 && !self.symbolic.contains(&dim);
        let large: Vec<Option<usize>> = (0..self.sizes.len()).rev().filter(may_be).map(Some).collect();
        large.into_iter().chain([None]).collect()
    }

    /// Returns whether the buffer may have that dimension in its sticks.
    #[must_use]
    pub fn allows_stick(&self, stick: Option<usize>) -> bool {
        let is_full = |dim: usize| self.sizes[dim] % self.format.elements_per_stick() == 0;
        (self.given.is_none() || self.candidate_sticks() == [stick])
            && stick.is_none_or(|stick| !self.regrouped.contains(&stick) || is_full(stick))
    }

    /// Returns whether the host must gather the elements of a stick from distant parts of its tensor.
    #[must_use]
    pub fn is_strided(&self, stick: Option<usize>) -> bool {
        let last = self.sizes.len().checked_sub(1).filter(|&last| self.sizes[last] > 1);
        self.role != BufferRole::Inner && self.given.is_none() && last.is_some() && stick != last
    }

    /// Returns whether the buffer is an input in the host's own element order.
    fn is_row_major(&self, stick: Option<usize>) -> bool {
        let is_last =
            stick.map_or_else(|| self.sizes.iter().all(|&size| size == 1), |stick| stick + 1 == self.sizes.len());
        matches!(self.role, BufferRole::Input | BufferRole::Constant) && is_last
    }

    /// The layout with that dimension in the sticks.
    ///
    /// # Errors
    /// When there is none, as for more than six dimensions.
    pub fn layout(&self, stick: Option<usize>) -> Result<DeviceLayout, LayoutError> {
        let host = self.host_tensor()?;
        if let Some(given) = self.given.as_ref().filter(|given| given.stick_dim(&host) == stick) {
            return Ok(given.clone());
        }
        if self.is_row_major(stick) {
            return DeviceLayout::row_major(&self.sizes, self.format);
        }
        let order = match stick {
            Some(dim) => DimOrder::with_stick(&self.sizes, dim),
            None => DimOrder::sparse(&(0..self.sizes.len()).filter(|&dim| self.sizes[dim] > 1).collect::<Vec<_>>()),
        };
        DeviceLayout::new(&host, self.format, &order)
    }

    /// The buffer as the host sees it.
    ///
    /// # Errors
    /// When a size is not positive, or there are too many elements.
    pub fn host_tensor(&self) -> Result<HostTensor, LayoutError> {
        HostTensor::row_major(&self.sizes)
    }
}

impl LayoutOp {
    /// Returns the iteration dimensions that may be in the op's sticks; `None` among them is one element per stick.
    #[must_use]
    pub fn candidate_sticks(&self) -> Vec<Option<usize>> {
        let n_outputs = self.ranges.len() - self.n_reduced;
        let large = |dims: std::ops::Range<usize>| {
            dims.rev().filter(|&dim| self.ranges[dim] > 1 && !self.symbolic.contains(&dim)).map(Some)
        };
        match self.kind {
            StickRule::Matmul | StickRule::Conversion => vec![Some(n_outputs - 1)],
            StickRule::Gather => vec![self.table_stick],
            StickRule::Reduction => {
                large(n_outputs..self.ranges.len()).chain(large(0..n_outputs)).chain([None]).collect()
            }
            StickRule::ReductionOffStick | StickRule::Elementwise | StickRule::Insert | StickRule::Restickify => {
                large(0..n_outputs).chain([None]).collect()
            }
        }
    }

    /// Returns the dimension of the result's buffer that is in its sticks when `stick` is in those of the op.
    #[must_use]
    pub fn result_stick(&self, stick: Option<usize>) -> Option<usize> {
        let stick = stick?;
        self.written.iter().position(|index| index.digits.iter().any(|digit| digit.dim == stick))
    }

    /// Returns whether an insert can write its part into a buffer with `own` in its sticks when `stick` is in those of
    /// the op.
    #[must_use]
    pub fn can_write_slice(&self, stick: Option<usize>, buffer: &LayoutBuffer, own: Option<usize>) -> bool {
        if !buffer.allows_stick(own) {
            return false;
        }
        let is_in_sticks = match own {
            // One element a stick is the first element of a stick of the buffer.
            Some(own) => {
                self.result_stick(stick) == Some(own)
                    || stick.is_none() && num_written_positions(&self.written[own]) == 1
            }
            None => stick.is_none(),
        };
        is_in_sticks && self.check_written_window(buffer, own).is_ok()
    }

    /// Whether the part of an insert fills whole sticks of a buffer with `own` in its sticks.
    ///
    /// # Errors
    /// The positions that do not.
    pub fn check_written_window(&self, buffer: &LayoutBuffer, own: Option<usize>) -> Result<(), LayoutError> {
        let offsets: Vec<i64> = self.written.iter().map(|index| index.offset).collect();
        let sizes: Vec<i64> = self.written.iter().map(num_written_positions).collect();
        buffer.layout(own)?.check_written_window(&buffer.host_tensor()?, &offsets, &sizes)
    }

    /// The dimension that must run in the sticks of operand `operand`; the outer none is: none at all.
    fn required_stick(&self, stick: Option<usize>, operand: usize) -> Option<usize> {
        match (self.kind, operand) {
            (StickRule::Matmul, 0) => Some(self.ranges.len() - 1).filter(|&k| self.ranges[k] > 1),
            (StickRule::Matmul, _) => stick.filter(|&n| self.ranges[n] > 1),
            _ => stick,
        }
    }

    /// Returns whether an iteration dimension must not be split.
    pub(super) fn must_stay_unsplit(&self, dim: usize) -> bool {
        let n_outputs = self.ranges.len() - self.n_reduced;
        match self.kind {
            StickRule::Matmul | StickRule::Conversion => dim + 1 >= n_outputs,
            StickRule::Reduction | StickRule::ReductionOffStick => dim >= n_outputs,
            StickRule::Insert | StickRule::Gather => true,
            StickRule::Elementwise | StickRule::Restickify => false,
        }
    }

    /// Returns whether the device has a dimension for every part of the rows of a product, and one in all tensors for
    /// the operand's position between its sticks and its rows (other positions belong to the dimension inside of them).
    fn has_room_for_rows(&self, parts: &[Vec<i64>], read: &ReadableOperand) -> bool {
        let (StickRule::Matmul, Some(right)) = (self.kind, self.reads.get(1)) else { return true };
        // Each part with the dimension and the number of points below it.
        let mut rows = Vec::new();
        for (dim, parts) in parts.iter().enumerate().take(self.ranges.len().saturating_sub(2)) {
            let mut divisor = 1;
            for &size in parts.iter().rev() {
                rows.extend((size > 1).then_some((dim, divisor)));
                divisor *= size;
            }
        }
        let is_shared = |&(dim, divisor): &(usize, i64)| {
            let moves = |digit: &IndexDigit| digit.dim == dim && (digit.divisor..digit.period()).contains(&divisor);
            right.indices.iter().flat_map(|index| &index.digits).any(moves)
        };
        let (shared, own): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_shared);
        let beside_stick = read.layout.device_size().iter().zip(&read.coordinates).rev().nth(1);
        let is_pinned = beside_stick.is_some_and(|(&size, coordinate)| size > 1 && coordinate.term.is_none());
        (shared.len() + usize::from(is_pinned)).max(own.len()) <= MAX_MATMUL_DIMS_PER_ROLE
    }

    /// Returns whether the right operand of a product has rows for whole sticks of K: rows after the end of K are read
    /// too, and are 0.
    fn has_padding(&self, operand: usize, host: &HostTensor, elements: i64, indices: &[TensorIndex]) -> bool {
        let k = self.ranges.len().saturating_sub(1);
        if (self.kind, operand) != (StickRule::Matmul, 1) || self.ranges[k] % elements == 0 {
            return true;
        }
        let padded = count_sticks(self.ranges[k], elements) * elements;
        let is_enough = |(index, &size): (&TensorIndex, &i64)| {
            let mut along_k = index.digits.iter().filter(|digit| digit.dim == k);
            along_k.all(|digit| padded.checked_mul(digit.factor).is_some_and(|rows| rows <= size - index.offset))
        };
        indices.iter().zip(host.sizes()).all(is_enough)
    }

    /// Returns whether the operand of a reduction moves along all reduced dimensions: the device reduces only
    /// dimensions that an operand has.
    fn has_reduced_dims(&self, parts: &[Vec<i64>], read: &ReadableOperand) -> bool {
        if !matches!(self.kind, StickRule::Reduction | StickRule::ReductionOffStick) {
            return true;
        }
        let flat = parts.concat();
        let first = parts[..self.ranges.len() - self.n_reduced].iter().map(Vec::len).sum::<usize>();
        let moves = |part: usize| {
            read.coordinates.iter().any(|coordinate| coordinate.term.is_some_and(|term| term.dim == part))
        };
        (first..flat.len()).all(|part| flat[part] == 1 || moves(part))
    }

    /// Returns whether operand `operand`, with a buffer of these sizes and this layout read at `indices`, can be read
    /// without relayout when `stick` is in the sticks of the op.
    #[must_use]
    pub fn can_read_directly(
        &self,
        stick: Option<usize>,
        operand: usize,
        host: &HostTensor,
        layout: &DeviceLayout,
        indices: &[TensorIndex],
    ) -> bool {
        let Some((parts, read)) = split_operand(&self.ranges, host, layout, indices) else { return false };
        let is_cut = |dim: usize| parts[dim].len() > 1;
        if (0..self.ranges.len()).any(|dim| is_cut(dim) && self.must_stay_unsplit(dim))
            || !self.has_room_for_rows(&parts, &read)
        {
            return false;
        }
        if !self.has_reduced_dims(&parts, &read) {
            return false;
        }
        let expected = self.required_stick(stick, operand);
        let elements = layout.format().elements_per_stick();
        if !self.has_padding(operand, host, elements, indices) {
            return false;
        }
        if expected.is_some_and(|dim| splits_stick(&parts[dim], elements))
            || stick.is_some_and(|dim| splits_stick(&parts[dim], elements))
        {
            return false;
        }
        let Some((within, outer)) = read.coordinates.split_last() else { return false };
        if within.offset != 0 {
            return false;
        }
        match within.term {
            Some(term) => expected.is_some_and(|dim| term.dim == innermost_part(&parts, dim)),
            // One element a stick: the dimension in the sticks of the others may not step over these.
            None => {
                // Products and reductions compute on the sticks of their operands, so no operand may repeat an element
                // within a stick.
                let needs_sticks =
                    matches!(self.kind, StickRule::Matmul | StickRule::Reduction | StickRule::ReductionOffStick)
                        && expected.is_some();
                !needs_sticks
                    && !outer
                        .iter()
                        .filter_map(|coordinate| coordinate.term)
                        .any(|term| stick == Some(dim_of_term(&parts, term)))
            }
        }
    }
}

/// Returns the number of positions that an index reaches.
fn num_written_positions(index: &TensorIndex) -> i64 {
    index.digits.iter().map(|digit| digit.size).product()
}

/// Returns the parts of the iteration and the operand, if the operand alone can be read.
pub(super) fn split_operand(
    ranges: &[i64],
    host: &HostTensor,
    layout: &DeviceLayout,
    indices: &[TensorIndex],
) -> Option<OperandParts> {
    let mut read = make_readable(ranges, &[ViewedOperand { layout, host, indices }]).ok()?;
    Some((read.parts, read.operands.pop()?))
}

/// Returns whether a dimension that runs in sticks is split inside of one.
fn splits_stick(parts: &[i64], elements: i64) -> bool {
    parts.len() > 1 && parts.last().is_some_and(|inner| inner % elements != 0)
}

/// Returns the number of the innermost part of a dimension.
fn innermost_part(parts: &[Vec<i64>], dim: usize) -> usize {
    parts[..=dim].iter().map(Vec::len).sum::<usize>() - 1
}

/// Returns the iteration dimension that a part belongs to.
fn dim_of_term(parts: &[Vec<i64>], term: CoordinateTerm) -> usize {
    let mut first = 0;
    parts
        .iter()
        .position(|parts| {
            first += parts.len();
            term.dim < first
        })
        .expect("a term of a part")
}

/// For each iteration dimension the sizes of its parts, and the operand in terms of the parts.
pub(super) type OperandParts = (Vec<Vec<i64>>, ReadableOperand);

/// Traffic of copying a tensor into a new buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CopyTraffic {
    /// Bytes of the sticks that are read and written.
    pub bytes: i64,
    /// Whether elements change sticks; otherwise a copy does.
    pub is_restickify: bool,
}

/// Returns the traffic of copying the elements of a buffer, read as `read` specifies, into a new buffer of layout `to`
/// with `stick` in its sticks. Returns `None` if the device cannot do that (torch-spyre facts, B.4: no mechanism
/// gathers elements of several sticks into one, or the reverse).
#[must_use]
pub(super) fn compute_copy_traffic(
    (parts, read): &OperandParts,
    to: &DeviceLayout,
    stick: usize,
) -> Option<CopyTraffic> {
    let elements = read.layout.format().elements_per_stick();
    let (within, outer) = read.coordinates.split_last()?;
    let from = within.term.filter(|_| within.offset == 0)?;
    let lane = dim_of_term(parts, from);
    if from.dim != innermost_part(parts, lane)
        || splits_stick(&parts[lane], elements)
        || splits_stick(&parts[stick], elements)
    {
        return None;
    }
    let is_restickify = lane != stick;
    let flat = parts.concat();
    // A restickify pads both stick dimensions; its file cannot distinguish padding from elements after a window of the
    // other stick.
    let is_window = |(coordinate, &size): (&Coordinate, &i64)| {
        coordinate
            .term
            .is_some_and(|term| dim_of_term(parts, term) == stick && term.floordiv.is_none() && flat[term.dim] != size)
    };
    if is_restickify && outer.iter().zip(read.layout.device_size()).any(is_window) {
        return None;
    }
    let extent = |coordinate: &Coordinate| {
        coordinate.term.map_or(Some(1), |term| term.max_value(&flat).ok().map(|last| last + 1))
    };
    let touched = outer.iter().map(extent).try_fold(STICK_BYTES, |bytes, extent| bytes.checked_mul(extent?))?;
    Some(CopyTraffic { bytes: touched.checked_add(to.bytes())?, is_restickify })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{buffer, dims, op};
    use program::affine::AffineExpression;

    fn can_read(
        op: &LayoutOp,
        stick: Option<usize>,
        operand: usize,
        sizes: &[i64],
        own: Option<usize>,
        indices: &[TensorIndex],
    ) -> bool {
        let buffer = buffer(sizes);
        op.can_read_directly(stick, operand, &buffer.host_tensor().unwrap(), &buffer.layout(own).unwrap(), indices)
    }

    #[test]
    fn requires_operand_sticks_of_the_op_or_none() {
        let ranges = [128, 256];
        let add = op(StickRule::Elementwise, &ranges, 0);
        assert!(can_read(&add, Some(1), 0, &[128, 256], Some(1), &dims(&ranges, &[0, 1])));
        assert!(!can_read(&add, Some(0), 0, &[128, 256], Some(1), &dims(&ranges, &[0, 1])));
        assert!(can_read(&add, Some(0), 0, &[256, 128], Some(1), &dims(&ranges, &[1, 0])));
        let column = [TensorIndex::from_dim(0, &ranges).unwrap(), TensorIndex::constant(0)];
        assert!(can_read(&add, Some(1), 0, &[128, 1], None, &column));
        assert!(!can_read(&add, Some(0), 0, &[128, 1], None, &column), "rows step over the sticks of a sparse tensor");
        assert!(!can_read(&add, None, 0, &[128, 256], Some(1), &dims(&ranges, &[0, 1])));
    }

    #[test]
    fn uses_matmul_sticks_per_operand() {
        let ranges = [64, 256, 128];
        let matmul = op(StickRule::Matmul, &ranges, 1);
        assert_eq!(matmul.candidate_sticks(), [Some(1)]);
        assert!(can_read(&matmul, Some(1), 0, &[64, 128], Some(1), &dims(&ranges, &[0, 2])));
        assert!(!can_read(&matmul, Some(1), 0, &[64, 128], Some(0), &dims(&ranges, &[0, 2])));
        assert!(
            can_read(&matmul, Some(1), 1, &[256, 128], Some(0), &dims(&ranges, &[1, 2])),
            "a transposed weight with N in its sticks"
        );
        assert!(!can_read(&matmul, Some(1), 1, &[256, 128], Some(1), &dims(&ranges, &[1, 2])));
    }

    #[test]
    fn requires_whole_sticks_of_k_in_matmul() {
        let ranges = [64, 128, 100];
        let matmul = op(StickRule::Matmul, &ranges, 1);
        let columns = dims(&ranges, &[2, 1]);
        assert!(!can_read(&matmul, Some(1), 1, &[100, 128], Some(1), &columns));
        assert!(can_read(&matmul, Some(1), 1, &[128, 128], Some(1), &columns));
        let later = [TensorIndex { offset: 28, ..columns[0].clone() }, columns[1].clone()];
        assert!(!can_read(&matmul, Some(1), 1, &[128, 128], Some(1), &later));
    }

    #[test]
    fn bounds_row_dimensions_of_matmul() {
        let ranges = [24, 32, 128, 64];
        let right = |batch: Option<TensorIndex>| {
            let indices = batch
                .into_iter()
                .chain([TensorIndex::from_dim(3, &ranges).unwrap(), TensorIndex::from_dim(2, &ranges).unwrap()])
                .collect();
            BufferRead { buffer: 0, indices, is_exempt: false }
        };
        let part = |of: AffineExpression| TensorIndex::from_expr(&of, &ranges).unwrap();
        let number = |number: i64| Box::new(AffineExpression::Constant(number));
        let div = |by: i64| AffineExpression::FloorDiv(Box::new(AffineExpression::Dim(0)), number(by));
        let rest = |of: AffineExpression, by: i64| AffineExpression::Mod(Box::new(of), number(by));
        let rows = [
            part(div(12)),
            part(rest(div(4), 3)),
            part(rest(AffineExpression::Dim(0), 4)),
            part(AffineExpression::Dim(1)),
            part(AffineExpression::Dim(3)),
        ];
        let reads_left = |right: BufferRead, n_parts: usize| {
            let matmul = LayoutOp { reads: vec![right.clone(), right], ..op(StickRule::Matmul, &ranges, 1) };
            let (sizes, indices) = match n_parts {
                1 => (vec![24, 32, 64], dims(&ranges, &[0, 1, 3])),
                2 => (vec![6, 4, 32, 64], [&[part(div(4))], &rows[2..]].concat()),
                _ => (vec![2, 3, 4, 32, 64], rows.to_vec()),
            };
            can_read(&matmul, Some(2), 0, &sizes, Some(sizes.len() - 1), &indices)
        };
        // Rows that the right operand lacks: with those of dimension 1, one part is left for dimension 0.
        assert!(reads_left(right(None), 1));
        assert!(!reads_left(right(None), 2));
        // Two that it has.
        assert!(reads_left(right(Some(part(AffineExpression::Dim(0)))), 2));
        assert!(!reads_left(right(Some(part(AffineExpression::Dim(0)))), 3));
        // One of two that it has: a head of keys for four heads of queries.
        assert!(reads_left(right(Some(part(div(4)))), 2));
        assert!(reads_left(right(Some(part(div(4)))), 3));
    }

    #[test]
    fn rejects_narrow_heads_in_sticks() {
        let ranges = [8, 64, 32];
        let exp = LayoutOp { written: dims(&ranges, &[0, 1, 2]), ..op(StickRule::Elementwise, &ranges, 0) };
        let column = AffineExpression::Add(
            Box::new(AffineExpression::Mul(
                Box::new(AffineExpression::Dim(0)),
                Box::new(AffineExpression::Constant(32)),
            )),
            Box::new(AffineExpression::Dim(2)),
        );
        let heads = [TensorIndex::from_dim(1, &ranges).unwrap(), TensorIndex::from_expr(&column, &ranges).unwrap()];
        assert!(can_read(&exp, Some(1), 0, &[64, 256], Some(0), &heads));
        assert!(!can_read(&exp, Some(2), 0, &[64, 256], Some(1), &heads));
    }

    #[test]
    fn counts_read_and_written_bytes_of_a_move() {
        let ranges = [64, 256];
        let from = buffer(&[64, 256]);
        let (host, layout, to) =
            (from.host_tensor().unwrap(), from.layout(Some(1)).unwrap(), from.layout(Some(0)).unwrap());
        let plain = dims(&ranges, &[0, 1]);
        let restickify = compute_copy_traffic(&split_operand(&ranges, &host, &layout, &plain).unwrap(), &to, 0);
        assert_eq!(restickify, Some(CopyTraffic { bytes: 2 * 64 * 256 * 2, is_restickify: true }));
        let copied = compute_copy_traffic(&split_operand(&ranges, &host, &layout, &plain).unwrap(), &layout, 1);
        assert_eq!(copied, Some(CopyTraffic { bytes: 2 * 64 * 256 * 2, is_restickify: false }));
        let sparse = buffer(&[64, 1]);
        let column = [TensorIndex::from_dim(0, &[64]).unwrap(), TensorIndex::constant(0)];
        let dense = buffer(&[64]).layout(Some(0)).unwrap();
        assert_eq!(
            split_operand(&[64], &sparse.host_tensor().unwrap(), &sparse.layout(None).unwrap(), &column)
                .and_then(|read| compute_copy_traffic(&read, &dense, 0)),
            None
        );
    }

    #[test]
    fn rejects_restickify_of_a_window_of_the_other_stick() {
        let whole = buffer(&[64, 128]);
        let half = [TensorIndex::from_dim(0, &[32, 128]).unwrap(), TensorIndex::from_dim(1, &[32, 128]).unwrap()];
        let to = buffer(&[32, 128]).layout(Some(0)).unwrap();
        assert_eq!(
            split_operand(&[32, 128], &whole.host_tensor().unwrap(), &whole.layout(Some(1)).unwrap(), &half)
                .and_then(|read| compute_copy_traffic(&read, &to, 0)),
            None
        );
    }
}
