//! Arithmetic modulo the two primes P and Q.

/// First modulus, `2 Q + 1`.
pub(super) const P: u32 = 2_147_483_579;

/// Second modulus.
pub(super) const Q: u32 = 1_073_741_789;

/// Element of order Q modulo P.
pub(super) const BASE: u64 = 4;

/// Returns the sum of two residues.
pub(super) const fn add_mod(left: u64, right: u64, modulus: u32) -> u64 {
    let sum = left + right;
    if sum >= modulus as u64 { sum - modulus as u64 } else { sum }
}

/// Returns the negative of a residue.
pub(super) const fn negate_mod(residue: u64, modulus: u32) -> u64 {
    if residue == 0 { 0 } else { modulus as u64 - residue }
}

/// Returns `base` to the power of `exponent`. The modulus is a compile-time constant, so the compiler can replace the
/// division.
pub(super) const fn pow_mod<const MODULUS: u32>(base: u64, mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1, base);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result * square % MODULUS as u64;
        }
        square = square * square % MODULUS as u64;
        exponent /= 2;
    }
    result
}

/// Number of digits of an exponent in base 256.
const NUM_DIGITS: usize = 4;

/// Powers of [`BASE`], for each digit position of an exponent and each value of the digit.
static BASE_POWERS: [[u32; 256]; NUM_DIGITS] = compute_base_powers();

const fn compute_base_powers() -> [[u32; 256]; NUM_DIGITS] {
    let mut powers = [[1; 256]; NUM_DIGITS];
    let (mut digit, mut base) = (0, BASE);
    while digit < NUM_DIGITS {
        let (mut value, mut product) = (1, base);
        while value < 256 {
            powers[digit][value] = product as u32;
            product = product * base % P as u64;
            value += 1;
        }
        (digit, base) = (digit + 1, product);
    }
    powers
}

/// Returns [`BASE`] to the power of a residue modulo Q.
pub(super) fn pow_base(exponent: u64) -> u64 {
    let digits = (exponent as u32).to_le_bytes();
    BASE_POWERS
        .iter()
        .zip(digits)
        .fold(1, |product, (powers, digit)| product * u64::from(powers[usize::from(digit)]) % u64::from(P))
}

/// Exponent of the least positive f64 number, and number of exponents that the last bit of a number can have.
const MIN_EXPONENT: i64 = -1074;
const NUM_EXPONENTS: usize = 2046;

/// Powers of 2 modulo P and Q, from [`MIN_EXPONENT`] on.
static POWERS_OF_TWO: [[u32; NUM_EXPONENTS]; 2] = [compute_powers_of_two::<P>(), compute_powers_of_two::<Q>()];

const fn compute_powers_of_two<const MODULUS: u32>() -> [u32; NUM_EXPONENTS] {
    // Two to the power of `MODULUS - 1` is 1, so negative exponents are reduced modulo `MODULUS - 1`.
    let least = MIN_EXPONENT.rem_euclid(MODULUS as i64 - 1).unsigned_abs();
    let mut powers = [pow_mod::<MODULUS>(2, least) as u32; NUM_EXPONENTS];
    let mut index = 1;
    while index < NUM_EXPONENTS {
        powers[index] = (powers[index - 1] as u64 * 2 % MODULUS as u64) as u32;
        index += 1;
    }
    powers
}

/// Returns the residue of a finite number, a fraction whose divisor is a power of two.
pub(super) const fn residue_from_number<const MODULUS: u32>(number: f64) -> u64 {
    let bits = number.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let scale = POWERS_OF_TWO[if MODULUS == P { 0 } else { 1 }][(exponent - MIN_EXPONENT) as usize] as u64;
    let magnitude = mantissa % MODULUS as u64 * scale % MODULUS as u64;
    if number < 0.0 { negate_mod(magnitude, MODULUS) } else { magnitude }
}

/// Returns the inverses of a residue modulo P and of a residue modulo Q; the inverse of 0 is 0.
///
/// Both powers are computed in one loop: each is a dependent chain of multiplications, and the processor overlaps the
/// two chains.
pub(super) fn invert_residues(residues: [u64; 2]) -> [u64; 2] {
    let [p, q] = [u64::from(P), u64::from(Q)];
    let ([mut first, mut second], mut squares, mut exponents) = ([1, 1], residues, [p - 2, q - 2]);
    while exponents[0] > 0 {
        if exponents[0] % 2 == 1 {
            first = first * squares[0] % p;
        }
        if exponents[1] % 2 == 1 {
            second = second * squares[1] % q;
        }
        squares = [squares[0] * squares[0] % p, squares[1] * squares[1] % q];
        exponents = exponents.map(|exponent| exponent / 2);
    }
    [first, second]
}
