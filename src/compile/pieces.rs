//! Piecewise validation of a program that is too large to execute: each piece is compiled as a separate program under
//! the same options.

use super::{
    compile,
    faulty_phase::{find_faulty_phase, validate_files},
};
use crate::{
    dialect::ods::attr,
    import::DimSize,
    interpret::read_functions,
    mlir::{Module, Op, OpExt, collect_diagnostics, find_defined_functions, format_location, retain_ops},
    pipeline::{CompileOptions, Phase},
    validate::{ExecutionLimits, Pieces, ProgramPiece, ValidationFailure, Verdict, partition_into_pieces},
};
use std::collections::BTreeSet;

/// Compares the files of each piece of a program with the piece's semantics. Identical pieces, such as equal layers of
/// a model, are compiled once. `too_large` is the reason why the program is not executed completely. Each piece
/// requires a copy of the module; the time is superlinear in the program size, but far below that of executing it.
pub(super) fn validate_pieces(
    original: &Module<'_>,
    options: &CompileOptions,
    limits: &ExecutionLimits,
    too_large: &str,
) -> Result<Verdict, ValidationFailure> {
    let reject =
        |why: &str| ValidationFailure::TooLarge(format!("{too_large}, and it cannot be validated in pieces: {why}"));
    if !can_apply_to_pieces(options) {
        return Err(reject("options refer to dimensions, arguments, kernels or a plan of the complete program"));
    }
    let importing = CompileOptions { compile_to: Phase::Import, notes_plan: false, proves: false, ..options.clone() };
    let mut imported = original.duplicate();
    // Diagnostics of the import were reported earlier.
    let (is_imported, said) =
        collect_diagnostics(original.session().context(), || compile(&mut imported, &importing, "").is_some());
    if !is_imported {
        let error = said.into_iter().find(|said| said.severity == "error").map(|said| said.message).unwrap_or_default();
        return Err(ValidationFailure::Phase(format!(
            "is rejected when it is imported a second time, which is a compiler bug: {error}"
        )));
    }
    let functions = read_functions(&imported).unwrap_or_default();
    let [function] = functions.as_slice() else {
        return Err(reject("after the import, it is not a single function of 'spyre' ops"));
    };
    let own = CompileOptions { entry: String::new(), dim_sizes: Vec::new(), ..options.clone() };
    let found = partition_into_pieces(function, limits.whole);
    // There may be many pieces, so larger ones are sampled, which costs about as much as a few draws of the other
    // pieces.
    let of_one = ExecutionLimits { whole: limits.all_draws, ..*limits };
    let (mut known, mut verdict) = (BTreeSet::new(), None::<Verdict>);
    for piece in &found {
        let module = build_piece_module(&imported, piece);
        if !known.insert(module.op().to_string()) {
            continue;
        }
        let evaluated = validate_piece(&module, &own, &of_one)
            .map_err(|failure| locate_piece_failure(piece, find_defined_functions(imported.op())[0], failure))?;
        match &mut verdict {
            Some(verdict) => verdict.merge(&evaluated),
            None => verdict = Some(evaluated),
        }
    }
    let verdict = verdict.ok_or_else(|| reject("it computes nothing"))?;
    let pieces = Some(Pieces { number: found.len() as u64, different: known.len() as u64 });
    Ok(Verdict { pieces, element_operations: function.count_operations(), ..verdict })
}

/// Returns whether options have the same meaning for a piece as for the complete program.
fn can_apply_to_pieces(options: &CompileOptions) -> bool {
    let CompileOptions { tiles, bind, knobs, dims, plan, dim_sizes, .. } = options;
    tiles.is_empty()
        && bind.is_empty()
        && knobs.is_empty()
        && dims.is_empty()
        && plan.is_empty()
        && !dim_sizes.iter().any(DimSize::is_symbolic)
}

/// Returns a piece as a program of its own.
fn build_piece_module<'s>(imported: &Module<'s>, piece: &ProgramPiece) -> Module<'s> {
    let copy = imported.duplicate();
    // The copy is compiled from the first phase.
    copy.op().remove_attr(attr::SPYRE_PHASE);
    copy.op().remove_attr(attr::SPYRE_TARGET);
    let function = find_defined_functions(copy.op())[0];
    let ops = function.body_ops();
    let kept: Vec<bool> = (0..ops.len() - 1)
        .map(|position| piece.ops.contains(&position) || piece.constants.contains(&position))
        .collect();
    let returned: Vec<_> = piece.given.iter().map(|&(op, result)| ops[op].outputs()[result]).collect();
    retain_ops(function, &kept, &returned);
    copy
}

fn validate_piece(
    module: &Module<'_>,
    options: &CompileOptions,
    limits: &ExecutionLimits,
) -> Result<Verdict, ValidationFailure> {
    let (evaluated, said) =
        collect_diagnostics(module.session().context(), || validate_files(&mut module.duplicate(), options, limits));
    let reject = || {
        let why = said.into_iter().find(|said| said.severity == "error").map(|said| said.message).unwrap_or_default();
        ValidationFailure::Limit(format!("cannot be validated: this part cannot be compiled separately: {why}"))
    };
    evaluated.ok_or_else(reject)?.map_err(|failure| match failure {
        ValidationFailure::Files(message) => {
            ValidationFailure::Files(format!("{message}: {}", find_faulty_phase(module, options, limits)))
        }
        other => other,
    })
}

/// Converts the failure of a piece to a failure of the program.
fn locate_piece_failure(piece: &ProgramPiece, function: Op<'_>, failure: ValidationFailure) -> ValidationFailure {
    let ops = function.body_ops();
    let (first, last) = (piece.ops.start, piece.ops.end - 1);
    let place = format_location(ops[first].loc());
    let said = |message: String| {
        format!(
            "{message}; found in ops {first} to {last} of the program (the first is at {place}), which were compiled separately"
        )
    };
    match failure {
        ValidationFailure::TooLarge(message) => ValidationFailure::TooLarge(said(message)),
        ValidationFailure::Limit(message) => ValidationFailure::Limit(said(message)),
        // The diagnosis is complete.
        ValidationFailure::Phase(message) | ValidationFailure::Files(message) | ValidationFailure::Import(message) => {
            ValidationFailure::Phase(said(message))
        }
        ValidationFailure::UserError(message) => ValidationFailure::UserError(said(message)),
    }
}
