//! Rules of each family of functions ("SuperDSC-Bundle specification, stick constraints" and "work division constraints").

use super::super::file_view::{FileView, TensorView};
use super::super::functions::Family;
use super::super::report::Report;
use sdsc_format::model::{Entries, WordLength};
use std::collections::BTreeSet;

/// The tensors of a matmul: two inputs and the result.
fn matmul<'a>(file: &FileView<'a>) -> Option<[TensorView<'a>; 3]> {
    let tensors: Vec<_> = file.tensors().collect();
    if file.family == Family::Matmul { tensors.try_into().ok() } else { None }
}

/// The dimensions of a matmul by the tensors that have them.
#[derive(Default)]
struct MatmulDims<'a> {
    reduction: Vec<&'a str>,
    generated: Vec<&'a str>,
    preserved: Vec<&'a str>,
    batch: Vec<&'a str>,
    other: Vec<&'a str>,
}

impl<'a> MatmulDims<'a> {
    fn of(file: &FileView<'a>, [left, right, result]: &[TensorView<'a>; 3]) -> Self {
        let mut dims = Self::default();
        for label in file.labels() {
            let kind = match (left.has(label), right.has(label), result.has(label)) {
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
}

/// A result column of one point is left out of the space, so the generated dimension may be missing.
pub(super) fn matmul_has_its_dimensions(file: &FileView<'_>, report: &mut Report) {
    let Some(tensors) = matmul(file) else { return };
    let dims = MatmulDims::of(file, &tensors);
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
        report.json(file.dsc_at("N_"), message);
    }
}

pub(super) fn matmul_sticks_fit(file: &FileView<'_>, report: &mut Report) {
    let Some(tensors) = matmul(file).filter(|_| matches!(&*file.compute.function, "batchmatmul" | "batchmatmulfp8" | "batchmatmulint8"))
    else {
        return;
    };
    let dims = MatmulDims::of(file, &tensors);
    let ([reduction], [generated]) = (dims.reduction.as_slice(), dims.generated.as_slice()) else { return };
    let [left, right, result] = &tensors;
    let mut check = |tensor: &TensorView<'_>, fits: bool, wanted: &str| {
        if !fits {
            let message =
                format!("the stick of tensor {} runs along {:?}; in a matmul it runs along {wanted}", tensor.index, tensor.stick());
            report.json(file.dsc_at(&format!("primaryDsInfo_/{}/stickDimOrder_", tensor.info.class)), message);
        }
    };
    check(left, left.stick() == [*reduction], &format!("'{reduction}', which is contracted"));
    // A stick of eight-bit weights is a block of two rows.
    let in_block = |label: &&str| label == generated || (right.info.word_length == WordLength::bytes(1) && label == reduction);
    let right_stick: Vec<&str> = right.stick().iter().map(|label| &**label).collect();
    let fits = right_stick.contains(generated) && right_stick.iter().all(in_block);
    check(right, fits, &format!("'{generated}', which the result has"));
    check(result, result.stick() == [*generated], &format!("'{generated}', which the second input has"));
}

/// The result of a reduction and the dimensions that it lacks.
fn reduced<'a>(file: &FileView<'a>) -> Option<(TensorView<'a>, Vec<&'a str>)> {
    let result = file.tensors().last()?;
    Some((result, file.labels().filter(|label| !result.has(label)).collect()))
}

pub(super) fn stick_reductions_reduce_the_stick(file: &FileView<'_>, report: &mut Report) {
    let Some((result, _)) = reduced(file).filter(|_| file.family == Family::StickReduction) else { return };
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
        report.json(file.tensor_at(result.index, "scale_"), message);
    }
}

pub(super) fn nonstick_reductions_keep_the_stick(file: &FileView<'_>, report: &mut Report) {
    let Some((result, reduced)) = reduced(file).filter(|_| file.family == Family::NonstickReduction) else { return };
    if let Some(label) = reduced.iter().find(|label| result.stick_size(label).is_some()) {
        let message =
            format!("'{}' reduces the stick dimension '{label}'; it reduces only dimensions outside of the stick", file.compute.function);
        report.json(file.tensor_at(result.index, "scale_"), message);
    }
}

pub(super) fn one_reduced_dimension_is_split(file: &FileView<'_>, report: &mut Report) {
    let contracts = matches!(file.family, Family::Matmul | Family::Convolution);
    let Some((_, reduced)) = reduced(file).filter(|_| contracts || file.family.is_reduction()) else { return };
    let split: Vec<_> = reduced.into_iter().filter(|label| file.slices(label).is_some_and(|slices| slices > 1)).collect();
    if split.len() > 1 {
        let message = format!("the reduced dimensions {split:?} are split; at most one of them may be");
        report.json(file.at("numWkSlicesPerDim_"), message);
    }
}

pub(super) fn top_k_leaves_the_stick_alone(file: &FileView<'_>, report: &mut Report) {
    let tensors: Vec<_> = file.data_tensors().collect();
    let (Family::TopK, [input, .., result]) = (file.family, tensors.as_slice()) else { return };
    for label in file.labels().filter(|label| input.has(label) != result.has(label)) {
        let role = if input.has(label) { "searched" } else { "of the selected elements" };
        for tensor in [input, result].into_iter().filter(|tensor| tensor.stick_size(label).is_some()) {
            let message =
                format!("the dimension '{label}' {role} runs along the stick of tensor {}; it must be outside of the stick", tensor.index);
            report.json(file.dsc_at(&format!("primaryDsInfo_/{}/stickDimOrder_", tensor.info.class)), message);
        }
    }
}

pub(super) fn restickify_has_plain_sticks(file: &FileView<'_>, report: &mut Report) {
    if file.family != Family::Restickify {
        return;
    }
    for (name, class) in file.dsc.classes.iter().filter(|(_, class)| class.stick.len() != 1) {
        let message = format!("sticks along {:?}; a restickify has sticks of one dimension", class.stick);
        report.json(file.dsc_at(&format!("primaryDsInfo_/{name}/stickDimOrder_")), message);
    }
}

pub(super) fn elementwise_tensors_share_the_stick(file: &FileView<'_>, report: &mut Report) {
    if file.family != Family::Elementwise {
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
            report.json(file.dsc_at(&format!("primaryDsInfo_/{}/stickDimOrder_", tensor.info.class)), message);
        }
    }
}

pub(super) fn absent_sticks_are_one_stick(file: &FileView<'_>, report: &mut Report) {
    for label in file.labels() {
        let per_stick = file.data_tensors().filter_map(|tensor| tensor.stick_size(label)).max();
        let is_absent = !file.data_tensors().any(|tensor| tensor.has(label));
        let (Some(per_stick), Some(size)) = (per_stick.filter(|_| is_absent), file.size(label)) else { continue };
        if size != per_stick {
            let message = format!("{size} points of '{label}', a stick dimension that no tensor has; it has one stick, {per_stick}");
            report.json(file.dsc_at(&format!("N_/{label}_")), message);
        }
    }
}

pub(super) fn windows_are_beside_the_stick(file: &FileView<'_>, report: &mut Report) {
    let space = &file.dsc.space;
    if let (Some(_), false) = (&space.windows, file.family.is_windowed()) {
        let message = format!("'{}' has windows; only convolutions and poolings have", file.compute.function);
        return report.json(file.dsc_at("N_/paddingSizes_"), message);
    }
    for (label, window) in space.windows.iter().flat_map(Entries::iter) {
        let path = file.dsc_at(&format!("N_/paddingSizes_/{label}"));
        let Some(kernel) = file.size(&window.window_dim) else {
            report.json(path, format!("the window's dimension '{}' is not in 'N_'", window.window_dim));
            continue;
        };
        if window.stride < 1 || window.dilation < 1 || window.pad_front < 0 || window.pad_back < 0 {
            report.json(&path, "a window moves by at least one point and has no negative padding");
        }
        if file.slices(&window.window_dim).is_some_and(|slices| slices != 1) {
            report.json(&path, format!("the window's dimension '{}' is split; a core sees whole windows", window.window_dim));
        }
        if file.tensors().any(|tensor| tensor.stick_size(&window.window_dim).is_some()) {
            report
                .json(&path, format!("the window's dimension '{}' runs along a stick; it must be outside of the stick", window.window_dim));
        }
        let outputs = file.size(label).unwrap_or(1);
        let total = outputs.saturating_sub(1).saturating_mul(window.stride).saturating_add(kernel);
        if window.unneeded.is_none() && window.total != total {
            let message = format!("{} input points for {outputs} windows of {kernel}; they read {total}", window.total);
            report.json(path, message);
        }
    }
}
