//! Rules of the release on the number formats of functions and on the sticks of conversions and products.

use super::super::super::file_view::{FileView, TensorView};
use super::super::super::functions::FunctionFamily;
use super::super::super::report::ViolationReport;
use super::super::families::{MatmulDims, matmul_tensors};
use sdsc_format::model::Text;

const DL16: &[&str] = &["SEN169_FP16"];
const FP32: &[&str] = &["IEEE_FP32"];
const DL16_OR_FP32: &[&str] = &["SEN169_FP16", "IEEE_FP32"];
const FP8: &[&str] = &["SEN143_FP8", "SEN152_FP8"];
const INT8: &[&str] = &["SENINT8"];
const INT4: &[&str] = &["SENINT4"];

/// Bits of an element of [`INT4`].
const INT4_BITS: i64 = 4;

/// Functions that the release has for DL16 only; functions without a row of their own compute in DL16 or FP32.
const DL16_FUNCTIONS: [&str; 19] = [
    "avgpoolfwd",
    "avgpoolnmapfwd",
    "batchmatmul",
    "conv2d",
    "depthwiseconv2dnative",
    "fastexp",
    "fastsigmoid",
    "gelufwd",
    "leakyrelufwd",
    "log",
    "maxpoolfwd",
    "mish",
    "quantscalepertoken",
    "quantscalepertokenfp8",
    "relu6fwd",
    "rsqrt",
    "softplus",
    "sqrt",
    "tanh",
];

/// Number formats of a function.
struct FunctionFormats {
    inputs: &'static [&'static str],
    result: &'static [&'static str],
}

impl FunctionFormats {
    /// Returns the formats of a function; `None` if other rules check them.
    fn find(function: &str) -> Option<Self> {
        let (inputs, result) = match function {
            "batchmatmulfp8" | "conv2dfp8" => (&["SEN143_FP8"][..], DL16),
            "batchmatmulint8" | "conv2dint8" => (INT8, DL16),
            "batchmatmulint4" | "conv2dint4" => (INT4, DL16),
            "csqint4" | "csqint4wt" => (DL16_OR_FP32, INT4),
            "csqint8ch" | "csqint8mb" | "csqint8wt" => (DL16_OR_FP32, INT8),
            "qfp8ch" | "qfp8mb" | "qfp8wt" => (DL16_OR_FP32, FP8),
            "dl16tofp32" => (DL16, FP32),
            "fp32todl16" => (FP32, DL16),
            "fp8todl16" => (FP8, DL16),
            // The release does not state the formats of positions, of masks by position and of shuffles.
            "maskbyindex" | "topkindex" | "ReStickifyOpHBM" | "shuffle" => return None,
            _ if DL16_FUNCTIONS.contains(&function) => (DL16, DL16),
            _ => (DL16_OR_FP32, DL16_OR_FP32),
        };
        Some(Self { inputs, result })
    }
}

pub(in super::super) fn check_function_formats(file: &FileView<'_>, report: &mut ViolationReport) {
    let function = &*file.compute.function;
    let Some(formats) = FunctionFormats::find(function) else { return };
    for tensor in file.data_tensors() {
        let is_result = Some(tensor.index) == file.result_index();
        let (kind, allowed) = if is_result { ("result", formats.result) } else { ("input", formats.inputs) };
        if !allowed.contains(&&*tensor.info.format) {
            let format = &tensor.info.format;
            let message = format!("the {kind} of '{function}' is {format}; the release has it in {allowed:?} only");
            report.report_json(file.tensor_member_path(tensor.index, "dataFormat_"), message);
        }
    }
}

fn report_stick(file: &FileView<'_>, tensor: &TensorView<'_>, wanted: &str, report: &mut ViolationReport) {
    let (stick, function) = (tensor.stick_entries(), &file.compute.function);
    let message = format!("sticks {stick:?} of tensor {} of '{function}'; they are {wanted}", tensor.index);
    let path = format!("primaryDsInfo_/{}/stickDimOrder_", tensor.info.class);
    report.report_json(file.dsc_member_path(&path), message);
}

pub(in super::super) fn check_conversion_sticks(file: &FileView<'_>, report: &mut ViolationReport) {
    let tensors: Vec<TensorView<'_>> = file.data_tensors().filter(|tensor| tensor.class.is_some()).collect();
    let (FunctionFamily::Conversion, [input, result]) = (file.family, tensors.as_slice()) else { return };
    let [along] = input.stick() else {
        return report_stick(file, input, "along one dimension", report);
    };
    let is_other = |label: &str| label != along && result.class_order().iter().any(|known| known == label);
    let stick = result.stick_entries();
    let has_rows =
        |rows: i64| matches!(*stick, [(row, count), (column, 64)] if is_other(row) && count == rows && column == along);
    let has_pieces = |first: i64| {
        matches!(*stick, [(one, size), (row, 2), (again, 8)]
            if one == along && again == along && size == first && is_other(row))
    };
    let (is_legal, wanted) = match &*file.compute.function {
        "csqint4wt" => (has_rows(4), format!("4 of another dimension by 64 of '{along}'")),
        "csqint8wt" | "qfp8wt" => (has_rows(2), format!("2 of another dimension by 64 of '{along}'")),
        "csqint4" => (has_pieces(16), format!("16 of '{along}', 2 of another dimension and 8 of '{along}'")),
        "csqint8mb" | "qfp8mb" => (has_pieces(8), format!("8 of '{along}', 2 of another dimension and 8 of '{along}'")),
        _ => (result.stick() == [along.clone()], format!("along '{along}', as those of the input")),
    };
    if !is_legal {
        report_stick(file, result, &wanted, report);
    }
}

/// Dimensions of a product by their roles.
struct ProductDims<'a> {
    /// Dimension that the product contracts, and that is in sticks.
    reduced: &'a str,
    /// Dimension of the second input and of the result; `None` if the space lacks it.
    generated: Option<&'a str>,
}

/// Returns the operands of a product and its dimensions; `None` if their roles are unclear, which other rules report.
fn find_product<'a>(file: &FileView<'a>) -> Option<([TensorView<'a>; 3], ProductDims<'a>)> {
    if file.family == FunctionFamily::Matmul {
        let tensors = matmul_tensors(file)?;
        let dims = MatmulDims::classify(file, &tensors);
        let (reduced, generated) = (dims.single_reduction()?, dims.single_generated());
        return Some((tensors, ProductDims { reduced, generated }));
    }
    let tensors: [TensorView<'a>; 3] = file.data_tensors().collect::<Vec<_>>().try_into().ok()?;
    let [left, right, result] = &tensors;
    let has = |tensor: &TensorView<'_>, label: &str| tensor.class_order().iter().any(|known| known == label);
    let find = |roles: [bool; 3]| {
        let mut found =
            file.labels().filter(|label| [has(left, label), has(right, label), has(result, label)] == roles);
        found.next().filter(|_| found.next().is_none())
    };
    let dims = ProductDims { reduced: find([true, true, false])?, generated: find([false, true, true]) };
    (file.family == FunctionFamily::Convolution).then_some((tensors, dims))
}

pub(in super::super) fn check_product_sticks(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some((tensors, dims)) = find_product(file) else { return };
    let [left, right, result] = &tensors;
    if let Some(wanted) = find_left_stick_fault(left, dims.reduced) {
        report_stick(file, left, &wanted, report);
    }
    let Some(generated) = dims.generated else { return };
    if let Some(wanted) = find_right_stick_fault(right, dims.reduced, generated) {
        report_stick(file, right, &wanted, report);
    }
    if result.stick() != [Text::from(generated.to_owned())] {
        report_stick(file, result, &format!("along '{generated}'"), report);
    }
}

/// Returns the required stick of the first input of a product, if it has another one.
fn find_left_stick_fault(left: &TensorView<'_>, reduced: &str) -> Option<String> {
    if left.info.word_length.bits != INT4_BITS {
        let is_legal = left.stick() == [Text::from(reduced.to_owned())];
        return (!is_legal).then(|| format!("along '{reduced}'"));
    }
    let is_other = |label: &str| label != reduced && left.class_order().iter().any(|known| known == label);
    let is_legal = matches!(*left.stick_entries(), [(one, 16), (row, 2), (again, 8)]
        if one == reduced && again == reduced && is_other(row));
    (!is_legal).then(|| format!("16 of '{reduced}', 2 of another dimension and 8 of '{reduced}'"))
}

/// Returns the required stick of the second input of a product, if it has another one.
fn find_right_stick_fault(right: &TensorView<'_>, reduced: &str, generated: &str) -> Option<String> {
    let rows = match right.info.word_length.bits {
        INT4_BITS => 4,
        8 => 2,
        _ => {
            let is_legal = right.stick() == [Text::from(generated.to_owned())];
            return (!is_legal).then(|| format!("along '{generated}'"));
        }
    };
    let is_legal = right.stick_entries() == [(reduced, rows), (generated, 64)];
    (!is_legal).then(|| format!("{rows} of '{reduced}' by 64 of '{generated}'"))
}
