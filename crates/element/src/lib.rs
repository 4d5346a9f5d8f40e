#![doc = include_str!("../README.md")]

mod f64_arithmetic;
mod field;
mod function;
mod ordered_field;
mod residue;
mod residue_sums;
mod spent_masks;

pub use f64_arithmetic::{F64Arithmetic, erf, maximum};
pub use field::{FieldElement, FiniteField, mix_bits};
pub use function::{BinaryFunction, Reduction, UnaryFunction};
pub use ordered_field::{OrderedElement, OrderedField};

use std::fmt::Debug;

/// Arithmetic on one kind of elements, with all state that its functions depend on.
///
/// Poison is the content of uninitialized memory. Every function of poison is poison, except for a product with zero
/// within a sum of products, and the operand that a select does not choose.
pub trait Arithmetic: Sync {
    /// An element.
    type Element: Copy + Debug + PartialEq + Send + Sync;

    /// Returns the element of a number; poison for NaN.
    fn constant(&self, number: f64) -> Self::Element;

    /// Returns poison, the element that uninitialized memory holds.
    fn poison(&self) -> Self::Element;

    /// Returns whether an element is poison.
    fn is_poison(&self, element: Self::Element) -> bool;

    /// Returns whether an element is 0.
    fn is_zero(&self, element: Self::Element) -> bool;

    /// Returns the sum.
    fn add(&self, left: Self::Element, right: Self::Element) -> Self::Element;

    /// Returns the difference.
    fn sub(&self, left: Self::Element, right: Self::Element) -> Self::Element;

    /// Returns the product.
    fn mul(&self, left: Self::Element, right: Self::Element) -> Self::Element;

    /// Returns the quotient.
    fn div(&self, left: Self::Element, right: Self::Element) -> Self::Element;

    /// Returns the larger one.
    fn maximum(&self, left: Self::Element, right: Self::Element) -> Self::Element;

    /// Returns the smaller one.
    fn minimum(&self, left: Self::Element, right: Self::Element) -> Self::Element;

    /// Returns 1 or 0. `comparison` is one of the last six functions of [`BinaryFunction`].
    fn compare(&self, comparison: BinaryFunction, left: Self::Element, right: Self::Element) -> Self::Element;

    /// Applies a function to one element; the constants are those of the function in their order.
    fn apply(&self, function: UnaryFunction, constants: &[Self::Element], element: Self::Element) -> Self::Element;

    /// Returns the product of an element with itself.
    fn square(&self, element: Self::Element) -> Self::Element {
        self.mul(element, element)
    }

    /// Returns whether an element is the undefined result of an exact arithmetic, such as a quotient of zeros.
    fn is_undefined(&self, _element: Self::Element) -> bool {
        false
    }

    /// Returns `yes` where the condition is not 0, else `no`. A choice between an element and undefined is the element:
    /// functions are NaN outside of their ranges, and no law says which elements of a field are in a range.
    fn select(&self, condition: Self::Element, yes: Self::Element, no: Self::Element) -> Self::Element {
        match () {
            () if self.is_poison(condition) => condition,
            () if self.is_undefined(yes) && !self.is_poison(no) => no,
            () if self.is_undefined(no) && !self.is_poison(yes) => yes,
            () if self.is_zero(condition) => no,
            () => yes,
        }
    }

    /// Applies a function to each element in place.
    fn apply_unary(&self, function: UnaryFunction, constants: &[Self::Element], elements: &mut [Self::Element]) {
        elements.iter_mut().for_each(|element| *element = self.apply(function, constants, *element));
    }

    /// Divides elements by others, in place.
    fn divide_all(&self, left: &mut [Self::Element], right: &[Self::Element]) {
        combine_in_place(left, right, |a, b| self.div(a, b));
    }

    /// Applies a function to pairs of elements, and stores the results in the first operand.
    fn apply_binary(&self, function: BinaryFunction, left: &mut [Self::Element], right: &[Self::Element]) {
        match function {
            BinaryFunction::Add => combine_in_place(left, right, |a, b| self.add(a, b)),
            BinaryFunction::Sub => combine_in_place(left, right, |a, b| self.sub(a, b)),
            BinaryFunction::Mul => combine_in_place(left, right, |a, b| self.mul(a, b)),
            BinaryFunction::Div => self.divide_all(left, right),
            BinaryFunction::Maximum => combine_in_place(left, right, |a, b| self.maximum(a, b)),
            BinaryFunction::Minimum => combine_in_place(left, right, |a, b| self.minimum(a, b)),
            BinaryFunction::Equal
            | BinaryFunction::NotEqual
            | BinaryFunction::Greater
            | BinaryFunction::GreaterEqual
            | BinaryFunction::Less
            | BinaryFunction::LessEqual => {
                combine_in_place(left, right, |a, b| self.compare(function, a, b));
            }
        }
    }

    /// Returns the identity element of a reduction.
    fn identity(&self, reduction: Reduction) -> Self::Element {
        self.constant(match reduction {
            Reduction::Sum | Reduction::Mean | Reduction::AveragePool => 0.0,
            Reduction::Max => f64::NEG_INFINITY,
            Reduction::Min => f64::INFINITY,
            Reduction::Prod => 1.0,
        })
    }

    /// Computes one step of a reduction. A mean is a sum until it is multiplied by its constant.
    fn fold(&self, reduction: Reduction, sum: Self::Element, element: Self::Element) -> Self::Element {
        match reduction {
            Reduction::Sum | Reduction::Mean | Reduction::AveragePool => self.add(sum, element),
            Reduction::Max => self.maximum(sum, element),
            Reduction::Min => self.minimum(sum, element),
            Reduction::Prod => self.mul(sum, element),
        }
    }

    /// Accumulates a matmul: `out[m][n] += left[m][k] * right[k][n]`, row-major, in the order of `k`. A product with a
    /// zero is zero, even if the other factor is poison.
    fn multiply(&self, left: &[Self::Element], right: &[Self::Element], out: &mut [Self::Element], k: usize, n: usize) {
        for (row, sums) in left.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
            for (factor, line) in row.iter().zip(right.chunks_exact(n)) {
                for (sum, value) in sums.iter_mut().zip(line) {
                    if !self.is_zero(*factor) && !self.is_zero(*value) {
                        *sum = self.add(*sum, self.mul(*factor, *value));
                    }
                }
            }
        }
    }
}

/// Arithmetic whose inputs can be drawn at random.
pub trait RandomArithmetic: Arithmetic {
    /// Returns a random element: element `index` of input `tensor`.
    fn random_input(&self, tensor: u64, index: u64) -> Self::Element;

    /// Returns the field element by which the results of two programs are compared.
    fn field_element(&self, element: Self::Element) -> FieldElement;
}

fn combine_in_place<E: Copy>(left: &mut [E], right: &[E], function: impl Fn(E, E) -> E) {
    left.iter_mut().zip(right).for_each(|(left, right)| *left = function(*left, *right));
}
