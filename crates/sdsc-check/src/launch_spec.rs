//! Rule on `launch_spec.json`: the file must agree with `program.json`, `bundle.mlir` and the SDSC files.
//!
//! A layout is checked as a launcher uses it: the device shape is built from shape, stick size and padding, and
//! compared with the tensor's.

use super::error::CheckError;
use super::file_tree::{DiskTree, FileTree, join_path};
use super::report::{Violation, ViolationReport};
use super::rules::LAUNCH_SPEC;
use super::{BundleFacts, report_schema_error, rule_label};
use machine::{DeviceFormat, ElementType};
use sdsc_format::launch_spec::{
    ArgDimSize, ArgLayout, ArgRole, ArgSpec, LAUNCH_SPEC_FILE, LaunchSpec, SizeRange, SymbolKind,
};
use sdsc_format::program::{LaunchEntry, PROGRAM_FILE, Program, Tensor};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

/// Checks the launch specifications of the bundles of a program against `program.json`, without reading other files.
///
/// # Errors
/// If a file cannot be read.
pub fn check_launch_specs(dir: &Path, program: &Program) -> Result<Vec<Violation>, CheckError> {
    let mut report = ViolationReport::default();
    visit_specs(&DiskTree(dir), program, &mut report, |view, report| {
        view.check_arguments(report);
        view.check_possible_roles(report);
    })?;
    Ok(report.into_violations(rule_label))
}

/// Checks the launch specifications of a program whose bundles have been checked.
pub(super) fn check<T: FileTree>(
    tree: &T,
    program: &Program,
    bundles: &BTreeMap<String, BundleFacts>,
    report: &mut ViolationReport,
) -> Result<(), T::Error> {
    visit_specs(tree, program, report, |view, report| {
        let Some(facts) = bundles.get(&view.launch.bundle) else { return };
        view.check_addresses(facts, report);
        view.check_arguments(report);
        view.check_roles(bundles, report);
    })?;
    report.enter_file(PROGRAM_FILE);
    Ok(())
}

/// Visits the specification of each launch that has one, in the order of the launches.
fn visit_specs<T: FileTree>(
    tree: &T,
    program: &Program,
    report: &mut ViolationReport,
    mut visit: impl FnMut(&LaunchSpecView<'_>, &mut ViolationReport),
) -> Result<(), T::Error> {
    for (number, launch) in program.launches.iter().enumerate() {
        let path = join_path(&launch.bundle, LAUNCH_SPEC_FILE);
        if !tree.has_file(&path) {
            continue;
        }
        let bytes = tree.read_file(&path)?;
        report.enter_file(path);
        report.enter_rule(LAUNCH_SPEC);
        match serde_json::from_slice(&bytes) {
            Ok(spec) => visit(&LaunchSpecView { program, number, launch, spec: &spec }, report),
            Err(error) => report_schema_error::<LaunchSpec>(&bytes, &error, report),
        }
    }
    Ok(())
}

/// Specification with the launch that it describes.
struct LaunchSpecView<'a> {
    program: &'a Program,
    number: usize,
    launch: &'a LaunchEntry,
    spec: &'a LaunchSpec,
}

impl LaunchSpecView<'_> {
    /// Checks that the addresses of arguments are parameters, and that the parameters are those of the function.
    fn check_addresses(&self, facts: &BundleFacts, report: &mut ViolationReport) {
        if facts.parameters.is_empty() && !self.launch.arguments.is_empty() {
            report.report_file(
                "the addresses are in the files, which a launcher refuses; remove the file, or compile with '--addresses symbolic'",
            );
        }
    }

    /// Checks the members that follow from the program: name, sizes, shapes, types and layouts.
    fn check_arguments(&self, report: &mut ViolationReport) {
        let Self { program, number, launch, spec } = self;
        // If several launches execute a bundle, it has the name of the first one.
        let first = program.launches.iter().position(|other| other.bundle == launch.bundle).unwrap_or(*number);
        expect_equal(
            report,
            "/kernel_name",
            &format!("'{}_{first}'", program.name),
            &format!("'{}'", spec.kernel_name),
        );
        expect_equal(
            report,
            "/pool_size",
            "0 bytes, as the bundle allocates its own pool",
            &format_pool(spec.pool_size),
        );
        expect_equal(report, "/bundle_symbolic_args", &true, &spec.bundle_symbolic_args);
        let sizes: Vec<_> = launch.sizes.iter().filter_map(|name| program.size(name)).collect();
        let kernel = (0..).take(launch.arguments.len()).map(SymbolKind::kernel);
        let dims = sizes.iter().map(|size| SymbolKind::dimension(size.name.clone(), size.granularity, size.maximum));
        let kinds: Vec<SymbolKind> = kernel.chain(dims).collect();
        self.check_symbol_kinds(&kinds, report);
        let ranges = sizes
            .iter()
            .map(|size| (size.name.clone(), SizeRange { min: size.granularity, max: size.maximum }))
            .collect();
        expect_equal(report, "/symbols", &format_ranges(&ranges), &format_ranges(&spec.symbols));
        expect_equal(
            report,
            "/args",
            &format!("{} arguments", launch.arguments.len()),
            &format!("{} arguments", spec.args.len()),
        );
        for (place, (argument, name)) in spec.args.iter().zip(&launch.arguments).enumerate() {
            expect_equal(report, &format!("/args/{place}/arg_index"), &place, &argument.arg_index);
            if let Some(tensor) = program.tensors().find(|tensor| tensor.name == *name) {
                check_tensor(place, argument, tensor, report);
            }
        }
    }

    /// Checks the symbols of arguments and sizes. Other launchers list addresses that follow from those of arguments
    /// in addition; each names its argument.
    fn check_symbol_kinds(&self, expected: &[SymbolKind], report: &mut ViolationReport) {
        let found = self.spec.symbol_kinds.iter().enumerate();
        let (derived, found): (Vec<_>, Vec<_>) = found.partition(|(_, kind)| kind.kind.is_derived());
        let differs = |place: &usize| expected.get(*place) != found.get(*place).map(|(_, kind)| *kind);
        if let Some(place) = (0..expected.len().max(found.len())).find(differs) {
            let viewed = |kind: Option<&SymbolKind>| kind.map_or_else(|| "no symbol".to_owned(), format_kind);
            let (entry, kind) =
                found.get(place).map_or((self.spec.symbol_kinds.len(), None), |(at, kind)| (*at, Some(*kind)));
            expect_equal(report, &format!("/symbol_kinds/{entry}"), &viewed(expected.get(place)), &viewed(kind));
        }
        let num_arguments = self.launch.arguments.len();
        let is_argument = |kind: &SymbolKind| usize::try_from(kind.arg_index).is_ok_and(|index| index < num_arguments);
        if let Some((entry, kind)) = derived.into_iter().find(|(_, kind)| !is_argument(kind)) {
            let (expected, found) =
                (format!("an argument below {num_arguments}"), format!("argument {}", kind.arg_index));
            expect_equal(report, &format!("/symbol_kinds/{entry}/arg_index"), &expected, &found);
        }
    }

    /// Checks roles against the tensor lists of the program, which leave open whether a launch writes a tensor that an
    /// earlier launch has written.
    fn check_possible_roles(&self, report: &mut ViolationReport) {
        let Self { program, number, launch, spec } = self;
        let is_given = |name: &String| {
            let mut tensors = program.arguments.iter().chain(&program.constants);
            tensors.any(|tensor| tensor.name == *name)
        };
        let earlier = &program.launches[..*number];
        for (place, (argument, name)) in spec.args.iter().zip(&launch.arguments).enumerate() {
            let is_passed_before = earlier.iter().any(|launch| launch.arguments.contains(name));
            let role = match (is_given(name), is_passed_before) {
                (true, _) => ArgRole::Input,
                (false, false) => ArgRole::Output,
                (false, true) if argument.role == ArgRole::Output => ArgRole::InputOutput,
                (false, true) => argument.role,
            };
            report_role(place, name, role, argument.role, report);
        }
    }

    /// Checks roles against the accesses of the files.
    fn check_roles(&self, bundles: &BTreeMap<String, BundleFacts>, report: &mut ViolationReport) {
        for (place, (argument, name)) in self.spec.args.iter().zip(&self.launch.arguments).enumerate() {
            let role = match (writes_tensor(bundles, self.launch, name), self.has_values_before(bundles, name)) {
                (false, _) => ArgRole::Input,
                (true, false) => ArgRole::Output,
                (true, true) => ArgRole::InputOutput,
            };
            report_role(place, name, role, argument.role, report);
        }
    }

    /// Returns whether the caller or an earlier launch has written a tensor before the launch.
    fn has_values_before(&self, bundles: &BTreeMap<String, BundleFacts>, name: &str) -> bool {
        let mut given = self.program.arguments.iter().chain(&self.program.constants);
        let mut earlier = self.program.launches[..self.number].iter();
        given.any(|tensor| tensor.name == name) || earlier.any(|launch| writes_tensor(bundles, launch, name))
    }
}

/// Reports a role that differs from the expected one.
fn report_role(place: usize, name: &str, expected: ArgRole, found: ArgRole, report: &mut ViolationReport) {
    let viewed = |role: ArgRole| format!("{role} for '{name}'");
    expect_equal(report, &format!("/args/{place}/role"), &viewed(expected), &viewed(found));
}

/// Returns whether a launch writes a tensor.
fn writes_tensor(bundles: &BTreeMap<String, BundleFacts>, launch: &LaunchEntry, name: &str) -> bool {
    let written = bundles.get(&launch.bundle).into_iter().flat_map(|facts| facts.flow.written.keys());
    written.filter_map(|argument| launch.arguments.get(*argument)).any(|written| written == name)
}

fn format_pool(bytes: i64) -> String {
    if bytes == 0 { "0 bytes, as the bundle allocates its own pool".to_owned() } else { format!("{bytes} bytes") }
}

fn format_kind(kind: &SymbolKind) -> String {
    serde_json::to_string(kind).unwrap_or_default()
}

fn format_ranges(ranges: &BTreeMap<String, SizeRange>) -> String {
    let viewed: Vec<String> =
        ranges.iter().map(|(name, range)| format!("{name} from {} to {}", range.min, range.max)).collect();
    if viewed.is_empty() { "no size".to_owned() } else { viewed.join(", ") }
}

/// Reports a member that differs from the program.
fn expect_equal(
    report: &mut ViolationReport,
    path: &str,
    expected: &(impl Display + ?Sized),
    found: &(impl Display + ?Sized),
) {
    let (expected, found) = (expected.to_string(), found.to_string());
    if expected != found {
        report.report_json(
            path,
            format!("expected {expected}, found {found}; a launch specification repeats the values of the program"),
        );
    }
}

fn check_tensor(place: usize, argument: &ArgSpec, tensor: &Tensor, report: &mut ViolationReport) {
    let name = &tensor.name;
    let mut shape: Vec<ArgDimSize> = tensor.shape.iter().copied().map(ArgDimSize::Fixed).collect();
    for symbolic in &tensor.symbolic {
        if let Some(extent) = shape.get_mut(symbolic.dim) {
            *extent = ArgDimSize::Symbol(symbolic.size.clone());
        }
    }
    let viewed = |shape: &[ArgDimSize]| {
        let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
        format!("shape [{}] for '{name}'", sizes.join(", "))
    };
    expect_equal(report, &format!("/args/{place}/shape"), &viewed(&shape), &viewed(&argument.shape));
    let types = (tensor.element_type.parse::<ElementType>(), tensor.format.parse::<DeviceFormat>());
    let (Ok(element), Ok(format)) = types else { return };
    let dtype = element.launch_type(format).torch_name();
    expect_equal(
        report,
        &format!("/args/{place}/dtype"),
        &format!("dtype {dtype} for '{name}'"),
        &format!("dtype {} for '{name}'", argument.dtype),
    );
    let path = format!("/args/{place}/layout");
    let Some(layout) = &argument.layout else {
        report.report_json(
            path,
            format!("no layout for '{name}'; every argument has a layout, because there is no standard one"),
        );
        return;
    };
    if let Some(fault) = find_layout_fault(layout, tensor, format.elements_per_stick()) {
        report.report_json(
            path,
            format!("layout of '{name}' ({layout}): {fault}; the tensor has device size {:?}", tensor.device_size),
        );
    }
}

/// Returns the reason why a tensor does not have a layout.
fn find_layout_fault(layout: &ArgLayout, tensor: &Tensor, stick: i64) -> Option<String> {
    if layout.stick_size != [stick] {
        return Some(format!("a stick has {stick} elements"));
    }
    if layout.padding.len() != tensor.shape.len() || layout.padding.iter().any(|padding| *padding < 0) {
        return Some(format!("each of {} dimensions has a padding that is not negative", tensor.shape.len()));
    }
    match (&layout.device_size, &layout.stride_map) {
        // An array without elements is one stick.
        (None, None) if tensor.shape.contains(&0) => layout
            .padding
            .iter()
            .any(|padding| *padding != 0)
            .then(|| "an array without elements has no padding".to_owned()),
        (None, None) => {
            let built = compute_standard_tiling(&tensor.shape, &layout.padding, stick);
            let differs = nonunit_dims(&tensor.device_size, &tensor.stride_map) != nonunit_dims(&built.0, &built.1);
            differs.then(|| format!("the standard tiling is device size {:?}", built.0))
        }
        (Some(sizes), Some(map)) if *sizes == tensor.device_size && *map == tensor.stride_map => {
            layout.padding.iter().any(|padding| *padding != 0).then(|| "a device size includes all padding".to_owned())
        }
        (Some(_), Some(_)) => Some("device size and stride map are those of the tensor".to_owned()),
        (Some(_), None) | (None, Some(_)) => Some("a device size requires a stride map, and the reverse".to_owned()),
    }
}

/// Returns device size and stride map of the standard tiling of a padded array (torch-spyre facts, B.2).
fn compute_standard_tiling(shape: &[i64], padding: &[i64], stick: i64) -> (Vec<i64>, Vec<i64>) {
    let (mut sizes, mut map, mut stride) = (Vec::new(), Vec::new(), 1_i64);
    // Innermost first: lanes, the first dimension, the sticks of the last dimension, the others.
    for (dim, (size, padding)) in shape.iter().zip(padding).enumerate().rev() {
        let size_with_padding = size.saturating_add(*padding);
        if dim + 1 == shape.len() {
            sizes.push(size_with_padding.saturating_add(stick - 1) / stick);
            map.push(stick);
        } else if dim == 0 {
            sizes.insert(0, size_with_padding);
            map.insert(0, stride);
        } else {
            sizes.push(size_with_padding);
            map.push(stride);
        }
        stride = stride.saturating_mul(*size);
    }
    sizes.insert(0, stick);
    map.insert(0, if shape.last().is_some_and(|size| *size > 1) { 1 } else { -1 });
    sizes.reverse();
    map.reverse();
    (sizes, map)
}

/// Returns the device dimensions with more than one position, with their strides.
fn nonunit_dims(sizes: &[i64], map: &[i64]) -> Vec<(i64, i64)> {
    sizes.iter().copied().zip(map.iter().copied()).filter(|(size, _)| *size > 1).collect()
}
