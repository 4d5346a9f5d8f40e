//! The machine that a compiler compiles for.

use std::path::PathBuf;

/// Machine to compile for: a description, and limits on the cores and the LX of it that a program may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    description: Option<PathBuf>,
    num_cores: Option<i64>,
    lx_bytes: Option<i64>,
}

impl Target {
    /// Returns the Spyre card: 32 cores, each with 1,625,344 usable bytes of LX.
    #[must_use]
    pub fn spyre() -> Self {
        Self::default()
    }

    /// Returns the machine of a JSON description, the file of `spyre-compile --target`. The file is read by each
    /// compilation.
    #[must_use]
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        Self { description: Some(path.into()), ..Self::default() }
    }

    /// Limits the number of cores.
    #[must_use]
    pub const fn with_cores(mut self, num_cores: i64) -> Self {
        self.num_cores = Some(num_cores);
        self
    }

    /// Limits the bytes of LX per core.
    #[must_use]
    pub const fn with_lx_bytes(mut self, bytes: i64) -> Self {
        self.lx_bytes = Some(bytes);
        self
    }

    /// Returns the options of `spyre-compile` that describe the machine.
    pub(crate) fn options(&self) -> Vec<(String, String)> {
        let description = self.description.iter().map(|path| ("target", path.to_string_lossy().into_owned()));
        let cores = self.num_cores.iter().map(|cores| ("cores", cores.to_string()));
        let lx_bytes = self.lx_bytes.iter().map(|bytes| ("lx-bytes", bytes.to_string()));
        description.chain(cores).chain(lx_bytes).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
