//! Field elements in the order of real numbers: `max(a, b) + c = max(a + c, b + c)` holds, which no order of residues
//! satisfies.
//!
//! Each element carries an f64 number that decides which of two elements is larger. The number of a sum is the sum of
//! both numbers, and so on; for a function without a law it depends on the result alone. Programs that are equal by the
//! laws of sums, products, exponentials and maxima compute equal elements. Numbers that f64 rounding cannot distinguish
//! are compared in the order of the field.

use super::{
    Arithmetic, BinaryFunction, FieldElement, FiniteField, RandomArithmetic, UnaryFunction, field::evaluate_by_law,
};
use std::cmp::Ordering;

/// Scale of exponents: the number of `exp(x)` is the exponential of this factor times the number of `x`. The law
/// remains valid, usual numbers do not overflow, and results for small `x` remain distinct.
const EXPONENT_SCALE: f64 = 1.0 / (1_u64 << 32) as f64;

/// Returns the number that orders a random element, between -2 and 2.
fn order_number(element: FieldElement) -> f64 {
    4.0 * element.to_fraction() - 2.0
}

/// Finite-field arithmetic with the order of real numbers.
#[derive(Clone, Copy, Debug)]
pub struct OrderedField(FiniteField);

/// An element and the number that orders it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderedElement {
    element: FieldElement,
    real: f64,
}

impl OrderedField {
    /// Returns the draw with this number.
    #[must_use]
    pub const fn new(draw: u64) -> Self {
        Self(FiniteField::new(draw))
    }

    fn compare_order(&self, left: OrderedElement, right: OrderedElement) -> Ordering {
        if left.element.agrees_with(right.element) {
            return Ordering::Equal;
        }
        let among_reals = left.real.partial_cmp(&right.real).filter(|order| order.is_ne());
        among_reals.unwrap_or_else(|| self.0.compare_order(left.element, right.element))
    }

    /// Selects one of two elements by `is_wanted`; unwritten and undefined elements take precedence.
    fn select_by_order(
        &self,
        [left, right]: [OrderedElement; 2],
        is_wanted: impl Fn(Ordering) -> bool,
        missing: impl Fn(FieldElement, FieldElement) -> FieldElement,
    ) -> OrderedElement {
        if [left, right].iter().any(|one| one.element.is_poison_or_undefined()) {
            return OrderedElement { element: missing(left.element, right.element), real: f64::NAN };
        }
        if is_wanted(self.compare_order(left, right)) { left } else { right }
    }

    fn combine_components(
        left: OrderedElement,
        right: OrderedElement,
        element: impl Fn(FieldElement, FieldElement) -> FieldElement,
        real: impl Fn(f64, f64) -> f64,
    ) -> OrderedElement {
        OrderedElement { element: element(left.element, right.element), real: real(left.real, right.real) }
    }
}

impl RandomArithmetic for OrderedField {
    /// Returns a random element; its number is between -2 and 2.
    fn random_input(&self, tensor: u64, index: u64) -> OrderedElement {
        let element = self.0.random_input(tensor, index);
        OrderedElement { element, real: order_number(element) }
    }

    fn field_element(&self, element: OrderedElement) -> FieldElement {
        element.element
    }
}

impl Arithmetic for OrderedField {
    type Element = OrderedElement;

    fn constant(&self, number: f64) -> OrderedElement {
        OrderedElement { element: self.0.constant(number), real: number }
    }

    fn poison(&self) -> OrderedElement {
        OrderedElement { element: self.0.poison(), real: f64::NAN }
    }

    fn is_poison(&self, element: OrderedElement) -> bool {
        self.0.is_poison(element.element)
    }

    fn is_undefined(&self, element: OrderedElement) -> bool {
        self.0.is_undefined(element.element)
    }

    fn is_zero(&self, element: OrderedElement) -> bool {
        self.0.is_zero(element.element)
    }

    fn add(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        Self::combine_components(left, right, |left, right| self.0.add(left, right), |left, right| left + right)
    }

    fn sub(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        Self::combine_components(left, right, |left, right| self.0.sub(left, right), |left, right| left - right)
    }

    fn mul(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        Self::combine_components(left, right, |left, right| self.0.mul(left, right), |left, right| left * right)
    }

    fn div(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        Self::combine_components(left, right, |left, right| self.0.div(left, right), |left, right| left / right)
    }

    fn maximum(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        self.select_by_order([left, right], Ordering::is_ge, |left, right| self.0.maximum(left, right))
    }

    fn minimum(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        self.select_by_order([left, right], Ordering::is_le, |left, right| self.0.minimum(left, right))
    }

    fn compare(&self, comparison: BinaryFunction, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        if [left, right].iter().any(|one| one.element.is_poison_or_undefined()) {
            return OrderedElement { element: self.0.compare(comparison, left.element, right.element), real: f64::NAN };
        }
        match comparison.evaluate_comparison(&self.compare_order(left, right), &Ordering::Equal) {
            Some(holds) => self.constant(f64::from(u8::from(holds))),
            None => self.poison(),
        }
    }

    fn apply(&self, function: UnaryFunction, constants: &[OrderedElement], x: OrderedElement) -> OrderedElement {
        if let Some(lawful) = evaluate_by_law(self, function, constants, x) {
            return lawful;
        }
        let constants: Vec<FieldElement> = constants.iter().map(|constant| constant.element).collect();
        let element = self.0.apply(function, &constants, x.element);
        OrderedElement {
            element,
            real: if function == UnaryFunction::Exp { (x.real * EXPONENT_SCALE).exp() } else { order_number(element) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERED: OrderedField = OrderedField::new(1 | FiniteField::LAWFUL_BIT | FiniteField::ORDERED_BIT);

    fn draw_inputs() -> [OrderedElement; 3] {
        [0, 1, 2].map(|tensor| ORDERED.random_input(tensor, 5))
    }

    #[test]
    fn commutes_maxima_and_minima_with_addition() {
        for index in 0..200 {
            let [a, b, c] = [0, 1, 2].map(|tensor| ORDERED.random_input(tensor, index));
            let larger = ORDERED.add(ORDERED.maximum(a, b), c);
            assert_eq!(
                ORDERED.field_element(larger),
                ORDERED.field_element(ORDERED.maximum(ORDERED.add(a, c), ORDERED.add(b, c)))
            );
            let smaller = ORDERED.sub(ORDERED.minimum(a, b), c);
            assert_eq!(
                ORDERED.field_element(smaller),
                ORDERED.field_element(ORDERED.minimum(ORDERED.sub(a, c), ORDERED.sub(b, c)))
            );
        }
    }

    #[test]
    fn computes_same_elements_as_field() {
        let field = FiniteField::new(1 | FiniteField::LAWFUL_BIT | FiniteField::ORDERED_BIT);
        let [a, b, c] = draw_inputs();
        let found = ORDERED.apply(UnaryFunction::Silu, &[], ORDERED.div(ORDERED.add(a, b), c));
        let [a, b, c] = [0, 1, 2].map(|tensor| field.random_input(tensor, 5));
        assert_eq!(ORDERED.field_element(found), field.apply(UnaryFunction::Silu, &[], field.div(field.add(a, b), c)));
    }

    #[test]
    fn bounds_elements_by_infinities_and_propagates_missing_elements() {
        let [a, ..] = draw_inputs();
        let number = |number| ORDERED.constant(number);
        assert_eq!(ORDERED.maximum(a, number(f64::NEG_INFINITY)), a);
        assert_eq!(ORDERED.minimum(number(f64::INFINITY), a), a);
        assert!(ORDERED.is_poison(ORDERED.maximum(a, ORDERED.poison())));
        assert!(ORDERED.is_poison(ORDERED.compare(BinaryFunction::Less, ORDERED.poison(), a)));
        assert!(ORDERED.field_element(ORDERED.minimum(number(f64::NAN), a)).is_undefined());
    }

    #[test]
    fn selects_by_real_numbers() {
        for index in 0..50 {
            let x = ORDERED.random_input(0, index);
            let negative = ORDERED.sub(ORDERED.constant(0.0), x);
            assert_eq!(ORDERED.apply(UnaryFunction::Abs, &[], x), if x.real > 0.0 { x } else { negative });
            assert_eq!(
                ORDERED.apply(UnaryFunction::Relu, &[], x),
                if x.real > 0.0 { x } else { ORDERED.constant(0.0) }
            );
            let one = ORDERED.constant(1.0);
            let clipped = ORDERED.apply(UnaryFunction::Clip, &[ORDERED.constant(-1.0), one], x);
            assert_eq!(clipped.real, x.real.clamp(-1.0, 1.0));
            assert_eq!(
                ORDERED.compare(BinaryFunction::Greater, x, one),
                ORDERED.constant(if x.real > 1.0 { 1.0 } else { 0.0 })
            );
        }
    }
}
