use super::super::{
    Reduction,
    residue::{BASE, power},
};
use super::*;

const DRAW: Field = Field::new(7);

fn inputs() -> Vec<FieldElement> {
    (0..40).map(|index| DRAW.input(1, index)).collect()
}

/// Random elements, in addition to the infinities.
fn values() -> Vec<FieldElement> {
    let special = [FieldElement::ZERO, FieldElement::ONE, FieldElement::INFINITY, FieldElement::NEGATIVE_INFINITY];
    inputs().into_iter().take(8).chain(special).collect()
}

#[test]
fn the_moduli_are_a_safe_prime_and_its_half() {
    let is_prime = |number: u32| (2..).take_while(|factor| factor * factor <= number).all(|factor| !number.is_multiple_of(factor));
    assert!(P == 2 * Q + 1 && is_prime(Q) && (2..46_341).all(|factor| !P.is_multiple_of(factor)));
    assert_eq!((power::<P>(BASE, u64::from(Q)), BASE != 1), (1, true), "the order of the base divides Q, which is prime");
}

#[test]
fn numbers_keep_their_sums_and_products() {
    for (a, b) in [(0.5, 0.25), (3.0, -7.125), (1e-5, 2.0), (1.5e9, -1e-9), (0.0, 4.0)] {
        let (left, right) = (DRAW.number(a), DRAW.number(b));
        assert_eq!(DRAW.mul(left, DRAW.number(2.0)), DRAW.number(2.0 * a));
        // Multiples of one power of two add up without rounding.
        let (a, b) = (f64::trunc(a * 1024.0) / 1024.0, f64::trunc(b * 1024.0) / 1024.0);
        assert_eq!(DRAW.add(DRAW.number(a), DRAW.number(b)), DRAW.number(a + b), "{a} + {b}");
        assert_eq!(DRAW.mul(left, right), DRAW.mul(right, left));
    }
    assert_eq!(DRAW.number(-0.0), FieldElement::ZERO);
    assert_eq!(DRAW.number(f64::MIN_POSITIVE / 4.0), DRAW.mul(DRAW.number(f64::MIN_POSITIVE), DRAW.number(0.25)));
    assert!(DRAW.number(f64::NAN).is_undefined());
}

#[test]
fn sums_and_products_do_not_know_an_order() {
    let all = inputs();
    let forward = all.iter().fold(FieldElement::ZERO, |sum, x| DRAW.add(sum, *x));
    let backward = all.iter().rev().fold(FieldElement::ZERO, |sum, x| DRAW.add(sum, *x));
    assert_eq!(forward, backward);
    for window in all.windows(3) {
        let [a, b, c] = [window[0], window[1], window[2]];
        assert_eq!(DRAW.mul(a, DRAW.add(b, c)), DRAW.add(DRAW.mul(a, b), DRAW.mul(a, c)));
        assert_eq!(DRAW.mul(DRAW.div(a, b), b), a);
        assert_eq!(DRAW.add(DRAW.sub(a, b), b), a);
    }
}

#[test]
fn an_exponential_of_a_sum_is_the_product() {
    for pair in inputs().windows(2) {
        let sum = DRAW.apply(Unary::Exp, &[], DRAW.add(pair[0], pair[1]));
        let product = DRAW.mul(DRAW.apply(Unary::Exp, &[], pair[0]), DRAW.apply(Unary::Exp, &[], pair[1]));
        assert!(sum.agrees(product));
        // Behind it nothing depends on the part that differs.
        for function in [Unary::Exp, Unary::Tanh, Unary::Log, Unary::Silu] {
            assert!(DRAW.apply(function, &[], sum).agrees(DRAW.apply(function, &[], product)), "{function:?}");
        }
        assert_eq!(DRAW.rank(sum), DRAW.rank(product));
    }
    assert_eq!(DRAW.apply(Unary::Exp, &[], FieldElement::NEGATIVE_INFINITY), FieldElement::ZERO);
    assert!(DRAW.apply(Unary::Exp, &[], FieldElement::ZERO).agrees(FieldElement::ONE));
}

/// The softmax values do not depend on the subtracted maximum.
#[test]
fn a_softmax_is_free_of_its_shift() {
    let shares = |shift: FieldElement| {
        let powers: Vec<FieldElement> = inputs().iter().map(|x| DRAW.apply(Unary::Exp, &[], DRAW.sub(*x, shift))).collect();
        let sum = powers.iter().fold(FieldElement::ZERO, |sum, power| DRAW.add(sum, *power));
        powers.into_iter().map(|power| DRAW.div(power, sum)).collect::<Vec<_>>()
    };
    let (one, other) = (shares(DRAW.input(2, 0)), shares(DRAW.input(2, 1)));
    assert!(one.iter().zip(&other).all(|(one, other)| one.agrees(*other)));
}

#[test]
fn a_maximum_is_an_order_and_nothing_else() {
    for a in values() {
        for b in values() {
            assert_eq!(DRAW.maximum(a, b), DRAW.maximum(b, a));
            assert_eq!(DRAW.add(FieldElement::ZERO, DRAW.minimum(a, b)), DRAW.minimum(b, a));
            assert_eq!(DRAW.maximum(a, DRAW.maximum(a, b)), DRAW.maximum(a, b));
            assert_eq!(DRAW.compare(Binary::Greater, a, b), DRAW.compare(Binary::Less, b, a));
        }
        assert_eq!(DRAW.maximum(a, DRAW.identity(Reduction::Max)), a);
        assert_eq!(DRAW.minimum(a, DRAW.identity(Reduction::Min)), a);
    }
}

#[test]
fn functions_with_a_law_are_that_law() {
    let one = FieldElement::ONE;
    for x in inputs() {
        let negative = DRAW.mul(x, DRAW.number(-1.0));
        assert_eq!(DRAW.apply(Unary::Neg, &[], x), negative);
        assert_eq!(DRAW.apply(Unary::Relu, &[], x), DRAW.maximum(FieldElement::ZERO, x));
        assert_eq!(DRAW.apply(Unary::Abs, &[], x), DRAW.apply(Unary::Abs, &[], negative));
        let logistic = DRAW.div(one, DRAW.add(one, DRAW.apply(Unary::Exp, &[], negative)));
        assert_eq!(DRAW.apply(Unary::Sigmoid, &[], x), logistic);
        assert_eq!(DRAW.apply(Unary::Silu, &[], x), DRAW.mul(logistic, x));
        assert_eq!(DRAW.apply(Unary::Rsqrt, &[], x), DRAW.div(one, DRAW.apply(Unary::Sqrt, &[], x)));
    }
}

#[test]
fn other_functions_keys_and_operands_give_other_elements() {
    let x = DRAW.input(1, 0);
    let functions = [Unary::Floor, Unary::Log, Unary::Sqrt, Unary::Tanh, Unary::Exp, Unary::Neg, Unary::Gelu, Unary::Silu];
    let found: Vec<FieldElement> = functions.iter().map(|function| DRAW.apply(*function, &[], x)).collect();
    assert!((0..found.len()).all(|index| !found[..index].iter().any(|other| other.agrees(found[index]))));
    assert!(!DRAW.apply(Unary::Tanh, &[], x).agrees(DRAW.apply(Unary::Tanh, &[], DRAW.input(1, 1))));
    assert!(!DRAW.apply(Unary::Tanh, &[], x).agrees(Field::new(8).apply(Unary::Tanh, &[], x)));
    let softplus = |beta: f64| DRAW.apply(Unary::Softplus, &[DRAW.number(beta), DRAW.number(20.0)], x);
    assert!(!softplus(1.0).agrees(softplus(2.0)));
}

#[test]
fn poison_stays_but_for_zero_products_and_choices() {
    let (x, poison) = (DRAW.input(1, 0), FieldElement::POISON);
    for other in values() {
        for function in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Maximum, Binary::Minimum, Binary::Equal] {
            for [mut left, right] in [[[poison], [other]], [[other], [poison]]] {
                DRAW.binary(function, &mut left, &right);
                assert_eq!(left[0], poison, "{function:?} of {other:?}");
            }
        }
    }
    assert_eq!(DRAW.select(FieldElement::ONE, x, poison), x);
    assert_eq!(DRAW.select(FieldElement::ZERO, poison, x), x);
    assert_eq!(DRAW.select(poison, x, x), poison);
    let mut out = [FieldElement::ZERO];
    DRAW.multiply(&[x, poison], &[x, FieldElement::ZERO], &mut out, 2, 1);
    assert_eq!(out, [DRAW.mul(x, x)]);
    DRAW.multiply(&[x, poison], &[x, x], &mut out, 2, 1);
    assert_eq!(out, [poison]);
}

#[test]
fn products_are_those_of_single_steps() {
    (300..304).for_each(products_of_so_many);
}

/// Other rows and columns, and zero padding, do not change an element: zero queries next to exponentials, for instance.
#[test]
fn what_is_spent_depends_on_its_own_factors_alone() {
    let (x, spent) = (DRAW.input(1, 0), DRAW.apply(Unary::Exp, &[], DRAW.input(1, 1)));
    let zero = FieldElement::ZERO;
    let spent_zero = DRAW.sub(spent, spent);
    let exp = |x| DRAW.apply(Unary::Exp, &[], x);
    assert!(spent_zero.is_spent() && exp(spent_zero) == exp(zero) && DRAW.mul(spent_zero, x) == zero);
    let factors = [x, spent, zero, spent_zero];
    for (a, b) in factors.into_iter().flat_map(|a| factors.map(|b| (a, b))) {
        // Each column alone, with other columns, and with padded rows.
        let alone = factors.map(|right| {
            let mut out = [zero];
            DRAW.multiply(&[a, b], &[right, x], &mut out, 2, 1);
            assert_eq!(exp(out[0]), exp(DRAW.add(DRAW.mul(a, right), DRAW.mul(b, x))), "{a:?} {right:?} + {b:?} {x:?}");
            out[0]
        });
        let mut beside = [zero; 8];
        let right: Vec<FieldElement> = factors.into_iter().chain([x; 4]).chain([spent; 4]).collect();
        DRAW.multiply(&[a, b, zero, x, x, spent_zero], &right, &mut beside, 3, 4);
        assert_eq!(beside[..4].iter().map(|x| exp(*x)).collect::<Vec<_>>(), alone.map(exp));
    }
}

#[test]
fn powers_of_the_base_are_those_of_single_steps() {
    let mut product = 1;
    for exponent in 0..70_000 {
        assert_eq!(exponential(exponent), product);
        product = product * BASE % u64::from(P);
    }
    for exponent in [1 << 24, 0x2345_6789, u64::from(Q) - 1] {
        assert_eq!(exponential(exponent), power::<P>(BASE, exponent));
    }
}

#[test]
fn inverses_times_residues_are_one() {
    assert_eq!(inverses([0, 0]), [0, 0]);
    for index in 0..1000 {
        let FieldElement { first, second } = DRAW.input(5, index);
        let [p, q] = inverses([first.into(), second.into()]);
        assert_eq!([p * u64::from(first) % u64::from(P), q * u64::from(second) % u64::from(Q)], [1, 1]);
    }
}

/// Elements of all kinds, many of each.
fn all_kinds() -> Vec<FieldElement> {
    let spent = |index| DRAW.apply(Unary::Exp, &[], DRAW.input(6, index));
    let special = [
        FieldElement::ZERO,
        FieldElement::INFINITY,
        FieldElement::NEGATIVE_INFINITY,
        FieldElement::UNDEFINED,
        FieldElement::POISON,
        FieldElement::new(5, 0, false),
        DRAW.sub(spent(0), spent(0)),
    ];
    let mixed = (0..200).flat_map(|index| [DRAW.input(7, index), spent(index), special[index as usize % special.len()]]);
    mixed.collect()
}

#[test]
fn many_quotients_are_those_of_single_elements() {
    let right = all_kinds();
    for shift in 0..right.len().min(40) {
        let mut left = right.clone();
        left.rotate_left(shift);
        let single: Vec<FieldElement> = left.iter().zip(&right).map(|(left, right)| DRAW.div(*left, *right)).collect();
        DRAW.binary(Binary::Div, &mut left, &right);
        assert_eq!(left, single);
    }
    let functions = [Unary::Reciprocal, Unary::Rsqrt, Unary::Sigmoid, Unary::Silu, Unary::Gelu, Unary::Abs, Unary::Tanh];
    for function in functions {
        let mut many = right.clone();
        let single: Vec<FieldElement> = right.iter().map(|x| DRAW.apply(function, &[], *x)).collect();
        DRAW.unary(function, &[], &mut many);
        assert_eq!(many, single, "{function:?}");
    }
}

#[test]
fn numbers_scale_with_powers_of_two() {
    let power = |exponent: i64| f64::from_bits(if exponent < -1022 { 1 << (exponent + 1074) } else { ((exponent + 1023) as u64) << 52 });
    for exponent in -1073..=1023 {
        let [half, whole] = [exponent - 1, exponent].map(|exponent| DRAW.number(power(exponent)));
        assert_eq!(DRAW.add(half, half), whole, "2^{exponent}");
    }
    assert_eq!(DRAW.number(1.0), FieldElement::ONE);
    assert_eq!(DRAW.mul(DRAW.number(f64::MAX), DRAW.number(f64::from_bits(1))), DRAW.number(2.0_f64.powi(-50) - 2.0_f64.powi(-103)));
}

fn products_of_so_many(k: u64) {
    let (m, n) = (3, 5);
    let left: Vec<FieldElement> = (0..m * k).map(|index| DRAW.input(3, index)).collect();
    let mut right: Vec<FieldElement> = (0..k * n).map(|index| DRAW.input(4, index)).collect();
    right[7] = FieldElement::ZERO;
    right[8] = DRAW.apply(Unary::Exp, &[], right[8]);
    let largest = FieldElement::new(u64::from(P) - 1, u64::from(Q) - 1, false);
    right[20..60].fill(largest);
    let (m, k, n) = (m as usize, k as usize, n as usize);
    let mut out = vec![FieldElement::ONE; m * n];
    DRAW.multiply(&left, &right, &mut out, k, n);
    for row in 0..m {
        for column in 0..n {
            let terms = (0..k).map(|index| DRAW.mul(left[row * k + index], right[index * n + column]));
            let sum = terms.fold(FieldElement::ONE, |sum, term| DRAW.add(sum, term));
            assert!(out[row * n + column].agrees(sum), "{row}, {column}");
        }
    }
}

/// Among many numbers zero is hardly ever the largest; in some draws it always is.
#[test]
fn in_every_third_draw_zero_is_the_largest_number() {
    for draw in 0..6 {
        let field = Field::new(draw);
        let largest = (0..1000).map(|index| field.input(0, index)).fold(field.number(0.0), |most, x| field.maximum(most, x));
        assert_eq!(field.is_zero(largest), draw % 3 == 2);
        assert_eq!(field.maximum(field.number(0.0), field.number(f64::INFINITY)), field.number(f64::INFINITY));
    }
}

/// Undefined elements of two programs compare equal; poison (unwritten memory) equals nothing, not even itself.
#[test]
fn what_is_undefined_is_no_poison() {
    let (zero, infinity, poison) = (FieldElement::ZERO, FieldElement::INFINITY, FieldElement::POISON);
    let undefined = [DRAW.div(zero, zero), DRAW.sub(infinity, infinity), DRAW.mul(zero, infinity), DRAW.div(infinity, infinity)];
    for element in undefined {
        assert!(element.is_undefined() && !DRAW.is_poison(element) && element.agrees(undefined[0]));
        assert!(DRAW.maximum(element, zero).is_undefined() && DRAW.apply(Unary::Exp, &[], element).is_undefined());
        assert!(DRAW.is_poison(DRAW.add(element, poison)) && DRAW.is_poison(DRAW.minimum(poison, element)));
    }
}

/// As a divisor that a maximum with 1 keeps from being 0.
#[test]
fn one_is_above_zero_but_where_zero_is_the_largest() {
    for draw in 0..9 {
        let field = Field::new(draw);
        let larger = field.maximum(FieldElement::ZERO, FieldElement::ONE);
        assert_eq!(larger == FieldElement::ONE, draw % 3 != 2, "draw {draw}");
    }
}

/// A softmax of something with exponentials, by the maximum of all and corrected from another one.
#[test]
fn lawful_draws_keep_the_law_behind_an_exponential() {
    for (draw, holds) in [(5, false), (5 | Field::LAWFUL, true)] {
        let field = Field::new(draw);
        let exp = |x| field.apply(Unary::Exp, &[], x);
        let x = exp(field.input(0, 1));
        let [old, new] = [exp(field.input(0, 2)), exp(field.input(0, 3))];
        let corrected = field.mul(exp(field.sub(x, old)), exp(field.sub(old, new)));
        assert_eq!(corrected.agrees(exp(field.sub(x, new))), holds);
        assert!(!exp(x).agrees(x));
    }
}

#[test]
fn the_largest_numbers_bound_infinities_alone() {
    for draw in 0..6 {
        let field = Field::new(draw);
        let [lowest, highest] = [f64::MIN, f64::MAX].map(|number| field.number(number));
        for x in (0..100).map(|index| field.input(0, index)).chain([0.0, 1.0, -1.0].map(|number| field.number(number))) {
            assert_eq!((field.maximum(x, lowest), field.minimum(x, highest)), (x, x));
        }
        assert_eq!(field.maximum(lowest, field.number(f64::NEG_INFINITY)), lowest);
        assert_eq!(field.minimum(highest, field.number(f64::INFINITY)), highest);
    }
}
