//! Rules by which a loop over tiles can be a hint scope: its ops must be equivalent to ops on complete tensors.

use program::affine::AffineExpression;

/// Extent of a tensor in one iteration of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationExtent {
    /// The complete tensor, identical in each iteration.
    All,
    /// A tile along this dimension.
    Tile(usize),
    /// A partial result of it, which each iteration combines with those of earlier iterations.
    Partial,
}

/// Tensor that an op in a loop reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBodyOperand {
    /// Extent of the tensor in one iteration.
    pub extent: IterationExtent,
    /// Sizes that the op sees.
    pub sizes: Vec<i64>,
    /// For each dimension, the iteration dimension of the op that indexes it.
    pub dims: Vec<Option<usize>>,
}

/// Op in a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBodyOp {
    /// Tensors that the op reads.
    pub reads: Vec<LoopBodyOperand>,
    /// Number of its non-reduced iteration dimensions, which come first.
    pub num_kept: usize,
    /// For each dimension of its result, the iteration dimension that indexes it.
    pub result: Vec<Option<usize>>,
    /// Whether its partial results can be combined.
    pub combines: bool,
    /// Whether it broadcasts operands along dimensions in which they have one element.
    pub repeats: bool,
}

impl LoopBodyOp {
    /// Returns the extent of the result in one iteration, if the op on complete tensors yields, tile by tile, the
    /// results of the op in the loop.
    ///
    /// # Errors
    /// The reason, if it does not.
    pub fn result_extent(&self) -> Result<IterationExtent, &'static str> {
        let mut along: Option<usize> = None;
        for read in &self.reads {
            let dim = match read.extent {
                IterationExtent::All => continue,
                IterationExtent::Partial => {
                    return Err("uses a partial result of a reduction, which is complete only after the loop");
                }
                IterationExtent::Tile(dim) => dim,
            };
            let Some(walked) = read.dims[dim] else {
                return Err("broadcasts or indexes a tile along the tiled dimension");
            };
            if *along.get_or_insert(walked) != walked {
                return Err(
                    "reads operands that are tiled along two different dimensions, so only diagonal tiles would be computed",
                );
            }
        }
        let Some(along) = along else { return Ok(IterationExtent::All) };
        if self.reads.iter().any(|read| self.is_shared(read, along)) {
            return Err("reads the same elements in every iteration along the tiled dimension");
        }
        if along >= self.num_kept {
            return if self.combines {
                Ok(IterationExtent::Partial)
            } else {
                Err("reduces each tile along the tiled dimension, and the loop does not combine the partial results")
            };
        }
        let cut = self.result.iter().position(|dim| *dim == Some(along));
        cut.map(IterationExtent::Tile).ok_or("has no result dimension that corresponds to the tiled dimension")
    }

    /// Returns whether all iterations read the same elements along an iteration dimension of the op.
    fn is_shared(&self, read: &LoopBodyOperand, along: usize) -> bool {
        let walks =
            read.dims.iter().zip(&read.sizes).any(|(dim, size)| *dim == Some(along) && !(self.repeats && *size == 1));
        read.extent == IterationExtent::All && walks
    }
}

/// Returns the extent of a view in one iteration. `size` is the shape of the tensor, `viewed_size` that of the view, and
/// `indices` has an index for each dimension of `size`. `None` if the view of the complete tensor differs from the
/// concatenated views of its tiles.
#[must_use]
pub fn compute_view_extent(
    has: IterationExtent,
    indices: &[AffineExpression],
    size: &[i64],
    viewed_size: &[i64],
) -> Option<IterationExtent> {
    let IterationExtent::Tile(dim) = has else { return Some(has) };
    let AffineExpression::Dim(viewed) = indices[dim] else { return None };
    let is_alone = indices.iter().enumerate().all(|(other, index)| other == dim || !index.dims().contains(&viewed));
    // A slice of each tile is not a slice of the complete tensor.
    (is_alone && size[dim] == viewed_size[viewed]).then_some(IterationExtent::Tile(viewed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a matrix whose rows and columns are the first two dimensions of an op.
    fn matrix(has: IterationExtent) -> LoopBodyOperand {
        LoopBodyOperand { extent: has, sizes: vec![16, 128], dims: vec![Some(0), Some(1)] }
    }

    fn elementwise(reads: Vec<LoopBodyOperand>) -> LoopBodyOp {
        LoopBodyOp { reads, num_kept: 2, result: vec![Some(0), Some(1)], combines: false, repeats: true }
    }

    #[test]
    fn computes_tiles_from_tiles_elementwise() {
        let gives = |reads: Vec<LoopBodyOperand>| elementwise(reads).result_extent();
        assert_eq!(gives(vec![matrix(IterationExtent::All)]), Ok(IterationExtent::All));
        assert_eq!(
            gives(vec![matrix(IterationExtent::Tile(1)), matrix(IterationExtent::Tile(1))]),
            Ok(IterationExtent::Tile(1))
        );
        assert!(
            gives(vec![matrix(IterationExtent::Tile(0)), matrix(IterationExtent::Tile(1))])
                .unwrap_err()
                .contains("along two different dimensions")
        );
        assert!(
            gives(vec![matrix(IterationExtent::Tile(0)), matrix(IterationExtent::All)])
                .unwrap_err()
                .contains("the same elements in every iteration")
        );
        assert!(gives(vec![matrix(IterationExtent::Partial)]).unwrap_err().contains("a partial result"));
        // One row is broadcast, over each tile and over the complete tensor, even if a tile is one row as well.
        let row = |dim: Option<usize>| LoopBodyOperand {
            extent: IterationExtent::All,
            sizes: vec![1, 128],
            dims: vec![dim, Some(1)],
        };
        assert_eq!(gives(vec![matrix(IterationExtent::Tile(0)), row(None)]), Ok(IterationExtent::Tile(0)));
        assert_eq!(gives(vec![matrix(IterationExtent::Tile(0)), row(Some(0))]), Ok(IterationExtent::Tile(0)));
        let repeated = LoopBodyOperand { extent: IterationExtent::Tile(0), ..row(None) };
        assert!(
            gives(vec![repeated, matrix(IterationExtent::All)]).unwrap_err().contains("broadcasts or indexes a tile")
        );
    }

    #[test]
    fn computes_tiles_or_partial_results_of_matmuls() {
        let product = |left: IterationExtent, right: IterationExtent| {
            let left = LoopBodyOperand { extent: left, sizes: vec![16, 64], dims: vec![Some(0), Some(2)] };
            let right = LoopBodyOperand { extent: right, sizes: vec![64, 128], dims: vec![Some(2), Some(1)] };
            LoopBodyOp { combines: true, repeats: false, ..elementwise(vec![left, right]) }
        };
        assert_eq!(
            product(IterationExtent::Tile(0), IterationExtent::All).result_extent(),
            Ok(IterationExtent::Tile(0))
        );
        assert_eq!(
            product(IterationExtent::Tile(1), IterationExtent::Tile(0)).result_extent(),
            Ok(IterationExtent::Partial)
        );
        assert!(
            product(IterationExtent::Tile(1), IterationExtent::All)
                .result_extent()
                .unwrap_err()
                .contains("the same elements")
        );
        let maximum = LoopBodyOp { combines: false, ..product(IterationExtent::Tile(1), IterationExtent::Tile(0)) };
        assert!(maximum.result_extent().unwrap_err().contains("reduces each tile along the tiled dimension"));
    }

    #[test]
    fn requires_views_to_keep_the_tiled_dimension() {
        let viewed = |has, indices: &[AffineExpression], viewed_size: &[i64]| {
            compute_view_extent(has, indices, &[32, 64], viewed_size)
        };
        let turned = [AffineExpression::Dim(1), AffineExpression::Dim(0)];
        assert_eq!(viewed(IterationExtent::Tile(0), &turned, &[64, 32]), Some(IterationExtent::Tile(1)));
        assert_eq!(
            viewed(IterationExtent::Tile(0), &turned, &[16, 32]),
            Some(IterationExtent::Tile(1)),
            "a part along the other dimension"
        );
        assert_eq!(viewed(IterationExtent::Tile(0), &turned, &[64, 16]), None, "a part of each tile");
        assert_eq!(
            viewed(IterationExtent::All, &[AffineExpression::Constant(0), AffineExpression::Dim(0)], &[64]),
            Some(IterationExtent::All)
        );
        assert_eq!(
            viewed(IterationExtent::Tile(0), &[AffineExpression::Constant(0), AffineExpression::Dim(0)], &[64]),
            None,
            "the first of them"
        );
        assert_eq!(
            viewed(IterationExtent::Tile(0), &[AffineExpression::Dim(0), AffineExpression::Dim(0)], &[32]),
            None,
            "a diagonal"
        );
    }
}
