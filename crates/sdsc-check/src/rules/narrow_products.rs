//! Rules on matmuls of 8-bit and 4-bit operands ("SuperDSC-Bundle specification, stick constraints").

use super::super::file_view::FileView;
use super::super::report::ViolationReport;
use super::families::{MatmulDims, matmul_tensors};

/// Format of the results of all matmuls.
const RESULT_FORMAT: &str = "SEN169_FP16";

/// Returns the format of the operands of a matmul; `None` for other functions and for 16-bit operands.
fn operand_format(function: &str) -> Option<&'static str> {
    match function {
        "batchmatmulfp8" => Some("SEN143_FP8"),
        "batchmatmulint8" => Some("SENINT8"),
        "batchmatmulint4" => Some("SENINT4"),
        _ => None,
    }
}

pub(super) fn check_narrow_formats(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(format) = operand_format(&file.compute.function) else { return };
    let Some([left, right, result]) = matmul_tensors(file) else { return };
    for (tensor, wanted) in [(left, format), (right, format), (result, RESULT_FORMAT)] {
        if tensor.info.format != wanted {
            let message = format!(
                "{} in tensor {}; '{}' has it in {wanted}",
                tensor.info.format, tensor.index, file.compute.function
            );
            report.report_json(file.tensor_member_path(tensor.index, "dataFormat_"), message);
        }
    }
}

pub(super) fn check_narrow_sticks(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(tensors) = matmul_tensors(file).filter(|_| operand_format(&file.compute.function).is_some()) else {
        return;
    };
    let dims = MatmulDims::classify(file, &tensors);
    let ([reduction], [generated]) = (dims.reduction.as_slice(), dims.generated.as_slice()) else { return };
    let (reduction, generated) = (*reduction, *generated);
    let is_four_bit = file.compute.function == "batchmatmulint4";
    let left = if is_four_bit {
        dims.preserved.iter().map(|row| vec![(reduction, 16), (*row, 2), (reduction, 8)]).collect()
    } else {
        vec![vec![(reduction, 128)]]
    };
    let rows = if is_four_bit { 4 } else { 2 };
    let wanted = [left, vec![vec![(reduction, rows), (generated, 64)]], vec![vec![(generated, 64)]]];
    for (tensor, wanted) in tensors.iter().zip(wanted) {
        let found = tensor.stick_entries();
        if tensor.class.is_some() && !wanted.is_empty() && !wanted.contains(&found) {
            let message = format!(
                "sticks of {found:?} in tensor {}; '{}' has {:?}",
                tensor.index, file.compute.function, wanted[0]
            );
            let path = file.dsc_member_path(&format!("primaryDsInfo_/{}/stickDimOrder_", tensor.info.class));
            report.report_json(path, message);
        }
    }
}
