//! Between IR and files, for `spyre-translate`.

use crate::{
    bundle::Bundle,
    dialect::{self, bundle_to_ir, push_items},
    layout::DeviceLayout,
    mlir::{Attribute, Attributes, Module, Op, OpExt, Session, build, dense_elements, new_block, push, string_attribute, type_attribute},
    pipeline::emit_pipeline,
    sdsc::{
        Sdsc,
        case_json::read_case, differs_from_its_emission,
        check::{BUNDLE_FILE, Violation, check_directory},
        host_bytes,
        program::{self, Program, Tensor},
        is_baked, to_bundle, to_launch,
    },
};
use melior::ir::Type;
use std::{collections::BTreeSet, fs, path::Path};

/// Op specs in JSON as `sdsc` IR.
///
/// # Errors
/// What is wrong with the JSON, with its path.
pub fn opspec_to_mlir(session: &Session, text: &str) -> Result<String, String> {
    let bundle = read_case(text).map_err(|error| error.to_string())?;
    print(session, |module| {
        push_bundle(module, "bundle_0", &bundle, &[]);
        Ok(())
    })
}

/// `sdsc` or `sdscbundle` IR as the files of a bundle directory.
///
/// # Errors
/// The system's reason if the input cannot be read; an empty message if MLIR has reported an error.
pub fn mlir_to_bundle(session: &Session, input: &str, output: &str) -> Result<(), String> {
    let source = session.open(input).map_err(|reason| format!("cannot read '{input}': {reason}"))?;
    let module = source.parse().ok_or_else(String::new)?;
    if module.run(&emit_pipeline(output)) { Ok(()) } else { Err(String::new()) }
}

/// The files of a bundle, or of a program and its bundles, as the `sdsc` IR that they are written from.
///
/// # Errors
/// The file, and what is wrong with it.
pub fn bundle_to_mlir(session: &Session, directory: &Path) -> Result<String, String> {
    let program = directory.join(program::FILE_NAME);
    if directory.join(BUNDLE_FILE).exists() || !program.exists() {
        let bundle = read_bundle(directory, 0)?;
        return print(session, |module| {
            push_read(module, "bundle_0", &bundle, &[]);
            Ok(())
        });
    }
    let at_fault = |error: &dyn std::fmt::Display| format!("{}: {error}", program.display());
    let description: Program = serde_json::from_slice(&read(&program)?).map_err(|error| at_fault(&error))?;
    description.check_no_symbols().map_err(|error| at_fault(&error))?;
    let bundles = description.launches.iter().map(|launch| read_bundle(&directory.join(&launch.bundle), launch.pool_bytes)).collect::<Result<Vec<_>, _>>()?;
    print(session, |module| push_program(module, &description, &bundles, directory).map_err(|error| at_fault(&error)))
}

/// The rules that the files of a bundle or program directory break.
///
/// # Errors
/// There is no bundle, or a file cannot be read.
pub fn broken_rules(directory: &Path) -> Result<Vec<Violation>, String> {
    let broken = check_directory(directory).map_err(|error| error.to_string())?;
    if !broken.is_empty() {
        return Ok(broken);
    }
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    read_texts(directory, "", &mut files)?;
    let program = files.iter().find(|(path, _)| path == program::FILE_NAME);
    let program: Option<Program> = program.and_then(|(_, content)| serde_json::from_slice(content).ok());
    let folders: BTreeSet<String> = program.into_iter().flat_map(|program| program.launches).map(|launch| launch.bundle).collect();
    if !directory.join(BUNDLE_FILE).exists() {
        for folder in folders {
            read_texts(&directory.join(&folder), &format!("{folder}/"), &mut files)?;
        }
    }
    let contents = files.iter().map(|(path, content)| (path.as_str(), content.as_slice()));
    Ok(differs_from_its_emission(contents).into_iter().collect())
}

/// Adds the files of a bundle or a program in a folder, not those of constants.
fn read_texts(folder: &Path, below: &str, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("cannot read '{}': {error}", folder.display()))?;
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let is_text = path.extension().is_some_and(|kind| kind == "json" || kind == "mlir");
        if let Some(name) = path.file_name().filter(|_| is_text && path.is_file()) {
            files.push((format!("{below}{}", name.to_string_lossy()), read(&path)?));
        }
    }
    Ok(())
}

fn print(session: &Session, fill: impl FnOnce(Op<'_>) -> Result<(), String>) -> Result<String, String> {
    session.load("sdsc");
    session.load("spyre");
    let module = Module::parse(session, "module {}").ok_or("cannot make an empty module")?;
    fill(module.op())?;
    if module.verify() { Ok(format!("{}\n", module.op())) } else { Err("gives IR that is not valid".to_owned()) }
}

fn push_bundle<'c>(parent: Op<'c>, name: &str, bundle: &Bundle, buffers: &[String]) -> Op<'c> {
    let location = parent.loc();
    let built = push(parent, bundle_to_ir(parent.ctx(), location, name, bundle, buffers));
    push_items(built, location, &bundle.items);
    built
}

/// A bundle as it was read from its files.
struct ReadBundle {
    bundle: Bundle,
    is_baked: bool,
}

fn push_read(parent: Op<'_>, name: &str, read: &ReadBundle, buffers: &[String]) {
    let built = push_bundle(parent, name, &read.bundle, buffers);
    if read.is_baked {
        built.set_attr("sdsc.addresses", string_attribute(parent.ctx(), "baked"));
    }
}

fn push_program(module: Op<'_>, description: &Program, bundles: &[ReadBundle], directory: &Path) -> Result<(), String> {
    let (context, location) = (module.ctx(), module.loc());
    let attributes = Attributes::new(context).text("sym_name", &description.name);
    let program = push(module, build("sdsc.program", location, &[], &[], attributes, vec![new_block(&[], location)]));
    let roles = [
        ("input", &description.arguments),
        ("constant", &description.constants),
        ("temporary", &description.buffers),
        ("output", &description.results),
    ];
    for (role, tensors) in roles {
        for (position, tensor) in (0..).zip(tensors) {
            let (of, layout) = tensor_of(module, tensor)?;
            let value = tensor.file.as_ref().map(|file| value_of(&of, tensor, &layout, (directory, file))).transpose()?;
            let attributes = Attributes::new(context)
                .text("sym_name", &tensor.name)
                .text("role", role)
                .int("position", position)
                .with("type", type_attribute(of.with_layout(context, &layout, None)))
                .with_option("value", value);
            let attributes = match &tensor.index_range {
                Some(range) => attributes.ints("index_range", range),
                None => attributes,
            };
            let attributes = match &tensor.place {
                Some(place) => {
                    let life = [place.first_launch, place.last_launch].map(|launch| i64::try_from(launch).unwrap_or(i64::MAX));
                    attributes.int("offset", place.offset).ints("life", &life)
                }
                None => attributes,
            };
            push(program, build("sdsc.buffer", location, &[], &[], attributes, vec![]));
        }
    }
    for (launch, bundle) in description.launches.iter().zip(bundles) {
        push_read(program, &launch.bundle, bundle, &launch.arguments);
    }
    Ok(())
}

fn tensor_of<'c>(at: Op<'c>, tensor: &Tensor) -> Result<(dialect::Tensor<'c>, DeviceLayout), String> {
    let refuse = |what: String| format!("'{}' {what}", tensor.name);
    let sizes: String = tensor.shape.iter().map(|size| format!("{size}x")).collect();
    let host = Type::parse(at.ctx(), &format!("tensor<{sizes}{}>", tensor.element_type)).and_then(dialect::Tensor::of);
    let host =
        host.ok_or_else(|| refuse(format!("has shape {:?} and elements of '{}', which is no tensor", tensor.shape, tensor.element_type)))?;
    let format = tensor.format.parse().map_err(|_| refuse(format!("has the unknown device format '{}'", tensor.format)))?;
    let layout = DeviceLayout::from_parts(tensor.device_size.clone(), tensor.stride_map.clone(), format);
    Ok((host, layout.map_err(|error| refuse(error.to_string()))?))
}

/// The elements of a constant from its file.
fn value_of<'c>(
    of: &dialect::Tensor<'c>,
    tensor: &Tensor,
    layout: &DeviceLayout,
    (directory, file): (&Path, &str),
) -> Result<Attribute<'c>, String> {
    let refuse = |what: String| format!("'{}': {what}", tensor.name);
    if !program::is_below(file) {
        return Err(refuse(format!("'{file}' is no path below the directory")));
    }
    let bytes = host_bytes(&read(&directory.join(file))?, layout, &tensor.element_type, &tensor.shape)
        .map_err(|error| refuse(error.to_string()))?;
    // MLIR packs booleans, eight in a byte.
    let packed = |bools: &[u8]| bools.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect();
    let bytes: Vec<u8> = if tensor.element_type == "i1" { packed(&bytes) } else { bytes };
    dense_elements(of.host.build(), &bytes).ok_or_else(|| refuse(format!("{} bytes are no tensor of {}", bytes.len(), tensor.element_type)))
}

/// The bundle of a folder; `pool_bytes` is what its program says of it.
fn read_bundle(directory: &Path, pool_bytes: i64) -> Result<ReadBundle, String> {
    let at_fault = |file: &str, error: &dyn std::fmt::Display| format!("{}: {error}", directory.join(file).display());
    let text = String::from_utf8(read(&directory.join(BUNDLE_FILE))?).map_err(|error| at_fault(BUNDLE_FILE, &error))?;
    let launch = to_launch(&text).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut files: Vec<Sdsc> = Vec::new();
    loop {
        let name = format!("sdsc_{}.json", files.len());
        if !directory.join(&name).exists() {
            break;
        }
        let content = read(&directory.join(&name))?;
        let file = &mut serde_json::Deserializer::from_slice(&content);
        files.push(serde_path_to_error::deserialize(file).map_err(|error| at_fault(&name, &error))?);
    }
    let bundle = to_bundle(&launch, &files, pool_bytes).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(ReadBundle { bundle, is_baked: is_baked(&launch) })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read '{}': {error}", path.display()))
}
