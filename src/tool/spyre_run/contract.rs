//! Checks of the launch specification of a bundle, and errors about arrays that violate it.

use crate::codes;
use machine::{DeviceFormat, ElementType};
use referee::{ArrayElements, HostArray};
use sdsc_check::check_launch_specs;
use sdsc_format::launch_spec::{LAUNCH_SPEC_FILE, LaunchSpec};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use sdsc_format::{BUNDLE_FILE, bundle_text};
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

/// Returns a warning if a program of one launch with symbolic addresses has no launch specification.
pub(super) fn describe_missing_spec(directory: &Path, program: &Program) -> Option<String> {
    let [launch] = program.launches.as_slice() else { return None };
    let path = directory.join(&launch.bundle).join(LAUNCH_SPEC_FILE);
    if path.exists() {
        return None;
    }
    let bytes = files::read_below(directory, &format!("{}/{BUNDLE_FILE}", launch.bundle)).ok()?;
    let bundle = bundle_text::parse(std::str::from_utf8(&bytes).ok()?).ok()?;
    (!bundle.params.is_empty()).then(|| {
        format!(
            "expected a launch specification, found no '{}'; shapes, types and layouts of a launch are not checked, \
             compile the program again",
            path.display()
        )
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

/// Returns the array converted to another element type, rounded to nearest.
pub(super) fn cast_elements(array: &HostArray, element: ElementType) -> HostArray {
    if array.elements.element_type() == element {
        return array.clone();
    }
    let mut elements = ArrayElements::zeros(element, array.elements.len());
    (0..array.elements.len()).for_each(|index| elements.set(index, array.elements.get(index)));
    HostArray { shape: array.shape.clone(), elements }
}

/// Returns the array converted to another element type.
///
/// # Errors
/// Returns an error if an integer type, of the array or of the result, rounds a number, or if a number is out of range.
pub(super) fn cast_elements_checked(array: &HostArray, element: ElementType) -> Result<HostArray, String> {
    let found = cast_elements(array, element);
    let is_integer = array.elements.element_type().is_integer() || element.is_integer();
    let is_lost = |index: &usize| {
        let (before, after) = (array.elements.get(*index), found.elements.get(*index));
        if is_integer { before != after } else { before.is_finite() && !after.is_finite() }
    };
    match (0..array.elements.len()).find(is_lost) {
        Some(index) => Err(format!(
            "expected numbers of dtype {}, found {} at element {index}; give numbers that this dtype holds",
            element.torch_name(),
            array.elements.get(index)
        )),
        None => Ok(found),
    }
}

/// Reads an argument of the program. `read` reads an array of an element type: that of the program, or that of the
/// host tensor that a launcher passes.
///
/// # Errors
/// Returns the error about the program's type if the array has neither type.
pub(super) fn read_argument(
    tensor: &Tensor,
    read: impl Fn(&str) -> Result<HostArray, String>,
) -> Result<HostArray, String> {
    let error = match read(&tensor.element_type) {
        Ok(array) => return Ok(array),
        Err(error) => error,
    };
    let (Ok(element), Ok(launched)) = (tensor.element_type.parse::<ElementType>(), launch_type(tensor)) else {
        return Err(error);
    };
    if launched == element {
        return Err(error);
    }
    match read(&launched.to_string()) {
        Ok(array) => cast_elements_checked(&array, element),
        Err(_) => Err(error),
    }
}

/// Formats the error about an array that the program does not accept. The message states the expected array in the
/// terms of the launch specification.
pub(super) fn format_array_error(option: &str, tensor: &Tensor, message: &str) -> String {
    let element = tensor.element_type.parse::<ElementType>().ok().map(ElementType::torch_name);
    let launched = launch_type(tensor).ok().map(ElementType::torch_name).filter(|launched| Some(*launched) != element);
    let types: Vec<&str> = launched.into_iter().chain([element.unwrap_or(&tensor.element_type)]).collect();
    let (code, message) = codes::split_code(message);
    code.unwrap_or(codes::RUN_ARRAY).format(format_args!(
        "{option}: argument '{}' (shape {:?}, dtype {}, layout row-major): {message}",
        tensor.name,
        tensor.shape,
        types.join(" or ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(elements: ArrayElements) -> HostArray {
        HostArray { shape: vec![elements.len() as i64], elements }
    }

    #[test]
    fn rejects_numbers_that_launch_type_cannot_represent() {
        let fits = cast_elements_checked(&array(ArrayElements::I64(vec![0, -2048])), ElementType::F16).unwrap();
        assert_eq!(fits.elements, ArrayElements::F16(vec![0, 0xe800]));
        let rejected = cast_elements_checked(&array(ArrayElements::I64(vec![0, 2049])), ElementType::F16).unwrap_err();
        assert_eq!(
            rejected,
            "expected numbers of dtype float16, found 2049 at element 1; give numbers that this dtype holds"
        );
        assert!(
            cast_elements_checked(&array(ArrayElements::F32(vec![0.1, f32::INFINITY])), ElementType::F16).is_ok(),
            "rounded"
        );
        assert!(cast_elements_checked(&array(ArrayElements::F32(vec![1e6])), ElementType::F16).is_err());
    }
}
