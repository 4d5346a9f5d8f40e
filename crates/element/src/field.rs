//! Arithmetic over finite fields. It evaluates a program as a rational function of its inputs and of random functions,
//! which replace the non-algebraic functions. See [`FiniteField`].

use super::{
    Arithmetic, BinaryFunction, RandomArithmetic, UnaryFunction,
    residue::{P, Q, add_mod, invert_residues, negate_mod, pow_base, residue_from_number},
};
use std::cmp::Ordering;

/// Flag of a *spent* element, stored in the second residue. A spent element depends on an exponential or on another
/// hashed function; its second residue is a hash, and comparisons ignore it.
const SPENT_BIT: u32 = 1 << 31;

#[path = "field_product.rs"]
mod product;

/// Element of a [`FiniteField`]: a pair of residues, or an infinity, undefined or poison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldElement {
    /// Residue modulo P, or the code of an infinity, of undefined or of poison.
    first: u32,
    /// Residue modulo Q, and the flag [`SPENT_BIT`].
    second: u32,
}

impl FieldElement {
    const POISON: Self = Self { first: u32::MAX, second: 0 };
    const INFINITY: Self = Self { first: u32::MAX - 1, second: 0 };
    const NEGATIVE_INFINITY: Self = Self { first: u32::MAX - 2, second: 0 };
    const UNDEFINED: Self = Self { first: u32::MAX - 3, second: 0 };
    const ZERO: Self = Self { first: 0, second: 0 };
    const ONE: Self = Self { first: 1, second: 1 };

    const fn is_finite(self) -> bool {
        self.first < P
    }

    /// Returns the second residue without its flag.
    const fn second_without_flag(self) -> u64 {
        (self.second & !SPENT_BIT) as u64
    }

    const fn is_spent(self) -> bool {
        self.second & SPENT_BIT != 0
    }

    const fn new(first: u64, second: u64, is_spent: bool) -> Self {
        Self { first: first as u32, second: second as u32 | if is_spent { SPENT_BIT } else { 0 } }
    }

    /// Returns whether the element is an undefined result, such as a quotient of zeros.
    #[must_use]
    pub const fn is_undefined(self) -> bool {
        self.first == Self::UNDEFINED.first
    }

    /// Returns the result of any function with an operand that is poison (unwritten memory) or undefined: this operand,
    /// with precedence for poison. Returns `None` for other operands.
    fn find_poison_or_undefined(operands: [Self; 2]) -> Option<Self> {
        [Self::POISON, Self::UNDEFINED].into_iter().find(|missing| operands.contains(missing))
    }

    /// Returns whether the element is poison (unwritten) or undefined.
    pub(crate) fn is_poison_or_undefined(self) -> bool {
        Self::find_poison_or_undefined([self, self]).is_some()
    }

    /// Maps the first residue to a number between 0 and 1.
    pub(crate) fn to_fraction(self) -> f64 {
        f64::from(self.first) / f64::from(P)
    }

    /// Returns whether the results of two programs are equal under this draw. Second residues are compared only if
    /// neither element is spent.
    #[must_use]
    pub const fn agrees_with(self, other: Self) -> bool {
        self.first == other.first && (self.second == other.second || self.is_spent() || other.is_spent())
    }
}

/// Finite-field arithmetic with the key of one random draw. The key determines all functions and orders that are not
/// algebraic.
///
/// An element is a pair of a residue modulo P and a residue modulo Q, where P = 2 Q + 1 and both are prime. Sums,
/// differences, products and quotients act on each residue, so results do not depend on the order of evaluation. 4 has
/// the order Q modulo P: `exp` maps the residues (p, q) to the first residue `4^q` modulo P, and so
/// `exp(a + b) = exp(a) exp(b)`. No law defines the second residue of an exponential. It is a hash, and every element
/// that is computed from it is marked as spent. The exponential of a spent element takes a hash of the first residue as
/// its exponent. The exponential of a zero is 1, and a product with a zero is a zero that is not spent. Therefore the
/// law holds if a data-flow path has a single exponential, and equal elements always have equal exponentials. In lawful
/// draws ([`Self::LAWFUL_BIT`]) the law holds for all exponentials, but exponentials of exponentials detect fewer
/// differences.
///
/// If compilers rewrite a function by a law, this law defines the function: `relu(x)` is the maximum of `x` and 0.
/// Every other function is a keyed hash of its name, its constants and the first residue of its operand. Maximum,
/// minimum and comparisons use a keyed total order of the residues modulo P, so maximum and minimum are associative,
/// commutative and idempotent. The order guarantees two more properties: 1 is above 0 unless 0 is the largest, and the
/// largest numbers of f64 are adjacent to the infinities. The infinities are additional elements, the least and the
/// greatest. The undefined result of 0 / 0 is an element, too, distinct from poison (unwritten memory).
///
/// Two elements compare equal if their first residues are equal. Two programs that are different polynomials of degree
/// d agree on a draw with probability at most d / P (Schwartz and Zippel). Hashes of two different operands agree with
/// probability 1 / P. P is nearly 2^31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiniteField {
    key: u64,
    /// Whether zero is larger than every other residue. Otherwise an additional zero operand seldom changes a maximum
    /// of many elements, so the draw seldom detects it.
    is_zero_largest: bool,
    /// Whether the law of exponentials holds for spent elements, too.
    is_lawful: bool,
}

/// Returns the element of a finite number.
const fn element_from_number(number: f64) -> FieldElement {
    FieldElement::new(residue_from_number::<P>(number), residue_from_number::<Q>(number), false)
}

impl FiniteField {
    /// Finite numbers of f64 with the largest magnitude. They are adjacent to the infinities in the order.
    const MIN_FINITE: FieldElement = element_from_number(f64::MIN);
    const MAX_FINITE: FieldElement = element_from_number(f64::MAX);

    /// Bit of the draw number that selects a lawful draw: `exp(a + b) = exp(a) exp(b)` also holds on paths with several
    /// exponentials. The second residue of every exponential is then 1, so that an exponential of an exponential does
    /// not depend on the inner operand.
    pub const LAWFUL_BIT: u64 = 1 << 63;

    /// Bit of the draw number that selects an ordered draw: a maximum commutes with an addition to all of its operands
    /// ([`super::OrderedField`]).
    pub const ORDERED_BIT: u64 = 1 << 62;

    /// Returns the arithmetic of the draw with this number.
    #[must_use]
    pub const fn new(draw: u64) -> Self {
        Self {
            key: mix_bits(draw ^ 0x5370_7972_6521_f1e1),
            is_zero_largest: draw % 3 == 2,
            is_lawful: draw & Self::LAWFUL_BIT != 0,
        }
    }

    /// Returns a pseudorandom element: the keyed hash of two numbers.
    const fn hash_element(&self, input: u64, name: u64, is_spent: bool) -> FieldElement {
        let bits = mix_bits(self.key ^ mix_bits(input ^ mix_bits(name)));
        FieldElement::new(bits % P as u64, mix_bits(bits) % Q as u64, is_spent)
    }

    /// Compares two elements in the order that maxima use.
    pub(crate) fn compare_order(&self, left: FieldElement, right: FieldElement) -> Ordering {
        self.rank(left).cmp(&self.rank(right))
    }

    /// Returns the rank of an element in the keyed order.
    fn rank(&self, element: FieldElement) -> u64 {
        let keyed = |first: u32| 1 + (mix_bits(self.key ^ mix_bits(u64::from(first) ^ 0x0d_e500)) >> 1);
        match element {
            FieldElement::NEGATIVE_INFINITY => 0,
            FieldElement::INFINITY => u64::MAX,
            // The largest finite numbers are adjacent to the infinities, so a clamp to them changes infinities only.
            _ if element == Self::MIN_FINITE => 1,
            _ if element == Self::MAX_FINITE => u64::MAX - 1,
            FieldElement { first: 0, .. } if self.is_zero_largest => u64::MAX - 2,
            // 1 ranks above 0, because programs compute the maximum of a divisor and 1 to avoid a division by 0.
            FieldElement { first: 0, .. } => keyed(0).min(keyed(1)),
            FieldElement { first: 1, .. } => keyed(0).max(keyed(1)),
            FieldElement { first, .. } => keyed(first),
        }
    }

    /// Returns a keyed hash of an element, for a function without a law. `name` stands for the function, `constants`
    /// are its parameters.
    fn hash_function(&self, name: u64, constants: &[FieldElement], x: FieldElement) -> FieldElement {
        let constants = constants.iter().fold(0, |all, constant| mix_bits(all ^ u64::from(constant.first)));
        self.hash_element(u64::from(x.first) ^ mix_bits(constants), name, true)
    }

    fn exp(&self, x: FieldElement) -> FieldElement {
        match x {
            FieldElement::NEGATIVE_INFINITY => FieldElement::ZERO,
            FieldElement::INFINITY => x,
            FieldElement { first: 0, .. } if x != FieldElement::ZERO => self.exp(FieldElement::ZERO),
            _ if self.is_lawful => FieldElement::new(pow_base(x.second_without_flag()), 1, false),
            _ => {
                let exponent = if x.is_spent() {
                    self.hash_element(u64::from(x.first), 0x0e_c400, true).second_without_flag()
                } else {
                    x.second_without_flag()
                };
                let first = pow_base(exponent);
                FieldElement { first: first as u32, ..self.hash_element(first, 0x0e_c401, true) }
            }
        }
    }
}

/// Evaluates a function that a law defines in terms of other functions; returns `None` for all other functions.
/// Compilers may rewrite functions by these laws.
pub(crate) fn evaluate_by_law<A: Arithmetic>(
    arithmetic: &A,
    function: UnaryFunction,
    constants: &[A::Element],
    x: A::Element,
) -> Option<A::Element> {
    if let Some([numerator, denominator]) = find_quotient(arithmetic, function, x) {
        return Some(apply_quotient(arithmetic, function, x, arithmetic.div(numerator, denominator)));
    }
    let zero = || arithmetic.constant(0.0);
    let negative = || arithmetic.sub(zero(), x);
    let constant_at = |index: usize| constants.get(index).copied().unwrap_or_else(|| arithmetic.poison());
    Some(match function {
        UnaryFunction::Abs => arithmetic.maximum(x, negative()),
        UnaryFunction::Neg => negative(),
        UnaryFunction::Relu => arithmetic.maximum(x, zero()),
        UnaryFunction::Clip => arithmetic.minimum(arithmetic.maximum(x, constant_at(0)), constant_at(1)),
        UnaryFunction::Exp
        | UnaryFunction::Floor
        | UnaryFunction::Log
        | UnaryFunction::Sqrt
        | UnaryFunction::Tanh
        | UnaryFunction::Softplus => return None,
        // `find_quotient` defines these functions.
        UnaryFunction::Gelu
        | UnaryFunction::Reciprocal
        | UnaryFunction::Rsqrt
        | UnaryFunction::Sigmoid
        | UnaryFunction::Silu => {
            return None;
        }
    })
}

/// Returns the result of a function at `x`, given its quotient: a silu is `x` times the quotient, the other functions
/// are the quotient itself.
fn apply_quotient<A: Arithmetic>(
    arithmetic: &A,
    function: UnaryFunction,
    x: A::Element,
    quotient: A::Element,
) -> A::Element {
    if function == UnaryFunction::Silu { arithmetic.mul(x, quotient) } else { quotient }
}

/// Returns the numerator and the denominator of the quotient that defines a function; `None` for all other functions.
fn find_quotient<A: Arithmetic>(arithmetic: &A, function: UnaryFunction, x: A::Element) -> Option<[A::Element; 2]> {
    let one = || arithmetic.constant(1.0);
    let one_plus_exp = |exponent| arithmetic.add(one(), arithmetic.apply(UnaryFunction::Exp, &[], exponent));
    match function {
        // `x / (1 + exp(-x (819/512 + 570/8192 x^2)))`: the law by which compilers may expand a gelu.
        UnaryFunction::Gelu => {
            let scaled = arithmetic.mul(arithmetic.mul(x, x), arithmetic.constant(-570.0 / 8192.0));
            Some([x, one_plus_exp(arithmetic.mul(x, arithmetic.add(scaled, arithmetic.constant(-819.0 / 512.0))))])
        }
        UnaryFunction::Reciprocal => Some([one(), x]),
        UnaryFunction::Rsqrt => Some([one(), arithmetic.apply(UnaryFunction::Sqrt, &[], x)]),
        UnaryFunction::Sigmoid | UnaryFunction::Silu => {
            Some([one(), one_plus_exp(arithmetic.sub(arithmetic.constant(0.0), x))])
        }
        _ => None,
    }
}

impl RandomArithmetic for FiniteField {
    fn random_input(&self, tensor: u64, index: u64) -> FieldElement {
        self.hash_element(mix_bits(tensor ^ mix_bits(index)), 0x1a_9117, false)
    }

    fn field_element(&self, element: FieldElement) -> FieldElement {
        element
    }
}

impl Arithmetic for FiniteField {
    type Element = FieldElement;

    /// Maps a number to its element. A finite number is an integer divided by a power of two, which has an inverse in
    /// both fields.
    fn constant(&self, number: f64) -> FieldElement {
        if !number.is_finite() {
            return match number {
                f64::INFINITY => FieldElement::INFINITY,
                f64::NEG_INFINITY => FieldElement::NEGATIVE_INFINITY,
                _ => FieldElement::UNDEFINED,
            };
        }
        element_from_number(number)
    }

    fn poison(&self) -> FieldElement {
        FieldElement::POISON
    }

    fn is_poison(&self, element: FieldElement) -> bool {
        element == FieldElement::POISON
    }

    fn is_undefined(&self, element: FieldElement) -> bool {
        element.is_undefined()
    }

    fn is_zero(&self, element: FieldElement) -> bool {
        element.first == 0
    }

    fn add(&self, left: FieldElement, right: FieldElement) -> FieldElement {
        if left.is_finite() && right.is_finite() {
            let first = add_mod(u64::from(left.first), u64::from(right.first), P);
            return FieldElement::new(
                first,
                add_mod(left.second_without_flag(), right.second_without_flag(), Q),
                left.is_spent() || right.is_spent(),
            );
        }
        match (left, right) {
            _ if let Some(missing) = FieldElement::find_poison_or_undefined([left, right]) => missing,
            (infinite, other) | (other, infinite) if other.is_finite() || other == infinite => infinite,
            _ => FieldElement::UNDEFINED,
        }
    }

    fn sub(&self, left: FieldElement, right: FieldElement) -> FieldElement {
        let negative = match right {
            FieldElement::INFINITY => FieldElement::NEGATIVE_INFINITY,
            FieldElement::NEGATIVE_INFINITY => FieldElement::INFINITY,
            FieldElement::POISON | FieldElement::UNDEFINED => right,
            _ => FieldElement::new(
                negate_mod(u64::from(right.first), P),
                negate_mod(right.second_without_flag(), Q),
                right.is_spent(),
            ),
        };
        self.add(left, negative)
    }

    /// Multiplies. An infinity times a residue is that infinity, as if the residue were positive; times -1 it is the
    /// opposite infinity.
    fn mul(&self, left: FieldElement, right: FieldElement) -> FieldElement {
        if left.is_finite() && right.is_finite() {
            if left.first == 0 || right.first == 0 {
                return FieldElement::ZERO;
            }
            let first = u64::from(left.first) * u64::from(right.first) % u64::from(P);
            let second = left.second_without_flag() * right.second_without_flag() % u64::from(Q);
            return FieldElement::new(first, second, left.is_spent() || right.is_spent());
        }
        match (left, right) {
            _ if let Some(missing) = FieldElement::find_poison_or_undefined([left, right]) => missing,
            (infinite, other) | (other, infinite) if other.is_finite() => match other.first {
                0 => FieldElement::UNDEFINED,
                first if first == P - 1 => self.sub(FieldElement::ZERO, infinite),
                _ => infinite,
            },
            (left, right) if left == right => FieldElement::INFINITY,
            _ => FieldElement::NEGATIVE_INFINITY,
        }
    }

    /// Divides. A non-zero residue divided by zero is an infinity.
    fn div(&self, left: FieldElement, right: FieldElement) -> FieldElement {
        match right {
            _ if let Some(missing) = FieldElement::find_poison_or_undefined([left, right]) => missing,
            FieldElement::INFINITY | FieldElement::NEGATIVE_INFINITY if left.is_finite() => FieldElement::ZERO,
            FieldElement::INFINITY | FieldElement::NEGATIVE_INFINITY => FieldElement::UNDEFINED,
            _ if right.first == 0 && left.first == 0 => FieldElement::UNDEFINED,
            _ if right.first == 0 => self.mul(FieldElement::INFINITY, left),
            _ => {
                let [first, second] = invert_residues([
                    right.first.into(),
                    if right.is_spent() { 0 } else { right.second_without_flag() },
                ]);
                self.mul(left, FieldElement::new(first, second, right.is_spent()))
            }
        }
    }

    fn maximum(&self, left: FieldElement, right: FieldElement) -> FieldElement {
        match (left, right) {
            _ if let Some(missing) = FieldElement::find_poison_or_undefined([left, right]) => missing,
            _ if self.rank(left) >= self.rank(right) => left,
            _ => right,
        }
    }

    fn minimum(&self, left: FieldElement, right: FieldElement) -> FieldElement {
        match (left, right) {
            _ if let Some(missing) = FieldElement::find_poison_or_undefined([left, right]) => missing,
            _ if self.rank(left) <= self.rank(right) => left,
            _ => right,
        }
    }

    fn compare(&self, comparison: BinaryFunction, left: FieldElement, right: FieldElement) -> FieldElement {
        if let Some(missing) = FieldElement::find_poison_or_undefined([left, right]) {
            return missing;
        }
        match comparison.evaluate_comparison(&self.rank(left), &self.rank(right)) {
            Some(true) => FieldElement::ONE,
            Some(false) => FieldElement::ZERO,
            None => FieldElement::POISON,
        }
    }

    fn apply(&self, function: UnaryFunction, constants: &[FieldElement], x: FieldElement) -> FieldElement {
        if self.is_poison(x) || x.is_undefined() {
            return x;
        }
        if let Some(result) = evaluate_by_law(self, function, constants, x) {
            return result;
        }
        if function == UnaryFunction::Exp { self.exp(x) } else { self.hash_function(function as u64, constants, x) }
    }

    fn apply_unary(&self, function: UnaryFunction, constants: &[FieldElement], elements: &mut [FieldElement]) {
        if find_quotient(self, function, FieldElement::ONE).is_none() {
            return elements.iter_mut().for_each(|x| *x = self.apply(function, constants, *x));
        }
        for elements in elements.chunks_mut(INVERSION_BATCH) {
            // Poison and undefined elements are divided by 1, which does not change them.
            let fractions = elements.iter().map(|x| {
                find_quotient(self, function, *x)
                    .filter(|_| !x.is_poison_or_undefined())
                    .unwrap_or([*x, FieldElement::ONE])
            });
            let (mut quotients, denominators): (Vec<_>, Vec<_>) =
                fractions.map(|[numerator, denominator]| (numerator, denominator)).unzip();
            self.divide_all(&mut quotients, &denominators);
            for (x, quotient) in elements.iter_mut().zip(quotients) {
                *x = apply_quotient(self, function, *x, quotient);
            }
        }
    }

    fn divide_all(&self, left: &mut [FieldElement], right: &[FieldElement]) {
        for (left, right) in left.chunks_mut(INVERSION_BATCH).zip(right.chunks(INVERSION_BATCH)) {
            for ((left, right), inverse) in left.iter_mut().zip(right).zip(invert_batch(right)) {
                *left = inverse.map_or_else(|| self.div(*left, *right), |inverse| self.mul(*left, inverse));
            }
        }
    }

    fn multiply(&self, left: &[FieldElement], right: &[FieldElement], out: &mut [FieldElement], k: usize, n: usize) {
        self.multiply_matrices(left, right, out, k, n);
    }
}

/// Number of elements that are inverted together.
const INVERSION_BATCH: usize = 64;

/// Returns the inverses of up to [`INVERSION_BATCH`] elements; `None` for zero, infinities, undefined and poison.
///
/// An inverse costs as much as 60 multiplications, so only the product of all elements is inverted (Montgomery's
/// trick). The inverse of an element is the inverse of the product up to and including it, times the product of the
/// elements before it.
fn invert_batch(elements: &[FieldElement]) -> impl Iterator<Item = Option<FieldElement>> {
    let is_invertible = |element: FieldElement| element.is_finite() && element.first != 0;
    // Zeros, elements without residues, and spent second residues count as 1.
    let factors = |element: FieldElement| match is_invertible(element) {
        true if element.is_spent() || element.second == 0 => [element.first.into(), 1],
        true => [element.first.into(), element.second_without_flag()],
        false => [1, 1],
    };
    let multiply_residues =
        |[p, q]: [u64; 2], [first, second]: [u64; 2]| [p * first % u64::from(P), q * second % u64::from(Q)];
    let mut products = [[1; 2]; INVERSION_BATCH + 1];
    for (index, element) in elements.iter().enumerate() {
        products[index + 1] = multiply_residues(products[index], factors(*element));
    }
    let mut inverse = invert_residues(products[elements.len()]);
    let mut found = [None; INVERSION_BATCH];
    for (index, &element) in elements.iter().enumerate().rev() {
        let [first, second] = multiply_residues(inverse, products[index]);
        let second = if element.is_spent() || element.second == 0 { 0 } else { second };
        found[index] = is_invertible(element).then(|| FieldElement::new(first, second, element.is_spent()));
        inverse = multiply_residues(inverse, factors(element));
    }
    found.into_iter().take(elements.len())
}

/// Mixes the bits of a number (the finalizer of `SplitMix64`).
#[must_use]
pub const fn mix_bits(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
#[path = "field_tests.rs"]
mod tests;
