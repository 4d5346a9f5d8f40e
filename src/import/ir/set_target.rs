//! `spyre-set-target`: records the target machine in the module.
//!
//! Reads a machine description and the two numbers that users change most; writes the module attribute `spyre.target`.

use crate::dialect::ods::option;
use crate::{
    codes,
    dialect::{set_target, target_of},
    mlir::{ErrorReported, Op, Pass, PassOptions, error_at},
};
use files::{MAX_TEXT_BYTES, read_text, reason};
use machine::Target;
use sdsc_check::Profile;
use std::path::Path;

pub(crate) const PASS: Pass = Pass { argument: "spyre-set-target", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let mut target =
        read_target(module, options).map_err(|message| error_at(codes::OPTION_VALUE, module, message).report())?;
    if options.read_enum::<Profile>(module, option::BUNDLE_FORMAT)?.is_release() {
        (target.lx_fan_in, target.lx_restickify) = (0, 0);
    }
    set_target(module, &target);
    Ok(())
}

fn read_target(module: Op<'_>, options: &PassOptions) -> Result<Target, String> {
    let mut target = match options.get_text(option::FILE) {
        "" => target_of(module)?,
        path => parse_target(path)?,
    };
    let cores = options.get_number(option::CORES);
    if cores < 0 || cores > target.cores {
        return Err(codes::OPTION_VALUE.format(format_args!(
            "option 'cores': expected 1 to {0} cores, found {cores}; use at most {0}",
            target.cores
        )));
    }
    if cores > 0 {
        target.cores = cores;
    }
    match options.get_number(option::LX_BYTES) {
        -1 => {}
        lx_bytes if lx_bytes >= 0 => target.lx_bytes = lx_bytes,
        lx_bytes => {
            return Err(codes::OPTION_VALUE.format(format_args!(
                "option 'lx-bytes': expected a nonnegative number of bytes, found {lx_bytes}; remove the option to use all of LX"
            )));
        }
    }
    target.check().map_err(|message| name_option_in_error(options, message))?;
    Ok(target)
}

/// Returns an error message about a machine parameter with the name of the option in place of the parameter, if the
/// option set it.
fn name_option_in_error(options: &PassOptions, message: String) -> String {
    let is_given = options.get_number(option::LX_BYTES) >= 0;
    if is_given { message.replacen("'lx_bytes'", "option 'lx-bytes'", 1) } else { message }
}

fn parse_target(path: &str) -> Result<Target, String> {
    let text = read_text(Path::new(path), MAX_TEXT_BYTES).map_err(|error| {
        codes::MACHINE_FILE.format(format_args!(
            "option 'target': cannot read machine description '{path}': {}; give a JSON file",
            reason(&error)
        ))
    })?;
    // Deserializing a structure also accepts an array, in which the meaning of an element is unclear.
    let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).map(|_| ());
    let described = is_object.map_err(|error| error.to_string()).and_then(|()| {
        let mut reader = serde_json::Deserializer::from_str(&text);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let (key, reason) = (error.path().to_string(), error.inner().to_string());
            // The reason names an unknown key; the message adds the enclosing structure.
            let key = if reason.starts_with("unknown field") {
                key.rsplit_once('.').map_or(".", |(around, _)| around)
            } else {
                &key
            };
            if key == "." { reason } else { format!("'{key}': {reason}") }
        })
    });
    described.map_err(|error| {
        let error = error.replace("expected i64", "expected a whole number");
        codes::MACHINE_FILE.format(format_args!(
            "option 'target': expected a machine description, found '{path}': {error}; give an object of numbers, such as {{\"cores\": 4}}"
        ))
    })
}
