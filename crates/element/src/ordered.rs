//! Field elements in the order of real numbers: `max(a, b) + c = max(a + c, b + c)` holds, which no order of residues satisfies.
//!
//! Each element carries an f64 number that decides which of two elements is larger: for a sum the sum of both numbers, and so on; for a
//! function without a law, a number that depends on the result alone. Two programs that are equal by the laws of sums, products,
//! exponentials and maxima compute equal elements, except for numbers that f64 rounding cannot tell apart: these are compared in the order
//! of the field.

use super::{Arithmetic, Binary, Draw, Field, FieldElement, Unary, field::by_law};
use std::cmp::Ordering;

/// Scale of exponents: the order of `exp(x)` is the exponential of this factor times `x`. The law stays valid, numbers that programs
/// compute do not overflow, and results for small `x` stay distinct.
const GROWTH: f64 = 1.0 / (1_u64 << 32) as f64;

/// Returns the order number of a random element, between -2 and 2.
fn number_of(element: FieldElement) -> f64 {
    4.0 * element.fraction() - 2.0
}

/// A field with the order of real numbers.
#[derive(Clone, Copy, Debug)]
pub struct Ordered(Field);

/// An element, and the number that orders it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderedElement {
    element: FieldElement,
    real: f64,
}

impl Ordered {
    /// Returns the draw of a number.
    #[must_use]
    pub const fn new(draw: u64) -> Self {
        Self(Field::new(draw))
    }

    fn order(&self, left: OrderedElement, right: OrderedElement) -> Ordering {
        if left.element.agrees(right.element) {
            return Ordering::Equal;
        }
        let among_reals = left.real.partial_cmp(&right.real).filter(|order| order.is_ne());
        among_reals.unwrap_or_else(|| self.0.order(left.element, right.element))
    }

    /// Selects one of two elements by `is_wanted`; unwritten and undefined elements take precedence.
    fn either(
        &self,
        [left, right]: [OrderedElement; 2],
        is_wanted: impl Fn(Ordering) -> bool,
        missing: impl Fn(FieldElement, FieldElement) -> FieldElement,
    ) -> OrderedElement {
        if [left, right].iter().any(|one| one.element.is_missing()) {
            return OrderedElement { element: missing(left.element, right.element), real: f64::NAN };
        }
        if is_wanted(self.order(left, right)) { left } else { right }
    }

    fn both(
        left: OrderedElement,
        right: OrderedElement,
        element: impl Fn(FieldElement, FieldElement) -> FieldElement,
        real: impl Fn(f64, f64) -> f64,
    ) -> OrderedElement {
        OrderedElement { element: element(left.element, right.element), real: real(left.real, right.real) }
    }
}

impl Draw for Ordered {
    /// The number is between -2 and 2.
    fn input(&self, tensor: u64, index: u64) -> OrderedElement {
        let element = self.0.input(tensor, index);
        OrderedElement { element, real: number_of(element) }
    }

    fn seen(&self, element: OrderedElement) -> FieldElement {
        element.element
    }
}

impl Arithmetic for Ordered {
    type Element = OrderedElement;

    fn number(&self, number: f64) -> OrderedElement {
        OrderedElement { element: self.0.number(number), real: number }
    }

    fn poison(&self) -> OrderedElement {
        OrderedElement { element: self.0.poison(), real: f64::NAN }
    }

    fn is_poison(&self, element: OrderedElement) -> bool {
        self.0.is_poison(element.element)
    }

    fn is_zero(&self, element: OrderedElement) -> bool {
        self.0.is_zero(element.element)
    }

    fn add(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        Self::both(left, right, |left, right| self.0.add(left, right), |left, right| left + right)
    }

    fn sub(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        Self::both(left, right, |left, right| self.0.sub(left, right), |left, right| left - right)
    }

    fn mul(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        Self::both(left, right, |left, right| self.0.mul(left, right), |left, right| left * right)
    }

    fn div(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        Self::both(left, right, |left, right| self.0.div(left, right), |left, right| left / right)
    }

    fn maximum(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        self.either([left, right], Ordering::is_ge, |left, right| self.0.maximum(left, right))
    }

    fn minimum(&self, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        self.either([left, right], Ordering::is_le, |left, right| self.0.minimum(left, right))
    }

    fn compare(&self, comparison: Binary, left: OrderedElement, right: OrderedElement) -> OrderedElement {
        if [left, right].iter().any(|one| one.element.is_missing()) {
            return OrderedElement { element: self.0.compare(comparison, left.element, right.element), real: f64::NAN };
        }
        match comparison.holds(&self.order(left, right), &Ordering::Equal) {
            Some(holds) => self.number(f64::from(u8::from(holds))),
            None => self.poison(),
        }
    }

    fn apply(&self, function: Unary, constants: &[OrderedElement], x: OrderedElement) -> OrderedElement {
        if let Some(lawful) = by_law(self, function, constants, x) {
            return lawful;
        }
        let constants: Vec<FieldElement> = constants.iter().map(|constant| constant.element).collect();
        let element = self.0.apply(function, &constants, x.element);
        OrderedElement { element, real: if function == Unary::Exp { (x.real * GROWTH).exp() } else { number_of(element) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERED: Ordered = Ordered::new(1 | Field::LAWFUL | Field::ORDERED);

    fn inputs() -> [OrderedElement; 3] {
        [0, 1, 2].map(|tensor| ORDERED.input(tensor, 5))
    }

    #[test]
    fn maxima_and_minima_move_with_what_is_added() {
        for index in 0..200 {
            let [a, b, c] = [0, 1, 2].map(|tensor| ORDERED.input(tensor, index));
            let larger = ORDERED.add(ORDERED.maximum(a, b), c);
            assert_eq!(ORDERED.seen(larger), ORDERED.seen(ORDERED.maximum(ORDERED.add(a, c), ORDERED.add(b, c))));
            let smaller = ORDERED.sub(ORDERED.minimum(a, b), c);
            assert_eq!(ORDERED.seen(smaller), ORDERED.seen(ORDERED.minimum(ORDERED.sub(a, c), ORDERED.sub(b, c))));
        }
    }

    #[test]
    fn the_elements_are_those_of_the_field() {
        let field = Field::new(1 | Field::LAWFUL | Field::ORDERED);
        let [a, b, c] = inputs();
        let found = ORDERED.apply(Unary::Silu, &[], ORDERED.div(ORDERED.add(a, b), c));
        let [a, b, c] = [0, 1, 2].map(|tensor| field.input(tensor, 5));
        assert_eq!(ORDERED.seen(found), field.apply(Unary::Silu, &[], field.div(field.add(a, b), c)));
    }

    #[test]
    fn infinities_bound_all_and_what_is_missing_shows() {
        let [a, ..] = inputs();
        let number = |number| ORDERED.number(number);
        assert_eq!(ORDERED.maximum(a, number(f64::NEG_INFINITY)), a);
        assert_eq!(ORDERED.minimum(number(f64::INFINITY), a), a);
        assert!(ORDERED.is_poison(ORDERED.maximum(a, ORDERED.poison())));
        assert!(ORDERED.is_poison(ORDERED.compare(Binary::Less, ORDERED.poison(), a)));
        assert!(ORDERED.seen(ORDERED.minimum(number(f64::NAN), a)).is_undefined());
    }

    #[test]
    fn functions_that_choose_follow_the_numbers() {
        for index in 0..50 {
            let x = ORDERED.input(0, index);
            let negative = ORDERED.sub(ORDERED.number(0.0), x);
            assert_eq!(ORDERED.apply(Unary::Abs, &[], x), if x.real > 0.0 { x } else { negative });
            assert_eq!(ORDERED.apply(Unary::Relu, &[], x), if x.real > 0.0 { x } else { ORDERED.number(0.0) });
            let one = ORDERED.number(1.0);
            let clipped = ORDERED.apply(Unary::Clip, &[ORDERED.number(-1.0), one], x);
            assert_eq!(clipped.real, x.real.clamp(-1.0, 1.0));
            assert_eq!(ORDERED.compare(Binary::Greater, x, one), ORDERED.number(if x.real > 1.0 { 1.0 } else { 0.0 }));
        }
    }
}
