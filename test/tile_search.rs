//! Choices and search effort of `spyre-search-tiling`, as numbers, for programs whose output is too long to read.

#![allow(clippy::unwrap_used, reason = "a test over modules")]

use spyre_compiler::{
    compile::compile,
    mlir::Module,
    pipeline::{CompileOptions, Phase, create_session},
    report::TileSearchReport,
};
use std::fmt::Write;

/// Returns a repeated softmax over the rows of a tensor that exceeds 32 scratchpads of 32 KiB.
fn repeated_softmax(n_layers: usize) -> String {
    let whole = "tensor<2048x512xf16>";
    let row = "tensor<2048x1xf16>";
    let mut text = format!("func.func @softmaxes(%x0: {whole}) -> {whole} {{\n");
    for (layer, next) in (0..n_layers).zip(1..) {
        writeln!(text, "  %max{layer} = spyre.reduce max(%x{layer}) dims [1] : {whole} -> {row}").unwrap();
        writeln!(text, "  %shifted{layer} = spyre.pointwise sub(%x{layer}, %max{layer}) : ({whole}, {row}) -> {whole}")
            .unwrap();
        writeln!(text, "  %exp{layer} = spyre.pointwise exp(%shifted{layer}) : {whole}").unwrap();
        writeln!(text, "  %sum{layer} = spyre.reduce sum(%exp{layer}) dims [1] : {whole} -> {row}").unwrap();
        writeln!(text, "  %x{next} = spyre.pointwise realdiv(%exp{layer}, %sum{layer}) : ({whole}, {row}) -> {whole}")
            .unwrap();
    }
    format!("{text}  return %x{n_layers} : {whole}\n}}\n")
}

fn search_tiles(text: &str, options: CompileOptions) -> TileSearchReport {
    let session = create_session();
    let mut module = Module::parse(&session, text).unwrap();
    let options = CompileOptions { lx_bytes: 32768, compile_to: Phase::Lx, ..options };
    compile(&mut module, &options, "").unwrap().tile_search.remove(0)
}

#[test]
fn searches_equal_layers_once() {
    let options = CompileOptions { tile_steps: Some(200), ..CompileOptions::default() };
    let few = search_tiles(&repeated_softmax(60), options.clone());
    let many = search_tiles(&repeated_softmax(180), options);
    // The last tile is the remainder.
    assert!(many.n_judged < 2 * few.n_judged, "{} judgements for 60 layers, {} for 180", few.n_judged, many.n_judged);
    assert!(many.nests.len() > 2 * few.nests.len(), "all layers are tiled: {} nests", many.nests.len());
}

#[test]
fn chooses_nothing_worse_with_more_steps() {
    let program = repeated_softmax(10);
    let mut before: Option<TileSearchReport> = None;
    for steps in [1, 100, 1000] {
        let now = search_tiles(&program, CompileOptions { tile_steps: Some(steps), ..CompileOptions::default() });
        if let Some(before) = before {
            assert!(now.n_judged >= before.n_judged && now.us <= before.us, "{steps} steps: {now:?} after {before:?}");
        }
        assert!(Some(now.us) <= now.untiled_us, "{now:?}");
        before = Some(now);
    }
}

#[test]
fn chooses_same_loops_for_same_program() {
    let program = repeated_softmax(20);
    assert_eq!(search_tiles(&program, CompileOptions::default()), search_tiles(&program, CompileOptions::default()));
}
