//! Rules on tensors that descriptions with unequal work share.

use super::super::file_view::FileView;
use super::super::report::ViolationReport;
use sdsc_format::model::{RepeatedDims, ShareInfo};
use std::collections::BTreeSet;

/// Checks that `ldsShareInfo_` names tensors and descriptions of the file, and repeated dimensions of the op.
pub(super) fn check_shared_tensors(file: &FileView<'_>, report: &mut ViolationReport) {
    for (index, share) in file.operation.share_info.iter().flatten().enumerate() {
        if let Some((member, fault)) = find_share_fault(file, share) {
            report.report_json(file.member_path(&format!("ldsShareInfo_/{index}/{member}")), fault);
        }
    }
}

fn find_share_fault(file: &FileView<'_>, share: &ShareInfo) -> Option<(&'static str, String)> {
    let dscs = &file.operation.dscs;
    let is_number = |number: i64| usize::try_from(number).is_ok_and(|number| number < dscs.len());
    if !dscs.iter().any(|dsc| dsc.value.tensors.iter().any(|tensor| tensor.name == share.tensor)) {
        return Some(("dsName_", format!("'{}' is no tensor of the file", share.tensor)));
    }
    let mut seen = BTreeSet::new();
    if let Some(number) = share.shared.iter().flatten().find(|number| !is_number(**number) || !seen.insert(**number)) {
        let message = format!("description {number} of {}; each one uses at most one slice of a tensor", dscs.len());
        return Some(("sharedDscs", message));
    }
    let (numbers, lists): (Vec<i64>, Vec<_>) = match share.repeated.as_ref()? {
        RepeatedDims::List(lists) => (0..).zip(lists).unzip(),
        RepeatedDims::ByNumber(lists) => lists.iter().map(|(number, list)| (number.0, list)).unzip(),
    };
    if let Some(number) = numbers.into_iter().find(|number| !is_number(*number)) {
        let message = format!("repetitions of description {number} of {}; a list belongs to one", dscs.len());
        return Some(("repeatHbmLxThroImbalDim", message));
    }
    let is_dim = |label: &str| file.labels().any(|known| known == label);
    let (label, count) = lists.into_iter().flatten().find(|(label, count)| !is_dim(label) || *count < 1)?;
    let message = format!("{count} repetitions along '{label}'; a dimension of the op repeats at least once");
    Some(("repeatHbmLxThroImbalDim", message))
}
