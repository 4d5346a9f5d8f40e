//! Table of the operations on tensors, with their lowerings or the reasons for rejection. It drives `spyre-check-input`
//! and `docs/reference/supported-ops.md`.

use super::functions::SCALAR_FUNCTIONS;
use std::fmt::Write;

/// Support of an operation by the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is supported, with this lowering.
    Becomes(&'static str),
    /// It cannot be compiled, and why.
    Refused(&'static str),
}

/// An operation, or a family of them.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The full name; a family ends in `*`.
    pub name: &'static str,
    /// Support by the compiler.
    pub outcome: Outcome,
}

const fn becomes(name: &'static str, what: &'static str) -> Operation {
    Operation { name, outcome: Outcome::Becomes(what) }
}

const fn refused(name: &'static str, why: &'static str) -> Operation {
    Operation { name, outcome: Outcome::Refused(why) }
}

const WINOGRAD: &str = "is a step of a convolution in another form: convolutions are read as they are";
const CONTROL_FLOW: &str =
    "is control flow: a program is a list of operations on tensors; use `scf.for`, `scf.if` or a choice by `arith.select`";
const SCATTER: &str = "writes to places that are known at run time only";

/// Operations on whole tensors. The row with the longest name that fits counts.
pub const OPERATIONS: &[Operation] = &[
    becomes("linalg.generic", "what its body computes: the scalar operations below, `reduce`, `matmul`, `view`, `gather`"),
    becomes("linalg.*", "the same as the `linalg.generic` that says what it computes"),
    becomes("linalg.fill", "a `constant` where it is read, or nothing where a reduction starts from it"),
    becomes("linalg.softmax", "`reduce max`, `sub`, `exp`, `reduce sum`, `realdiv`"),
    becomes(
        "linalg.conv_*",
        "one `matmul` of a shifted `view` for each point of the kernel, and `add`s; a kernel as large as its stride, one `matmul`",
    ),
    becomes("linalg.depthwise_conv_*", "one `mul` of a shifted `view` for each point of the kernel, and `add`s"),
    becomes(
        "linalg.pooling_*",
        "`maximum`, `minimum` or `add` of shifted `view`s, dimension by dimension; `reduce` where windows do not overlap",
    ),
    refused("linalg.winograd_*", WINOGRAD),
    refused("linalg.pack", "chooses a layout in memory, which the compiler does itself"),
    refused("linalg.unpack", "chooses a layout in memory, which the compiler does itself"),
    becomes("tensor.empty", "nothing, or `empty` where parts are written into it"),
    becomes("tensor.cast", "nothing: shapes are static"),
    becomes("tensor.expand_shape", "`view`"),
    becomes("tensor.collapse_shape", "`view`"),
    becomes("tensor.reshape", "`view`"),
    becomes(
        "tensor.extract_slice",
        "`view`, also with strides; of offsets that are known at run time, `gather` or a product with a one-hot matrix",
    ),
    becomes(
        "tensor.insert_slice",
        "`insert`; with strides, one of each slice; at offsets that are known at run time, as `tm_tensor.scatter`",
    ),
    becomes("tensor.concat", "`empty` and one `insert` a part"),
    becomes("tensor.pad", "`empty`, and one `insert` for the tensor and one for each border; the padding is a constant"),
    becomes("tensor.splat", "as `linalg.fill`"),
    becomes("tensor.from_elements", "a `constant`, if the elements are known at compile time"),
    becomes(
        "tensor.extract",
        "in a body, a `view`, a `gather`, or the product with a one-hot matrix where the index is computed; else the element is known at compile time, or the tensor has one",
    ),
    becomes("tensor.generate", "what its body computes, as `linalg.generic`"),
    becomes("tensor.dim", "a number: shapes are static"),
    refused("tensor.*", "has no form on the device"),
    refused("tensor.scatter", SCATTER),
    refused("tensor.insert", "writes one element of a tensor"),
    refused("tensor.gather", "has no form on the device; use `linalg.generic` with `tensor.extract` in its body"),
    becomes(
        "arith.constant",
        "`constant`; what follows from constants of up to 4096 elements, and from integers, is computed at compile time",
    ),
    becomes("arith.*", "the scalar operations below, on numbers or element by element"),
    becomes("math.*", "the scalar operations below, on numbers or element by element"),
    becomes(
        "cf.assert",
        "nothing, if it holds for every index that chooses a row; the range of an argument of integers, where that makes it hold; else it is not checked, with a warning",
    ),
    refused("cf.*", CONTROL_FLOW),
    becomes(
        "scf.if",
        "the branch that is taken, where that is known; else what both branches compute, and a choice; in a body also parts of the result, where the \
         condition depends on an index alone",
    ),
    becomes("scf.for", "each iteration, one after the other, where the bounds are known: up to 2048 operations in all"),
    becomes("scf.while", "as `scf.for`, where each condition is known"),
    becomes("scf.yield", "nothing"),
    becomes("scf.condition", "nothing"),
    refused("scf.*", CONTROL_FLOW),
    becomes("func.func", "the program; functions that it calls are inlined"),
    becomes("func.call", "the body of the function"),
    becomes("func.return", "itself"),
    refused("func.*", CONTROL_FLOW),
    becomes("tosa.*", "linalg, by upstream's passes; then as that"),
    becomes("stablehlo.case", "as `scf.if`, one number after the other"),
    becomes("stablehlo.if", "as `scf.if`"),
    becomes("stablehlo.scatter", "as `tm_tensor.scatter`, of one tensor; a place outside of the tensor is refused at launch"),
    becomes("stablehlo.sort", "as `tm_tensor.sort`; the comparator may compare the bits of floats, as JAX does"),
    becomes("stablehlo.while", "as `scf.while`"),
    becomes("spyre.*", "itself"),
    becomes(
        "tm_tensor.scan",
        "what is known at compile time; for a running sum, `matmul` with a triangle of ones; for others and long sums, each element with those 1, 2, 4, ... before it",
    ),
    becomes(
        "tm_tensor.scatter",
        "comparisons of row numbers with the places, and a choice of rows; of several parts, `matmul` with the comparisons",
    ),
    becomes(
        "tm_tensor.sort",
        "comparisons of each element of a row with each, of rows of up to 1024 elements, and sums of what has the rank of a place; of the first few \
         elements of longer rows, the `reduce max` or `min` of what is left, one after the other",
    ),
    becomes("tm_tensor.topk", "as `tm_tensor.sort`"),
    becomes(
        "tm_tensor.attention",
        "two `matmul`s, `mul`, the mask by `add` or `where3`, and a softmax that gives 0 for a row without anything",
    ),
];

impl Operation {
    /// The row for the operation of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        OPERATIONS.iter().filter(|row| row.fits(name)).max_by_key(|row| row.name.len())
    }

    fn fits(&self, name: &str) -> bool {
        self.name.strip_suffix('*').map_or(self.name == name, |family| name.starts_with(family))
    }

    /// Why the operation of that name is refused where it stands in a function, outside of all bodies.
    #[must_use]
    pub fn refusal(name: &str) -> Option<String> {
        match Self::named(name).map(|row| row.outcome) {
            Some(Outcome::Becomes(_)) => None,
            Some(Outcome::Refused(why)) => Some(format!("is not supported: it {why}")),
            None => Some("belongs to an unsupported dialect; lower it to linalg, tensor, arith, math and spyre ops".to_owned()),
        }
    }
}

/// The text of `docs/reference/supported-ops.md`.
#[must_use]
pub fn supported_ops_page() -> String {
    let mut page = String::from(
        "<!-- Made by `cargo xtask docs` from the tables in src/import/rules/operations.rs and src/import/rules/functions.rs. -->\n\n\
         # Supported operations\n\n\
         What the compiler makes of the operations of a program: `spyre` ops and device functions. An operation whose result nobody needs\n\
         is dropped, whatever it is.\n\n\
         Shapes are static. What has no elements needs no operation: parts without elements, sums over none, and arguments and results\n\
         without any. Elements are f16, bf16 or f32, or f64, which is computed as f32; truth values are numbers 0 and 1. Integers are known\n\
         at compile time; or indices that choose rows; or numbers that the device computes with, in a range in which its format is\n\
         exact (up to 1,024 in 16 bits, 16,777,216 in f32) and that `program.json` says; larger ones, up to 32,767,\n\
         are compared digit by digit where each is an index or known. Places beyond 1,024 that `argmax`, `argmin`, `sort` and `topk` find in 16 bits\n\
         are two digits, of which the caller makes a number (`digit_base` in `program.json`), and may choose rows of a table that has them all; nothing else may read them. What follows from an index and known numbers\n\
         alone is a row of a table. `docs/reference/functions.md` says how functions are made that the device lacks, and how far off they are. With `--precision=device`, f32 and f64 values between f16 values are computed in the\n\
         device's f16 format, and so is a program of f32 only where the device lacks a function in f32.\n\n\
         ## Operations on tensors\n\n| operation | becomes |\n|---|---|\n",
    );
    let mut rows: Vec<&Operation> = OPERATIONS.iter().collect();
    rows.sort_by_key(|row| row.name);
    for row in rows {
        let text = match row.outcome {
            Outcome::Becomes(what) => what.to_owned(),
            Outcome::Refused(why) => format!("refused: it {why}"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(page, "| `{}` | {text} |", row.name);
    }
    page.push_str(
        "\nEvery other operation is refused.\n\n\
         ## Scalar operations\n\n\
         In the body of a `linalg.generic`, or on tensors element by element. Where its operands are known at compile time, each of them is\n\
         computed at once.\n\n| operation | becomes |\n|---|---|\n",
    );
    for function in SCALAR_FUNCTIONS {
        let _ = writeln!(page, "| `{}` | {} |", function.name, function.becomes());
    }
    page.push_str(
        "| `arith.extf`, `arith.truncf` | nothing, between the formats of `--precision` |\n\
         | `linalg.index` | numbers known at compile time |\n\
         \nKnown integers have the width of their type, up to 64 bits: they are folded as MLIR defines it, and what has no value (a division by 0, a shift by\n\
         the width or more, a conversion of a number that the type does not have) is refused where it is read.\n\
         \nOf integers of run time, `addi`, `subi`, `muli`, `maxsi`, `minsi`, `maxui`, `minui`, `absi`, `cmpi`, `select` and the casts are computed as\n\
         numbers, and so are `divsi`, `divui`, `floordivsi`, `ceildivsi`, `ceildivui`, `remsi` and `remui`, and `shli`, `shrsi` and `shrui` by a known number\n\
         of bits; all others of one index and known numbers are looked up in a table. The ranges of arguments keep integers within their types, those\n\
         that are read without a sign at 0 or more, and divisors at 1 or more; what may leave such a range is refused.\n\
         \nBeyond single operations, these are recognised by what they compute, in whatever order and over however many `linalg.generic`s:\n\
         `sigmoid`, `silu`, `gelufwd` (with erf or tanh), `softplus`, `relufwd`, `clip`, `mean`, and sums of products as `matmul`.\n",
    );
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_counts() {
        let outcome = |name| Operation::named(name).map(|row| row.name);
        assert_eq!(outcome("linalg.matmul"), Some("linalg.*"));
        assert_eq!(outcome("linalg.conv_2d_nchw_fchw"), Some("linalg.conv_*"));
        assert_eq!(outcome("tensor.scatter"), Some("tensor.scatter"));
        assert_eq!(outcome("stablehlo.add"), None);
    }

    #[test]
    fn what_is_refused_says_why() {
        assert_eq!(Operation::refusal("linalg.matmul"), None);
        assert!(Operation::refusal("scf.forall").is_some_and(|why| why.contains("control flow")));
        assert_eq!(Operation::refusal("scf.for"), None);
        assert!(Operation::refusal("stablehlo.add").is_some_and(|why| why.contains("dialect")));
    }

    #[test]
    fn every_operation_stands_once() {
        for (position, row) in OPERATIONS.iter().enumerate() {
            assert!(!OPERATIONS[..position].iter().any(|other| other.name == row.name), "{}", row.name);
        }
    }
}
