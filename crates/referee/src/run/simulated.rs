//! Executions beside each kind of elements, compiled in this crate.

use super::{
    beside::Companion,
    bounded::Bounded,
    digits::Companions,
    simulation::{Accompanied, RunOptions, Simulation},
};
use crate::{error::SimError, load::host::HostArray};
use element::{Exact, Field, Ordered};
use std::collections::BTreeMap;

/// Elements that a simulation computes with. A generic function is compiled in the crate that calls it; those behind these methods are compiled here,
/// once, and with the optimization of this crate.
pub trait Simulated: Companion {
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

    /// Runs [`Simulation::elements`].
    ///
    /// # Errors
    /// As that function.
    fn elements(
        &self,
        simulation: &Simulation,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<Vec<Companions<Self::Element>>, SimError>;

    /// Runs [`Simulation::sampled`].
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

simulated!(Bounded, Exact, Field, Ordered);
