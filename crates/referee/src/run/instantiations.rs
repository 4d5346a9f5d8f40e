//! Instantiations of the generic executions for each kind of companion elements.

use super::{
    digits::ShadowResult,
    interval_arithmetic::IntervalArithmetic,
    shadow_memory::ShadowArithmetic,
    simulation::{RunOptions, RunWithShadow, Simulation},
};
use crate::{error::SimError, load::host::HostArray};
use element::{F64Arithmetic, FiniteField, OrderedField};
use std::collections::BTreeMap;

/// Companion elements that a simulation can compute with. A generic function is compiled in the crate that calls it.
/// The functions called by these methods are compiled once, in this crate and with its optimization level.
pub trait SimulatedArithmetic: ShadowArithmetic {
    /// Runs [`Simulation::run_with`].
    ///
    /// # Errors
    /// See [`Simulation::run_with`].
    fn run(
        &self,
        simulation: &Simulation,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<RunWithShadow<Self::Element>, SimError>;

    /// Runs [`Simulation::compute_elements`].
    ///
    /// # Errors
    /// See [`Simulation::compute_elements`].
    fn elements(
        &self,
        simulation: &Simulation,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<Vec<ShadowResult<Self::Element>>, SimError>;

    /// Runs [`Simulation::sample_elements`].
    ///
    /// # Errors
    /// See [`Simulation::sample_elements`].
    fn sampled(
        &self,
        simulation: &Simulation,
        inputs: &BTreeMap<String, HostArray>,
        wanted: &[Vec<usize>],
        options: &RunOptions,
    ) -> Result<Vec<Vec<Self::Element>>, SimError>;
}

macro_rules! simulated {
    ($($arithmetic:ty),+) => {$(
        impl SimulatedArithmetic for $arithmetic {
            fn run(
                &self,
                simulation: &Simulation,
                inputs: &BTreeMap<String, HostArray>,
                options: &RunOptions,
            ) -> Result<RunWithShadow<Self::Element>, SimError> {
                simulation.run_beside_with(self, inputs, options)
            }

            fn elements(
                &self,
                simulation: &Simulation,
                inputs: &BTreeMap<String, HostArray>,
                options: &RunOptions,
            ) -> Result<Vec<ShadowResult<Self::Element>>, SimError> {
                simulation.elements_with(self, inputs, options)
            }

            fn sampled(
                &self,
                simulation: &Simulation,
                inputs: &BTreeMap<String, HostArray>,
                wanted: &[Vec<usize>],
                options: &RunOptions,
            ) -> Result<Vec<Vec<Self::Element>>, SimError> {
                simulation.sampled_with(self, inputs, wanted, options)
            }
        }
    )+};
}

simulated!(IntervalArithmetic, F64Arithmetic, FiniteField, OrderedField);

impl Simulation {
    /// Runs the program as [`Self::run`] does, and also computes companion elements. Returns the results as companion
    /// elements, too, in the order of the program.
    ///
    /// # Errors
    /// See [`Self::run`]. In addition, a tensor has elements of less than two bytes, which cannot have companion
    /// elements.
    pub fn run_with<A: SimulatedArithmetic>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<RunWithShadow<A::Element>, SimError> {
        arithmetic.run(self, inputs, options)
    }

    /// Returns only the companion elements of [`Self::run_with`]. If no tensor has integers, the device's numbers are
    /// not computed: they are poison.
    ///
    /// # Errors
    /// See [`Self::run_with`].
    pub fn compute_elements<A: SimulatedArithmetic>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<Vec<ShadowResult<A::Element>>, SimError> {
        arithmetic.elements(self, inputs, options)
    }

    /// Returns selected elements of the results, in the order of the program. `wanted` has the sorted row-major indices
    /// of the elements of each result. Floating-point arguments need a value only if
    /// [`ShadowArithmetic::embed_argument`] uses it: a finite field draws them.
    ///
    /// All address checks are the same as in [`Self::run`]. [`RunOptions::max_steps`] limits the number of computed
    /// points; the limit is checked before any is computed.
    ///
    /// # Errors
    /// See [`Self::count`]. In addition: results of integers, too many executions to keep their addresses, and more
    /// points than the limit.
    pub fn sample_elements<A: SimulatedArithmetic>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        wanted: &[Vec<usize>],
        options: &RunOptions,
    ) -> Result<Vec<Vec<A::Element>>, SimError> {
        arithmetic.sampled(self, inputs, wanted, options)
    }
}
