//! Merges the operands' dimension names into an op's iteration dimensions, and the slices' names into a buffer.

use program::dim_names::{Claim, Part, Walk, factors, label};

/// Names of an op's iteration dimensions, merged from its operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Names along each iteration dimension, outermost first, each with the operand that provides it.
    dims: Vec<Vec<(Claim, usize)>>,
    sizes: Vec<i64>,
}

/// Two names for the same positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Iteration dimension.
    pub dim: usize,
    /// Name of the first operand, which wins.
    pub kept: String,
    /// Operand that has this name.
    pub kept_by: usize,
    /// Name that is ignored.
    pub other: String,
}

impl Merged {
    /// Creates iteration dimensions of these sizes without names.
    #[must_use]
    pub fn new(sizes: Vec<i64>) -> Self {
        Self { dims: vec![Vec::new(); sizes.len()], sizes }
    }

    /// Adds the names of operand `operand`, whose dimensions are indexed by the iteration dimensions `dims`. The first name of a
    /// position wins.
    pub fn add(&mut self, operand: usize, dims: &[Option<usize>], walk: &Walk) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (claims, dim) in walk.dims.iter().zip(dims).filter_map(|(claims, dim)| Some((claims, (*dim)?))) {
            let mut clashes: Vec<(Claim, usize)> = Vec::new();
            for claim in claims {
                let clash = self.dims[dim].iter().find(|(known, _)| overlap(known, claim));
                match clash {
                    Some((known, _)) if known == claim => {}
                    Some(known) => clashes.extend((!clashes.contains(known)).then(|| known.clone())),
                    None => self.dims[dim].push((claim.clone(), operand)),
                }
            }
            self.dims[dim].sort_by_key(|(claim, _)| -claim.divisor);
            if let Some((_, kept_by)) = clashes.first() {
                let (kept_by, kept) = (*kept_by, joined(clashes.iter().map(|(claim, _)| claim)));
                conflicts.push(Conflict { dim, kept, kept_by, other: joined(claims) });
            }
        }
        conflicts
    }

    /// Returns one label per iteration dimension, empty where none is known.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        (0..self.sizes.len()).map(|dim| label(&self.claims(dim), self.sizes[dim])).collect()
    }

    /// Returns the factors of an iteration dimension.
    #[must_use]
    pub fn factors(&self, dim: usize) -> Vec<Part> {
        factors(&self.claims(dim), self.sizes[dim])
    }

    fn claims(&self, dim: usize) -> Vec<Claim> {
        self.dims[dim].iter().map(|(claim, _)| claim.clone()).collect()
    }
}

fn overlap(one: &Claim, other: &Claim) -> bool {
    one.divisor < other.divisor * other.size && other.divisor < one.divisor * one.size
}

fn joined<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> String {
    claims.into_iter().map(|claim| claim.name.as_str()).collect::<Vec<_>>().join("*")
}

/// Buffer that is written slice by slice: the factors of each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    dims: Vec<Vec<Part>>,
}

/// Dimension whose names the buffer does not take over from a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The buffer has another name there, which wins.
    Other {
        /// Dimension.
        dim: usize,
        /// Name of the buffer.
        kept: String,
        /// Name of the slice.
        other: String,
    },
    /// A window has several names, which do not name the whole dimension.
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

impl Written {
    /// Creates a buffer of this shape; `parts` has its known factors in storage order, each within one dimension.
    #[must_use]
    pub fn new(shape: &[i64], parts: Vec<Part>) -> Self {
        let mut parts = parts.into_iter().peekable();
        let dims = shape.iter().map(|&size| {
            let (mut dim, mut product) = (Vec::new(), 1);
            while let Some(part) = parts.next_if(|part| product < size && size % (product * part.size) == 0) {
                product *= part.size;
                dim.push(part);
            }
            if product == size && !dim.is_empty() { dim } else { vec![Part::unnamed(size)] }
        });
        Self { dims: dims.collect() }
    }

    /// Records a window that begins at `first` along a dimension and has these factors. A dimension that is written in windows
    /// gets the name of the first named window.
    pub fn write(&mut self, dim: usize, first: i64, factors: &[Part]) -> Option<Refusal> {
        let known = self.dims.get_mut(dim)?;
        let size: i64 = known.iter().map(|part| part.size).product();
        let positions: i64 = factors.iter().map(|part| part.size).product();
        let names: Vec<&str> = factors.iter().filter_map(|part| part.name.as_deref()).collect();
        let (other, kept) = (names.join("*"), known.iter().filter_map(|part| part.name.as_deref()).collect::<Vec<_>>().join("*"));
        if names.is_empty() || positions < 2 {
            return None;
        }
        if positions == size && kept.is_empty() {
            *known = factors.to_vec();
            return None;
        }
        if positions < size && factors.len() > 1 {
            return Some(Refusal::Several { dim, names: other, positions, size });
        }
        if let ([part], true) = (known.as_mut_slice(), positions < size) {
            part.windows.entry((first, positions)).or_insert_with(|| other.clone());
            part.name.get_or_insert_with(|| other.clone());
        }
        (!kept.is_empty() && kept != other).then_some(Refusal::Other { dim, kept, other })
    }

    /// Returns the factors of the buffer, in storage order.
    #[must_use]
    pub fn into_parts(self) -> Vec<Part> {
        self.dims.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::{
        dim_names::{Loss, Shown, Why},
        layout::Index,
    };

    fn named(names: &[(&str, i64)]) -> Vec<Part> {
        names.iter().map(|&(name, size)| Part::named(name, size)).collect()
    }

    fn walk_of(names: &[(&str, i64)], shape: &[i64]) -> Walk {
        Shown::whole(shape).unwrap().walk(&named(names))
    }

    #[test]
    fn operands_complete_each_other_within_a_dimension() {
        let mut merged = Merged::new(vec![12, 5]);
        assert_eq!(merged.add(0, &[Some(0)], &walk_of(&[("A", 3), ("", 4)], &[12])), []);
        assert_eq!(merged.labels(), ["", ""]);
        assert_eq!(merged.add(1, &[None, Some(0)], &walk_of(&[("", 1), ("", 3), ("B", 4)], &[1, 12])), []);
        assert_eq!(merged.labels(), ["A*B", ""]);
        assert_eq!([merged.factors(0), merged.factors(1)], [named(&[("A", 3), ("B", 4)]), named(&[("", 5)])]);
    }

    #[test]
    fn the_first_name_of_a_position_stays() {
        let mut merged = Merged::new(vec![12]);
        merged.add(0, &[Some(0)], &walk_of(&[("A", 3), ("B", 4)], &[12]));
        assert_eq!(merged.add(1, &[Some(0)], &walk_of(&[("A", 3), ("B", 4)], &[12])), []);
        let conflict = Conflict { dim: 0, kept: "A".to_owned(), kept_by: 0, other: "D".to_owned() };
        assert_eq!(merged.add(1, &[Some(0)], &walk_of(&[("D", 12)], &[12])), [conflict]);
        let conflict = Conflict { dim: 0, kept: "B".to_owned(), kept_by: 0, other: "A*C".to_owned() };
        assert_eq!(merged.add(2, &[Some(0)], &walk_of(&[("A", 3), ("C", 4)], &[12])), [conflict]);
        assert_eq!(merged.labels(), ["A*B"]);
    }

    #[test]
    fn a_window_has_its_name_where_it_is_read_alone() {
        let mut buffer = Written::new(&[20, 6], vec![]);
        assert_eq!(buffer.write(0, 0, &named(&[("K", 12)])), None);
        assert_eq!(buffer.write(1, 0, &named(&[("N", 2), ("H", 3)])), None);
        let mut buffer = Written::new(&[20, 6], buffer.into_parts());
        let other = Refusal::Other { dim: 0, kept: "K".to_owned(), other: "L".to_owned() };
        assert_eq!(buffer.write(0, 12, &named(&[("L", 8)])), Some(other));
        let other = Refusal::Other { dim: 1, kept: "N*H".to_owned(), other: "M".to_owned() };
        assert_eq!(buffer.write(1, 0, &named(&[("M", 6)])), Some(other));
        let parts = buffer.into_parts();
        let read = |first: i64, positions: i64| {
            let shape = [positions, 6];
            let mut indices = [0, 1].map(|dim| Index::dim(dim, &shape).ok());
            indices[0].get_or_insert_default().offset = first;
            let walk = Shown::whole(&[20, 6]).unwrap().through(&indices, &shape).unwrap().walk(&parts);
            (label(&walk.dims[0], positions), label(&walk.dims[1], 6), walk.losses)
        };
        let of = |name: &str| (name.to_owned(), "N*H".to_owned(), vec![]);
        assert_eq!([read(0, 20), read(0, 12), read(12, 8)], [of("K"), of("K"), of("L")]);
        let why = Why::Slice { dim: 0, positions: 4 };
        assert_eq!(read(2, 4), (String::new(), "N*H".to_owned(), vec![Loss { name: "K".to_owned(), size: 20, why }]));
    }

    #[test]
    fn several_names_in_a_window_do_not_name_the_dimension() {
        let mut buffer = Written::new(&[20], vec![]);
        let refused = Refusal::Several { dim: 0, names: "A*B".to_owned(), positions: 12, size: 20 };
        assert_eq!(buffer.write(0, 0, &named(&[("A", 3), ("B", 4)])), Some(refused));
        assert_eq!(buffer.into_parts(), named(&[("", 20)]));
    }
}
