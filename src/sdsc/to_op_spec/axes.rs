//! Device sizes from what a file shows of them: sizes of the space, gaps, and how far apart the cores' parts are.

/// One device dimension beside the elements of a stick; blocks of sticks count sticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Positions that the op touches.
    pub(super) extent: i64,
    /// The size, unless the steps say otherwise.
    pub(super) size: i64,
    /// Whether the file says that size.
    pub(super) is_known: bool,
    /// Slices that the cores share the extent in.
    pub(super) slices: i64,
    /// For slices but the first, the elements from the first slice to it.
    pub(super) steps: Vec<(i64, i64)>,
}

/// The sizes of the axes, innermost first. None when there are none that the steps follow from.
///
/// A slice is a part of `inner sizes * min(size, extent)` elements. A size above the extent without a gap occurs where files have no
/// gaps (`may_exceed`).
pub(super) fn fit(axes: &[Axis], per_stick: i64, may_exceed: bool) -> Option<Vec<i64>> {
    let mut sizes: Vec<i64> = axes.iter().map(|axis| axis.size).collect();
    for at in 0..axes.len() {
        if !matches(axes, &sizes, per_stick, at) {
            sizes = adjust(axes, &sizes, per_stick, at, may_exceed)?;
        }
    }
    Some(sizes)
}

/// Whether the steps follow from the sizes that the axes have.
pub(super) fn fits(axes: &[Axis], per_stick: i64) -> bool {
    let sizes: Vec<i64> = axes.iter().map(|axis| axis.size).collect();
    (0..axes.len()).all(|at| matches(axes, &sizes, per_stick, at))
}

/// Elements of a stick and of the axes inside of one.
pub(super) fn inner(sizes: &[i64], per_stick: i64, at: usize) -> i64 {
    sizes[..at].iter().fold(per_stick, |product, size| product.saturating_mul(*size))
}

fn span(axes: &[Axis], sizes: &[i64], per_stick: i64, at: usize) -> i64 {
    inner(sizes, per_stick, at).saturating_mul(sizes[at].min(axes[at].extent))
}

fn matches(axes: &[Axis], sizes: &[i64], per_stick: i64, at: usize) -> bool {
    is_divided(&axes[at], span(axes, sizes, per_stick, at))
}

fn is_divided(axis: &Axis, span: i64) -> bool {
    axis.steps.iter().all(|(slot, elements)| slot.saturating_mul(span).div_euclid(axis.slices) == *elements)
}

/// Other sizes that the steps of an axis follow from: of the axis itself, or else of one inside of it.
fn adjust(axes: &[Axis], sizes: &[i64], per_stick: i64, at: usize, may_exceed: bool) -> Option<Vec<i64>> {
    let (_, first) = *axes[at].steps.first()?;
    let spans = (0..axes[at].slices).map(|rest| first.saturating_mul(axes[at].slices) + rest).filter(|span| is_divided(&axes[at], *span));
    for wanted in spans {
        for other in (0..=at).rev().filter(|other| !axes[*other].is_known) {
            let mut changed = sizes.to_vec();
            changed[other] = 1;
            let unit = span(axes, &changed, per_stick, at);
            let size = wanted.checked_div(unit).filter(|size| *size > 0 && size * unit == wanted);
            let Some(size) = size else { continue };
            changed[other] = size;
            let is_hidden = size <= axes[other].extent || (may_exceed && other < at);
            if is_hidden && (0..=at).all(|axis| matches(axes, &changed, per_stick, axis)) {
                return Some(changed);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(extent: i64, slices: i64, steps: Vec<(i64, i64)>) -> Axis {
        Axis { extent, size: extent, is_known: false, slices, steps }
    }

    #[test]
    fn sizes_are_extents_unless_steps_differ() {
        let rows = axis(128, 2, vec![(1, 64 * 64)]);
        assert_eq!(fit(&[rows.clone(), axis(4, 1, vec![])], 64, false), Some(vec![128, 4]));
        let columns = axis(4, 2, vec![(1, 2 * 100 * 64)]);
        assert_eq!(fit(&[axis(128, 1, vec![]), columns.clone()], 64, false), Some(vec![100, 4]));
        assert_eq!(fit(&[rows, columns], 64, false), None);
    }

    #[test]
    fn a_convolution_has_larger_sizes_without_gaps() {
        let height = axis(6, 3, vec![(1, 2 * 8 * 64)]);
        assert_eq!(fit(&[axis(6, 1, vec![]), height.clone()], 64, true), Some(vec![8, 6]));
        assert_eq!(fit(&[axis(6, 1, vec![]), height], 64, false), None);
    }
}
