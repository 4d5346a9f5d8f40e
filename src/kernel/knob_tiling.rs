//! Tiled dimensions of a kernel, with tile counts in terms of its knobs.

use program::SymbolicCount;

/// Dimension that scopes of a kernel tile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnobTiling {
    /// Its name.
    pub dim: String,
    /// Number of elements.
    pub size: i64,
    /// Tile counts of the nested scopes that tile it; symbolic counts are the names of knobs.
    pub counts: Vec<SymbolicCount>,
}

impl KnobTiling {
    /// Returns why the tiles differ in size for these knob values; `None` if they are equal, or if a count has no
    /// value.
    #[must_use]
    pub fn divisibility_error(&self, value_of: impl Fn(&str) -> Option<i64>) -> Option<String> {
        let Self { dim, size, counts } = self;
        let number = |count: &SymbolicCount| match count {
            SymbolicCount::Number(number) => Some(*number),
            SymbolicCount::Symbol(name) => value_of(name),
        };
        let tiles = counts.iter().map(number).try_fold(1_i64, |tiles, count| tiles.checked_mul(count?))?;
        (tiles > 0 && size % tiles != 0)
            .then(|| format!("dimension '{dim}' of size {size} cannot be divided into {tiles} equal tiles"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requires_product_of_nested_counts_to_divide() {
        let counts = vec![SymbolicCount::Symbol("M".to_owned()), SymbolicCount::Number(2)];
        let cuts = KnobTiling { dim: "rows".to_owned(), size: 12, counts };
        let with = |value: i64| cuts.divisibility_error(|name| (name == "M").then_some(value));
        assert_eq!([with(1), with(2), with(3), with(6)], [const { None }; 4]);
        assert_eq!(with(4).unwrap(), "dimension 'rows' of size 12 cannot be divided into 8 equal tiles");
        assert_eq!(cuts.divisibility_error(|_| None), None, "what is bound later is known later");
    }
}
