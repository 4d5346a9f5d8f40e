//! Passes in Rust: declared in `dialects/passes`, which makes their options, help and documentation; run here.

use super::{
    Op, OpExt, Reported,
    drivers::with_c_words,
    error_at, one_of,
    op::graveyard,
    text::{string_ref, text_of},
};
use mlir_sys::{MlirOperation, MlirStringRef};
use std::{
    collections::BTreeMap,
    ffi::{c_char, c_int, c_void},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    str::FromStr,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};
use strum::VariantNames;

/// A pass of ours. Its options come from [`Options`]; it reads the module, decides by plain algorithms, and writes.
pub struct Pass {
    /// The argument, as in `Passes.td`.
    pub argument: &'static str,
    /// Does the work on one module.
    pub run: for<'c> fn(Op<'c>, &Options) -> Result<(), Reported>,
}

/// What a pipeline is about to do, or has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'c> {
    /// A pipeline begins on a new module.
    Begin,
    /// A pass is about to run on an operation.
    Before(Op<'c>),
    /// A pass has run on it.
    After(Op<'c>),
}

/// What this layer is told of the compiler: it knows none of its passes.
pub struct Hooks {
    /// Every pass of `Passes.td`.
    pub passes: &'static [Pass],
    /// Makes the text of a pass pipeline of the options of the named one, or says why they are refused.
    pub expand: fn(&str) -> Result<String, String>,
    /// Looks at an operation before and after a pass, whose argument it gets; false if it has reported an error.
    pub observe: for<'c> fn(&str, Event<'c>) -> bool,
}

/// MLIR has one list of passes in a process, so there is one set of hooks.
static HOOKS: OnceLock<&'static Hooks> = OnceLock::new();

/// The options of one run of a pass, by name. Tablegen has checked that they exist and has filled in the defaults.
#[derive(Debug, Default)]
pub struct Options {
    values: BTreeMap<String, String>,
}

impl Options {
    /// Reads `key=value key=value`; a list is written once per element.
    fn parse(text: &str) -> Self {
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        for word in split_outside_braces(text) {
            let Some((key, value)) = word.split_once('=') else { continue };
            let value = value.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(value);
            let value = value.trim_matches('"');
            values.entry(key.to_owned()).and_modify(|known| *known = format!("{known},{value}")).or_insert_with(|| value.to_owned());
        }
        Self { values }
    }

    /// The text of an option; empty if it was not given and has no default.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// The value of an option that has one of several names.
    ///
    /// # Errors
    /// The names that it has, and what was found instead, at the module.
    pub fn read<T: FromStr + VariantNames>(&self, module: Op<'_>, name: &str) -> Result<T, Reported> {
        one_of(self.text(name)).map_err(|error| error_at(module, format_args!("option '{name}': {error}")).report())
    }

    /// The number in an option. Tablegen has refused what is none.
    ///
    /// # Panics
    /// If the option is none of the pass, or not a number: a bug of ours.
    #[must_use]
    pub fn number(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or_else(|_| panic!("'{name}' is no option with a number"))
    }

    /// Whether an option is on. Tablegen has refused what is neither.
    ///
    /// # Panics
    /// As [`Options::number`].
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        self.text(name).parse().unwrap_or_else(|_| panic!("'{name}' is no option that is on or off"))
    }

    /// The elements of a list option.
    ///
    /// # Errors
    /// What their type says of the first one that it refuses, at the module.
    pub fn list<T: FromStr<Err: fmt::Display>>(&self, module: Op<'_>, name: &str) -> Result<Vec<T>, Reported> {
        let elements = self.text(name).split(',').filter(|element| !element.is_empty());
        let read: Result<Vec<T>, T::Err> = elements.map(str::parse).collect();
        read.map_err(|error| error_at(module, format_args!("option '{name}': {error}")).report())
    }
}

/// Splits at blanks that are not within braces.
fn split_outside_braces(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (index, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => {
                words.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    words.push(&text[start..]);
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

pub(crate) type RawAnswer = unsafe extern "C" fn(MlirStringRef, bool, *mut c_void);

/// Takes a text from C++, or gives one to it.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn as_data(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    pub(crate) unsafe extern "C" fn take(text: MlirStringRef, _is_error: bool, data: *mut c_void) {
        // SAFETY: `data` is the answer that the caller of C++ handed over, which waits for the call to return.
        let answer = unsafe { &mut *data.cast::<Self>() };
        // SAFETY: C++ keeps the text until this returns.
        unsafe { text_of(text) }.clone_into(&mut answer.text);
    }
}

unsafe extern "C" {
    fn spyreRegisterPasses(
        runner: unsafe extern "C" fn(MlirStringRef, MlirOperation, MlirStringRef) -> bool,
        expander: unsafe extern "C" fn(MlirStringRef, RawAnswer, *mut c_void),
    );
    fn spyreOptMain(
        argc: c_int,
        argv: *mut *mut c_char,
        observer: unsafe extern "C" fn(MlirStringRef, MlirOperation, ObservedEvent) -> bool,
    ) -> c_int;
}

/// The bugs that were found, by the address of the context: one context is used by one thread at a time.
static BUGS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

/// Notes that what was just reported about an operation is a bug of ours and not the user's mistake: the tools exit with 2.
pub fn note_bug(op: Op<'_>) {
    *bugs().entry(context_of(op)).or_default() += 1;
}

/// How many bugs passes have found in modules of the operation's context, panics included.
#[must_use]
pub fn bugs_of(op: Op<'_>) -> u64 {
    bugs().get(&context_of(op)).copied().unwrap_or(0)
}

/// Whether a pass of this process has panicked, or has found what only a bug of ours explains.
#[must_use]
pub fn found_bug() -> bool {
    !bugs().is_empty()
}

fn bugs() -> MutexGuard<'static, BTreeMap<usize, u64>> {
    BUGS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn context_of(op: Op<'_>) -> usize {
    op.ctx().to_raw().ptr.addr()
}

/// The passes of the compiler's own pipeline with these options, as text; none if an option is wrong.
pub(super) fn expanded(options: &str) -> Option<String> {
    HOOKS.get().and_then(|hooks| (hooks.expand)(options).ok())
}

unsafe extern "C" fn run_pass(argument: MlirStringRef, module: MlirOperation, options: MlirStringRef) -> bool {
    // SAFETY: C++ keeps both texts until this returns.
    let (argument, options) = unsafe { (text_of(argument), Options::parse(text_of(options))) };
    // SAFETY: MLIR hands over a valid module and waits for the pass to return.
    let module = unsafe { Op::from_raw(module) };
    let Some(pass) = HOOKS.get().and_then(|hooks| hooks.passes.iter().find(|pass| pass.argument == argument)) else {
        let _ = error_at(module, format_args!("pass '{argument}' is declared, but not implemented")).report();
        return false;
    };
    // A panic must not cross into C++; it becomes an error at the module.
    let done = catch_unwind(AssertUnwindSafe(|| {
        let done = (pass.run)(module, &options);
        graveyard::free(module).unwrap_or_else(|message| std::panic::panic_any(message));
        done
    }));
    match done {
        Ok(done) => done.is_ok(),
        Err(_) => {
            note_bug(module);
            let _ = error_at(module, format_args!("pass '{argument}' has a bug: it panicked; please report this program")).report();
            false
        }
    }
}

unsafe extern "C" fn expand_pipeline(options: MlirStringRef, answer: RawAnswer, data: *mut c_void) {
    // SAFETY: C++ keeps the text until this returns.
    let expanded = HOOKS.get().map(|hooks| (hooks.expand)(unsafe { text_of(options) }));
    let (text, is_error) = match expanded {
        Some(Ok(text)) => (text, false),
        Some(Err(message)) => (message, true),
        None => ("no pipeline is registered".to_owned(), true),
    };
    // SAFETY: C++ copies the text before it returns.
    unsafe { answer(string_ref(&text), is_error, data) }
}

/// `SpyreEvent`.
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(dead_code, reason = "C++ makes them")]
enum ObservedEvent {
    PipelineBegins = 0,
    BeforePass = 1,
    AfterPass = 2,
}

unsafe extern "C" fn observe(pass: MlirStringRef, op: MlirOperation, event: ObservedEvent) -> bool {
    let event = match event {
        ObservedEvent::PipelineBegins => Event::Begin,
        // SAFETY: MLIR hands over a valid operation and waits for the observer to return.
        ObservedEvent::BeforePass => Event::Before(unsafe { Op::from_raw(op) }),
        // SAFETY: the same.
        ObservedEvent::AfterPass => Event::After(unsafe { Op::from_raw(op) }),
    };
    // A panic must not cross into C++.
    // SAFETY: C++ keeps the text until this returns.
    let pass = unsafe { text_of(pass) };
    catch_unwind(AssertUnwindSafe(|| HOOKS.get().is_none_or(|hooks| (hooks.observe)(pass, event)))).unwrap_or_else(|_| {
        if let Event::Before(op) | Event::After(op) = event {
            note_bug(op);
        }
        false
    })
}

/// Registers passes and their pipeline with MLIR. A process has one set: the first one stays.
pub fn register(hooks: &'static Hooks) {
    HOOKS.get_or_init(|| hooks);
    // SAFETY: both functions live as long as the process.
    unsafe { spyreRegisterPasses(run_pass, expand_pipeline) }
}

/// MLIR's opt driver on the arguments of the process; gives the exit code.
#[must_use]
pub fn opt_main(hooks: &'static Hooks, arguments: impl Iterator<Item = String>) -> i32 {
    register(hooks);
    // SAFETY: C++ only reads the words, which outlive the call.
    let code = with_c_words(arguments, |count, words| unsafe { spyreOptMain(count, words, observe) });
    // LLVM's own convention is 1 for every failure; a bug of ours is 2 (interfaces.md).
    if found_bug() { 2 } else { code }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_by_name() {
        let options = Options::parse("planner=first-fit lx-bytes=128 tiles=A=2,B=4");
        assert_eq!(options.text("planner"), "first-fit");
        assert_eq!(options.number("lx-bytes"), 128);
        assert_eq!(options.text("tiles"), "A=2,B=4");
        assert_eq!(options.text("absent"), "");
    }

    #[test]
    fn braces_quote_blanks() {
        let options = Options::parse("file={a b.json} cores=2");
        assert_eq!(options.text("file"), "a b.json");
        assert_eq!(options.number("cores"), 2);
    }

    #[test]
    #[should_panic(expected = "'core' is no option with a number")]
    fn a_number_that_no_option_has_is_a_bug() {
        let _ = Options::parse("cores=2").number("core");
    }
}
