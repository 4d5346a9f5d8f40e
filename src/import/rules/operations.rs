//! Table of the operations on tensors, with their lowerings or the reasons for rejection. It drives `spyre-check-input`
//! and `docs/reference/supported-ops.md`.

use super::functions::SCALAR_FUNCTIONS;
use std::fmt::Write;

/// Support of an operation by the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationStatus {
    /// Supported, with this lowering.
    LoweredTo(&'static str),
    /// Unsupported, with the reason.
    Unsupported(&'static str),
}

/// Operation, or a family of operations.
#[derive(Clone, Copy, Debug)]
pub struct OperationSupport {
    /// The full name; a family ends in `*`.
    pub name: &'static str,
    /// Support by the compiler.
    pub status: OperationStatus,
}

const fn supported(name: &'static str, what: &'static str) -> OperationSupport {
    OperationSupport { name, status: OperationStatus::LoweredTo(what) }
}

const fn unsupported(name: &'static str, why: &'static str) -> OperationSupport {
    OperationSupport { name, status: OperationStatus::Unsupported(why) }
}

const WINOGRAD: &str =
    "is a step of a Winograd convolution; use the direct convolution instead, such as `linalg.conv_2d_nchw_fchw`";
const CONTROL_FLOW: &str =
    "is control flow without a lowering; use `scf.for` with constant bounds, `scf.if` or `arith.select`";
const SCATTER: &str = "writes at positions that are known only at runtime; use `tm_tensor.scatter`";

/// Operations on whole tensors. The row with the longest matching name applies.
pub const OPERATIONS: &[OperationSupport] = &[
    supported(
        "linalg.generic",
        "the ops of its body: the scalar operations below, `reduce`, `matmul`, `view` and `gather`",
    ),
    supported("linalg.*", "the ops of its generalized form (`linalg.generic`)"),
    supported("linalg.fill", "a `constant`; nothing if it is the initial value of a reduction"),
    supported("linalg.softmax", "`reduce max`, `sub`, `exp`, `reduce sum`, `realdiv`"),
    supported(
        "linalg.conv_*",
        "one `matmul` on a shifted `view` for each kernel position, and `add`; one `matmul` if the kernel size equals the stride",
    ),
    supported("linalg.depthwise_conv_*", "one `mul` on a shifted `view` for each kernel position, and `add`"),
    supported(
        "linalg.pooling_*",
        "`maximum`, `minimum` or `add` on shifted `view`s, one dimension at a time; `reduce` if windows do not overlap",
    ),
    unsupported("linalg.winograd_*", WINOGRAD),
    unsupported("linalg.pack", "chooses a memory layout, and this compiler chooses layouts itself; remove it"),
    unsupported("linalg.unpack", "chooses a memory layout, and this compiler chooses layouts itself; remove it"),
    supported("tensor.empty", "nothing; `empty` if slices are written into it"),
    supported("tensor.cast", "nothing, because shapes are static"),
    supported("tensor.expand_shape", "`view`"),
    supported("tensor.collapse_shape", "`view`"),
    supported("tensor.reshape", "`view`"),
    supported(
        "tensor.extract_slice",
        "`view`, also with strides; for offsets known at run time, `gather` or a `matmul` with a one-hot matrix",
    ),
    supported(
        "tensor.insert_slice",
        "`insert`; one per slice if there are strides; for offsets known at run time, like `tm_tensor.scatter`",
    ),
    supported("tensor.concat", "`empty` and one `insert` per operand"),
    supported(
        "tensor.pad",
        "`empty`, one `insert` of the operand, and one `insert` per border; the padding must be a constant",
    ),
    supported("tensor.splat", "like `linalg.fill`"),
    supported("tensor.from_elements", "`constant`; the elements must be known at compile time"),
    supported(
        "tensor.extract",
        "in a body: `view`, `gather`, or a `matmul` with a one-hot matrix if the index is computed; elsewhere: nothing, and the element must be known at compile time, or be the only one",
    ),
    supported("tensor.generate", "the ops of its body, like `linalg.generic`"),
    supported("tensor.dim", "a constant, because shapes are static"),
    unsupported("tensor.*", "has no lowering"),
    unsupported("tensor.scatter", SCATTER),
    unsupported("tensor.insert", "writes a single element; use `tensor.insert_slice`"),
    unsupported("tensor.gather", "has no lowering; use `linalg.generic` with `tensor.extract` in its body"),
    supported("arith.constant", "`constant`; ops on integers, and on constants of up to 4096 elements, are folded"),
    supported("arith.*", "the scalar operations below, on scalars or elementwise"),
    supported("math.*", "the scalar operations below, on scalars or elementwise"),
    supported(
        "cf.assert",
        "nothing if it holds for all row indices; a range of an integer argument if that implies it; otherwise it is ignored with a warning",
    ),
    unsupported("cf.*", CONTROL_FLOW),
    supported(
        "scf.if",
        "the ops of the branch taken, if that is known at compile time; otherwise the ops of both branches and a `where3`; in a body, slices of the \
         result if the condition depends on an index only",
    ),
    supported(
        "scf.for",
        "the ops of all iterations (unrolled); the bounds must be constants, and at most 2048 ops result",
    ),
    supported("scf.while", "like `scf.for`; every condition must be known at compile time"),
    supported("scf.yield", "nothing"),
    supported("scf.condition", "nothing"),
    unsupported("scf.*", CONTROL_FLOW),
    supported("func.func", "the program; calls are inlined"),
    supported("func.call", "the ops of the function (inlined)"),
    supported("func.return", "unchanged"),
    unsupported("func.*", CONTROL_FLOW),
    supported("tosa.*", "`linalg` by upstream passes, then as above"),
    supported("stablehlo.case", "like a chain of `scf.if`"),
    supported("stablehlo.if", "like `scf.if`"),
    supported(
        "stablehlo.scatter",
        "like `tm_tensor.scatter`, for one operand; the launch refuses positions outside of the tensor",
    ),
    supported("stablehlo.sort", "like `tm_tensor.sort`; the comparator may compare floats as bits, as JAX does"),
    supported("stablehlo.while", "like `scf.while`"),
    supported("spyre.*", "unchanged"),
    supported(
        "tm_tensor.scan",
        "a constant if the operand is one; for a running sum, a `matmul` with a triangular matrix of ones; for other functions and long sums, a parallel prefix scan (steps of 1, 2, 4, ...)",
    ),
    supported(
        "tm_tensor.scatter",
        "comparisons of row numbers with the positions, and `where3`; for several updates, a `matmul` with the comparisons",
    ),
    supported(
        "tm_tensor.sort",
        "for rows of up to 1024 elements, comparisons of all pairs of elements, and sums of the elements of each rank; for the first few elements \
         of longer rows, repeated `reduce max` or `min` of the remaining elements",
    ),
    supported("tm_tensor.topk", "like `tm_tensor.sort`"),
    supported(
        "tm_tensor.attention",
        "two `matmul`, `mul`, `add` or `where3` for the mask, and a softmax that is 0 for rows whose elements are all masked",
    ),
];

impl OperationSupport {
    /// Returns the row for the operation of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        OPERATIONS.iter().filter(|row| row.matches_name(name)).max_by_key(|row| row.name.len())
    }

    fn matches_name(&self, name: &str) -> bool {
        self.name.strip_suffix('*').map_or(self.name == name, |family| name.starts_with(family))
    }

    /// Returns the message for an unsupported operation at the top level of a function; `None` for a supported one.
    #[must_use]
    pub fn rejection_message(name: &str) -> Option<String> {
        match Self::from_name(name).map(|row| row.status) {
            Some(OperationStatus::LoweredTo(_)) => None,
            Some(OperationStatus::Unsupported(why)) => Some(format!("is not supported: it {why}")),
            None => Some(
                "belongs to an unsupported dialect; lower it to linalg, tensor, arith, math and spyre ops".to_owned(),
            ),
        }
    }
}

/// Returns the text of `docs/reference/supported-ops.md`.
#[must_use]
pub fn supported_ops_page() -> String {
    let mut page = String::from(
        "<!-- Made by `cargo xtask docs` from the tables in src/import/rules/operations.rs and src/import/rules/functions.rs. -->\n\n\
         # Supported operations\n\
         \n\
         This page lists the operations that the compiler accepts, and the `spyre` ops and device functions that each is lowered\n\
         to. Operations whose results are unused are removed first, whether or not they are supported.\n\
         \n\
         **Shapes** are static. Tensors without elements are allowed and need no device op.\n\
         \n\
         **Elements** are f16, bf16, f32 or f64; f64 is computed as f32, and booleans as 0 and 1. Unless `--precision=strict`,\n\
         f32 values between f16 values are computed in the device's 16-bit format. In a program of f32 only, that happens where\n\
         the device lacks a function in f32.\n\
         \n\
         **Integers** are supported if they are\n\
         \n\
         * known at compile time,\n\
         * indices that select rows of a tensor, or functions of one such index, which are looked up in a table,\n\
         * numbers in a range in which the device format is exact: up to 1,024 in 16 bits, up to 16,777,216 in f32.\n\
         \x20 `program.json` has the ranges of the arguments (`index_range`), and a launch checks them. Comparisons are exact up\n\
         \x20 to 32,767.\n\
         \n\
         In 16 bits, `argmax`, `argmin`, `sort`, `topk`, sums and running sums give integers above 1,024 as two digits. Such\n\
         integers can be added, subtracted, compared, chosen, limited and converted to numbers, and can select rows of a table;\n\
         other operations on them are refused. The caller combines the digits of a result (`digit_base` in `program.json`).\n\
         \n\
         [Composed functions](functions.md) lists the functions that the device lacks, and their errors.\n\
         \n\
         ## Operations on tensors\n\n| operation | lowered to |\n|---|---|\n",
    );
    let mut rows: Vec<&OperationSupport> = OPERATIONS.iter().collect();
    rows.sort_by_key(|row| row.name);
    for row in rows {
        let text = match row.status {
            OperationStatus::LoweredTo(what) => what.to_owned(),
            OperationStatus::Unsupported(why) => format!("not supported: it {why}"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(page, "| `{}` | {text} |", row.name);
    }
    page.push_str(
        "\nAll other operations are errors.\n\n\
         ## Scalar operations\n\n\
         These operations are supported in the body of a `linalg.generic`, and elementwise on tensors. All of them are folded if\n\
         their operands are known at compile time.\n\n| operation | lowered to |\n|---|---|\n",
    );
    for function in SCALAR_FUNCTIONS {
        let _ = writeln!(page, "| `{}` | {} |", function.name, function.describe_lowering());
    }
    page.push_str(
        "| `arith.extf`, `arith.truncf` | nothing, between the formats of `--precision` |\n\
         | `linalg.index` | a constant |\n\
         \n\
         Integers known at compile time have the width of their type, up to 64 bits, and are folded as MLIR defines it. A result\n\
         without a value (division by 0, a shift by the width or more, a conversion that exceeds the type) is an error where it\n\
         is used.\n\
         \n\
         Floating-point constants are folded in f64 and rounded once. If the result is not finite there, but is if each op rounds\n\
         to its type, it is the rounded one: the logarithm of `(7 - (7 + 1e-7)) + 1e-7` in f32.\n\
         \n\
         Integers known at runtime: `addi`, `subi`, `muli`, `maxsi`, `minsi`, `maxui`, `minui`, `absi`, `cmpi`, `select`, the\n\
         casts, `divsi`, `divui`, `floordivsi`, `ceildivsi`, `ceildivui`, `remsi`, `remui`, and `shli`, `shrsi` and `shrui` by\n\
         constants are computed as numbers. Other operations are supported on one index and constants. Argument ranges keep\n\
         integers within their types, unsigned operands at 0 or more, and divisors at 1 or more; operations that can leave these\n\
         ranges are errors.\n\
         \n\
         The import recognizes these functions by the computation, in any order of operations and across several\n\
         `linalg.generic`: `sigmoid`, `silu`, `gelufwd` (with erf or tanh), `softplus`, `relufwd`, `clip`, `mean`, and sums of\n\
         products as `matmul`.\n",
    );
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_longest_matching_name() {
        let outcome = |name| OperationSupport::from_name(name).map(|row| row.name);
        assert_eq!(outcome("linalg.matmul"), Some("linalg.*"));
        assert_eq!(outcome("linalg.conv_2d_nchw_fchw"), Some("linalg.conv_*"));
        assert_eq!(outcome("tensor.scatter"), Some("tensor.scatter"));
        assert_eq!(outcome("stablehlo.add"), None);
    }

    #[test]
    fn explains_unsupported_operations() {
        assert_eq!(OperationSupport::rejection_message("linalg.matmul"), None);
        assert!(OperationSupport::rejection_message("scf.forall").is_some_and(|why| why.contains("control flow")));
        assert_eq!(OperationSupport::rejection_message("scf.for"), None);
        assert!(OperationSupport::rejection_message("stablehlo.add").is_some_and(|why| why.contains("dialect")));
    }

    #[test]
    fn lists_every_operation_once() {
        for (position, row) in OPERATIONS.iter().enumerate() {
            assert!(!OPERATIONS[..position].iter().any(|other| other.name == row.name), "{}", row.name);
        }
    }
}
