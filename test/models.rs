//! Tests models end to end: compiles them, runs the emitted files on the simulated machine, and compares the results
//! with MLIR's JIT.
//!
//! Our own models are in the repository. The tests of exports of other producers are in `shared`.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::{self, granite::Granite};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

#[path = "models/attention.rs"]
pub(crate) mod attention;

use attention::AttentionShape;

fn compile(input: &Path, out: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
        .arg(input)
        .arg("-o")
        .arg(out)
        .arg("--validate=off")
        .args(options)
        .output()
        .unwrap()
}

/// Compiles a file, runs the emitted bundle, and compares the results.
fn check(input: &Path, options: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let compiled = compile(input, &out, options);
    assert!(
        compiled.status.success(),
        "{} {options:?}: {}",
        input.display(),
        String::from_utf8_lossy(&compiled.stderr)
    );
    let run = Command::new(env!("CARGO_BIN_EXE_spyre-run")).arg(&out).arg("--check").arg(input).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{} {options:?}: {}{said}", input.display(), String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("correct"), "{}: {said}", input.display());
}

fn check_text(text: &str, options: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    let input = place.path().join("model.mlir");
    fs::write(&input, text).unwrap();
    check(&input, options);
}

/// Heads of one stick, of two, of less than one, and of a fraction; sequence lengths that end inside a stick.
#[test]
fn runs_attention_with_heads_of_every_width() {
    let square = AttentionShape { batches: 1, positions: 64, heads: 4, head_size: 64, is_packed: false };
    check_text(&square.module(), &[]);
    check_text(&AttentionShape { positions: 100, heads: 2, head_size: 128, ..square }.module(), &[]);
    check_text(&AttentionShape { head_size: 80, ..square }.module(), &["--cores", "5"]);
    check_text(&AttentionShape { batches: 2, positions: 50, heads: 3, head_size: 24, ..square }.module(), &[]);
    check_text(&AttentionShape { batches: 2, positions: 33, heads: 2, ..square }.module(), &["--lx-planner", "none"]);
}

#[test]
fn runs_attention_on_slices_of_one_projection() {
    let packed = AttentionShape { batches: 1, positions: 64, heads: 4, head_size: 64, is_packed: true };
    check_text(&packed.module(), &[]);
    check_text(&AttentionShape { head_size: 32, ..packed }.module(), &["--sticks", "greedy"]);
    check_text(&AttentionShape { positions: 40, heads: 2, head_size: 80, ..packed }.module(), &["--cores", "1"]);
}

/// Rotary embeddings with slices inside a stick, heads that share keys and values, a causal mask, two layers.
#[test]
fn runs_granite() {
    let small =
        Granite { layers: 1, sequence: 32, cached: 0, hidden: 128, heads: 4, kv_heads: 2, head_size: 32, mlp: 192 };
    check_text(&small.module(), &[]);
    check_text(&Granite { layers: 2, sequence: 8, ..small }.module(), &["--cores", "2"]);
    check_text(
        &Granite { sequence: 20, cached: 0, hidden: 72, heads: 3, kv_heads: 1, head_size: 24, mlp: 100, ..small }
            .module(),
        &[],
    );
    check_text(&Granite { heads: 2, head_size: 64, ..small }.module(), &["--sticks", "greedy"]);
}

/// Returns the bytes that restickifies move, and those that copies of their results move.
fn moved_bytes(input: &Path, sticks: &str) -> [u64; 2] {
    let place = tempfile::tempdir().unwrap();
    let report = place.path().join("report.json");
    let compiled =
        compile(input, &place.path().join("out"), &["--sticks", sticks, "--report", report.to_str().unwrap()]);
    assert!(compiled.status.success(), "{}: {}", input.display(), String::from_utf8_lossy(&compiled.stderr));
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    ["restickify_bytes", "layout_copy_bytes"].map(|name| report["moves"][name].as_u64().unwrap())
}

/// Attention with greedily chosen stick dimensions moves its scores; fused attention moves nothing.
#[test]
fn moves_nothing_when_attention_layouts_are_chosen_jointly() {
    let place = tempfile::tempdir().unwrap();
    let input = place.path().join("model.mlir");
    fs::write(&input, AttentionShape { batches: 1, positions: 64, heads: 4, head_size: 64, is_packed: false }.module())
        .unwrap();
    assert_eq!(moved_bytes(&input, "global"), [0, 0]);
    assert_ne!(moved_bytes(&input, "greedy"), [0, 0]);
}

/// Sizes of the programs of `benches/plans`, and their replacements here.
const SMALLER_SIZES: [(&str, &str); 8] = [
    ("12800", "256"),
    ("4096", "128"),
    ("2048", "96"),
    ("1024", "80"),
    ("512", "24"),
    ("128", "40"),
    ("64", "12"),
    ("32", "4"),
];

/// Returns the text with smaller sizes. Numbers within a word, as in `f16`, are kept.
fn shrink_sizes(text: &str) -> String {
    let mut small = String::new();
    let mut rest = text;
    while let Some(from) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (front, number) = rest.split_at(from);
        let (number, after) =
            number.split_at(number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len()));
        let is_size = !front.ends_with(|letter: char| letter.is_ascii_alphanumeric() && letter != 'x');
        let size = SMALLER_SIZES.iter().find(|(large, _)| is_size && *large == number).map_or(number, |(_, size)| size);
        small.extend([front, size]);
        rest = after;
    }
    small + rest
}

/// Returns the layers of models in `benches/plans`, small enough to be executed: norms, softmax, attention with and
/// without a mask, one decoding step, gated matmuls, matmuls, and an add.
fn small_layers() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/plans");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    paths.sort();
    assert!(paths.len() >= 17, "{} programs", paths.len());
    paths
        .iter()
        .map(|path| {
            (path.file_stem().unwrap().to_string_lossy().into_owned(), shrink_sizes(&fs::read_to_string(path).unwrap()))
        })
        .collect()
}

#[test]
fn runs_small_layers() {
    assert_eq!(shrink_sizes("tensor<1x32x1024xf16> [1, 32] f32 0xFC00"), "tensor<1x4x80xf16> [1, 4] f32 0xFC00");
    small_layers().iter().for_each(|(_, text)| check_text(text, &[]));
}

#[test]
fn moves_no_more_than_op_by_op_in_small_layers() {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in small_layers() {
        let input = place.path().join(name).with_extension("mlir");
        fs::write(&input, text).unwrap();
        check_moves_no_more_than_op_by_op(&input);
    }
}

fn check_moves_no_more_than_op_by_op(file: &Path) {
    let (global, greedy) = (moved_bytes(file, "global"), moved_bytes(file, "greedy"));
    assert!(global[0] <= greedy[0] && global[1] <= greedy[1], "{}: {global:?} instead of {greedy:?}", file.display());
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    /// Exported programs that must be accepted, from issue 5. `exported_files` adds the producers whose files must all
    /// be accepted.
    const ACCEPTED: [&str; 18] = [
        "add_mul_f16",
        "softmax_f16",
        "softmax_f32",
        "layernorm_f16",
        "rmsnorm_f16",
        "matmul_f16",
        "bmm_f16",
        "mlp_gelu_f16",
        "swiglu_f16",
        "sdpa_f16",
        "sdpa_causal_f16",
        "decode_step_f16",
        "gather_f16",
        "gather_exp_f16",
        "embedding_f16",
        "granite_block_f16",
        "granite_lm2_f16",
        "conv_relu_f16",
    ];

    fn exported_files() -> Vec<std::path::PathBuf> {
        let inputs = common::shared("inputs");
        let mut files: Vec<_> = ACCEPTED.iter().map(|name| inputs.join(format!("torch-mlir/{name}.mlir"))).collect();
        for producer in ["jax", "torch-mlir-inline-weights"] {
            files.extend(fs::read_dir(inputs.join(producer)).unwrap().map(|entry| entry.unwrap().path()));
        }
        files.retain(|file| file.extension().is_some_and(|extension| extension == "mlir"));
        files.sort();
        files.dedup();
        files
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn runs_exported_models() {
        exported_files().iter().for_each(|file| check(file, &[]));
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn moves_no_more_than_op_by_op_in_exported_models() {
        exported_files().iter().for_each(|file| check_moves_no_more_than_op_by_op(file));
    }

    /// The message names the dynamic sizes.
    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn compiles_exported_models_for_given_sizes() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let file = common::shared("inputs/torch-mlir/softmax_dyn_f16.mlir");
        let rejected = compile(&file, &out, &[]);
        let said = String::from_utf8_lossy(&rejected.stderr);
        assert_eq!(rejected.status.code(), Some(1));
        assert!(said.contains("--dim-size arg0.0=N"), "{said}");
        assert!(!out.exists(), "half-written output");
        check(&file, &["--dim-size", "arg0.0=100"]);
    }

    /// A layer of Granite 2B exported from Hugging Face's class, including positions and mask. Its 100 million weights
    /// are too many to run here.
    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn compiles_exported_granite_layer() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let done = compile(
            &common::shared("inputs/torch-mlir/hf_granite2b_1layer_f16.mlir"),
            &out,
            &["--tile-search", "none"],
        );
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        assert!(out.join("program.json").exists());
    }
}
