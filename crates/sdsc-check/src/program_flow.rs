//! Rules on the data flow between the launches of a program, and on launch arguments, pools and index ranges.

use super::file_facts::TensorAddress;
use super::file_tree::join_path;
use super::launch::ValueBase;
use super::report::ViolationReport;
use super::rules::{
    ARGUMENTS, DEBUG_HANDLES, FLOW_BETWEEN_LAUNCHES, INDEX_RANGES, LIVE_RANGES_IN_LAUNCHES, POOL_BYTES, READ_ONLY,
};
use super::{BundleFacts, live_ranges};
use machine::STICK_BYTES;
use sdsc_format::BUNDLE_FILE;
use sdsc_format::program::{LaunchEntry, Life, PROGRAM_FILE, Program, Tensor};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the tensor lists of a program, with their member names in `program.json`.
pub(super) fn tensor_lists(program: &Program) -> [(&'static str, &[Tensor]); 4] {
    [
        ("arguments", &program.arguments),
        ("results", &program.results),
        ("constants", &program.constants),
        ("buffers", &program.buffers),
    ]
}

/// Checks the launches of a program. `bundles` has the facts about each bundle, by directory name.
pub(super) fn check(program: &Program, bundles: &BTreeMap<String, BundleFacts>, report: &mut ViolationReport) {
    let pair_with_facts = |(number, launch): (usize, _)| {
        Some(CheckedLaunch { number, entry: launch, facts: bundles.get(&launch.bundle)? })
    };
    let launches: Vec<CheckedLaunch<'_>> = program.launches.iter().enumerate().filter_map(pair_with_facts).collect();
    // If a bundle cannot be read, its accesses are unknown.
    if launches.len() < program.launches.len()
        || launches.iter().any(|launch| launch.facts.valid_files().next().is_none())
    {
        return;
    }
    let program = CheckedProgram { program, launches };
    report.enter_rule(ARGUMENTS);
    program.check_arguments_are_used(report);
    report.enter_rule(READ_ONLY);
    program.check_inputs_are_read_only(report);
    report.enter_rule(FLOW_BETWEEN_LAUNCHES);
    program.check_reads_follow_writes(report);
    report.enter_rule(INDEX_RANGES);
    program.check_index_ranges(report);
    report.enter_rule(DEBUG_HANDLES);
    program.launches.iter().for_each(|launch| launch.check_debug_handles(report));
    for launch in &program.launches {
        let before = report.len();
        report.enter_rule(LIVE_RANGES_IN_LAUNCHES);
        live_ranges::check(launch.number, launch.entry, launch.facts, report);
        // If live ranges are invalid, so are all facts derived from them.
        if report.len() == before {
            report.enter_rule(POOL_BYTES);
            launch.check_pool_size(report);
        }
    }
}

/// Returns the pool size in bytes that the live ranges require, rounded up to sticks.
fn required_pool_bytes(live_ranges: &[Life]) -> i64 {
    let end =
        live_ranges.iter().map(|live_range| live_range.offset.saturating_add(live_range.bytes)).max().unwrap_or(0);
    end.saturating_add(STICK_BYTES - 1) / STICK_BYTES * STICK_BYTES
}

/// Launch, its index in `program.json`, and the facts about its bundle.
struct CheckedLaunch<'a> {
    number: usize,
    entry: &'a LaunchEntry,
    facts: &'a BundleFacts,
}

impl CheckedLaunch<'_> {
    fn argument_name(&self, argument: usize) -> Option<&str> {
        self.entry.arguments.get(argument).map(String::as_str)
    }

    /// Returns the kernel arguments that the bundle uses: those that an op accesses, and the function parameters.
    fn used_arguments(&self) -> BTreeSet<usize> {
        let flow = &self.facts.flow;
        flow.read_first.keys().chain(flow.written.keys()).chain(&self.facts.parameters).copied().collect()
    }

    /// Checks that debug handles refer only to ops that execute the SDSC file of an earlier op, and that they are in op
    /// order.
    fn check_debug_handles(&self, report: &mut ViolationReport) {
        let mut previous_op = None;
        for (position, handle) in self.entry.debug_handles.iter().enumerate() {
            let path = format!("/launches/{}/debug_handles/{position}/op", self.number);
            if !self.facts.order.repeats_file(handle.op) {
                report.report_json(
                    path,
                    format!("op {} is the first of its file; only an op whose file an earlier op executes has a handle here", handle.op),
                );
            } else if previous_op.is_some_and(|before| before >= handle.op) {
                report.report_json(
                    path,
                    format!("op {} does not come after the previous entry; ops are listed once, in order", handle.op),
                );
            }
            previous_op = Some(handle.op);
        }
    }

    /// Checks that the pool has the size that its live ranges require. `bundle.mlir` states the size if addresses are
    /// symbolic, otherwise `program.json` states it.
    fn check_pool_size(&self, report: &mut ViolationReport) {
        let Self { number, entry: launch, facts } = self;
        let (needed, stated) = (required_pool_bytes(&launch.pool), launch.pool_bytes);
        let allocated: i64 = facts.pools.iter().map(|pool| pool.bytes).sum();
        let path = format!("/launches/{number}/pool_bytes");
        if facts.parameters.is_empty() && stated != needed {
            report.report_json(
                path,
                format!("{stated} bytes; the tensors of '{}' need {needed}, whole sticks", launch.bundle),
            );
        } else if !facts.parameters.is_empty() && stated != 0 {
            report.report_json(
                path,
                "bundle.mlir allocates the pool of a bundle with symbolic addresses; the member is only for bundles with baked addresses",
            );
        }
        if let Some(pool) = facts.pools.first().filter(|_| allocated != needed) {
            report.enter_file(join_path(&launch.bundle, BUNDLE_FILE));
            report
                .report_text(pool.at, format!("a pool of {allocated} bytes; its tensors need {needed}, whole sticks"));
            report.enter_file(PROGRAM_FILE);
        }
    }
}

/// Program and its launches, all of whose bundles could be read.
struct CheckedProgram<'a> {
    program: &'a Program,
    launches: Vec<CheckedLaunch<'a>>,
}

impl CheckedProgram<'_> {
    /// Checks that launches pass the arguments that their bundles use, each once, and that every tensor is passed.
    fn check_arguments_are_used(&self, report: &mut ViolationReport) {
        for launch in &self.launches {
            let (used, num_passed) = (launch.used_arguments(), launch.entry.arguments.len());
            let path = format!("/launches/{}/arguments", launch.number);
            if let Some(missing) = used.iter().find(|argument| **argument >= num_passed) {
                report.report_json(
                    path,
                    format!("{num_passed} arguments; '{}' uses argument {missing}", launch.entry.bundle),
                );
            } else if let Some(unused) = (0..num_passed).find(|argument| !used.contains(argument)) {
                let message =
                    format!("'{}', which '{}' does not use", launch.entry.arguments[unused], launch.entry.bundle);
                report.report_json(format!("{path}/{unused}"), message);
            }
            let mut seen = BTreeSet::new();
            for (argument, name) in launch.entry.arguments.iter().enumerate().filter(|(_, name)| !seen.insert(*name)) {
                let path = format!("/launches/{}/arguments/{argument}", launch.number);
                report.report_json(path, format!("'{name}' is given twice; a launch is given a tensor once"));
            }
        }
        let mut seen = BTreeSet::new();
        for launch in
            self.launches.iter().filter(|launch| !seen.insert((&launch.entry.bundle, &launch.entry.arguments)))
        {
            let message =
                format!("'{}' is launched again with the same arguments, which has no effect", launch.entry.bundle);
            report.report_json(format!("/launches/{}", launch.number), message);
        }
        let passed_names: BTreeSet<&str> =
            self.launches.iter().flat_map(|launch| &launch.entry.arguments).map(String::as_str).collect();
        // Arguments are exempt: no launch passes an argument that the function does not use.
        for (list, tensors) in tensor_lists(self.program).into_iter().filter(|(list, _)| *list != "arguments") {
            for (number, tensor) in
                tensors.iter().enumerate().filter(|(_, tensor)| !passed_names.contains(&*tensor.name))
            {
                report
                    .report_json(format!("/{list}/{number}/name"), format!("'{}' is given to no launch", tensor.name));
            }
        }
    }

    /// Checks that no launch writes an argument or a constant of the program.
    fn check_inputs_are_read_only(&self, report: &mut ViolationReport) {
        let inputs = [("an argument", &self.program.arguments), ("a constant", &self.program.constants)];
        let find_input_kind = |name: &str| {
            let found = inputs.iter().find(|(_, tensors)| tensors.iter().any(|tensor| tensor.name == name));
            found.map(|(kind, _)| *kind)
        };
        let mut seen = BTreeSet::new();
        for launch in &self.launches {
            for (argument, fault) in &launch.facts.flow.written {
                let Some((name, kind)) =
                    launch.argument_name(*argument).and_then(|name| Some((name, find_input_kind(name)?)))
                else {
                    continue;
                };
                if seen.insert((&*launch.entry.bundle, *argument)) {
                    report.enter_file(join_path(&launch.entry.bundle, &fault.file));
                    let message =
                        format!("{}, which is '{name}', {kind} of the program; those are only read", fault.message);
                    report.report_json(fault.path.clone(), message);
                }
            }
        }
        report.enter_file(PROGRAM_FILE);
    }

    /// Checks that tensors are written before launches read them, and that every result is written.
    fn check_reads_follow_writes(&self, report: &mut ViolationReport) {
        let mut written: BTreeSet<&str> =
            self.program.arguments.iter().chain(&self.program.constants).map(|tensor| tensor.name.as_str()).collect();
        for launch in &self.launches {
            for (argument, fault) in &launch.facts.flow.read_first {
                let Some(name) = launch.argument_name(*argument).filter(|name| !written.contains(name)) else {
                    continue;
                };
                report.enter_file(join_path(&launch.entry.bundle, &fault.file));
                report.report_json(
                    fault.path.clone(),
                    format!("{}; it is '{name}' in launch {}", fault.message, launch.number),
                );
            }
            written.extend(launch.facts.flow.written.keys().filter_map(|argument| launch.argument_name(*argument)));
        }
        report.enter_file(PROGRAM_FILE);
        for (number, result) in
            self.program.results.iter().enumerate().filter(|(_, result)| !written.contains(&*result.name))
        {
            report.report_json(
                format!("/results/{number}"),
                format!("no launch writes '{}'; every result is written", result.name),
            );
        }
    }

    /// Checks that the range of every index argument starts at 0 and ends at a dimension size of an indexed table.
    fn check_index_ranges(&self, report: &mut ViolationReport) {
        let mut sizes_by_argument: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
        let mut index_arguments: BTreeSet<&str> = BTreeSet::new();
        // Copied arguments may have a smaller range: the copy may index a smaller table, which no file states.
        let mut copied_arguments: BTreeSet<&str> = BTreeSet::new();
        for launch in &self.launches {
            for tensor in launch.facts.valid_files().flat_map(|file| &file.tensors) {
                let TensorAddress::Hbm { base: ValueBase::Argument(argument), .. } = &tensor.place else { continue };
                let Some(name) = launch.argument_name(*argument) else { continue };
                let Some(tables) = &tensor.tables else {
                    copied_arguments.insert(name);
                    continue;
                };
                index_arguments.insert(name);
                let find_table = |base: &ValueBase| match base {
                    ValueBase::Argument(argument) => launch
                        .argument_name(*argument)
                        .and_then(|name| self.program.tensors().find(|one| one.name == name)),
                    ValueBase::Pool(_) | ValueBase::Parameter(_) => None,
                };
                for table in tables.iter().filter_map(find_table) {
                    sizes_by_argument.entry(name).or_default().extend(merged_dim_sizes(&table.shape));
                }
            }
        }
        for (number, argument) in self.program.arguments.iter().enumerate() {
            let path = format!("/arguments/{number}/index_range");
            match (argument.index_range, index_arguments.contains(&*argument.name)) {
                (None, true) => {
                    report.report_json(path, format!("'{}' is read as indices and has no range", argument.name))
                }
                (Some([first, _]), true) if first != 0 => {
                    report.report_json(path, format!("indices from {first}; they are from 0"))
                }
                (Some([_, end]), true) => {
                    let is_below = |table_sizes: &&BTreeSet<i64>| {
                        copied_arguments.contains(&*argument.name) && table_sizes.iter().all(|&size| end < size)
                    };
                    if let Some(table_sizes) =
                        sizes_by_argument.get(&*argument.name).filter(|ends| !ends.contains(&end) && !is_below(ends))
                    {
                        report.report_json(path, format!("indices up to {end}; the tables have sizes {table_sizes:?}"));
                    }
                }
                (Some(_), false) | (None, false) => {}
            }
        }
    }
}

/// Returns the products of all runs of adjacent dimension sizes, because a view may merge adjacent dimensions.
fn merged_dim_sizes(shape: &[i64]) -> impl Iterator<Item = i64> {
    (0..shape.len()).flat_map(|first| {
        shape[first..].iter().scan(1_i64, |size, dim| {
            *size = size.saturating_mul(*dim);
            Some(*size)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_adjacent_dimensions() {
        assert_eq!(merged_dim_sizes(&[2, 3, 5]).collect::<Vec<_>>(), [2, 6, 30, 3, 15, 5]);
    }
}
