//! Functions that `spyre_mlir` (Python) calls: thin wrappers around the compiler, the simulator, the planner and the
//! tools. User-facing Python texts, exceptions and arrays are made in `python/spyre_mlir`.

#[cfg(feature = "mlir")]
mod compile;
mod plan;
mod simulate;
mod tool;
mod work;

use pyo3::pymodule;

/// The native part of `spyre_mlir`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[cfg(feature = "mlir")]
    #[pymodule_export]
    use super::compile::compile;
    #[pymodule_export]
    use super::plan::plan;
    #[pymodule_export]
    use super::simulate::Simulation;
    #[pymodule_export]
    use super::tool::{run_tool, write_manual};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
