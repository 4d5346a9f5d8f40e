//! Core splits that users request by dimension names.

use super::WorkError;
use program::WorkSplit;
use program::{WorkHint, find_named_dim};
use std::collections::BTreeSet;

/// Returns the split that the user's hints request for an op with these dimension names; `None` if the op has none of
/// the names. A scope around several ops applies to each op that has the dimension (torch-spyre, `work_div`).
/// Dimensions without a hint are not split. [`super::divide`] checks whether the op can be split that way.
///
/// # Errors
/// Returns an error if a name does not identify one dimension, two names identify the same one, or a number of slices
/// is not positive.
pub fn resolve_hinted_split(hints: &[WorkHint], names: &[String]) -> Result<Option<WorkSplit>, WorkError> {
    let mut by: Vec<Option<&WorkHint>> = vec![None; names.len()];
    for hint in hints {
        let Some(dim) = find_named_dim(&hint.dim, names)? else { continue };
        if let Some(first) = by[dim].replace(hint) {
            return Err(WorkError::TwoNames { first: first.dim.clone(), second: hint.dim.clone(), dim });
        }
    }
    if by.iter().all(Option::is_none) {
        return Ok(None);
    }
    WorkSplit::new(by.into_iter().map(|hint| hint.map_or(1, |hint| hint.slices)).collect())
        .map(Some)
        .map_err(Into::into)
}

/// Returns the first hint, by the position of its op, whose dimension name no op has. Each op comes with its hints and
/// the names of its dimensions; hints with the same id are one request.
#[must_use]
pub fn find_unmatched_hint<'a>(ops: &'a [(Vec<WorkHint>, Vec<String>)]) -> Option<(usize, &'a WorkHint)> {
    let is_heard = |hint: &WorkHint, names: &[String]| matches!(find_named_dim(&hint.dim, names), Ok(Some(_)));
    let all = || ops.iter().flat_map(|(hints, names)| hints.iter().map(move |hint| (hint, names)));
    let heard: BTreeSet<(i64, &str)> =
        all().filter(|(hint, names)| is_heard(hint, names)).map(|(hint, _)| (hint.id, hint.dim.as_str())).collect();
    let lost = |hint: &&'a WorkHint| !heard.contains(&(hint.id, hint.dim.as_str()));
    ops.iter().enumerate().find_map(|(position, (hints, _))| hints.iter().find(lost).map(|hint| (position, hint)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::DimNameError;

    fn build_hints(requests: &[(&str, i64)]) -> Vec<WorkHint> {
        (0..).zip(requests).map(|(id, &(dim, slices))| WorkHint { id, dim: dim.to_owned(), slices }).collect()
    }

    fn to_names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn resolve_slices(requests: &[(&str, i64)], of: &[&str]) -> Result<Option<Vec<i64>>, WorkError> {
        Ok(resolve_hinted_split(&build_hints(requests), &to_names(of))?.map(|split| split.slices().to_vec()))
    }

    #[test]
    fn applies_hints_of_names_that_the_op_has() {
        let requests = [("K", 4), ("M", 2)];
        assert_eq!(resolve_slices(&requests, &["M", "N", "K"]), Ok(Some(vec![2, 1, 4])));
        assert_eq!(resolve_slices(&requests, &["M", "N"]), Ok(Some(vec![2, 1])));
        assert_eq!(resolve_slices(&requests, &["", "N"]), Ok(None));
        assert_eq!(resolve_slices(&[], &["M"]), Ok(None));
    }

    #[test]
    fn splits_flattened_dim_by_its_outer_name_once() {
        assert_eq!(resolve_slices(&[("C", 2)], &["C*D", "E"]), Ok(Some(vec![2, 1])));
        assert!(matches!(resolve_slices(&[("D", 2)], &["C*D", "E"]), Err(WorkError::Name(DimNameError::Inner { .. }))));
        let twice = WorkError::TwoNames { first: "C".to_owned(), second: "C*D".to_owned(), dim: 0 };
        assert_eq!(resolve_slices(&[("C", 2), ("C*D", 4)], &["C*D", "E"]), Err(twice));
    }

    #[test]
    fn finds_hint_that_no_op_matches() {
        let both = build_hints(&[("M", 2), ("K", 4)]);
        let ops =
            |first: &[&str], second: &[&str]| vec![(both.clone(), to_names(first)), (both.clone(), to_names(second))];
        assert_eq!(find_unmatched_hint(&ops(&["M", "N"], &["M", "K"])), None, "one op is enough");
        assert_eq!(find_unmatched_hint(&ops(&["M", "N"], &["N", "M"])), Some((0, &both[1])));
        let other = WorkHint { id: 9, ..both[1].clone() };
        let apart = vec![(vec![both[1].clone()], to_names(&["K"])), (vec![other.clone()], to_names(&["M"]))];
        assert_eq!(find_unmatched_hint(&apart), Some((1, &other)), "another wish of the same name is no help");
    }
}
