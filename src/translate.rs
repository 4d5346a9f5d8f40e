//! Between IR and files, for `spyre-translate`.

use crate::{
    dialect::{bundle_to_ir, push_items},
    mlir::{Module, OpExt, Session, push},
    pipeline::emit_pipeline,
    sdsc::{
        case_json::read_case,
        check::{Violation, check_directory},
    },
};
use std::path::Path;

/// Op specs in JSON as `sdsc` IR.
///
/// # Errors
/// What is wrong with the JSON, with its path.
pub fn opspec_to_mlir(session: &Session, text: &str) -> Result<String, String> {
    let bundle = read_case(text).map_err(|error| error.to_string())?;
    session.load("sdsc");
    let module = Module::parse(session, "module {}").ok_or("cannot make an empty module")?;
    let (context, location) = (module.op().ctx(), module.op().loc());
    let built = push(module.op(), bundle_to_ir(context, location, "bundle_0", &bundle, &[]));
    push_items(built, location, &bundle.items);
    if module.verify() { Ok(format!("{}\n", module.op())) } else { Err("gives IR that is not valid".to_owned()) }
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

/// The rules that the files of a bundle or program directory break.
///
/// # Errors
/// There is no bundle, or a file cannot be read.
pub fn broken_rules(directory: &Path) -> Result<Vec<Violation>, String> {
    check_directory(directory).map_err(|error| error.to_string())
}
