//! Executes the written files on elements of a finite field.

use super::draw_selected_arguments;
use crate::interpret::{ElementSelection, EvalArray, EvalFunction, EvalTensor};
use element::{Arithmetic, FieldElement, FiniteField, OrderedField, RandomArithmetic};
use machine::DeviceFormat;
use machine::ElementType;
use referee::{ArrayElements, HostArray, RunOptions, ShadowResult, SimError, SimulatedArithmetic, Simulation};
use sdsc_format::program;
use std::collections::BTreeMap;

/// Returns the results of the files in a draw, for the function that they were compiled from.
///
/// # Errors
/// If the simulator rejects the files or reaches a limit, or the files take other arguments than the function.
pub(super) fn run_files(
    simulation: &Simulation,
    function: &EvalFunction<'_>,
    draw: u64,
) -> Result<Vec<EvalArray<FieldElement>>, FileExecutionError> {
    match draw & FiniteField::ORDERED_BIT {
        0 => run_files_with(&FiniteField::new(draw), simulation, function, draw),
        _ => run_files_with(&OrderedField::new(draw), simulation, function, draw),
    }
}

fn run_files_with<D: RandomArithmetic + SimulatedArithmetic>(
    elements: &D,
    simulation: &Simulation,
    function: &EvalFunction<'_>,
    draw: u64,
) -> Result<Vec<EvalArray<FieldElement>>, FileExecutionError> {
    let inputs = build_inputs(simulation, function, draw, true).map_err(FileExecutionError::NotExecutable)?;
    let companions = simulation.compute_elements(elements, &inputs, &RunOptions::default())?;
    let results = &simulation.program().results;
    let found = companions.into_iter().zip(results).map(|(found, of)| {
        let array = || convert_result(found, has_positions(of)).map_numbers(|element| elements.field_element(element));
        empty_result(of, draw).unwrap_or_else(array)
    });
    Ok(found.collect())
}

/// Returns whether the elements of a tensor are integers on the device; integers in a floating-point format are
/// numbers.
fn has_positions(tensor: &program::Tensor) -> bool {
    tensor.format == DeviceFormat::IeeeInt32.name()
}

/// Returns one zero for a tensor without elements; `None` for any other tensor. The program has one element there,
/// which is zero and which no caller receives, so it is not compared.
fn empty_result(of: &program::Tensor, draw: u64) -> Option<EvalArray<FieldElement>> {
    let zero = || {
        if has_positions(of) {
            EvalArray::positions([0])
        } else {
            EvalArray::numbers(vec![FiniteField::new(draw).constant(0.0)])
        }
    };
    of.shape.contains(&0).then(zero)
}

/// Returns the arrays for the simulator: positions and truth values are passed unchanged; for other arguments the
/// simulator draws the elements itself, so they are zeros here, or absent.
fn build_inputs(
    simulation: &Simulation,
    function: &EvalFunction<'_>,
    draw: u64,
    has_zeros: bool,
) -> Result<BTreeMap<String, HostArray>, String> {
    let program = simulation.program();
    if program.arguments.len() != function.body.arguments.len() || program.results.len() != function.body.yields.len() {
        return Err("its files have other arguments or results".to_owned());
    }
    let tensors: Vec<&EvalTensor> = function.body.arguments.iter().map(|id| &function.values[*id]).collect();
    let is_given = |tensor: &EvalTensor| tensor.element.is_integer() || tensor.element == ElementType::Bool;
    let whole = |tensor: &&EvalTensor| {
        if is_given(tensor) {
            ElementSelection::whole(&tensor.shape)
        } else {
            ElementSelection::none(tensor.shape.len())
        }
    };
    let given = draw_selected_arguments(
        function,
        &tensors.iter().map(whole).collect::<Vec<_>>(),
        &FiniteField::new(draw),
        draw,
    );
    let mut inputs = BTreeMap::new();
    for ((tensor, own), array) in program.arguments.iter().zip(&tensors).zip(&given) {
        if tensor.shape.contains(&0) {
            let elements = ArrayElements::zeros_for_tensor(tensor, 0)?;
            inputs.insert(tensor.name.clone(), HostArray { shape: tensor.shape.clone(), elements });
        } else if has_zeros || is_given(own) {
            let mut elements = ArrayElements::zeros_for_tensor(tensor, own.length())?;
            if is_given(own) {
                fill_elements(&mut elements, array, &FiniteField::new(draw));
            }
            inputs.insert(tensor.name.clone(), HostArray { shape: tensor.shape.clone(), elements });
        }
    }
    Ok(inputs)
}

/// Reason why there are no result elements.
pub(super) enum FileExecutionError {
    /// The files exceed a limit of the simulator, or it cannot take samples of them.
    Limit(String),
    /// The files cannot be executed.
    NotExecutable(String),
}

impl From<SimError> for FileExecutionError {
    fn from(error: SimError) -> Self {
        match error {
            SimError::TooManySteps { .. } | SimError::TooMuchMemory { .. } => Self::Limit(error.to_string()),
            _ => Self::NotExecutable(error.to_string()),
        }
    }
}

/// Returns elements of the results. Executes only the operations on which they depend.
///
/// # Errors
/// If the simulator rejects the files, or cannot take these samples.
pub(super) fn run_samples(
    simulation: &Simulation,
    function: &EvalFunction<'_>,
    selections: &[ElementSelection],
    draw: u64,
) -> Result<Vec<EvalArray<FieldElement>>, FileExecutionError> {
    match draw & FiniteField::ORDERED_BIT {
        0 => run_samples_with(&FiniteField::new(draw), simulation, function, selections, draw),
        _ => run_samples_with(&OrderedField::new(draw), simulation, function, selections, draw),
    }
}

fn run_samples_with<D: RandomArithmetic + SimulatedArithmetic>(
    elements: &D,
    simulation: &Simulation,
    function: &EvalFunction<'_>,
    selections: &[ElementSelection],
    draw: u64,
) -> Result<Vec<EvalArray<FieldElement>>, FileExecutionError> {
    let inputs = build_inputs(simulation, function, draw, false).map_err(FileExecutionError::NotExecutable)?;
    let shapes = function.body.yields.iter().map(|id| function.values[*id].shape.as_slice());
    // Results without elements are not compared.
    let is_empty = simulation.program().results.iter().map(|tensor| tensor.shape.contains(&0));
    let places = |((selection, shape), is_empty): ((&ElementSelection, &[usize]), bool)| {
        if is_empty { Vec::new() } else { selection.positions(shape) }
    };
    let wanted: Vec<Vec<usize>> = selections.iter().zip(shapes).zip(is_empty).map(places).collect();
    match simulation.sample_elements(elements, &inputs, &wanted, &RunOptions::default()) {
        Ok(found) => {
            let seen = |found: Vec<D::Element>| {
                EvalArray::numbers(found.into_iter().map(|element| elements.field_element(element)).collect())
            };
            let results = &simulation.program().results;
            Ok(found
                .into_iter()
                .zip(results)
                .map(|(found, of)| empty_result(of, draw).unwrap_or_else(|| seen(found)))
                .collect())
        }
        // Complete executions simulate more than samples.
        Err(error @ SimError::NotSimulated { .. }) => Err(FileExecutionError::Limit(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "positions are below the rows of a table")]
fn fill_elements(elements: &mut ArrayElements, array: &EvalArray<FieldElement>, field: &FiniteField) {
    match array {
        EvalArray::Positions(positions) => {
            positions
                .iter()
                .enumerate()
                .for_each(|(index, position)| elements.set(index, position.unwrap_or(0) as f64));
        }
        EvalArray::Numbers(numbers) if matches!(elements, ArrayElements::Bool(_)) => {
            numbers
                .iter()
                .enumerate()
                .for_each(|(index, number)| elements.set(index, f64::from(u8::from(!field.is_zero(*number)))));
        }
        EvalArray::Numbers(_) => {}
    }
}

#[expect(clippy::cast_possible_truncation, reason = "integers of the device are integers")]
fn convert_result<E: Copy>(found: ShadowResult<E>, is_integer: bool) -> EvalArray<E> {
    if is_integer {
        EvalArray::positions(found.device.iter().map(|number| *number as i64))
    } else {
        EvalArray::numbers(found.elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_simulator_limits_as_limits() {
        let memory = SimError::TooMuchMemory { what: "'result'".into(), bytes: 2, limit: 1 };
        assert!(matches!(memory.into(), FileExecutionError::Limit(_)));
        let steps = SimError::TooManySteps { op: "add".into(), limit: 1 };
        assert!(matches!(steps.into(), FileExecutionError::Limit(_)));
        let samples = SimError::NotSimulated { op: "add".into(), what: "samples".into() };
        assert!(matches!(samples.into(), FileExecutionError::NotExecutable(_)));
    }
}
