//! Checks that the import preserves semantics: compares the imported program in f64 with MLIR's JIT of the original,
//! whose floats are f64, too.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use element::F64Arithmetic;
use machine::ElementType;
use referee::{ArrayElements, HostArray};
use spyre_compiler::{
    interpret::{EvalArray, EvalFunction, evaluate_function, read_functions},
    pipeline::{CompileOptions, Phase, PlannerName},
    reference::{ALLOWED_DIFFERENCE, ReferenceResults},
    validate::draw_arguments,
};
use std::{fs, path::PathBuf};

/// Factor by which the allowed error grows in programs with functions that the import approximates.
const APPROXIMATION_FACTOR: f64 = 3.0;

/// Weight of the upper digits of results (`digit_base` in `program.json`).
const DIGIT_BASE: f64 = 1024.0;

/// Returns distinct numbers of both signs around an offset; index arguments get those of a random draw.
fn inputs(function: &EvalFunction<'_>) -> Vec<EvalArray<f64>> {
    let number = |position: usize, index: usize| ((index * 37 + position * 11) % 199) as f64 / 100.0 - 0.7;
    let of = |(position, array): (usize, EvalArray<_>)| match array {
        EvalArray::Positions(positions) => EvalArray::Positions(positions),
        EvalArray::Numbers(elements) => {
            let is_truth = function.values[function.body.arguments[position]].element == ElementType::Bool;
            let element = |index: usize| if is_truth { (index % 3 % 2) as f64 } else { number(position, index) };
            EvalArray::numbers((0..elements.len()).map(element).collect())
        }
    };
    draw_arguments(function, 0).into_iter().enumerate().map(of).collect()
}

/// Converts an argument for the JIT, which reads every floating-point argument as f64.
pub(crate) fn to_host_array(function: &EvalFunction<'_>, position: usize, array: &EvalArray<f64>) -> HostArray {
    let tensor = &function.values[function.body.arguments[position]];
    let shape = tensor.shape.iter().map(|size| i64::try_from(*size).unwrap()).collect();
    let elements = match (array, tensor.element) {
        (EvalArray::Positions(positions), ElementType::I8) => {
            ArrayElements::I8(positions.iter().map(|position| i8::try_from(position.unwrap()).unwrap()).collect())
        }
        (EvalArray::Positions(positions), ElementType::I32) => {
            ArrayElements::I32(positions.iter().map(|position| i32::try_from(position.unwrap()).unwrap()).collect())
        }
        (EvalArray::Positions(positions), _) => {
            ArrayElements::I64(positions.iter().map(|position| position.unwrap()).collect())
        }
        (EvalArray::Numbers(numbers), ElementType::Bool) => {
            ArrayElements::Bool(numbers.iter().map(|number| u8::from(*number != 0.0)).collect())
        }
        (EvalArray::Numbers(numbers), _) => ArrayElements::F64(numbers.to_vec()),
    };
    HostArray { shape, elements }
}

pub(crate) fn to_numbers(array: &HostArray) -> Vec<f64> {
    (0..array.elements.len()).map(|index| array.elements.get(index)).collect()
}

/// Returns the numbers of a result. Combines the digits of a two-digit result, the upper digits first, as its caller
/// does.
fn join_digits(found: &[f64], num_expected: usize) -> Vec<f64> {
    if found.len() != 2 * num_expected {
        return found.to_vec();
    }
    let (upper, lower) = found.split_at(num_expected);
    upper.iter().zip(lower).map(|(upper, lower)| upper * DIGIT_BASE + lower).collect()
}

/// Compares one program; returns the message of a difference.
fn check(path: &str) -> Result<(), String> {
    let session = spyre_compiler::pipeline::create_session();
    let source = session.open_source(path)?;
    let mut module = source.parse().ok_or("is not parsed")?;
    // Without a planner no function is replaced by an approximating chain of ops.
    let options = CompileOptions { lx_planner: Some(PlannerName::none()), ..CompileOptions::default() };
    if !module.run_pipeline(&options.pipeline([Phase::Import], "")) {
        return Err("is not imported".to_owned());
    }
    let functions = read_functions(&module).map_err(|(_, message)| message)?;
    let [function] = functions.as_slice() else { return Err("has not one function".to_owned()) };
    let given = inputs(function);
    let hosts: Vec<HostArray> =
        given.iter().enumerate().map(|(position, array)| to_host_array(function, position, array)).collect();
    let found = evaluate_function(function, given, &F64Arithmetic).map_err(|fault| fault.to_string())?;
    let reference = ReferenceResults::compute(path, "", &hosts, &|_| {})?;
    for (result, (found, expected)) in found.iter().zip(&reference.results).enumerate() {
        let EvalArray::Numbers(found) = found else { continue };
        let expected = to_numbers(expected);
        let found = join_digits(found, expected.len());
        let finite = expected.iter().filter(|number| number.is_finite());
        let scale = (finite.clone().map(|number| number * number).sum::<f64>() / finite.count().max(1) as f64).sqrt();
        let others = reference.approximated_result(result).into_iter().map(to_numbers);
        let effect = others.map(|other| {
            other.iter().zip(&expected).map(|(other, expected)| (other - expected).abs()).fold(0.0, f64::max)
        });
        let effect = APPROXIMATION_FACTOR * effect.fold(0.0, f64::max);
        assert_eq!(found.len(), expected.len(), "{path}: result {result}");
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let is_same = found == expected || (found.is_nan() && expected.is_nan());
            let off = (found - expected).abs();
            if !is_same && (off.is_nan() || off > ALLOWED_DIFFERENCE * (scale + expected.abs()) + effect) {
                return Err(format!("element {index} of result {result} is {found:e}, the JIT's {expected:e}"));
            }
        }
    }
    Ok(())
}

/// Reads the programs of a folder, split by file.
fn read_programs(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    paths.sort();
    let parts = |path: PathBuf| {
        let (name, text) =
            (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap());
        text.split("// -----")
            .enumerate()
            .map(|(part, text)| (format!("{name}_{part}"), text.to_owned()))
            .collect::<Vec<_>>()
    };
    paths.into_iter().flat_map(parts).collect()
}

#[test]
fn matches_mlir_semantics_of_imported_programs() {
    let place = tempfile::tempdir().unwrap();
    let (mut wrong, mut num_right) = (Vec::new(), 0);
    for (name, text) in read_programs("test/execution") {
        // Skipped: files with several programs, which the tools split; scopes, which are not part of MLIR; functions
        // `exp`, which the JIT resolves to its library's; programs whose check must report an error; and tensors
        // without elements, which are replaced after the import.
        let is_other = text.matches("func.func").count() != 1 || text.contains("//---") || text.contains("spyre.");
        let is_other = is_other || text.contains("RUN: not spyre-run") || text.contains("tensor<0x");
        if is_other || text.contains("func.func @exp(") {
            continue;
        }
        let path = place.path().join(format!("{name}.mlir"));
        fs::write(&path, text).unwrap();
        match check(path.to_str().unwrap()) {
            Ok(()) => num_right += 1,
            Err(message) => wrong.push(format!("{name}: {message}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(num_right >= 8, "{num_right} programs");
}
