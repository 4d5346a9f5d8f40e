//! Tests that need the compiler, as one program: `cargo test --test compiler -- golden::` runs those of
//! `test/golden.rs`.

#[allow(clippy::unwrap_used, reason = "tests over files")]
mod common {
    pub(crate) mod bless;
    pub(crate) mod cases;
    pub(crate) mod counted;
    #[path = "../../benches/granite.rs"]
    pub(crate) mod granite;
    pub(crate) mod listen;
    pub(crate) mod mutation;
    mod places;
    pub(crate) mod sample;
    pub(crate) mod schemas;
    pub(crate) mod tiled;

    pub(crate) use places::{golden_cases, shared, shared_golden_cases};
}

mod bridge;
mod causes;
mod constants;
mod conventions;
mod convolutions;
mod editor;
mod emission;
mod errors;
mod expansions;
mod faults;
mod forced_kernels;
mod functions;
mod golden;
mod granite;
mod help;
mod hostile;
mod import_exact;
mod index_lists;
mod joint;
mod json;
mod known_programs;
mod memory;
mod misread;
mod mistakes;
mod models;
mod mutants;
mod nan;
mod options;
mod page;
mod phases;
mod pipeline;
mod plans;
mod plugin;
mod prices;
mod process;
mod random;
mod random_integers;
mod random_kernels;
mod random_loops;
mod refusals;
mod report;
mod schema;
mod search_oracle;
mod snapshot;
mod softmax_traffic;
mod spyre_lsp_server;
mod supported_ops;
mod swapped;
mod symbolic_loops;
mod threads;
mod tidy;
mod tile_search;
mod tiles;
mod tune;
mod tutorial;
mod validate;
mod validated;
