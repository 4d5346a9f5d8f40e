//! `spyre-set-target`: states the machine that the module is compiled for.
//!
//! Reads a machine description and the two numbers that users change most; writes the module attribute `spyre.target`.

use crate::dialect::ods::option;
use crate::{
    dialect::{set_target, target_of},
    mlir::{Op, Options, Pass, Reported, error_at},
};
use files::{MAX_TEXT_BYTES, read_text};
use machine::Target;
use std::path::Path;

pub(crate) const PASS: Pass = Pass { argument: "spyre-set-target", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = read(module, options).map_err(|message| error_at(module, message).report())?;
    set_target(module, &target);
    Ok(())
}

fn read(module: Op<'_>, options: &Options) -> Result<Target, String> {
    let mut target = match options.text(option::FILE) {
        "" => target_of(module)?,
        path => parse(path)?,
    };
    let cores = options.number(option::CORES);
    if cores < 0 || cores > target.cores {
        return Err(format!("option 'cores': cannot use {cores} cores: the machine has 1 to {0}: give at most {0}", target.cores));
    }
    if cores > 0 {
        target.cores = cores;
    }
    match options.number(option::LX_BYTES) {
        -1 => {}
        lx_bytes if lx_bytes >= 0 => target.lx_bytes = lx_bytes,
        lx_bytes => {
            return Err(format!("option 'lx-bytes' must not be negative, found {lx_bytes}: leave the option out for what the machine has"));
        }
    }
    target.check().map_err(|message| said_of_option(options, message))?;
    Ok(target)
}

/// What is wrong with a number of the machine that an option gave is wrong with the option.
fn said_of_option(options: &Options, message: String) -> String {
    let is_given = options.number(option::LX_BYTES) >= 0;
    if is_given { message.replacen("'lx_bytes'", "option 'lx-bytes'", 1) } else { message }
}

fn parse(path: &str) -> Result<Target, String> {
    let text = read_text(Path::new(path), MAX_TEXT_BYTES)
        .map_err(|error| format!("option 'target': cannot read machine description '{path}': {error}"))?;
    // Reading a structure takes an array for it as well, of which nobody sees what it means.
    let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).map(|_| ());
    is_object.and_then(|()| serde_json::from_str(&text)).map_err(|error| {
        let error = error.to_string().replace("expected i64", "expected a whole number");
        format!("option 'target': '{path}' is no machine description: {error}")
    })
}
