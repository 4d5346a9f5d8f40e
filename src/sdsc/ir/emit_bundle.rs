//! `spyre-emit-bundle`: writes the bundle directory.
//!
//! Reads the output of `spyre-lower-to-sdscbundle`. Writes `program.json`, the files of constants and, per bundle,
//! `bundle.mlir` and the SDSC files. For a module without an `sdsc.program` but with one bundle, it writes only the
//! files of that bundle.

mod bundle_files;

use crate::dialect::ods::{attr, option, sdsc};
use crate::sdsc::emit::{HostElements, encode_device_bytes, is_rounded};
use crate::sdsc::ir::debug_handle::DebugHandleReader;
use crate::{
    bundle::ir::sdsc_ops,
    bundle::{LaunchLiveRange, LaunchMemory},
    codes,
    dialect::{self, ProgramBufferRole},
    launch::launch_spec::build_launch_spec_files,
    mlir::{
        Attribute, ErrorReported, Op, OpExt, Pass, PassOptions, ScalarType, can_parse, dictionary_entries, elements,
        error_at, integer, integers, raw_elements, record_bug, strings, symbol_name, type_of, warning_at,
    },
};
use ::program::layout::DeviceLayout;
use bundle_files::{baked_pool_bytes, build_bundle_files};
use files::is_plain_name;
use machine::{ElementType, Target};
use sdsc_check::{Profile, Violation, check_files_with_profile};
use sdsc_format::{
    OutputFile, StagedBundle,
    exact::{EXACT_FILE, EXACT_SUFFIX, ExactConstant, ExactNumbers},
    program::{self, BufferPlace, LaunchEntry, Program, Size, SymbolicDim, Tensor},
};
use std::{panic::resume_unwind, path::Path, thread};

pub(crate) const PASS: Pass = Pass { argument: "spyre-emit-bundle", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let output = options.get_text(option::OUTPUT);
    if output.is_empty() {
        return Err(
            error_at(codes::OUTPUT_MISSING, module, "requires option 'output'; give the directory to write").report()
        );
    }
    let format: Profile = options.read_enum(module, option::BUNDLE_FORMAT)?;
    let files = build_files(module, options, format)?;
    check_texts(module, options, &files)?;
    let target =
        dialect::target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let contents = || files.iter().map(|file| (file.path.as_str(), file.content.as_slice()));
    // The files are written while they are checked; they become visible only when they are moved to their path.
    let (violations, fresh) = thread::scope(|scope| {
        // A scoped thread, since pool threads would remain in the process.
        let violations = scope.spawn(|| check_files_with_profile(contents(), &target, format));
        let fresh = StagedBundle::write(Path::new(output), &files);
        (violations.join().unwrap_or_else(|panic| resume_unwind(panic)), fresh)
    });
    let violations = violations.map_err(|error| error_at(codes::OUTPUT_WRITE, module, error).report())?;
    report_violations(module, options, format, &violations)?;
    fresh.and_then(StagedBundle::commit).map_err(|error| error_at(codes::OUTPUT_WRITE, module, error).report())
}

/// Checks that MLIR can parse every `bundle.mlir`. An unreadable one in the output of a compilation is a compiler bug.
fn check_texts(module: Op<'_>, options: &PassOptions, files: &[OutputFile]) -> Result<(), ErrorReported> {
    for file in files.iter().filter(|file| file.path.ends_with("bundle.mlir")) {
        if !str::from_utf8(&file.content).is_ok_and(|text| can_parse(module.ctx(), text)) {
            let mut whose = "";
            if is_compiler_output(options) {
                record_bug(module);
                whose = ", which is a compiler bug";
            }
            return Err(error_at(
                codes::OWN_FILES,
                module,
                format_args!("wrote a '{}' that MLIR cannot read{whose}", file.path),
            )
            .report());
        }
    }
    Ok(())
}

/// Returns whether the program was produced by our own passes only, so that every error in it is a compiler bug.
fn is_compiler_output(options: &PassOptions) -> bool {
    options.is_enabled(option::COMPILED)
}

/// Reports violations of the format. In the output of a complete compilation they are a compiler bug. In a format other
/// than the default they are an error: the program has no form in it. A program given as IR of a later phase is
/// rejected, and nothing is written. Op specs of another front end are written with a warning.
fn report_violations(
    module: Op<'_>,
    options: &PassOptions,
    format: Profile,
    violations: &[Violation],
) -> Result<(), ErrorReported> {
    let Some(first) = violations.first() else { return Ok(()) };
    if is_compiler_output(options) && format != Profile::default() {
        let message =
            format_args!("has no form in format '{format}': {}; choose another with '--bundle-format'", first.message);
        return Err(error_at(codes::BUNDLE_FORMAT, module, message).report());
    }
    if is_compiler_output(options) {
        record_bug(module);
        return Err(error_at(
            codes::OWN_FILES,
            module,
            format_args!("wrote files that break a rule of the format, which is a compiler bug: {first}"),
        )
        .report());
    }
    if let Some(program) = module.body_ops().into_iter().find(|op| op.is(sdsc::PROGRAM)) {
        return Err(error_at(
            diagnostic_code(first),
            program,
            format_args!("wrote files that break a rule of the format: {first}"),
        )
        .report());
    }
    for violation in violations {
        warning_at(
            diagnostic_code(violation),
            module,
            format_args!("wrote files that break a rule of the format: {violation}"),
        )
        .emit();
    }
    Ok(())
}

/// Returns the code of the rule that a file breaks.
fn diagnostic_code(violation: &Violation) -> codes::Code {
    codes::format_rule_code(violation.label).unwrap_or(codes::FORMAT_RULE)
}

/// Returns the message for a module without operations. It suggests linalg input for a complete compilation, and bundle
/// IR if the IR of a later phase is given.
fn empty_module_message(options: &PassOptions) -> &'static str {
    if is_compiler_output(options) {
        "is empty; give a function of linalg ops on tensors"
    } else {
        "is empty; give an 'sdsc.program' or the ops of one bundle, as 'spyre-compile FILE --compile-to bundle' prints them"
    }
}

fn build_files(module: Op<'_>, options: &PassOptions, format: Profile) -> Result<Vec<OutputFile>, ErrorReported> {
    let target =
        dialect::target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    if module.body_ops().is_empty() {
        return Err(error_at(codes::EMPTY_MODULE, module, empty_module_message(options)).report());
    }
    let programs: Vec<Op<'_>> = module.body_ops().into_iter().filter(|op| op.is(sdsc::PROGRAM)).collect();
    match programs.as_slice() {
        [] => build_bare_bundle(module, &target, format),
        [program] => build_program_files(*program, &target, format),
        [_, second, ..] => Err(error_at(
            codes::DIRECTORY_PROGRAMS,
            *second,
            "expected one program in a directory, found a second; write it to another directory",
        )
        .report()),
    }
}

/// Returns the files of the only bundle of a module: a nested module, or the module itself.
fn build_bare_bundle(module: Op<'_>, target: &Target, format: Profile) -> Result<Vec<OutputFile>, ErrorReported> {
    let bundles: Vec<Op<'_>> = module.body_ops().into_iter().filter(|op| op.is("builtin.module")).collect();
    let (mut exact, mut handles) = (ExactNumbers::default(), DebugHandleReader::default());
    match bundles.as_slice() {
        [] => Ok(build_bundle_files(module, "", target, format, (&mut exact, &mut handles))?.files),
        [bundle] => Ok(build_bundle_files(*bundle, "", target, format, (&mut exact, &mut handles))?.files),
        [_, second, ..] => Err(error_at(
            codes::DIRECTORY_PROGRAMS,
            *second,
            "expected one bundle in a directory without a program, found a second; add a program",
        )
        .report()),
    }
}

fn build_program_files(program: Op<'_>, target: &Target, format: Profile) -> Result<Vec<OutputFile>, ErrorReported> {
    let (mut files, mut exact, mut written) = (Vec::new(), ExactNumbers::default(), Vec::new());
    let mut handles = DebugHandleReader::default();
    let mut description = Program {
        name: program.text_attr(attr::SYM_NAME).to_owned(),
        sizes: read_sizes(program),
        ..Program::default()
    };
    for op in program.body_ops() {
        let name = op.text_attr(attr::SYM_NAME).to_owned();
        check_name(op, &name)?;
        match op.full_name() {
            sdsc::BUFFER => {
                let (mut tensor, constant) =
                    read_buffer(op, target).map_err(|message| error_at(codes::CONSTANT, op, message).report())?;
                if let Some(constant) = constant {
                    let path = format!("{}/{name}{}", program::CONSTANTS_FOLDER, program::CONSTANT_SUFFIX);
                    tensor.file = Some(path.clone());
                    files.push(OutputFile { path, content: constant.content });
                    if let Some(elements) = constant.exact {
                        files.extend(record_exact(&mut exact, &name, elements));
                    }
                }
                match ProgramBufferRole::from_op(op).expect("a buffer has a role") {
                    ProgramBufferRole::Input => description.arguments.push(tensor),
                    ProgramBufferRole::Constant => description.constants.push(tensor),
                    ProgramBufferRole::Output => description.results.push(tensor),
                    ProgramBufferRole::Temporary => description.buffers.push(tensor),
                }
            }
            "builtin.module" => {
                let buffers = op.attr(attr::SDSC_BUFFERS).and_then(elements).unwrap_or_default();
                let arguments = buffers.into_iter().filter_map(symbol_name).map(str::to_owned).collect();
                let folder = format!("{name}/");
                let bundle = build_bundle_files(op, &folder, target, format, (&mut exact, &mut handles))?;
                files.extend(bundle.files);
                written.push(bundle.written);
                let [lx, pool] = read_live_ranges(op)?;
                let sizes = read_launch_sizes(op)?;
                description.launches.push(LaunchEntry {
                    bundle: name,
                    arguments,
                    sizes,
                    pool_bytes: baked_pool_bytes(op),
                    debug_handles: bundle.debug_handles,
                    lx,
                    pool,
                });
            }
            _ => {
                return Err(error_at(
                    codes::BUNDLE_ORDER,
                    op,
                    "cannot be written; run spyre-lower-to-sdscbundle first",
                )
                .report());
            }
        }
    }
    let end = |buffer: &Tensor| buffer.place.map(|place| place.offset + buffer.bytes);
    description.buffer_bytes = description.buffers.iter().filter_map(end).max().unwrap_or(0);
    files.extend(
        build_launch_spec_files(&description, &written)
            .map_err(|message| error_at(codes::INTERNAL, program, message).report())?,
    );
    let mut content =
        serde_json::to_vec_pretty(&description).map_err(|error| error_at(codes::INTERNAL, program, error).report())?;
    content.push(b'\n');
    files.push(OutputFile { path: program::PROGRAM_FILE.to_owned(), content });
    if !exact.is_empty() {
        let mut content =
            serde_json::to_vec_pretty(&exact).map_err(|error| error_at(codes::INTERNAL, program, error).report())?;
        content.push(b'\n');
        files.push(OutputFile { path: EXACT_FILE.to_owned(), content });
    }
    Ok(files)
}

/// Checks that a name is plain: bundles are folders, and a run writes results to files, with these names, and other
/// names could escape the directory.
fn check_name(op: Op<'_>, name: &str) -> Result<(), ErrorReported> {
    let is_taken =
        op.is("builtin.module") && [program::CONSTANTS_FOLDER, program::PROGRAM_FILE, EXACT_FILE].contains(&name);
    let becomes_file = op.is("builtin.module") || ProgramBufferRole::from_op(op) == Some(ProgramBufferRole::Output);
    if !becomes_file || is_plain_name(name) && !is_taken {
        return Ok(());
    }
    let why = if is_taken { "the program has a file or directory of that name" } else { "expected a plain file name" };
    Err(error_at(codes::FILE_NAME, op, format_args!("cannot be written as '{name}': {why}")).report())
}

/// Records the unrounded elements of a constant; returns their file, unless it is a splat.
fn record_exact(exact: &mut ExactNumbers, name: &str, elements: ExactElements) -> Option<OutputFile> {
    let (constant, file) = match elements {
        ExactElements::Splat(number) => (ExactConstant::Number(number), None),
        ExactElements::Elements(content) => {
            let path = format!("{}/{name}{EXACT_SUFFIX}{}", program::CONSTANTS_FOLDER, program::CONSTANT_SUFFIX);
            (ExactConstant::File(path.clone()), Some(OutputFile { path, content }))
        }
    };
    exact.constants.insert(name.to_owned(), constant);
    file
}

/// Device image of a constant.
struct ConstantContent {
    /// The bytes of its file.
    content: Vec<u8>,
    /// Its elements, if rounding changed one.
    exact: Option<ExactElements>,
}

/// Unrounded elements of a constant.
enum ExactElements {
    Splat(f64),
    Elements(Vec<u8>),
}

/// Returns the sizes that are known at launch only.
fn read_sizes(program: Op<'_>) -> Vec<Size> {
    let entries = program.attr(attr::SIZES).and_then(dictionary_entries).unwrap_or_default();
    let size = |(name, numbers): (&str, Attribute<'_>)| {
        let [maximum, granularity] = integers(numbers)?.try_into().ok()?;
        Some(Size { name: name.to_owned(), maximum, granularity })
    };
    entries.into_iter().filter_map(size).collect()
}

/// Returns the sizes that a launch receives, in the order of its parameters: those of ops by their first use, then those
/// that bound loops. A size of both kinds is there twice.
fn read_launch_sizes(bundle: Op<'_>) -> Result<Vec<String>, ErrorReported> {
    let mut names: Vec<String> = Vec::new();
    for op in bundle.body_ops().into_iter().filter(|op| op.is(sdsc::OP)) {
        let spec = sdsc_ops::op_from_ir(op).map_err(|message| error_at(codes::MALFORMED_IR, op, message).report())?;
        for size in spec.iteration_space.into_iter().filter_map(|dim| dim.symbolic) {
            if !names.contains(&size.symbol) {
                names.push(size.symbol);
            }
        }
    }
    names.extend(
        bundle.attr(attr::SDSC_LOOP_SIZES).and_then(strings).unwrap_or_default().into_iter().map(str::to_owned),
    );
    Ok(names)
}

/// Returns the dimensions of a tensor whose sizes are known at launch only.
fn read_symbolic_dims(buffer: Op<'_>) -> Vec<SymbolicDim> {
    let names = buffer.attr(attr::SYMBOLIC).and_then(strings).unwrap_or_default();
    let named = names.into_iter().enumerate().filter(|(_, name)| !name.is_empty());
    named.map(|(dim, name)| SymbolicDim { dim, size: name.to_owned() }).collect()
}

/// Returns a tensor of the program, with its bytes if it is a constant.
fn read_buffer(buffer: Op<'_>, target: &Target) -> Result<(Tensor, Option<ConstantContent>), String> {
    let tensor =
        buffer.attr(attr::TYPE).and_then(type_of).and_then(dialect::DeviceTensor::from_type).ok_or("is no tensor")?;
    let layout = tensor.layout.as_ref().ok_or("has no device layout")?;
    let content =
        buffer.attr(attr::VALUE).map(|value| build_content(buffer, value, &tensor, layout, target)).transpose()?;
    let entry = Tensor {
        name: buffer.text_attr(attr::SYM_NAME).to_owned(),
        shape: tensor.host.shape.clone(),
        element_type: tensor.host.element.to_string(),
        format: layout.format().name().to_owned(),
        device_size: layout.device_size().to_vec(),
        stride_map: layout.stride_map().to_vec(),
        bytes: layout.bytes(),
        file: None,
        index_range: buffer.attr(attr::INDEX_RANGE).and_then(integers).and_then(|range| range.try_into().ok()),
        symbolic: read_symbolic_dims(buffer),
        digit_base: buffer.attr(attr::DIGIT_BASE).and_then(integer),
        place: read_buffer_place(buffer),
    };
    Ok((entry, content))
}

fn read_buffer_place(buffer: Op<'_>) -> Option<BufferPlace> {
    let offset = buffer.attr(attr::OFFSET).and_then(integer)?;
    let [first, last] = buffer.attr(attr::LIFE).and_then(integers)?.try_into().ok()?;
    Some(BufferPlace { offset, first_launch: usize::try_from(first).ok()?, last_launch: usize::try_from(last).ok()? })
}

/// Maximum number of bytes of a splat constant: a short text can request any number of them.
const MAX_SPLAT_BYTES: i64 = 1 << 28;

/// Returns the bytes of a constant in device memory.
fn build_content(
    buffer: Op<'_>,
    value: Attribute<'_>,
    tensor: &dialect::DeviceTensor<'_>,
    layout: &DeviceLayout,
    target: &Target,
) -> Result<ConstantContent, String> {
    let name = buffer.text_attr(attr::SYM_NAME);
    if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Err(codes::FILE_NAME.format(format_args!(
            "expected a name of letters, digits and '_' for the file of the constant, found '{name}'"
        )));
    }
    if layout.bytes() > target.segment_bytes {
        return Err(codes::CONSTANT.format(format_args!(
            "has {} bytes, more than a segment of {}; use a smaller constant",
            layout.bytes(),
            target.segment_bytes
        )));
    }
    let raw =
        raw_elements(value).ok_or("expected 'dense' elements or a 'dense_resource' with content, found others")?;
    if raw.is_splat && layout.bytes() > MAX_SPLAT_BYTES {
        return Err(codes::CONSTANT.format(format_args!(
            "repeats one number for {} bytes, more than the limit of {MAX_SPLAT_BYTES}; use linalg.fill",
            layout.bytes()
        )));
    }
    let stored = ScalarType::from_type(tensor.host.element).element_type();
    let element = stored.ok_or_else(|| {
        codes::CONSTANT.format(format_args!("expected elements of an array type, found {}", tensor.host.element))
    })?;
    let host = HostElements { element, shape: &tensor.host.shape, bytes: raw.bytes, is_splat: raw.is_splat };
    let content = encode_device_bytes(&host, layout)
        .map_err(|error| codes::CONSTANT.format(format_args!("cannot be stored: {error}")))?;
    let exact = match buffer.attr(dialect::EXACT_ATTR).and_then(raw_elements) {
        Some(exact) => Some(collect_exact_elements(&HostElements {
            element: ElementType::F64,
            bytes: exact.bytes,
            is_splat: exact.is_splat,
            ..host
        })),
        None => is_rounded(&host, layout.format()).then(|| collect_exact_elements(&host)),
    };
    Ok(ConstantContent { content, exact })
}

fn collect_exact_elements(host: &HostElements<'_>) -> ExactElements {
    match (host.is_splat, host.element, host.bytes) {
        (true, ElementType::F16, &[a, b]) => ExactElements::Splat(half::f16::from_le_bytes([a, b]).into()),
        (true, ElementType::Bf16, &[a, b]) => ExactElements::Splat(half::bf16::from_le_bytes([a, b]).into()),
        (true, ElementType::F64, &[a, b, c, d, e, f, g, h]) => {
            ExactElements::Splat(f64::from_le_bytes([a, b, c, d, e, f, g, h]))
        }
        (true, _, &[a, b, c, d]) => ExactElements::Splat(f32::from_le_bytes([a, b, c, d]).into()),
        _ => ExactElements::Elements(host.bytes.to_vec()),
    }
}

/// Returns the live ranges of the values of a launch in LX and in its pool.
fn read_live_ranges(bundle: Op<'_>) -> Result<[Vec<program::Life>; 2], ErrorReported> {
    let live_ranges = sdsc_ops::live_ranges_from_ir(bundle)
        .map_err(|message| error_at(codes::MALFORMED_IR, bundle, message).report())?;
    let of = |memory: LaunchMemory| {
        let kept = live_ranges.iter().filter(|live_range| live_range.memory == memory);
        let live_range = |live_range: &LaunchLiveRange| program::Life {
            offset: live_range.offset_bytes,
            bytes: live_range.bytes,
            first_op: live_range.first,
            last_op: live_range.last,
        };
        kept.map(live_range).collect()
    };
    Ok([of(LaunchMemory::Lx), of(LaunchMemory::Pool)])
}
