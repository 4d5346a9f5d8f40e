//! Requested knob values in their textual form: `KERNEL.KNOB=VALUE`.

use std::{fmt, str::FromStr};

/// Requested value of a knob, for the kernels of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnobValue {
    /// Name of the kernel.
    pub kernel: String,
    /// Name of the knob.
    pub knob: String,
    /// Value, at least 1.
    pub value: i64,
}

impl FromStr for KnobValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let reject = || format!("expected KERNEL.KNOB=VALUE with a positive value, found '{text}'");
        let (name, value) = text.split_once('=').ok_or_else(reject)?;
        // A kernel name may contain dots, a knob name may not.
        let (kernel, knob) =
            name.rsplit_once('.').filter(|(kernel, knob)| !kernel.is_empty() && !knob.is_empty()).ok_or_else(reject)?;
        let value = value.parse().ok().filter(|&value| value > 0).ok_or_else(reject)?;
        Ok(Self { kernel: kernel.to_owned(), knob: knob.to_owned(), value })
    }
}

impl fmt::Display for KnobValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}={}", self.kernel, self.knob, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints_kernel_knob_and_value() {
        let value = |kernel: &str| KnobValue { kernel: kernel.to_owned(), knob: "T".to_owned(), value: 8 };
        assert_eq!("norm.T=8".parse(), Ok(value("norm")));
        assert_eq!("a.b.T=8".parse(), Ok(value("a.b")));
        assert_eq!(value("a.b").to_string(), "a.b.T=8");
        for wrong in ["T=8", ".T=8", "norm.=8", "norm.T", "norm.T=0", "norm.T=x", "norm.T=-1"] {
            assert!(
                wrong.parse::<KnobValue>().is_err_and(|message| message.ends_with(&format!("found '{wrong}'"))),
                "{wrong}"
            );
        }
    }
}
