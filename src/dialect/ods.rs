//! Names of our ops and attributes. `build.rs` generates them from the `.td` files, so a name that ODS lacks does not
//! compile.

include!(concat!(env!("OUT_DIR"), "/ods.rs"));
