//! Tests that need no MLIR, as one program, also with `cargo test --no-default-features`:
//! `cargo test --test plain -- cost::` runs those of `test/cost.rs`.

mod common {
    pub(crate) mod bless;
    pub(crate) mod counted;
    mod places;

    pub(crate) use places::{golden_cases, shared, shared_golden_cases};
}

mod check_bundle;
mod cost;
mod element_order;
mod narrow_products;
mod pages;
mod peers;
mod read_back;
mod released_format;
mod shared_files;
mod shuffles;
mod sim_families;
mod sim_golden;
mod spyre_plan;
mod without_mlir;
mod workdiv;
