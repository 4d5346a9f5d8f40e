//! Iteration dimensions of an op that its hinted loop levels tile.

use crate::codes::{self, Code};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

/// Loop level that a hint requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopLevel {
    /// Id of the level: ops with the same id share it, and a smaller id is further out.
    pub id: i64,
    /// Name of the dimension.
    pub name: String,
    /// Tile count.
    pub count: i64,
    /// Symbolic count of the tiles that a run executes, of which `count` is the maximum; `None` if it executes all.
    pub symbol: Option<String>,
}

/// Operand that an op reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiledOperand {
    /// For each dimension of the operand, the iteration dimension that indexes it.
    pub dims: Vec<Option<usize>>,
    /// Defining op of the operand, traced through all views; `None` for a value from outside.
    pub producer: Option<usize>,
    /// For each dimension of the operand, the dimension of the defining op's result that is tiled with it; `None` if a
    /// view has no such dimension.
    pub source_dims: Vec<Option<usize>>,
}

/// Op that hints may move into loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TiledOp {
    /// For each iteration dimension its names, outermost first; empty where none is known.
    pub names: Vec<Vec<String>>,
    /// Sizes of the iteration dimensions.
    pub sizes: Vec<i64>,
    /// Number of trailing dimensions that are reduced.
    pub num_reduced: usize,
    /// Levels that the hints request, outermost first.
    pub levels: Vec<LoopLevel>,
    /// Ids of levels that contain the op even where they do not tile it: the op is recomputed in every iteration.
    pub again: Vec<i64>,
    /// The operands.
    pub inputs: Vec<TiledOperand>,
    /// For each dimension of the result, the iteration dimension that indexes it.
    pub output: Vec<Option<usize>>,
    /// Whether partial results can be combined into the result.
    pub combines: bool,
}

/// Tiling of an op by one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelTiling {
    /// The level.
    pub level: LoopLevel,
    /// Iteration dimension; `None` for a loop that only recomputes the op.
    pub dim: Option<usize>,
    /// Whether the op reduces it.
    pub is_reduced: bool,
}

/// Formats the nearest divisors of `size`: the one below `count`, and the one above it if there is one.
fn nearest_counts(size: i64, count: i64) -> String {
    let divides = |candidate: &i64| size % candidate == 0;
    let below = (1..=count.min(size)).rev().find(divides);
    let above = (count..=size).find(divides);
    match (below, above) {
        (Some(below), Some(above)) => format!("nearest divisors are {below} and {above}"),
        (below, _) => format!("use at most {} tiles", below.unwrap_or(1)),
    }
}

/// Reason why an op cannot be tiled as its hints request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TilingError {
    /// The count does not divide the size: a remainder tile of another size would be a different program.
    #[error("tile count {count} does not divide dimension '{dim}' of size {size}; {}", nearest_counts(*size, *count))]
    Uneven {
        /// The name of the dimension.
        dim: String,
        /// Size of the dimension.
        size: i64,
        /// Number of tiles.
        count: i64,
    },
    /// The dimension is reduced, and partial results of the reduction cannot be combined.
    #[error(
        "expected a dimension whose partial results the device can combine, found {count} tiles of reduced dimension '{dim}' of \
         size {size}; leave '{dim}' whole"
    )]
    NoCombination {
        /// The name of the dimension.
        dim: String,
        /// Its size.
        size: i64,
        /// Tile count.
        count: i64,
    },
    /// No op has the hinted dimension; ignoring the hint would hide a mistake.
    #[error("no op in the hint scope has a dimension '{dim}' for {count} tiles; {known}")]
    Unknown {
        /// The name.
        dim: String,
        /// Tile count.
        count: i64,
        /// Known names.
        known: KnownDimNames,
    },
    /// Several dimensions of the op have the name: one loop would tile them together, and compute only the blocks on
    /// the diagonal.
    #[error(
        "expected one dimension '{dim}' for {count} tiles, found iteration dimensions {first} and {second}; tile another \
         dimension, or pass the tensor as two arguments"
    )]
    Ambiguous {
        /// The name of the dimensions.
        dim: String,
        /// The first iteration dimension of that name.
        first: usize,
        /// The second.
        second: usize,
        /// Tile count.
        count: i64,
    },
    /// The elements of one position of an inner name are not contiguous.
    #[error(
        "expected an outermost name for {count} tiles, found inner name '{dim}' of '{whole}' ({size} elements); tile '{outer}' to \
         single positions first"
    )]
    InnerName {
        /// The name.
        dim: String,
        /// Tile count.
        count: i64,
        /// Elements of the iteration dimension.
        size: i64,
        /// All names of the iteration dimension.
        whole: String,
        /// The first outer name that still has several positions.
        outer: String,
    },
    /// Names that share a dimension have no known sizes.
    #[error("size of '{dim}' of '{whole}' is unknown, found {count} tiles; declare the size in 'spyre.dim_sizes'")]
    NoSize {
        /// The name.
        dim: String,
        /// All names of the iteration dimension.
        whole: String,
        /// Tile count.
        count: i64,
    },
}

impl TilingError {
    /// Returns the code of the message.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Uneven { .. } => codes::TILE_COUNT,
            Self::NoCombination { .. } => codes::TILE_REDUCTION,
            Self::Unknown { .. } => codes::UNKNOWN_DIM,
            Self::Ambiguous { .. } => codes::TILE_DIAGONAL,
            Self::InnerName { .. } => codes::TILE_INNER_NAME,
            Self::NoSize { .. } => codes::TILE_SIZE_UNKNOWN,
        }
    }
}

/// Names that ops have, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDimNames(pub BTreeSet<String>);

impl Display for KnownDimNames {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(|name| format!("'{name}'")).collect();
        if names.is_empty() {
            f.write_str("no dimension has a name, give names with --dims 0=NAME:NAME")
        } else {
            write!(f, "known dimensions are {}", names.join(" and "))
        }
    }
}

impl TiledOp {
    /// Returns the tilings of an op, outermost first. A level whose name the op does not have is left out, unless the
    /// op is recomputed in it; a tile count of 1 is no tiling. `sizes` holds the sizes of names.
    ///
    /// # Errors
    /// If a level has the name of a dimension that it cannot tile.
    pub fn compute_tilings(&self, sizes: &BTreeMap<String, i64>) -> Result<Vec<LevelTiling>, TilingError> {
        let mut left = RemainingSizes { sizes: self.sizes.clone(), names: sizes.clone() };
        let mut cuts = Vec::new();
        for level in self.levels.iter().filter(|level| level.count != 1) {
            let mut named = (0..self.names.len()).filter(|&dim| self.names[dim].contains(&level.name));
            let Some(dim) = named.next() else {
                cuts.extend(self.again.contains(&level.id).then(|| LevelTiling {
                    level: level.clone(),
                    dim: None,
                    is_reduced: false,
                }));
                continue;
            };
            if let Some(second) = named.next() {
                return Err(TilingError::Ambiguous { dim: level.name.clone(), first: dim, second, count: level.count });
            }
            let is_reduced = dim >= self.sizes.len() - self.num_reduced;
            if is_reduced && !self.combines {
                return Err(TilingError::NoCombination {
                    dim: level.name.clone(),
                    size: left.sizes[dim],
                    count: level.count,
                });
            }
            left.apply_level(&self.names[dim], dim, level)?;
            cuts.push(LevelTiling { level: level.clone(), dim: Some(dim), is_reduced });
        }
        Ok(cuts)
    }

    /// Returns the size of an iteration dimension in one iteration of all loops.
    #[must_use]
    pub fn tile_size(&self, cuts: &[LevelTiling], dim: usize) -> i64 {
        cuts.iter().filter(|cut| cut.dim == Some(dim)).fold(self.sizes[dim], |size, cut| size / cut.level.count)
    }

    /// Returns the dimension of an operand or result that the tiling `cut` tiles; `dims` holds the iteration dimension
    /// that indexes each of its dimensions. `None` if it tiles no dimension of it.
    #[must_use]
    pub fn find_tiled_dim(dims: &[Option<usize>], cut: &LevelTiling) -> Option<usize> {
        dims.iter().position(|&dim| dim.is_some() && dim == cut.dim)
    }
}

/// Sizes of the dimensions and names of an op that remain after earlier levels.
struct RemainingSizes {
    sizes: Vec<i64>,
    names: BTreeMap<String, i64>,
}

impl RemainingSizes {
    fn apply_level(&mut self, names: &[String], dim: usize, level: &LoopLevel) -> Result<(), TilingError> {
        let LoopLevel { id: _, name, count, symbol: _ } = level;
        let mut size = self.sizes[dim];
        if names.len() > 1 {
            let whole = names.join("*");
            let no_size = || TilingError::NoSize { dim: name.clone(), whole: whole.clone(), count: *count };
            for outer in names.iter().take_while(|outer| *outer != name) {
                if *self.names.get(outer).ok_or_else(no_size)? > 1 {
                    let outer = outer.clone();
                    return Err(TilingError::InnerName { dim: name.clone(), count: *count, size, whole, outer });
                }
            }
            size = *self.names.get(name).ok_or_else(no_size)?;
        }
        if size % count != 0 {
            return Err(TilingError::Uneven { dim: name.clone(), size, count: *count });
        }
        self.sizes[dim] /= count;
        if names.len() > 1 {
            self.names.insert(name.clone(), size / count);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_level(id: i64, name: &str, count: i64) -> LoopLevel {
        LoopLevel { id, name: name.to_owned(), count, symbol: None }
    }

    fn make_op(names: &[&str], sizes: &[i64], num_reduced: usize, levels: &[(&str, i64)]) -> TiledOp {
        let names = names
            .iter()
            .map(|name| name.split('*').filter(|name| !name.is_empty()).map(str::to_owned).collect())
            .collect();
        let levels = levels.iter().zip(0..).map(|(&(name, count), id)| make_level(id, name, count)).collect();
        TiledOp { names, sizes: sizes.to_vec(), num_reduced, levels, combines: true, ..TiledOp::default() }
    }

    fn tilings_of(op: &TiledOp, sizes: &[(&str, i64)]) -> Result<Vec<(i64, usize, bool)>, TilingError> {
        let sizes = sizes.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
        op.compute_tilings(&sizes)
            .map(|cuts| cuts.into_iter().filter_map(|cut| Some((cut.level.id, cut.dim?, cut.is_reduced))).collect())
    }

    #[test]
    fn tiles_the_dimension_that_a_level_names() {
        let max = make_op(&["A", "B"], &[1024, 4096], 1, &[("B", 4), ("C", 2), ("A", 2)]);
        assert_eq!(tilings_of(&max, &[]), Ok(vec![(0, 1, true), (2, 0, false)]));
    }

    #[test]
    fn recomputes_op_in_other_loops_only_on_request() {
        let asked = TiledOp { again: vec![0, 1], ..make_op(&["B"], &[64], 0, &[("A", 2), ("B", 4), ("C", 8)]) };
        let cuts = asked.compute_tilings(&BTreeMap::new()).unwrap();
        assert_eq!(cuts.iter().map(|cut| (cut.level.id, cut.dim)).collect::<Vec<_>>(), [(0, None), (1, Some(0))]);
        assert_eq!((asked.tile_size(&cuts, 0), TiledOp::find_tiled_dim(&[None, Some(0)], &cuts[0])), (16, None));
        let one_tile = TiledOp { again: vec![0], ..make_op(&["B"], &[64], 0, &[("A", 1)]) };
        assert_eq!(one_tile.compute_tilings(&BTreeMap::new()), Ok(vec![]));
    }

    #[test]
    fn suggests_nearest_dividing_counts() {
        let error = |size, count| TilingError::Uneven { dim: "A".to_owned(), size, count }.to_string();
        assert_eq!(error(12, 5), "tile count 5 does not divide dimension 'A' of size 12; nearest divisors are 4 and 6");
        assert_eq!(error(12, 13), "tile count 13 does not divide dimension 'A' of size 12; use at most 12 tiles");
    }

    #[test]
    fn tiles_one_name_twice() {
        assert_eq!(
            tilings_of(&make_op(&["A"], &[8], 0, &[("A", 2), ("A", 4)]), &[]),
            Ok(vec![(0, 0, false), (1, 0, false)])
        );
        let error = TilingError::Uneven { dim: "A".to_owned(), size: 4, count: 8 };
        assert_eq!(tilings_of(&make_op(&["A"], &[8], 0, &[("A", 2), ("A", 8)]), &[]), Err(error));
    }

    #[test]
    fn rejects_name_of_two_dimensions() {
        let error = TilingError::Ambiguous { dim: "A".to_owned(), first: 0, second: 2, count: 2 };
        assert_eq!(tilings_of(&make_op(&["A", "B", "A"], &[8, 64, 8], 1, &[("A", 2)]), &[]), Err(error));
    }

    #[test]
    fn rejects_tiling_of_uncombinable_reduction() {
        let stable = TiledOp { combines: false, ..make_op(&["A", "B"], &[8, 64], 1, &[("A", 2), ("B", 4)]) };
        assert_eq!(
            tilings_of(&stable, &[]),
            Err(TilingError::NoCombination { dim: "B".to_owned(), size: 64, count: 4 })
        );
    }

    #[test]
    fn tiles_the_outer_name_of_a_dimension_first() {
        let sizes = [("C", 4), ("D", 64)];
        assert_eq!(tilings_of(&make_op(&["C*D"], &[256], 0, &[("C", 2)]), &sizes), Ok(vec![(0, 0, false)]));
        assert_eq!(
            tilings_of(&make_op(&["C*D"], &[256], 0, &[("C", 4), ("D", 2)]), &sizes),
            Ok(vec![(0, 0, false), (1, 0, false)])
        );
        let inner = TilingError::InnerName {
            dim: "D".to_owned(),
            count: 2,
            size: 128,
            whole: "C*D".to_owned(),
            outer: "C".to_owned(),
        };
        assert_eq!(tilings_of(&make_op(&["C*D"], &[256], 0, &[("C", 2), ("D", 2)]), &sizes), Err(inner));
        // 8 tiles of 256 elements would be equal, but would split the 4 positions of C.
        assert_eq!(
            tilings_of(&make_op(&["C*D"], &[256], 0, &[("C", 8)]), &sizes),
            Err(TilingError::Uneven { dim: "C".to_owned(), size: 4, count: 8 })
        );
        let unknown = TilingError::NoSize { dim: "C".to_owned(), whole: "C*D".to_owned(), count: 2 };
        assert_eq!(tilings_of(&make_op(&["C*D"], &[256], 0, &[("C", 2)]), &[]), Err(unknown));
    }
}
