//! The referee: executes emitted bundles on a simulated machine.
//!
//! It reads only the files of a bundle directory, and shares no code with the compiler except the model of the files
//! ([`sdsc_format`]), the machine description and the time model ([`cost`]). It interprets the files from the
//! specification, so that it detects defects of the emitter.
//!
//! Its steps are folders, in the order in which a program goes through them:
//!
//! | folder | what |
//! |---|---|
//! | `load` | the files of a directory, `bundle.mlir` as a program over addresses, and the arrays of the caller |
//! | `plan` | an op as loops and tables, worked out once from its JSON |
//! | `machine` | HBM and LX, poisoned, with every written byte noted; the checks before an execution |
//! | `ops` | implementations of the device functions, one file per family |
//! | `account` | bytes moved, modeled time, rounding errors |
//! | `run` | the launches in order, each execution from its checks to its results, with companion elements for the device's numbers |
//!
//! `sample` runs a program for some elements of its results, and [`sample_number`] has the device's number formats.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use referee::{RunOptions, Simulation, seeded};
//! use machine::Target;
//!
//! let simulation = Simulation::load("out".as_ref(), &Target::spyre())?;
//! let inputs = simulation.program().arguments.iter().map(|tensor| Ok((tensor.name.clone(), seeded(tensor, 1)?)));
//! let inputs = inputs.collect::<Result<_, referee::SimError>>()?;
//! let outcome = simulation.run(&inputs, &RunOptions::default())?;
//! println!("{} bytes of HBM read", outcome.report.total.hbm_read);
//! # Ok(())
//! # }
//! ```

mod account;
mod error;
mod load;
mod machine;
pub mod number;
mod ops;
mod plan;
mod run;
mod sample;

pub use account::rounding::{BoundViolation, OpRoundingError};
pub use account::{report, time, traffic};
pub use error::{AccessSite, SimError};
pub use load::{address_program, layout};
pub use load::{
    host::{ArrayElements, HostArray, bf16_from_f32, bf16_to_f32, dl16_to_f64, f16_from_f32, f16_to_f32},
    inputs::{InputDistribution, draw_argument, draw_seeded_array},
};
pub use report::RunReport;
pub use run::{
    digits::Companions,
    instantiations::Simulated,
    interval_arithmetic::{BoundedNumber, IntervalArithmetic},
    lx_image::{LxImage, LxRange},
    shadow_memory::ShadowArithmetic,
    simulation::{Accompanied, RunOptions, RunOutcome, Simulation},
};
pub use traffic::Traffic;
