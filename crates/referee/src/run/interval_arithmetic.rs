//! Interval arithmetic: unrounded numbers, each with bounds on the device's rounded number.
//!
//! Rounding is monotone, so the rounded ends enclose every rounded number between them. Functions are evaluated at the
//! ends and at their extrema. The bounds are widened by more than the rounding error of `f32` operations.

use crate::account::rounding::{BoundViolation, OpRoundingError};
use crate::number::{decode_run, dl16_from_f32, dl16_to_f32, encode_run};
use crate::run::{
    error_tracking::{ErrorTrackedNumber, ErrorTrackingArithmetic},
    shadow_memory::ShadowArithmetic,
};
use element::{Arithmetic, BinaryFunction, F64Arithmetic, UnaryFunction};
use machine::DeviceFormat;

/// Upper bound on the relative rounding error of an `f32` operation.
const OP_ERROR: f64 = 1.2e-7;

/// Upper bound on the error of an `f32` function, relative to the largest intermediate number.
const FUNCTION_ERROR: f64 = 1e-6;

/// Magnitude below which `f32` loses precision (subnormal numbers).
const MIN_NORMAL: f64 = 1.3e-38;

/// Largest finite number of `f32`.
const MAX_FINITE: f64 = f32::MAX as f64;

/// Minima of silu and gelu: the argument, and a lower bound of the result there.
const SILU_MINIMUM: (f64, f64) = (-1.278_464_542_761_073_7, -0.278_464_8);
const GELU_MINIMUM: (f64, f64) = (-0.751_791_524_693_564_5, -0.169_971_4);

/// A number, and bounds on the rounded number that the device computes for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedNumber {
    /// The number, in f64 throughout.
    pub exact: f64,
    /// First-order bound on the f64 rounding error of `exact`.
    pub off: f64,
    /// Lower bound of the device's number.
    pub low: f64,
    /// Upper bound of the device's number. If both bounds are infinite it may be any number, and NaN.
    pub high: f64,
}

impl BoundedNumber {
    const fn new(exact: ErrorTrackedNumber, low: f64, high: f64) -> Self {
        Self { exact: exact.number, off: exact.off, low, high }
    }

    const fn from_point(exact: ErrorTrackedNumber, device: f64) -> Self {
        Self::new(exact, device, device)
    }

    const fn new_unbounded(exact: ErrorTrackedNumber) -> Self {
        Self::new(exact, f64::NEG_INFINITY, f64::INFINITY)
    }

    /// Returns the unrounded number with its error bound.
    const fn tracked_number(self) -> ErrorTrackedNumber {
        ErrorTrackedNumber { number: self.exact, off: self.off }
    }

    /// Returns these bounds with another unrounded number.
    const fn with_exact(self, exact: ErrorTrackedNumber) -> Self {
        Self::new(exact, self.low, self.high)
    }

    fn is_unbounded(self) -> bool {
        self.low == f64::NEG_INFINITY && self.high == f64::INFINITY
    }

    /// Returns whether the device's number is within the bounds.
    #[must_use]
    pub fn contains(self, device: f64) -> bool {
        self.is_unbounded() || (self.low <= device && device <= self.high)
    }

    /// Returns the bounds of an operation with a relative error of at most `slack`.
    fn from_rounded_ends(exact: ErrorTrackedNumber, low: f64, high: f64, slack: f64) -> Self {
        if low.is_nan() || high.is_nan() {
            return Self::new_unbounded(exact);
        }
        // Rounding keeps the sign.
        let wider = |end: f64, sign: f64| match end.abs() {
            0.0 => 0.0,
            f64::INFINITY => end,
            size if size < MIN_NORMAL => {
                if end * sign > 0.0 {
                    MIN_NORMAL * sign
                } else {
                    0.0
                }
            }
            size => size.mul_add(slack * sign, end),
        };
        // Numbers beyond the range of `f32` are infinities on the device.
        let within = |end: f64, sign: f64| if end * sign > MAX_FINITE { f64::INFINITY * sign } else { end };
        Self::new(exact, within(wider(low, -1.0), -1.0), within(wider(high, 1.0), 1.0))
    }

    fn contains_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    fn is_zero(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }

    /// Returns the largest magnitude of a number within the bounds.
    fn max_magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    fn hull(self, other: Self, exact: ErrorTrackedNumber) -> Self {
        Self::new(exact, self.low.min(other.low), self.high.max(other.high))
    }
}

/// Arithmetic on numbers with bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalArithmetic;

impl IntervalArithmetic {
    /// Returns the bounds of an operation whose extrema are at corners of the operand intervals.
    fn combine_corners(
        exact: ErrorTrackedNumber,
        left: BoundedNumber,
        right: BoundedNumber,
        operation: impl Fn(f64, f64) -> f64,
    ) -> BoundedNumber {
        if left.is_unbounded() || right.is_unbounded() {
            return BoundedNumber::new_unbounded(exact);
        }
        let ends = [(left.low, right.low), (left.low, right.high), (left.high, right.low), (left.high, right.high)];
        let ends = ends.map(|(left, right)| operation(left, right));
        if ends.iter().any(|end| end.is_nan()) {
            return BoundedNumber::new_unbounded(exact);
        }
        let (low, high) =
            ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(*end), high.max(*end)));
        BoundedNumber::from_rounded_ends(exact, low, high, OP_ERROR)
    }
}

impl Arithmetic for IntervalArithmetic {
    type Element = BoundedNumber;

    fn constant(&self, number: f64) -> BoundedNumber {
        BoundedNumber::from_point(ErrorTrackedNumber::from_exact(number), f64::from(number as f32))
    }

    fn poison(&self) -> BoundedNumber {
        BoundedNumber::new_unbounded(ErrorTrackedNumber::from_exact(f64::NAN))
    }

    fn is_poison(&self, element: BoundedNumber) -> bool {
        element.exact.is_nan()
    }

    fn is_zero(&self, element: BoundedNumber) -> bool {
        element.exact == 0.0
    }

    fn add(&self, left: BoundedNumber, right: BoundedNumber) -> BoundedNumber {
        let exact = ErrorTrackingArithmetic.add(left.tracked_number(), right.tracked_number());
        if left.is_unbounded() || right.is_unbounded() {
            return BoundedNumber::new_unbounded(exact);
        }
        BoundedNumber::from_rounded_ends(exact, left.low + right.low, left.high + right.high, OP_ERROR)
    }

    fn sub(&self, left: BoundedNumber, right: BoundedNumber) -> BoundedNumber {
        let exact = ErrorTrackingArithmetic.sub(left.tracked_number(), right.tracked_number());
        if left.is_unbounded() || right.is_unbounded() {
            return BoundedNumber::new_unbounded(exact);
        }
        BoundedNumber::from_rounded_ends(exact, left.low - right.high, left.high - right.low, OP_ERROR)
    }

    fn mul(&self, left: BoundedNumber, right: BoundedNumber) -> BoundedNumber {
        Self::combine_corners(
            ErrorTrackingArithmetic.mul(left.tracked_number(), right.tracked_number()),
            left,
            right,
            |left, right| left * right,
        )
    }

    fn square(&self, element: BoundedNumber) -> BoundedNumber {
        let exact = ErrorTrackingArithmetic.mul(element.tracked_number(), element.tracked_number());
        let (low, high) = (element.low * element.low, element.high * element.high);
        if element.is_unbounded() {
            return BoundedNumber::new_unbounded(exact);
        }
        let least = if element.contains_zero() { 0.0 } else { low.min(high) };
        BoundedNumber::from_rounded_ends(exact, least, low.max(high), OP_ERROR)
    }

    fn div(&self, left: BoundedNumber, right: BoundedNumber) -> BoundedNumber {
        let exact = ErrorTrackingArithmetic.div(left.tracked_number(), right.tracked_number());
        if right.contains_zero() {
            return BoundedNumber::new_unbounded(exact);
        }
        Self::combine_corners(exact, left, right, |left, right| left / right)
    }

    fn maximum(&self, left: BoundedNumber, right: BoundedNumber) -> BoundedNumber {
        let exact = ErrorTrackingArithmetic.maximum(left.tracked_number(), right.tracked_number());
        if left.is_unbounded() || right.is_unbounded() {
            return BoundedNumber::new_unbounded(exact);
        }
        BoundedNumber::new(exact, left.low.max(right.low), left.high.max(right.high))
    }

    fn minimum(&self, left: BoundedNumber, right: BoundedNumber) -> BoundedNumber {
        let exact = ErrorTrackingArithmetic.minimum(left.tracked_number(), right.tracked_number());
        if left.is_unbounded() || right.is_unbounded() {
            return BoundedNumber::new_unbounded(exact);
        }
        BoundedNumber::new(exact, left.low.min(right.low), left.high.min(right.high))
    }

    fn compare(&self, comparison: BinaryFunction, left: BoundedNumber, right: BoundedNumber) -> BoundedNumber {
        let exact = ErrorTrackingArithmetic.compare(comparison, left.tracked_number(), right.tracked_number());
        let is_decided =
            left.high < right.low || right.high < left.low || (left.low == left.high && right.low == right.high);
        if left.is_unbounded() || right.is_unbounded() || !is_decided {
            return BoundedNumber::new(exact, 0.0, 1.0);
        }
        BoundedNumber::from_point(exact, F64Arithmetic.compare(comparison, left.low, right.low))
    }

    fn select(&self, condition: BoundedNumber, yes: BoundedNumber, no: BoundedNumber) -> BoundedNumber {
        let exact =
            ErrorTrackingArithmetic.select(condition.tracked_number(), yes.tracked_number(), no.tracked_number());
        match () {
            () if condition.is_unbounded() => BoundedNumber::new_unbounded(exact),
            () if condition.is_zero() => no.with_exact(exact),
            () if !condition.contains_zero() => yes.with_exact(exact),
            () => yes.hull(no, exact),
        }
    }

    fn apply(&self, function: UnaryFunction, constants: &[BoundedNumber], x: BoundedNumber) -> BoundedNumber {
        let numbers: Vec<f64> = constants.iter().map(|constant| constant.exact).collect();
        let shadows: Vec<ErrorTrackedNumber> = constants.iter().map(|constant| constant.tracked_number()).collect();
        let exact = ErrorTrackingArithmetic.apply(function, &shadows, x.tracked_number());
        let constant = |index: usize| constants.get(index).copied().unwrap_or(self.poison());
        if x.is_unbounded() {
            return BoundedNumber::new_unbounded(exact);
        }
        let ends = || [x.low, x.high].map(|end| F64Arithmetic.apply(function, &numbers, end));
        let growing = |slack: f64| BoundedNumber::from_rounded_ends(exact, ends()[0], ends()[1], slack);
        // A minimum of the function between the ends is the lower bound.
        let turning = |(turn, least): (f64, f64)| {
            let [low, high] = ends();
            let slack = FUNCTION_ERROR * x.max_magnitude();
            let low_end = if x.low <= turn && turn <= x.high { least } else { low.min(high) };
            BoundedNumber::from_rounded_ends(exact, low_end - slack, low.max(high) + slack, FUNCTION_ERROR)
        };
        match function {
            UnaryFunction::Abs if x.contains_zero() => BoundedNumber::new(exact, 0.0, x.max_magnitude()),
            UnaryFunction::Abs => BoundedNumber::new(exact, x.low.abs().min(x.high.abs()), x.max_magnitude()),
            UnaryFunction::Neg => BoundedNumber::new(exact, -x.high, -x.low),
            UnaryFunction::Relu => BoundedNumber::new(exact, x.low.max(0.0), x.high.max(0.0)),
            UnaryFunction::Reciprocal => self.div(self.constant(1.0), x).with_exact(exact),
            UnaryFunction::Clip => self.minimum(self.maximum(x, constant(0)), constant(1)).with_exact(exact),
            UnaryFunction::Floor => growing(0.0),
            UnaryFunction::Sqrt => growing(OP_ERROR),
            UnaryFunction::Exp | UnaryFunction::Log | UnaryFunction::Tanh | UnaryFunction::Sigmoid => {
                growing(FUNCTION_ERROR)
            }
            UnaryFunction::Softplus if constant(0).low > 0.0 => growing(FUNCTION_ERROR),
            UnaryFunction::Softplus => BoundedNumber::new_unbounded(exact),
            UnaryFunction::Rsqrt if x.low > 0.0 => {
                BoundedNumber::from_rounded_ends(exact, ends()[1], ends()[0], FUNCTION_ERROR)
            }
            UnaryFunction::Rsqrt => BoundedNumber::new_unbounded(exact),
            UnaryFunction::Silu => turning(SILU_MINIMUM),
            UnaryFunction::Gelu => turning(GELU_MINIMUM),
        }
    }

    /// Multiplies in midpoint-radius form: midpoints are multiplied, and each radius is scaled by the magnitude of the
    /// other factor.
    fn multiply(&self, left: &[BoundedNumber], right: &[BoundedNumber], out: &mut [BoundedNumber], k: usize, n: usize) {
        let is_finite = |bounds: &[BoundedNumber]| {
            bounds.iter().all(|bound| bound.exact.is_finite() && bound.max_magnitude().is_finite())
        };
        let middle = |bound: &BoundedNumber| {
            [f64::midpoint(bound.low, bound.high), (bound.high - bound.low) / 2.0 * (1.0 + 1e-9), bound.max_magnitude()]
        };
        let (right_is_finite, middles): (bool, Vec<[f64; 3]>) = (is_finite(right), right.iter().map(middle).collect());
        let rounding = (k + 2) as f64 * OP_ERROR;
        let mut sums = vec![[0.0; 6]; n];
        for (row, out) in left.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
            if !right_is_finite || !is_finite(row) {
                self.multiply_row(row, right, out);
                continue;
            }
            sums.fill([0.0; 6]);
            for ((factor, line), middles) in row.iter().zip(right.chunks_exact(n)).zip(middles.chunks_exact(n)) {
                let [mid, radius, size] = middle(factor);
                for ((sum, other), [other_mid, other_radius, other_size]) in sums.iter_mut().zip(line).zip(middles) {
                    sum[0] += factor.exact * other.exact;
                    sum[1] += mid * other_mid;
                    sum[2] += mid.abs() * other_radius + radius * other_size;
                    sum[3] += size * other_size;
                    sum[4] += factor.exact.abs() * other.off + factor.off * other.exact.abs();
                    sum[5] += (factor.exact * other.exact).abs();
                }
            }
            for (out, [exact, mid, radius, size, off, magnitudes]) in out.iter_mut().zip(&sums) {
                let exact = ErrorTrackedNumber::from_sum(*exact, *off, k, *magnitudes);
                // A partial sum may overflow to an infinity, and the final sum may then be any number.
                if *size > MAX_FINITE {
                    *out = BoundedNumber::new_unbounded(ErrorTrackingArithmetic.add(out.tracked_number(), exact));
                    continue;
                }
                let radius = radius + rounding * size;
                *out = self.add(*out, BoundedNumber::new(exact, mid - radius, mid + radius));
            }
        }
    }
}

impl IntervalArithmetic {
    fn multiply_row(&self, row: &[BoundedNumber], right: &[BoundedNumber], out: &mut [BoundedNumber]) {
        for (factor, line) in row.iter().zip(right.chunks_exact(out.len())) {
            for (sum, other) in out.iter_mut().zip(line) {
                let is_nothing = factor.exact == 0.0 || other.exact == 0.0;
                let exact = if is_nothing {
                    ErrorTrackedNumber::from_exact(0.0)
                } else {
                    ErrorTrackingArithmetic.mul(factor.tracked_number(), other.tracked_number())
                };
                let zero = BoundedNumber::from_point(exact, 0.0);
                let product = if factor.is_zero() || other.is_zero() {
                    zero
                } else {
                    self.mul(*factor, *other).with_exact(exact)
                };
                *sum = self.add(*sum, product);
            }
        }
    }
}

impl ShadowArithmetic for IntervalArithmetic {
    fn embed_value(&self, exact: f64, device: f32) -> BoundedNumber {
        let exact = ErrorTrackedNumber::from_exact(exact);
        if device.is_nan() {
            BoundedNumber::new_unbounded(exact)
        } else {
            BoundedNumber::from_point(exact, device.into())
        }
    }

    fn round_for_store(&self, format: DeviceFormat, element: BoundedNumber) -> BoundedNumber {
        if element.is_unbounded() {
            return element;
        }
        let rounded = |end: f64| match format {
            DeviceFormat::Sen169Fp16 => dl16_to_f32(dl16_from_f32(end as f32)).into(),
            DeviceFormat::IeeeFp32 => f64::from(end as f32),
            _ => {
                let (mut bytes, mut number) = (Vec::new(), [0.0]);
                encode_run(format, &[end as f32], &mut bytes);
                decode_run(format, &bytes, 0, 1, &mut number);
                number[0].into()
            }
        };
        BoundedNumber::new(element.tracked_number(), rounded(element.low), rounded(element.high))
    }

    fn record_error(&self, element: BoundedNumber, device: f32, error: &mut OpRoundingError) {
        if !element.contains(device.into()) && error.escaped.is_none() {
            error.escaped = Some(BoundViolation { device, low: element.low, high: element.high });
        }
        if element.exact.is_finite() && device.is_finite() {
            error.count += 1;
            error.squares += element.exact * element.exact;
            error.squares_off += (element.exact - f64::from(device)).powi(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{DL16_MAX, dl16_to_f32};
    use crate::ops::DeviceArithmetic;

    const UNARY: [UnaryFunction; 13] = [
        UnaryFunction::Abs,
        UnaryFunction::Exp,
        UnaryFunction::Floor,
        UnaryFunction::Gelu,
        UnaryFunction::Log,
        UnaryFunction::Neg,
        UnaryFunction::Reciprocal,
        UnaryFunction::Relu,
        UnaryFunction::Rsqrt,
        UnaryFunction::Sigmoid,
        UnaryFunction::Silu,
        UnaryFunction::Sqrt,
        UnaryFunction::Tanh,
    ];
    const BINARY: [BinaryFunction; 8] = [
        BinaryFunction::Add,
        BinaryFunction::Sub,
        BinaryFunction::Mul,
        BinaryFunction::Div,
        BinaryFunction::Maximum,
        BinaryFunction::Minimum,
        BinaryFunction::Greater,
        BinaryFunction::Equal,
    ];

    /// Returns a random number of the device with bounds as wide as rounding makes them; some bounds are a single
    /// point.
    fn draw_bounded_number(state: &mut u64) -> (f32, BoundedNumber) {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (*state >> 33) as u16;
        let device = dl16_to_f32(bits & 0x8000 | (0x3000 + bits % 0x1800));
        let width = f64::from(device) * [0.0, 1e-3, 0.3][(*state >> 60) as usize % 3];
        let exact = f64::from(device) + width / 3.0;
        let (one, other) = (f64::from(device) - width, f64::from(device) + width);
        (device, BoundedNumber::new(ErrorTrackedNumber::from_exact(exact), one.min(other), one.max(other)))
    }

    fn round_to_dl16(device: f32) -> f32 {
        dl16_to_f32(dl16_from_f32(device))
    }

    #[test]
    fn keeps_infinite_end() {
        let bound = IntervalArithmetic.add(
            BoundedNumber::from_point(ErrorTrackedNumber::from_exact(f64::INFINITY), f64::INFINITY),
            IntervalArithmetic.constant(1.0),
        );
        assert!(bound.contains(f64::INFINITY) && !bound.contains(1.0));
    }

    #[test]
    fn bounds_intermediate_overflow_of_f32() {
        let product = |numbers: &[f32]| {
            let device = numbers.iter().fold(1.0, |product, x| DeviceArithmetic.mul(product, *x));
            let bound = numbers.iter().fold(IntervalArithmetic.constant(1.0), |product, x| {
                IntervalArithmetic.mul(product, IntervalArithmetic.constant(f64::from(*x)))
            });
            assert!(bound.contains(device.into()), "{device} of {numbers:?} is not in {bound:?}");
        };
        product(&[1e30, 1e30, 1e-30]);
        product(&[-1e30, 1e30, 1e-30]);
        product(&[1e30, 1e30, 0.0]);
        let (mut device, mut bounds) = ([0.0], [IntervalArithmetic.constant(0.0)]);
        let (a, b) = ([1e30_f32, 1e30, 1.0], [1e30_f32, -1e30, 1.0]);
        DeviceArithmetic.multiply(&a, &b, &mut device, 3, 1);
        IntervalArithmetic.multiply(
            &a.map(|x| IntervalArithmetic.constant(x.into())),
            &b.map(|x| IntervalArithmetic.constant(x.into())),
            &mut bounds,
            3,
            1,
        );
        assert!(bounds[0].contains(device[0].into()), "{device:?} is not in {bounds:?}");
    }

    #[test]
    fn bounds_device_numbers() {
        let mut state = 1;
        for _ in 0..4000 {
            let ((a, left), (b, right)) = (draw_bounded_number(&mut state), draw_bounded_number(&mut state));
            for function in UNARY {
                let found = IntervalArithmetic
                    .round_for_store(DeviceFormat::Sen169Fp16, IntervalArithmetic.apply(function, &[], left));
                let device = round_to_dl16(DeviceArithmetic.apply(function, &[], a));
                assert!(found.contains(device.into()), "{function:?} of {a} is {device}, not in {found:?}");
            }
            for function in BINARY {
                let (mut bounds, mut device) = ([left], [a]);
                IntervalArithmetic.apply_binary(function, &mut bounds, &[right]);
                DeviceArithmetic.apply_binary(function, &mut device, &[b]);
                let (found, device) =
                    (IntervalArithmetic.round_for_store(DeviceFormat::Sen169Fp16, bounds[0]), round_to_dl16(device[0]));
                assert!(found.contains(device.into()), "{function:?} of {a} and {b} is {device}, not in {found:?}");
            }
            let square = IntervalArithmetic.square(left);
            assert!(square.low >= 0.0 && square.contains((a * a).into()));
        }
    }

    #[test]
    fn bounds_sums_of_products() {
        let (mut state, k, n) = (2, 700, 3);
        let (a, left): (Vec<f32>, Vec<BoundedNumber>) = (0..k).map(|_| draw_bounded_number(&mut state)).unzip();
        let (b, right): (Vec<f32>, Vec<BoundedNumber>) = (0..k * n).map(|_| draw_bounded_number(&mut state)).unzip();
        let (mut device, mut bounds) = (vec![0.0; n], vec![IntervalArithmetic.constant(0.0); n]);
        DeviceArithmetic.multiply(&a, &b, &mut device, k, n);
        IntervalArithmetic.multiply(&left, &right, &mut bounds, k, n);
        let mut exact = vec![0.0; n];
        F64Arithmetic.multiply(
            &left.iter().map(|x| x.exact).collect::<Vec<_>>(),
            &right.iter().map(|x| x.exact).collect::<Vec<_>>(),
            &mut exact,
            k,
            n,
        );
        for column in 0..n {
            assert!(
                bounds[column].contains(device[column].into()),
                "{} is not in {:?}",
                device[column],
                bounds[column]
            );
            assert!((bounds[column].exact - exact[column]).abs() < 1e-9);
        }
    }

    #[test]
    fn computes_narrow_bounds_of_plain_numbers() {
        let (x, y) = (IntervalArithmetic.constant(1.5), IntervalArithmetic.constant(-0.25));
        let sum = IntervalArithmetic.round_for_store(DeviceFormat::Sen169Fp16, IntervalArithmetic.add(x, y));
        assert_eq!((sum.exact, sum.low, sum.high), (1.25, 1.25, 1.25));
        let infinite = IntervalArithmetic.embed_value(f64::NEG_INFINITY, -dl16_to_f32(DL16_MAX));
        assert!(IntervalArithmetic.apply(UnaryFunction::Exp, &[], infinite).high < 1e-37);
        assert!(!x.contains(f64::NAN) && IntervalArithmetic.poison().contains(f64::NAN));
    }
}
