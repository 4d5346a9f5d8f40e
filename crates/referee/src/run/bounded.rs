//! Unrounded numbers, each with bounds on the device's rounded number.
//!
//! The bounds are interval arithmetic over the operations of the device. Rounding is monotone, so the rounded ends
//! enclose every rounded number between them. Functions are evaluated at the ends and at their extrema. The rounding of
//! `f32` operations widens the bounds by more than its error.

use crate::account::rounding::{Escape, OpError};
use crate::number::{decode_run, dl16_from_f32, dl16_to_f32, encode_run};
use crate::run::{
    beside::Companion,
    shadow::{Shadow, Shadows},
};
use element::{Arithmetic, Binary, Exact, Unary};
use machine::DeviceFormat;

/// Upper bound on the relative rounding error of an `f32` operation.
const STEP: f64 = 1.2e-7;

/// Upper bound on the error of an `f32` function, relative to the largest intermediate number.
const FUNCTION: f64 = 1e-6;

/// Magnitude below which `f32` loses precision (subnormal numbers).
const SMALLEST: f64 = 1.3e-38;

/// The largest number of `f32`.
const LARGEST: f64 = f32::MAX as f64;

/// Minima of silu and gelu: the argument, and a lower bound of the result there.
const SILU_TURNS: (f64, f64) = (-1.278_464_542_761_073_7, -0.278_464_8);
const GELU_TURNS: (f64, f64) = (-0.751_791_524_693_564_5, -0.169_971_4);

/// A number, and bounds on the rounded number that the device computes for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The number, in f64 throughout.
    pub exact: f64,
    /// Rounding error of f64 in the number, to first order.
    pub off: f64,
    /// Lower bound of the device's number.
    pub low: f64,
    /// Upper bound of the device's number; if both bounds are infinite it may be anything, also NaN.
    pub high: f64,
}

impl Bound {
    const fn new(exact: Shadow, low: f64, high: f64) -> Self {
        Self { exact: exact.number, off: exact.off, low, high }
    }

    const fn point(exact: Shadow, device: f64) -> Self {
        Self::new(exact, device, device)
    }

    const fn anything(exact: Shadow) -> Self {
        Self::new(exact, f64::NEG_INFINITY, f64::INFINITY)
    }

    /// The number that was never rounded to a format.
    const fn shadow(self) -> Shadow {
        Shadow { number: self.exact, off: self.off }
    }

    /// Returns these bounds with another unrounded number.
    const fn of(self, exact: Shadow) -> Self {
        Self::new(exact, self.low, self.high)
    }

    fn is_anything(self) -> bool {
        self.low == f64::NEG_INFINITY && self.high == f64::INFINITY
    }

    /// Returns whether the device's number is within the bounds.
    #[must_use]
    pub fn holds(self, device: f64) -> bool {
        self.is_anything() || (self.low <= device && device <= self.high)
    }

    /// Returns the bounds of an operation with a relative error of at most `slack`.
    fn around(exact: Shadow, low: f64, high: f64, slack: f64) -> Self {
        if low.is_nan() || high.is_nan() {
            return Self::anything(exact);
        }
        // Rounding keeps the sign.
        let wider = |end: f64, sign: f64| match end.abs() {
            0.0 => 0.0,
            f64::INFINITY => end,
            size if size < SMALLEST => {
                if end * sign > 0.0 {
                    SMALLEST * sign
                } else {
                    0.0
                }
            }
            size => size.mul_add(slack * sign, end),
        };
        // Numbers beyond the range of `f32` are infinities on the device.
        let within = |end: f64, sign: f64| if end * sign > LARGEST { f64::INFINITY * sign } else { end };
        Self::new(exact, within(wider(low, -1.0), -1.0), within(wider(high, 1.0), 1.0))
    }

    fn contains_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    fn is_zero(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }

    /// Returns the largest magnitude of a number within the bounds.
    fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    fn hull(self, other: Self, exact: Shadow) -> Self {
        Self::new(exact, self.low.min(other.low), self.high.max(other.high))
    }
}

/// Numbers with bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounded;

impl Bounded {
    /// Returns the bounds of an operation whose extrema are at corners of the operand intervals.
    fn corners(exact: Shadow, left: Bound, right: Bound, operation: impl Fn(f64, f64) -> f64) -> Bound {
        if left.is_anything() || right.is_anything() {
            return Bound::anything(exact);
        }
        let ends = [(left.low, right.low), (left.low, right.high), (left.high, right.low), (left.high, right.high)];
        let ends = ends.map(|(left, right)| operation(left, right));
        if ends.iter().any(|end| end.is_nan()) {
            return Bound::anything(exact);
        }
        let (low, high) = ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(*end), high.max(*end)));
        Bound::around(exact, low, high, STEP)
    }
}

impl Arithmetic for Bounded {
    type Element = Bound;

    fn number(&self, number: f64) -> Bound {
        Bound::point(Shadow::given(number), f64::from(number as f32))
    }

    fn poison(&self) -> Bound {
        Bound::anything(Shadow::given(f64::NAN))
    }

    fn is_poison(&self, element: Bound) -> bool {
        element.exact.is_nan()
    }

    fn is_zero(&self, element: Bound) -> bool {
        element.exact == 0.0
    }

    fn add(&self, left: Bound, right: Bound) -> Bound {
        let exact = Shadows.add(left.shadow(), right.shadow());
        if left.is_anything() || right.is_anything() {
            return Bound::anything(exact);
        }
        Bound::around(exact, left.low + right.low, left.high + right.high, STEP)
    }

    fn sub(&self, left: Bound, right: Bound) -> Bound {
        let exact = Shadows.sub(left.shadow(), right.shadow());
        if left.is_anything() || right.is_anything() {
            return Bound::anything(exact);
        }
        Bound::around(exact, left.low - right.high, left.high - right.low, STEP)
    }

    fn mul(&self, left: Bound, right: Bound) -> Bound {
        Self::corners(Shadows.mul(left.shadow(), right.shadow()), left, right, |left, right| left * right)
    }

    fn square(&self, element: Bound) -> Bound {
        let exact = Shadows.mul(element.shadow(), element.shadow());
        let (low, high) = (element.low * element.low, element.high * element.high);
        if element.is_anything() {
            return Bound::anything(exact);
        }
        let least = if element.contains_zero() { 0.0 } else { low.min(high) };
        Bound::around(exact, least, low.max(high), STEP)
    }

    fn div(&self, left: Bound, right: Bound) -> Bound {
        let exact = Shadows.div(left.shadow(), right.shadow());
        if right.contains_zero() {
            return Bound::anything(exact);
        }
        Self::corners(exact, left, right, |left, right| left / right)
    }

    fn maximum(&self, left: Bound, right: Bound) -> Bound {
        let exact = Shadows.maximum(left.shadow(), right.shadow());
        if left.is_anything() || right.is_anything() {
            return Bound::anything(exact);
        }
        Bound::new(exact, left.low.max(right.low), left.high.max(right.high))
    }

    fn minimum(&self, left: Bound, right: Bound) -> Bound {
        let exact = Shadows.minimum(left.shadow(), right.shadow());
        if left.is_anything() || right.is_anything() {
            return Bound::anything(exact);
        }
        Bound::new(exact, left.low.min(right.low), left.high.min(right.high))
    }

    fn compare(&self, comparison: Binary, left: Bound, right: Bound) -> Bound {
        let exact = Shadows.compare(comparison, left.shadow(), right.shadow());
        let is_decided = left.high < right.low || right.high < left.low || (left.low == left.high && right.low == right.high);
        if left.is_anything() || right.is_anything() || !is_decided {
            return Bound::new(exact, 0.0, 1.0);
        }
        Bound::point(exact, Exact.compare(comparison, left.low, right.low))
    }

    fn select(&self, condition: Bound, yes: Bound, no: Bound) -> Bound {
        let exact = Shadows.select(condition.shadow(), yes.shadow(), no.shadow());
        match () {
            () if condition.is_anything() => Bound::anything(exact),
            () if condition.is_zero() => no.of(exact),
            () if !condition.contains_zero() => yes.of(exact),
            () => yes.hull(no, exact),
        }
    }

    fn apply(&self, function: Unary, constants: &[Bound], x: Bound) -> Bound {
        let numbers: Vec<f64> = constants.iter().map(|constant| constant.exact).collect();
        let shadows: Vec<Shadow> = constants.iter().map(|constant| constant.shadow()).collect();
        let exact = Shadows.apply(function, &shadows, x.shadow());
        let constant = |index: usize| constants.get(index).copied().unwrap_or(self.poison());
        if x.is_anything() {
            return Bound::anything(exact);
        }
        let ends = || [x.low, x.high].map(|end| Exact.apply(function, &numbers, end));
        let growing = |slack: f64| Bound::around(exact, ends()[0], ends()[1], slack);
        // If the function has its minimum between the ends, that is the lower bound.
        let turning = |(turn, least): (f64, f64)| {
            let [low, high] = ends();
            let slack = FUNCTION * x.size();
            let low_end = if x.low <= turn && turn <= x.high { least } else { low.min(high) };
            Bound::around(exact, low_end - slack, low.max(high) + slack, FUNCTION)
        };
        match function {
            Unary::Abs if x.contains_zero() => Bound::new(exact, 0.0, x.size()),
            Unary::Abs => Bound::new(exact, x.low.abs().min(x.high.abs()), x.size()),
            Unary::Neg => Bound::new(exact, -x.high, -x.low),
            Unary::Relu => Bound::new(exact, x.low.max(0.0), x.high.max(0.0)),
            Unary::Reciprocal => self.div(self.number(1.0), x).of(exact),
            Unary::Clip => self.minimum(self.maximum(x, constant(0)), constant(1)).of(exact),
            Unary::Floor => growing(0.0),
            Unary::Sqrt => growing(STEP),
            Unary::Exp | Unary::Log | Unary::Tanh | Unary::Sigmoid => growing(FUNCTION),
            Unary::Softplus if constant(0).low > 0.0 => growing(FUNCTION),
            Unary::Softplus => Bound::anything(exact),
            Unary::Rsqrt if x.low > 0.0 => Bound::around(exact, ends()[1], ends()[0], FUNCTION),
            Unary::Rsqrt => Bound::anything(exact),
            Unary::Silu => turning(SILU_TURNS),
            Unary::Gelu => turning(GELU_TURNS),
        }
    }

    /// Multiplies in midpoint-radius form: midpoints are multiplied, and each radius is scaled by the magnitude of the
    /// other factor.
    fn multiply(&self, left: &[Bound], right: &[Bound], out: &mut [Bound], k: usize, n: usize) {
        let is_finite = |bounds: &[Bound]| bounds.iter().all(|bound| bound.exact.is_finite() && bound.size().is_finite());
        let middle = |bound: &Bound| [f64::midpoint(bound.low, bound.high), (bound.high - bound.low) / 2.0 * (1.0 + 1e-9), bound.size()];
        let (right_is_finite, middles): (bool, Vec<[f64; 3]>) = (is_finite(right), right.iter().map(middle).collect());
        let rounding = (k + 2) as f64 * STEP;
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
                let exact = Shadow::summed(*exact, *off, k, *magnitudes);
                // A partial sum may overflow to an infinity, and the final sum may then be any number.
                if *size > LARGEST {
                    *out = Bound::anything(Shadows.add(out.shadow(), exact));
                    continue;
                }
                let radius = radius + rounding * size;
                *out = self.add(*out, Bound::new(exact, mid - radius, mid + radius));
            }
        }
    }
}

impl Bounded {
    fn multiply_row(&self, row: &[Bound], right: &[Bound], out: &mut [Bound]) {
        for (factor, line) in row.iter().zip(right.chunks_exact(out.len())) {
            for (sum, other) in out.iter_mut().zip(line) {
                let is_nothing = factor.exact == 0.0 || other.exact == 0.0;
                let exact = if is_nothing { Shadow::given(0.0) } else { Shadows.mul(factor.shadow(), other.shadow()) };
                let zero = Bound::point(exact, 0.0);
                let product = if factor.is_zero() || other.is_zero() { zero } else { self.mul(*factor, *other).of(exact) };
                *sum = self.add(*sum, product);
            }
        }
    }
}

impl Companion for Bounded {
    fn given(&self, exact: f64, device: f32) -> Bound {
        let exact = Shadow::given(exact);
        if device.is_nan() { Bound::anything(exact) } else { Bound::point(exact, device.into()) }
    }

    fn stored(&self, format: DeviceFormat, element: Bound) -> Bound {
        if element.is_anything() {
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
        Bound::new(element.shadow(), rounded(element.low), rounded(element.high))
    }

    fn judge(&self, element: Bound, device: f32, error: &mut OpError) {
        if !element.holds(device.into()) && error.escaped.is_none() {
            error.escaped = Some(Escape { device, low: element.low, high: element.high });
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
    use crate::ops::Device;

    const UNARY: [Unary; 13] = [
        Unary::Abs,
        Unary::Exp,
        Unary::Floor,
        Unary::Gelu,
        Unary::Log,
        Unary::Neg,
        Unary::Reciprocal,
        Unary::Relu,
        Unary::Rsqrt,
        Unary::Sigmoid,
        Unary::Silu,
        Unary::Sqrt,
        Unary::Tanh,
    ];
    const BINARY: [Binary; 8] =
        [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Maximum, Binary::Minimum, Binary::Greater, Binary::Equal];

    /// Returns a random number of the device with bounds as wide as rounding makes them; some bounds are a single
    /// point.
    fn drawn(state: &mut u64) -> (f32, Bound) {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (*state >> 33) as u16;
        let device = dl16_to_f32(bits & 0x8000 | (0x3000 + bits % 0x1800));
        let width = f64::from(device) * [0.0, 1e-3, 0.3][(*state >> 60) as usize % 3];
        let exact = f64::from(device) + width / 3.0;
        let (one, other) = (f64::from(device) - width, f64::from(device) + width);
        (device, Bound::new(Shadow::given(exact), one.min(other), one.max(other)))
    }

    fn stored(device: f32) -> f32 {
        dl16_to_f32(dl16_from_f32(device))
    }

    #[test]
    fn an_end_at_infinity_stays_there() {
        let bound = Bounded.add(Bound::point(Shadow::given(f64::INFINITY), f64::INFINITY), Bounded.number(1.0));
        assert!(bound.holds(f64::INFINITY) && !bound.holds(1.0));
    }

    #[test]
    fn what_f32_does_not_reach_on_the_way_is_in_the_bounds() {
        let product = |numbers: &[f32]| {
            let device = numbers.iter().fold(1.0, |product, x| Device.mul(product, *x));
            let bound = numbers.iter().fold(Bounded.number(1.0), |product, x| Bounded.mul(product, Bounded.number(f64::from(*x))));
            assert!(bound.holds(device.into()), "{device} of {numbers:?} is not in {bound:?}");
        };
        product(&[1e30, 1e30, 1e-30]);
        product(&[-1e30, 1e30, 1e-30]);
        product(&[1e30, 1e30, 0.0]);
        let (mut device, mut bounds) = ([0.0], [Bounded.number(0.0)]);
        let (a, b) = ([1e30_f32, 1e30, 1.0], [1e30_f32, -1e30, 1.0]);
        Device.multiply(&a, &b, &mut device, 3, 1);
        Bounded.multiply(&a.map(|x| Bounded.number(x.into())), &b.map(|x| Bounded.number(x.into())), &mut bounds, 3, 1);
        assert!(bounds[0].holds(device[0].into()), "{device:?} is not in {bounds:?}");
    }

    #[test]
    fn the_device_stays_within_its_bounds() {
        let mut state = 1;
        for _ in 0..4000 {
            let ((a, left), (b, right)) = (drawn(&mut state), drawn(&mut state));
            for function in UNARY {
                let found = Bounded.stored(DeviceFormat::Sen169Fp16, Bounded.apply(function, &[], left));
                let device = stored(Device.apply(function, &[], a));
                assert!(found.holds(device.into()), "{function:?} of {a} is {device}, not in {found:?}");
            }
            for function in BINARY {
                let (mut bounds, mut device) = ([left], [a]);
                Bounded.binary(function, &mut bounds, &[right]);
                Device.binary(function, &mut device, &[b]);
                let (found, device) = (Bounded.stored(DeviceFormat::Sen169Fp16, bounds[0]), stored(device[0]));
                assert!(found.holds(device.into()), "{function:?} of {a} and {b} is {device}, not in {found:?}");
            }
            let square = Bounded.square(left);
            assert!(square.low >= 0.0 && square.holds((a * a).into()));
        }
    }

    #[test]
    fn sums_of_products_stay_within_their_bounds() {
        let (mut state, k, n) = (2, 700, 3);
        let (a, left): (Vec<f32>, Vec<Bound>) = (0..k).map(|_| drawn(&mut state)).unzip();
        let (b, right): (Vec<f32>, Vec<Bound>) = (0..k * n).map(|_| drawn(&mut state)).unzip();
        let (mut device, mut bounds) = (vec![0.0; n], vec![Bounded.number(0.0); n]);
        Device.multiply(&a, &b, &mut device, k, n);
        Bounded.multiply(&left, &right, &mut bounds, k, n);
        let mut exact = vec![0.0; n];
        Exact.multiply(
            &left.iter().map(|x| x.exact).collect::<Vec<_>>(),
            &right.iter().map(|x| x.exact).collect::<Vec<_>>(),
            &mut exact,
            k,
            n,
        );
        for column in 0..n {
            assert!(bounds[column].holds(device[column].into()), "{} is not in {:?}", device[column], bounds[column]);
            assert!((bounds[column].exact - exact[column]).abs() < 1e-9);
        }
    }

    #[test]
    fn bounds_of_plain_numbers_are_narrow() {
        let (x, y) = (Bounded.number(1.5), Bounded.number(-0.25));
        let sum = Bounded.stored(DeviceFormat::Sen169Fp16, Bounded.add(x, y));
        assert_eq!((sum.exact, sum.low, sum.high), (1.25, 1.25, 1.25));
        let infinite = Bounded.given(f64::NEG_INFINITY, -dl16_to_f32(DL16_MAX));
        assert!(Bounded.apply(Unary::Exp, &[], infinite).high < 1e-37);
        assert!(!x.holds(f64::NAN) && Bounded.poison().holds(f64::NAN));
    }
}
