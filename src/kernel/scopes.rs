//! Rules by which a loop over tiles can be a hint scope: its ops must be equivalent to ops on complete tensors.

use program::affine::Expr;

/// Extent of a tensor in one iteration of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// The complete tensor, identical in each iteration.
    All,
    /// A tile along this dimension.
    Tile(usize),
    /// A partial result of it, which each iteration combines with those of earlier iterations.
    Partial,
}

/// Tensor that an op in a loop reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadInLoop {
    /// Extent of the tensor in one iteration.
    pub has: Has,
    /// Sizes that the op sees.
    pub sizes: Vec<i64>,
    /// For each dimension, the iteration dimension of the op that indexes it.
    pub dims: Vec<Option<usize>>,
}

/// Op in a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpInLoop {
    /// Tensors that the op reads.
    pub reads: Vec<ReadInLoop>,
    /// Number of its non-reduced iteration dimensions, which come first.
    pub n_kept: usize,
    /// For each dimension of its result, the iteration dimension that indexes it.
    pub result: Vec<Option<usize>>,
    /// Whether its partial results can be combined.
    pub combines: bool,
    /// Whether it broadcasts operands along dimensions in which they have one element.
    pub repeats: bool,
}

impl OpInLoop {
    /// Returns the extent of the result in one iteration, if the op on complete tensors yields, tile by tile, the
    /// results of the op in the loop.
    ///
    /// # Errors
    /// The reason, if it does not.
    pub fn gives(&self) -> Result<Has, &'static str> {
        let mut along: Option<usize> = None;
        for read in &self.reads {
            let dim = match read.has {
                Has::All => continue,
                Has::Partial => return Err("uses a partial result of a reduction, which is complete only after the loop"),
                Has::Tile(dim) => dim,
            };
            let Some(walked) = read.dims[dim] else {
                return Err("broadcasts or indexes a tile along the tiled dimension");
            };
            if *along.get_or_insert(walked) != walked {
                return Err("reads operands that are tiled along two different dimensions, so only diagonal tiles would be computed");
            }
        }
        let Some(along) = along else { return Ok(Has::All) };
        if self.reads.iter().any(|read| self.is_shared(read, along)) {
            return Err("reads the same elements in every iteration along the tiled dimension");
        }
        if along >= self.n_kept {
            return if self.combines {
                Ok(Has::Partial)
            } else {
                Err("reduces each tile along the tiled dimension, and the loop does not combine the partial results")
            };
        }
        let cut = self.result.iter().position(|dim| *dim == Some(along));
        cut.map(Has::Tile).ok_or("has no result dimension that corresponds to the tiled dimension")
    }

    /// Whether all iterations read the same elements along an iteration dimension of the op.
    fn is_shared(&self, read: &ReadInLoop, along: usize) -> bool {
        let walks = read.dims.iter().zip(&read.sizes).any(|(dim, size)| *dim == Some(along) && !(self.repeats && *size == 1));
        read.has == Has::All && walks
    }
}

/// Returns the extent of a view in one iteration. `size` is the shape of the tensor, `shown_size` that of the view,
/// and `indices` has an index for each dimension of `size`. None if the view of the complete tensor differs from the
/// concatenated views of its tiles.
#[must_use]
pub fn shown_has(has: Has, indices: &[Expr], size: &[i64], shown_size: &[i64]) -> Option<Has> {
    let Has::Tile(dim) = has else { return Some(has) };
    let Expr::Dim(shown) = indices[dim] else { return None };
    let is_alone = indices.iter().enumerate().all(|(other, index)| other == dim || !index.dims().contains(&shown));
    // A slice of each tile is not a slice of the complete tensor.
    (is_alone && size[dim] == shown_size[shown]).then_some(Has::Tile(shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a matrix whose rows and columns are the first two dimensions of an op.
    fn matrix(has: Has) -> ReadInLoop {
        ReadInLoop { has, sizes: vec![16, 128], dims: vec![Some(0), Some(1)] }
    }

    fn elementwise(reads: Vec<ReadInLoop>) -> OpInLoop {
        OpInLoop { reads, n_kept: 2, result: vec![Some(0), Some(1)], combines: false, repeats: true }
    }

    #[test]
    fn an_elementwise_op_gives_tiles_of_tiles() {
        let gives = |reads: Vec<ReadInLoop>| elementwise(reads).gives();
        assert_eq!(gives(vec![matrix(Has::All)]), Ok(Has::All));
        assert_eq!(gives(vec![matrix(Has::Tile(1)), matrix(Has::Tile(1))]), Ok(Has::Tile(1)));
        assert!(gives(vec![matrix(Has::Tile(0)), matrix(Has::Tile(1))]).unwrap_err().contains("along two different dimensions"));
        assert!(gives(vec![matrix(Has::Tile(0)), matrix(Has::All)]).unwrap_err().contains("the same elements in every iteration"));
        assert!(gives(vec![matrix(Has::Partial)]).unwrap_err().contains("a partial result"));
        // One row is broadcast, over each tile and over the complete tensor, even if a tile is one row as well.
        let row = |dim: Option<usize>| ReadInLoop { has: Has::All, sizes: vec![1, 128], dims: vec![dim, Some(1)] };
        assert_eq!(gives(vec![matrix(Has::Tile(0)), row(None)]), Ok(Has::Tile(0)));
        assert_eq!(gives(vec![matrix(Has::Tile(0)), row(Some(0))]), Ok(Has::Tile(0)));
        let repeated = ReadInLoop { has: Has::Tile(0), ..row(None) };
        assert!(gives(vec![repeated, matrix(Has::All)]).unwrap_err().contains("broadcasts or indexes a tile"));
    }

    #[test]
    fn a_product_gives_tiles_and_partial_results() {
        let product = |left: Has, right: Has| {
            let left = ReadInLoop { has: left, sizes: vec![16, 64], dims: vec![Some(0), Some(2)] };
            let right = ReadInLoop { has: right, sizes: vec![64, 128], dims: vec![Some(2), Some(1)] };
            OpInLoop { combines: true, repeats: false, ..elementwise(vec![left, right]) }
        };
        assert_eq!(product(Has::Tile(0), Has::All).gives(), Ok(Has::Tile(0)));
        assert_eq!(product(Has::Tile(1), Has::Tile(0)).gives(), Ok(Has::Partial));
        assert!(product(Has::Tile(1), Has::All).gives().unwrap_err().contains("the same elements"));
        let maximum = OpInLoop { combines: false, ..product(Has::Tile(1), Has::Tile(0)) };
        assert!(maximum.gives().unwrap_err().contains("reduces each tile along the tiled dimension"));
    }

    #[test]
    fn a_view_of_tiles_has_the_cut_dimension_as_it_is() {
        let shown = |has, indices: &[Expr], shown_size: &[i64]| shown_has(has, indices, &[32, 64], shown_size);
        let turned = [Expr::Dim(1), Expr::Dim(0)];
        assert_eq!(shown(Has::Tile(0), &turned, &[64, 32]), Some(Has::Tile(1)));
        assert_eq!(shown(Has::Tile(0), &turned, &[16, 32]), Some(Has::Tile(1)), "a part along the other dimension");
        assert_eq!(shown(Has::Tile(0), &turned, &[64, 16]), None, "a part of each tile");
        assert_eq!(shown(Has::All, &[Expr::Constant(0), Expr::Dim(0)], &[64]), Some(Has::All));
        assert_eq!(shown(Has::Tile(0), &[Expr::Constant(0), Expr::Dim(0)], &[64]), None, "the first of them");
        assert_eq!(shown(Has::Tile(0), &[Expr::Dim(0), Expr::Dim(0)], &[32]), None, "a diagonal");
    }
}
