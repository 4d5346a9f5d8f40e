//! Executing the written files on elements of a finite field.

use crate::interpret::{Array, Function};
use element::{Arithmetic, Field, FieldElement};
use referee::{Companions, Elements, HostArray, RunOptions, Simulation};
use std::collections::BTreeMap;

/// The results of the files in a draw on given arguments, for the function that they were made of.
///
/// # Errors
/// What the simulated machine refuses, or files that take other arguments than the function.
pub(super) fn results(
    simulation: &Simulation,
    function: &Function<'_>,
    given: &[Array<FieldElement>],
    draw: u64,
) -> Result<Vec<Array<FieldElement>>, String> {
    let (field, program) = (Field::new(draw), simulation.program());
    if program.arguments.len() != given.len() || program.results.len() != function.body.yields.len() {
        return Err("its files have other arguments or results".to_owned());
    }
    let mut inputs = BTreeMap::new();
    for (tensor, array) in program.arguments.iter().zip(given) {
        let mut elements = Elements::zeros(&tensor.element_type, array.length())?;
        fill(&mut elements, array, &field);
        inputs.insert(tensor.name.clone(), HostArray { shape: tensor.shape.clone(), elements });
    }
    let companions = simulation.elements(&field, &inputs, &RunOptions::default()).map_err(|error| error.to_string())?;
    let is_integer = |id: &usize| function.values[*id].element.is_integer();
    Ok(companions.into_iter().zip(&function.body.yields).map(|(found, id)| array(found, is_integer(id))).collect())
}

/// Positions and truth values, which are what they are; the simulator gives other arguments the elements of the draw.
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
fn array(found: Companions<FieldElement>, is_integer: bool) -> Array<FieldElement> {
    if is_integer { Array::positions(found.device.iter().map(|number| *number as i64)) } else { Array::numbers(found.elements) }
}
