//! `spyre-reduce`: finds a small part of a program for which a command still fails as for the complete program.

mod shrink;

use crate::{
    codes,
    mlir::{Module, Op, OpExt, Session, Value, ValueExt, ValueMap, find_defined_functions, is_public, retain_ops},
    pipeline,
    tool::{self, MessageArguments, Reporter, diagnostics::install_handler, help::add_help_options},
};
use clap::{CommandFactory, Parser};
use shrink::{DefUseGraph, ReducedFunction, ReductionSearch, ReturnedValue};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Reduce a test case: shrink a module while a command still fails in the same way
///
/// Removes operations and results. The operands of removed operations become arguments.
#[derive(Parser)]
#[command(name = "spyre-reduce")]
struct ReduceArguments {
    /// Module to reduce, MLIR text or bytecode
    input: String,
    /// File for the reduced module [default: standard output]
    #[arg(
        short = 'o',
        value_name = "FILE.mlir",
        default_value = "-",
        hide_default_value = true,
        help_heading = "Output"
    )]
    output: String,
    /// Function to reduce [default: the only public one]
    #[arg(long, value_name = "NAME", help_heading = REDUCTION)]
    entry: Option<String>,
    /// Text that the command must print [default: its first error, if its exit code is 1]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = REDUCTION)]
    says: Option<String>,
    /// Limit of executed commands
    #[arg(long, value_name = "N", default_value_t = 2000, help_heading = REDUCTION)]
    tests: u64,
    #[command(flatten)]
    messages: MessageArguments,
    /// Command after '--'; {} stands for the file of the module, which is appended if there is no {}
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Heading of the options in `--help`.
const REDUCTION: &str = "Reduction";

/// Options that `--help` shows; at most ten.
const COMMON_OPTIONS: [&str; 4] = ["output", "entry", "says", "tests"];

/// Runs the tool with the words of its command line, the first of which is its own name. Returns the exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let reporter = |arguments: &ReduceArguments| Reporter::new("spyre-reduce", arguments.messages);
    tool::main("spyre-reduce", command(), words, reporter, run)
}

/// Returns the clap command of the tool.
pub(super) fn command() -> clap::Command {
    add_help_options(ReduceArguments::command(), &COMMON_OPTIONS)
}

fn run(arguments: &ReduceArguments, reporter: Reporter) -> Result<(), String> {
    let session = pipeline::create_session();
    tool::check_is_mlir(&arguments.input)?;
    let source =
        session.open_source(&arguments.input).map_err(|reason| tool::format_read_error(&arguments.input, &reason))?;
    install_handler(&session, reporter);
    let module = source.parse().ok_or_else(String::new)?;
    let name = find_entry_function(&module, arguments.entry.as_deref())?;
    let place = tempfile::tempdir()
        .map_err(|error| codes::SYSTEM.format(format_args!("cannot make a temporary folder: {error}")))?;
    let check = FailureCheck::from_program(arguments, &module, place.path().join("part.mlir"))?;
    let (outline, whole) = build_outline(find_function(&module, &name));
    let mut is_interesting = |part: &ReducedFunction| {
        extract_subprogram(&module, &name, part).map_or(Ok(false), |part| check.reproduces(&part))
    };
    let mut search = ReductionSearch::new(&outline, arguments.tests, &mut is_interesting);
    let n_ops = whole.kept.len();
    let part = search.shrink(whole)?;
    let num_tests = search.num_tests;
    let reduced = extract_subprogram(&module, &name, &part).ok_or("the reduced module is not valid any more")?;
    tool::write_file(&arguments.output, format!("{}\n", reduced.op()))?;
    if arguments.output != "-" {
        tool::print_text(&format!(
            "{} of {n_ops} operations are left after {num_tests} tests: {}\n",
            part.kept.len(),
            arguments.output
        ))?;
    }
    Ok(())
}

/// Returns the name of the function to reduce.
fn find_entry_function(module: &Module<'_>, named: Option<&str>) -> Result<String, String> {
    let with_body = |function: &Op<'_>| function.body().is_some();
    let functions: Vec<Op<'_>> = find_defined_functions(module.op()).into_iter().filter(with_body).collect();
    let names =
        |functions: &[Op<'_>]| functions.iter().map(|function| symbol_name(*function).to_owned()).collect::<Vec<_>>();
    if let Some(named) = named {
        let is_there = functions.iter().any(|function| symbol_name(*function) == named);
        let all = names(&functions).join("', '");
        return if is_there {
            Ok(named.to_owned())
        } else {
            Err(codes::NO_SUCH_FUNCTION.format(format_args!("--entry {named}: expected one of the functions '{all}'")))
        };
    }
    let public = names(&functions.into_iter().filter(|function| is_public(*function)).collect::<Vec<_>>());
    match <[String; 1]>::try_from(public) {
        Ok([name]) => Ok(name),
        Err(public) if public.is_empty() => {
            Err(codes::ENTRY_POINT.format("expected a public function with a body, found none"))
        }
        Err(public) => Err(codes::ENTRY_POINT.format(format_args!(
            "expected one public function, found '{}'; choose one with --entry NAME",
            public.join("', '")
        ))),
    }
}

fn symbol_name(function: Op<'_>) -> &str {
    function.text_attr(crate::dialect::ods::attr::SYM_NAME)
}

fn find_function<'m>(module: &'m Module<'_>, name: &str) -> Op<'m> {
    let found = find_defined_functions(module.op()).into_iter().find(|function| symbol_name(*function) == name);
    found.expect("copies of a module have its functions")
}

/// Returns the def-use graph of the function's ops, and the [`ReducedFunction`] that keeps all ops and returned values.
fn build_outline(function: Op<'_>) -> (DefUseGraph, ReducedFunction) {
    let ops = body_operations(function);
    let mut positions: ValueMap<(usize, usize)> = ValueMap::default();
    for (position, op) in ops.iter().enumerate() {
        op.outputs().into_iter().enumerate().for_each(|(result, value)| {
            positions.insert(value, (position, result));
        });
    }
    let read_by = |op: &Op<'_>| {
        let mut read = BTreeSet::new();
        for inner in op.nested() {
            read.extend(inner.inputs().into_iter().filter_map(|value| positions.get(value).map(|(op, _)| *op)));
        }
        read
    };
    let outline = DefUseGraph {
        num_results: ops.iter().map(|op| op.outputs().len()).collect(),
        reads: ops.iter().map(read_by).collect(),
    };
    let returned = function.yielded().into_iter().map(|value| match positions.get(value) {
        Some(&(op, result)) => ReturnedValue::Result { op, result },
        None => ReturnedValue::Argument(value.as_block_arg().map_or(0, |(_, number)| number)),
    });
    (outline, ReducedFunction { kept: (0..ops.len()).collect(), returned: returned.collect() })
}

/// Returns the operations of a function's body, without the terminator.
fn body_operations(function: Op<'_>) -> Vec<Op<'_>> {
    let mut ops = function.body_ops();
    ops.pop();
    ops
}

/// Returns a copy of the module with the reduced function; `None` if the result does not verify.
fn extract_subprogram<'s>(module: &Module<'s>, name: &str, part: &ReducedFunction) -> Option<Module<'s>> {
    let copy = module.duplicate();
    let function = find_function(&copy, name);
    let ops = body_operations(function);
    let kept: Vec<bool> = (0..ops.len()).map(|op| part.kept.contains(&op)).collect();
    let arguments = function.body_args();
    let returned: Vec<Value<'_>> = part
        .returned
        .iter()
        .map(|value| match *value {
            ReturnedValue::Result { op, result } => ops[op].outputs()[result],
            ReturnedValue::Argument(number) => arguments[number],
        })
        .collect();
    retain_ops(function, &kept, &returned);
    suppress_diagnostics(copy.session(), || copy.verify()).then_some(copy)
}

fn suppress_diagnostics<T>(session: &Session, do_it: impl FnOnce() -> T) -> T {
    crate::mlir::collect_diagnostics(session.context(), do_it).0
}

/// Failure to reproduce: a command, its exit code and its expected output.
struct FailureCheck<'a> {
    command: &'a [String],
    /// Text that the command must print.
    says: Option<String>,
    /// Exit code for the complete program; `None` if a signal ended the command.
    code: Option<i32>,
    file: PathBuf,
}

/// Exit code of a tool that rejects its input.
const EXIT_REJECTED: i32 = 1;

impl<'a> FailureCheck<'a> {
    /// Runs the command on the complete program, and records its failure. Fails if the command succeeds.
    fn from_program(arguments: &'a ReduceArguments, module: &Module<'_>, file: PathBuf) -> Result<Self, String> {
        let mut check = Self { command: &arguments.command, says: arguments.says.clone(), code: None, file };
        let (code, text) = check.run_command(module)?;
        check.code = code;
        match &check.says {
            Some(says) if !text.contains(says) => Err(codes::REDUCE_INPUT.format(format_args!(
                "expected the command to print \
             '{says}' for the whole program, found:\n{text}"
            ))),
            None if code == Some(0) => Err(codes::REDUCE_INPUT.format(
                "expected a command that fails for the whole program, found success; give a failing \
                 command, or name its message with --says",
            )),
            // A reduced program may be rejected for many reasons, so the first error message must match, too.
            None if code == Some(EXIT_REJECTED) => Ok(Self { says: find_first_error(&text), ..check }),
            _ => Ok(check),
        }
    }

    fn reproduces(&self, module: &Module<'_>) -> Result<bool, String> {
        let (code, text) = self.run_command(module)?;
        Ok(code == self.code && self.says.as_ref().is_none_or(|says| text.contains(says)))
    }

    /// Returns the exit code and the output of the command.
    fn run_command(&self, module: &Module<'_>) -> Result<(Option<i32>, String), String> {
        fs::write(&self.file, format!("{}\n", module.op())).map_err(|error| {
            codes::OUTPUT_WRITE.format(format_args!("cannot write '{}': {error}", self.file.display()))
        })?;
        let output = self
            .build_command(&self.file)
            .output()
            .map_err(|error| codes::SYSTEM.format(format_args!("cannot run '{}': {error}", self.command[0])))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Ok((output.status.code(), text))
    }

    fn build_command(&self, file: &Path) -> Command {
        let file = file.to_string_lossy();
        let mut words: Vec<String> = self.command.iter().map(|word| word.replace("{}", &file)).collect();
        if words == self.command {
            words.push(file.into_owned());
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(std::process::Stdio::null());
        command
    }
}

/// Returns the first error message in the output of a tool, without its location.
fn find_first_error(text: &str) -> Option<String> {
    let message = |line: &str| {
        let (code, message) = line.split_once("error")?.1.split_once(": ")?;
        (code.is_empty() || code.starts_with("[SPY")).then(|| message.to_owned())
    };
    text.lines().find_map(message)
}
