//! Bytes that the ops of a bundle move.

use super::bound::stick_bytes;
use crate::bundle::{Allocation, Bundle, BundleItem, Coordinate, CoordinateSource, OpFamily, OpSpec, OpSpecOperand};
use machine::STICK_BYTES;
use program::layout::CoordinateTerm;
use std::collections::BTreeMap;

/// Memory traffic of one op over all its executions.
///
/// Bytes are complete sticks, the unit of transfer. A stick that several cores read counts once: whether the hardware
/// transfers it once depends on broadcasts, which affect the time and not the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpTraffic {
    /// Number of executions: the product of the trip counts of all loops around the op.
    pub executions: i64,
    /// Bytes read from HBM, the pool included.
    pub hbm_bytes_read: i64,
    /// Bytes written to HBM, the pool included.
    pub hbm_bytes_written: i64,
    /// Bytes read from LX, all cores together.
    pub lx_bytes_read: i64,
    /// Bytes written to LX, all cores together.
    pub lx_bytes_written: i64,
}

/// Returns the traffic of every op of a bundle, in the order of its files.
#[must_use]
pub fn count_traffic(bundle: &Bundle) -> Vec<OpTraffic> {
    let mut found = Vec::new();
    count_items(&bundle.items, 1, &mut found);
    found
}

fn count_items(items: &[BundleItem], executions: i64, into: &mut Vec<OpTraffic>) {
    for item in items {
        match item {
            BundleItem::Op(op) => into.push(count_op_traffic(op, executions)),
            BundleItem::Loop { count, symbol: _, body } => count_items(body, executions * count, into),
        }
    }
}

fn count_op_traffic(op: &OpSpec, executions: i64) -> OpTraffic {
    let mut traffic = OpTraffic { executions, ..OpTraffic::default() };
    for operand in &op.operands {
        let bytes = touched_bytes(op, operand) * executions;
        let moved = match (operand.allocation.is_lx(), operand.is_input) {
            (false, true) => &mut traffic.hbm_bytes_read,
            (false, false) => &mut traffic.hbm_bytes_written,
            (true, true) => &mut traffic.lx_bytes_read,
            (true, false) => &mut traffic.lx_bytes_written,
        };
        *moved += bytes;
    }
    traffic
}

/// Returns the bytes of the sticks that one execution accesses.
pub(super) fn touched_bytes(op: &OpSpec, operand: &OpSpecOperand) -> i64 {
    let outer = operand.coordinates.len().saturating_sub(1);
    let extents = operand.coordinates.iter().zip(&operand.device_size).take(outer);
    extents.map(|(coordinate, &size)| num_positions(op, coordinate.term.as_ref(), size)).product::<i64>() * STICK_BYTES
}

/// Returns the bytes of the sticks that the distinct elements of one execution would fill without gaps.
pub(super) fn used_bytes(op: &OpSpec, operand: &OpSpecOperand) -> i64 {
    let mut by_dim: BTreeMap<usize, i64> = BTreeMap::new();
    let mut chosen = 1;
    for (coordinate, &size) in operand.coordinates.iter().zip(&operand.device_size) {
        match coordinate.term.as_ref() {
            None => {}
            Some(CoordinateSource::Indirect(name)) => chosen *= size.min(num_indices(op, name)),
            Some(CoordinateSource::Digits(term)) => {
                *by_dim.entry(term.dim).or_insert(1) *=
                    num_digit_values(term, op.iteration_space[term.dim].range).min(size);
            }
        }
    }
    let elements =
        by_dim.into_iter().map(|(dim, digits)| digits.min(op.iteration_space[dim].range)).product::<i64>() * chosen;
    stick_bytes(elements, operand.format.bytes()).min(touched_bytes(op, operand))
}

/// Returns the number of values of a digit over `range` points of its dimension.
fn num_digit_values(CoordinateTerm { dim: _, modulo, floordiv }: &CoordinateTerm, range: i64) -> i64 {
    let digits = modulo.map_or(range, |modulo| modulo.min(range));
    (digits - 1) / floordiv.unwrap_or(1) + 1
}

/// Returns the number of positions of a coordinate; if an index tensor selects them, at most one per index.
fn num_positions(op: &OpSpec, term: Option<&CoordinateSource>, size: i64) -> i64 {
    match term {
        None => 1,
        Some(CoordinateSource::Indirect(name)) => size.min(num_indices(op, name)),
        Some(CoordinateSource::Digits(term)) => size.min(num_digit_values(term, computed_range(op, term.dim))),
    }
}

/// Returns the number of points of a dimension that cores compute. A matmul computes complete sticks, so it also reads
/// the zeros after the end of the contracted dimension.
fn computed_range(op: &OpSpec, dim: usize) -> i64 {
    let range = op.iteration_space[dim].range;
    if OpFamily::from_op(op) != OpFamily::Matmul {
        return range;
    }
    let has_sticks =
        |operand: &&OpSpecOperand| operand.coordinates.last().and_then(Coordinate::moving_dim) == Some(dim);
    let sticks = op.operands.iter().filter(has_sticks).map(|operand| operand.format.elements_per_stick());
    sticks.fold(range, |range, elements| (range + elements - 1) / elements * elements)
}

/// Returns the number of elements that the op reads of an index tensor.
fn num_indices(op: &OpSpec, name: &str) -> i64 {
    let Some(index) = op.operands.iter().find(|operand| operand.name.as_deref() == Some(name)) else { return i64::MAX };
    let moves = |dim: usize| index.coordinates.iter().any(|coordinate| coordinate.moving_dim() == Some(dim));
    op.iteration_space.iter().enumerate().filter(|(dim, _)| moves(*dim)).map(|(_, dim)| dim.range).product()
}

/// Returns the LX bytes that a bundle uses per core: the end of its highest buffer.
#[must_use]
pub fn lx_peak_bytes(bundle: &Bundle) -> i64 {
    let ends = bundle.ops().into_iter().flat_map(|op| op.operands.iter().map(move |operand| lx_end(op, operand)));
    ends.max().unwrap_or(0)
}

fn lx_end(op: &OpSpec, operand: &OpSpecOperand) -> i64 {
    let Allocation::Lx { offset_bytes } = operand.allocation else { return 0 };
    offset_bytes + lx_bytes_per_core(op, operand)
}

/// Returns the bytes of an op's tensor on each of its cores.
#[must_use]
pub fn lx_bytes_per_core(op: &OpSpec, operand: &OpSpecOperand) -> i64 {
    operand.bytes_per_core(&op.iteration_space.iter().map(|dim| dim.split).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Coordinate, ElementArrangement, IterationDim};
    use machine::DeviceFormat::Sen169Fp16;

    fn operand(
        is_input: bool,
        allocation: Allocation,
        device_size: &[i64],
        coordinates: Vec<Coordinate>,
    ) -> OpSpecOperand {
        OpSpecOperand {
            is_input,
            format: Sen169Fp16,
            arrangement: ElementArrangement::Standard,
            device_size: device_size.to_vec(),
            coordinates,
            allocation,
            tile_advance: vec![],
            name: None,
            ownership: None,
        }
    }

    fn rows() -> Vec<Coordinate> {
        vec![Coordinate::floordiv(1, 64), Coordinate::dim(0), Coordinate::modulo(1, 64)]
    }

    fn max() -> OpSpec {
        let hbm = Allocation::Hbm { argument: 0, offset_bytes: 0 };
        let sparse = vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)];
        OpSpec {
            function: "max".to_owned(),
            is_reduction: true,
            iteration_space: vec![IterationDim::new(512, 32), IterationDim::new(1024, 1)],
            operands: vec![
                operand(true, hbm, &[16, 512, 64], rows()),
                operand(false, Allocation::Lx { offset_bytes: 256 }, &[1, 512, 64], sparse),
            ],
            ..OpSpec::default()
        }
    }

    #[test]
    fn counts_sticks_once_per_execution() {
        let bundle = Bundle {
            pool_bytes: 0,
            items: vec![BundleItem::Loop { count: 3, symbol: None, body: vec![BundleItem::Op(Box::new(max()))] }],
        };
        let expected = OpTraffic {
            executions: 3,
            hbm_bytes_read: 3 * 1_048_576,
            hbm_bytes_written: 0,
            lx_bytes_read: 0,
            lx_bytes_written: 3 * 65_536,
        };
        assert_eq!(count_traffic(&bundle), [expected]);
    }

    #[test]
    fn counts_only_touched_elements_of_a_window() {
        let mut op = max();
        op.operands[0].device_size = vec![64, 1024, 64];
        let bundle = Bundle { pool_bytes: 0, items: vec![BundleItem::Op(Box::new(op))] };
        assert_eq!(count_traffic(&bundle)[0].hbm_bytes_read, 1_048_576);
    }

    #[test]
    fn limits_gathered_rows_to_indices_and_table_rows() {
        let hbm = Allocation::Hbm { argument: 0, offset_bytes: 0 };
        let bytes_of_rows = |num_indices: i64, n_rows: i64| {
            let mut index = operand(true, hbm, &[1, 32], vec![Coordinate::floordiv(0, 32), Coordinate::modulo(0, 32)]);
            index.name = Some("index".to_owned());
            let at = vec![Coordinate::indirect("index"), Coordinate::floordiv(1, 64), Coordinate::modulo(1, 64)];
            let operands = vec![index, operand(true, hbm, &[n_rows, 2, 64], at)];
            let iteration_space = vec![IterationDim::new(num_indices, 1), IterationDim::new(128, 1)];
            touched_bytes(&OpSpec { iteration_space, operands: operands.clone(), ..OpSpec::default() }, &operands[1])
        };
        assert_eq!(bytes_of_rows(16, 512), 16 * 256);
        assert_eq!(bytes_of_rows(16, 8), 8 * 256);
    }

    #[test]
    fn counts_fewer_used_than_touched_sticks_for_sparse_elements() {
        let op = max();
        let [read, written] = &op.operands[..] else { panic!("an operand and a result") };
        assert_eq!((used_bytes(&op, read), touched_bytes(&op, read)), (1_048_576, 1_048_576));
        // One element per stick.
        assert_eq!((used_bytes(&op, written), touched_bytes(&op, written)), (512 * 2, 512 * 128));
        // Rows of 100 elements take two sticks each.
        let ragged = OpSpec { iteration_space: vec![IterationDim::new(512, 32), IterationDim::new(100, 1)], ..max() };
        assert_eq!(
            (used_bytes(&ragged, &ragged.operands[0]), touched_bytes(&ragged, &ragged.operands[0])),
            (512 * 200, 512 * 256)
        );
    }

    #[test]
    fn returns_end_of_highest_lx_buffer_as_peak() {
        let bundle = Bundle { pool_bytes: 0, items: vec![BundleItem::Op(Box::new(max()))] };
        assert_eq!(lx_peak_bytes(&bundle), 256 + 65_536 / 32);
    }
}
