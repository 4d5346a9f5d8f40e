use super::super::{
    Reduction,
    residue::{BASE, pow_mod},
};
use super::*;

const DRAW: FiniteField = FiniteField::new(7);

fn draw_inputs() -> Vec<FieldElement> {
    (0..40).map(|index| DRAW.random_input(1, index)).collect()
}

/// Returns random elements and the infinities.
fn collect_values() -> Vec<FieldElement> {
    let special = [FieldElement::ZERO, FieldElement::ONE, FieldElement::INFINITY, FieldElement::NEGATIVE_INFINITY];
    draw_inputs().into_iter().take(8).chain(special).collect()
}

#[test]
fn uses_safe_prime_and_its_half_as_moduli() {
    let is_prime =
        |number: u32| (2..).take_while(|factor| factor * factor <= number).all(|factor| !number.is_multiple_of(factor));
    assert!(P == 2 * Q + 1 && is_prime(Q) && (2..46_341).all(|factor| !P.is_multiple_of(factor)));
    assert_eq!(
        (pow_mod::<P>(BASE, u64::from(Q)), BASE != 1),
        (1, true),
        "the order of the base divides Q, which is prime"
    );
}

#[test]
fn preserves_sums_and_products_of_numbers() {
    for (a, b) in [(0.5, 0.25), (3.0, -7.125), (1e-5, 2.0), (1.5e9, -1e-9), (0.0, 4.0)] {
        let (left, right) = (DRAW.constant(a), DRAW.constant(b));
        assert_eq!(DRAW.mul(left, DRAW.constant(2.0)), DRAW.constant(2.0 * a));
        // Multiples of one power of two add up without rounding.
        let (a, b) = (f64::trunc(a * 1024.0) / 1024.0, f64::trunc(b * 1024.0) / 1024.0);
        assert_eq!(DRAW.add(DRAW.constant(a), DRAW.constant(b)), DRAW.constant(a + b), "{a} + {b}");
        assert_eq!(DRAW.mul(left, right), DRAW.mul(right, left));
    }
    assert_eq!(DRAW.constant(-0.0), FieldElement::ZERO);
    assert_eq!(DRAW.constant(f64::MIN_POSITIVE / 4.0), DRAW.mul(DRAW.constant(f64::MIN_POSITIVE), DRAW.constant(0.25)));
    assert!(DRAW.constant(f64::NAN).is_undefined());
}

#[test]
fn computes_sums_and_products_in_any_order() {
    let all = draw_inputs();
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
fn maps_exponential_of_sum_to_product() {
    for pair in draw_inputs().windows(2) {
        let sum = DRAW.apply(UnaryFunction::Exp, &[], DRAW.add(pair[0], pair[1]));
        let product =
            DRAW.mul(DRAW.apply(UnaryFunction::Exp, &[], pair[0]), DRAW.apply(UnaryFunction::Exp, &[], pair[1]));
        assert!(sum.agrees_with(product));
        // No later function depends on the residue that differs.
        for function in [UnaryFunction::Exp, UnaryFunction::Tanh, UnaryFunction::Log, UnaryFunction::Silu] {
            assert!(DRAW.apply(function, &[], sum).agrees_with(DRAW.apply(function, &[], product)), "{function:?}");
        }
        assert_eq!(DRAW.rank(sum), DRAW.rank(product));
    }
    assert_eq!(DRAW.apply(UnaryFunction::Exp, &[], FieldElement::NEGATIVE_INFINITY), FieldElement::ZERO);
    assert!(DRAW.apply(UnaryFunction::Exp, &[], FieldElement::ZERO).agrees_with(FieldElement::ONE));
}

/// Softmax values do not depend on the subtracted maximum.
#[test]
fn computes_softmax_independent_of_shift() {
    let shares = |shift: FieldElement| {
        let powers: Vec<FieldElement> =
            draw_inputs().iter().map(|x| DRAW.apply(UnaryFunction::Exp, &[], DRAW.sub(*x, shift))).collect();
        let sum = powers.iter().fold(FieldElement::ZERO, |sum, power| DRAW.add(sum, *power));
        powers.into_iter().map(|power| DRAW.div(power, sum)).collect::<Vec<_>>()
    };
    let (one, other) = (shares(DRAW.random_input(2, 0)), shares(DRAW.random_input(2, 1)));
    assert!(one.iter().zip(&other).all(|(one, other)| one.agrees_with(*other)));
}

#[test]
fn defines_maximum_by_a_total_order() {
    for a in collect_values() {
        for b in collect_values() {
            assert_eq!(DRAW.maximum(a, b), DRAW.maximum(b, a));
            assert_eq!(DRAW.add(FieldElement::ZERO, DRAW.minimum(a, b)), DRAW.minimum(b, a));
            assert_eq!(DRAW.maximum(a, DRAW.maximum(a, b)), DRAW.maximum(a, b));
            assert_eq!(DRAW.compare(BinaryFunction::Greater, a, b), DRAW.compare(BinaryFunction::Less, b, a));
        }
        assert_eq!(DRAW.maximum(a, DRAW.identity(Reduction::Max)), a);
        assert_eq!(DRAW.minimum(a, DRAW.identity(Reduction::Min)), a);
    }
}

#[test]
fn evaluates_functions_by_their_law() {
    let one = FieldElement::ONE;
    for x in draw_inputs() {
        let negative = DRAW.mul(x, DRAW.constant(-1.0));
        assert_eq!(DRAW.apply(UnaryFunction::Neg, &[], x), negative);
        assert_eq!(DRAW.apply(UnaryFunction::Relu, &[], x), DRAW.maximum(FieldElement::ZERO, x));
        assert_eq!(DRAW.apply(UnaryFunction::Abs, &[], x), DRAW.apply(UnaryFunction::Abs, &[], negative));
        let logistic = DRAW.div(one, DRAW.add(one, DRAW.apply(UnaryFunction::Exp, &[], negative)));
        assert_eq!(DRAW.apply(UnaryFunction::Sigmoid, &[], x), logistic);
        assert_eq!(DRAW.apply(UnaryFunction::Silu, &[], x), DRAW.mul(logistic, x));
        assert_eq!(DRAW.apply(UnaryFunction::Rsqrt, &[], x), DRAW.div(one, DRAW.apply(UnaryFunction::Sqrt, &[], x)));
    }
}

#[test]
fn distinguishes_functions_keys_and_operands() {
    let x = DRAW.random_input(1, 0);
    let functions = [
        UnaryFunction::Floor,
        UnaryFunction::Log,
        UnaryFunction::Sqrt,
        UnaryFunction::Tanh,
        UnaryFunction::Exp,
        UnaryFunction::Neg,
        UnaryFunction::Gelu,
        UnaryFunction::Silu,
    ];
    let found: Vec<FieldElement> = functions.iter().map(|function| DRAW.apply(*function, &[], x)).collect();
    assert!((0..found.len()).all(|index| !found[..index].iter().any(|other| other.agrees_with(found[index]))));
    assert!(!DRAW.apply(UnaryFunction::Tanh, &[], x).agrees_with(DRAW.apply(
        UnaryFunction::Tanh,
        &[],
        DRAW.random_input(1, 1)
    )));
    assert!(!DRAW.apply(UnaryFunction::Tanh, &[], x).agrees_with(FiniteField::new(8).apply(
        UnaryFunction::Tanh,
        &[],
        x
    )));
    let softplus = |beta: f64| DRAW.apply(UnaryFunction::Softplus, &[DRAW.constant(beta), DRAW.constant(20.0)], x);
    assert!(!softplus(1.0).agrees_with(softplus(2.0)));
}

#[test]
fn propagates_poison_except_in_zero_products_and_selects() {
    let (x, poison) = (DRAW.random_input(1, 0), FieldElement::POISON);
    for other in collect_values() {
        for function in [
            BinaryFunction::Add,
            BinaryFunction::Sub,
            BinaryFunction::Mul,
            BinaryFunction::Div,
            BinaryFunction::Maximum,
            BinaryFunction::Minimum,
            BinaryFunction::Equal,
        ] {
            for [mut left, right] in [[[poison], [other]], [[other], [poison]]] {
                DRAW.apply_binary(function, &mut left, &right);
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

/// The range guard of a function is a choice between its result and NaN.
#[test]
fn selects_elements_instead_of_undefined() {
    let (x, undefined, poison) = (DRAW.random_input(1, 0), DRAW.constant(f64::NAN), FieldElement::POISON);
    for condition in [FieldElement::ZERO, FieldElement::ONE, x, undefined] {
        assert_eq!(DRAW.select(condition, x, undefined), x, "{condition:?}");
        assert_eq!(DRAW.select(condition, undefined, x), x, "{condition:?}");
        assert_eq!(DRAW.select(condition, undefined, undefined), undefined, "{condition:?}");
    }
    assert_eq!(DRAW.select(FieldElement::ONE, undefined, poison), undefined);
    assert_eq!(DRAW.select(FieldElement::ZERO, undefined, poison), poison);
}

#[test]
fn multiplies_infinities_undefined_and_poison_like_single_steps() {
    let (k, n) = (70, 6);
    let rare = [
        FieldElement::ZERO,
        FieldElement::INFINITY,
        FieldElement::NEGATIVE_INFINITY,
        FieldElement::UNDEFINED,
        FieldElement::POISON,
        DRAW.apply(UnaryFunction::Exp, &[], DRAW.random_input(1, 1)),
    ];
    for seed in 0..300_u64 {
        let draw = |index: u64| mix_bits(seed << 32 | index);
        let element = |index: u64| match draw(index) % 40 {
            choice @ 0..6 if seed % 6 >= choice => rare[choice as usize],
            _ => DRAW.random_input(seed, index),
        };
        let left: Vec<FieldElement> = (0..2 * k).map(|index| element(index as u64)).collect();
        let right: Vec<FieldElement> = (0..k * n).map(|index| element(1_000 + index as u64)).collect();
        let start: Vec<FieldElement> = (0..2 * n).map(|index| element(2_000 + index as u64)).collect();
        let mut out = start.clone();
        DRAW.multiply(&left, &right, &mut out, k, n);
        for (index, (found, start)) in out.iter().zip(start).enumerate() {
            let (row, column) = (index / n, index % n);
            let factors = (0..k).map(|inner| (left[row * k + inner], right[inner * n + column]));
            let sum = factors
                .filter(|(left, right)| left.first != 0 && right.first != 0)
                .fold(start, |sum, (left, right)| DRAW.add(sum, DRAW.mul(left, right)));
            assert!(found.agrees_with(sum), "seed {seed}, {row}, {column}: {found:?} {sum:?}");
        }
    }
}

#[test]
fn multiplies_like_single_steps() {
    (300..304).for_each(check_product_of_length);
}

/// Other rows, other columns and zero padding do not change an element: for instance zero queries next to exponentials.
#[test]
fn marks_spent_elements_by_their_own_factors_only() {
    let (x, spent) = (DRAW.random_input(1, 0), DRAW.apply(UnaryFunction::Exp, &[], DRAW.random_input(1, 1)));
    let zero = FieldElement::ZERO;
    let spent_zero = DRAW.sub(spent, spent);
    let exp = |x| DRAW.apply(UnaryFunction::Exp, &[], x);
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
fn computes_powers_of_base_like_single_steps() {
    let mut product = 1;
    for exponent in 0..70_000 {
        assert_eq!(pow_base(exponent), product);
        product = product * BASE % u64::from(P);
    }
    for exponent in [1 << 24, 0x2345_6789, u64::from(Q) - 1] {
        assert_eq!(pow_base(exponent), pow_mod::<P>(BASE, exponent));
    }
}

#[test]
fn inverts_residues() {
    assert_eq!(invert_residues([0, 0]), [0, 0]);
    for index in 0..1000 {
        let FieldElement { first, second } = DRAW.random_input(5, index);
        let [p, q] = invert_residues([first.into(), second.into()]);
        assert_eq!([p * u64::from(first) % u64::from(P), q * u64::from(second) % u64::from(Q)], [1, 1]);
    }
}

/// Returns elements of all kinds, many of each.
fn collect_all_element_kinds() -> Vec<FieldElement> {
    let spent = |index| DRAW.apply(UnaryFunction::Exp, &[], DRAW.random_input(6, index));
    let special = [
        FieldElement::ZERO,
        FieldElement::INFINITY,
        FieldElement::NEGATIVE_INFINITY,
        FieldElement::UNDEFINED,
        FieldElement::POISON,
        FieldElement::new(5, 0, false),
        DRAW.sub(spent(0), spent(0)),
    ];
    let mixed =
        (0..200).flat_map(|index| [DRAW.random_input(7, index), spent(index), special[index as usize % special.len()]]);
    mixed.collect()
}

#[test]
fn divides_batches_like_single_elements() {
    let right = collect_all_element_kinds();
    for shift in 0..right.len().min(40) {
        let mut left = right.clone();
        left.rotate_left(shift);
        let single: Vec<FieldElement> = left.iter().zip(&right).map(|(left, right)| DRAW.div(*left, *right)).collect();
        DRAW.apply_binary(BinaryFunction::Div, &mut left, &right);
        assert_eq!(left, single);
    }
    let functions = [
        UnaryFunction::Reciprocal,
        UnaryFunction::Rsqrt,
        UnaryFunction::Sigmoid,
        UnaryFunction::Silu,
        UnaryFunction::Gelu,
        UnaryFunction::Abs,
        UnaryFunction::Tanh,
    ];
    for function in functions {
        let mut many = right.clone();
        let single: Vec<FieldElement> = right.iter().map(|x| DRAW.apply(function, &[], *x)).collect();
        DRAW.apply_unary(function, &[], &mut many);
        assert_eq!(many, single, "{function:?}");
    }
}

#[test]
fn scales_numbers_with_powers_of_two() {
    let power = |exponent: i64| {
        f64::from_bits(if exponent < -1022 { 1 << (exponent + 1074) } else { ((exponent + 1023) as u64) << 52 })
    };
    for exponent in -1073..=1023 {
        let [half, whole] = [exponent - 1, exponent].map(|exponent| DRAW.constant(power(exponent)));
        assert_eq!(DRAW.add(half, half), whole, "2^{exponent}");
    }
    assert_eq!(DRAW.constant(1.0), FieldElement::ONE);
    assert_eq!(
        DRAW.mul(DRAW.constant(f64::MAX), DRAW.constant(f64::from_bits(1))),
        DRAW.constant(2.0_f64.powi(-50) - 2.0_f64.powi(-103))
    );
}

fn check_product_of_length(k: u64) {
    let (m, n) = (3, 5);
    let left: Vec<FieldElement> = (0..m * k).map(|index| DRAW.random_input(3, index)).collect();
    let mut right: Vec<FieldElement> = (0..k * n).map(|index| DRAW.random_input(4, index)).collect();
    right[7] = FieldElement::ZERO;
    right[8] = DRAW.apply(UnaryFunction::Exp, &[], right[8]);
    let largest = FieldElement::new(u64::from(P) - 1, u64::from(Q) - 1, false);
    right[20..60].fill(largest);
    let (m, k, n) = (m as usize, k as usize, n as usize);
    let mut out = vec![FieldElement::ONE; m * n];
    DRAW.multiply(&left, &right, &mut out, k, n);
    for row in 0..m {
        for column in 0..n {
            let terms = (0..k).map(|index| DRAW.mul(left[row * k + index], right[index * n + column]));
            let sum = terms.fold(FieldElement::ONE, |sum, term| DRAW.add(sum, term));
            assert!(out[row * n + column].agrees_with(sum), "{row}, {column}");
        }
    }
}

/// Among many numbers zero is hardly ever the largest; in some draws it always is.
#[test]
fn ranks_zero_highest_in_every_third_draw() {
    for draw in 0..6 {
        let field = FiniteField::new(draw);
        let largest = (0..1000)
            .map(|index| field.random_input(0, index))
            .fold(field.constant(0.0), |most, x| field.maximum(most, x));
        assert_eq!(field.is_zero(largest), draw % 3 == 2);
        assert_eq!(field.maximum(field.constant(0.0), field.constant(f64::INFINITY)), field.constant(f64::INFINITY));
    }
}

/// Undefined elements of two programs compare equal; poison (unwritten memory) equals nothing, not even itself.
#[test]
fn distinguishes_undefined_from_poison() {
    let (zero, infinity, poison) = (FieldElement::ZERO, FieldElement::INFINITY, FieldElement::POISON);
    let undefined =
        [DRAW.div(zero, zero), DRAW.sub(infinity, infinity), DRAW.mul(zero, infinity), DRAW.div(infinity, infinity)];
    for element in undefined {
        assert!(element.is_undefined() && !DRAW.is_poison(element) && element.agrees_with(undefined[0]));
        assert!(
            DRAW.maximum(element, zero).is_undefined() && DRAW.apply(UnaryFunction::Exp, &[], element).is_undefined()
        );
        assert!(DRAW.is_poison(DRAW.add(element, poison)) && DRAW.is_poison(DRAW.minimum(poison, element)));
    }
}

/// A maximum with 1 protects a divisor from being 0.
#[test]
fn ranks_one_above_zero_unless_zero_is_largest() {
    for draw in 0..9 {
        let field = FiniteField::new(draw);
        let larger = field.maximum(FieldElement::ZERO, FieldElement::ONE);
        assert_eq!(larger == FieldElement::ONE, draw % 3 != 2, "draw {draw}");
    }
}

/// Computes a softmax of exponentials directly, and by an online correction from another maximum.
#[test]
fn preserves_exponential_law_after_exponential_in_lawful_draws() {
    for (draw, holds) in [(5, false), (5 | FiniteField::LAWFUL_BIT, true)] {
        let field = FiniteField::new(draw);
        let exp = |x| field.apply(UnaryFunction::Exp, &[], x);
        let x = exp(field.random_input(0, 1));
        let [old, new] = [exp(field.random_input(0, 2)), exp(field.random_input(0, 3))];
        let corrected = field.mul(exp(field.sub(x, old)), exp(field.sub(old, new)));
        assert_eq!(corrected.agrees_with(exp(field.sub(x, new))), holds);
        assert!(!exp(x).agrees_with(x));
    }
}

#[test]
fn ranks_largest_numbers_next_to_infinities() {
    for draw in 0..6 {
        let field = FiniteField::new(draw);
        let [lowest, highest] = [f64::MIN, f64::MAX].map(|number| field.constant(number));
        for x in (0..100)
            .map(|index| field.random_input(0, index))
            .chain([0.0, 1.0, -1.0].map(|number| field.constant(number)))
        {
            assert_eq!((field.maximum(x, lowest), field.minimum(x, highest)), (x, x));
        }
        assert_eq!(field.maximum(lowest, field.constant(f64::NEG_INFINITY)), lowest);
        assert_eq!(field.minimum(highest, field.constant(f64::INFINITY)), highest);
    }
}
