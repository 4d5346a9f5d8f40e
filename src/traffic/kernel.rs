//! Converts the ops of a bundle to the input of the time model (crate [`cost`]). A bundle is launched as one kernel.

use super::op_traffic::touched_bytes;
use crate::bundle::{Allocation, Bundle, BundleItem, OpFamily, OpSpec, OpSpecOperand};
use cost::{Dim, OpKind, OpShape, ShuffleShape, TileOp, TileOperand};
use machine::STICK_BYTES;
use std::collections::{BTreeMap, BTreeSet};

/// Start of an operand: the start of an argument, the pool or LX, and the byte offset from it.
type OperandStart = (Allocation, i64);

/// Returns the shapes and operands of a bundle's ops, in program order.
///
/// An op spec has the extents of one tile. Each enclosing loop becomes an additional outer dimension; it moves the
/// operands that advance with the loop. Slices of one buffer with different starts count as different tensors.
#[must_use]
pub fn read_kernel(bundle: &Bundle) -> Vec<OpShape> {
    let written: BTreeSet<Allocation> = bundle
        .ops()
        .iter()
        .flat_map(|op| &op.operands)
        .filter(|operand| !operand.is_input)
        .map(|operand| buffer_start(operand.allocation))
        .collect();
    let mut reader = KernelReader {
        written_buffers: written,
        tensor_numbers: BTreeMap::new(),
        trip_counts: Vec::new(),
        ops: Vec::new(),
    };
    reader.read_items(&bundle.items);
    reader.ops
}

struct KernelReader {
    /// Buffers that an op of the bundle writes.
    written_buffers: BTreeSet<Allocation>,
    /// Number of each tensor.
    tensor_numbers: BTreeMap<OperandStart, usize>,
    /// Trip counts of the enclosing loops, outermost first.
    trip_counts: Vec<i64>,
    /// Ops read so far.
    ops: Vec<OpShape>,
}

impl KernelReader {
    fn read_items(&mut self, items: &[BundleItem]) {
        for item in items {
            match item {
                BundleItem::Op(op) => {
                    let shape = self.read_op(op);
                    self.ops.push(shape);
                }
                BundleItem::Loop { count, symbol: _, body } => {
                    self.trip_counts.push(*count);
                    self.read_items(body);
                    self.trip_counts.pop();
                }
            }
        }
    }

    fn read_op(&mut self, op: &OpSpec) -> OpShape {
        let output = op.operands.iter().find(|operand| !operand.is_input);
        let dims = op.iteration_space.iter().enumerate().map(|(index, dim)| Dim {
            extent: dim.range,
            slices: dim.split,
            is_reduced: output.is_some_and(|output| !moving_dims(op, output).any(|moving| moving == index)),
        });
        let dims = dims.collect();
        // Index tensors come last: the model reads the first two inputs of a matmul.
        let (values, indices): (Vec<&OpSpecOperand>, Vec<&OpSpecOperand>) =
            op.operands.iter().partition(|operand| operand.name.is_none());
        let operands = values.into_iter().chain(indices).map(|operand| self.read_operand(op, operand)).collect();
        let (kind, is_irregular) = (op_kind(op), is_irregular(op));
        TileOp {
            kind,
            is_reduction: op.is_reduction,
            dims,
            trips: self.trip_counts.clone(),
            operands,
            is_irregular,
            shuffle: build_shuffle_shape(op),
        }
        .to_op_shape()
    }

    fn read_operand(&mut self, op: &OpSpec, operand: &OpSpecOperand) -> TileOperand {
        let varies = |dim: &usize| op.iteration_space[*dim].range > 1;
        let (stick, outer) = match operand.coordinates.split_last() {
            Some((stick, outer)) => (stick.moving_dim(), outer),
            None => (None, &[][..]),
        };
        // Sticks are adjacent along the innermost outer dimension of size above 1.
        let inner = outer.iter().zip(&operand.device_size).rev().find(|(_, size)| **size > 1);
        let next_number = self.tensor_numbers.len();
        let start = (buffer_start(operand.allocation), start_bytes(operand));
        let is_argument = matches!(operand.allocation, Allocation::Hbm { .. });
        TileOperand {
            buffer: *self.tensor_numbers.entry(start).or_insert(next_number),
            is_output: !operand.is_input,
            is_kernel_input: is_argument && !self.written_buffers.contains(&start.0),
            is_in_lx: operand.allocation.is_lx(),
            is_argument,
            tile_bytes: touched_bytes(op, operand),
            element_bytes: operand.format.bytes(),
            moved_by: moving_dims(op, operand).collect(),
            stick: stick.filter(varies),
            inner: inner.and_then(|(coordinate, _)| coordinate.moving_dim()).filter(varies),
            advances: (0..self.trip_counts.len()).map(|level| advances_with_loop(operand, level)).collect(),
        }
    }
}

/// Returns the start of the buffer that contains an allocation: an argument, the pool or LX.
const fn buffer_start(allocation: Allocation) -> Allocation {
    match allocation {
        Allocation::Hbm { argument, .. } => Allocation::Hbm { argument, offset_bytes: 0 },
        Allocation::Pool { .. } => Allocation::Pool { offset_bytes: 0 },
        Allocation::Lx { .. } => Allocation::Lx { offset_bytes: 0 },
    }
}

/// Returns the byte offset of the first accessed element from the start of its argument, of the pool or of LX.
fn start_bytes(operand: &OpSpecOperand) -> i64 {
    let mut stride = 1;
    let mut elements = 0;
    for (coordinate, size) in operand.coordinates.iter().zip(&operand.device_size).rev() {
        elements += coordinate.offset * stride;
        stride *= size;
    }
    operand.allocation.offset_bytes() + elements * operand.format.bytes()
}

/// Returns whether an operand advances with the loop at a nesting level.
fn advances_with_loop(operand: &OpSpecOperand, level: usize) -> bool {
    operand.tile_advance.get(level).is_some_and(|advance| *advance != 0)
}

/// Returns the dimensions of size above 1 that an operand is indexed by, each once.
fn moving_dims(op: &OpSpec, operand: &OpSpecOperand) -> impl Iterator<Item = usize> {
    let dims: BTreeSet<usize> = operand.coordinates.iter().filter_map(crate::bundle::Coordinate::moving_dim).collect();
    let ranges: Vec<i64> = op.iteration_space.iter().map(|dim| dim.range).collect();
    dims.into_iter().filter(move |&dim| ranges[dim] > 1)
}

fn op_kind(op: &OpSpec) -> OpKind {
    match OpFamily::from_op(op) {
        OpFamily::Matmul | OpFamily::Conv2d => OpKind::Matmul,
        OpFamily::Depthwise | OpFamily::Pool | OpFamily::TopK | OpFamily::Reduction => OpKind::Reduction,
        OpFamily::Elementwise => OpKind::Pointwise,
    }
}

/// Returns whether no device times are published for ops of this kind: indexed, windowed and top-k ops.
fn is_irregular(op: &OpSpec) -> bool {
    let family = OpFamily::from_op(op);
    let is_indexed = op.operands.iter().any(|operand| operand.name.is_some());
    is_indexed || family.is_windowed() || family == OpFamily::TopK
}

/// Returns the movement of a shuffle between cores; `None` for other ops.
fn build_shuffle_shape(op: &OpSpec) -> Option<ShuffleShape> {
    let [from, to] = op.operands.as_slice() else { return None };
    (from.ownership.is_some() || to.ownership.is_some()).then_some(())?;
    let slices_of = |operand: &OpSpecOperand| -> Vec<i64> {
        let outer = operand.coordinates.len().saturating_sub(1);
        let coordinates = operand.coordinates[..outer].iter();
        coordinates.map(|at| at.moving_dim().map_or(1, |dim| operand.num_slices(op, dim))).collect()
    };
    let sizes = &from.device_size[..from.device_size.len().saturating_sub(1)];
    Some(ShuffleShape::new(sizes, STICK_BYTES, &slices_of(from), &slices_of(to)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Coordinate, ElementArrangement, IterationDim};
    use cost::{AccessPattern, BatchLayout, compute_kernel_bytes, extract_features};
    use machine::DeviceFormat::Sen169Fp16;

    const ARGUMENT: Allocation = Allocation::Hbm { argument: 0, offset_bytes: 0 };
    const RESULT: Allocation = Allocation::Hbm { argument: 1, offset_bytes: 0 };
    const LX: Allocation = Allocation::Lx { offset_bytes: 0 };

    /// Builds a row-major matrix over the dimensions `row` and `column`.
    fn matrix(is_input: bool, allocation: Allocation, sizes: [i64; 2], [row, column]: [usize; 2]) -> OpSpecOperand {
        OpSpecOperand {
            is_input,
            format: Sen169Fp16,
            arrangement: ElementArrangement::Standard,
            device_size: vec![sizes[1] / 64, sizes[0], 64],
            coordinates: vec![Coordinate::floordiv(column, 64), Coordinate::dim(row), Coordinate::modulo(column, 64)],
            allocation,
            tile_advance: vec![],
            name: None,
            ownership: None,
        }
    }

    fn op(function: &str, extents: &[i64], operands: Vec<OpSpecOperand>) -> OpSpec {
        let iteration_space = extents.iter().map(|&extent| IterationDim::new(extent, 1)).collect();
        let is_reduction = function == "batchmatmul";
        OpSpec { function: function.to_owned(), is_reduction, iteration_space, operands, ..OpSpec::default() }
    }

    fn bundle(items: Vec<BundleItem>) -> Bundle {
        Bundle { pool_bytes: 0, items }
    }

    fn item(op: OpSpec) -> BundleItem {
        BundleItem::Op(Box::new(op))
    }

    #[test]
    fn reads_rows_and_columns_of_matmul() {
        let operands = vec![
            matrix(true, ARGUMENT, [256, 512], [0, 2]),
            matrix(true, Allocation::Hbm { argument: 2, offset_bytes: 0 }, [512, 1024], [2, 1]),
            matrix(false, RESULT, [256, 1024], [0, 1]),
        ];
        let kernel = read_kernel(&bundle(vec![item(op("batchmatmul", &[256, 1024, 512], operands))]));
        let features = extract_features(&kernel)[0];
        assert_eq!((features.product.m, features.product.n, features.points), (256.0, 1024.0, 134_217_728.0));
        assert_eq!(
            (features.product.batching, features.bytes.hbm_read),
            (BatchLayout::None, 2 * (256 * 512 + 512 * 1024))
        );
    }

    #[test]
    fn counts_operands_that_advance_with_a_row_loop() {
        let mut operands = vec![
            matrix(true, ARGUMENT, [256, 512], [0, 1]),
            matrix(true, LX, [64, 512], [0, 1]),
            matrix(false, RESULT, [256, 512], [0, 1]),
        ];
        operands[0].tile_advance = vec![64 * 64];
        operands[2].tile_advance = vec![64 * 64];
        let tiled = bundle(vec![BundleItem::Loop {
            count: 4,
            symbol: None,
            body: vec![item(op("add", &[64, 512], operands))],
        }]);
        let kernel = read_kernel(&tiled);
        let features = extract_features(&kernel)[0];
        let tensor_bytes = 256 * 512 * 2;
        assert_eq!(
            (features.bytes.hbm_read, features.bytes.hbm_written, features.bytes.lx_per_iteration),
            (tensor_bytes, tensor_bytes, tensor_bytes / 4)
        );
        assert_eq!((features.tiles_output, features.tile_rows, features.points), (true, 64.0, 131_072.0));
    }

    #[test]
    fn treats_iteration_local_values_as_plain_accesses() {
        let mut operands = vec![
            matrix(true, Allocation::Pool { offset_bytes: 0 }, [64, 512], [0, 1]),
            matrix(true, ARGUMENT, [256, 512], [0, 1]),
            matrix(false, RESULT, [256, 512], [0, 1]),
        ];
        operands[1].tile_advance = vec![64 * 64];
        operands[2].tile_advance = vec![64 * 64];
        let tiled = bundle(vec![BundleItem::Loop {
            count: 4,
            symbol: None,
            body: vec![item(op("mul", &[64, 512], operands))],
        }]);
        let features = extract_features(&read_kernel(&tiled))[0];
        assert_eq!((features.access, features.bytes.hbm_read), (AccessPattern::Plain, 2 * 256 * 512 * 2));
    }

    #[test]
    fn repeats_op_in_loops_that_advance_no_operand() {
        let operands = vec![matrix(true, ARGUMENT, [64, 512], [0, 1]), matrix(false, RESULT, [64, 512], [0, 1])];
        let repeated = bundle(vec![BundleItem::Loop {
            count: 3,
            symbol: None,
            body: vec![item(op("neg", &[64, 512], operands))],
        }]);
        let features = extract_features(&read_kernel(&repeated))[0];
        assert_eq!((features.bytes.hbm_written, features.points), (3 * 65_536, 3.0 * 32_768.0));
    }

    #[test]
    fn separates_different_slices_of_an_argument() {
        let read = |first: i64| {
            let mut input = matrix(true, ARGUMENT, [64, 512], [0, 1]);
            input.coordinates[1] = Coordinate::dim(0).shifted_by(first);
            item(op("neg", &[32, 512], vec![input, matrix(false, RESULT, [32, 512], [0, 1])]))
        };
        let kernel = read_kernel(&bundle(vec![read(0), read(32), read(0)]));
        let shared: Vec<i64> = compute_kernel_bytes(&kernel).iter().map(|bytes| bytes.shared).collect();
        assert_eq!(shared, [0, 0, 32_768]);
    }

    #[test]
    fn ignores_unit_dimensions_in_broadcast_detection() {
        let mut wide = matrix(true, ARGUMENT, [64, 512], [1, 2]);
        wide.coordinates.insert(0, Coordinate::dim(0));
        wide.device_size.insert(0, 1);
        let operands = vec![wide, matrix(true, ARGUMENT, [64, 512], [1, 2]), matrix(false, RESULT, [64, 512], [1, 2])];
        let features = extract_features(&read_kernel(&bundle(vec![item(op("add", &[1, 64, 512], operands))])))[0];
        assert_eq!(features.access, AccessPattern::Plain);
    }
}
