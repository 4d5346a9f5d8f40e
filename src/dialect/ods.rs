//! The names of our ops and attributes, made by `build.rs` from the `.td` files: a name that ODS does not have does not
//! compile.

include!(concat!(env!("OUT_DIR"), "/ods.rs"));
