#![doc = include_str!("../README.md")]

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
    digits::ShadowResult,
    instantiations::SimulatedArithmetic,
    interval_arithmetic::{BoundedNumber, IntervalArithmetic},
    lx_image::{LxImage, LxRange},
    shadow_memory::ShadowArithmetic,
    simulation::{RunOptions, RunOutcome, RunWithShadow, Simulation},
};
pub use traffic::Traffic;
