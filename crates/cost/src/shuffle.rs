//! Time of a shuffle: a copy of a tensor in LX from the cores that hold its slices to the cores that need others.

use super::{op_features::as_f64, shape::ShuffleShape};

/// Fewest and most slices for which the law was fitted.
const FITTED_SLICES: [i64; 2] = [2, 8];

/// Nanoseconds of one run, for one slice.
const RUN_NS: f64 = -1.14;

/// Additional nanoseconds of a run for each doubling of the slices.
const RUN_NS_PER_DOUBLING: f64 = 3.92;

/// Bytes of a core that move per nanosecond.
const BYTES_PER_NS: f64 = 547.0;

impl ShuffleShape {
    /// Returns the shape of a shuffle of a tensor with these device sizes (outermost first, without the elements of a
    /// stick of `stick_bytes`) between two views: the numbers of slices of these dimensions.
    #[must_use]
    pub fn new(sizes: &[i64], stick_bytes: i64, from: &[i64], to: &[i64]) -> Self {
        let bytes = sizes.iter().product::<i64>() * stick_bytes;
        let run = |view: &[i64]| {
            let innermost = view.iter().rposition(|slices| *slices > 1);
            innermost.map_or((bytes, 1), |dim| {
                let behind = sizes[dim + 1..].iter().product::<i64>() * stick_bytes;
                (sizes[dim] / view[dim] * behind, view[dim])
            })
        };
        let (run_bytes, slices) =
            [run(from), run(to)].into_iter().min_by_key(|(run, slices)| (*run, -slices)).unwrap_or((bytes, 1));
        Self { bytes_per_core: bytes / from.iter().product::<i64>().max(1), run_bytes: run_bytes.max(1), slices }
    }

    /// Returns the modeled time in nanoseconds, without the start-up of the op. Slices outside of the fitted range
    /// count as its nearest end.
    #[must_use]
    pub fn estimate_ns(&self) -> f64 {
        let slices = as_f64(self.slices.clamp(FITTED_SLICES[0], FITTED_SLICES[1]));
        let bytes = as_f64(self.bytes_per_core);
        let run_ns = RUN_NS + RUN_NS_PER_DOUBLING * slices.log2();
        bytes / as_f64(self.run_bytes) * run_ns + bytes * slices / BYTES_PER_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_published_example() {
        // Geometry P03: [512, 4096] of 16 bits as 64 x 512 sticks; the source has 4 x 8 slices, the destination 8.
        let shape = ShuffleShape::new(&[64, 512], 128, &[4, 8], &[1, 8]);
        assert_eq!(shape, ShuffleShape { bytes_per_core: 131_072, run_bytes: 8192, slices: 8 });
        assert!((shape.estimate_ns() - 2087.0).abs() < 1.0, "{}", shape.estimate_ns());
    }

    #[test]
    fn takes_shorter_runs_of_both_views() {
        let shape = |from: [i64; 2], to: [i64; 2]| ShuffleShape::new(&[4, 64], 128, &from, &to);
        assert_eq!(shape([1, 4], [4, 1]), ShuffleShape { bytes_per_core: 8192, run_bytes: 2048, slices: 4 });
        assert_eq!(shape([4, 1], [1, 4]), shape([1, 4], [4, 1]));
        assert_eq!(shape([1, 2], [1, 8]).slices, 8);
        assert_eq!(shape([1, 1], [1, 1]).slices, 1);
    }
}
