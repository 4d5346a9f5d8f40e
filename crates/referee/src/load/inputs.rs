//! Seeded random inputs: both signs, several magnitudes, and no two equal adjacent elements, so that a swapped index is
//! detected.

use crate::error::SimError;
use crate::load::host::{ArrayElements, HostArray};
use machine::ElementType;
use sdsc_format::program::{Program, Tensor};
use std::str::FromStr;

/// Exclusive upper bound of integer inputs without a range; the lower bound is 0.
const DEFAULT_INTEGER_BOUND: i64 = 16;

/// Distribution of random inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputDistribution {
    /// Numbers of several magnitudes around an offset, so that a missing subtraction of a mean is detected.
    ///
    /// Arguments of two or more dimensions, except the first one, count as weights. They are divided by the square root
    /// of their second to last size. A matmul with them then keeps the magnitude of its other operand, and a later
    /// softmax does not degenerate to the choice of one element.
    #[default]
    Random,
    /// Few distinct numbers, for maxima, comparisons and sums with ties.
    Ties,
    /// Numbers of larger and smaller magnitudes than `Random`.
    Extreme,
    /// Random numbers, some of them infinite, mostly negative, as in masks.
    Infinite,
}

impl InputDistribution {
    /// All distributions.
    pub const ALL: [Self; 4] = [Self::Random, Self::Ties, Self::Extreme, Self::Infinite];

    /// Returns the name of the distribution on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Ties => "ties",
            Self::Extreme => "extreme",
            Self::Infinite => "infinite",
        }
    }

    /// Converts random bits to a number; `scale` is that of the tensor.
    fn sample_number(self, bits: u64, scale: f64) -> f64 {
        const OFFSET: f64 = 0.5;
        let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
        match self {
            Self::Random => scale * (random_float(bits) + OFFSET),
            Self::Ties => scale * sign * [0.0, 0.5, 1.0, 1.0][(bits >> 1) as usize % 4],
            Self::Extreme => scale * random_float(bits) * f64::exp2(((bits >> 40) % 16) as f64 - 10.0),
            Self::Infinite => match (bits >> 40) % 512 {
                0..64 => f64::NEG_INFINITY,
                64 => f64::INFINITY,
                _ => scale * (random_float(bits) + OFFSET),
            },
        }
    }
}

impl FromStr for InputDistribution {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join("', '");
        Self::ALL.into_iter().find(|draw| draw.name() == name).ok_or_else(|| format!("expected one of '{names}'"))
    }
}

/// Draws an array for an argument of a program, by its position. Each argument has a random stream of its own, so that
/// it does not change with the others.
///
/// # Errors
/// The program has no such argument, or no array has elements of its type.
pub fn draw_argument(
    program: &Program,
    position: usize,
    seed: u64,
    draw: InputDistribution,
) -> Result<HostArray, SimError> {
    let is_float = |tensor: &Tensor| tensor.element_type.parse().is_ok_and(ElementType::is_float);
    let is_matrix = |tensor: &Tensor| tensor.shape.len() > 1 && is_float(tensor);
    let none = || SimError::Array { name: program.name.clone(), message: format!("has no argument {position}") };
    let tensor = program.arguments.get(position).ok_or_else(none)?;
    let is_weight = is_matrix(tensor) && program.arguments[..position].iter().any(is_matrix);
    let length = tensor.shape.iter().rev().nth(1).copied().unwrap_or(1).max(1);
    let scale = if is_weight { 1.0 / (length as f64).sqrt() } else { 1.0 };
    let seed = seed.wrapping_mul(1_000_003).wrapping_add(position as u64);
    fill_random(tensor, seed, |bits| draw.sample_number(bits, scale))
}

/// Draws an array for a tensor. Indices lie in their range; floats lie between 2^-6 and 4, one in sixteen outside of
/// 1/4 to 2.
///
/// # Errors
/// No array has elements of the tensor's type.
pub fn draw_seeded_array(tensor: &Tensor, seed: u64) -> Result<HostArray, SimError> {
    fill_random(tensor, seed, random_float)
}

fn fill_random(tensor: &Tensor, seed: u64, float: impl Fn(u64) -> f64) -> Result<HostArray, SimError> {
    let [first, end] = tensor.index_range.unwrap_or([0, DEFAULT_INTEGER_BOUND]);
    let error = |message: String| SimError::Array { name: tensor.name.clone(), message };
    let length = tensor.shape.iter().try_fold(1usize, |length, size| length.checked_mul(usize::try_from(*size).ok()?));
    let length = length
        .filter(|length| *length as i64 <= tensor.bytes.max(1))
        .ok_or_else(|| error("is larger than its buffer".to_owned()))?;
    let mut elements = ArrayElements::zeros_for_tensor(tensor, length).map_err(error)?;
    let width = end.saturating_sub(first).max(1).unsigned_abs();
    // The name is part of the seed: two inputs of one shape must differ.
    let mut state = tensor.name.bytes().fold(seed, |state, byte| mix_bits(state ^ u64::from(byte)));
    for index in 0..length {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = mix_bits(state);
        let value = match elements {
            ArrayElements::F16(_)
            | ArrayElements::Bf16(_)
            | ArrayElements::F32(_)
            | ArrayElements::F64(_)
            | ArrayElements::F8E4M3Fn(_)
            | ArrayElements::F8E5M2(_) => float(bits),
            ArrayElements::I8(_) | ArrayElements::I32(_) | ArrayElements::I64(_) => {
                (first + (bits % width) as i64) as f64
            }
            ArrayElements::Bool(_) => (bits % 2) as f64,
        };
        elements.set(index, value);
    }
    Ok(HostArray { shape: tensor.shape.clone(), elements })
}

/// Rejects an element outside of the range that the program specifies for the tensor's indices. The error has the first
/// such element and its value.
pub(crate) fn check_indices(tensor: &Tensor, array: &HostArray) -> Result<(), SimError> {
    let Some([first, end]) = tensor.index_range else { return Ok(()) };
    let outside = |index: &usize| !(first..end).contains(&(array.elements.get(*index) as i64));
    let Some(found) = (0..array.elements.len()).find(outside) else { return Ok(()) };
    let (element, value) = (unravel_index(&array.shape, found), array.elements.get(found));
    let message = format!(
        "element {element:?} is {value}, which is not in the range {first}..{end} of the compiled program; to change it, compile with 'spyre.range' on the argument"
    );
    Err(SimError::Array { name: tensor.name.clone(), message })
}

/// Returns the indices of an element of a row-major array.
fn unravel_index(shape: &[i64], element: usize) -> Vec<usize> {
    let mut rest = element;
    let mut indices = vec![0; shape.len()];
    for (index, size) in indices.iter_mut().zip(shape).rev() {
        let size = usize::try_from(*size).unwrap_or(1).max(1);
        (*index, rest) = (rest % size, rest / size);
    }
    indices
}

/// Assembles a number from its sign, its exponent and 52 bits of fraction, all taken from `bits`.
fn random_float(bits: u64) -> f64 {
    const BIAS: u64 = 1023;
    let exponent = match bits & 15 {
        0 => BIAS - 6 + ((bits >> 5) & 7),
        1..=5 => BIAS - 2,
        6..=10 => BIAS - 1,
        _ => BIAS,
    };
    f64::from_bits(((bits & 16) << 59) | (exponent << 52) | (bits >> 12))
}

/// Mixes bits (the finalizer of SplitMix64).
const fn mix_bits(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn tensor(name: &str, element_type: &str) -> Tensor {
        let (name, element_type, format) = (name.to_owned(), element_type.to_owned(), "SEN169_FP16".to_owned());
        let (device_size, stride_map) = (vec![16, 64], vec![64, 1]);
        Tensor {
            name,
            shape: vec![1000],
            element_type,
            format,
            device_size,
            stride_map,
            bytes: 2048,
            ..Tensor::default()
        }
    }

    #[test]
    fn derives_inputs_from_seed_and_name() {
        let of = |name, seed| draw_seeded_array(&tensor(name, "f32"), seed).unwrap();
        assert_eq!(of("a", 1), of("a", 1));
        assert_ne!(of("a", 1), of("a", 2));
        assert_ne!(of("a", 1), of("b", 1));
    }

    #[test]
    fn draws_floats_of_both_signs_and_several_magnitudes() {
        let array = draw_seeded_array(&tensor("a", "f32"), 7).unwrap();
        let values: Vec<f64> = (0..1000).map(|index| array.elements.get(index)).collect();
        assert!(values.iter().all(|value| (0.015..4.001).contains(&value.abs())));
        assert!(values.iter().any(|value| value.abs() < 0.05) && values.iter().any(|value| value.abs() > 2.0));
        let negative = values.iter().filter(|value| **value < 0.0).count();
        assert!((300..700).contains(&negative), "{negative}");
    }

    #[test]
    fn offsets_arguments_and_scales_weights() {
        let (mut x, mut weights) = (tensor("x", "f32"), tensor("w", "f32"));
        (x.shape, weights.shape) = (vec![10, 100], vec![100, 10]);
        let program = Program { arguments: vec![x, weights, tensor("bias", "f32")], ..Program::default() };
        let mean = |position| {
            let array = draw_argument(&program, position, 3, InputDistribution::Random).unwrap();
            (0..1000).map(|index| array.elements.get(index)).sum::<f64>() / 1000.0
        };
        assert!((mean(0) - 0.5).abs() < 0.2 && (mean(2) - 0.5).abs() < 0.2 && (mean(1) - 0.05).abs() < 0.02);
        assert!(draw_argument(&program, 3, 3, InputDistribution::Random).is_err());
        assert_eq!("ties".parse(), Ok(InputDistribution::Ties));
        assert!("tie".parse::<InputDistribution>().unwrap_err().contains("'random', 'ties', 'extreme', 'infinite'"));
    }

    #[test]
    fn draws_ties_and_infinities() {
        let program = Program { arguments: vec![tensor("x", "f16")], ..Program::default() };
        let values = |draw| {
            let array = draw_argument(&program, 0, 3, draw).unwrap();
            (0..1000).map(|index| array.elements.get(index)).collect::<Vec<f64>>()
        };
        assert!(values(InputDistribution::Ties).iter().all(|value| [0.0, 0.5, 1.0].contains(&value.abs())));
        assert!(
            values(InputDistribution::Infinite).contains(&f64::NEG_INFINITY)
                && values(InputDistribution::Infinite).contains(&f64::INFINITY)
        );
        assert!(values(InputDistribution::Extreme).iter().any(|value| value.abs() > 32.0));
    }

    #[test]
    fn draws_small_integers() {
        let array = draw_seeded_array(&tensor("a", "i64"), 7).unwrap();
        assert!((0..1000).all(|index| (0.0..16.0).contains(&array.elements.get(index))));
    }

    #[test]
    fn draws_indices_from_entire_range() {
        let indices = Tensor { index_range: Some([100, 103]), ..tensor("a", "i32") };
        let array = draw_seeded_array(&indices, 7).unwrap();
        let found: BTreeSet<i64> = (0..1000).map(|index| array.elements.get(index) as i64).collect();
        assert_eq!(found, BTreeSet::from([100, 101, 102]));
        assert!(check_indices(&indices, &array).is_ok());
    }

    #[test]
    fn rejects_index_outside_of_its_range() {
        let indices = |range| Tensor { index_range: range, ..tensor("a", "i64") };
        let array = HostArray { shape: vec![2, 3], elements: ArrayElements::I64(vec![0, 4, 1, 2, 5, -1]) };
        let message = |range| check_indices(&indices(range), &array).unwrap_err().to_string();
        assert_eq!(
            message(Some([0, 5])),
            "'a': element [1, 1] is 5, which is not in the range 0..5 of the compiled program; to change it, compile with 'spyre.range' on the argument"
        );
        assert_eq!(
            message(Some([0, 6])),
            "'a': element [1, 2] is -1, which is not in the range 0..6 of the compiled program; to change it, compile with 'spyre.range' on the argument"
        );
        assert!(check_indices(&indices(None), &array).is_ok());
    }
}
