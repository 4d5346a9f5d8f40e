//! The referee: executes emitted bundles on a simulated machine.
//!
//! It reads the files of a bundle directory and nothing else, and shares no code with the compiler but the model of the files
//! ([`sdsc_format`]) and the machine's description: what the files mean is worked out here from the specification, so that a mistake of the emitter shows.
//!
//! | file | what |
//! |---|---|
//! | [`address_program`] | `bundle.mlir` as a program over addresses |
//! | `load` | the files of a directory |
//! | `plan` | an op as loops and tables, worked out once from its JSON |
//! | `lives` | what dies when: read later, it is poison |
//! | `machine`, `memory` | HBM and LX, poisoned, with every written byte noted |
//! | `access` | the checks before an execution: bounds, alignment, unwritten bytes, conflicts, overlaps |
//! | `ops` | what the functions compute, one file a family |
//! | `beside`, `bounded` | other elements beside the device's numbers: exact ones with bounds, those of a field |
//! | `sample` | the same for some elements of results, and all that they depend on |
//! | [`number`] | the device's number formats |
//! | `host`, [`layout`] | arrays of the caller, and where their elements lie on the device |
//! | [`traffic`], [`time`], [`report`] | bytes moved and modelled time |
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

mod access;
pub mod address_program;
mod allocate;
mod beside;
mod bounded;
mod error;
mod execute;
mod host;
mod inputs;
pub mod layout;
mod lives;
mod load;
mod machine;
mod memory;
pub mod number;
mod ops;
mod plan;
pub mod report;
mod run;
mod sample;
pub mod time;
pub mod traffic;

pub use beside::{Companion, Escape, OpError};
pub use bounded::{Bound, Bounded};
pub use error::{SimError, Site};
pub use host::{Elements, HostArray, bf16_from_f32, bf16_to_f32, dl16_value, f16_from_f32, f16_to_f32};
pub use inputs::{Draw, drawn, seeded};
pub use report::Report;
pub use run::{Accompanied, Companions, LxImage, Outcome, RunOptions, Simulation};
pub use traffic::Traffic;
