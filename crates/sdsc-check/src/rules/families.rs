//! Rules of each family of functions ("SuperDSC-Bundle specification, stick constraints" and "work division
//! constraints").

use super::super::file_view::{FileView, TensorView};
use super::super::functions::FunctionFamily;
use super::super::report::ViolationReport;
use sdsc_format::model::{Entries, Text, WordLength};
use std::collections::BTreeSet;

/// Returns the tensors of a matmul in the order of its operand lists: two inputs and the result.
pub(super) fn matmul_tensors<'a>(file: &FileView<'a>) -> Option<[TensorView<'a>; 3]> {
    if file.family != FunctionFamily::Matmul || file.dsc.tensors.len() != 3 {
        return None;
    }
    let operands = file.compute.inputs.iter().chain(&file.compute.outputs);
    let find_tensor = |operand: &Text| file.tensors().find(|tensor| tensor.operand_name() == *operand);
    let tensors: Option<Vec<_>> = operands.map(find_tensor).collect();
    tensors?.try_into().ok()
}

/// Dimensions of a matmul, by the tensors that have them.
#[derive(Default)]
pub(super) struct MatmulDims<'a> {
    pub(super) reduction: Vec<&'a str>,
    pub(super) generated: Vec<&'a str>,
    pub(super) preserved: Vec<&'a str>,
    batch: Vec<&'a str>,
    other: Vec<&'a str>,
}

impl<'a> MatmulDims<'a> {
    pub(super) fn classify(file: &FileView<'a>, [left, right, result]: &[TensorView<'a>; 3]) -> Self {
        let mut dims = Self::default();
        for label in file.labels() {
            let kind = match (left.has_dim(label), right.has_dim(label), result.has_dim(label)) {
                (true, true, false) => &mut dims.reduction,
                (false, true, true) => &mut dims.generated,
                (true, false, true) => &mut dims.preserved,
                (true, true, true) => &mut dims.batch,
                (true | false, false, false) | (false, true, false) | (false, false, true) => &mut dims.other,
            };
            kind.push(label);
        }
        dims
    }

    /// Returns the contracted dimension; `None` unless there is exactly one.
    pub(super) fn single_reduction(&self) -> Option<&'a str> {
        if let [label] = *self.reduction { Some(label) } else { None }
    }

    /// Returns the dimension of the second input and the result; `None` unless there is exactly one.
    pub(super) fn single_generated(&self) -> Option<&'a str> {
        if let [label] = *self.generated { Some(label) } else { None }
    }
}

/// Checks the dimensions of a matmul. A result column of one point is left out of the space, so the generated dimension
/// may be missing.
pub(super) fn check_matmul_dims(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(tensors) = matmul_tensors(file) else { return };
    let dims = MatmulDims::classify(file, &tensors);
    let kinds = [
        ("is contracted", &dims.reduction, 1..=1),
        ("is in the second input and the result", &dims.generated, 0..=1),
        ("is in the first input and the result", &dims.preserved, 0..=2),
        ("is in every tensor", &dims.batch, 0..=2),
        ("has another role", &dims.other, 0..=0),
    ];
    for (role, labels, allowed) in kinds.into_iter().filter(|(_, labels, allowed)| !allowed.contains(&labels.len())) {
        let (least, most) = allowed.into_inner();
        let message = format!("{labels:?} {role}; of such dimensions a matmul has {least} to {most}");
        report.report_json(file.dsc_member_path("N_"), message);
    }
}

pub(super) fn check_matmul_sticks(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(tensors) = matmul_tensors(file)
        .filter(|_| matches!(&*file.compute.function, "batchmatmul" | "batchmatmulfp8" | "batchmatmulint8"))
    else {
        return;
    };
    let dims = MatmulDims::classify(file, &tensors);
    let ([reduction], [generated]) = (dims.reduction.as_slice(), dims.generated.as_slice()) else { return };
    let [left, right, result] = &tensors;
    let mut check = |tensor: &TensorView<'_>, fits: bool, wanted: &str| {
        if !fits {
            let message = format!(
                "the stick of tensor {} runs along {:?}; in a matmul it runs along {wanted}",
                tensor.index,
                tensor.stick()
            );
            report.report_json(
                file.dsc_member_path(&format!("primaryDsInfo_/{}/stickDimOrder_", tensor.info.class)),
                message,
            );
        }
    };
    check(left, left.stick() == [*reduction], &format!("'{reduction}', which is contracted"));
    // A stick of eight-bit weights is a block of two rows.
    let in_block = |label: &&str| {
        label == generated || (right.info.word_length == WordLength::from_bytes(1) && label == reduction)
    };
    let right_stick: Vec<&str> = right.stick().iter().map(|label| &**label).collect();
    let fits = right_stick.contains(generated) && right_stick.iter().all(in_block);
    check(right, fits, &format!("'{generated}', which the result has"));
    check(result, result.stick() == [*generated], &format!("'{generated}', which the second input has"));
}

/// Returns the result of a reduction and the dimensions that it lacks.
fn reduction_result<'a>(file: &FileView<'a>) -> Option<(TensorView<'a>, Vec<&'a str>)> {
    let result = file.tensors().last()?;
    Some((result, file.labels().filter(|label| !result.has_dim(label)).collect()))
}

pub(super) fn check_stick_reduction(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some((result, _)) = reduction_result(file).filter(|_| file.family == FunctionFamily::StickReduction) else {
        return;
    };
    let is_reduced = match result.stick() {
        [stick] => result.scale(stick) == Some(-2),
        _ => false,
    };
    if !is_reduced {
        let message = format!(
            "'{}' leaves scales {:?} with sticks along {:?}; it reduces the only stick dimension to scale -2",
            file.compute.function,
            result.info.scales,
            result.stick()
        );
        report.report_json(file.tensor_member_path(result.index, "scale_"), message);
    }
}

pub(super) fn check_nonstick_reduction(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some((result, reduced)) = reduction_result(file).filter(|_| file.family == FunctionFamily::NonstickReduction)
    else {
        return;
    };
    if let Some(label) = reduced.iter().find(|label| result.stick_size(label).is_some()) {
        let message = format!(
            "'{}' reduces the stick dimension '{label}'; it reduces only dimensions outside of the stick",
            file.compute.function
        );
        report.report_json(file.tensor_member_path(result.index, "scale_"), message);
    }
}

pub(super) fn check_split_reduction(file: &FileView<'_>, report: &mut ViolationReport) {
    let contracts = matches!(file.family, FunctionFamily::Matmul | FunctionFamily::Convolution);
    let Some((_, reduced)) = reduction_result(file).filter(|_| contracts || file.family.is_reduction()) else { return };
    let split: Vec<_> =
        reduced.into_iter().filter(|label| file.num_slices(label).is_some_and(|slices| slices > 1)).collect();
    if split.len() > 1 {
        let message = format!("the reduced dimensions {split:?} are split; at most one of them may be");
        report.report_json(file.member_path("numWkSlicesPerDim_"), message);
    }
}

pub(super) fn check_top_k_stick(file: &FileView<'_>, report: &mut ViolationReport) {
    let tensors: Vec<_> = file.data_tensors().collect();
    let (FunctionFamily::TopK, [input, .., result]) = (file.family, tensors.as_slice()) else { return };
    for label in file.labels().filter(|label| input.has_dim(label) != result.has_dim(label)) {
        let role = if input.has_dim(label) { "searched" } else { "of the selected elements" };
        for tensor in [input, result].into_iter().filter(|tensor| tensor.stick_size(label).is_some()) {
            let message = format!(
                "the dimension '{label}' {role} runs along the stick of tensor {}; it must be outside of the stick",
                tensor.index
            );
            report.report_json(
                file.dsc_member_path(&format!("primaryDsInfo_/{}/stickDimOrder_", tensor.info.class)),
                message,
            );
        }
    }
}

pub(super) fn check_restickify_sticks(file: &FileView<'_>, report: &mut ViolationReport) {
    if file.family != FunctionFamily::Restickify {
        return;
    }
    for (name, class) in file.dsc.classes.iter().filter(|(_, class)| class.stick.len() != 1) {
        let message = format!("sticks along {:?}; a restickify has sticks of one dimension", class.stick);
        report.report_json(file.dsc_member_path(&format!("primaryDsInfo_/{name}/stickDimOrder_")), message);
    }
}

pub(super) fn check_elementwise_sticks(file: &FileView<'_>, report: &mut ViolationReport) {
    if file.family != FunctionFamily::Elementwise {
        return;
    }
    let Some(first) = file.data_tensors().next() else { return };
    let mut seen = BTreeSet::new();
    for tensor in file.data_tensors().filter(|tensor| tensor.class.is_some() && tensor.stick() != first.stick()) {
        if seen.insert(&*tensor.info.class) {
            let message = format!(
                "the stick of tensor {} runs along {:?}, that of tensor {} along {:?}; '{}' has one stick layout",
                tensor.index,
                tensor.stick(),
                first.index,
                first.stick(),
                file.compute.function
            );
            report.report_json(
                file.dsc_member_path(&format!("primaryDsInfo_/{}/stickDimOrder_", tensor.info.class)),
                message,
            );
        }
    }
}

pub(super) fn check_absent_sticks(file: &FileView<'_>, report: &mut ViolationReport) {
    for label in file.labels() {
        let per_stick = file.data_tensors().filter_map(|tensor| tensor.stick_size(label)).max();
        let is_absent = !file.data_tensors().any(|tensor| tensor.has_dim(label));
        let (Some(per_stick), Some(size)) = (per_stick.filter(|_| is_absent), file.size(label)) else { continue };
        if size != per_stick {
            let message = format!(
                "{size} points of '{label}', a stick dimension that no tensor has; it has one stick, {per_stick}"
            );
            report.report_json(file.dsc_member_path(&format!("N_/{label}_")), message);
        }
    }
}

pub(super) fn check_window_dims(file: &FileView<'_>, report: &mut ViolationReport) {
    let space = &file.dsc.space;
    if let (Some(_), false) = (&space.windows, file.family.is_windowed()) {
        let message = format!("'{}' has windows; only convolutions and poolings have", file.compute.function);
        return report.report_json(file.dsc_member_path("N_/paddingSizes_"), message);
    }
    for (label, window) in space.windows.iter().flat_map(Entries::iter) {
        let path = file.dsc_member_path(&format!("N_/paddingSizes_/{label}"));
        let Some(kernel) = file.size(&window.window_dim) else {
            report.report_json(path, format!("the window's dimension '{}' is not in 'N_'", window.window_dim));
            continue;
        };
        if window.stride < 1 || window.dilation < 1 || window.pad_front < 0 || window.pad_back < 0 {
            report.report_json(&path, "a window moves by at least one point and has no negative padding");
        }
        if file.num_slices(&window.window_dim).is_some_and(|slices| slices != 1) {
            report.report_json(
                &path,
                format!("the window's dimension '{}' is split; a core sees whole windows", window.window_dim),
            );
        }
        if file.tensors().any(|tensor| tensor.stick_size(&window.window_dim).is_some()) {
            report.report_json(
                &path,
                format!(
                    "the window's dimension '{}' runs along a stick; it must be outside of the stick",
                    window.window_dim
                ),
            );
        }
        let outputs = file.size(label).unwrap_or(1);
        let total = outputs.saturating_sub(1).saturating_mul(window.stride).saturating_add(kernel);
        if window.unneeded.is_none() && window.total != total {
            let message = format!("{} input points for {outputs} windows of {kernel}; they read {total}", window.total);
            report.report_json(path, message);
        }
    }
}
