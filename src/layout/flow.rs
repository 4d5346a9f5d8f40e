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
    /// Sizes in the program.
    pub sizes: Vec<i64>,
    /// Number format of the elements.
    pub format: DeviceFormat,
    /// Layout that the caller, or an op that needs it, has fixed.
    pub given: Option<DeviceLayout>,
    /// Dimensions that are split or merged when the buffer is returned: sticks of one of these are full.
    pub regrouped: Vec<usize>,
    /// Dimensions whose sizes are known only at launch: none of them may be in the sticks.
    pub symbolic: Vec<usize>,
    /// Dimensions along which matmuls that read the buffer are batched: not next to the sticks, if the compiler
    /// chooses the layout. With the batch there a matmul computes at a seventh of the rate.
    pub batch: Vec<usize>,
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
    /// Whether the operand is an index tensor or a table: the gather fixes its layout, and the choice skips it.
    pub is_exempt: bool,
}

/// Op of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LayoutOp {
    /// Rules for the sticks of the op.
    pub kind: StickRule,
    /// Sizes of the iteration dimensions, output dimensions first.
    pub ranges: Vec<i64>,
    /// Number of trailing iteration dimensions that are reduced.
    pub num_reduced: usize,
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
    /// One dimension in the sticks of slice and buffer; the slice fills complete sticks.
    Insert,
    /// One dimension in the sticks of table and result.
    Gather,
    /// Restickify that the program requests.
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

/// Program for the choice of sticks.
#[derive(Clone, Debug, Default)]
pub struct LayoutFlow {
    /// Its buffers.
    pub buffers: Vec<LayoutBuffer>,
    /// Its ops in order.
    pub ops: Vec<LayoutOp>,
}

impl LayoutFlow {
    /// Keeps the last dimension in the sticks of the ops whose results conversions read: a conversion reads sticks of
    /// the same elements, which a relayout would regroup.
    pub fn keep_converted_sticks(&mut self) {
        let conversions = self.ops.iter().filter(|op| op.kind == StickRule::Conversion);
        let read: BTreeSet<usize> = conversions.flat_map(|op| op.reads.iter().map(|read| read.buffer)).collect();
        for op in self.ops.iter_mut().filter(|op| op.kind == StickRule::Elementwise && read.contains(&op.result)) {
            op.kind = StickRule::Conversion;
        }
    }

    /// Records the batch dimensions of all matmuls in the buffers that they read, and in those from which elementwise
    /// ops and inserts compute these: results with the order of an operand can share its address.
    pub fn record_batch_dims(&mut self) {
        for op in self.ops.iter().rev() {
            let batch: Vec<usize> = match op.kind {
                StickRule::Matmul => op.batch_dims(),
                StickRule::Elementwise | StickRule::Insert => {
                    let indices = self.buffers[op.result].batch.iter().map(|&dim| &op.written[dim]);
                    indices.flat_map(|index| index.digits.iter().map(|digit| digit.dim)).collect()
                }
                _ => continue,
            };
            for read in &op.reads {
                let indexed = find_indexed_dims(&read.indices, &batch);
                self.buffers[read.buffer].add_batch_dims(&indexed);
            }
        }
    }
}

/// Returns the dimensions of a buffer that one of these iteration dimensions indexes.
fn find_indexed_dims(indices: &[TensorIndex], iteration_dims: &[usize]) -> Vec<usize> {
    let is_indexed = |dim: &usize| indices[*dim].digits.iter().any(|digit| iteration_dims.contains(&digit.dim));
    (0..indices.len()).filter(is_indexed).collect()
}

impl LayoutBuffer {
    /// Returns the host dimensions that may be in the sticks; the entry `None` is one element per stick.
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

    /// Returns the layout with that dimension in the sticks.
    ///
    /// # Errors
    /// If there is none, as for more than six dimensions.
    pub fn layout(&self, stick: Option<usize>) -> Result<DeviceLayout, LayoutError> {
        let host = self.host_tensor()?;
        if let Some(given) = self.given.as_ref().filter(|given| given.stick_dim(&host) == stick) {
            return Ok(given.clone());
        }
        let batch = if self.role == BufferRole::Output { &[][..] } else { &self.batch };
        if batch.is_empty() && self.is_row_major(stick) {
            return DeviceLayout::row_major(&self.sizes, self.format);
        }
        let order = match stick {
            Some(dim) => DimOrder::with_stick(&self.sizes, dim).with_outer(batch, &self.sizes),
            None => DimOrder::sparse(&(0..self.sizes.len()).filter(|&dim| self.sizes[dim] > 1).collect::<Vec<_>>()),
        };
        DeviceLayout::new(&host, self.format, &order)
    }

    /// Returns a new buffer of these sizes for the elements of this one. Other sizes have no batch dimensions.
    #[must_use]
    pub(super) fn relayout_target(&self, sizes: &[i64]) -> Self {
        Self {
            sizes: sizes.to_vec(),
            format: self.format,
            given: None,
            regrouped: Vec::new(),
            symbolic: Vec::new(),
            batch: if self.sizes == sizes { self.batch.clone() } else { Vec::new() },
            role: BufferRole::Inner,
        }
    }

    fn add_batch_dims(&mut self, dims: &[usize]) {
        self.batch.extend(dims);
        self.batch.sort_unstable();
        self.batch.dedup();
    }

    /// Returns the buffer as a host tensor.
    ///
    /// # Errors
    /// If a size is not positive, or there are too many elements.
    pub fn host_tensor(&self) -> Result<HostTensor, LayoutError> {
        HostTensor::row_major(&self.sizes)
    }
}

impl LayoutOp {
    /// Returns the iteration dimensions that both operands of a matmul have in common with its result.
    fn batch_dims(&self) -> Vec<usize> {
        let is_indexed = |read: &BufferRead, dim: usize| !find_indexed_dims(&read.indices, &[dim]).is_empty();
        (0..self.ranges.len() - self.num_reduced)
            .filter(|&dim| self.ranges[dim] > 1 && self.reads.iter().all(|read| is_indexed(read, dim)))
            .collect()
    }

    /// Returns the iteration dimensions that may be in the op's sticks; the entry `None` is one element per stick.
    #[must_use]
    pub fn candidate_sticks(&self) -> Vec<Option<usize>> {
        let num_outputs = self.ranges.len() - self.num_reduced;
        let large = |dims: std::ops::Range<usize>| {
            dims.rev().filter(|&dim| self.ranges[dim] > 1 && !self.symbolic.contains(&dim)).map(Some)
        };
        match self.kind {
            StickRule::Matmul | StickRule::Conversion => vec![Some(num_outputs - 1)],
            StickRule::Gather => vec![self.table_stick],
            StickRule::Reduction => {
                large(num_outputs..self.ranges.len()).chain(large(0..num_outputs)).chain([None]).collect()
            }
            StickRule::ReductionOffStick | StickRule::Elementwise | StickRule::Insert | StickRule::Restickify => {
                large(0..num_outputs).chain([None]).collect()
            }
        }
    }

    /// Returns the dimension of the result's buffer that is in its sticks when `stick` is in those of the op.
    #[must_use]
    pub fn result_stick(&self, stick: Option<usize>) -> Option<usize> {
        let stick = stick?;
        self.written.iter().position(|index| index.digits.iter().any(|digit| digit.dim == stick))
    }

    /// Returns whether an insert can write its slice into a buffer with `own` in its sticks when `stick` is in those of
    /// the op.
    #[must_use]
    pub fn can_write_slice(&self, stick: Option<usize>, buffer: &LayoutBuffer, own: Option<usize>) -> bool {
        if !buffer.allows_stick(own) {
            return false;
        }
        let is_in_sticks = match own {
            // One element per stick is the first element of a stick of the buffer.
            Some(own) => {
                self.result_stick(stick) == Some(own)
                    || stick.is_none() && num_written_positions(&self.written[own]) == 1
            }
            None => stick.is_none(),
        };
        is_in_sticks && self.check_written_window(buffer, own).is_ok()
    }

    /// Checks that the slice of an insert fills complete sticks of a buffer with `own` in its sticks.
    ///
    /// # Errors
    /// Returns the positions that do not.
    pub fn check_written_window(&self, buffer: &LayoutBuffer, own: Option<usize>) -> Result<(), LayoutError> {
        let offsets: Vec<i64> = self.written.iter().map(|index| index.offset).collect();
        let sizes: Vec<i64> = self.written.iter().map(num_written_positions).collect();
        buffer.layout(own)?.check_written_window(&buffer.host_tensor()?, &offsets, &sizes)
    }

    /// Returns the dimension that must run in the sticks of operand `operand`; `None` if it must have one element per
    /// stick.
    fn required_stick(&self, stick: Option<usize>, operand: usize) -> Option<usize> {
        match (self.kind, operand) {
            (StickRule::Matmul, 0) => Some(self.ranges.len() - 1).filter(|&k| self.ranges[k] > 1),
            (StickRule::Matmul, _) => stick.filter(|&n| self.ranges[n] > 1),
            _ => stick,
        }
    }

    /// Returns whether an iteration dimension must not be split.
    pub(super) fn must_interval_unsplit(&self, dim: usize) -> bool {
        let num_outputs = self.ranges.len() - self.num_reduced;
        match self.kind {
            StickRule::Matmul | StickRule::Conversion => dim + 1 >= num_outputs,
            StickRule::Reduction | StickRule::ReductionOffStick => dim >= num_outputs,
            StickRule::Insert | StickRule::Gather => true,
            StickRule::Elementwise | StickRule::Restickify => false,
        }
    }

    /// Returns whether the device has a dimension for every part of the rows of a matmul, and a dimension in all
    /// tensors for the operand's position between its sticks and its rows. Other positions belong to the dimension
    /// inside of them.
    fn has_room_for_rows(&self, parts: &[Vec<i64>], read: &ReadableOperand) -> bool {
        let (StickRule::Matmul, Some(right)) = (self.kind, self.reads.get(1)) else { return true };
        // Each part as the dimension and the number of points below it.
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

    /// Returns whether the right operand of a matmul has rows for complete sticks of K: the op also reads the rows
    /// after the end of K, which are 0.
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
        let first = parts[..self.ranges.len() - self.num_reduced].iter().map(Vec::len).sum::<usize>();
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
        if (0..self.ranges.len()).any(|dim| is_cut(dim) && self.must_interval_unsplit(dim))
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
            // One element per stick: the dimension in the sticks of the others may not step over these.
            None => {
                // Matmuls and reductions compute on the sticks of their operands, so no operand may repeat an element
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
mod tests;
