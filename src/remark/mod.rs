//! Optimization remarks for MLIR's remark engine: decisions and their reasons. `spyre-opt --remarks-filter=.*` prints
//! them with locations, or writes them as YAML. They are derived from the IR, as the report is.

pub(crate) mod emit_remarks;
