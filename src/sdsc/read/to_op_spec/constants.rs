//! Reconstructs the values of an op's constants from their bits.

use super::OpSpecReadError;
use super::file::SdscFile;
use crate::bundle::NamedConstant;
use crate::bundle::OpFamily;
use sdsc_format::model::{ConstantBits, ConstantInfo};

/// Returns the op's own constants, without the padding mask, which the rules append last.
pub(super) fn read_constants(file: &SdscFile<'_>) -> Result<Vec<NamedConstant>, OpSpecReadError> {
    let infos = &file.dsc.constants.0.0;
    let num_own = infos.len().saturating_sub(usize::from(!file.dsc.masking.is_empty()));
    let is_pool = file.family(true) == OpFamily::Pool;
    let constant = |(number, info): &(usize, ConstantInfo)| {
        let name = if is_pool && info.name == "nmap" { "scaling_factor".to_owned() } else { info.name.to_string() };
        Ok(NamedConstant { name, value: read_value(*number, info)? })
    };
    infos[..num_own].iter().map(constant).collect()
}

fn read_value(number: usize, info: &ConstantInfo) -> Result<f64, OpSpecReadError> {
    let reject = |reason: String| OpSpecReadError::member(format!("constantInfo_.{number}.data_"), reason);
    let [(_, bits)] = info.data.data.0.as_slice() else {
        return Err(reject("a constant is the same on every core".to_owned()));
    };
    match bits.0.as_slice() {
        [ConstantBits::Known(bits)] if info.format == "IEEE_FP32" => Ok(f64::from(f32::from_bits(*bits))),
        [ConstantBits::Known(bits)] => u16::try_from(*bits)
            .map(decode_dl16)
            .map_err(|_| reject(format!("{bits} has more than the 16 bits of a DL16 number"))),
        [ConstantBits::Marker(text)] => {
            let number = text
                .strip_prefix("?DL16(")
                .and_then(|rest| rest.strip_suffix(')'))
                .and_then(|number| number.parse().ok());
            number.ok_or_else(|| reject(format!("'{text}' is no number")))
        }
        _ => Err(reject("a constant has one value".to_owned())),
    }
}

/// Returns the value of DL16 bits: the inverse of [`dl16_bits`](crate::sdsc::emit::dl16_bits), where it exists.
fn decode_dl16(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    if bits & 0x7fff == 0x7fff {
        return f64::NAN.copysign(sign);
    }
    let exponent = i32::from((bits >> 9) & 0x3f);
    let mantissa = f64::from(bits & 0x1ff) / 512.0;
    let magnitude =
        if exponent == 0 { mantissa * 2_f64.powi(-30) } else { (1.0 + mantissa) * 2_f64.powi(exponent - 31) };
    sign * magnitude
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdsc::emit::dl16_bits;

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "every DL16 number but the largest is a single")]
    fn decodes_every_emitted_bit_pattern() {
        for bits in (0..=0x7e00_u16).chain([0x7fff]) {
            for bits in [bits, bits | 0x8000] {
                assert_eq!(dl16_bits(decode_dl16(bits) as f32), bits, "{bits:#x}");
            }
        }
    }
}
