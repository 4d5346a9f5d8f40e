//! Checks of the launch specification of a bundle, and errors about arrays that violate it.

use crate::codes;
use machine::{DeviceFormat, ElementType};
use sdsc_check::check_launch_specs;
use sdsc_format::launch_spec::{LAUNCH_SPEC_FILE, LaunchSpec};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use std::path::Path;

/// Checks that the launch specifications describe the arguments of the program.
///
/// # Errors
/// Returns the first member that differs, with the argument.
pub(super) fn check_contract(directory: &Path, program: &Program) -> Result<(), String> {
    let found = check_launch_specs(directory, program).map_err(|error| codes::SIM_FILES.format(error))?;
    found.first().map_or(Ok(()), |violation| {
        Err(codes::SIM_FILES.format(format_args!("{}/{violation}; compile the program again", directory.display())))
    })
}

/// Reads the launch specification of a launch.
///
/// # Errors
/// Returns an error if the bundle has none. This is so if its addresses are absolute, or if an older compiler wrote it.
pub(super) fn read_launch_spec(directory: &Path, launch: &LaunchEntry) -> Result<LaunchSpec, String> {
    let path = format!("{}/{LAUNCH_SPEC_FILE}", launch.bundle);
    let viewed = directory.join(&path);
    if !viewed.exists() {
        return Err(codes::SIM_FILES.format(format_args!(
            "expected a launch specification, found no '{}'; compile the program again with '--addresses symbolic'",
            viewed.display()
        )));
    }
    let bytes = files::read_below(directory, &path).map_err(|error| {
        codes::SIM_FILES.format(format_args!(
            "cannot read '{}': {}; compile the program again",
            viewed.display(),
            files::reason(&error)
        ))
    })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        codes::SIM_FILES.format(format_args!("{}: {error}; compile the program again", viewed.display()))
    })
}

/// Returns the element type of the host tensor that a launcher passes for a tensor.
pub(super) fn launch_type(tensor: &Tensor) -> Result<ElementType, String> {
    let reject = |error: &dyn std::fmt::Display| codes::SIM_FILES.format(format_args!("'{}': {error}", tensor.name));
    let element: ElementType = tensor.element_type.parse().map_err(|error| reject(&error))?;
    let format: DeviceFormat = tensor.format.parse().map_err(|error| reject(&error))?;
    Ok(element.launch_type(format))
}

/// Formats the error about an array that the program does not accept. The message states the expected array in the
/// terms of the launch specification.
pub(super) fn format_array_error(option: &str, tensor: &Tensor, message: &str) -> String {
    let element =
        tensor.element_type.parse::<ElementType>().map_or(tensor.element_type.as_str(), |element| element.torch_name());
    let (code, message) = codes::split_code(message);
    code.unwrap_or(codes::RUN_ARRAY).format(format_args!(
        "{option}: argument '{}' (shape {:?}, dtype {element}, layout row-major): {message}",
        tensor.name, tensor.shape
    ))
}
