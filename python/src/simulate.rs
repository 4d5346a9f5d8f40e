//! The simulated machine.

use super::work::wait_for;
use machine::{ElementType, Target};
use pyo3::{exceptions::PyValueError, prelude::*, pybacked::PyBackedBytes};
use referee::{ArrayElements, HostArray, RunOptions, bf16_from_f32, bf16_to_f32};
use sdsc_format::program::Tensor;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// A tensor of a program: name, sizes, element type.
type TensorTuple = (String, Vec<i64>, String);

/// A result: name, sizes, element type and the elements, row-major, in the machine's own byte order; of bf16 as f32.
type ResultTuple = (String, Vec<i64>, String, Vec<u8>);

/// A bundle directory, loaded.
#[pyclass(frozen)]
pub(crate) struct Simulation {
    simulation: Arc<referee::Simulation>,
}

#[pymethods]
impl Simulation {
    /// Loads a bundle directory.
    ///
    /// # Errors
    /// What is missing or malformed.
    #[new]
    fn new(py: Python<'_>, directory: PathBuf) -> PyResult<Self> {
        let simulation = wait_for(py, move |_| referee::Simulation::load(&directory, &Target::spyre()))?;
        let simulation = simulation.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { simulation: Arc::new(simulation) })
    }

    /// The arguments in order.
    fn arguments(&self) -> Vec<TensorTuple> {
        self.simulation.program().arguments.iter().map(tuple_of).collect()
    }

    /// The results in order.
    fn results(&self) -> Vec<TensorTuple> {
        self.simulation.program().results.iter().map(tuple_of).collect()
    }

    /// The program at these symbolic sizes, by name; those without an entry are the largest.
    ///
    /// # Errors
    /// A name that the program does not have, and a size that it cannot have.
    fn at(&self, sizes: BTreeMap<String, i64>) -> PyResult<Self> {
        let simulation =
            self.simulation.with_sizes(&sizes).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { simulation: Arc::new(simulation) })
    }

    /// Runs on arrays in the order of the arguments, each with its sizes and elements as [`ResultTuple`] has them;
    /// gives the results in order and a report as JSON. `max_steps` bounds the element operations.
    ///
    /// # Errors
    /// What the simulator refuses, such as an array of other sizes or an index out of range.
    fn run(
        &self,
        py: Python<'_>,
        arrays: Vec<(Vec<i64>, PyBackedBytes)>,
        max_steps: Option<u64>,
    ) -> PyResult<(Vec<ResultTuple>, String)> {
        let arguments = &self.simulation.program().arguments;
        let mut inputs = BTreeMap::new();
        for (tensor, (shape, bytes)) in arguments.iter().zip(arrays) {
            let elements = elements_of(tensor, &bytes).map_err(PyValueError::new_err)?;
            inputs.insert(tensor.name.clone(), HostArray { shape, elements });
        }
        let defaults = RunOptions::default();
        let options = RunOptions { max_steps: max_steps.unwrap_or(defaults.max_steps), ..defaults };
        let simulation = Arc::clone(&self.simulation);
        let outcome = wait_for(py, move |_| simulation.run(&inputs, &options))?
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let report =
            serde_json::to_string(&outcome.report).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let results = outcome.results.into_iter().map(|(name, array)| {
            let element_type = array.elements.element_type().name().to_owned();
            (name, array.shape, element_type, bytes_of(&array.elements))
        });
        Ok((results.collect(), report))
    }
}

fn tuple_of(tensor: &Tensor) -> TensorTuple {
    (tensor.name.clone(), tensor.shape.clone(), tensor.element_type.clone())
}

/// Elements of the type that the program says; of bf16 from f32, which NumPy has.
fn elements_of(tensor: &Tensor, bytes: &[u8]) -> Result<ArrayElements, String> {
    let element = ArrayElements::zeros_for_tensor(tensor, 0)?.element_type();
    if element == ElementType::Bf16 {
        let numbers = bytes.as_chunks().0.iter().map(|bytes| bf16_from_f32(f32::from_ne_bytes(*bytes)));
        return Ok(ArrayElements::Bf16(numbers.collect()));
    }
    let mut elements = ArrayElements::zeros(element, bytes.len() / element.bytes());
    elements.set_bytes(bytes);
    Ok(elements)
}

fn bytes_of(elements: &ArrayElements) -> Vec<u8> {
    match elements {
        ArrayElements::Bf16(bits) => bits.iter().flat_map(|bits| bf16_to_f32(*bits).to_ne_bytes()).collect(),
        elements => elements.to_bytes(),
    }
}
