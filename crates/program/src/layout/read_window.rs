//! Window of a buffer that a reader accesses, as a separate buffer. A step of the reader that does not divide the
//! buffer's dimension may divide that of the window.

use super::TensorIndex;

/// Window of a buffer, and the indices at which it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadWindow {
    /// First position along each dimension of the buffer.
    pub first: Vec<i64>,
    /// Elements along each dimension.
    pub sizes: Vec<i64>,
    /// Sizes that the steps of the reader divide: those of the window, or larger ones by less than one step. The reader
    /// accesses none of the additional elements.
    pub padded: Vec<i64>,
    /// Index along each dimension, in terms of the dimensions of the reader.
    pub read: Vec<TensorIndex>,
}

impl ReadWindow {
    /// Returns the window of a buffer of these sizes that is read at `indices`; `None` if it is the complete buffer,
    /// unpadded.
    #[must_use]
    pub fn from_indices(indices: &[TensorIndex], sizes: &[i64]) -> Option<Self> {
        let mut window = Self { first: Vec::new(), sizes: Vec::new(), padded: Vec::new(), read: Vec::new() };
        for (index, &size) in indices.iter().zip(sizes) {
            // The last position is an upper bound that may not be reached.
            let extent = (index.max_value() + 1 - index.offset).min(size - index.offset);
            let steps = index.digits.first().map_or(1, |digit| digit.factor * digit.size);
            window.first.push(index.offset);
            window.sizes.push(extent);
            window.padded.push(extent.max(steps));
            window.read.push(TensorIndex { offset: 0, ..index.clone() });
        }
        (window.padded != sizes).then_some(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{TestExpr, checked_index, d};

    fn find_window(exprs: &[TestExpr], space: &[i64], sizes: &[i64]) -> Option<(Vec<i64>, Vec<i64>, Vec<i64>)> {
        let indices: Vec<TensorIndex> = exprs.iter().map(|expr| checked_index(expr, space)).collect();
        ReadWindow::from_indices(&indices, sizes).map(|window| (window.first, window.sizes, window.padded))
    }

    #[test]
    fn leaves_out_class_token() {
        assert_eq!(
            find_window(&[d(0) * 4 + d(1) + 1, d(2)], &[4, 4, 32], &[17, 32]),
            Some((vec![1, 0], vec![16, 32], vec![16, 32]))
        );
    }

    #[test]
    fn pads_last_step() {
        assert_eq!(find_window(&[d(0) * 5 + d(1) + 2], &[3, 4], &[17]), Some((vec![2], vec![14], vec![15])));
        assert_eq!(find_window(&[d(0) * 3], &[4], &[11]), Some((vec![0], vec![10], vec![12])));
    }

    #[test]
    fn finds_no_window_for_complete_buffer() {
        assert_eq!(find_window(&[d(0) * 4 + d(1), d(2)], &[4, 4, 32], &[16, 32]), None);
        assert_eq!(find_window(&[d(0) * 3], &[4], &[12]), None);
    }
}
