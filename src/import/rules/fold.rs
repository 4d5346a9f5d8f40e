//! Integer operations on constants, as MLIR defines them: in two's complement of the operation's width.
//!
//! A constant integer is stored as the signed value of its bits at any width: a byte of 255 is -1, and a true `i1` is
//! -1, too. Unsigned operations use [`unsigned`]. Each function computes in 128 bits, which no operation on 64 bits
//! overflows, and wraps the result to its width.

use std::fmt;

/// Maximum width of integers that are folded.
pub(in crate::import) const MAX_WIDTH: u32 = 64;

/// Integer types of an operation, as widths in bits; `index` has 64. The width of a type that is not an integer is
/// never read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerWidths {
    /// Width of the first operand.
    pub operand: u32,
    /// Width of the result.
    pub result: u32,
}

impl IntegerWidths {
    /// Returns operands and a result of one width.
    #[must_use]
    pub const fn uniform(width: u32) -> Self {
        Self { operand: width, result: width }
    }
}

/// Reason why MLIR gives no value to an operation on these operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum Undefined {
    /// The divisor is zero.
    DivisionByZero,
    /// The quotient of the smallest integer and -1.
    QuotientOverflow,
    /// The unsigned shift amount is not below the width.
    ShiftAmount(i128, u32),
    /// The number is not representable as an integer of that width.
    Conversion(u32),
}

impl fmt::Display for Undefined {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero => {
                out.write_str("divides an integer by 0, which has no result; select another divisor where it is 0")
            }
            Self::QuotientOverflow => out.write_str(
                "divides the smallest integer of its type by -1, which has no result; select another divisor there",
            ),
            Self::ShiftAmount(amount, width) => {
                write!(
                    out,
                    "shifts an integer of {width} bits by {amount}, which has no result; shift by 0 to {}",
                    width - 1
                )
            }
            Self::Conversion(width) => {
                write!(
                    out,
                    "converts a number that is out of range to an integer of {width} bits, which has no result; clamp the number first"
                )
            }
        }
    }
}

/// Result of an integer operation, or the reason why there is none.
pub(in crate::import) type IntegerFunction = fn(&[i64], IntegerWidths) -> Result<i64, Undefined>;

/// Returns the bits of an integer as an unsigned number.
const fn unsigned(integer: i64, width: u32) -> i128 {
    (integer as i128) & ((1 << width) - 1)
}

/// Wraps an integer to its width: sign-extends its lowest bits.
#[allow(clippy::cast_possible_truncation, reason = "at most 64 bits are left")]
const fn wrap(integer: i128, width: u32) -> i64 {
    let unused = 128 - width;
    ((integer << unused) >> unused) as i64
}

const fn smallest(width: u32) -> i128 {
    -(1 << (width - 1))
}

/// Applies a function to signed operands, and wraps the result to its width.
macro_rules! signed {
    ($function:expr) => {
        |x, widths| {
            let function: fn(i128, i128) -> i128 = $function;
            Ok(wrap(function(x[0].into(), x[1].into()), widths.result))
        }
    };
}

/// Applies a function to unsigned operands.
macro_rules! of_bits {
    ($function:expr) => {
        |x, widths| {
            let function: fn(i128, i128) -> i128 = $function;
            Ok(wrap(function(unsigned(x[0], widths.operand), unsigned(x[1], widths.operand)), widths.result))
        }
    };
}

/// Computes a quotient or a remainder of signed operands.
macro_rules! signed_quotient {
    ($function:expr) => {
        |x, widths| {
            let function: fn(i128, i128) -> i128 = $function;
            let (dividend, divisor) = (i128::from(x[0]), i128::from(x[1]));
            match divisor {
                0 => Err(Undefined::DivisionByZero),
                -1 if dividend == smallest(widths.operand) => Err(Undefined::QuotientOverflow),
                _ => Ok(wrap(function(dividend, divisor), widths.result)),
            }
        }
    };
}

/// Computes a quotient or a remainder of unsigned operands.
macro_rules! unsigned_quotient {
    ($function:expr) => {
        |x, widths| {
            let function: fn(i128, i128) -> i128 = $function;
            let (dividend, divisor) = (unsigned(x[0], widths.operand), unsigned(x[1], widths.operand));
            if divisor == 0 {
                Err(Undefined::DivisionByZero)
            } else {
                Ok(wrap(function(dividend, divisor), widths.result))
            }
        }
    };
}

macro_rules! shift {
    ($read:expr, $function:expr) => {
        |x, widths| {
            let (read, function): (fn(i64, u32) -> i128, fn(i128, u32) -> i128) = ($read, $function);
            let amount = unsigned(x[1], widths.operand);
            match u32::try_from(amount) {
                Ok(bits) if bits < widths.operand => {
                    Ok(wrap(function(read(x[0], widths.operand), bits), widths.result))
                }
                _ => Err(Undefined::ShiftAmount(amount, widths.operand)),
            }
        }
    };
}

macro_rules! compare {
    ($read:expr, $function:expr) => {
        |x, widths| {
            let (read, function): (fn(i64, u32) -> i128, fn(&i128, &i128) -> bool) = ($read, $function);
            Ok(wrap(i128::from(function(&read(x[0], widths.operand), &read(x[1], widths.operand))), 1))
        }
    };
}

fn with_sign(integer: i64, _width: u32) -> i128 {
    integer.into()
}

/// Folds the operation of that name on constant integers; returns None for other operations, operands or results.
#[allow(clippy::too_many_lines, reason = "a table")]
pub(in crate::import) fn find_integer_function(name: &str) -> Option<IntegerFunction> {
    Some(match name {
        "arith.addi" => signed!(|a, b| a + b),
        "arith.subi" => signed!(|a, b| a - b),
        "arith.muli" => signed!(|a, b| a * b),
        "arith.divsi" => signed_quotient!(|a, b| a / b),
        "arith.floordivsi" => signed_quotient!(|a, b| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)),
        "arith.ceildivsi" => {
            signed_quotient!(|a, b| -((-a).div_euclid(b) - i128::from(b < 0 && (-a).rem_euclid(b) != 0)))
        }
        // MLIR defines the remainder by -1 as 0, also where the quotient has no value.
        "arith.remsi" => |x, widths| match x[1] {
            0 => Err(Undefined::DivisionByZero),
            divisor => Ok(wrap(i128::from(x[0]) % i128::from(divisor), widths.result)),
        },
        "arith.divui" => unsigned_quotient!(|a, b| a / b),
        "arith.ceildivui" => unsigned_quotient!(|a, b| (a + b - 1) / b),
        "arith.remui" => unsigned_quotient!(|a, b| a % b),
        "arith.andi" => signed!(|a, b| a & b),
        "arith.ori" => signed!(|a, b| a | b),
        "arith.xori" => signed!(|a, b| a ^ b),
        "arith.shli" => shift!(with_sign, |x, bits| x << bits),
        "arith.shrsi" => shift!(with_sign, |x, bits| x >> bits),
        "arith.shrui" => shift!(unsigned, |x, bits| x >> bits),
        "arith.maxsi" => signed!(i128::max),
        "arith.minsi" => signed!(i128::min),
        "arith.maxui" => of_bits!(i128::max),
        "arith.minui" => of_bits!(i128::min),
        "arith.cmpi eq" => compare!(with_sign, i128::eq),
        "arith.cmpi ne" => compare!(with_sign, i128::ne),
        "arith.cmpi slt" => compare!(with_sign, i128::lt),
        "arith.cmpi sle" => compare!(with_sign, i128::le),
        "arith.cmpi sgt" => compare!(with_sign, i128::gt),
        "arith.cmpi sge" => compare!(with_sign, i128::ge),
        "arith.cmpi ult" => compare!(unsigned, i128::lt),
        "arith.cmpi ule" => compare!(unsigned, i128::le),
        "arith.cmpi ugt" => compare!(unsigned, i128::gt),
        "arith.cmpi uge" => compare!(unsigned, i128::ge),
        "arith.extsi" | "arith.index_cast" | "arith.trunci" => |x, widths| Ok(wrap(x[0].into(), widths.result)),
        "arith.extui" | "arith.index_castui" => |x, widths| Ok(wrap(unsigned(x[0], widths.operand), widths.result)),
        "math.absi" => |x, widths| Ok(wrap(i128::from(x[0]).abs(), widths.result)),
        _ => return None,
    })
}

/// Converts an integer to a number, rounded to f64 as MLIR rounds it.
#[allow(clippy::cast_precision_loss, reason = "the conversion rounds")]
pub(in crate::import) fn to_number(integer: i64, width: u32, is_signed: bool) -> f64 {
    if is_signed { integer as f64 } else { unsigned(integer, width) as f64 }
}

/// Truncates a number to an integer.
///
/// # Errors
/// Returns an error if the type does not represent the integer.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the ends of the type are powers of two"
)]
pub(in crate::import) fn to_integer(number: f64, width: u32, is_signed: bool) -> Result<i64, Undefined> {
    let whole = number.trunc();
    let (first, end) = if is_signed { (smallest(width), -smallest(width)) } else { (0, 1 << width) };
    if (first as f64..end as f64).contains(&whole) {
        Ok(wrap(whole as i128, width))
    } else {
        Err(Undefined::Conversion(width))
    }
}

/// Returns the integer of `width` bits that a node's element represents: a truth value of 1 is -1 as a signed integer.
pub(in crate::import) const fn wrap_to_width(integer: i64, width: u32) -> i64 {
    wrap(integer as i128, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold_integers(name: &str, width: u32, operands: &[i64]) -> Result<i64, Undefined> {
        find_integer_function(name).unwrap()(operands, IntegerWidths::uniform(width))
    }

    #[test]
    fn wraps_results_to_width() {
        assert_eq!(fold_integers("arith.addi", 8, &[100, 100]), Ok(-56));
        assert_eq!(
            fold_integers("arith.muli", 32, &[63, 1_103_515_245]),
            Ok((63_i32.wrapping_mul(1_103_515_245)).into())
        );
        assert_eq!(fold_integers("arith.subi", 64, &[i64::MIN, 1]), Ok(i64::MAX));
        assert_eq!(fold_integers("arith.subi", 64, &[9_007_199_254_740_993, 9_007_199_254_740_992]), Ok(1));
        assert_eq!(fold_integers("arith.shli", 64, &[4, 62]), Ok(0));
        assert_eq!(fold_integers("math.absi", 8, &[-128]), Ok(-128));
        assert_eq!(fold_integers("arith.addi", 1, &[-1, -1]), Ok(0));
    }

    #[test]
    fn reads_bits_of_unsigned_operations() {
        assert_eq!(fold_integers("arith.minui", 32, &[-8, 8]), Ok(8));
        assert_eq!(fold_integers("arith.maxui", 32, &[-8, 8]), Ok(-8));
        assert_eq!(fold_integers("arith.divui", 8, &[-1, 2]), Ok(127));
        assert_eq!(fold_integers("arith.remui", 64, &[-1, 10]), Ok(5));
        assert_eq!(fold_integers("arith.shrui", 8, &[-128, 1]), Ok(64));
        assert_eq!(fold_integers("arith.cmpi ult", 64, &[-1, 8]), Ok(0));
        assert_eq!(fold_integers("arith.cmpi slt", 64, &[-1, 8]), Ok(-1), "true");
        assert_eq!(fold_integers("arith.cmpi slt", 1, &[-1, 0]), Ok(-1), "a true i1 is -1");
        let extended = find_integer_function("arith.extui").unwrap()(&[-1], IntegerWidths { operand: 8, result: 32 });
        assert_eq!(extended, Ok(255));
        assert_eq!((to_number(-1, 8, false), to_number(-1, 64, false)), (255.0, 18_446_744_073_709_551_615.0));
    }

    #[test]
    fn rounds_quotients_in_named_direction() {
        for (dividend, divisor) in [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (0, -5)] {
            let exact = f64::from(dividend) / f64::from(divisor);
            let quotient = |name| {
                fold_integers(name, 32, &[dividend.into(), divisor.into()])
                    .map(|found| f64::from(i32::try_from(found).unwrap()))
            };
            assert_eq!(quotient("arith.divsi"), Ok(exact.trunc()), "{dividend} / {divisor}");
            assert_eq!(quotient("arith.floordivsi"), Ok(exact.floor()), "{dividend} / {divisor}");
            assert_eq!(quotient("arith.ceildivsi"), Ok(exact.ceil()), "{dividend} / {divisor}");
        }
        assert_eq!(fold_integers("arith.ceildivui", 8, &[-1, 2]), Ok(-128), "half of 255 is 128");
    }

    #[test]
    fn reports_undefined_results() {
        for name in ["divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi", "remui"] {
            assert_eq!(fold_integers(&format!("arith.{name}"), 16, &[5, 0]), Err(Undefined::DivisionByZero), "{name}");
        }
        assert_eq!(fold_integers("arith.divsi", 8, &[-128, -1]), Err(Undefined::QuotientOverflow));
        assert_eq!(fold_integers("arith.remsi", 8, &[-128, -1]), Ok(0));
        assert_eq!(fold_integers("arith.shli", 8, &[1, 8]), Err(Undefined::ShiftAmount(8, 8)));
        assert_eq!(fold_integers("arith.shrsi", 8, &[1, -1]), Err(Undefined::ShiftAmount(255, 8)));
        assert_eq!(to_integer(128.0, 8, true), Err(Undefined::Conversion(8)));
        assert_eq!((to_integer(-128.9, 8, true), to_integer(255.5, 8, false)), (Ok(-128), Ok(-1)));
        assert!(to_integer(f64::NAN, 64, true).is_err() && to_integer(-0.5, 8, false) == Ok(0));
    }
}
