//! Device functions that a file may name, and their properties that rules depend on ("SuperDSC-Bundle specification, supported functions").
//! The compiler's own table has only the functions that the compiler emits; a check also reads files of other emitters.

/// Family of a function: functions of one family follow the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Products summed over one dimension.
    Matmul,
    /// Products summed over a window and the channels.
    Convolution,
    /// Windows, channel by channel (pooling, depthwise convolution).
    Pooling,
    /// A reduction along the stick.
    StickReduction,
    /// A reduction along dimensions other than the stick.
    NonstickReduction,
    /// The largest values (top-k).
    TopK,
    /// A restickify: moves the stick to another dimension.
    Restickify,
    /// One result point for each point, with or without broadcasting, or a copy.
    Elementwise,
    /// A conversion of the number format.
    Conversion,
    /// A function without a known family.
    Other,
}

impl Family {
    /// Returns the family of a function; `None` if the back end has no such function.
    pub(super) fn of(function: &str) -> Option<Self> {
        FAMILIES.iter().find(|(_, names)| names.contains(&function)).map(|(family, _)| *family)
    }

    /// Whether the function slides windows.
    pub(super) const fn is_windowed(self) -> bool {
        matches!(self, Self::Convolution | Self::Pooling)
    }

    /// Whether the function reduces a dimension that its operands iterate.
    pub(super) const fn is_reduction(self) -> bool {
        matches!(self, Self::StickReduction | Self::NonstickReduction)
    }
}

const FAMILIES: [(Family, &[&str]); 10] = [
    (Family::Matmul, &["batchmatmul", "batchmatmulfp8", "batchmatmulint4", "batchmatmulint8"]),
    (Family::Convolution, &["conv2d", "conv2dfp8", "conv2dint4", "conv2dint8"]),
    (Family::Pooling, &["avgpoolfwd", "avgpoolnmapfwd", "maxpoolfwd", "depthwiseconv2dnative"]),
    (Family::StickReduction, &["absmax", "exx2", "exx2_zeromean", "max", "mean", "min", "sum"]),
    (Family::NonstickReduction, &["absmaxnonstick", "maxnonstick", "meannonstick", "minnonstick", "prodnonstick", "sumnonstick"]),
    (Family::TopK, &["topkindex", "topkvalue"]),
    (Family::Restickify, &["ReStickifyOpHBM"]),
    (Family::Elementwise, ELEMENTWISE),
    (Family::Conversion, CONVERSIONS),
    (Family::Other, &["maskbyindex", "quantscalepertoken", "quantscalepertokenfp8"]),
];

const ELEMENTWISE: &[&str] = &[
    "abs",
    "add",
    "batchnormfwd",
    "biasadd",
    "clip",
    "equal",
    "exp",
    "fastexp",
    "fastsigmoid",
    "floor",
    "fnms",
    "gelufwd",
    "greaterequal",
    "greaterthan",
    "identity",
    "layernormnorm",
    "layernormscale",
    "leakyrelufwd",
    "lesserequal",
    "lesserthan",
    "log",
    "maximum",
    "minimum",
    "mish",
    "mul",
    "neg",
    "notequal",
    "realdiv",
    "reciprocal",
    "relu6fwd",
    "relufwd",
    "revsub",
    "rsqrt",
    "shuffle",
    "sigmoid",
    "silu",
    "softplus",
    "sqrt",
    "sub",
    "tanh",
    "where3",
];

const CONVERSIONS: &[&str] =
    &["csqint4", "csqint4wt", "csqint8ch", "csqint8mb", "csqint8wt", "dl16tofp32", "fp32todl16", "fp8todl16", "qfp8ch", "qfp8mb", "qfp8wt"];

/// Returns the unit that executes a family (`exUnit`); depthwise convolutions do not run on the systolic array.
pub(super) const fn unit(family: Family) -> &'static str {
    match family {
        Family::Matmul | Family::Convolution => "pt",
        Family::Pooling
        | Family::StickReduction
        | Family::NonstickReduction
        | Family::TopK
        | Family::Restickify
        | Family::Elementwise
        | Family::Conversion
        | Family::Other => "sfp",
    }
}

/// The constant that replaces masked padding.
pub(super) const MASK_VALUE: &str = "samv-maskvalue";

/// Returns the required and the optional constants of a function; `None` if they are not established.
pub(super) fn constants(function: &str, family: Family) -> Option<(&'static [&'static str], &'static [&'static str])> {
    let needed: &[&str] = match function {
        "clip" => &["clipMin", "clipMax"],
        "softplus" => &["softplusBeta", "softplusThresh"],
        "layernormscale" => &["eps"],
        "exx2" => return Some((&["exx2scale"], &["useZeroMean"])),
        "mean" | "meannonstick" => &["scaling_factor"],
        "avgpoolfwd" => &["nmap"],
        "csqint4" | "csqint4wt" | "csqint8ch" | "csqint8mb" | "csqint8wt" => &["scaleact", "shiftact"],
        "quantscalepertokenfp8" => &["clipMin", "clipMax", "mulConst"],
        "batchnormfwd" | "exx2_zeromean" | "leakyrelufwd" => return None,
        _ => match family {
            Family::Matmul
            | Family::StickReduction
            | Family::NonstickReduction
            | Family::TopK
            | Family::Restickify
            | Family::Elementwise => &[],
            Family::Convolution | Family::Pooling | Family::Conversion | Family::Other => return None,
        },
    };
    Some((needed, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_one_family() {
        let mut names: Vec<_> = FAMILIES.iter().flat_map(|(_, names)| names.iter()).collect();
        let n_names = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), n_names);
        assert_eq!(Family::of("sumnonstick"), Some(Family::NonstickReduction));
        assert_eq!(Family::of("exx2nonstick"), None);
    }

    #[test]
    fn functions_have_their_constants() {
        assert_eq!(constants("add", Family::Elementwise), Some((&[][..], &[][..])));
        assert_eq!(constants("clip", Family::Elementwise), Some((&["clipMin", "clipMax"][..], &[][..])));
        assert_eq!(constants("qfp8ch", Family::Conversion), None);
        assert_eq!(constants("csqint4", Family::Conversion), Some((&["scaleact", "shiftact"][..], &[][..])));
    }
}
