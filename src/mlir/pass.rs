//! Passes in Rust. `dialects/passes` declares them, and generates their options, help and documentation.

use super::{
    ErrorReported, Op,
    context::{num_bugs, record_bug},
    drivers::call_with_argv,
    error_at,
    op::erased_ops,
    pass_options::{NestedReader, PassOptionValue, PassOptions},
    text::{read_text, string_ref},
};
use crate::codes;
use mlir_sys::{MlirModule, MlirOperation, MlirStringRef};
use std::{
    cell::Cell,
    ffi::{c_char, c_int, c_void},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    slice,
    sync::atomic::{AtomicBool, Ordering},
};

/// Pass of this project, which receives its options as [`PassOptions`].
#[derive(Clone, Copy)]
pub struct Pass {
    /// Argument of the pass, as in `Passes.td`.
    pub argument: &'static str,
    /// Function that runs the pass on one module.
    pub run: for<'c> fn(Op<'c>, &PassOptions) -> Result<(), ErrorReported>,
}

/// Upstream MLIR pass in our pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamPass {
    /// Folds ops and applies their canonicalization patterns.
    Canonicalize,
    /// Eliminates common subexpressions.
    Cse,
    /// Inlines calls, without running passes on the inlined code.
    Inline,
    /// Removes private functions without callers.
    SymbolDce,
}

impl UpstreamPass {
    const fn argument(self) -> &'static str {
        match self {
            Self::Canonicalize => "canonicalize",
            Self::Cse => "cse",
            Self::Inline => "inline",
            Self::SymbolDce => "symbol-dce",
        }
    }
}

/// Pass with its options.
#[derive(Clone)]
pub struct PassInstance(PassInstanceKind);

#[derive(Clone)]
enum PassInstanceKind {
    Own(Pass, PassOptions),
    Upstream(UpstreamPass),
}

impl PassInstance {
    /// Creates an instance of one of our passes, without options.
    #[must_use]
    pub const fn from_pass(pass: Pass) -> Self {
        Self(PassInstanceKind::Own(pass, PassOptions::empty()))
    }

    /// Creates an instance of an MLIR pass.
    #[must_use]
    pub const fn from_upstream(pass: UpstreamPass) -> Self {
        Self(PassInstanceKind::Upstream(pass))
    }

    /// Sets an option of one of our passes.
    ///
    /// # Panics
    /// For an MLIR pass.
    #[must_use]
    pub fn with_option(mut self, name: &'static str, value: PassOptionValue) -> Self {
        match &mut self.0 {
            PassInstanceKind::Own(_, options) => options.set(name, value),
            PassInstanceKind::Upstream(pass) => panic!("'{}' has no option of ours", pass.argument()),
        }
        self
    }

    /// Returns the argument of the pass.
    #[must_use]
    pub const fn argument(&self) -> &'static str {
        match &self.0 {
            PassInstanceKind::Own(pass, _) => pass.argument,
            PassInstanceKind::Upstream(pass) => pass.argument(),
        }
    }
}

/// Prints the pass in MLIR's pipeline syntax.
impl fmt::Display for PassInstance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.argument())?;
        match &self.0 {
            PassInstanceKind::Own(_, options) => options.fmt(formatter),
            PassInstanceKind::Upstream(UpstreamPass::Inline) => formatter.write_str("{default-pipeline=}"),
            PassInstanceKind::Upstream(_) => Ok(()),
        }
    }
}

/// Reason why a pipeline stopped; it has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassFailure {
    /// The pass with that number rejected the module.
    Rejected(usize),
    /// Compiler bug: a pass panicked or recorded one, or the module is invalid after a pass.
    CompilerBug,
}

/// Step of a running pipeline, as observers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassEvent<'c> {
    /// A pipeline begins on a new module.
    Begin,
    /// A pass is about to run on an operation.
    Before(Op<'c>),
    /// A pass has run on it.
    After(Op<'c>),
}

/// Callbacks into the compiler that textual pipelines need: this layer knows none of the compiler's passes.
pub struct PipelineHooks {
    /// Every pass of `Passes.td`.
    pub passes: &'static [Pass],
    /// Expands the options of the named pipeline to the text of a pass pipeline, or returns why they are rejected.
    pub expand: fn(&str) -> Result<String, String>,
    /// Parses the options of a nested compilation, which a pass has as an option.
    pub read_nested: NestedReader,
}

/// Observes an operation before and after a pass, given its argument; returns false if it has reported a bug of that
/// pass.
pub type PassObserverFn<'o> = dyn Fn(&str, PassEvent<'_>) -> bool + Sync + 'o;

/// Observer behind a thin pointer.
struct PassObserver<'o>(&'o PassObserverFn<'o>);

pub(crate) type TextCallback = unsafe extern "C" fn(MlirStringRef, bool, *mut c_void);

/// Receiver of a text from C++.
#[derive(Default)]
pub(crate) struct TextReceiver {
    pub(crate) text: String,
}

impl TextReceiver {
    pub(crate) fn as_data(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    pub(crate) unsafe extern "C" fn take(text: MlirStringRef, _is_error: bool, data: *mut c_void) {
        // SAFETY: `data` is the receiver that the caller passed to C++; the caller waits for C++ to return.
        let answer = unsafe { &mut *data.cast::<Self>() };
        // SAFETY: C++ keeps the text until this returns.
        answer.text = unsafe { read_text(text) }.into_owned();
    }
}

/// `SpyreOptionText`.
#[repr(C)]
struct OptionText {
    name: MlirStringRef,
    text: MlirStringRef,
}

/// `SpyrePassInstance`.
#[repr(C)]
struct RawInstance {
    argument: MlirStringRef,
    /// A [`RunningPass`], or null.
    instance: *const c_void,
}

/// Pass of this project in a pipeline.
struct RunningPass<'p> {
    pass: Pass,
    options: &'p PassOptions,
    number: usize,
    /// Pass that failed, or that has a bug.
    stop: &'p Cell<Option<PassFailure>>,
}

unsafe extern "C" {
    fn spyreRegisterPasses(
        hooks: *const c_void,
        runner: unsafe extern "C" fn(*const c_void, MlirStringRef, *const OptionText, isize, MlirOperation) -> bool,
        expander: unsafe extern "C" fn(*const c_void, MlirStringRef, TextCallback, *mut c_void),
    );
    fn spyreRunPasses(
        module: MlirModule,
        passes: *const RawInstance,
        count: isize,
        verifies: bool,
        runner: unsafe extern "C" fn(*const c_void, MlirOperation) -> bool,
    ) -> bool;
    fn spyreOptMain(
        argc: c_int,
        argv: *mut *mut c_char,
        observer: unsafe extern "C" fn(MlirStringRef, MlirOperation, ObservedEvent, *mut c_void) -> bool,
        data: *mut c_void,
    ) -> c_int;
}

/// Set if a textual pipeline has found a compiler bug. MLIR's driver owns the context, so the state is global;
/// libraries run no textual pipelines.
static TEXTUAL_BUG: AtomicBool = AtomicBool::new(false);

/// Runs a pass of ours.
fn run_pass(pass: Pass, module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    // A panic must not cross into C++; it becomes an error at the module.
    let done = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(debug_assertions)]
        if super::context::is_trial(module) {
            fault::inject(pass.argument, module)?;
        }
        let done = (pass.run)(module, options);
        erased_ops::free_erased(module).unwrap_or_else(|message| std::panic::panic_any(message));
        done
    }));
    done.unwrap_or_else(|_| {
        record_bug(module);
        let bug = format!("internal error: pass '{}' panicked; please report this program", pass.argument);
        Err(error_at(codes::PANIC, module, bug).report())
    })
}

unsafe extern "C" fn run_instance(running: *const c_void, module: MlirOperation) -> bool {
    // SAFETY: `running` is the pointer that was passed to `spyreRunPasses`, which has not returned.
    let RunningPass { pass, options, number, stop } = unsafe { &*running.cast::<RunningPass<'_>>() };
    // SAFETY: MLIR hands over a valid module and waits for the pass to return.
    let module = unsafe { Op::from_raw(module) };
    let bugs_of = num_bugs(module);
    let done = run_pass(*pass, module, options);
    if done.is_err() {
        stop.set(Some(if num_bugs(module) > bugs_of {
            PassFailure::CompilerBug
        } else {
            PassFailure::Rejected(*number)
        }));
    }
    done.is_ok()
}

/// Runs passes on a module in order.
///
/// # Errors
/// The reason for a stop, which has been reported.
///
/// # Safety
/// The module is alive, and no handle into it exists, because MLIR's passes free the ops that they erase.
pub(super) unsafe fn run_passes(
    module: MlirModule,
    passes: &[PassInstance],
    verifies: bool,
) -> Result<(), PassFailure> {
    let stop = Cell::new(None);
    let running: Vec<Option<RunningPass<'_>>> = passes
        .iter()
        .enumerate()
        .map(|(number, instance)| match &instance.0 {
            PassInstanceKind::Own(pass, options) => Some(RunningPass { pass: *pass, options, number, stop: &stop }),
            PassInstanceKind::Upstream(_) => None,
        })
        .collect();
    let raw: Vec<RawInstance> = passes
        .iter()
        .zip(&running)
        .map(|(instance, running)| RawInstance {
            argument: string_ref(instance.argument()),
            instance: running.as_ref().map_or(std::ptr::null(), |running| std::ptr::from_ref(running).cast()),
        })
        .collect();
    // SAFETY: guaranteed by the caller; the list outlives the call.
    let is_done = unsafe { spyreRunPasses(module, raw.as_ptr(), raw.len().cast_signed(), verifies, run_instance) };
    if is_done { Ok(()) } else { Err(stop.get().unwrap_or(PassFailure::CompilerBug)) }
}

unsafe extern "C" fn run_textual(
    hooks: *const c_void,
    argument: MlirStringRef,
    options: *const OptionText,
    count: isize,
    module: MlirOperation,
) -> bool {
    // SAFETY: the hooks are those that were registered, which live as long as the process; C++ keeps the texts until
    // this returns.
    let (hooks, argument, options) = unsafe {
        let options: &[OptionText] =
            if count > 0 { slice::from_raw_parts(options, count.cast_unsigned()) } else { &[] };
        (&*hooks.cast::<PipelineHooks>(), read_text(argument), options)
    };
    // SAFETY: MLIR hands over a valid module and waits for the pass to return.
    let module = unsafe { Op::from_raw(module) };
    let Some(pass) = hooks.passes.iter().find(|pass| pass.argument == argument) else {
        let _ = error_at(codes::INTERNAL, module, format_args!("pass '{argument}' is declared, but not implemented"))
            .report();
        return false;
    };
    // SAFETY: as above.
    let entries = options.iter().map(|option| unsafe { (read_text(option.name), read_text(option.text)) });
    match PassOptions::parse_texts(pass.argument, entries, hooks.read_nested) {
        Ok(options) => {
            let bugs_of = num_bugs(module);
            let done = run_pass(*pass, module, &options);
            TEXTUAL_BUG.fetch_or(num_bugs(module) > bugs_of, Ordering::Relaxed);
            done.is_ok()
        }
        Err(message) => {
            let _ = error_at(codes::OPTION_VALUE, module, message).report();
            false
        }
    }
}

unsafe extern "C" fn expand_pipeline(
    hooks: *const c_void,
    options: MlirStringRef,
    answer: TextCallback,
    data: *mut c_void,
) {
    // SAFETY: the hooks are those that were registered; C++ keeps the text until this returns.
    let expanded = unsafe { ((*hooks.cast::<PipelineHooks>()).expand)(&read_text(options)) };
    let is_error = expanded.is_err();
    let text = expanded.unwrap_or_else(|message| message);
    // SAFETY: C++ copies the text before it returns.
    unsafe { answer(string_ref(&text), is_error, data) }
}

/// `SpyreEvent`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "C++ makes them")]
enum ObservedEvent {
    PipelineBegins = 0,
    BeforePass = 1,
    AfterPass = 2,
}

unsafe extern "C" fn observe_pass(
    pass: MlirStringRef,
    op: MlirOperation,
    event: ObservedEvent,
    data: *mut c_void,
) -> bool {
    let event = match event {
        ObservedEvent::PipelineBegins => PassEvent::Begin,
        // SAFETY: MLIR hands over a valid operation and waits for the observer to return.
        ObservedEvent::BeforePass => PassEvent::Before(unsafe { Op::from_raw(op) }),
        // SAFETY: as above.
        ObservedEvent::AfterPass => PassEvent::After(unsafe { Op::from_raw(op) }),
    };
    // SAFETY: C++ keeps the text until this returns, and the data are the observer of `run_opt_driver`.
    let (pass, observer) = unsafe { (read_text(pass), &*data.cast::<PassObserver<'_>>()) };
    // A panic must not cross into C++.
    let observed = catch_unwind(AssertUnwindSafe(|| (observer.0)(&pass, event)));
    // A rejection by an observer is a bug of the pass; a panic is a bug of the observer.
    let is_right = observed.unwrap_or(false);
    TEXTUAL_BUG.fetch_or(!is_right, Ordering::Relaxed);
    is_right
}

/// Registers passes and their pipeline with MLIR, for textual pipelines. MLIR has one registry per process: the first
/// hooks remain.
pub fn register_pipeline_passes(hooks: &'static PipelineHooks) {
    // SAFETY: the functions and the hooks live as long as the process.
    unsafe { spyreRegisterPasses(std::ptr::from_ref(hooks).cast(), run_textual, expand_pipeline) }
}

/// Runs MLIR's opt driver on the process arguments and returns the exit code; `observe` sees every pass if the
/// arguments request it.
#[must_use]
pub fn run_opt_driver(
    hooks: &'static PipelineHooks,
    observe: &PassObserverFn<'_>,
    arguments: impl Iterator<Item = String>,
) -> i32 {
    register_pipeline_passes(hooks);
    let observer = PassObserver(observe);
    let data = std::ptr::from_ref(&observer).cast_mut().cast();
    // SAFETY: C++ only reads the words, which outlive the call, as the observer does.
    let code = call_with_argv(arguments, |count, words| unsafe { spyreOptMain(count, words, observe_pass, data) });
    // LLVM's own convention is 1 for every failure; a compiler bug is 2 (interfaces.md).
    if TEXTUAL_BUG.load(Ordering::Relaxed) { 2 } else { code }
}

/// Passes that fail on purpose, to test how a search handles a candidate that cannot be compiled.
#[cfg(debug_assertions)]
mod fault {
    use super::{ErrorReported, Op, error_at};
    use std::env;

    /// Environment variable with the pass that fails on every candidate: `panics:ARGUMENT`, or `refuses:ARGUMENT`.
    const BROKEN_CANDIDATE: &str = "SPYRE_BROKEN_CANDIDATE";

    pub(super) fn inject(argument: &str, module: Op<'_>) -> Result<(), ErrorReported> {
        let Ok(fault) = env::var(BROKEN_CANDIDATE) else { return Ok(()) };
        match fault.split_once(':') {
            Some(("panics", broken)) if broken == argument => panic!("'{argument}' is broken on purpose"),
            Some(("refuses", broken)) if broken == argument => {
                Err(error_at(crate::codes::PANIC, module, "is refused on purpose").report())
            }
            _ => Ok(()),
        }
    }
}
