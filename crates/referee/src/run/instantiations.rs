//! Executions with each kind of companion elements, compiled in this crate.

use super::{
    digits::Companions,
    interval_arithmetic::IntervalArithmetic,
    shadow_memory::ShadowArithmetic,
    simulation::{Accompanied, RunOptions, Simulation},
};
use crate::{error::SimError, load::host::HostArray};
use element::{F64Arithmetic, FiniteField, OrderedField};
use std::collections::BTreeMap;

/// Elements that a simulation computes with. A generic function is compiled in the crate that calls it; those behind
/// these methods are compiled here, once, and with the optimization of this crate.
pub trait Simulated: ShadowArithmetic {
    /// Runs [`Simulation::run_with`].
    ///
    /// # Errors
    /// As that function.
    fn run(
        &self,
        simulation: &Simulation,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<Accompanied<Self::Element>, SimError>;

    /// Runs [`Simulation::compute_elements`].
    ///
    /// # Errors
    /// As that function.
    fn elements(
        &self,
        simulation: &Simulation,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<Vec<Companions<Self::Element>>, SimError>;

    /// Runs [`Simulation::sample_elements`].
    ///
    /// # Errors
    /// As that function.
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
        impl Simulated for $arithmetic {
            fn run(
                &self,
                simulation: &Simulation,
                inputs: &BTreeMap<String, HostArray>,
                options: &RunOptions,
            ) -> Result<Accompanied<Self::Element>, SimError> {
                simulation.run_beside_with(self, inputs, options)
            }

            fn elements(
                &self,
                simulation: &Simulation,
                inputs: &BTreeMap<String, HostArray>,
                options: &RunOptions,
            ) -> Result<Vec<Companions<Self::Element>>, SimError> {
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
    /// Runs as [`Self::run`] does, and also computes companion elements; returns the results as such elements, in the
    /// order of the program.
    ///
    /// # Errors
    /// As [`Self::run`]; and a tensor whose elements have less than two bytes, which cannot have companion elements.
    pub fn run_with<A: Simulated>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<Accompanied<A::Element>, SimError> {
        arithmetic.run(self, inputs, options)
    }

    /// Returns only the elements that [`Self::run_with`] returns. Where no tensor has integers, the device's numbers
    /// are not computed: they are poison.
    ///
    /// # Errors
    /// As [`Self::run_with`].
    pub fn compute_elements<A: Simulated>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<Vec<Companions<A::Element>>, SimError> {
        arithmetic.elements(self, inputs, options)
    }

    /// Returns elements of the results, in the order of the program. `wanted` has the places of the elements of each
    /// result, row-major and in order. Arguments of floating-point numbers need a value only where
    /// [`ShadowArithmetic::embed_argument`] asks for it: a field draws them.
    ///
    /// Every check by address is made as in [`Self::run`]. [`RunOptions::max_steps`] limits the points that are
    /// computed, before any is.
    ///
    /// # Errors
    /// As [`Self::count_traffic`]; results of integers; more executions of ops than are kept, or more points than the
    /// limit.
    pub fn sample_elements<A: Simulated>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        wanted: &[Vec<usize>],
        options: &RunOptions,
    ) -> Result<Vec<Vec<A::Element>>, SimError> {
        arithmetic.sampled(self, inputs, wanted, options)
    }
}
