//! Arrays in plain Rust, element by element, of whole numbers that neither the device nor a sum of them rounds.

/// Integers up to this have a place in the device's 9 bits of mantissa.
const LARGEST_INTEGER: f32 = 1024.0;

/// Row-major numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl Array {
    /// Whole numbers from -3 to 3 that follow from a seed, half of them 0, so that sums stay small.
    pub(crate) fn seeded(shape: &[usize], seed: usize) -> Self {
        let mut state = (seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Self::of(shape, |_| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            [0.0, 1.0, 0.0, -1.0, 0.0, 2.0, 0.0, -3.0][(state >> 61) as usize]
        })
    }

    /// The array whose element at each index is `of` that index.
    pub(crate) fn of(shape: &[usize], mut of: impl FnMut(&[usize]) -> f32) -> Self {
        let mut index = vec![0; shape.len()];
        let mut values = Vec::with_capacity(shape.iter().product());
        for _ in 0..shape.iter().product() {
            values.push(of(&index));
            for (at, size) in index.iter_mut().zip(shape).rev() {
                *at += 1;
                if *at < *size {
                    break;
                }
                *at = 0;
            }
        }
        Self { shape: shape.to_vec(), values }
    }

    pub(crate) fn at(&self, index: &[usize]) -> f32 {
        self.values[index.iter().zip(&self.shape).fold(0, |flat, (at, size)| flat * size + at)]
    }

    pub(crate) fn reshaped(&self, shape: &[usize]) -> Self {
        Self { shape: shape.to_vec(), values: self.values.clone() }
    }

    /// Folds the elements along the dimensions in `reduced`, which go.
    pub(crate) fn fold(&self, reduced: &[usize], start: f32, fold: impl Fn(f32, f32) -> f32) -> Self {
        let kept = |dims: &[usize]| -> Vec<usize> { (0..dims.len()).filter(|dim| !reduced.contains(dim)).map(|dim| dims[dim]).collect() };
        let mut result = Self::of(&kept(&self.shape), |_| start);
        let sizes = result.shape.clone();
        Self::of(&self.shape, |index| {
            let flat = kept(index).iter().zip(&sizes).fold(0, |flat, (at, size)| flat * size + at);
            result.values[flat] = fold(result.values[flat], self.at(index));
            0.0
        });
        result
    }

    pub(crate) fn map(&self, of: impl Fn(f32) -> f32) -> Self {
        Self { shape: self.shape.clone(), values: self.values.iter().map(|&value| of(value)).collect() }
    }

    /// Whether no number is too large to be exact.
    pub(crate) fn is_exact(&self) -> bool {
        self.values.iter().all(|value| value.abs() <= LARGEST_INTEGER)
    }
}
