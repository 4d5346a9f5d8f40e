//! Piecewise validation of a program that is too large to execute: each piece is compiled as a separate program under the same options.

use super::{
    blame::{blame, judged},
    compile,
};
use crate::{
    dialect::ods::attr,
    import::DimSize,
    interpret::read_functions,
    mlir::{Module, Op, OpExt, collect, functions_of, keep_part, location_text},
    pipeline::{Options, Phase},
    validate::{Failure, Limits, Piece, Pieces, Verdict, pieces},
};
use std::collections::BTreeSet;

/// Compares the files of each piece of a program with the piece's semantics. Identical pieces, such as equal layers of a model, are
/// compiled once. `too_large` is the reason why the program is not executed completely. Each piece requires a copy of the module; the
/// time is superlinear in the program size, but far below that of executing it.
pub(super) fn judge_pieces(original: &Module<'_>, options: &Options, limits: &Limits, too_large: &str) -> Result<Verdict, Failure> {
    let refuse = |why: &str| Failure::Size(format!("{too_large}, and it cannot be validated in pieces: {why}"));
    if !is_of_the_whole(options) {
        return Err(refuse("options refer to dimensions, arguments, kernels or a plan of the complete program"));
    }
    let importing = Options { compile_to: Phase::Import, notes_plan: false, proves: false, ..options.clone() };
    let mut imported = original.duplicate();
    // Diagnostics of the import were reported earlier.
    let (is_imported, said) = collect(original.session().context(), || compile(&mut imported, &importing, "").is_some());
    if !is_imported {
        let error = said.into_iter().find(|said| said.severity == "error").map(|said| said.message).unwrap_or_default();
        return Err(Failure::Phase(format!("is rejected when it is imported a second time, which is a compiler bug: {error}")));
    }
    let functions = read_functions(&imported).unwrap_or_default();
    let [function] = functions.as_slice() else { return Err(refuse("after the import, it is not a single function of 'spyre' ops")) };
    let own = Options { entry: String::new(), dim_sizes: Vec::new(), ..options.clone() };
    let found = pieces(function, limits.whole);
    // There may be many pieces, so larger ones are executed by samples, which cost about as much as a few draws of the others.
    let of_one = Limits { whole: limits.all_draws, ..*limits };
    let (mut known, mut verdict) = (BTreeSet::new(), None::<Verdict>);
    for piece in &found {
        let module = module_of(&imported, piece);
        if !known.insert(module.op().to_string()) {
            continue;
        }
        let judged = judge_piece(&module, &own, &of_one).map_err(|failure| within(piece, functions_of(imported.op())[0], failure))?;
        match &mut verdict {
            Some(verdict) => verdict.add(&judged),
            None => verdict = Some(judged),
        }
    }
    let verdict = verdict.ok_or_else(|| refuse("it computes nothing"))?;
    let pieces = Some(Pieces { number: found.len() as u64, different: known.len() as u64 });
    Ok(Verdict { pieces, element_operations: function.steps(), ..verdict })
}

/// Returns whether options have the same meaning for a piece as for the complete program.
fn is_of_the_whole(options: &Options) -> bool {
    let Options { tiles, bind, knobs, dims, plan, dim_sizes, .. } = options;
    tiles.is_empty()
        && bind.is_empty()
        && knobs.is_empty()
        && dims.is_empty()
        && plan.is_empty()
        && !dim_sizes.iter().any(DimSize::is_symbolic)
}

/// Returns a piece as a program of its own.
fn module_of<'s>(imported: &Module<'s>, piece: &Piece) -> Module<'s> {
    let copy = imported.duplicate();
    // The copy is compiled from the first phase.
    copy.op().remove_attr(attr::SPYRE_PHASE);
    copy.op().remove_attr(attr::SPYRE_TARGET);
    let function = functions_of(copy.op())[0];
    let ops = function.body_ops();
    let kept: Vec<bool> = (0..ops.len() - 1).map(|position| piece.ops.contains(&position) || piece.constants.contains(&position)).collect();
    let returned: Vec<_> = piece.given.iter().map(|&(op, result)| ops[op].outputs()[result]).collect();
    keep_part(function, &kept, &returned);
    copy
}

fn judge_piece(module: &Module<'_>, options: &Options, limits: &Limits) -> Result<Verdict, Failure> {
    let (judged, said) = collect(module.session().context(), || judged(&mut module.duplicate(), options, limits));
    let refuse = || {
        let why = said.into_iter().find(|said| said.severity == "error").map(|said| said.message).unwrap_or_default();
        Failure::Limit(format!("cannot be validated: this part cannot be compiled separately: {why}"))
    };
    judged.ok_or_else(refuse)?.map_err(|failure| match failure {
        Failure::Files(message) => Failure::Files(format!("{message}: {}", blame(module, options, limits))),
        other => other,
    })
}

/// Converts the failure of a piece to a failure of the program.
fn within(piece: &Piece, function: Op<'_>, failure: Failure) -> Failure {
    let ops = function.body_ops();
    let (first, last) = (piece.ops.start, piece.ops.end - 1);
    let place = location_text(ops[first].loc());
    let said = |message: String| {
        format!("{message}; found in ops {first} to {last} of the program (the first is at {place}), which were compiled separately")
    };
    match failure {
        Failure::Size(message) => Failure::Size(said(message)),
        Failure::Limit(message) => Failure::Limit(said(message)),
        // The diagnosis is complete.
        Failure::Phase(message) | Failure::Files(message) | Failure::Import(message) => Failure::Phase(said(message)),
        Failure::Mistake(message) => Failure::Mistake(said(message)),
    }
}
