//! Reconstructs device sizes from the sizes of the space, the gaps, and the distances between the cores' slices in a
//! file.
//!
//! The rules count device dimensions from the stick outwards and match the `k`-th one with the `k`-th dimension of a
//! tensor's order, regardless of its coordinate. An [`OrderAxis`] is a dimension of the order, with the size of the
//! device dimension at the same position.

/// One dimension of a tensor's order. Sizes of blocks of sticks count sticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OrderAxis {
    /// Number of accessed positions.
    pub(super) extent: i64,
    /// Number of positions beyond them; `None` if files omit it.
    pub(super) gap: Option<i64>,
    /// Number of slices of the extent.
    pub(super) slices: i64,
    /// Pairs of a slice number, except the first, and the element distance from the first slice.
    pub(super) steps: Vec<(i64, i64)>,
}

impl OrderAxis {
    /// Returns the size implied by the gap.
    pub(super) fn known_size(&self) -> Option<i64> {
        self.gap.filter(|gap| *gap > 0).map(|gap| self.extent.saturating_add(gap))
    }

    fn is_divided(&self, span: i64) -> bool {
        self.steps.iter().all(|(slot, elements)| slot.saturating_mul(span).div_euclid(self.slices) == *elements)
    }
}

/// Returns the elements of a stick times the sizes of the device dimensions inside `at`.
pub(super) fn inner_elements(sizes: &[i64], per_stick: i64, at: usize) -> i64 {
    sizes[..at].iter().fold(per_stick, |product, size| product.saturating_mul(*size))
}

/// Returns whether the sizes, innermost first, imply the steps: a slice is a fraction of
/// `inner sizes * min(size, extent)` elements.
pub(super) fn are_consistent(axes: &[OrderAxis], sizes: &[i64], per_stick: i64) -> bool {
    (0..axes.len().min(sizes.len())).all(|at| axes[at].is_divided(compute_span(axes, sizes, per_stick, at)))
}

fn compute_span(axes: &[OrderAxis], sizes: &[i64], per_stick: i64, at: usize) -> i64 {
    inner_elements(sizes, per_stick, at).saturating_mul(sizes[at].min(axes[at].extent))
}

/// Returns sizes close to the given ones that imply the steps; `None` if there are none. A size exceeds the extent only
/// if files omit the gap.
pub(super) fn fit_sizes(axes: &[OrderAxis], sizes: &[i64], per_stick: i64) -> Option<Vec<i64>> {
    let mut sizes = sizes.to_vec();
    for at in 0..axes.len().min(sizes.len()) {
        if !axes[at].is_divided(compute_span(axes, &sizes, per_stick, at)) {
            sizes = adjust_sizes(axes, &sizes, per_stick, at)?;
        }
    }
    Some(sizes)
}

/// Returns other sizes that imply the steps of an axis, with a changed size of the axis itself or of one inside it.
fn adjust_sizes(axes: &[OrderAxis], sizes: &[i64], per_stick: i64, at: usize) -> Option<Vec<i64>> {
    let divided = &axes[at];
    let (_, first) = *divided.steps.first()?;
    let spans = (0..divided.slices).map(|rest| first.saturating_mul(divided.slices).saturating_add(rest));
    for wanted in spans.filter(|span| divided.is_divided(*span)) {
        for other in (0..=at).rev().filter(|other| axes[*other].known_size().is_none()) {
            let mut changed = sizes.to_vec();
            changed[other] = 1;
            let unit = compute_span(axes, &changed, per_stick, at);
            let size = wanted.checked_div(unit).filter(|size| *size > 0 && size.saturating_mul(unit) == wanted);
            let Some(size) = size else { continue };
            changed[other] = size;
            let is_hidden = size <= axes[other].extent || (axes[other].gap.is_none() && other < at);
            if is_hidden && are_consistent(&axes[..=at], &changed, per_stick) {
                return Some(changed);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(extent: i64, slices: i64, steps: Vec<(i64, i64)>) -> OrderAxis {
        OrderAxis { extent, gap: Some(0), slices, steps }
    }

    #[test]
    fn changes_sizes_where_steps_differ() {
        let rows = axis(128, 2, vec![(1, 64 * 64)]);
        assert!(are_consistent(&[rows.clone(), axis(4, 1, vec![])], &[128, 4], 64));
        let columns = axis(4, 2, vec![(1, 2 * 100 * 64)]);
        assert_eq!(fit_sizes(&[axis(128, 1, vec![]), columns.clone()], &[128, 4], 64), Some(vec![100, 4]));
        assert_eq!(fit_sizes(&[rows, columns], &[128, 4], 64), None);
    }

    #[test]
    fn enlarges_sizes_of_convolution_without_gaps() {
        let mut axes = [axis(6, 1, vec![]), axis(6, 3, vec![(1, 2 * 8 * 64)])];
        assert_eq!(fit_sizes(&axes, &[6, 6], 64), None);
        axes[0].gap = None;
        assert_eq!(fit_sizes(&axes, &[6, 6], 64), Some(vec![8, 6]));
    }
}
