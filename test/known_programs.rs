//! Programs whose arguments are all compile-time constants: the programs of `test/execution` with constants in place of
//! their arguments. They are folded or compiled, and never crash the compiler.
//!
//! One program in `SAMPLE_INTERVAL` runs by default; `SPYRE_KNOWN=1 cargo test --test compiler -- known_programs::`
//! runs all of them.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::tiled::{ExecutionFailure, check_against_jit};
use half::{bf16, f16};
use spyre_compiler::pipeline::{CompileOptions, PlannerName};
use std::{env, fmt::Write as _, fs, path::PathBuf};

/// One program in this many runs by default, a different one for each kind of numbers.
const SAMPLE_INTERVAL: usize = 10;

/// Maximum number of elements of all arguments; more make a long text.
const MAX_ELEMENTS: usize = 1 << 16;

/// Kind of numbers in the constants.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ConstantNumbers {
    /// Distinct numbers.
    Different,
    /// One number in all elements, which the import represents without its shape.
    Same,
    /// Different numbers for the first argument, and one repeated number for all others.
    Mixed,
}

/// Argument in the program text.
struct TensorArgument {
    name: String,
    tensor: String,
    shape: Vec<usize>,
    element: String,
}

/// Returns the end of the bracketed text that begins before `text`, for any kind of brackets.
fn find_end_of_brackets(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, letter)| {
        match letter {
            '(' | '{' | '[' | '<' => depth += 1,
            '>' if text[..at].ends_with('-') => {}
            ')' | '}' | ']' | '>' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// Parses the arguments of a function. Returns `None` unless all are tensors of plain elements.
fn parse_arguments(text: &str) -> Option<Vec<TensorArgument>> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((_, after)) = rest.split_once('%') {
        let (name, after) = after.split_once(": tensor<")?;
        let end = find_end_of_brackets(after)?;
        let tensor = &after[..end];
        let mut sizes: Vec<&str> = tensor.split('x').collect();
        let element = sizes.pop()?.to_owned();
        let shape = sizes.iter().map(|size| size.parse().ok()).collect::<Option<Vec<usize>>>()?;
        found.push(TensorArgument { name: name.to_owned(), tensor: format!("tensor<{tensor}>"), shape, element });
        rest = &after[end..];
        if rest.starts_with(" {") {
            return None;
        }
    }
    Some(found)
}

/// Returns an element of a constant: its text, and its bytes.
fn encode_element(kind: &str, position: usize, index: usize) -> Option<(String, Vec<u8>)> {
    let number = ((index * 37 + position * 11) % 199) as f32 / 100.0 - 0.7;
    let small = (index * 7 + position) % 3;
    Some(match kind {
        "f16" => (format!("{:?}", f16::from_f32(number).to_f32()), f16::from_f32(number).to_le_bytes().to_vec()),
        "bf16" => (format!("{:?}", bf16::from_f32(number).to_f32()), bf16::from_f32(number).to_le_bytes().to_vec()),
        "f32" => (format!("{number:?}"), number.to_le_bytes().to_vec()),
        "i1" => (if small == 1 { "true" } else { "false" }.to_owned(), Vec::new()),
        "i8" => (small.to_string(), vec![small as u8]),
        "i32" => (small.to_string(), (small as i32).to_le_bytes().to_vec()),
        "i64" | "index" => (small.to_string(), (small as i64).to_le_bytes().to_vec()),
        _ => return None,
    })
}

/// Formats booleans in nested brackets.
fn format_nested(shape: &[usize], next: &mut impl Iterator<Item = String>) -> String {
    let Some((&size, rest)) = shape.split_first() else { return next.next().unwrap() };
    format!("[{}]", (0..size).map(|_| format_nested(rest, next)).collect::<Vec<_>>().join(", "))
}

impl TensorArgument {
    fn constant(&self, position: usize, numbers: ConstantNumbers) -> Option<String> {
        let num_elements: usize = self.shape.iter().product();
        let is_one = numbers == ConstantNumbers::Same || numbers == ConstantNumbers::Mixed && position > 0;
        let literal = match (is_one, self.element.as_str()) {
            (true, kind) => encode_element(kind, position, 1)?.0,
            (false, "i1") => format_nested(
                &self.shape,
                &mut (0..num_elements).map(|index| encode_element("i1", position, index).unwrap().0),
            ),
            (false, kind) => {
                let mut text = "\"0x".to_owned();
                for index in 0..num_elements {
                    encode_element(kind, position, index)?
                        .1
                        .iter()
                        .for_each(|byte| write!(text, "{byte:02X}").unwrap());
                }
                text + "\""
            }
        };
        Some(format!("  %{} = arith.constant dense<{literal}> : {}\n", self.name, self.tensor))
    }
}

/// Returns the program with constants in place of its arguments; `None` if these are no plain tensors, or too large.
fn substitute_constants(text: &str, numbers: ConstantNumbers) -> Option<String> {
    let (before, after) = text.split_once("func.func @")?;
    let (name, after) = after.split_once('(')?;
    let end = find_end_of_brackets(after)?;
    let arguments = parse_arguments(&after[..end])?;
    if arguments.iter().map(|argument| argument.shape.iter().product::<usize>()).sum::<usize>() > MAX_ELEMENTS {
        return None;
    }
    let constants = arguments.iter().enumerate().map(|(position, argument)| argument.constant(position, numbers));
    let constants = constants.collect::<Option<String>>()?;
    let (signature, body) = after[end..].split_once("{\n")?;
    Some(format!("{before}func.func @{name}({signature}{{\n{constants}{body}"))
}

/// Returns the programs of one function that the JIT accepts.
fn programs() -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/test/execution"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    paths.sort();
    let read =
        |path: PathBuf| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap());
    let is_plain = |text: &str| {
        // A logarithm of 1 with a rounding error differs between any two computations.
        let others = ["//---", "// -----", "spyre.", "RUN: not", "tensor<0x", "@exp(", "@log_of_sum(", "tensor<?"];
        text.matches("func.func").count() == 1 && !others.iter().any(|other| text.contains(other))
    };
    paths.into_iter().map(read).filter(|(_, text)| is_plain(text)).collect()
}

#[test]
fn computes_correct_results_from_constants() {
    let every = if env::var_os("SPYRE_KNOWN").is_some() { 1 } else { SAMPLE_INTERVAL };
    let (mut faults, mut num_right) = (Vec::new(), 0);
    let mut number = 0;
    for (name, text) in programs() {
        for numbers in [ConstantNumbers::Different, ConstantNumbers::Same, ConstantNumbers::Mixed] {
            let Some(text) = substitute_constants(&text, numbers) else { continue };
            number += 1;
            if number % every != 0 {
                continue;
            }
            // Without a planner no function is replaced by an approximating chain of ops.
            let options = CompileOptions { lx_planner: Some(PlannerName::none()), ..CompileOptions::default() };
            match check_against_jit(&text, &options, &[]) {
                Ok(()) => num_right += 1,
                // Small integers may be out of bounds of a table of one row.
                Err(ExecutionFailure::Rejected(message)) if message.contains("expected indices from") => {}
                Err(ExecutionFailure::Rejected(message)) => {
                    faults.push(format!("{name}, {numbers:?}: refused: {message}"))
                }
                Err(ExecutionFailure::Broken(what, message)) => {
                    faults.push(format!("{name}, {numbers:?}: {what}: {message}"))
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {} programs:\n{}", faults.len(), faults.len() + num_right, faults.join("\n"));
    assert!(num_right >= 10, "{num_right} programs");
}
