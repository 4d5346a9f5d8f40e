//! The command-line tools, so that one library holds them all.

use pyo3::{
    exceptions::{PyOSError, PyValueError},
    prelude::*,
};
use spyre_compiler::tool::{spyre_plan, spyre_run, spyre_translate};
use std::{ffi::OsString, path::PathBuf};

/// Runs a tool with the words behind its name, and gives its exit code.
///
/// # Errors
/// When there is no such tool in this build.
#[pyfunction]
pub(crate) fn run_tool(py: Python<'_>, name: String, words: Vec<OsString>) -> PyResult<i32> {
    let words = || std::iter::once(OsString::from(&name)).chain(words.clone());
    py.detach(|| match name.as_str() {
        #[cfg(feature = "mlir")]
        "spyre-compile" => Ok(spyre_compiler::tool::spyre_compile::main(words()).into()),
        #[cfg(feature = "mlir")]
        "spyre-lsp-server" => Ok(spyre_compiler::tool::spyre_lsp_server::main(words())),
        #[cfg(feature = "mlir")]
        "spyre-opt" => Ok(spyre_compiler::tool::spyre_opt::main(words())),
        "spyre-plan" => Ok(spyre_plan::main(words()).into()),
        #[cfg(feature = "mlir")]
        "spyre-reduce" => Ok(spyre_compiler::tool::spyre_reduce::main(words()).into()),
        "spyre-run" => Ok(spyre_run::main(words()).into()),
        "spyre-translate" => Ok(spyre_translate::main(words()).into()),
        #[cfg(feature = "mlir")]
        "spyre-tune" => Ok(spyre_compiler::tool::spyre_tune::main(words()).into()),
        other => Err(PyValueError::new_err(format!("there is no tool '{other}' in this build"))),
    })
}

/// Writes the man pages of all tools into a folder.
///
/// # Errors
/// Raises `OSError` if a page cannot be written.
#[pyfunction]
pub(crate) fn write_manual(folder: PathBuf) -> PyResult<()> {
    let write = |command| spyre_compiler::tool::manual::write(command, &folder);
    spyre_compiler::tool::commands::tool_commands().into_iter().try_for_each(write).map_err(PyOSError::new_err)
}
