//! The numeric reference: the original module, run by MLIR's own JIT through upstream passes.
//!
//! Nothing of our compiler takes part, so agreement with the simulator means that both are right or wrong in unrelated ways. The JIT
//! computes in the types that the program says: IEEE half precision where it says `f16`, f32 where a producer widened.

mod compare;

pub use compare::{Comparison, Worst, compare};

use crate::{
    hint::flatten_hints::dissolve,
    mlir::{BlockExt, Jit, JitArray, Op, OpExt, Session, TensorType, ValueLike},
    sim::{Elements, HostArray},
};

/// Runs the module in `path` on `inputs`, one per argument of its function, and gives its results.
///
/// # Errors
/// A message about a module that cannot be read or inputs that do not fit; an empty one if MLIR has reported the error.
pub fn run(path: &str, inputs: &[HostArray]) -> Result<Vec<HostArray>, String> {
    let session = Session::with_reference();
    let source = session.open(path).map_err(|reason| format!("cannot read '{path}': {reason}"))?;
    let module = source.parse().ok_or_else(String::new)?;
    let mut functions = module.op().body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some());
    let function = functions.find(|op| op.text_attr("sym_visibility") != "private");
    let function = function.ok_or_else(|| format!("'{path}' has no public function to run"))?;
    leave_upstream_only(module.op()).map_err(|found| format!("'{path}' {found}"))?;
    let name = function.text_attr("sym_name").to_owned();
    check_inputs(function, inputs)?;
    let results = result_types(function)?;
    let mut arrays: Vec<JitArray> = inputs.iter().map(|input| JitArray::new(&input.shape, &bytes_of(&input.elements))).collect();
    arrays.extend(results.iter().map(|result| JitArray::new(&result.shape, &bytes_of(&result.elements))));
    let jit = Jit::new(&module).ok_or_else(String::new)?;
    jit.call(&name, &mut arrays)?;
    let written = arrays.into_iter().skip(inputs.len());
    Ok(results.into_iter().zip(written).map(|(result, array)| from_bytes(result, &array.bytes())).collect())
}

/// Dissolves hint scopes and takes away what only our compiler reads: the numbers are the same without.
///
/// # Errors
/// The first op of one of our dialects that computes.
fn leave_upstream_only(module: Op<'_>) -> Result<(), String> {
    // Scopes within scopes come behind those around them.
    module.nested().into_iter().rev().filter(|op| op.is("spyre.hint")).for_each(dissolve);
    for op in module.nested() {
        let name = op.full_name();
        if name.starts_with("spyre.") || name.starts_with("sdsc") {
            return Err(format!(
                "has '{name}' at {}: MLIR's JIT runs linalg on tensors, so check against the program before it was imported",
                op.loc()
            ));
        }
        for attribute in ["spyre.target", "spyre.phase", "spyre.dim_sizes", "spyre.symbols"] {
            op.remove_attr(attribute);
        }
        if op.is("func.func") {
            // Names of dimensions, and what other front ends note: the JIT is given whole arrays.
            op.remove_attr("arg_attrs");
        }
    }
    Ok(())
}

fn check_inputs(function: Op<'_>, inputs: &[HostArray]) -> Result<(), String> {
    let arguments = function.body().map(BlockExt::args).unwrap_or_default();
    if arguments.len() != inputs.len() {
        return Err(format!("the module takes {} arguments, the bundle {}", arguments.len(), inputs.len()));
    }
    for (position, (argument, input)) in arguments.iter().zip(inputs).enumerate() {
        let expected = argument.r#type();
        let found = TensorType::of(expected).filter(|tensor| tensor.shape == input.shape);
        if found.is_none_or(|tensor| tensor.element.to_string() != input.elements.type_name()) {
            let found = input.elements.type_name();
            return Err(format!("argument {position} of the module is {expected}, that of the bundle {:?} of {found}", input.shape));
        }
    }
    Ok(())
}

/// Arrays of zeros of the types that the function returns.
fn result_types(function: Op<'_>) -> Result<Vec<HostArray>, String> {
    let terminator = function.body_ops().pop().ok_or("the function is empty")?;
    let array = |value: crate::mlir::Value<'_>| {
        let tensor = TensorType::of(value.r#type()).ok_or_else(|| format!("the function returns {}", value.r#type()))?;
        let length: i64 = tensor.shape.iter().product();
        let elements = Elements::zeros(&tensor.element.to_string(), usize::try_from(length).unwrap_or(0))?;
        Ok(HostArray { shape: tensor.shape, elements })
    };
    terminator.inputs().into_iter().map(array).collect()
}

fn bytes_of(elements: &Elements) -> Vec<u8> {
    match elements {
        Elements::F16(values) | Elements::Bf16(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        Elements::F32(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        Elements::I32(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        Elements::I64(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        Elements::Bool(values) => values.clone(),
    }
}

/// The array with the elements that compiled code has written.
fn from_bytes(array: HostArray, bytes: &[u8]) -> HostArray {
    let halves = || bytes.chunks_exact(2).map(|chunk| u16::from_ne_bytes([chunk[0], chunk[1]])).collect();
    let words = || bytes.chunks_exact(4).map(|chunk| [chunk[0], chunk[1], chunk[2], chunk[3]]);
    let elements = match array.elements {
        Elements::F16(_) => Elements::F16(halves()),
        Elements::Bf16(_) => Elements::Bf16(halves()),
        Elements::F32(_) => Elements::F32(words().map(f32::from_ne_bytes).collect()),
        Elements::I32(_) => Elements::I32(words().map(i32::from_ne_bytes).collect()),
        Elements::I64(_) => {
            let longs = bytes.chunks_exact(8).map(|chunk| chunk.try_into().map_or(0, i64::from_ne_bytes));
            Elements::I64(longs.collect())
        }
        Elements::Bool(_) => Elements::Bool(bytes.to_vec()),
    };
    HostArray { shape: array.shape, elements }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstream_passes_run_a_sum_in_f16() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("sum.mlir");
        let program = "func.func @sum(%x: tensor<2x3xf16>, %y: tensor<2x3xf16>) -> tensor<2x3xf16> {
          %empty = tensor.empty() : tensor<2x3xf16>
          %z = linalg.add ins(%x, %y : tensor<2x3xf16>, tensor<2x3xf16>) outs(%empty : tensor<2x3xf16>) -> tensor<2x3xf16>
          return %z : tensor<2x3xf16>
        }";
        std::fs::write(&path, program).unwrap();
        let array = |first: u16| {
            let halves = (0..6).map(|step| crate::sim::f16_from_f32(f32::from(first + step))).collect();
            HostArray { shape: vec![2, 3], elements: Elements::F16(halves) }
        };
        let results = run(path.to_str().unwrap(), &[array(1), array(10)]).unwrap();
        let found: Vec<f64> = (0..6).map(|index| results[0].elements.get(index)).collect();
        assert_eq!(found, [11.0, 13.0, 15.0, 17.0, 19.0, 21.0]);
        let refused = run(path.to_str().unwrap(), &[array(1)]).unwrap_err();
        assert_eq!(refused, "the module takes 2 arguments, the bundle 1");
    }
}
