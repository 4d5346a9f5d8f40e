//! Translations between IR and files, for `spyre-translate`.

use crate::bundle::ir::sdsc_ops::{bundle_to_ir, push_items, set_live_ranges};
use crate::dialect::ods::{attr, sdsc};
use crate::sdsc::ir::debug_handle::set_debug_handles;
use crate::sdsc::read::arrangements::infer_arrangements;
use crate::{
    bundle::{Bundle, LaunchLiveRange, LaunchMemory},
    dialect::{self, ProgramBufferRole},
    mlir::{
        Attribute, AttributeList, Module, Op, OpExt, ScalarType, Session, SourceFile, append_op, build_dense_elements,
        build_dictionary, build_op, new_block, string_array, string_attribute, type_attribute,
    },
    pipeline::emit_passes,
    sdsc::{
        LegalBundle, ProgramFacts, decode_host_bytes, find_executed_files, read::case_json::read_case,
        read_legal_bundle,
    },
};
use ::program::layout::DeviceLayout;
use files::{is_plain_name, read_below, resolve_below};
use machine::ElementType;
use melior::ir::Type;
use sdsc_check::Profile;
use sdsc_format::{
    BUNDLE_FILE, Sdsc,
    program::{self, LaunchEntry, Program, Size, Tensor},
};
use std::path::Path;

/// Translates op specs in JSON to `sdsc` IR.
///
/// # Errors
/// Returns the error in the JSON, with its path.
pub fn opspec_to_mlir(session: &Session, text: &str) -> Result<String, String> {
    let bundle = read_case(text).map_err(|error| error.to_string())?;
    print_module(session, |module| {
        push_bundle(module, "bundle_0", &bundle, &[]);
        Ok(())
    })
}

/// Writes `sdsc` or `sdscbundle` IR as the files of a bundle directory.
///
/// # Errors
/// Returns an empty message, because MLIR has reported the error.
pub fn mlir_to_bundle(source: &SourceFile<'_>, output: &str, format: Profile) -> Result<(), String> {
    let mut module = source.parse().ok_or_else(String::new)?;
    module.run_passes(&emit_passes(output, format)).map_err(|_| String::new())
}

/// Translates the files of a bundle, or of a program and its bundles, back to `sdsc` IR.
///
/// # Errors
/// Returns the file and the error in it.
pub fn bundle_to_mlir(session: &Session, directory: &Path) -> Result<String, String> {
    let program = directory.join(program::PROGRAM_FILE);
    if directory.join(BUNDLE_FILE).exists() || !program.exists() {
        let bundle = read_bundle(directory, "", ProgramFacts::default())?;
        return print_module(session, |module| {
            push_loaded_bundle(module, "bundle_0", &bundle, &[]);
            Ok(())
        });
    }
    let at_fault = |error: &dyn std::fmt::Display| format!("{}: {error}", program.display());
    let description: Program = serde_json::from_slice(&read_program_file(directory, program::PROGRAM_FILE)?)
        .map_err(|error| at_fault(&error))?;
    let bundle_of = |launch: &LaunchEntry| match launch.bundle.as_str() {
        name if is_plain_name(name) => read_bundle(directory, &format!("{name}/"), ProgramFacts::from_entry(launch)),
        name => Err(at_fault(&format!("expected a plain directory name, found '{name}'"))),
    };
    let bundles = description.launches.iter().map(bundle_of).collect::<Result<Vec<_>, _>>()?;
    print_module(session, |module| {
        push_program(module, &description, &bundles, directory).map_err(|error| at_fault(&error))
    })
}

fn print_module(session: &Session, fill: impl FnOnce(Op<'_>) -> Result<(), String>) -> Result<String, String> {
    session.load_dialect("sdsc");
    session.load_dialect("spyre");
    let module = Module::parse(session, "module {}").ok_or("cannot create a module")?;
    fill(module.op())?;
    if module.verify() { Ok(format!("{}\n", module.op())) } else { Err("gives IR that is not valid".to_owned()) }
}

fn push_bundle<'c>(parent: Op<'c>, name: &str, bundle: &Bundle, buffers: &[String]) -> Op<'c> {
    let location = parent.loc();
    let built = append_op(parent, bundle_to_ir(parent.ctx(), location, name, bundle, buffers));
    push_items(built, location, &bundle.items);
    built
}

fn push_loaded_bundle<'c>(parent: Op<'c>, name: &str, read: &LegalBundle, buffers: &[String]) -> Op<'c> {
    let built = push_bundle(parent, name, &read.bundle, buffers);
    set_debug_handles(built, &read.handles);
    if read.is_baked {
        built.set_attr(attr::SDSC_ADDRESSES, string_attribute(parent.ctx(), "baked"));
    }
    built
}

fn push_program(
    module: Op<'_>,
    description: &Program,
    bundles: &[LegalBundle],
    directory: &Path,
) -> Result<(), String> {
    let (context, location) = (module.ctx(), module.loc());
    let attributes = AttributeList::new(context).with_text(attr::SYM_NAME, &description.name);
    let attributes = attributes.with_option(attr::SIZES, build_sizes(module, description));
    let program =
        append_op(module, build_op(sdsc::PROGRAM, location, &[], &[], attributes, vec![new_block(&[], location)]));
    let roles = [
        (ProgramBufferRole::Input, &description.arguments),
        (ProgramBufferRole::Constant, &description.constants),
        (ProgramBufferRole::Temporary, &description.buffers),
        (ProgramBufferRole::Output, &description.results),
    ];
    for (role, tensors) in roles {
        for (position, tensor) in (0..).zip(tensors) {
            let (of, layout) = parse_tensor(module, tensor)?;
            let value =
                tensor.file.as_ref().map(|file| read_constant(&of, tensor, &layout, (directory, file))).transpose()?;
            let attributes = AttributeList::new(context)
                .with_text(attr::SYM_NAME, &tensor.name)
                .with_attribute(attr::ROLE, role.to_attribute(context))
                .with_int(attr::POSITION, position)
                .with_attribute(attr::TYPE, type_attribute(of.with_layout(context, &layout, None)))
                .with_option(attr::VALUE, value);
            let attributes = attributes.with_option(attr::SYMBOLIC, build_symbolic_names(module, tensor)?);
            let attributes = match &tensor.index_range {
                Some(range) => attributes.with_ints(attr::INDEX_RANGE, range),
                None => attributes,
            };
            let attributes = match tensor.digit_base {
                Some(base) => attributes.with_int(attr::DIGIT_BASE, base),
                None => attributes,
            };
            let attributes = match &tensor.place {
                Some(place) => {
                    let live_range = [place.first_launch, place.last_launch]
                        .map(|launch| i64::try_from(launch).expect("fewer than 2^63"));
                    attributes.with_int(attr::OFFSET, place.offset).with_ints(attr::LIFE, &live_range)
                }
                None => attributes,
            };
            append_op(program, build_op(sdsc::BUFFER, location, &[], &[], attributes, vec![]));
        }
    }
    for (launch, bundle) in description.launches.iter().zip(bundles) {
        let built = push_loaded_bundle(program, &launch.bundle, bundle, &launch.arguments);
        set_live_ranges(built, collect_live_ranges(launch));
    }
    Ok(())
}

/// Returns the symbolic sizes of a program, each with its maximum and granularity; `None` if there are none.
fn build_sizes<'c>(at: Op<'c>, description: &Program) -> Option<Attribute<'c>> {
    let entry =
        |entries: AttributeList<'c>, size: &Size| entries.with_ints(&size.name, &[size.maximum, size.granularity]);
    let entries = description.sizes.iter().fold(AttributeList::new(at.ctx()), entry);
    (!description.sizes.is_empty()).then(|| build_dictionary(entries))
}

/// Returns the names of the symbolic sizes of a tensor's dimensions; `None` if it has none.
fn build_symbolic_names<'c>(at: Op<'c>, tensor: &Tensor) -> Result<Option<Attribute<'c>>, String> {
    let mut names = vec![String::new(); tensor.shape.len()];
    for symbolic in &tensor.symbolic {
        let name = names
            .get_mut(symbolic.dim)
            .ok_or_else(|| format!("'{}' has no dimension {}", tensor.name, symbolic.dim))?;
        name.clone_from(&symbolic.size);
    }
    Ok((!tensor.symbolic.is_empty()).then(|| string_array(at.ctx(), &names)))
}

/// Returns the live ranges of a launch in LX and in its pool.
fn collect_live_ranges(launch: &LaunchEntry) -> Vec<LaunchLiveRange> {
    let of = |memory: LaunchMemory, live_ranges: &[program::Life]| {
        let live_range = |live_range: &program::Life| LaunchLiveRange {
            memory,
            offset_bytes: live_range.offset,
            bytes: live_range.bytes,
            first: live_range.first_op,
            last: live_range.last_op,
        };
        live_ranges.iter().map(live_range).collect::<Vec<_>>()
    };
    [of(LaunchMemory::Lx, &launch.lx), of(LaunchMemory::Pool, &launch.pool)].concat()
}

fn parse_tensor<'c>(at: Op<'c>, tensor: &Tensor) -> Result<(dialect::DeviceTensor<'c>, DeviceLayout), String> {
    let reject = |what: String| format!("'{}' {what}", tensor.name);
    // The name is inserted into the text of a type, so it must be a single word.
    if !tensor.element_type.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return Err(reject(format!("has elements of the unknown type '{}'", tensor.element_type)));
    }
    let sizes: String = tensor.shape.iter().map(|size| format!("{size}x")).collect();
    let host = Type::parse(at.ctx(), &format!("tensor<{sizes}{}>", tensor.element_type))
        .and_then(dialect::DeviceTensor::from_type);
    let host = host.ok_or_else(|| {
        reject(format!("has shape {:?} and elements of '{}', which is no tensor", tensor.shape, tensor.element_type))
    })?;
    let format =
        tensor.format.parse().map_err(|_| reject(format!("has the unknown device format '{}'", tensor.format)))?;
    let layout = DeviceLayout::from_parts(tensor.device_size.clone(), tensor.stride_map.clone(), format);
    Ok((host, layout.map_err(|error| reject(error.to_string()))?))
}

/// Reads the elements of a constant from its file.
fn read_constant<'c>(
    of: &dialect::DeviceTensor<'c>,
    tensor: &Tensor,
    layout: &DeviceLayout,
    (directory, file): (&Path, &str),
) -> Result<Attribute<'c>, String> {
    let reject = |what: String| format!("'{}': {what}", tensor.name);
    let of_file = || {
        let path = resolve_below(directory, file)?;
        let bytes = u64::try_from(tensor.bytes).unwrap_or(0);
        files::read(&path, bytes)
    };
    let content =
        of_file().map_err(|error| reject(format!("cannot read '{}': {error}", directory.join(file).display())))?;
    let element = ScalarType::from_type(of.host.element).element_type();
    let element = element.ok_or_else(|| reject(format!("unsupported element type '{}'", tensor.element_type)))?;
    let bytes =
        decode_host_bytes(&content, layout, element, &tensor.shape).map_err(|error| reject(error.to_string()))?;
    // MLIR packs booleans, eight in a byte.
    let packed =
        |bools: &[u8]| bools.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect();
    let bytes: Vec<u8> = if element == ElementType::Bool { packed(&bytes) } else { bytes };
    build_dense_elements(of.host.build(), &bytes)
        .ok_or_else(|| reject(format!("{} bytes are no tensor of {}", bytes.len(), tensor.element_type)))
}

/// Reads the bundle in `folder`, which is empty or ends with `/`.
fn read_bundle(directory: &Path, folder: &str, facts: ProgramFacts<'_>) -> Result<LegalBundle, String> {
    let path_of = |file: &str| format!("{folder}{file}");
    let at_fault =
        |file: &str, error: &dyn std::fmt::Display| format!("{}: {error}", directory.join(path_of(file)).display());
    let at_bundle =
        |error: &dyn std::fmt::Display| format!("{}: {error}", directory.join(folder).components().as_path().display());
    let text = String::from_utf8(read_program_file(directory, &path_of(BUNDLE_FILE))?)
        .map_err(|error| at_fault(BUNDLE_FILE, &error))?;
    let mut files: Vec<Sdsc> = Vec::new();
    for name in find_executed_files(&text).map_err(|error| at_bundle(&error))? {
        let content = read_program_file(directory, &path_of(&name))?;
        let file = &mut serde_json::Deserializer::from_slice(&content);
        files.push(serde_path_to_error::deserialize(file).map_err(|error| at_fault(&name, &error))?);
    }
    let mut read = read_legal_bundle(&text, &files, facts).map_err(|error| at_bundle(&error))?;
    infer_arrangements(&mut read.bundle);
    Ok(read)
}

/// Returns the contents of a file below the directory.
fn read_program_file(directory: &Path, path: &str) -> Result<Vec<u8>, String> {
    read_below(directory, path).map_err(|error| {
        let (file, reason) = (directory.join(path), files::reason(&error));
        format!(
            "cannot read '{}': {reason}; expected a bundle directory, give one that 'spyre-compile FILE -o DIR' wrote",
            file.display()
        )
    })
}
