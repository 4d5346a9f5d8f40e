#![doc = include_str!("../README.md")]

mod buffers;
mod data_flow;
mod element_order;
mod error;
mod extent;
mod file_facts;
mod file_tree;
mod file_view;
mod functions;
pub mod launch;
mod launch_spec;
mod live_ranges;
mod order_effect;
mod profile;
mod program;
mod program_flow;
mod program_sizes;
mod program_tensors;
mod report;
mod rules;

pub use error::CheckError;
pub use file_view::KernelArgument;
pub use launch_spec::check_launch_specs;
pub use profile::{Profile, UnknownProfileError};
pub use report::{Violation, ViolationLocation};
pub use rules::{FormatRule, RELEASE_RULES, RULES, all_rules, format_rules_table};

use data_flow::{FlowFindings, analyze_flow};
use element_order::ElementOrderState;
use file_facts::FileFacts;
use file_tree::{DiskTree, FileTree, MemoryTree, join_path};
use file_view::{CheckContext, FileView};
use launch::{ExecuteView, LaunchValues};
use machine::Target;
use profile::members::find_member_faults;
use report::{ViolationReport, member_pointer};
use rules::launches::BundleView;
use rules::{ELEMENT_ORDER, FLOW_IN_HBM, FLOW_IN_LX, ONE_OPERATION, SCHEMA, SIZES, SYMBOLIC_SPACE, TEXT, rule_at};
use sdsc_format::{
    BUNDLE_FILE,
    bundle_text::{self, ParamType},
    model::Sdsc,
};
use serde_path_to_error::Segment;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Files of one bundle, in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleFiles {
    /// Text of `bundle.mlir`.
    pub text: String,
    /// SDSC files, by name.
    pub sdsc: BTreeMap<String, Vec<u8>>,
    /// Kernel arguments, by number; `None` if their sizes are unknown.
    pub arguments: Vec<KernelArgument>,
}

/// Returns the label of a rule, by its index in the table.
fn rule_label(rule: usize) -> &'static str {
    rule_at(rule).label
}

/// Checks a bundle against every rule, for the Spyre card.
#[must_use]
pub fn check_bundle(files: &BundleFiles) -> Vec<Violation> {
    check_bundle_on_target(files, &Target::spyre())
}

/// Checks a bundle against every rule, for a machine.
#[must_use]
pub fn check_bundle_on_target(files: &BundleFiles, target: &Target) -> Vec<Violation> {
    let sdsc = files.sdsc.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let tree = MemoryTree(sdsc.chain([(BUNDLE_FILE, files.text.as_bytes())]).collect());
    let mut report = ViolationReport::default();
    let source = BundleSource {
        tree: &tree,
        folder: "",
        arguments: &files.arguments,
        pool_bytes: None,
        is_in_program: false,
        checks_order: true,
        rules: CheckOptions { target, profile: Profile::default() },
    };
    match source.check(&mut report) {
        Ok(_) => report.into_violations(rule_label),
        Err(never) => match never {},
    }
}

/// Checks the files of a bundle or of a program before they are written, given with their paths below the directory.
///
/// # Errors
///
/// If there is neither a bundle nor a program.
pub fn check_files<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    target: &Target,
) -> Result<Vec<Violation>, CheckError> {
    check_files_with_profile(files, target, Profile::default())
}

/// Checks files as [`check_files`] does, against a profile.
///
/// # Errors
///
/// As [`check_files`].
pub fn check_files_with_profile<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    target: &Target,
    profile: Profile,
) -> Result<Vec<Violation>, CheckError> {
    let tree = MemoryTree(files.into_iter().collect());
    let mut report = ViolationReport::default();
    match program::check(&tree, None, CheckOptions { target, profile }, &mut report) {
        Ok(true) => Ok(report.into_violations(rule_label)),
        Ok(false) => Err(CheckError::NoBundle(PathBuf::from("."))),
        Err(never) => match never {},
    }
}

/// Checks the bundle in a directory, or every bundle of the program there, for the Spyre card.
///
/// A bundle has `bundle.mlir` and its JSON files, and may have a `program.json`; a program has `program.json` and a
/// folder for each bundle. File names in violations are relative to the directory.
///
/// # Errors
///
/// If the directory has neither file, or a file cannot be read.
pub fn check_directory(dir: &Path) -> Result<Vec<Violation>, CheckError> {
    check_directory_on_target(dir, &Target::spyre())
}

/// Checks the bundle in a directory, or every bundle of the program there, for a machine.
///
/// # Errors
///
/// As [`check_directory`].
pub fn check_directory_on_target(dir: &Path, target: &Target) -> Result<Vec<Violation>, CheckError> {
    check_directory_with_profile(dir, target, Profile::default())
}

/// Checks the bundle in a directory, or every bundle of the program there, against a profile.
///
/// # Errors
///
/// As [`check_directory`].
pub fn check_directory_with_profile(
    dir: &Path,
    target: &Target,
    profile: Profile,
) -> Result<Vec<Violation>, CheckError> {
    let mut report = ViolationReport::default();
    let own_name = fs::canonicalize(dir).ok().and_then(|dir| Some(dir.file_name()?.to_string_lossy().into_owned()));
    let is_bundle = program::check(&DiskTree(dir), own_name.as_deref(), CheckOptions { target, profile }, &mut report)?;
    if is_bundle { Ok(report.into_violations(rule_label)) } else { Err(CheckError::NoBundle(dir.to_path_buf())) }
}

/// Machine and format that files are checked against.
#[derive(Clone, Copy)]
struct CheckOptions<'a> {
    target: &'a Target,
    profile: Profile,
}

/// Bundle whose SDSC files are read one at a time.
struct BundleSource<'a, T> {
    tree: &'a T,
    folder: &'a str,
    arguments: &'a [KernelArgument],
    /// See [`CheckContext::pool_bytes`].
    pool_bytes: Option<i64>,
    /// Whether a program lists all launches, so that no unknown launch leaves values in LX.
    is_in_program: bool,
    /// Whether to check the order of elements: conversions stagger elements, and no program lists the launches before
    /// and after.
    checks_order: bool,
    rules: CheckOptions<'a>,
}

/// Facts about a bundle that the rules on a program use.
#[derive(Debug, Default)]
struct BundleFacts {
    /// Kernel arguments that are parameters of the function.
    parameters: BTreeSet<usize>,
    pools: Vec<launch::LaunchPool>,
    /// Maximum and granularity of each parameter that is a size.
    sizes: Vec<(i64, i64)>,
    /// Positions in `sizes` of those that bound loops.
    loop_sizes: BTreeSet<usize>,
    /// Facts of the file of each execute, in the order of the text; `None` if the file is invalid.
    executes: Vec<Option<Rc<FileFacts>>>,
    order: live_ranges::ExecuteOrder,
    flow: FlowFindings,
}

impl BundleFacts {
    /// Returns the facts of valid files, by execute.
    fn valid_files(&self) -> impl Iterator<Item = &FileFacts> {
        self.executes.iter().flatten().map(Rc::as_ref)
    }
}

impl<T: FileTree> BundleSource<'_, T> {
    fn check(&self, report: &mut ViolationReport) -> Result<BundleFacts, T::Error> {
        let before = report.len();
        report.enter_file(join_path(self.folder, BUNDLE_FILE));
        let bytes = self.tree.read_file(&join_path(self.folder, BUNDLE_FILE))?;
        // Text that is not UTF-8 is rejected at the first replacement character.
        let text = String::from_utf8_lossy(&bytes);
        let parsed = bundle_text::parse(&text);
        if let Err(error) = &parsed {
            report.enter_rule(TEXT);
            report.report_text(error.at, error.message.clone());
        }
        let launch = parsed.as_ref().ok().map(LaunchValues::evaluate);
        let files = self.sdsc_file_names(launch.as_ref())?;
        if let Some(launch) = &launch {
            let CheckOptions { target, profile } = self.rules;
            let is_in_module = bundle_text::has_module(&text) == Ok(true);
            let view = BundleView { launch, is_in_module, folder: self.folder, files: &files, target, profile };
            rules::check_bundle(&view, report);
        }
        let mut facts = BundleFacts::default();
        facts.executes.resize(launch.as_ref().map_or(0, |launch| launch.executes.len()), None);
        let executes = launch.as_ref().map(group_executes_by_file).unwrap_or_default();
        for name in &files {
            let executes = executes.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            self.check_file(name, launch.as_ref(), executes, &mut facts.executes, report)?;
        }
        if let (Ok(text), Some(launch)) = (&parsed, &launch) {
            facts.parameters = launch.arguments.clone();
            facts.pools.clone_from(&launch.pools);
            let sizes = || text.params.iter().enumerate().filter(|(_, param)| size_bounds(param.kind).is_some());
            facts.sizes = sizes().filter_map(|(_, param)| size_bounds(param.kind)).collect();
            let bounds_loop = |param: usize| launch.loop_sizes.iter().flatten().any(|(size, _)| *size == param);
            facts.loop_sizes =
                sizes().enumerate().filter(|(_, (param, _))| bounds_loop(*param)).map(|(size, _)| size).collect();
            facts.order = live_ranges::ExecuteOrder::from_body(&text.body, &launch.loops);
            facts.flow = analyze_flow(&text.body, launch, &facts.executes, !self.is_in_program);
            // Unwritten or foreign bytes are a consequence of violations of other rules.
            if report.len() == before {
                self.report_flow(&facts.flow, report);
                if self.checks_order && self.rules.profile.includes_base_rule(rule_label(ELEMENT_ORDER)) {
                    self.report_order(&facts, report);
                }
            }
        }
        Ok(facts)
    }

    /// Checks a file, and stores the facts of each execute under its number.
    fn check_file(
        &self,
        name: &str,
        launch: Option<&LaunchValues<'_>>,
        executes: &[(usize, &ExecuteView<'_>)],
        facts: &mut [Option<Rc<FileFacts>>],
        report: &mut ViolationReport,
    ) -> Result<(), T::Error> {
        let path = join_path(self.folder, name);
        let bytes = self.tree.read_file(&path)?;
        report.enter_file(path);
        let CheckOptions { target, profile } = self.rules;
        let Some(mut sdsc) = read_sdsc(&bytes, profile, report) else { return Ok(()) };
        // Other profiles demand equal work.
        let numbers_in_file: Vec<usize> =
            if profile.is_release() { sdsc.value.split_unequal_cores() } else { (0..sdsc.value.dscs.len()).collect() };
        let before = report.len();
        let mut known: Vec<(&ExecuteView<'_>, Rc<FileFacts>)> = Vec::new();
        let unknown = [(usize::MAX, None)];
        let executed: Vec<_> = executes.iter().map(|(number, execute)| (*number, Some(*execute))).collect();
        for (number, execute) in if executed.is_empty() { &unknown[..] } else { &executed } {
            let same = |(first, _): &&(&ExecuteView<'_>, _)| {
                !profile.shares_files() || execute.is_some_and(|execute| first.values == execute.values)
            };
            if let Some((_, found)) = known.iter().find(same) {
                facts[*number] = Some(Rc::clone(found));
                continue;
            }
            let (arguments, pool_bytes) = (self.arguments, self.pool_bytes);
            let around = CheckContext { target, arguments, pool_bytes, launch, profile, execute: *execute };
            let views = FileView::from_sdsc(name, &sdsc, &numbers_in_file, around);
            if views.is_empty() || (views.len() > 1 && profile.includes_base_rule(rule_label(ONE_OPERATION))) {
                report.enter_rule(ONE_OPERATION);
                rules::identity::check_single_operation(&sdsc, report);
                return Ok(());
            }
            for view in &views {
                if known.is_empty() {
                    rules::check_file(view, report);
                } else if report.len() == before {
                    rules::check_execute(view, report);
                }
            }
            let Some(found) = views.iter().map(FileFacts::from_file).reduce(FileFacts::merge).map(Rc::new) else {
                continue;
            };
            if let (Some(fact), Some(execute)) = (facts.get_mut(*number), execute) {
                *fact = Some(Rc::clone(&found));
                known.push((execute, found));
            }
        }
        Ok(())
    }

    fn report_flow(&self, flow: &FlowFindings, report: &mut ViolationReport) {
        for (rule, faults) in
            [(FLOW_IN_LX, &flow.lx_faults), (FLOW_IN_HBM, &flow.hbm_faults), (SIZES, &flow.size_faults)]
        {
            if !self.rules.profile.includes_base_rule(rule_label(rule)) {
                continue;
            }
            report.enter_rule(rule);
            for fault in faults {
                report.enter_file(join_path(self.folder, &fault.file));
                report.report_json(fault.path.clone(), fault.message.clone());
            }
        }
    }

    fn report_order(&self, facts: &BundleFacts, report: &mut ViolationReport) {
        report.enter_rule(ELEMENT_ORDER);
        for fault in ElementOrderState::default().apply_executes(&facts.order, &facts.executes) {
            report.enter_file(join_path(self.folder, &fault.file));
            report.report_json(fault.path, fault.message);
        }
    }

    /// Returns the names of the SDSC files: those named as such, and executed files, which may have any name.
    fn sdsc_file_names(&self, launch: Option<&LaunchValues<'_>>) -> Result<BTreeSet<String>, T::Error> {
        let is_sdsc =
            |name: &String| name.starts_with("sdsc_") && Path::new(name).extension().is_some_and(|kind| kind == "json");
        let mut files: BTreeSet<String> = self.tree.file_names(self.folder)?.into_iter().filter(is_sdsc).collect();
        let executed = launch.into_iter().flat_map(|launch| &launch.executes).map(|execute| execute.execute.file);
        files.extend(executed.filter(|name| self.tree.has_file(&join_path(self.folder, name))).map(str::to_owned));
        Ok(files)
    }
}

/// Returns the maximum and the granularity of a parameter that is a size.
const fn size_bounds(kind: ParamType) -> Option<(i64, i64)> {
    match kind {
        ParamType::InputArg { granularity: Some(granularity), max: Some(max) } => Some((max, granularity)),
        ParamType::InputArg { .. } | ParamType::Index => None,
    }
}

/// Returns the executes of each file, with their numbers.
fn group_executes_by_file<'l, 't>(
    launch: &'l LaunchValues<'t>,
) -> BTreeMap<&'t str, Vec<(usize, &'l ExecuteView<'t>)>> {
    let mut executes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (number, execute) in launch.executes.iter().enumerate() {
        executes.entry(execute.execute.file).or_default().push((number, execute));
    }
    executes
}

/// Reads a file and completes its omitted members; reports a file that violates the format or the profile.
fn read_sdsc(bytes: &[u8], profile: Profile, report: &mut ViolationReport) -> Option<Sdsc> {
    let mut sdsc: Sdsc = match serde_json::from_slice(bytes) {
        Ok(sdsc) => sdsc,
        Err(error) => {
            report.enter_rule(SCHEMA);
            report_schema_error::<Sdsc>(bytes, &error, report);
            return None;
        }
    };
    let faults = find_member_faults(bytes, profile);
    if !faults.is_empty() {
        report.enter_rule(SCHEMA);
        faults.into_iter().for_each(|fault| report.report_json(fault.path, fault.message));
        return None;
    }
    if profile.is_release() {
        let before = report.len();
        report.enter_rule(SYMBOLIC_SPACE);
        rules::check_symbolic_space(&sdsc, report);
        if report.len() > before {
            return None;
        }
    }
    sdsc.value.complete();
    Some(sdsc)
}

/// Reports JSON of an unexpected structure. The text is parsed again to find the path, since tracking paths in every
/// parse is slow.
fn report_schema_error<'de, T: serde::Deserialize<'de>>(
    bytes: &'de [u8],
    error: &serde_json::Error,
    report: &mut ViolationReport,
) {
    match serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_slice(bytes)) {
        Err(found) => report.report_json(to_json_pointer(found.path()), found.inner().to_string()),
        Ok(_) => report.report_file(error.to_string()),
    }
}

/// Formats a path as a JSON pointer.
fn to_json_pointer(path: &serde_path_to_error::Path) -> String {
    path.iter().fold(String::new(), |parent, segment| match segment {
        Segment::Seq { index } => format!("{parent}/{index}"),
        Segment::Map { key } => member_pointer(&parent, key),
        Segment::Enum { variant } => member_pointer(&parent, variant),
        Segment::Unknown => parent,
    })
}
