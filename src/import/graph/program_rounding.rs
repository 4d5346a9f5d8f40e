//! Constants as the program rounds them.
//!
//! Constants are folded exactly and rounded once. Where numbers cancel, the exact result may be a pole that the
//! program, which rounds each result, never reaches. The logarithm of `(7 - fl(7 + eps)) + eps` is that of 0 in exact
//! arithmetic, and that of `eps` in f32. Rounded numbers are therefore folded too, once they share no digit with the
//! exact ones, and replace exact results that are not finite.

use super::constant_tensor::ConstantTensor;
use std::rc::Rc;

impl ConstantTensor {
    /// Returns `exact`, the result of `evaluate` for `inputs`, with the program's rounded numbers where it is not
    /// finite. `round` rounds to the type of the result; `may_cancel` states whether the operation is a sum or a
    /// difference.
    pub(in crate::import) fn apply_program_rounding(
        exact: Self,
        inputs: &[(&Self, &[i64])],
        shape: &[i64],
        (evaluate, may_cancel): (fn(&[f64]) -> f64, bool),
        round: fn(f64) -> f64,
    ) -> Self {
        let is_rounded = inputs.iter().any(|(known, _)| known.as_written.is_some());
        if !(is_rounded || may_cancel) {
            return exact;
        }
        let written: Vec<(Self, &[i64])> =
            inputs.iter().map(|(known, shape)| (known.program_values(), *shape)).collect();
        let written: Vec<(&Self, &[i64])> = written.iter().map(|(known, shape)| (known, *shape)).collect();
        let rounded = Self::map_elementwise(&written, shape, |operands| {
            let operands: Vec<f64> = operands.iter().map(|&operand| round(operand)).collect();
            round(evaluate(&operands))
        });
        if !is_rounded
            && exact.numbers().zip(rounded.numbers()).all(|(exact, rounded)| agrees_up_to_rounding(exact, rounded))
        {
            return exact;
        }
        let is_pole = |exact: f64, rounded: f64| !exact.is_finite() && rounded.is_finite();
        let taken = |(exact, rounded)| if is_pole(exact, rounded) { rounded } else { exact };
        let bits: Rc<[u64]> = exact.numbers().zip(rounded.numbers()).map(taken).map(f64::to_bits).collect();
        let mut followed = Self::from_float_bits(bits);
        followed.as_written = Some(rounded.bits);
        followed
    }

    /// Returns the numbers as the program rounds them.
    fn program_values(&self) -> Self {
        self.as_written.clone().map_or_else(|| self.clone(), Self::from_float_bits)
    }
}

/// Returns whether `rounded` differs from `exact` by rounding only.
fn agrees_up_to_rounding(exact: f64, rounded: f64) -> bool {
    exact.is_nan() || exact.is_infinite() || (exact - rounded).abs() <= exact.abs() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::cast_possible_truncation, reason = "rounds on purpose")]
    fn round_to_f32(number: f64) -> f64 {
        f64::from(number as f32)
    }

    fn fold(inputs: &[&ConstantTensor], evaluate: fn(&[f64]) -> f64, may_cancel: bool) -> ConstantTensor {
        let inputs: Vec<(&ConstantTensor, &[i64])> = inputs.iter().map(|&known| (known, [2].as_slice())).collect();
        let exact = ConstantTensor::map_elementwise(&inputs, &[2], evaluate);
        ConstantTensor::apply_program_rounding(exact, &inputs, &[2], (evaluate, may_cancel), round_to_f32)
    }

    const SUM: fn(&[f64]) -> f64 = |of| of[0] + of[1];
    const DIFFERENCE: fn(&[f64]) -> f64 = |of| of[0] - of[1];

    fn numbers(known: &ConstantTensor) -> Vec<f64> {
        known.numbers().collect()
    }

    #[test]
    fn avoids_pole_that_program_rounding_avoids() {
        let (count, eps) = (ConstantTensor::from_numbers(&[7.0, 3.0]), ConstantTensor::from_numbers(&[1e-7, 1e-7]));
        let seven = ConstantTensor::from_numbers(&[7.0, 7.0]);
        let shifted = fold(&[&count, &eps], SUM, true);
        let rest = fold(&[&seven, &shifted], DIFFERENCE, true);
        assert!((numbers(&rest)[0] + 1e-7).abs() < 1e-15, "the exact difference stays");
        let shifted = fold(&[&rest, &eps], SUM, true);
        let pole = fold(&[&shifted], |of| of[0].max(0.0).ln(), false);
        assert!((numbers(&pole)[0] - round_to_f32(1e-7).ln()).abs() < 1e-6, "{pole:?}");
        assert!((numbers(&pole)[1] - 4.0_f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn keeps_pole_of_program() {
        let (one, ones) = (ConstantTensor::from_numbers(&[1.0, 2.0]), ConstantTensor::from_numbers(&[1.0, 1.0]));
        let zero = fold(&[&one, &ones], DIFFERENCE, true);
        assert_eq!(zero.as_written, None);
        assert_eq!(numbers(&fold(&[&zero], |of| of[0].ln(), false)), [f64::NEG_INFINITY, 0.0]);
    }

    #[test]
    fn rearranges_rounded_numbers_with_exact_ones() {
        let (one, other) =
            (ConstantTensor::from_numbers(&[1.0, 2.0]), ConstantTensor::from_numbers(&[1.0 + 1e-9, 1.0]));
        let rest = fold(&[&one, &other], DIFFERENCE, true);
        assert_eq!(rest.program_values(), ConstantTensor::from_numbers(&[0.0, 1.0]));
        let turned = rest.apply_view(&[2], &[program::affine::AffineExpression::Dim(1)], &[2, 2]);
        assert_eq!(turned.program_values(), ConstantTensor::from_numbers(&[0.0, 1.0, 0.0, 1.0]));
        assert_eq!(
            rest.broadcast(&[2, 1], &[2, 2]).program_values(),
            ConstantTensor::from_numbers(&[0.0, 0.0, 1.0, 1.0])
        );
    }
}
