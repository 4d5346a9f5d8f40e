//! A context with our dialects, source files and modules, for the tools.

use super::{
    Attribute, AttributeLike, Context, Hooks, Op, Scratch,
    diag::reworded,
    op::graveyard,
    pass::{self, RawAnswer},
    remark::{RemarkFilters, Yaml, without_remarks},
    text::string_ref,
};
use melior::dialect::DialectRegistry;
use mlir_sys::{
    MlirContext, MlirDialectRegistry, MlirModule, MlirStringRef, mlirAttributeGetContext, mlirContextEqual, mlirModuleFromOperation,
    mlirModuleGetOperation, mlirOperationVerify,
};
use std::{ffi::c_void, sync::Arc};

#[repr(C)]
struct RawSource {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    pub(super) fn spyreRegisterDialects(registry: MlirDialectRegistry);
    fn spyreRegisterReferenceDialects(registry: MlirDialectRegistry);
    fn spyreSourceOpen(context: MlirContext, path: MlirStringRef, answer: RawAnswer, data: *mut c_void) -> *mut RawSource;
    fn spyreSourceOfText(context: MlirContext, name: MlirStringRef, text: MlirStringRef) -> *mut RawSource;
    fn spyreSourceParse(source: *mut RawSource) -> MlirModule;
    fn spyreSourceClose(source: *mut RawSource);
    fn spyreRunPipeline(module: MlirModule, pipeline: MlirStringRef, verifies: bool) -> bool;
}

/// A context with our dialects and passes.
pub struct Session {
    context: Context,
    // The context, which goes first, has a pointer to it.
    remarks: Arc<Yaml>,
}

impl Session {
    /// Registers everything that compiling needs, with the passes of the hooks.
    #[must_use]
    pub fn new(hooks: &'static Hooks) -> Self {
        pass::register(hooks);
        Self::with_registry(&DialectRegistry::new())
    }

    /// Registers what running a program with MLIR's JIT needs.
    #[must_use]
    pub fn with_reference() -> Self {
        let registry = DialectRegistry::new();
        // SAFETY: the registry is alive; C++ adds to it.
        unsafe { spyreRegisterReferenceDialects(registry.to_raw()) };
        Self::with_registry(&registry)
    }

    fn with_registry(registry: &DialectRegistry) -> Self {
        // SAFETY: the registry is alive; C++ adds to it.
        unsafe { spyreRegisterDialects(registry.to_raw()) };
        // Our passes are module passes on one module: threads would only cost start-up time.
        Self { context: Context::new_with_registry(registry, false), remarks: Arc::default() }
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// An attribute for as long as the session lives, in whose context it is; none for one of another context.
    #[must_use]
    pub fn keep<'c>(&'c self, attribute: Attribute<'_>) -> Option<Attribute<'c>> {
        // SAFETY: the attribute is valid. Those of a context live as long as it does.
        unsafe {
            let is_own = mlirContextEqual(mlirAttributeGetContext(attribute.to_raw()), self.context.to_raw());
            is_own.then(|| Attribute::from_raw(attribute.to_raw()))
        }
    }

    /// Has decisions told from here on: printed as diagnostics, or kept in YAML.
    ///
    /// # Errors
    /// A pattern that is no regular expression, and why.
    pub fn ask_for_remarks(&self, filters: RemarkFilters<'_>, is_printed: bool) -> Result<(), String> {
        // SAFETY: fields are dropped in order, and what is counted keeps its place where the session moves to another.
        unsafe { self.remarks.ask(&self.context, filters, is_printed) }
    }

    /// What has been told up to now, in YAML.
    #[must_use]
    pub fn remarks_as_yaml(&self) -> String {
        self.remarks.text()
    }

    /// Loads a dialect. The parser loads what it meets; who builds ops without having parsed any must ask.
    pub fn load(&self, dialect: &str) {
        self.context.get_or_load_dialect(dialect);
    }

    /// Opens a source file; `-` is standard input.
    ///
    /// # Errors
    /// The system's reason if it cannot be read.
    pub fn open(&self, path: &str) -> Result<Source<'_>, String> {
        let mut answer = pass::Answer::default();
        // SAFETY: the answer outlives the call.
        let raw = unsafe { spyreSourceOpen(self.context.to_raw(), string_ref(path), pass::Answer::take, answer.as_data()) };
        if raw.is_null() { Err(answer.text) } else { Ok(Source { raw, session: self }) }
    }

    /// A text as a source file of that name.
    #[must_use]
    pub fn source_of_text(&self, name: &str, text: &str) -> Source<'_> {
        // SAFETY: C++ copies the text.
        let raw = unsafe { spyreSourceOfText(self.context.to_raw(), string_ref(name), string_ref(text)) };
        Source { raw, session: self }
    }
}

/// An open source file. While it lives, diagnostics print with its lines.
pub struct Source<'c> {
    raw: *mut RawSource,
    session: &'c Session,
}

impl<'c> Source<'c> {
    /// The session that it is opened in.
    #[must_use]
    pub fn session(&self) -> &'c Session {
        self.session
    }

    /// Parses and verifies; none if that failed, which has been reported.
    #[must_use]
    pub fn parse(&self) -> Option<Module<'c>> {
        // SAFETY: the source is open.
        let raw = unsafe { spyreSourceParse(self.raw) };
        (!raw.ptr.is_null()).then(|| Module { raw, session: self.session })
    }
}

impl Drop for Source<'_> {
    fn drop(&mut self) {
        // SAFETY: closed once.
        unsafe { spyreSourceClose(self.raw) }
    }
}

/// A module that a tool owns.
pub struct Module<'c> {
    raw: MlirModule,
    session: &'c Session,
}

impl<'c> Module<'c> {
    /// Parses text, for tests and for checking what we are about to write; errors go to the context's handlers.
    #[must_use]
    pub fn parse(session: &'c Session, text: &str) -> Option<Self> {
        let raw = parsed(&session.context, text);
        (!raw.ptr.is_null()).then(|| Self { raw, session })
    }

    /// The module operation.
    #[must_use]
    pub fn op(&self) -> Op<'_> {
        // SAFETY: the module is alive as long as `self` is borrowed.
        unsafe { Op::from_raw(mlirModuleGetOperation(self.raw)) }
    }

    /// A copy of the module.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        // SAFETY: the module is alive; the copy of a module operation is one, and the new module owns it.
        let raw = unsafe { mlirModuleFromOperation(mlir_sys::mlirOperationClone(mlirModuleGetOperation(self.raw))) };
        Self { raw, session: self.session }
    }

    /// The module as the C API has it.
    pub(super) fn raw(&self) -> MlirModule {
        self.raw
    }

    /// The session that the module lives in.
    #[must_use]
    pub fn session(&self) -> &'c Session {
        self.session
    }

    /// Runs a textual pipeline; false if a pass failed, which has been reported.
    #[must_use]
    pub fn run(&mut self, pipeline: &str) -> bool {
        self.run_pipeline(pipeline, true)
    }

    /// As [`Module::run`]; `reword` gives the text in which an error is reported. Unless `is_verified`, whether the module is still valid is for a
    /// later pass to find out. Debug builds look all the same.
    #[must_use]
    pub fn run_reworded(&mut self, pipeline: &str, is_verified: bool, reword: impl Fn(&str) -> String) -> bool {
        let session = self.session;
        reworded(session.context(), reword, || self.run_pipeline(pipeline, is_verified || cfg!(debug_assertions)))
    }

    fn run_pipeline(&mut self, pipeline: &str, verifies: bool) -> bool {
        // SAFETY: the module is alive. Passes of MLIR free what they erase, so that whoever runs them must hold no handle: `&mut`.
        unsafe { spyreRunPipeline(self.raw, string_ref(pipeline), verifies) }
    }

    /// Whether the module is valid; what is not has been reported.
    #[must_use]
    pub fn verify(&self) -> bool {
        // SAFETY: the module is alive.
        unsafe { mlirOperationVerify(mlirModuleGetOperation(self.raw)) }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // What is still used is not freed.
        let _ = graveyard::free(self.op());
        // SAFETY: destroyed once.
        unsafe { mlir_sys::mlirModuleDestroy(self.raw) }
    }
}

/// Runs the compiler's own pipeline with these options on a copy of a module; false if a pass has failed, or an option is wrong. Handles of what
/// was in the copy are stale then.
pub fn compile_copy(copy: &mut Scratch<'_>, options: &str) -> bool {
    let Some(pipeline) = pass::expanded(options) else { return false };
    // What is only tried is nothing that was decided.
    without_remarks(|| {
        // SAFETY: the copy is a module, alive and in no other operation; no handle of it outlives the exclusive borrow.
        unsafe { spyreRunPipeline(mlirModuleFromOperation(copy.op().to_raw()), string_ref(&pipeline), cfg!(debug_assertions)) }
    })
}

/// Whether a text is a valid module; what is wrong with it has been reported.
#[must_use]
pub fn parses(context: &Context, text: &str) -> bool {
    let raw = parsed(context, text);
    let is_module = !raw.ptr.is_null();
    if is_module {
        // SAFETY: destroyed once, at once.
        unsafe { mlir_sys::mlirModuleDestroy(raw) };
    }
    is_module
}

/// The module of a text; null if it is none, which has been reported.
fn parsed(context: &Context, text: &str) -> MlirModule {
    // MLIR's lexer knows the end of a text by the byte behind it.
    let ended = format!("{text}\0");
    // SAFETY: the text and the byte behind it outlive the call, which copies what it keeps.
    unsafe { mlir_sys::mlirModuleCreateParse(context.to_raw(), string_ref(&ended[..text.len()])) }
}
