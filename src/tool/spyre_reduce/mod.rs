//! `spyre-reduce`: the smallest part of a program for which a command does what it does for the whole.

mod shrink;

use crate::{
    codes,
    mlir::{Module, Op, OpExt, Session, Value, ValueExt, ValueMap, functions_of, is_public, keep_part},
    pipeline,
    tool::{self, Messages, Speaker, diagnostics::listen, help::with_help},
};
use clap::{CommandFactory, Parser};
use shrink::{Outline, Part, Returned, Search};
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
struct Arguments {
    /// Module to reduce, MLIR text or bytecode
    input: String,
    /// File for the reduced module [default: standard output]
    #[arg(short = 'o', value_name = "FILE.mlir", default_value = "-", hide_default_value = true, help_heading = "Output")]
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
    messages: Messages,
    /// Command after '--'; {} stands for the file of the module, which is appended if there is no {}
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Heading of the options in `--help`.
const REDUCTION: &str = "Reduction";

/// Options that `--help` shows; at most ten.
const MOST_USED: [&str; 4] = ["output", "entry", "says", "tests"];

/// Runs the tool with the words of its command line, of which the first is its own name, and gives its exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let speaker = |arguments: &Arguments| Speaker::new("spyre-reduce", arguments.messages);
    tool::main("spyre-reduce", command(), words, speaker, run)
}

/// The command line.
pub(super) fn command() -> clap::Command {
    with_help(Arguments::command(), &MOST_USED)
}

fn run(arguments: &Arguments, speaker: Speaker) -> Result<(), String> {
    let session = pipeline::session();
    tool::check_is_mlir(&arguments.input)?;
    let source = session.open(&arguments.input).map_err(|reason| tool::cannot_read(&arguments.input, &reason))?;
    listen(&session, speaker);
    let module = source.parse().ok_or_else(String::new)?;
    let name = entry_of(&module, arguments.entry.as_deref())?;
    let place = tempfile::tempdir().map_err(|error| codes::SYSTEM.says(format_args!("cannot make a temporary folder: {error}")))?;
    let check = Check::of_the_whole(arguments, &module, place.path().join("part.mlir"))?;
    let (outline, whole) = outline_of(function_of(&module, &name));
    let mut is_interesting = |part: &Part| part_of(&module, &name, part).map_or(Ok(false), |part| check.holds(&part));
    let mut search = Search::new(&outline, arguments.tests, &mut is_interesting);
    let n_ops = whole.kept.len();
    let part = search.shrink(whole)?;
    let n_tests = search.n_tests;
    let reduced = part_of(&module, &name, &part).ok_or("the reduced module is not valid any more")?;
    tool::write_file(&arguments.output, format!("{}\n", reduced.op()))?;
    if arguments.output != "-" {
        tool::say(&format!("{} of {n_ops} operations are left after {n_tests} tests: {}\n", part.kept.len(), arguments.output))?;
    }
    Ok(())
}

/// The name of the function that is made smaller.
fn entry_of(module: &Module<'_>, named: Option<&str>) -> Result<String, String> {
    let with_body = |function: &Op<'_>| function.body().is_some();
    let functions: Vec<Op<'_>> = functions_of(module.op()).into_iter().filter(with_body).collect();
    let names = |functions: &[Op<'_>]| functions.iter().map(|function| name_of(*function).to_owned()).collect::<Vec<_>>();
    if let Some(named) = named {
        let is_there = functions.iter().any(|function| name_of(*function) == named);
        let all = names(&functions).join("', '");
        return if is_there {
            Ok(named.to_owned())
        } else {
            Err(codes::NO_SUCH_FUNCTION.says(format_args!("--entry {named}: expected one of the functions '{all}'")))
        };
    }
    let public = names(&functions.into_iter().filter(|function| is_public(*function)).collect::<Vec<_>>());
    match <[String; 1]>::try_from(public) {
        Ok([name]) => Ok(name),
        Err(public) if public.is_empty() => Err(codes::ENTRY_POINT.says("expected a public function with a body, found none")),
        Err(public) => Err(codes::ENTRY_POINT
            .says(format_args!("expected one public function, found '{}'; choose one with --entry NAME", public.join("', '")))),
    }
}

fn name_of(function: Op<'_>) -> &str {
    function.text_attr(crate::dialect::ods::attr::SYM_NAME)
}

fn function_of<'m>(module: &'m Module<'_>, name: &str) -> Op<'m> {
    let found = functions_of(module.op()).into_iter().find(|function| name_of(*function) == name);
    found.expect("copies of a module have its functions")
}

/// Returns the def-use outline of the function's ops, and the `Part` that keeps all ops and returned values.
fn outline_of(function: Op<'_>) -> (Outline, Part) {
    let ops = operations_of(function);
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
    let outline = Outline { n_results: ops.iter().map(|op| op.outputs().len()).collect(), reads: ops.iter().map(read_by).collect() };
    let returned = function.yielded().into_iter().map(|value| match positions.get(value) {
        Some(&(op, result)) => Returned::Result { op, result },
        None => Returned::Argument(value.arg_of().map_or(0, |(_, number)| number)),
    });
    (outline, Part { kept: (0..ops.len()).collect(), returned: returned.collect() })
}

/// The operations of a function's body, but for the terminator.
fn operations_of(function: Op<'_>) -> Vec<Op<'_>> {
    let mut ops = function.body_ops();
    ops.pop();
    ops
}

/// A copy of the module with a part of the function; none if that is no valid program.
fn part_of<'s>(module: &Module<'s>, name: &str, part: &Part) -> Option<Module<'s>> {
    let copy = module.duplicate();
    let function = function_of(&copy, name);
    let ops = operations_of(function);
    let kept: Vec<bool> = (0..ops.len()).map(|op| part.kept.contains(&op)).collect();
    let arguments = function.body_args();
    let returned: Vec<Value<'_>> = part
        .returned
        .iter()
        .map(|value| match *value {
            Returned::Result { op, result } => ops[op].outputs()[result],
            Returned::Argument(number) => arguments[number],
        })
        .collect();
    keep_part(function, &kept, &returned);
    quiet(copy.session(), || copy.verify()).then_some(copy)
}

fn quiet<T>(session: &Session, do_it: impl FnOnce() -> T) -> T {
    crate::mlir::collect(session.context(), do_it).0
}

/// The failure to reproduce: a command, its exit code and its expected output.
struct Check<'a> {
    command: &'a [String],
    /// Text that the command must print.
    says: Option<String>,
    /// The exit code for the whole program; none if a signal ended it.
    code: Option<i32>,
    file: PathBuf,
}

/// The exit code of a tool that refuses its input.
const REFUSED: i32 = 1;

impl<'a> Check<'a> {
    /// Runs the command on the whole program.
    fn of_the_whole(arguments: &'a Arguments, module: &Module<'_>, file: PathBuf) -> Result<Self, String> {
        let mut check = Self { command: &arguments.command, says: arguments.says.clone(), code: None, file };
        let (code, text) = check.run(module)?;
        check.code = code;
        match &check.says {
            Some(says) if !text.contains(says) => Err(codes::REDUCE_INPUT.says(format_args!(
                "expected the command to print \
             '{says}' for the whole program, found:\n{text}"
            ))),
            None if code == Some(0) => Err(codes::REDUCE_INPUT.says(
                "expected a command that fails for the whole program, found success; give a failing \
                 command, or name its message with --says",
            )),
            // There are many reasons to refuse a part; the one for the whole is meant.
            None if code == Some(REFUSED) => Ok(Self { says: first_error(&text), ..check }),
            _ => Ok(check),
        }
    }

    fn holds(&self, module: &Module<'_>) -> Result<bool, String> {
        let (code, text) = self.run(module)?;
        Ok(code == self.code && self.says.as_ref().is_none_or(|says| text.contains(says)))
    }

    /// The exit code, and what was printed.
    fn run(&self, module: &Module<'_>) -> Result<(Option<i32>, String), String> {
        fs::write(&self.file, format!("{}\n", module.op()))
            .map_err(|error| codes::OUTPUT_WRITE.says(format_args!("cannot write '{}': {error}", self.file.display())))?;
        let output = self
            .command_on(&self.file)
            .output()
            .map_err(|error| codes::SYSTEM.says(format_args!("cannot run '{}': {error}", self.command[0])))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Ok((output.status.code(), text))
    }

    fn command_on(&self, file: &Path) -> Command {
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

/// The first error of what a tool prints, without its place.
fn first_error(text: &str) -> Option<String> {
    let message = |line: &str| {
        let (code, message) = line.split_once("error")?.1.split_once(": ")?;
        (code.is_empty() || code.starts_with("[SPY")).then(|| message.to_owned())
    };
    text.lines().find_map(message)
}
