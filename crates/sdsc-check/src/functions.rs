//! Device functions that a file may name, and their properties that rules depend on ("SuperDSC-Bundle specification,
//! supported functions"). The compiler's own table has only the functions that the compiler emits; a check also reads
//! files of other emitters.

/// Family of a function: functions of one family follow the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionFamily {
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
    /// Pointwise functions, with or without broadcasting, and copies.
    Elementwise,
    /// A conversion of the number format.
    Conversion,
    /// A function without a known family.
    Other,
}

impl FunctionFamily {
    /// Returns the family of a function; `None` if the back end has no such function.
    pub(super) fn from_function(function: &str) -> Option<Self> {
        FAMILIES.iter().find(|(_, names)| names.contains(&function)).map(|(family, _)| *family)
    }

    /// Returns whether the function slides windows.
    pub(super) const fn is_windowed(self) -> bool {
        matches!(self, Self::Convolution | Self::Pooling)
    }

    /// Returns whether the function reduces a dimension that its operands iterate.
    pub(super) const fn is_reduction(self) -> bool {
        matches!(self, Self::StickReduction | Self::NonstickReduction)
    }
}

const FAMILIES: [(FunctionFamily, &[&str]); 10] = [
    (FunctionFamily::Matmul, &["batchmatmul", "batchmatmulfp8", "batchmatmulint4", "batchmatmulint8"]),
    (FunctionFamily::Convolution, &["conv2d", "conv2dfp8", "conv2dint4", "conv2dint8"]),
    (FunctionFamily::Pooling, &["avgpoolfwd", "avgpoolnmapfwd", "maxpoolfwd", "depthwiseconv2dnative"]),
    (FunctionFamily::StickReduction, &["absmax", "exx2", "exx2_zeromean", "max", "mean", "min", "sum"]),
    (
        FunctionFamily::NonstickReduction,
        &["absmaxnonstick", "maxnonstick", "meannonstick", "minnonstick", "prodnonstick", "sumnonstick"],
    ),
    (FunctionFamily::TopK, &["topkindex", "topkvalue"]),
    (FunctionFamily::Restickify, &["ReStickifyOpHBM"]),
    (FunctionFamily::Elementwise, ELEMENTWISE_FUNCTIONS),
    (FunctionFamily::Conversion, CONVERSION_FUNCTIONS),
    (FunctionFamily::Other, &["maskbyindex", "quantscalepertoken", "quantscalepertokenfp8"]),
];

const ELEMENTWISE_FUNCTIONS: &[&str] = &[
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

const CONVERSION_FUNCTIONS: &[&str] = &[
    "csqint4",
    "csqint4wt",
    "csqint8ch",
    "csqint8mb",
    "csqint8wt",
    "dl16tofp32",
    "fp32todl16",
    "fp8todl16",
    "qfp8ch",
    "qfp8mb",
    "qfp8wt",
];

/// Returns the unit that executes a family (`exUnit`); depthwise convolutions do not run on the systolic array.
pub(super) const fn execution_unit(family: FunctionFamily) -> &'static str {
    match family {
        FunctionFamily::Matmul | FunctionFamily::Convolution => "pt",
        FunctionFamily::Pooling
        | FunctionFamily::StickReduction
        | FunctionFamily::NonstickReduction
        | FunctionFamily::TopK
        | FunctionFamily::Restickify
        | FunctionFamily::Elementwise
        | FunctionFamily::Conversion
        | FunctionFamily::Other => "sfp",
    }
}

/// Name of the constant that replaces masked padding.
pub(super) const MASK_VALUE: &str = "samv-maskvalue";

/// Returns the required and the optional constants of a function; `None` if they are not established.
pub(super) fn function_constants(
    function: &str,
    family: FunctionFamily,
) -> Option<(&'static [&'static str], &'static [&'static str])> {
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
            FunctionFamily::Matmul
            | FunctionFamily::StickReduction
            | FunctionFamily::NonstickReduction
            | FunctionFamily::TopK
            | FunctionFamily::Restickify
            | FunctionFamily::Elementwise => &[],
            FunctionFamily::Convolution
            | FunctionFamily::Pooling
            | FunctionFamily::Conversion
            | FunctionFamily::Other => return None,
        },
    };
    Some((needed, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assigns_one_family_to_each_function() {
        let mut names: Vec<_> = FAMILIES.iter().flat_map(|(_, names)| names.iter()).collect();
        let num_names = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), num_names);
        assert_eq!(FunctionFamily::from_function("sumnonstick"), Some(FunctionFamily::NonstickReduction));
        assert_eq!(FunctionFamily::from_function("exx2nonstick"), None);
    }

    #[test]
    fn returns_constants_of_functions() {
        assert_eq!(function_constants("add", FunctionFamily::Elementwise), Some((&[][..], &[][..])));
        assert_eq!(
            function_constants("clip", FunctionFamily::Elementwise),
            Some((&["clipMin", "clipMax"][..], &[][..]))
        );
        assert_eq!(function_constants("qfp8ch", FunctionFamily::Conversion), None);
        assert_eq!(
            function_constants("csqint4", FunctionFamily::Conversion),
            Some((&["scaleact", "shiftact"][..], &[][..]))
        );
    }
}
