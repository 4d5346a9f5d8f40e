//! Rules on the symbols of an SDSC file: symbolic sizes and symbolic start addresses.

use super::super::file_view::FileView;
use super::super::report::ViolationReport;
use sdsc_format::model::{CoreKey, Entries, strip_underscore};
use std::collections::BTreeSet;

/// JSON member that mentions a symbol.
#[derive(Clone, Copy)]
enum SymbolMention<'a> {
    /// Symbolic size of the dimension with this label.
    Size(&'a str),
    /// Start address of a tensor, by its position in the file, on one core.
    Start(usize, CoreKey),
}

impl SymbolMention<'_> {
    fn member_path(self, file: &FileView<'_>) -> String {
        match self {
            Self::Size(label) => file.dsc_member_path(&format!("dimToSymbolMapping_/{label}")),
            Self::Start(tensor, core) => {
                file.node_member_path(tensor, &format!("startAddressCoreCorelet_/data_/{core}"))
            }
        }
    }
}

/// Returns the symbol ids that a file mentions, each with its first mention: sizes, then start addresses by tensor and
/// core.
///
/// JSON objects are unordered, so sizes are sorted by descending id, and start addresses by core number.
fn collect_mentions<'a>(file: &FileView<'a>) -> Vec<(i64, SymbolMention<'a>)> {
    let dims = file.dsc.dim_symbols.iter().flat_map(Entries::iter);
    let mut ids: Vec<_> =
        dims.flat_map(|(label, ids)| ids.iter().map(|id| (id.id, SymbolMention::Size(label)))).collect();
    ids.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    for (tensor, node) in file.dsc.nodes.iter().enumerate().filter(|(_, node)| node.has_symbolic_start()) {
        let mut starts: Vec<_> = node.start.data.iter().collect();
        starts.sort_by_key(|(key, _)| key.core);
        ids.extend(starts.into_iter().map(|(core, id)| (id.0, SymbolMention::Start(tensor, *core))));
    }
    let mut seen = BTreeSet::new();
    ids.retain(|(id, _)| seen.insert(*id));
    ids
}

/// Checks that the execute gives a value to every symbol of the file, and to no other symbol.
pub(super) fn check_symbol_values(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(execute) = file.context.execute else { return };
    let execute_ids: BTreeSet<i64> = execute.symbol_ids().iter().copied().collect();
    let mentioned = collect_mentions(file);
    for (id, mention) in mentioned.iter().filter(|(id, _)| !execute_ids.contains(id)) {
        let message =
            format!("symbol {id} has no value; the execute at {} must list every symbol of the file", execute.at);
        report.report_json(mention.member_path(file), message);
    }
    // All descriptions of a file share the symbols of one execute, so only the first description reports unused
    // symbols.
    if file.dsc_index != 0 {
        return;
    }
    let ids_of_other_dscs = file.operation.dscs[1..].iter().flat_map(|other| other.value.symbol_ids());
    let mentioned_ids: BTreeSet<i64> = mentioned.iter().map(|(id, _)| *id).chain(ids_of_other_dscs).collect();
    for id in execute_ids.difference(&mentioned_ids) {
        report.report_file(format!(
            "the execute at {} gives symbol {id} a value; the file does not mention it",
            execute.at
        ));
    }
}

/// Checks that the execute lists the symbols in the order of the file.
pub(super) fn check_symbol_order(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(execute) = file.context.execute else { return };
    let mentioned = collect_mentions(file);
    let execute_ids: BTreeSet<i64> = execute.symbol_ids().iter().copied().collect();
    // Other rules check for missing or repeated symbols.
    if execute_ids.len() != execute.symbol_ids().len() || execute_ids != mentioned.iter().map(|(id, _)| *id).collect() {
        return;
    }
    if let Some(((wanted, mention), found)) =
        mentioned.iter().zip(execute.symbol_ids()).find(|((wanted, _), found)| wanted != *found)
    {
        let message = format!(
            "the execute at {} has symbol {found} where the file has {wanted}; it lists symbols as the file does",
            execute.at
        );
        report.report_json(mention.member_path(file), message);
    }
}

/// Checks that the members that declare symbolic sizes are present if and only if the op has symbolic sizes.
pub(super) fn check_symbolic_size_declarations(file: &FileView<'_>, report: &mut ViolationReport) {
    let operation = file.operation;
    let is_symbolic = file.dsc.dim_symbols.is_some();
    let members = [
        ("datadscs_", operation.data_dscs.is_some()),
        ("dimToSymbolMappingOpcodeCorrection_", operation.opcode_correction.is_some()),
        ("inputSymbolsAndTags_", operation.symbol_tags.is_some()),
        ("symbolDefinitions_", operation.symbol_definitions.is_some()),
    ];
    for (member, is_present) in members.into_iter().filter(|(_, is_there)| *is_there != is_symbolic) {
        let state = if is_present { "is there" } else { "is missing" };
        report.report_json(
            file.member_path(member),
            format!("the member {state}; it is there when the op has symbolic sizes, and only then"),
        );
    }
    check_tags(file, report);
    check_bounds(file, report);
}

/// Checks that each symbolic size has one negative symbol id, and that exactly these ids have names.
fn check_tags(file: &FileView<'_>, report: &mut ViolationReport) {
    let dim_symbols = file.dsc.dim_symbols.iter().flat_map(Entries::iter);
    let mut ids = BTreeSet::new();
    for (label, symbols) in dim_symbols {
        match symbols.as_slice() {
            [symbol] if symbol.id < 0 => {
                ids.insert(symbol.id);
            }
            found => {
                let found: Vec<i64> = found.iter().map(|symbol| symbol.id).collect();
                report.report_json(
                    file.dsc_member_path(&format!("dimToSymbolMapping_/{label}")),
                    format!("{found:?}; a size has one negative symbol id"),
                );
            }
        }
    }
    let Some(tags) = &file.operation.symbol_tags else { return };
    let tagged: BTreeSet<String> = tags.iter().map(|(id, _)| id.to_string()).collect();
    let ids: BTreeSet<String> = ids.iter().map(i64::to_string).collect();
    if let Some(id) = ids.symmetric_difference(&tagged).next() {
        let message = format!(
            "symbol {id} is not in both 'inputSymbolsAndTags_' and 'dimToSymbolMapping_'; each symbol of a size has a name"
        );
        report.report_json(file.member_path("inputSymbolsAndTags_"), message);
    }
}

/// Checks that exactly the symbolic sizes have bounds, and that the bounds are positive and fit the size on one core.
fn check_bounds(file: &FileView<'_>, report: &mut ViolationReport) {
    let has_symbol = |label: &str| {
        file.dsc.dim_symbols.as_ref().is_some_and(|symbols| symbols.iter().any(|(known, _)| known == label))
    };
    let stage = &file.dsc.stages.core.steady;
    for label in file.labels().filter(|label| has_symbol(label) != stage.bounds(label).is_some()) {
        let message = format!(
            "dimension '{label}' is not in both 'symbolicDimInfo_' and 'dimToSymbolMapping_'; a symbolic size has bounds"
        );
        report.report_json(file.dsc_member_path("dataStageParam_/0/ss_/symbolicDimInfo_"), message);
    }
    for (label, info) in stage.symbolic.iter().flat_map(Entries::iter) {
        let label = strip_underscore(label);
        let largest = file.core_size(label).unwrap_or(i64::MAX);
        if info.granularity < 1 || info.max < 1 || info.max > largest {
            let message = format!(
                "at most {} in steps of {}; a symbolic size is positive and at most the {largest} points of a core",
                info.max, info.granularity
            );
            report
                .report_json(file.dsc_member_path(&format!("dataStageParam_/0/ss_/symbolicDimInfo_/{label}")), message);
        }
    }
}
