//! Arrays in plain Rust, moved element by element: what the views of a case mean.

/// Row-major numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl Array {
    /// Integers that the device's 9 bits of mantissa hold, and whose sums of two do too. No two of 1021 neighbours are alike, so that an
    /// element at a wrong place is noticed.
    pub(crate) fn numbered(shape: &[usize], start: usize) -> Self {
        let n_elements: usize = shape.iter().product();
        let number = |index: usize| ((start * 389 + index * 7) % 1021) as f32 - 510.0;
        Self { shape: shape.to_vec(), values: (0..n_elements).map(number).collect() }
    }

    /// The array of a shape whose element at a position comes from elsewhere.
    fn gathered(&self, shape: Vec<usize>, from: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let n_elements: usize = shape.iter().product();
        let mut position = vec![0; shape.len()];
        let mut values = Vec::with_capacity(n_elements);
        for _ in 0..n_elements {
            let flat = from(&position).iter().zip(&self.shape).fold(0, |flat, (index, size)| flat * size + index);
            values.push(self.values[flat]);
            step(&mut position, &shape);
        }
        Self { shape, values }
    }

    /// Dimension `dim` of the result is dimension `order[dim]` of this array.
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        let shape = order.iter().map(|&dim| self.shape[dim]).collect();
        self.gathered(shape, |position| {
            let mut from = vec![0; order.len()];
            order.iter().zip(position).for_each(|(&dim, &index)| from[dim] = index);
            from
        })
    }

    pub(crate) fn sliced(&self, offsets: &[usize], sizes: &[usize]) -> Self {
        self.gathered(sizes.to_vec(), |position| position.iter().zip(offsets).map(|(index, offset)| index + offset).collect())
    }

    pub(crate) fn reshaped(&self, shape: &[usize]) -> Self {
        Self { shape: shape.to_vec(), values: self.values.clone() }
    }

    pub(crate) fn negated(&self) -> Self {
        Self { shape: self.shape.clone(), values: self.values.iter().map(|value| -value).collect() }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        assert_eq!(self.shape, other.shape, "sums are of equal shapes");
        Self { shape: self.shape.clone(), values: self.values.iter().zip(&other.values).map(|(one, two)| one + two).collect() }
    }

    /// The largest elements along a dimension, which goes.
    pub(crate) fn largest(&self, axis: usize) -> Self {
        let (outer, inner): (usize, usize) = (self.shape[..axis].iter().product(), self.shape[axis + 1..].iter().product());
        let length = self.shape[axis];
        let at = |one: usize, two: usize| (0..length).map(move |middle| (one * length + middle) * inner + two);
        let largest = |one: usize, two: usize| at(one, two).map(|index| self.values[index]).fold(f32::NEG_INFINITY, f32::max);
        let values = (0..outer).flat_map(|one| (0..inner).map(move |two| (one, two))).map(|(one, two)| largest(one, two)).collect();
        let mut shape = self.shape.clone();
        shape.remove(axis);
        Self { shape, values }
    }
}

/// The next position in row-major order.
fn step(position: &mut [usize], shape: &[usize]) {
    for (index, size) in position.iter_mut().zip(shape).rev() {
        *index += 1;
        if *index < *size {
            return;
        }
        *index = 0;
    }
}
