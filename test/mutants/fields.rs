//! Names the field of the format at a position in a file.

use crate::mutants::Mutant;
use std::collections::BTreeMap;

/// Members whose keys are numbers of cores, constants or symbols, dimensions, or layout classes.
const BY_KEY: [(&str, &str); 14] = [
    ("coreIdToDsc_", "<core>"),
    ("coreIdToWkSlice_", "<core>"),
    ("coreIdToDscSchedule", "<core>"),
    ("numWkSlicesPerDim_", "<dim>"),
    ("coordinateMasking_", "<dim>"),
    ("coordInfo", "<dim>"),
    ("backGapCore_", "<dim>"),
    ("primaryDsInfo_", "<class>"),
    ("constantInfo_", "<n>"),
    ("dimToSymbolMapping_", "<dim>"),
    ("inputSymbolsAndTags_", "<id>"),
    ("symbolicDimInfo_", "<dim>"),
    ("paddingSizes_", "<dim>"),
    ("padding_", "<dim>"),
];

/// Returns the name of the field at a JSON path.
pub(crate) fn field_name(path: &[String]) -> String {
    let mut words: Vec<String> = Vec::new();
    for (at, key) in path.iter().enumerate() {
        let parent = at.checked_sub(1).map(|parent| path[parent].as_str());
        let by_key = BY_KEY.iter().find(|(known, _)| parent == Some(*known)).map(|(_, word)| (*word).to_owned());
        let word = match key.as_str() {
            _ if by_key.is_some() => by_key.unwrap(),
            key if key.parse::<usize>().is_ok() => continue,
            key if key.starts_with('[') => "<core>".to_owned(),
            key if at == 0 && key.contains('_') && key.as_bytes()[0].is_ascii_digit() => continue,
            // The description of an op is below the name of its function.
            _ if at >= 2 && path[at - 2] == "dscs_" => continue,
            key if is_size(key) => "<dim>_".to_owned(),
            key => key.to_owned(),
        };
        // The slices of a core are by dimension.
        let word = if words.last().is_some_and(|last| last == "<core>") && !word.starts_with('<') {
            "<dim>".to_owned()
        } else {
            word
        };
        words.push(word);
    }
    words.join("/")
}

/// Returns whether a key is a size, which is named after its dimension.
fn is_size(key: &str) -> bool {
    ["mb_", "x_", "y_", "i_", "j_", "ki_", "kj_", "out_", "in_"].contains(&key)
}

/// Keeps the first, the last and one intermediate mutant of each kind of change of each field of a kind of file.
pub(crate) fn thin_out(all: Vec<Mutant>, most: usize) -> Vec<Mutant> {
    let mut groups: BTreeMap<(String, &'static str), Vec<usize>> = BTreeMap::new();
    for (number, mutant) in all.iter().enumerate() {
        groups.entry((mutant.field.clone(), mutant.kind)).or_default().push(number);
    }
    let spread = |group: &Vec<usize>| -> Vec<usize> {
        let last = group.len() - 1;
        (0..most.min(group.len()))
            .map(|step| group[if most < 2 { 0 } else { last * step / (most.min(group.len()).max(2) - 1) }])
            .collect()
    };
    let mut kept: Vec<usize> = groups.values().flat_map(spread).collect();
    kept.sort_unstable();
    kept.dedup();
    let mut all: Vec<Option<Mutant>> = all.into_iter().map(Some).collect();
    kept.into_iter().filter_map(|number| all[number].take()).collect()
}
