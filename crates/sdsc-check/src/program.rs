//! Checks a program: `program.json` and a folder for each bundle, or one bundle in the same folder.

use super::file_tree::{FileTree, is_below, join_path};
use super::report::ViolationReport;
use super::rules::{BUFFERS, CONSTANTS, ELEMENT_ORDER, PROGRAM, RULES, SYMBOLIC_SIZES};
use super::{
    BundleFacts, BundleSource, CheckOptions, KernelArgument, buffers, element_order, launch_spec, program_flow,
    program_sizes, program_tensors, report_schema_error,
};
use files::is_plain_name;
use machine::ElementType;
use sdsc_format::BUNDLE_FILE;
use sdsc_format::program::{LaunchEntry, PROGRAM_FILE, Program, Tensor};
use std::collections::{BTreeMap, BTreeSet};

/// Checks the bundle of a tree, or every bundle of the program there. Returns false if the tree has neither.
///
/// `own_name` is the name of the tree's directory, by which a program in the same folder may refer to the bundle.
pub(super) fn check<T: FileTree>(
    tree: &T,
    own_name: Option<&str>,
    rules: CheckOptions<'_>,
    report: &mut ViolationReport,
) -> Result<bool, T::Error> {
    let has_program = tree.has_file(PROGRAM_FILE);
    let program = if has_program { read_program(tree, report)? } else { None };
    if let Some(program) = &program {
        check_constants(program, tree, report);
        report.enter_rule(BUFFERS);
        buffers::check(program, report);
        if report.len() == 0 {
            program_tensors::check(program, report);
        }
        report.enter_rule(PROGRAM);
    }
    if tree.has_file(BUNDLE_FILE) {
        let given = program.map(|program| find_own_inputs(&program, own_name, report)).unwrap_or_default();
        BundleInputs { checks_order: true, ..given }.bundle_source(tree, "", rules, false).check(report)?;
        return Ok(true);
    }
    let Some(program) = program else { return Ok(has_program) };
    let mut facts: BTreeMap<String, BundleFacts> = BTreeMap::new();
    for (folder, given) in collect_bundles(&program, tree, report) {
        let found = given.bundle_source(tree, &folder, rules, true).check(report)?;
        facts.insert(folder, found);
    }
    if report.len() == 0 {
        report.enter_file(PROGRAM_FILE);
        report.enter_rule(SYMBOLIC_SIZES);
        program_sizes::check(&program, &facts, report);
        program_flow::check(&program, &facts, report);
        if rules.profile.includes_base_rule(RULES[ELEMENT_ORDER].label) {
            report.enter_rule(ELEMENT_ORDER);
            element_order::check(&program, &facts, report);
        }
        launch_spec::check(tree, &program, &facts, report)?;
    }
    Ok(has_program)
}

fn read_program<T: FileTree>(tree: &T, report: &mut ViolationReport) -> Result<Option<Program>, T::Error> {
    report.enter_file(PROGRAM_FILE);
    report.enter_rule(PROGRAM);
    let bytes = tree.read_file(PROGRAM_FILE)?;
    Ok(match serde_json::from_slice(&bytes) {
        Ok(program) => {
            let program: Program = program;
            check_integers(&program, report);
            Some(program)
        }
        Err(error) => {
            report_schema_error::<Program>(&bytes, &error, report);
            None
        }
    })
}

/// Checks that a constant either has a file of its bytes, or is passed by the caller.
fn check_constants<T: FileTree>(program: &Program, tree: &T, report: &mut ViolationReport) {
    report.enter_rule(CONSTANTS);
    for (number, constant) in program.constants.iter().enumerate() {
        let Some(file) = &constant.file else { continue };
        let path = format!("/constants/{number}/file");
        match is_below(file).then(|| tree.size_bytes(file)).flatten() {
            None => report.report_json(
                path,
                format!("there is no file '{file}' below the directory; the bytes of a constant are in a file of the directory"),
            ),
            Some(bytes) if i64::try_from(bytes) != Ok(constant.bytes) => {
                report.report_json(path, format!("'{file}' has {bytes} bytes; the constant has {}", constant.bytes));
            }
            Some(_) => {}
        }
    }
    let others = [("arguments", &program.arguments), ("results", &program.results), ("buffers", &program.buffers)];
    for (member, tensors) in others {
        let has_file = |(_, tensor): &(usize, &Tensor)| tensor.file.is_some();
        for (number, tensor) in tensors.iter().enumerate().filter(has_file) {
            report.report_json(
                format!("/{member}/{number}/file"),
                format!("'{}' is no constant; only constants have files", tensor.name),
            );
        }
    }
}

/// Checks that only arguments have an integer range, which is a requirement on the caller, and that only results have
/// digits, which the caller combines.
fn check_integers(program: &Program, report: &mut ViolationReport) {
    let lists = [
        ("arguments", &program.arguments),
        ("results", &program.results),
        ("constants", &program.constants),
        ("buffers", &program.buffers),
    ];
    for (list, tensors) in lists {
        for (number, tensor) in tensors.iter().enumerate() {
            let is_integer = tensor
                .element_type
                .parse()
                .is_ok_and(|element| matches!(element, ElementType::I8 | ElementType::I32 | ElementType::I64));
            if let Some(base) = tensor.digit_base
                && (list != "results" || !is_integer || base < 2 || tensor.shape.first() != Some(&2))
            {
                let message = format!(
                    "'{}' of {} and shape {:?} with digits to the base {base}; only results of integers have digits: two along the first \
                     dimension, to a base above 1",
                    tensor.name, tensor.element_type, tensor.shape
                );
                report.report_json(format!("/{list}/{number}/digit_base"), message);
            }
            let Some([first, end]) = tensor.index_range else { continue };
            let path = format!("/{list}/{number}/index_range");
            if list != "arguments" || !is_integer {
                let message = format!(
                    "'{}' is of {} and one of the {list}; only arguments of integers have a range",
                    tensor.name, tensor.element_type
                );
                report.report_json(path, message);
            } else if first >= end {
                report.report_json(path, format!("{first}..{end}; there is at least one number"));
            }
        }
    }
}

/// Kernel arguments and pool size that a launch passes to its bundle.
#[derive(Default)]
struct BundleInputs {
    arguments: Vec<KernelArgument>,
    /// See `CheckContext::pool_bytes`; `None` without a launch.
    pool_bytes: Option<i64>,
    /// See [`BundleSource::checks_order`].
    checks_order: bool,
}

impl BundleInputs {
    fn from_launch(program: &Program, number: usize, launch: &LaunchEntry, report: &mut ViolationReport) -> Self {
        Self {
            arguments: collect_arguments(program, number, launch, report),
            pool_bytes: Some(launch.pool_bytes),
            checks_order: false,
        }
    }

    const fn bundle_source<'a, T: FileTree>(
        &'a self,
        tree: &'a T,
        folder: &'a str,
        rules: CheckOptions<'a>,
        is_in_program: bool,
    ) -> BundleSource<'a, T> {
        let (arguments, pool_bytes) = (self.arguments.as_slice(), self.pool_bytes);
        BundleSource { tree, folder, arguments, pool_bytes, is_in_program, checks_order: self.checks_order, rules }
    }
}

/// Returns the kernel arguments of a launch.
fn collect_arguments(
    program: &Program,
    number: usize,
    launch: &LaunchEntry,
    report: &mut ViolationReport,
) -> Vec<KernelArgument> {
    let tensors: BTreeMap<&str, &Tensor> = program.tensors().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let mut buffers = Vec::with_capacity(launch.arguments.len());
    for (argument, name) in launch.arguments.iter().enumerate() {
        let known = tensors.get(name.as_str()).copied();
        if known.is_none() {
            let path = format!("/launches/{number}/arguments/{argument}");
            report.report_json(path, format!("'{name}' is no tensor of the program; a launch is given its tensors"));
        }
        // An unknown tensor is assumed to contain every byte.
        let nobody = || Tensor { bytes: i64::MAX, ..Tensor::default() };
        let Tensor { bytes, device_size, format, .. } = known.cloned().unwrap_or_else(nobody);
        buffers.push(KernelArgument { name: name.clone(), bytes, device_size, format });
    }
    buffers
}

/// Returns the kernel arguments of the bundle that is in the same folder as its `program.json`.
fn find_own_inputs(program: &Program, own_name: Option<&str>, report: &mut ViolationReport) -> BundleInputs {
    let is_own = |launch: &LaunchEntry| matches!(&*launch.bundle, "" | ".") || Some(launch.bundle.as_str()) == own_name;
    let only = if program.launches.len() == 1 { Some(0) } else { None };
    let number = program.launches.iter().position(is_own).or(only);
    number
        .map(|number| BundleInputs::from_launch(program, number, &program.launches[number], report))
        .unwrap_or_default()
}

/// Returns the folder of each bundle and its launch arguments. If a bundle is launched twice, each argument has the
/// smaller of the two sizes.
fn collect_bundles<T: FileTree>(
    program: &Program,
    tree: &T,
    report: &mut ViolationReport,
) -> BTreeMap<String, BundleInputs> {
    let mut bundles: BTreeMap<String, BundleInputs> = BTreeMap::new();
    let mut missing = BTreeSet::new();
    for (number, launch) in program.launches.iter().enumerate() {
        let given = BundleInputs::from_launch(program, number, launch, report);
        if !is_plain_name(&launch.bundle) || !tree.has_file(&join_path(&launch.bundle, BUNDLE_FILE)) {
            if missing.insert(&launch.bundle) {
                let message =
                    format!("there is no bundle '{}'; a launch names a folder with {BUNDLE_FILE}", launch.bundle);
                report.report_json(format!("/launches/{number}/bundle"), message);
            }
            continue;
        }
        match bundles.get_mut(&launch.bundle) {
            Some(known) if known.arguments.len() == given.arguments.len() && known.pool_bytes == given.pool_bytes => {
                for (known, given) in
                    known.arguments.iter_mut().zip(given.arguments).filter(|(known, given)| given.bytes < known.bytes)
                {
                    *known = given;
                }
            }
            Some(_) => {
                let path = format!("/launches/{number}/arguments");
                let given = given.arguments.len();
                report.report_json(
                    path,
                    format!("{given} arguments; another launch of the bundle has another number of arguments or another pool"),
                );
            }
            None => {
                bundles.insert(launch.bundle.clone(), given);
            }
        }
    }
    bundles
}
