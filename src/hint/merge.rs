//! Merges the operands' dimension names into an op's iteration dimensions, and the slices' names into a buffer.

use program::dim_names::{BufferFactor, DimNameMap, NamedFactor, collect_dim_factors, format_dim_label};

/// Names of an op's iteration dimensions, merged from its operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedDimNames {
    /// Names along each iteration dimension, outermost first, each with the operand that provides it.
    dims: Vec<Vec<(NamedFactor, usize)>>,
    sizes: Vec<i64>,
}

/// Two names for the same positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimNameConflict {
    /// Iteration dimension.
    pub dim: usize,
    /// Name of the first operand, which wins.
    pub kept: String,
    /// Operand that has this name.
    pub kept_by: usize,
    /// Name that is ignored.
    pub other: String,
}

impl MergedDimNames {
    /// Creates iteration dimensions of these sizes without names.
    #[must_use]
    pub fn new(sizes: Vec<i64>) -> Self {
        Self { dims: vec![Vec::new(); sizes.len()], sizes }
    }

    /// Adds the names of operand `operand`, whose dimensions are indexed by the iteration dimensions `dims`. The first
    /// name of a position wins.
    pub fn add(&mut self, operand: usize, dims: &[Option<usize>], walk: &DimNameMap) -> Vec<DimNameConflict> {
        let mut conflicts = Vec::new();
        for (claims, dim) in walk.dims.iter().zip(dims).filter_map(|(claims, dim)| Some((claims, (*dim)?))) {
            let mut clashes: Vec<(NamedFactor, usize)> = Vec::new();
            for claim in claims {
                let clash = self.dims[dim].iter().find(|(known, _)| do_overlap(known, claim));
                match clash {
                    Some((known, _)) if known == claim => {}
                    Some(known) => clashes.extend((!clashes.contains(known)).then(|| known.clone())),
                    None => self.dims[dim].push((claim.clone(), operand)),
                }
            }
            self.dims[dim].sort_by_key(|(claim, _)| -claim.divisor);
            if let Some((_, kept_by)) = clashes.first() {
                let (kept_by, kept) = (*kept_by, join_names(clashes.iter().map(|(claim, _)| claim)));
                conflicts.push(DimNameConflict { dim, kept, kept_by, other: join_names(claims) });
            }
        }
        conflicts
    }

    /// Returns one label per iteration dimension, empty where none is known.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        (0..self.sizes.len()).map(|dim| format_dim_label(&self.claims(dim), self.sizes[dim])).collect()
    }

    /// Returns the factors of an iteration dimension.
    #[must_use]
    pub fn factors(&self, dim: usize) -> Vec<BufferFactor> {
        collect_dim_factors(&self.claims(dim), self.sizes[dim])
    }

    fn claims(&self, dim: usize) -> Vec<NamedFactor> {
        self.dims[dim].iter().map(|(claim, _)| claim.clone()).collect()
    }
}

fn do_overlap(one: &NamedFactor, other: &NamedFactor) -> bool {
    one.divisor < other.divisor * other.size && other.divisor < one.divisor * one.size
}

fn join_names<'a>(claims: impl IntoIterator<Item = &'a NamedFactor>) -> String {
    claims.into_iter().map(|claim| claim.name.as_str()).collect::<Vec<_>>().join("*")
}

/// Buffer that is written slice by slice: the factors of each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenDimNames {
    dims: Vec<Vec<BufferFactor>>,
}

/// Dimension whose names the buffer does not inherit from a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DimNameRejection {
    /// The buffer has another name there, which wins.
    Other {
        /// Dimension.
        dim: usize,
        /// Name of the buffer.
        kept: String,
        /// Name of the slice.
        other: String,
    },
    /// A window has several names, which do not name the complete dimension.
    Several {
        /// Dimension.
        dim: usize,
        /// Names, joined.
        names: String,
        /// Number of positions in the window.
        positions: i64,
        /// Number of positions in the dimension.
        size: i64,
    },
}

impl WrittenDimNames {
    /// Creates a buffer of this shape; `parts` has its known factors in storage order, each within one dimension.
    #[must_use]
    pub fn new(shape: &[i64], parts: Vec<BufferFactor>) -> Self {
        let mut parts = parts.into_iter().peekable();
        let dims = shape.iter().map(|&size| {
            let (mut dim, mut product) = (Vec::new(), 1);
            while let Some(part) = parts.next_if(|part| product < size && size % (product * part.size) == 0) {
                product *= part.size;
                dim.push(part);
            }
            if product == size && !dim.is_empty() { dim } else { vec![BufferFactor::from_size(size)] }
        });
        Self { dims: dims.collect() }
    }

    /// Records a window that begins at `first` along a dimension and has these factors. A dimension that is written in
    /// windows gets the name of the first named window.
    pub fn record_window(&mut self, dim: usize, first: i64, factors: &[BufferFactor]) -> Option<DimNameRejection> {
        let known = self.dims.get_mut(dim)?;
        let size: i64 = known.iter().map(|part| part.size).product();
        let positions: i64 = factors.iter().map(|part| part.size).product();
        let names: Vec<&str> = factors.iter().filter_map(|part| part.name.as_deref()).collect();
        let (other, kept) =
            (names.join("*"), known.iter().filter_map(|part| part.name.as_deref()).collect::<Vec<_>>().join("*"));
        if names.is_empty() || positions < 2 {
            return None;
        }
        if positions == size && kept.is_empty() {
            *known = factors.to_vec();
            return None;
        }
        if positions < size && factors.len() > 1 {
            return Some(DimNameRejection::Several { dim, names: other, positions, size });
        }
        if let ([part], true) = (known.as_mut_slice(), positions < size) {
            part.windows.entry((first, positions)).or_insert_with(|| other.clone());
            part.name.get_or_insert_with(|| other.clone());
        }
        (!kept.is_empty() && kept != other).then_some(DimNameRejection::Other { dim, kept, other })
    }

    /// Returns the factors of the buffer, in storage order.
    #[must_use]
    pub fn into_parts(self) -> Vec<BufferFactor> {
        self.dims.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::{
        dim_names::{BufferIndexMap, LostName, NameLossReason},
        layout::TensorIndex,
    };

    fn make_parts(names: &[(&str, i64)]) -> Vec<BufferFactor> {
        names.iter().map(|&(name, size)| BufferFactor::with_name(name, size)).collect()
    }

    fn make_walk(names: &[(&str, i64)], shape: &[i64]) -> DimNameMap {
        BufferIndexMap::from_buffer_shape(shape).unwrap().map_names(&make_parts(names))
    }

    #[test]
    fn merges_names_of_operands_within_a_dimension() {
        let mut merged = MergedDimNames::new(vec![12, 5]);
        assert_eq!(merged.add(0, &[Some(0)], &make_walk(&[("A", 3), ("", 4)], &[12])), []);
        assert_eq!(merged.labels(), ["", ""]);
        assert_eq!(merged.add(1, &[None, Some(0)], &make_walk(&[("", 1), ("", 3), ("B", 4)], &[1, 12])), []);
        assert_eq!(merged.labels(), ["A*B", ""]);
        assert_eq!([merged.factors(0), merged.factors(1)], [make_parts(&[("A", 3), ("B", 4)]), make_parts(&[("", 5)])]);
    }

    #[test]
    fn keeps_the_first_name_of_a_position() {
        let mut merged = MergedDimNames::new(vec![12]);
        merged.add(0, &[Some(0)], &make_walk(&[("A", 3), ("B", 4)], &[12]));
        assert_eq!(merged.add(1, &[Some(0)], &make_walk(&[("A", 3), ("B", 4)], &[12])), []);
        let conflict = DimNameConflict { dim: 0, kept: "A".to_owned(), kept_by: 0, other: "D".to_owned() };
        assert_eq!(merged.add(1, &[Some(0)], &make_walk(&[("D", 12)], &[12])), [conflict]);
        let conflict = DimNameConflict { dim: 0, kept: "B".to_owned(), kept_by: 0, other: "A*C".to_owned() };
        assert_eq!(merged.add(2, &[Some(0)], &make_walk(&[("A", 3), ("C", 4)], &[12])), [conflict]);
        assert_eq!(merged.labels(), ["A*B"]);
    }

    #[test]
    fn names_windows_that_are_read_alone() {
        let mut buffer = WrittenDimNames::new(&[20, 6], vec![]);
        assert_eq!(buffer.record_window(0, 0, &make_parts(&[("K", 12)])), None);
        assert_eq!(buffer.record_window(1, 0, &make_parts(&[("N", 2), ("H", 3)])), None);
        let mut buffer = WrittenDimNames::new(&[20, 6], buffer.into_parts());
        let other = DimNameRejection::Other { dim: 0, kept: "K".to_owned(), other: "L".to_owned() };
        assert_eq!(buffer.record_window(0, 12, &make_parts(&[("L", 8)])), Some(other));
        let other = DimNameRejection::Other { dim: 1, kept: "N*H".to_owned(), other: "M".to_owned() };
        assert_eq!(buffer.record_window(1, 0, &make_parts(&[("M", 6)])), Some(other));
        let parts = buffer.into_parts();
        let read = |first: i64, positions: i64| {
            let shape = [positions, 6];
            let mut indices = [0, 1].map(|dim| TensorIndex::from_dim(dim, &shape).ok());
            indices[0].get_or_insert_default().offset = first;
            let walk = BufferIndexMap::from_buffer_shape(&[20, 6])
                .unwrap()
                .compose(&indices, &shape)
                .unwrap()
                .map_names(&parts);
            (format_dim_label(&walk.dims[0], positions), format_dim_label(&walk.dims[1], 6), walk.losses)
        };
        let of = |name: &str| (name.to_owned(), "N*H".to_owned(), vec![]);
        assert_eq!([read(0, 20), read(0, 12), read(12, 8)], [of("K"), of("K"), of("L")]);
        let reason = NameLossReason::Slice { dim: 0, positions: 4 };
        assert_eq!(
            read(2, 4),
            (String::new(), "N*H".to_owned(), vec![LostName { name: "K".to_owned(), size: 20, reason }])
        );
    }

    #[test]
    fn rejects_several_names_in_a_window() {
        let mut buffer = WrittenDimNames::new(&[20], vec![]);
        let rejected = DimNameRejection::Several { dim: 0, names: "A*B".to_owned(), positions: 12, size: 20 };
        assert_eq!(buffer.record_window(0, 0, &make_parts(&[("A", 3), ("B", 4)])), Some(rejected));
        assert_eq!(buffer.into_parts(), make_parts(&[("", 20)]));
    }
}
