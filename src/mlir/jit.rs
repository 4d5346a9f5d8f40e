//! Runs functions on arrays with MLIR's JIT.

use super::{BlockExt, Module, OpExt, TensorType, Type, TypeLike, Value, ValueLike, text::string_ref};
use mlir_sys::{
    MlirExecutionEngine, MlirModule, mlirExecutionEngineDestroy, mlirExecutionEngineInvokePacked,
    mlirFloatTypeGetWidth, mlirIntegerTypeGetWidth, mlirTypeIsAFloat, mlirTypeIsAInteger,
};
use std::ffi::c_void;

unsafe extern "C" {
    fn spyreReferenceCreate(module: MlirModule, optimizes: bool) -> MlirExecutionEngine;
    fn spyreReferenceBeginGuard();
    fn spyreReferenceEndGuard();
    fn spyreReferenceWiden(module: MlirModule, rounds: bool, approximated: bool, pattern: u32) -> bool;
    fn spyreReferenceGetNumApproximated(module: MlirModule) -> u32;
}

/// Rounding of a module that computes in f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidenMode {
    /// Without rounding, as far as f64 allows.
    Exact,
    /// Each result is rounded to the type that it had, and sums at their end.
    RoundedAsWritten,
    /// Functions with a stated approximation use that approximation; function i uses one with the opposite error if i
    /// and this pattern have an odd number of bits in common.
    Approximated(u32),
}

/// Widens all floating-point numbers of a module to f64. Returns false if the result is invalid, which has been
/// reported.
#[must_use]
pub fn widen(module: &Module<'_>, how: WidenMode) -> bool {
    let (is_approximated, pattern) =
        if let WidenMode::Approximated(pattern) = how { (true, pattern) } else { (false, 0) };
    // SAFETY: the module is alive, and no handle to one of its operations exists: the caller has just borrowed it.
    unsafe { spyreReferenceWiden(module.raw(), how == WidenMode::RoundedAsWritten, is_approximated, pattern) }
}

/// Returns the number of functions in a module for which the compiler states an approximation.
#[must_use]
pub fn num_approximated_functions(module: &Module<'_>) -> u32 {
    // SAFETY: the module is alive.
    unsafe { spyreReferenceGetNumApproximated(module.raw()) }
}

/// Row-major array in memory that compiled code may read and write.
#[derive(Clone, Debug)]
pub struct JitArray {
    shape: Vec<i64>,
    num_bytes: usize,
    /// Stored as words, because compiled code expects aligned elements.
    words: Vec<u64>,
}

impl JitArray {
    /// Creates an array with the given sizes and content.
    #[must_use]
    pub fn new(shape: &[i64], bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        };
        // One extra word, so that an empty array has an address as well.
        let words = bytes.chunks(8).map(word).chain([0]).collect();
        Self { shape: shape.to_vec(), num_bytes: bytes.len(), words }
    }

    /// Returns the content.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.truncate(self.num_bytes);
        bytes
    }

    /// Returns MLIR's descriptor of a row-major array: two pointers, the offset, sizes, strides.
    fn descriptor(&mut self) -> Vec<i64> {
        let address = self.words.as_mut_ptr() as i64;
        let mut strides = vec![1; self.shape.len()];
        for dim in (1..self.shape.len()).rev() {
            strides[dim - 1] = strides[dim] * self.shape[dim];
        }
        [address, address, 0].into_iter().chain(self.shape.iter().copied()).chain(strides).collect()
    }
}

/// Function compiled for this machine.
pub struct JitFunction {
    engine: MlirExecutionEngine,
    name: String,
    /// Whether a signal during the call is attributed to the function and ends the process.
    guards: bool,
    /// Shape and byte size of each argument, followed by those of each result.
    arrays: Vec<(Vec<i64>, usize)>,
}

impl JitFunction {
    /// Lowers the module of a function of tensors in place and compiles it. `optimizes` enables LLVM's optimizer, whose
    /// time pays only for long runs.
    ///
    /// # Errors
    /// If there is no such function, or if it takes or returns anything but tensors of numbers. The message is empty if
    /// MLIR has reported the error.
    pub fn new(module: &Module<'_>, function: &str, optimizes: bool) -> Result<Self, String> {
        let arrays = read_array_types(module, function)?;
        // SAFETY: the module is alive; the engine copies everything that it needs of it.
        let engine = unsafe { spyreReferenceCreate(module.raw(), optimizes) };
        if engine.ptr.is_null() {
            Err(String::new())
        } else {
            Ok(Self { engine, name: function.to_owned(), guards: module.session().is_tool_session(), arrays })
        }
    }

    /// Calls the function with its arguments followed by its results, which it overwrites. In a guarded session, a
    /// signal ends the process with exit code 1, because the code is the user's program.
    ///
    /// # Errors
    /// If the arrays are not those that the function takes and returns.
    pub fn call(&self, arrays: &mut [JitArray]) -> Result<(), String> {
        let expected = self.arrays.iter().map(|(shape, num_bytes)| (&shape[..], *num_bytes));
        if !expected.eq(arrays.iter().map(|array| (&array.shape[..], array.num_bytes))) {
            return Err(format!("'{}' does not take and return these arrays", self.name));
        }
        let mut descriptors: Vec<Vec<i64>> = arrays.iter_mut().map(JitArray::descriptor).collect();
        let mut pointers: Vec<*mut c_void> =
            descriptors.iter_mut().map(|descriptor| descriptor.as_mut_ptr().cast()).collect();
        // The packed form takes the address of each argument, and an argument is the address of a descriptor.
        let mut packed: Vec<*mut c_void> =
            pointers.iter_mut().map(|pointer| std::ptr::from_mut(pointer).cast()).collect();
        // The C API calls the C wrapper, named `_mlir_ciface_` and the function's name. SAFETY: there is one array per
        // argument and result, each as large as its type requires; all of them outlive the call.
        let done = unsafe {
            if self.guards {
                spyreReferenceBeginGuard();
            }
            let done = mlirExecutionEngineInvokePacked(self.engine, string_ref(&self.name), packed.as_mut_ptr());
            if self.guards {
                spyreReferenceEndGuard();
            }
            done
        };
        if done.value == 1 { Ok(()) } else { Err(format!("the compiled module has no function '{}'", self.name)) }
    }
}

/// Returns the shapes and byte sizes of the arrays that a function takes and returns.
fn read_array_types(module: &Module<'_>, name: &str) -> Result<Vec<(Vec<i64>, usize)>, String> {
    let mut functions =
        module.op().body_ops().into_iter().filter(|op| op.is("func.func") && op.text_attr("sym_name") == name);
    let body =
        functions.find_map(|function| function.body()).ok_or_else(|| format!("there is no function '{name}'"))?;
    let returned = body.ops().last().map(|op| op.inputs()).unwrap_or_default();
    let array = |value: Value<'_>| {
        let sized = |tensor: TensorType<'_>| {
            let num_elements = usize::try_from(tensor.shape.iter().product::<i64>()).ok()?;
            Some((tensor.shape, num_elements * element_bytes(tensor.element)?))
        };
        TensorType::from_type(value.r#type())
            .and_then(sized)
            .ok_or_else(|| format!("'{name}' takes or returns {}, not a tensor of numbers", value.r#type()))
    };
    body.args().into_iter().chain(returned).map(array).collect()
}

/// Returns the number of bytes per element in compiled code.
fn element_bytes(element: Type<'_>) -> Option<usize> {
    // SAFETY: widths are read only from types that have one.
    let bits = unsafe {
        let raw = element.to_raw();
        match () {
            () if mlirTypeIsAInteger(raw) => mlirIntegerTypeGetWidth(raw),
            () if mlirTypeIsAFloat(raw) => mlirFloatTypeGetWidth(raw),
            () => return None,
        }
    };
    usize::try_from(bits.div_ceil(8)).ok()
}

impl Drop for JitFunction {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe { mlirExecutionEngineDestroy(self.engine) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::Session;

    #[test]
    fn accepts_only_arrays_of_the_function() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("twice.mlir");
        let program = "func.func @twice(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
          %empty = tensor.empty() : tensor<2x3xf64>
          %y = linalg.add ins(%x, %x : tensor<2x3xf64>, tensor<2x3xf64>) outs(%empty : tensor<2x3xf64>) -> tensor<2x3xf64>
          return %y : tensor<2x3xf64>
        }";
        std::fs::write(&path, program).unwrap();
        let session = Session::new_for_reference();
        let source = session.open_source(path.to_str().unwrap()).unwrap();
        let module = source.parse().unwrap();
        assert_eq!(JitFunction::new(&module, "thrice", true).err().unwrap(), "there is no function 'thrice'");
        let twice = JitFunction::new(&module, "twice", false).unwrap();
        let array =
            |shape: &[i64], num_elements: usize| JitArray::new(shape, &1.5_f64.to_ne_bytes().repeat(num_elements));
        let good = || array(&[2, 3], 6);
        for mut wrong in [vec![], vec![good()], vec![good(), array(&[3, 2], 6)], vec![good(), array(&[2, 3], 5)]] {
            assert_eq!(twice.call(&mut wrong).unwrap_err(), "'twice' does not take and return these arrays");
        }
        let mut arrays = [good(), good()];
        twice.call(&mut arrays).unwrap();
        assert_eq!(arrays[1].bytes(), 3.0_f64.to_ne_bytes().repeat(6));
    }
}
