//! Unrolls loops: one op spec per iteration.

use super::{Allocation, Bundle, BundleItem, OpSpec};

/// Maximum number of ops in an unrolled bundle: each has a file of about 40 KB, and needs five times that in memory. A
/// short text could request any number.
pub const MAX_UNROLLED_OPS: i64 = 1 << 13;

/// Reason why the loops of a bundle cannot be unrolled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnrollError {
    /// A loop whose trip count is known at launch only.
    #[error(
        "expected a constant trip count of the loop over '{dim}', found one that size '{symbol}' determines (at most \
         {maximum}); give one size, or keep loops (--loops keep)"
    )]
    KnownAtLaunch {
        /// Name of the size.
        symbol: String,
        /// Name of the tiled dimension.
        dim: String,
        /// Maximum trip count.
        maximum: i64,
    },
    /// A bundle that would have too many ops without loops.
    #[error(
        "expected at most {} ops once loops are written out (--loops unroll), found {n_ops}; keep loops (--loops keep), or give \
         fewer tiles",
        MAX_UNROLLED_OPS
    )]
    TooManyOps {
        /// Number of ops in all iterations.
        n_ops: i64,
    },
}

/// Unrolls all loops of a bundle: the result has the same ops on the same memory in the same order.
///
/// # Errors
/// If the trip count of a loop is known at launch only, or there are more than [`MAX_UNROLLED_OPS`] ops.
pub fn unroll(bundle: &Bundle) -> Result<Bundle, UnrollError> {
    if let Some((symbol, maximum)) = bundle.symbolic_loops().first() {
        return Err(UnrollError::KnownAtLaunch {
            symbol: symbol.name.clone(),
            dim: symbol.dim.clone(),
            maximum: *maximum,
        });
    }
    let n_ops = count_unrolled_ops(&bundle.items);
    if n_ops > MAX_UNROLLED_OPS {
        return Err(UnrollError::TooManyOps { n_ops });
    }
    let mut items = Vec::new();
    expand_items(&bundle.items, &mut Vec::new(), &mut items);
    Ok(Bundle { pool_bytes: bundle.pool_bytes, items })
}

/// Returns the ops that [`unroll`] writes out, in order, as positions in depth-first order.
#[must_use]
pub fn unrolled_order(bundle: &Bundle) -> Vec<usize> {
    fn expand(items: &[BundleItem], next: &mut usize, into: &mut Vec<usize>) {
        for item in items {
            match item {
                BundleItem::Op(_) => {
                    into.push(*next);
                    *next += 1;
                }
                BundleItem::Loop { count, symbol: _, body } => {
                    let first = *next;
                    for _ in 0..*count {
                        *next = first;
                        expand(body, next, into);
                    }
                }
            }
        }
    }
    let mut order = Vec::new();
    expand(&bundle.items, &mut 0, &mut order);
    order
}

/// Returns the number of executions of all ops.
fn count_unrolled_ops(items: &[BundleItem]) -> i64 {
    let ops_of = |item: &BundleItem| match item {
        BundleItem::Op(_) => 1,
        BundleItem::Loop { count, symbol: _, body } => count_unrolled_ops(body).saturating_mul(*count),
    };
    items.iter().map(ops_of).fold(0, i64::saturating_add)
}

/// Appends the ops of `items` for the given iteration of the enclosing loops, outermost first.
fn expand_items(items: &[BundleItem], iterations: &mut Vec<i64>, into: &mut Vec<BundleItem>) {
    for item in items {
        match item {
            BundleItem::Op(op) => into.push(BundleItem::Op(Box::new(op_at_iteration(op, iterations)))),
            BundleItem::Loop { count, symbol: _, body } => {
                for iteration in 0..*count {
                    iterations.push(iteration);
                    expand_items(body, iterations, into);
                    iterations.pop();
                }
            }
        }
    }
}

/// Returns the op of one iteration: every tensor starts at its position in that iteration.
fn op_at_iteration(op: &OpSpec, iterations: &[i64]) -> OpSpec {
    let mut op = op.clone();
    for operand in &mut op.operands {
        let elements: i64 =
            operand.tile_advance.iter().zip(iterations).map(|(advance, iteration)| advance * iteration).sum();
        let moved = elements * operand.format.bytes();
        match &mut operand.allocation {
            Allocation::Hbm { argument: _, offset_bytes }
            | Allocation::Pool { offset_bytes }
            | Allocation::Lx { offset_bytes } => {
                *offset_bytes += moved;
            }
        }
        operand.tile_advance.clear();
    }
    op
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Coordinate, ElementArrangement, LoopSymbol, OpSpecOperand};
    use machine::DeviceFormat::Sen169Fp16;

    fn op(tile_advance: &[i64]) -> BundleItem {
        let operand = OpSpecOperand {
            is_input: false,
            format: Sen169Fp16,
            arrangement: ElementArrangement::Standard,
            device_size: vec![1, 64],
            coordinates: vec![Coordinate::constant(0), Coordinate::dim(0)],
            allocation: Allocation::Hbm { argument: 0, offset_bytes: 128 },
            tile_advance: tile_advance.to_vec(),
            name: None,
            ownership: None,
        };
        BundleItem::Op(Box::new(OpSpec { function: "exp".to_owned(), operands: vec![operand], ..OpSpec::default() }))
    }

    #[test]
    fn unrolls_iterations_in_order_with_own_addresses() {
        let inner = BundleItem::Loop { count: 3, symbol: None, body: vec![op(&[1000, 64])] };
        let bundle = Bundle {
            pool_bytes: 0,
            items: vec![BundleItem::Loop { count: 2, symbol: None, body: vec![inner] }, op(&[])],
        };
        let unrolled = unroll(&bundle).unwrap();
        let offsets: Vec<i64> = unrolled.ops().iter().map(|op| op.operands[0].allocation.offset_bytes()).collect();
        assert_eq!(offsets, [128, 256, 384, 2128, 2256, 2384, 128]);
        assert!(unrolled.ops().iter().all(|op| op.operands[0].tile_advance.is_empty()));
    }

    #[test]
    fn rejects_symbolic_trip_counts() {
        let symbol = LoopSymbol { name: "s0".to_owned(), dim: "M".to_owned(), tile: 64, granularity: 64 };
        let inner = BundleItem::Loop { count: 8, symbol: Some(symbol), body: vec![op(&[1000, 64])] };
        let bundle =
            Bundle { pool_bytes: 0, items: vec![BundleItem::Loop { count: 2, symbol: None, body: vec![inner] }] };
        let error = UnrollError::KnownAtLaunch { symbol: "s0".to_owned(), dim: "M".to_owned(), maximum: 8 };
        assert_eq!(unroll(&bundle), Err(error));
    }
}
