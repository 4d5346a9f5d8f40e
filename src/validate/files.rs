//! Executes the written files on elements of a finite field.

use super::arguments_at;
use crate::interpret::{Array, Function, Selection, Tensor};
use element::{Arithmetic, Draw, Field, FieldElement, Ordered};
use machine::DeviceFormat;
use machine::ElementType;
use referee::{Companions, Elements, HostArray, RunOptions, SimError, Simulated, Simulation};
use sdsc_format::program;
use std::collections::BTreeMap;

/// Returns the results of the files in a draw, for the function that they were compiled from.
///
/// # Errors
/// If the simulator rejects the files or reaches a limit, or the files take other arguments than the function.
pub(super) fn results(simulation: &Simulation, function: &Function<'_>, draw: u64) -> Result<Vec<Array<FieldElement>>, Refusal> {
    match draw & Field::ORDERED {
        0 => results_on(&Field::new(draw), simulation, function, draw),
        _ => results_on(&Ordered::new(draw), simulation, function, draw),
    }
}

fn results_on<D: Draw + Simulated>(
    elements: &D,
    simulation: &Simulation,
    function: &Function<'_>,
    draw: u64,
) -> Result<Vec<Array<FieldElement>>, Refusal> {
    let inputs = inputs(simulation, function, draw, true).map_err(Refusal::Wrong)?;
    let companions = simulation.elements(elements, &inputs, &RunOptions::default())?;
    let results = &simulation.program().results;
    let found = companions.into_iter().zip(results).map(|(found, of)| {
        let array = || array(found, is_position(of)).of(|element| elements.seen(element));
        nothing(of, draw).unwrap_or_else(array)
    });
    Ok(found.collect())
}

/// Returns whether the elements of a tensor are integers on the device; integers in a floating-point format are numbers.
fn is_position(tensor: &program::Tensor) -> bool {
    tensor.format == DeviceFormat::IeeeInt32.name()
}

/// Returns one zero for a tensor without elements, or None for any other tensor. The program has one element there, which is zero and
/// which no caller receives: there is nothing to compare it with.
fn nothing(of: &program::Tensor, draw: u64) -> Option<Array<FieldElement>> {
    let zero = || if is_position(of) { Array::positions([0]) } else { Array::numbers(vec![Field::new(draw).number(0.0)]) };
    of.shape.contains(&0).then(zero)
}

/// Returns the arrays for the simulator: positions and truth values are passed unchanged; for other arguments the simulator draws the
/// elements itself, so they are zeros here, or absent.
fn inputs(simulation: &Simulation, function: &Function<'_>, draw: u64, has_zeros: bool) -> Result<BTreeMap<String, HostArray>, String> {
    let program = simulation.program();
    if program.arguments.len() != function.body.arguments.len() || program.results.len() != function.body.yields.len() {
        return Err("its files have other arguments or results".to_owned());
    }
    let tensors: Vec<&Tensor> = function.body.arguments.iter().map(|id| &function.values[*id]).collect();
    let is_given = |tensor: &Tensor| tensor.element.is_integer() || tensor.element == ElementType::Truth;
    let whole = |tensor: &&Tensor| if is_given(tensor) { Selection::whole(&tensor.shape) } else { Selection::none(tensor.shape.len()) };
    let given = arguments_at(function, &tensors.iter().map(whole).collect::<Vec<_>>(), &Field::new(draw), draw);
    let mut inputs = BTreeMap::new();
    for ((tensor, own), array) in program.arguments.iter().zip(&tensors).zip(&given) {
        if tensor.shape.contains(&0) {
            let elements = Elements::zeros_of(tensor, 0)?;
            inputs.insert(tensor.name.clone(), HostArray { shape: tensor.shape.clone(), elements });
        } else if has_zeros || is_given(own) {
            let mut elements = Elements::zeros_of(tensor, own.length())?;
            if is_given(own) {
                fill(&mut elements, array, &Field::new(draw));
            }
            inputs.insert(tensor.name.clone(), HostArray { shape: tensor.shape.clone(), elements });
        }
    }
    Ok(inputs)
}

/// Reason why there are no result elements.
pub(super) enum Refusal {
    /// The files exceed a limit of the simulator, or it cannot take samples of them.
    Limit(String),
    /// The files cannot be executed.
    Wrong(String),
}

impl From<SimError> for Refusal {
    fn from(error: SimError) -> Self {
        match error {
            SimError::TooManySteps { .. } | SimError::TooMuchMemory { .. } => Self::Limit(error.to_string()),
            _ => Self::Wrong(error.to_string()),
        }
    }
}

/// Returns elements of the results. Executes only the operations on which they depend.
///
/// # Errors
/// If the simulator rejects the files, or cannot take these samples.
pub(super) fn samples(
    simulation: &Simulation,
    function: &Function<'_>,
    selections: &[Selection],
    draw: u64,
) -> Result<Vec<Array<FieldElement>>, Refusal> {
    match draw & Field::ORDERED {
        0 => samples_on(&Field::new(draw), simulation, function, selections, draw),
        _ => samples_on(&Ordered::new(draw), simulation, function, selections, draw),
    }
}

fn samples_on<D: Draw + Simulated>(
    elements: &D,
    simulation: &Simulation,
    function: &Function<'_>,
    selections: &[Selection],
    draw: u64,
) -> Result<Vec<Array<FieldElement>>, Refusal> {
    let inputs = inputs(simulation, function, draw, false).map_err(Refusal::Wrong)?;
    let shapes = function.body.yields.iter().map(|id| function.values[*id].shape.as_slice());
    // Results without elements are not compared.
    let is_empty = simulation.program().results.iter().map(|tensor| tensor.shape.contains(&0));
    let places =
        |((selection, shape), is_empty): ((&Selection, &[usize]), bool)| if is_empty { Vec::new() } else { selection.places(shape) };
    let wanted: Vec<Vec<usize>> = selections.iter().zip(shapes).zip(is_empty).map(places).collect();
    match simulation.sampled(elements, &inputs, &wanted, &RunOptions::default()) {
        Ok(found) => {
            let seen = |found: Vec<D::Element>| Array::numbers(found.into_iter().map(|element| elements.seen(element)).collect());
            let results = &simulation.program().results;
            Ok(found.into_iter().zip(results).map(|(found, of)| nothing(of, draw).unwrap_or_else(|| seen(found))).collect())
        }
        // Complete executions simulate more than samples.
        Err(error @ SimError::NotSimulated { .. }) => Err(Refusal::Limit(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "positions are below the rows of a table")]
fn fill(elements: &mut Elements, array: &Array<FieldElement>, field: &Field) {
    match array {
        Array::Positions(positions) => {
            positions.iter().enumerate().for_each(|(index, position)| elements.set(index, position.unwrap_or(0) as f64));
        }
        Array::Numbers(numbers) if matches!(elements, Elements::Bool(_)) => {
            numbers.iter().enumerate().for_each(|(index, number)| elements.set(index, f64::from(u8::from(!field.is_zero(*number)))));
        }
        Array::Numbers(_) => {}
    }
}

#[expect(clippy::cast_possible_truncation, reason = "integers of the device are integers")]
fn array<E: Copy>(found: Companions<E>, is_integer: bool) -> Array<E> {
    if is_integer { Array::positions(found.device.iter().map(|number| *number as i64)) } else { Array::numbers(found.elements) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_simulator_are_no_faults_of_the_files() {
        let memory = SimError::TooMuchMemory { what: "'result'".into(), bytes: 2, limit: 1 };
        assert!(matches!(memory.into(), Refusal::Limit(_)));
        let steps = SimError::TooManySteps { op: "add".into(), limit: 1 };
        assert!(matches!(steps.into(), Refusal::Limit(_)));
        let samples = SimError::NotSimulated { op: "add".into(), what: "samples".into() };
        assert!(matches!(samples.into(), Refusal::Wrong(_)));
    }
}
