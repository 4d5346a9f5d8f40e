//! What was decided, and why not otherwise, for MLIR's remark engine: `spyre-opt --remarks-filter=.*` prints it with the places of the
//! program, or writes it as YAML. Everything stands in the IR, where the report reads it, too.

pub(crate) mod emit_remarks;
