//! Element positions in results of conversions between 16-bit and 32-bit numbers ("element arrangement").
//!
//! A conversion does not move elements between groups of four. A 16-bit stick has 64 elements and a 32-bit stick 32:
//!
//! | conversion | column | stick | position in the stick |
//! |---|---|---|---|
//! | to 32 bits | 64 p + 8 g + 4 s + e | 2 p + s | 4 g + e |
//! | to 16 bits | 64 k + 32 h + 4 g + e | k | 8 g + 4 h + e |
//!
//! Columns are those of the input in memory. The two conversions are inverse to each other.

/// Elements that remain adjacent.
pub(super) const GROUP_ELEMENTS: i64 = 4;

/// Conversion that staggers its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stagger {
    /// From 16 to 32 bits.
    Widen,
    /// From 32 to 16 bits.
    Narrow,
}

impl Stagger {
    /// Number of columns of the sticks that a conversion reads or writes together.
    pub(super) const COLUMNS: i64 = 64;

    /// Returns the stagger of a function; `None` if its result has the order of its inputs.
    pub(super) fn from_function(function: &str) -> Option<Self> {
        match function {
            "dl16tofp32" => Some(Self::Widen),
            "fp32todl16" => Some(Self::Narrow),
            _ => None,
        }
    }

    /// Returns the offset of a column, in elements of the result. Its sticks are `step` elements apart.
    pub(super) const fn column_offset(self, column: i64, step: i64) -> i64 {
        let (pair, within) = (column / Self::COLUMNS, column % Self::COLUMNS);
        let element = within % GROUP_ELEMENTS;
        match self {
            Self::Widen => {
                (2 * pair + within / GROUP_ELEMENTS % 2) * step
                    + GROUP_ELEMENTS * (within / (2 * GROUP_ELEMENTS))
                    + element
            }
            Self::Narrow => {
                pair * step
                    + 2 * GROUP_ELEMENTS * (within % 32 / GROUP_ELEMENTS)
                    + GROUP_ELEMENTS * (within / 32)
                    + element
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the stick and the position in it, with sticks of 1000 elements.
    fn locate_column(stagger: Stagger, column: i64) -> (i64, i64) {
        let offset = stagger.column_offset(column, 1000);
        (offset / 1000, offset % 1000)
    }

    #[test]
    fn staggers_columns_to_published_positions() {
        let wide = [4, 8, 63, 64].map(|column| locate_column(Stagger::Widen, column));
        assert_eq!(wide, [(1, 0), (0, 4), (1, 31), (2, 0)]);
        let narrow = [32, 4, 63, 28].map(|column| locate_column(Stagger::Narrow, column));
        assert_eq!(narrow, [(0, 4), (0, 8), (0, 63), (0, 56)]);
    }

    #[test]
    fn inverts_each_conversion_with_the_other() {
        for column in 0..256 {
            let wide = Stagger::Widen.column_offset(column, 32);
            assert_eq!(Stagger::Narrow.column_offset(wide, 64), column);
            let narrow = Stagger::Narrow.column_offset(column, 64);
            assert_eq!(Stagger::Widen.column_offset(narrow, 32), column);
        }
    }
}
