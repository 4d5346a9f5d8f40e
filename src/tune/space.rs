//! Search space: the dimensions that a program leaves open.

use std::fmt;

/// Open parameter of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneDimension {
    /// Name, such as `matmul.M`.
    pub name: String,
    /// Choices, ordered so that similar ones are adjacent.
    pub choices: Vec<String>,
    /// Index of the default choice.
    pub untuned: usize,
}

/// One choice per dimension, by index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TunePoint(pub Vec<usize>);

/// All open parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuneSpace {
    dimensions: Vec<TuneDimension>,
}

impl TuneSpace {
    /// Creates a space of dimensions, each of which must contain its untuned choice.
    ///
    /// # Panics
    /// Panics if a dimension does not contain it.
    #[must_use]
    pub fn new(dimensions: Vec<TuneDimension>) -> Self {
        assert!(
            dimensions.iter().all(|dimension| dimension.untuned < dimension.choices.len()),
            "a dimension has no untuned choice"
        );
        Self { dimensions }
    }

    /// Returns the dimensions.
    #[must_use]
    pub fn dimensions(&self) -> &[TuneDimension] {
        &self.dimensions
    }

    /// Returns the number of points.
    #[must_use]
    pub fn size(&self) -> u128 {
        self.dimensions.iter().fold(1, |size, dimension| size.saturating_mul(dimension.choices.len() as u128))
    }

    /// Returns the point that a compilation uses by default.
    #[must_use]
    pub fn untuned_point(&self) -> TunePoint {
        TunePoint(self.dimensions.iter().map(|dimension| dimension.untuned).collect())
    }

    /// Returns all points in the order of the choices, last dimension fastest.
    pub fn points(&self) -> impl Iterator<Item = TunePoint> {
        let first = Some(TunePoint(vec![0; self.dimensions.len()]));
        std::iter::successors(first, |point| self.next_point(point))
    }

    fn next_point(&self, point: &TunePoint) -> Option<TunePoint> {
        let mut next = point.clone();
        for (choice, dimension) in next.0.iter_mut().zip(&self.dimensions).rev() {
            *choice += 1;
            if *choice < dimension.choices.len() {
                return Some(next);
            }
            *choice = 0;
        }
        None
    }

    /// Returns the choices of a point as text.
    #[must_use]
    pub fn choices(&self, point: &TunePoint) -> Vec<String> {
        point.0.iter().zip(&self.dimensions).map(|(choice, dimension)| dimension.choices[*choice].clone()).collect()
    }

    /// Parses the text form of a point; `None` if a choice does not exist, or if the number of choices differs.
    #[must_use]
    pub fn parse_point(&self, choices: &[String]) -> Option<TunePoint> {
        let position =
            |(choice, dimension): (&String, &TuneDimension)| dimension.choices.iter().position(|known| known == choice);
        let found: Option<Vec<usize>> = choices.iter().zip(&self.dimensions).map(position).collect();
        found.filter(|found| found.len() == self.dimensions.len() && choices.len() == found.len()).map(TunePoint)
    }

    /// Returns the number of choices of a point that differ from the untuned ones.
    #[must_use]
    pub fn num_changes(&self, point: &TunePoint) -> usize {
        point.0.iter().zip(&self.dimensions).filter(|(choice, dimension)| **choice != dimension.untuned).count()
    }
}

/// Formats the space for a cache key: `name in [a, b] from a`, one dimension after the other.
impl fmt::Display for TuneSpace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |TuneDimension { name, choices, untuned }: &TuneDimension| {
            format!("{name} in [{}] from {}", choices.join(", "), choices[*untuned])
        };
        formatter.write_str(&self.dimensions.iter().map(text).collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Creates a dimension with the numbers below `num_choices`.
    pub(crate) fn numbered_dimension(name: &str, num_choices: usize, untuned: usize) -> TuneDimension {
        TuneDimension {
            name: name.to_owned(),
            choices: (0..num_choices).map(|choice| choice.to_string()).collect(),
            untuned,
        }
    }

    #[test]
    fn enumerates_points_in_order() {
        let space = TuneSpace::new(vec![numbered_dimension("a", 2, 1), numbered_dimension("b", 3, 0)]);
        let points: Vec<TunePoint> = space.points().collect();
        assert_eq!(space.size(), 6);
        assert_eq!(points.len(), 6);
        assert!(points.is_sorted());
        assert_eq!(points[4], TunePoint(vec![1, 1]));
        assert_eq!((space.untuned_point(), space.num_changes(&points[1])), (TunePoint(vec![1, 0]), 2));
        assert_eq!(space.to_string(), "a in [0, 1] from 1; b in [0, 1, 2] from 0");
    }

    #[test]
    fn parses_choices_and_rejects_others() {
        let space = TuneSpace::new(vec![numbered_dimension("a", 2, 1), numbered_dimension("b", 3, 0)]);
        for point in space.points() {
            assert_eq!(space.parse_point(&space.choices(&point)), Some(point));
        }
        for wrong in [vec!["2", "0"], vec!["0"], vec!["0", "0", "0"], vec![]] {
            assert_eq!(space.parse_point(&wrong.into_iter().map(str::to_owned).collect::<Vec<_>>()), None);
        }
    }

    #[test]
    fn has_one_point_without_dimensions() {
        assert_eq!(TuneSpace::default().points().count(), 1);
        assert_eq!(
            (TuneSpace::default().size(), TuneSpace::default().parse_point(&[])),
            (1, Some(TunePoint(Vec::new())))
        );
    }
}
