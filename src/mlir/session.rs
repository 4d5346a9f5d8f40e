//! MLIR context with our dialects, source files and modules, for the tools.

use super::{
    Attribute, AttributeLike, Context, DetachedClone, Op, PipelineHooks,
    context::{num_bugs_in_context, run_as_trial},
    op::erased_ops,
    pass::{self, PassFailure, PassInstance, TextCallback},
    remark::{RemarkFilters, YamlRemarks},
    text::string_ref,
};
use melior::dialect::DialectRegistry;
use mlir_sys::{
    MlirContext, MlirDialectRegistry, MlirModule, MlirStringRef, mlirAttributeGetContext, mlirContextEqual,
    mlirModuleFromOperation, mlirModuleGetOperation, mlirOperationVerify,
};
use std::{
    cell::Cell,
    ffi::c_void,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

#[repr(C)]
struct RawSource {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    pub(super) fn spyreRegisterDialects(registry: MlirDialectRegistry);
    fn spyreRegisterReferenceDialects(registry: MlirDialectRegistry);
    fn spyreSourceOpen(
        context: MlirContext,
        path: MlirStringRef,
        name: MlirStringRef,
        answer: TextCallback,
        data: *mut c_void,
    ) -> *mut RawSource;
    fn spyreSourceCreateFromText(context: MlirContext, name: MlirStringRef, text: MlirStringRef) -> *mut RawSource;
    fn spyreSourceParse(source: *mut RawSource, guards: bool) -> MlirModule;
    fn spyreSourceClose(source: *mut RawSource);
    fn spyreRunPipeline(module: MlirModule, pipeline: MlirStringRef, verifies: bool) -> bool;
}

/// MLIR context with our dialects and passes.
pub struct Session {
    context: Context,
    /// Callbacks for textual pipelines; `None` if the session runs none.
    hooks: Option<&'static PipelineHooks>,
    /// Whether a tool owns the session and the process.
    is_tool: AtomicBool,
    // Dropped after the context, which has a pointer to it.
    remarks: Arc<YamlRemarks>,
}

impl Session {
    /// Creates a session with everything that compilation requires. The hooks serve textual pipelines
    /// ([`Module::run_pipeline`]).
    #[must_use]
    pub fn new(hooks: &'static PipelineHooks) -> Self {
        Self::from_registry(&DialectRegistry::new(), Some(hooks))
    }

    /// Creates a session with everything that MLIR's JIT requires.
    #[must_use]
    pub fn new_for_reference() -> Self {
        let registry = DialectRegistry::new();
        // SAFETY: the registry is alive; C++ adds to it.
        unsafe { spyreRegisterReferenceDialects(registry.to_raw()) };
        Self::from_registry(&registry, None)
    }

    fn from_registry(registry: &DialectRegistry, hooks: Option<&'static PipelineHooks>) -> Self {
        // SAFETY: the registry is alive; C++ adds to it.
        unsafe { spyreRegisterDialects(registry.to_raw()) };
        // Our passes run on one module each: threads would only cost start-up time.
        let context = Context::new_with_registry(registry, false);
        Self { context, hooks, is_tool: AtomicBool::new(false), remarks: Arc::default() }
    }

    /// Marks the session as owned by a tool: a signal in MLIR's parser or in a reference program ends the process with
    /// a message and exit code 1, and bugs count for [`tool_found_bug`]. Library sessions do not handle signals.
    pub fn mark_as_tool(&self) {
        self.is_tool.store(true, Ordering::Relaxed);
    }

    /// Returns whether a tool owns the session.
    pub(super) fn is_tool_session(&self) -> bool {
        self.is_tool.load(Ordering::Relaxed)
    }

    /// Returns the context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Extends an attribute's lifetime to that of the session; `None` if it belongs to another context.
    #[must_use]
    pub fn retain_attribute<'c>(&'c self, attribute: Attribute<'_>) -> Option<Attribute<'c>> {
        // SAFETY: the attribute is valid. Attributes of a context live as long as the context.
        unsafe {
            let is_own = mlirContextEqual(mlirAttributeGetContext(attribute.to_raw()), self.context.to_raw());
            is_own.then(|| Attribute::from_raw(attribute.to_raw()))
        }
    }

    /// Enables optimization remarks, printed as diagnostics or collected as YAML.
    ///
    /// # Errors
    /// If a pattern is no regular expression, with the reason.
    pub fn enable_remarks(&self, filters: RemarkFilters<'_>, is_printed: bool) -> Result<(), String> {
        // SAFETY: fields are dropped in order, and the reference-counted collector keeps its address when the session
        // moves.
        unsafe { self.remarks.enable(&self.context, filters, is_printed) }
    }

    /// Returns the remarks up to now, in YAML.
    #[must_use]
    pub fn remarks_as_yaml(&self) -> String {
        self.remarks.text()
    }

    /// Loads a dialect. The parser loads dialects on demand; code that builds ops without parsing must call this
    /// function.
    pub fn load_dialect(&self, dialect: &str) {
        self.context.get_or_load_dialect(dialect);
    }

    /// Opens a source file; `-` is standard input.
    ///
    /// # Errors
    /// The system's reason if it cannot be read.
    pub fn open_source(&self, path: &str) -> Result<SourceFile<'_>, String> {
        self.open_named_source(path, path)
    }

    /// Opens a source file, such as a temporary one, whose locations state `name` as the file.
    ///
    /// # Errors
    /// The system's reason if it cannot be read.
    pub fn open_named_source(&self, path: &str, name: &str) -> Result<SourceFile<'_>, String> {
        let mut answer = pass::TextReceiver::default();
        // SAFETY: the receiver outlives the call.
        let raw = unsafe {
            spyreSourceOpen(
                self.context.to_raw(),
                string_ref(path),
                string_ref(name),
                pass::TextReceiver::take,
                answer.as_data(),
            )
        };
        if raw.is_null() { Err(answer.text) } else { Ok(SourceFile { raw, session: self }) }
    }

    /// Creates a source file of that name from a text.
    #[must_use]
    pub fn source_from_text(&self, name: &str, text: &str) -> SourceFile<'_> {
        // SAFETY: C++ copies the text.
        let raw = unsafe { spyreSourceCreateFromText(self.context.to_raw(), string_ref(name), string_ref(text)) };
        SourceFile { raw, session: self }
    }
}

thread_local! {
    /// Whether a tool's session that ended in this thread has found a compiler bug. A tool runs in its own thread.
    static TOOL_FOUND_BUG: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether passes in a tool's sessions that ended in this thread have panicked or detected a compiler bug.
#[must_use]
pub fn tool_found_bug() -> bool {
    TOOL_FOUND_BUG.get()
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_tool_session() && num_bugs_in_context(&self.context) > 0 {
            TOOL_FOUND_BUG.set(true);
        }
    }
}

/// Open source file. While it is open, diagnostics are printed with its lines.
pub struct SourceFile<'c> {
    raw: *mut RawSource,
    session: &'c Session,
}

impl<'c> SourceFile<'c> {
    /// Returns the session that the file is opened in.
    #[must_use]
    pub fn session(&self) -> &'c Session {
        self.session
    }

    /// Parses and verifies the file; returns `None` on a failure, which has been reported.
    #[must_use]
    pub fn parse(&self) -> Option<Module<'c>> {
        // SAFETY: the source is open.
        let raw = unsafe { spyreSourceParse(self.raw, self.session.is_tool_session()) };
        (!raw.ptr.is_null()).then(|| Module { raw, session: self.session })
    }
}

impl Drop for SourceFile<'_> {
    fn drop(&mut self) {
        // SAFETY: closed once.
        unsafe { spyreSourceClose(self.raw) }
    }
}

/// Module owned by a tool.
pub struct Module<'c> {
    raw: MlirModule,
    session: &'c Session,
}

impl<'c> Module<'c> {
    /// Parses a text, for tests and for checks before output; errors go to the context's handlers.
    #[must_use]
    pub fn parse(session: &'c Session, text: &str) -> Option<Self> {
        let raw = parse_raw(&session.context, text);
        (!raw.ptr.is_null()).then(|| Self { raw, session })
    }

    /// Returns the module operation.
    #[must_use]
    pub fn op(&self) -> Op<'_> {
        // SAFETY: the module is alive as long as `self` is borrowed.
        unsafe { Op::from_raw(mlirModuleGetOperation(self.raw)) }
    }

    /// Returns a copy of the module.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        // SAFETY: the module is alive; the copy of a module operation is one, and the new module owns it.
        let raw = unsafe { mlirModuleFromOperation(mlir_sys::mlirOperationClone(mlirModuleGetOperation(self.raw))) };
        Self { raw, session: self.session }
    }

    /// Returns the module of the C API.
    pub(super) fn raw(&self) -> MlirModule {
        self.raw
    }

    /// Returns the session of the module.
    #[must_use]
    pub fn session(&self) -> &'c Session {
        self.session
    }

    /// Runs a textual pipeline. Returns false if it is malformed or a pass failed, which has been reported. The first
    /// call in a process registers our passes with MLIR permanently.
    #[must_use]
    pub fn run_pipeline(&mut self, pipeline: &str) -> bool {
        if let Some(hooks) = self.session.hooks {
            pass::register_pipeline_passes(hooks);
        }
        // SAFETY: the module is alive. Passes of MLIR free erased ops, so no handle may exist: `&mut` ensures that.
        unsafe { spyreRunPipeline(self.raw, string_ref(pipeline), true) }
    }

    /// Runs passes in order, and verifies the module after each pass.
    ///
    /// # Errors
    /// The reason for a stop, which has been reported.
    pub fn run_passes(&mut self, passes: &[PassInstance]) -> Result<(), PassFailure> {
        // SAFETY: as in `run_pipeline`.
        unsafe { pass::run_passes(self.raw, passes, true) }
    }

    /// Runs passes as [`Module::run_passes`] does, without verifying the module, which a later pass does. Debug builds
    /// always verify.
    ///
    /// # Errors
    /// As [`Module::run_passes`].
    pub fn run_unverified(&mut self, passes: &[PassInstance]) -> Result<(), PassFailure> {
        // SAFETY: as in `run_pipeline`.
        unsafe { pass::run_passes(self.raw, passes, cfg!(debug_assertions)) }
    }

    /// Verifies the module; errors are reported.
    #[must_use]
    pub fn verify(&self) -> bool {
        // SAFETY: the module is alive.
        unsafe { mlirOperationVerify(mlirModuleGetOperation(self.raw)) }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // On an error nothing is freed: erased ops with uses stay in memory.
        let _ = erased_ops::free_erased(self.op());
        // SAFETY: destroyed once.
        unsafe { mlir_sys::mlirModuleDestroy(self.raw) }
    }
}

/// Runs passes on a copy of a module as a trial: no remarks are emitted about their decisions. Invalidates handles into
/// the copy.
///
/// # Errors
/// The reason for a stop, which has been reported.
pub fn run_trial_passes(copy: &mut DetachedClone<'_>, passes: &[PassInstance]) -> Result<(), PassFailure> {
    let copy: &DetachedClone<'_> = copy;
    // SAFETY: the copy is a live module in no other operation; no handle into it outlives the exclusive borrow.
    run_as_trial(copy.op(), || unsafe {
        pass::run_passes(mlirModuleFromOperation(copy.op().to_raw()), passes, cfg!(debug_assertions))
    })
}

/// Returns whether a text is a valid module; errors are reported.
#[must_use]
pub fn can_parse(context: &Context, text: &str) -> bool {
    let raw = parse_raw(context, text);
    let is_module = !raw.ptr.is_null();
    if is_module {
        // SAFETY: destroyed once, and not used afterwards.
        unsafe { mlir_sys::mlirModuleDestroy(raw) };
    }
    is_module
}

/// Parses a module; returns null after an error, which has been reported.
fn parse_raw(context: &Context, text: &str) -> MlirModule {
    // MLIR's lexer requires a terminating zero byte.
    let ended = format!("{text}\0");
    // SAFETY: the text and the byte after it outlive the call, which copies the contents that it keeps.
    unsafe { mlir_sys::mlirModuleCreateParse(context.to_raw(), string_ref(&ended[..text.len()])) }
}
