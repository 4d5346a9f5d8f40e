//! The referee: executes emitted bundles on a simulated machine.
//!
//! It reads the files of a bundle directory and nothing else, and shares no code with the compiler but the model of the files
//! ([`sdsc_format`]), the machine's description and the model of time ([`cost`]): what the files mean is worked out here from the specification, so that a mistake of the emitter shows.
//!
//! Its steps are folders, in the order in which a program goes through them:
//!
//! | folder | what |
//! |---|---|
//! | `load` | the files of a directory, `bundle.mlir` as a program over addresses, and the arrays of the caller |
//! | `plan` | an op as loops and tables, worked out once from its JSON |
//! | `machine` | HBM and LX, poisoned, with every written byte noted; the checks before an execution |
//! | `ops` | what the functions compute, one file a family |
//! | `account` | bytes moved, modeled time, what rounding changed |
//! | `run` | the launches in order, each execution from its checks to its results, with elements of other kinds beside the device's numbers |
//!
//! `sample` runs a program for some elements of its results, and [`number`] has the device's number formats.
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

pub use account::rounding::{Escape, OpError};
pub use account::{report, time, traffic};
pub use error::{SimError, Site};
pub use load::{address_program, layout};
pub use load::{
    host::{Elements, HostArray, bf16_from_f32, bf16_to_f32, dl16_value, f16_from_f32, f16_to_f32},
    inputs::{Draw, drawn, seeded},
};
pub use report::Report;
pub use run::{
    beside::Companion,
    bounded::{Bound, Bounded},
    digits::Companions,
    lx_image::LxImage,
    simulated::Simulated,
    simulation::{Accompanied, Outcome, RunOptions, Simulation},
};
pub use traffic::Traffic;
