//! MLIR's JIT on arrays.

use super::{Module, text::string_ref};
use mlir_sys::{MlirDialectRegistry, MlirExecutionEngine, MlirModule, mlirExecutionEngineDestroy, mlirExecutionEngineInvokePacked};
use std::ffi::c_void;

unsafe extern "C" {
    pub(super) fn spyreRegisterReferenceDialects(registry: MlirDialectRegistry);
    fn spyreReferenceCreate(module: MlirModule) -> MlirExecutionEngine;
    fn spyreReferenceGuard();
    fn spyreReferenceEndGuard();
    fn spyreReferenceWiden(module: MlirModule, approximated: bool) -> bool;
    fn spyreReferenceHasApproximated(module: MlirModule) -> bool;
}

/// Makes f64 of all floating-point numbers of a module; if `approximated`, with the approximations that the compiler states for its
/// functions. False if what comes of it is not valid, which has been reported.
#[must_use]
pub fn widen(module: &Module<'_>, approximated: bool) -> bool {
    // SAFETY: the module is alive, and nobody holds one of its operations: the caller borrows it afresh.
    unsafe { spyreReferenceWiden(module.raw(), approximated) }
}

/// Whether a module has functions for which the compiler states an approximation.
#[must_use]
pub fn has_approximated(module: &Module<'_>) -> bool {
    // SAFETY: the module is alive.
    unsafe { spyreReferenceHasApproximated(module.raw()) }
}

/// A row-major array in memory that compiled code may read and write.
#[derive(Clone, Debug)]
pub struct JitArray {
    shape: Vec<i64>,
    n_bytes: usize,
    /// Words, because compiled code expects elements to be aligned.
    words: Vec<u64>,
}

impl JitArray {
    /// An array of the given sizes with the given content.
    #[must_use]
    pub fn new(shape: &[i64], bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        };
        // One word more: an empty array still has an address.
        let words = bytes.chunks(8).map(word).chain([0]).collect();
        Self { shape: shape.to_vec(), n_bytes: bytes.len(), words }
    }

    /// The content.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.truncate(self.n_bytes);
        bytes
    }

    /// MLIR's descriptor of a row-major array: two pointers, the offset, sizes, strides.
    fn descriptor(&mut self) -> Vec<i64> {
        let address = self.words.as_mut_ptr() as i64;
        let mut strides = vec![1; self.shape.len()];
        for dim in (1..self.shape.len()).rev() {
            strides[dim - 1] = strides[dim] * self.shape[dim];
        }
        [address, address, 0].into_iter().chain(self.shape.iter().copied()).chain(strides).collect()
    }
}

/// A module that runs on this machine.
pub struct Jit {
    engine: MlirExecutionEngine,
}

impl Jit {
    /// Lowers a module of `linalg` on tensors in place and compiles it; none if that failed, which has been reported.
    #[must_use]
    pub fn new(module: &Module<'_>) -> Option<Self> {
        // SAFETY: the module is alive; the engine keeps what it needs of it.
        let engine = unsafe { spyreReferenceCreate(module.raw()) };
        (!engine.ptr.is_null()).then_some(Self { engine })
    }

    /// Calls a function with its arguments, then its results, which it overwrites. A signal ends the process with exit code 1: what runs is
    /// somebody's program.
    ///
    /// # Errors
    /// If the module has no such function.
    pub fn call(&self, function: &str, arrays: &mut [JitArray]) -> Result<(), String> {
        let mut descriptors: Vec<Vec<i64>> = arrays.iter_mut().map(JitArray::descriptor).collect();
        let mut pointers: Vec<*mut c_void> = descriptors.iter_mut().map(|descriptor| descriptor.as_mut_ptr().cast()).collect();
        // The packed form takes the address of each argument, and an argument is the address of a descriptor.
        let mut packed: Vec<*mut c_void> = pointers.iter_mut().map(|pointer| std::ptr::from_mut(pointer).cast()).collect();
        // The C API looks for the C wrapper, `_mlir_ciface_` and the name.
        // SAFETY: the caller gives one array per argument and result, each as large as its type says; all of them outlive the call.
        let done = unsafe {
            spyreReferenceGuard();
            let done = mlirExecutionEngineInvokePacked(self.engine, string_ref(function), packed.as_mut_ptr());
            spyreReferenceEndGuard();
            done
        };
        if done.value == 1 { Ok(()) } else { Err(format!("the compiled module has no function '{function}'")) }
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe { mlirExecutionEngineDestroy(self.engine) }
    }
}
