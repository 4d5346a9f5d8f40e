//! Names that follow elements through views: which factor of which dimension has a name.
//!
//! A name belongs to the elements of a buffer in storage order, not to a dimension of a tensor: a buffer of 64 * 256 elements is
//! `M` of 64 times `K` of 256 whatever its shape is. A view shows the element at position `flat` of the buffer, an index over the
//! dimensions of the view; the position along `K` is `flat mod 256`, along `M` it is `flat floordiv 256 mod 64`. If one of these
//! is a run of digits of a single dimension, that dimension has the name (torch-spyre facts, I).
//!
//! ```text
//! 64x256 shown as 16384: flat = d0              M = d0 floordiv 256, K = d0 mod 256     d0 is M*K
//! 16384 shown as 64x256: flat = d0 * 256 + d1   M = d0,              K = d1             d0 is M, d1 is K
//! 16384 shown as 32x512: flat = d0 * 512 + d1   M = d0 * 2 + d1 floordiv 256            lost; K = d1 mod 256 is not all of d1
//! ```

use crate::layout::{Digit, Index};
use std::collections::BTreeMap;

/// Factor of a buffer's element count, in storage order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Name, if there is one.
    pub name: Option<String>,
    /// Number of positions.
    pub size: i64,
    /// Names of windows of the positions: first position, number of positions, name.
    pub windows: BTreeMap<(i64, i64), String>,
}

/// Claim of a dimension to a name: `(d floordiv divisor) mod size` takes all of the name's positions, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Number of consecutive indices that share a position.
    pub divisor: i64,
    /// Number of positions.
    pub size: i64,
    /// Name.
    pub name: String,
}

/// Name that a view shows only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Name.
    pub name: String,
    /// Number of its positions.
    pub size: i64,
    /// Reason for the loss.
    pub why: Why,
}

/// Reason why a name is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Dimension `dim` covers only `positions` of its positions.
    Slice {
        /// The dimension of the view.
        dim: usize,
        /// Number of covered positions.
        positions: i64,
    },
    /// Several dimensions index it.
    Split,
    /// The index is no sum of digits: the view splits the buffer elsewhere.
    Across,
    /// Dimension `dim` covers the name together with unnamed positions.
    Beside {
        /// The dimension of the view.
        dim: usize,
    },
}

/// Names along the dimensions of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// For each dimension, its claims, outermost first.
    pub dims: Vec<Vec<Claim>>,
    /// Names that the view shows only in part.
    pub losses: Vec<Loss>,
}

impl Part {
    /// Creates a factor with a name.
    #[must_use]
    pub fn named(name: &str, size: i64) -> Self {
        Self { name: (!name.is_empty()).then(|| name.to_owned()), size, windows: BTreeMap::new() }
    }

    /// Creates a factor without a name.
    #[must_use]
    pub fn unnamed(size: i64) -> Self {
        Self { size, ..Self::default() }
    }

    /// Whether the factor has a name, at least for some positions.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.name.is_some() || !self.windows.is_empty()
    }

    /// Returns the name of these positions.
    fn name_of(&self, first: i64, positions: i64) -> Option<&String> {
        let whole = self.name.as_ref().filter(|_| (first, positions) == (0, self.size));
        whole.or_else(|| self.windows.get(&(first, positions)))
    }
}

/// Map from the indices of a tensor to the elements of its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    shape: Vec<i64>,
    /// Sizes of auxiliary dimensions that replace terms that are no sum of digits: their values are unknown. They follow the
    /// dimensions of `shape`.
    hidden: Vec<i64>,
    /// Position in the buffer.
    flat: Index,
}

impl Shown {
    /// Returns the complete buffer, in storage order; None if it has no elements, or if the count exceeds 64 bits.
    #[must_use]
    pub fn whole(shape: &[i64]) -> Option<Self> {
        let (mut digits, mut stride) = (Vec::new(), 1_i64);
        for (dim, &size) in shape.iter().enumerate().rev() {
            digits.push(Digit { dim, divisor: 1, size, factor: stride });
            stride = stride.checked_mul(size)?;
        }
        Some(Self { shape: shape.to_vec(), hidden: Vec::new(), flat: Index::new(&digits, 0, shape).ok()? })
    }

    /// Returns a view of this one. Each index gives a dimension here in terms of the view's dimensions; None where it is no sum
    /// of digits.
    #[must_use]
    pub fn through(&self, indices: &[Option<Index>], shape: &[i64]) -> Option<Self> {
        let mut sizes = shape.to_vec();
        let hide = |sizes: &mut Vec<i64>, size: i64| {
            sizes.push(size);
            Index::dim(sizes.len() - 1, sizes).ok()
        };
        let mut behind = Vec::new();
        for &size in &self.hidden {
            behind.push(hide(&mut sizes, size)?);
        }
        for (dim, index) in indices.iter().enumerate().take(self.shape.len()) {
            let index = index.clone().or_else(|| hide(&mut sizes, self.shape[dim]))?;
            behind.insert(dim, index);
        }
        let mut digits = Vec::new();
        let mut offset = self.flat.offset;
        for digit in &self.flat.digits {
            let alone = Index { digits: vec![Digit { factor: 1, ..*digit }], offset: 0 }.through(&behind, &sizes).ok();
            let alone = alone.or_else(|| hide(&mut sizes, digit.size))?;
            offset = offset.checked_add(alone.offset.checked_mul(digit.factor)?)?;
            for moved in alone.digits {
                digits.push(Digit { factor: moved.factor.checked_mul(digit.factor)?, ..moved });
            }
        }
        let flat = Index::new(&digits, offset, &sizes).ok()?;
        Some(Self { shape: shape.to_vec(), hidden: sizes.split_off(shape.len()), flat })
    }

    /// Returns the names along the view's dimensions, for a buffer whose factors are `parts`.
    #[must_use]
    pub fn walk(&self, parts: &[Part]) -> Walk {
        let mut walk = Walk { dims: vec![Vec::new(); self.shape.len()], losses: Vec::new() };
        let sizes = [&self.shape[..], &self.hidden].concat();
        let mut stride = 1_i64;
        for part in parts.iter().rev() {
            if part.size > 1 && part.is_named() {
                let along = Index { digits: vec![Digit { dim: 0, divisor: stride, size: part.size, factor: 1 }], offset: 0 };
                walk.place(part, along.through(std::slice::from_ref(&self.flat), &sizes).ok().as_ref(), &self.shape);
            }
            stride = stride.saturating_mul(part.size);
        }
        walk.losses.reverse();
        walk.dims.iter_mut().for_each(|claims| claims.sort_by_key(|claim| -claim.divisor));
        walk.lose_what_has_company(&self.shape);
        walk
    }
}

impl Walk {
    /// Records which dimension indexes a factor, given the position along the factor; a constant position is attributed to no
    /// dimension.
    fn place(&mut self, part: &Part, index: Option<&Index>, shape: &[i64]) {
        let why = match index.map(|index| (index.digits.as_slice(), index.offset)) {
            None => Why::Across,
            Some(([], _)) => return,
            Some((digits, _)) if digits.iter().any(|digit| digit.dim >= shape.len()) => Why::Across,
            Some(([digit], offset)) => {
                let is_whole_runs = digit.factor == 1 && shape[digit.dim] % (digit.divisor * digit.size) == 0;
                if let Some(name) = part.name_of(offset, digit.size).filter(|_| is_whole_runs) {
                    self.dims[digit.dim].push(Claim { divisor: digit.divisor, size: digit.size, name: name.clone() });
                    return;
                }
                Why::Slice { dim: digit.dim, positions: digit.size }
            }
            Some(_) => Why::Split,
        };
        // Positions between windows are unnamed in the source, so they are not lost.
        if let Some(name) = &part.name {
            self.losses.push(Loss { name: name.clone(), size: part.size, why });
        }
    }

    /// Records the names along a dimension as lost if the dimension as a whole has no label.
    fn lose_what_has_company(&mut self, shape: &[i64]) {
        for (dim, (claims, &size)) in self.dims.iter().zip(shape).enumerate().filter(|(_, (claims, _))| !claims.is_empty()) {
            if label(claims, size).is_empty() {
                let beside = claims.iter().map(|claim| Loss { name: claim.name.clone(), size: claim.size, why: Why::Beside { dim } });
                self.losses.extend(beside);
            }
        }
    }
}

/// Returns the factors of a dimension of `size` positions with `claims`, outermost first, including the unnamed factors between
/// them.
#[must_use]
pub fn factors(claims: &[Claim], size: i64) -> Vec<Part> {
    let (mut parts, mut end) = (Vec::new(), size);
    for claim in claims {
        let top = claim.divisor * claim.size;
        if top == 0 || end % top != 0 {
            return vec![Part::unnamed(size)];
        }
        if end > top {
            parts.push(Part::unnamed(end / top));
        }
        parts.push(Part::named(&claim.name, claim.size));
        end = claim.divisor;
    }
    if end > 1 || parts.is_empty() {
        parts.push(Part::unnamed(end));
    }
    parts
}

/// Returns the names of a dimension, outermost first and joined with `*`; empty unless all of its positions are named.
#[must_use]
pub fn label(claims: &[Claim], size: i64) -> String {
    let names: Option<Vec<String>> = factors(claims, size).into_iter().map(|part| part.name).collect();
    names.map_or_else(String::new, |names| names.join("*"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// View operation on the dimensions of its source.
    #[derive(Clone, Debug)]
    enum Step {
        /// Permutation of the dimensions.
        Transpose(Vec<usize>),
        /// Reshape: elements in unchanged row-major order, with new sizes.
        Reshape(Vec<i64>),
        /// Slice: dimension, first position, number of positions.
        Slice(usize, i64, i64),
    }

    fn unflatten(mut position: i64, shape: &[i64]) -> Vec<i64> {
        let mut point = vec![0; shape.len()];
        for dim in (0..shape.len()).rev() {
            (point[dim], position) = (position % shape[dim], position / shape[dim]);
        }
        point
    }

    fn flatten(point: &[i64], shape: &[i64]) -> i64 {
        point.iter().zip(shape).fold(0, |position, (index, size)| position * size + index)
    }

    impl Step {
        fn shape(&self, behind: &[i64]) -> Vec<i64> {
            match self {
                Self::Transpose(order) => order.iter().map(|&dim| behind[dim]).collect(),
                Self::Reshape(shape) => shape.clone(),
                Self::Slice(dim, _, positions) => {
                    let mut shape = behind.to_vec();
                    shape[*dim] = *positions;
                    shape
                }
            }
        }

        fn behind(&self, point: &[i64], shape: &[i64], behind: &[i64]) -> Vec<i64> {
            match self {
                Self::Transpose(order) => {
                    let mut found = point.to_vec();
                    order.iter().zip(point).for_each(|(&dim, &index)| found[dim] = index);
                    found
                }
                Self::Reshape(_) => unflatten(flatten(point, shape), behind),
                Self::Slice(dim, first, _) => {
                    let mut found = point.to_vec();
                    found[*dim] += first;
                    found
                }
            }
        }

        /// Returns the index of each source dimension of the view; None where it is no sum of digits.
        fn indices(&self, shape: &[i64], behind: &[i64]) -> Vec<Option<Index>> {
            let own: Vec<Option<Index>> = (0..shape.len()).map(|dim| Index::dim(dim, shape).ok()).collect();
            match self {
                Self::Transpose(order) => {
                    let place = |dim: usize| order.iter().position(|&moved| moved == dim).unwrap();
                    (0..order.len()).map(|dim| own[place(dim)].clone()).collect()
                }
                Self::Reshape(_) => {
                    let flat = Shown::whole(shape).unwrap().flat;
                    let mut stride: i64 = behind.iter().product();
                    let index = |&size: &i64| {
                        stride /= size;
                        let digit = Digit { dim: 0, divisor: stride, size, factor: 1 };
                        Index { digits: vec![digit], offset: 0 }.through(std::slice::from_ref(&flat), shape).ok()
                    };
                    behind.iter().map(index).collect()
                }
                Self::Slice(dim, first, _) => {
                    let mut indices = own;
                    indices[*dim].as_mut().unwrap().offset = *first;
                    indices
                }
            }
        }
    }

    fn named(names: &[(&str, i64)]) -> Vec<Part> {
        names.iter().map(|&(name, size)| Part::named(name, size)).collect()
    }

    /// Returns the labels of the dimensions after `steps` from a buffer of shape `shape`, and the losses.
    fn seen(parts: &[Part], shape: &[i64], steps: &[Step]) -> (Vec<i64>, Walk) {
        let mut shown = Shown::whole(shape).unwrap();
        for step in steps {
            let next = step.shape(&shown.shape);
            shown = shown.through(&step.indices(&next, &shown.shape), &next).unwrap();
        }
        let walk = shown.walk(parts);
        (shown.shape, walk)
    }

    fn labels(names: &[(&str, i64)], shape: &[i64], steps: &[Step]) -> (Vec<String>, Vec<Loss>) {
        let (shape, walk) = seen(&named(names), shape, steps);
        (walk.dims.iter().zip(&shape).map(|(claims, &size)| label(claims, size)).collect(), walk.losses)
    }

    fn loss(name: &str, size: i64, why: Why) -> Loss {
        Loss { name: name.to_owned(), size, why }
    }

    #[test]
    fn names_are_of_the_storage_not_of_the_shape() {
        let names = [("A", 2), ("B", 3), ("C", 4)];
        let of = |shape: &[i64]| labels(&names, &[24], &[Step::Reshape(shape.to_vec())]);
        assert_eq!(of(&[24]).0, ["A*B*C"]);
        assert_eq!(of(&[6, 4]).0, ["A*B", "C"]);
        assert_eq!(of(&[1, 2, 12]).0, ["", "A", "B*C"]);
        assert_eq!(of(&[2, 1, 3, 4]).0, ["A", "", "B", "C"]);
        assert_eq!(labels(&names, &[2, 3, 4], &[Step::Transpose(vec![2, 0, 1]), Step::Reshape(vec![4, 6])]).0, ["C", "A*B"]);
        let swapped = labels(&names, &[2, 3, 4], &[Step::Transpose(vec![1, 0, 2]), Step::Reshape(vec![24])]);
        assert_eq!(swapped, (vec!["B*A*C".to_owned()], vec![]));
    }

    #[test]
    fn a_boundary_that_is_missed_costs_only_the_names_beside_it() {
        let (found, losses) = labels(&[("A", 6), ("B", 4), ("C", 5)], &[6, 4, 5], &[Step::Reshape(vec![8, 3, 5])]);
        assert_eq!(
            (found, losses),
            (vec![String::new(), String::new(), "C".to_owned()], vec![loss("A", 6, Why::Across), loss("B", 4, Why::Across)])
        );
        let (found, losses) = labels(&[("A", 8), ("B", 4)], &[8, 4], &[Step::Reshape(vec![2, 4, 4])]);
        assert_eq!((found, losses), (vec![String::new(), String::new(), "B".to_owned()], vec![loss("A", 8, Why::Split)]));
        // Both halves together cover the complete name again.
        let again = [Step::Reshape(vec![2, 4, 4]), Step::Reshape(vec![8, 4])];
        assert_eq!(labels(&[("A", 8), ("B", 4)], &[8, 4], &again), (vec!["A".to_owned(), "B".to_owned()], vec![]));
    }

    #[test]
    fn a_slice_has_no_name_and_a_single_position_is_nobodys() {
        let names = [("A", 8), ("B", 4)];
        let slice = |dim, first, positions| labels(&names, &[8, 4], &[Step::Slice(dim, first, positions)]);
        assert_eq!(slice(0, 2, 4), (vec![String::new(), "B".to_owned()], vec![loss("A", 8, Why::Slice { dim: 0, positions: 4 })]));
        assert_eq!(slice(0, 0, 7), (vec![String::new(), "B".to_owned()], vec![loss("A", 8, Why::Slice { dim: 0, positions: 7 })]));
        assert_eq!(slice(0, 5, 1), (vec![String::new(), "B".to_owned()], vec![]));
        // 30 of 32 elements take all positions of A, but the last of them not fully.
        let ragged = labels(&names, &[32], &[Step::Slice(0, 0, 30)]);
        assert_eq!(ragged.0, [""]);
        assert_eq!(ragged.1.len(), 2);
    }

    #[test]
    fn a_name_beside_none_is_told() {
        let found = labels(&[("A", 3), ("", 4)], &[3, 4], &[Step::Reshape(vec![12])]);
        assert_eq!(found, (vec![String::new()], vec![loss("A", 3, Why::Beside { dim: 0 })]));
        let again = [Step::Reshape(vec![12]), Step::Reshape(vec![3, 2, 2])];
        assert_eq!(labels(&[("A", 3), ("", 4)], &[3, 4], &again), (vec!["A".to_owned(), String::new(), String::new()], vec![]));
    }

    #[test]
    fn factors_stand_where_the_claims_say() {
        let claim = |divisor, size| Claim { divisor, size, name: "A".to_owned() };
        assert_eq!(factors(&[claim(2, 3)], 24), [Part::unnamed(4), Part::named("A", 3), Part::unnamed(2)]);
        assert_eq!(factors(&[claim(4, 3), claim(1, 3)], 12), [Part::unnamed(12)], "3 does not divide 4");
        assert_eq!(factors(&[], 1), [Part::unnamed(1)]);
        assert_eq!(Shown::whole(&[2, 0]), None);
    }

    /// Computes the claims of a view by brute force over its elements.
    fn by_enumeration(parts: &[Part], shapes: &[Vec<i64>], steps: &[Step]) -> Vec<Vec<Claim>> {
        let shape = shapes.last().unwrap();
        let sizes: Vec<i64> = parts.iter().map(|part| part.size).collect();
        let points: Vec<Vec<i64>> = (0..shape.iter().product()).map(|position| unflatten(position, shape)).collect();
        let position = |point: &Vec<i64>| {
            let mut point = point.clone();
            for (step, pair) in steps.iter().zip(shapes.windows(2)).rev() {
                point = step.behind(&point, &pair[1], &pair[0]);
            }
            unflatten(flatten(&point, &shapes[0]), &sizes)
        };
        let positions: Vec<Vec<i64>> = points.iter().map(position).collect();
        let mut found = vec![Vec::new(); shape.len()];
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| part.size > 1 && part.name.is_some()) {
            for (dim, &size) in shape.iter().enumerate() {
                let is_walk = |divisor: &i64| {
                    let mut pairs = points.iter().zip(&positions);
                    size % (divisor * part.size) == 0 && pairs.all(|(point, at)| point[dim] / divisor % part.size == at[number])
                };
                let name = part.name.clone().unwrap();
                found[dim].extend((1..=size).find(is_walk).map(|divisor| Claim { divisor, size: part.size, name }));
            }
        }
        found.iter_mut().for_each(|claims: &mut Vec<Claim>| claims.sort_by_key(|claim| -claim.divisor));
        found
    }

    /// Returns a random factorization of `elements`.
    fn factorisation(mut elements: i64, numbers: &[usize]) -> Vec<i64> {
        let mut sizes = Vec::new();
        for number in numbers {
            let divisors: Vec<i64> = (1..=elements).filter(|divisor| elements % divisor == 0).collect();
            sizes.push(divisors[number % divisors.len()]);
            elements /= sizes[sizes.len() - 1];
        }
        sizes.push(elements);
        sizes
    }

    fn step((kind, first, numbers): &(u8, usize, Vec<usize>), shape: &[i64]) -> Step {
        let dim = first % shape.len();
        match kind % 5 {
            0 | 1 => Step::Reshape(factorisation(shape.iter().product(), numbers)),
            2 | 3 => {
                let mut order: Vec<usize> = (0..shape.len()).collect();
                order.rotate_left(dim);
                order.swap(0, numbers.len() % shape.len());
                Step::Transpose(order)
            }
            _ => {
                let positions = 1 + i64::try_from(numbers.iter().sum::<usize>()).unwrap() % shape[dim];
                Step::Slice(dim, i64::try_from(*first).unwrap() % (shape[dim] - positions + 1), positions)
            }
        }
    }

    proptest! {
        #[test]
        fn names_are_those_of_an_enumeration(
            elements in prop::sample::select(vec![12_i64, 24, 36, 48, 64, 72, 96]),
            names in prop::collection::vec(0_usize..12, 0..4),
            dims in prop::collection::vec(0_usize..12, 0..3),
            steps in prop::collection::vec((0_u8..5, 0_usize..24, prop::collection::vec(0_usize..12, 0..3)), 0..4),
            has_gap in any::<bool>(),
        ) {
            let name = |(number, size): (usize, &i64)| if has_gap && number == 1 { Part::unnamed(*size) } else { Part::named(&format!("N{number}"), *size) };
            let parts: Vec<Part> = factorisation(elements, &names).iter().enumerate().map(name).collect();
            let mut shapes = vec![factorisation(elements, &dims)];
            let mut taken: Vec<Step> = Vec::new();
            let mut shown = Shown::whole(&shapes[0]).unwrap();
            for numbers in &steps {
                let next = step(numbers, &shown.shape);
                let shape = next.shape(&shown.shape);
                shown = shown.through(&next.indices(&shape, &shown.shape), &shape).unwrap();
                taken.push(next);
                shapes.push(shape);
            }
            let found = shown.walk(&parts).dims;
            let expected = by_enumeration(&parts, &shapes, &taken);
            let is_cut = taken.iter().any(|step| matches!(step, Step::Slice(..)));
            if shown.hidden.is_empty() && !is_cut {
                prop_assert_eq!(&found, &expected);
            } else {
                // The analysis may find less than brute force, but never something different: of 4 positions, the middle two
                // index the outer name, of size 2.
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert!(found.iter().all(|claim| expected.contains(claim)));
                }
            }
        }
    }
}
