//! The compiler.

use super::work::wait_for;
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use spyre_compiler::{
    compile::{CompileOutcome as Done, compile_source},
    mlir::{CollectedDiagnostic, parse_enum},
    pipeline::{CompileOptions, Phase, create_session},
    report::{ProgramText, Report, render_page},
    validate::ValidationMode,
};

/// A diagnostic: severity, message, places (file, line, column; innermost first), path of the module of the model, and
/// notes.
#[derive(IntoPyObject)]
pub(crate) struct Diagnostic {
    severity: &'static str,
    message: String,
    places: Vec<(String, i64, i64)>,
    module: String,
    notes: Vec<Diagnostic>,
}

impl From<CollectedDiagnostic> for Diagnostic {
    fn from(collected: CollectedDiagnostic) -> Self {
        let message = collected.coded_text();
        let CollectedDiagnostic { severity, places, module, notes, .. } = collected;
        let places = places.into_iter().map(|place| (place.file, place.line, place.column)).collect();
        Self { severity, message, places, module, notes: notes.into_iter().map(Self::from).collect() }
    }
}

/// A report as a page, once somebody asks for it.
#[pyclass(frozen)]
pub(crate) struct Page(Report);

#[pymethods]
impl Page {
    /// The text of an HTML file with the lines of the files that operations stand in: pairs of a name, as places in the
    /// report have it, and a text.
    fn html(&self, sources: Vec<(String, String)>) -> PyResult<String> {
        let sources: Vec<ProgramText<'_>> = sources.iter().map(|(file, text)| ProgramText { file, text }).collect();
        render_page(&self.0, &sources).map_err(PyRuntimeError::new_err)
    }
}

/// Outcome of a compilation.
#[derive(IntoPyObject)]
pub(crate) struct Compiled {
    /// Whether it was compiled.
    done: bool,
    diagnostics: Vec<Diagnostic>,
    /// The report as JSON, once files are written.
    report: Option<String>,
    /// The report as a page.
    page: Option<Page>,
    /// The plan as JSON, once files are written; `None` if nothing was chosen.
    plan: Option<String>,
    /// The IR, if the compilation ended before files are written.
    ir: Option<String>,
    /// Description of the validation, in words.
    validation: Option<String>,
}

/// Compiles a file of MLIR into a bundle directory, or with the option `compile-to` to IR. Options are those of
/// `spyre-compile`, as text; locations state `name` as the file; `validate` is `auto`, `on` or `off`.
///
/// # Errors
/// Options that cannot be read are a diagnostic without a place, as is what was wrong with the program; an exception is
/// only raised where the wait was interrupted.
#[pyfunction]
pub(crate) fn compile(
    py: Python<'_>,
    input: String,
    name: String,
    output: String,
    options: Vec<(String, String)>,
    validate: &str,
) -> PyResult<Compiled> {
    let validation = parse_enum(validate).map_err(|message| format!("option 'validate': {message}"));
    wait_for(py, move |_| {
        let refused = |message: String| Compiled {
            done: false,
            diagnostics: vec![Diagnostic {
                severity: "error",
                message,
                places: Vec::new(),
                module: String::new(),
                notes: Vec::new(),
            }],
            report: None,
            page: None,
            plan: None,
            ir: None,
            validation: None,
        };
        match parse_options(&options).and_then(|options| Ok((options, validation?))) {
            Ok((options, validation)) => {
                compile_file((&input, &name), &output, &options, validation).unwrap_or_else(refused)
            }
            Err(message) => refused(message),
        }
    })
}

fn parse_options(given: &[(String, String)]) -> Result<CompileOptions, String> {
    let mut options = CompileOptions { compile_to: Phase::Emit, ..CompileOptions::default() };
    given.iter().try_for_each(|(name, value)| options.set(name, value))?;
    options.check()?;
    // Records the plan, if these options choose one.
    let noting = CompileOptions { notes_plan: true, ..options.clone() };
    if noting.check().is_ok() {
        return Ok(noting);
    }
    Ok(options)
}

fn compile_file(
    (input, name): (&str, &str),
    output: &str,
    options: &CompileOptions,
    validation: ValidationMode,
) -> Result<Compiled, String> {
    let session = create_session();
    let source = session
        .open_named_source(input, name)
        .map_err(|reason| format!("cannot read '{input}': {reason}; give a file of MLIR text or bytecode"))?;
    let Done { report, ir, diagnostics: said, found_bug: _ } = compile_source(&source, options, output, validation);
    let has_files = ir.is_none();
    let json = |report: &Report| serde_json::to_string(report).map_err(|error| error.to_string());
    let emitted = report.as_ref().filter(|_| has_files);
    let plan = emitted
        .and_then(|report| report.to_plan_file(options.kernel_words()))
        .map(|plan| serde_json::to_string(&plan).map_err(|error| error.to_string()));
    Ok(Compiled {
        done: report.is_some(),
        diagnostics: said.into_iter().map(Diagnostic::from).collect(),
        report: emitted.map(json).transpose()?,
        plan: plan.transpose()?,
        ir,
        validation: report
            .as_ref()
            .and_then(|report| report.validation.as_ref())
            .map(|verdict| verdict.lines().join("\n")),
        page: report.filter(|_| has_files).map(Page),
    })
}
