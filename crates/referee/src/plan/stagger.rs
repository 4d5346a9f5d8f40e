//! Positions of the elements that conversions between 16-bit and 32-bit numbers leave ("element arrangement").
//!
//! A conversion does not move elements between groups of four. A 16-bit stick has 64 elements and a 32-bit stick 32:
//!
//! | conversion | column | stick | position in the stick |
//! |---|---|---|---|
//! | to 32 bits | 64 p + 8 g + 4 s + e | 2 p + s | 4 g + e |
//! | to 16 bits | 64 k + 32 h + 4 g + e | k | 8 g + 4 h + e |
//!
//! Columns are those of the input as it lies in memory. Each conversion undoes the other.

use sdsc_format::program::ConversionOrder;

/// Elements that stay together.
pub(super) const GROUP: i64 = 4;

/// A conversion that staggers its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stagger {
    /// 16 to 32 bits.
    Widen,
    /// 32 to 16 bits.
    Narrow,
}

impl Stagger {
    /// Columns of the sticks that a conversion reads or writes together.
    pub(super) const COLUMNS: i64 = 64;

    /// Returns the stagger of a function; `None` if its result has the order of its inputs.
    pub(super) fn from_function(function: &str, conversions: ConversionOrder) -> Option<Self> {
        match (conversions, function) {
            (ConversionOrder::Staggered, "dl16tofp32") => Some(Self::Widen),
            (ConversionOrder::Staggered, "fp32todl16") => Some(Self::Narrow),
            (ConversionOrder::Staggered | ConversionOrder::Kept, _) => None,
        }
    }

    /// Returns the offset of a column, in elements of the result, whose sticks are `step` elements apart.
    pub(super) const fn offset(self, column: i64, step: i64) -> i64 {
        let (pair, within) = (column / Self::COLUMNS, column % Self::COLUMNS);
        let element = within % GROUP;
        match self {
            Self::Widen => (2 * pair + within / GROUP % 2) * step + GROUP * (within / (2 * GROUP)) + element,
            Self::Narrow => pair * step + 2 * GROUP * (within % 32 / GROUP) + GROUP * (within / 32) + element,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stick and position in it, with sticks of 1000 elements.
    fn place(stagger: Stagger, column: i64) -> (i64, i64) {
        let offset = stagger.offset(column, 1000);
        (offset / 1000, offset % 1000)
    }

    #[test]
    fn columns_have_the_published_places() {
        let wide = [4, 8, 63, 64].map(|column| place(Stagger::Widen, column));
        assert_eq!(wide, [(1, 0), (0, 4), (1, 31), (2, 0)]);
        let narrow = [32, 4, 63, 28].map(|column| place(Stagger::Narrow, column));
        assert_eq!(narrow, [(0, 4), (0, 8), (0, 63), (0, 56)]);
    }

    #[test]
    fn each_conversion_undoes_the_other() {
        for column in 0..256 {
            let wide = Stagger::Widen.offset(column, 32);
            assert_eq!(Stagger::Narrow.offset(wide, 64), column);
            let narrow = Stagger::Narrow.offset(column, 64);
            assert_eq!(Stagger::Widen.offset(narrow, 32), column);
        }
    }
}
