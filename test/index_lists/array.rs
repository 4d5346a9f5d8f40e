//! Arrays with NumPy's semantics, in row-major order; the compiled programs are compared with them.

/// Array of integers or floats.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array<T> {
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Vec<T>,
}

/// List of indices.
pub(crate) type IndexArray = Array<i64>;

/// Iterates over every index of an array, row by row.
pub(crate) fn points(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |mut flat: usize| {
        let mut point = vec![0; shape.len()];
        for dim in (0..shape.len()).rev() {
            (point[dim], flat) = (flat % shape[dim], flat / shape[dim]);
        }
        point
    })
}

impl<T: Copy> Array<T> {
    /// Returns the array whose element at each point is `element` of the point.
    pub(crate) fn build(shape: &[usize], element: impl FnMut(Vec<usize>) -> T) -> Self {
        Self { shape: shape.to_vec(), elements: points(shape).map(element).collect() }
    }

    /// Returns `a[point]`.
    pub(crate) fn get(&self, point: &[usize]) -> T {
        assert_eq!(point.len(), self.shape.len(), "a point of an array of {:?}", self.shape);
        assert!(point.iter().zip(&self.shape).all(|(at, size)| at < size), "{point:?} in an array of {:?}", self.shape);
        self.elements[point.iter().zip(&self.shape).fold(0, |flat, (at, size)| flat * size + at)]
    }

    /// Returns `a[o0:o0+n0*s0:s0, o1:...]`.
    pub(crate) fn slice(&self, offsets: &[usize], sizes: &[usize], strides: &[usize]) -> Self {
        Self::build(sizes, |point| {
            let inside: Vec<usize> = (0..point.len()).map(|dim| offsets[dim] + point[dim] * strides[dim]).collect();
            self.get(&inside)
        })
    }

    /// Returns `a[row]`.
    pub(crate) fn row(&self, row: usize) -> Self {
        Self::build(&self.shape[1..], |point| self.get(&[&[row], point.as_slice()].concat()))
    }

    /// Computes `np.flip(a, dim)`.
    pub(crate) fn reverse(&self, dim: usize) -> Self {
        Self::build(&self.shape, |mut point| {
            point[dim] = self.shape[dim] - 1 - point[dim];
            self.get(&point)
        })
    }

    /// Computes `a.T` of a matrix.
    pub(crate) fn transpose(&self) -> Self {
        Self::build(&[self.shape[1], self.shape[0]], |point| self.get(&[point[1], point[0]]))
    }

    /// Computes `a.reshape(shape)`.
    pub(crate) fn reshape(&self, shape: &[usize]) -> Self {
        assert_eq!(shape.iter().product::<usize>(), self.elements.len());
        Self { shape: shape.to_vec(), elements: self.elements.clone() }
    }

    /// Computes `np.concatenate(parts, dim)`.
    pub(crate) fn concatenate(parts: &[Self], dim: usize) -> Self {
        let mut shape = parts[0].shape.clone();
        shape[dim] = parts.iter().map(|part| part.shape[dim]).sum();
        Self::build(&shape, |mut point| {
            let mut parts = parts.iter();
            let mut part = parts.next().unwrap();
            while point[dim] >= part.shape[dim] {
                point[dim] -= part.shape[dim];
                part = parts.next().unwrap();
            }
            part.get(&point)
        })
    }

    /// Computes `np.stack(parts, dim)`.
    pub(crate) fn stack(parts: &[Self], dim: usize) -> Self {
        let mut one = parts[0].shape.clone();
        one.insert(dim, 1);
        Self::concatenate(&parts.iter().map(|part| part.reshape(&one)).collect::<Vec<_>>(), dim)
    }

    /// Applies `function` to the elements of two arrays of one shape.
    pub(crate) fn zip_with<U: Copy, V>(&self, other: &Array<U>, function: impl Fn(T, U) -> V) -> Array<V> {
        assert_eq!(self.shape, other.shape);
        let elements = self.elements.iter().zip(&other.elements).map(|(&one, &other)| function(one, other)).collect();
        Array { shape: self.shape.clone(), elements }
    }

    /// Applies `function` to each element.
    pub(crate) fn map<V>(&self, function: impl Fn(T) -> V) -> Array<V> {
        Array { shape: self.shape.clone(), elements: self.elements.iter().map(|&element| function(element)).collect() }
    }
}

impl IndexArray {
    /// Computes `np.sort(a, dim)`, ascending or descending.
    pub(crate) fn sort(&self, dim: usize, is_descending: bool) -> Self {
        self.map_lanes(dim, |row| {
            row.sort_unstable();
            if is_descending {
                row.reverse();
            }
        })
    }

    /// Computes `np.cumsum(a, dim)`.
    pub(crate) fn cumsum(&self, dim: usize) -> Self {
        self.map_lanes(dim, |row| {
            for at in 1..row.len() {
                row[at] += row[at - 1];
            }
        })
    }

    fn map_lanes(&self, dim: usize, change: impl Fn(&mut Vec<i64>)) -> Self {
        let mut found = self.clone();
        let stride: usize = self.shape[dim + 1..].iter().product();
        for first in (0..self.elements.len()).filter(|at| (at / stride).is_multiple_of(self.shape[dim])) {
            let places: Vec<usize> = (0..self.shape[dim]).map(|row| first + row * stride).collect();
            let mut row: Vec<i64> = places.iter().map(|&at| self.elements[at]).collect();
            change(&mut row);
            places.iter().zip(row).for_each(|(&at, element)| found.elements[at] = element);
        }
        found
    }
}

impl Array<f64> {
    /// Computes `np.argmax(a, -1)` of a matrix.
    pub(crate) fn argmax(&self) -> IndexArray {
        IndexArray::build(&self.shape[..1], |row| {
            let of_row: Vec<f64> = (0..self.shape[1]).map(|column| self.get(&[row[0], column])).collect();
            let largest = of_row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            of_row.iter().position(|&number| number == largest).unwrap() as i64
        })
    }
}

#[test]
fn matches_numpy_arrays() {
    let a = IndexArray { shape: vec![2, 3], elements: vec![5, 1, 4, 0, 2, 3] };
    assert_eq!(a.slice(&[0, 1], &[2, 1], &[1, 2]).elements, [1, 2]);
    assert_eq!(a.row(1).elements, [0, 2, 3]);
    assert_eq!(a.reverse(1).elements, [4, 1, 5, 3, 2, 0]);
    assert_eq!(a.transpose().elements, [5, 0, 1, 2, 4, 3]);
    assert_eq!(Array::concatenate(&[a.clone(), a.row(0).reshape(&[1, 3])], 0).elements, [5, 1, 4, 0, 2, 3, 5, 1, 4]);
    assert_eq!(
        Array::concatenate(&[a.clone(), a.slice(&[0, 0], &[2, 1], &[1, 1])], 1).elements,
        [5, 1, 4, 5, 0, 2, 3, 0]
    );
    assert_eq!(Array::stack(&[a.row(0), a.row(1)], 1).elements, [5, 0, 1, 2, 4, 3]);
    assert_eq!(a.sort(1, false).elements, [1, 4, 5, 0, 2, 3]);
    assert_eq!(a.sort(0, true).elements, [5, 2, 4, 0, 1, 3]);
    assert_eq!(a.cumsum(1).elements, [5, 6, 10, 0, 2, 5]);
    assert_eq!(a.map(|element| element as f64).argmax().elements, [0, 2]);
}
