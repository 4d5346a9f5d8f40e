//! One compilation of a text.

use crate::SpyreReport;
use spyre_compiler::{
    compile::{CompileOutcome, compile_source, parse_options},
    mlir::CollectedDiagnostic,
    pipeline::{Phase, create_session},
    tool::run_on_large_stack,
};

/// Compilation request.
pub(crate) struct CompileRequest {
    pub(crate) program: String,
    pub(crate) name: String,
    pub(crate) output: Option<String>,
    pub(crate) options: Vec<(String, String)>,
}

/// Exit code, report and diagnostics of a compilation.
pub(crate) struct CompileResponse {
    pub(crate) code: i32,
    pub(crate) report: Option<SpyreReport>,
    pub(crate) diagnostics: Vec<CollectedDiagnostic>,
}

impl CompileResponse {
    /// Returns the response to a mistake of the caller that has no position in the program.
    fn from_usage_error(message: String) -> Self {
        Self { code: 1, report: None, diagnostics: vec![to_error_diagnostic(message)] }
    }

    /// Returns the response to a panic.
    pub(crate) fn from_panic() -> Self {
        let message = "internal error of the library; standard error has the details".to_owned();
        Self { code: 2, report: None, diagnostics: vec![to_error_diagnostic(message)] }
    }
}

fn to_error_diagnostic(message: String) -> CollectedDiagnostic {
    CollectedDiagnostic {
        severity: "error",
        code: None,
        message,
        places: Vec::new(),
        module: String::new(),
        notes: Vec::new(),
    }
}

/// Compiles the program of a request. A defect of the compiler is a response with code 2, or a panic.
pub(crate) fn compile(request: &CompileRequest) -> CompileResponse {
    run_on_large_stack(|| compile_request(request).unwrap_or_else(CompileResponse::from_usage_error))
}

fn compile_request(request: &CompileRequest) -> Result<CompileResponse, String> {
    let (options, validation) = parse_options(&request.options, Phase::Emit)?;
    let output = match (&request.output, options.compile_to) {
        (None, Phase::Emit) => return Err("missing output directory; name one".to_owned()),
        (Some(output), phase) if phase != Phase::Emit => {
            return Err(format!(
                "expected no output directory, since phase '{phase}' writes no files, found '{output}'; give null, the IR is the result"
            ));
        }
        (output, _) => output.as_deref().unwrap_or_default(),
    };
    let session = create_session();
    let source = session.source_from_text(&request.name, &request.program);
    let CompileOutcome { report, ir, diagnostics, found_bug } = compile_source(&source, &options, output, validation);
    let code = match (&report, found_bug) {
        (Some(_), _) => 0,
        (None, false) => 1,
        (None, true) => 2,
    };
    let report = report.map(|report| SpyreReport::new(&report, ir)).transpose()?;
    Ok(CompileResponse { code, report, diagnostics })
}
