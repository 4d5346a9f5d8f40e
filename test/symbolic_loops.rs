//! Loops over symbolic sizes: one bundle computes at each size what a bundle of that size computes, and a mutant of its
//! loops is rejected or computes other numbers.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::listen::collect_errors;
use machine::Target;
use referee::{HostArray, RunOptions, SimError, Simulation, draw_seeded_array};
use sdsc_check::{Profile, check_directory_with_profile};
use spyre_compiler::{
    compile::{compile, parse_options},
    mlir::Module,
    pipeline::{Phase, create_session},
};
use std::{collections::BTreeMap, fs, path::Path};

/// Softmax of a linear layer: rows are symbolic, and each op of a tile reads what another one wrote.
const PROGRAM: &str = "
func.func @layer(%x: tensor<?x256xf16> {spyre.dims = [\"M\", \"K\"]}, %w: tensor<256x512xf16>) -> tensor<?x512xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %n = tensor.dim %x, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%n) : tensor<?x512xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<?x512xf16>) -> tensor<?x512xf16>
  %y = linalg.matmul ins(%x, %w : tensor<?x256xf16>, tensor<256x512xf16>) outs(%f : tensor<?x512xf16>) -> tensor<?x512xf16>
  %s = linalg.softmax dimension(1) ins(%y : tensor<?x512xf16>) outs(%e : tensor<?x512xf16>) -> tensor<?x512xf16>
  %t = linalg.tanh ins(%s : tensor<?x512xf16>) outs(%e : tensor<?x512xf16>) -> tensor<?x512xf16>
  return %t : tensor<?x512xf16>
}";

/// Rows of a tile.
const TILE: i64 = 64;
const MAX_TILES: i64 = 10;

/// Compiles the program in tiles of [`TILE`] rows for one size of its rows, as in `--dim-size arg0.0=SIZE`.
fn emit(size: &str, num_tiles: i64, output: &Path) {
    let option = |name: &str, value: String| (name.to_owned(), value);
    let options = [
        option("dim-size", format!("arg0.0={size}")),
        option("tiles", format!("M={num_tiles}")),
        option("bundle-format", Profile::TorchSpyre2026_09.to_string()),
    ];
    let (options, _) = parse_options(&options, Phase::Emit).unwrap();
    let session = create_session();
    let errors = collect_errors(&session);
    let mut module = Module::parse(&session, PROGRAM).unwrap();
    let is_compiled = compile(&mut module, &options, output.to_str().unwrap()).is_some();
    assert!(is_compiled, "{}", errors.borrow().join("\n"));
}

/// Runs a bundle at a size, if it has sizes.
fn run(bundle: &Path, size: i64) -> Result<Vec<(String, HostArray)>, SimError> {
    let simulation = Simulation::load(bundle, &Target::spyre())?;
    let sizes = simulation.program().sizes.iter().map(|symbolic| (symbolic.name.clone(), size)).collect();
    let simulation = simulation.with_sizes(&sizes)?;
    let arguments = simulation.program().arguments.iter();
    let inputs: BTreeMap<String, HostArray> =
        arguments.map(|tensor| (tensor.name.clone(), draw_seeded_array(tensor, 7).unwrap())).collect();
    let options = RunOptions { wipe_lx: true, ..RunOptions::default() };
    simulation.run(&inputs, &options).map(|outcome| outcome.results)
}

#[test]
fn bundle_of_all_sizes_computes_what_bundle_of_one_size_computes() {
    let place = tempfile::tempdir().unwrap();
    let sized = place.path().join("sized");
    emit(&format!("{}:{TILE}", MAX_TILES * TILE), MAX_TILES, &sized);
    let text = fs::read_to_string(sized.join("bundle_0/bundle.mlir")).unwrap();
    assert!(text.contains("scf.for %i_0 = %c0 to %dim_0 step %step_0 {"), "{text}");
    for tiles in 1..=MAX_TILES {
        let fixed = place.path().join(format!("fixed_{tiles}"));
        emit(&(tiles * TILE).to_string(), tiles, &fixed);
        assert_eq!(run(&sized, tiles * TILE).unwrap(), run(&fixed, tiles * TILE).unwrap(), "{tiles} tiles");
    }
}

/// Changes of step, bounds and strides.
fn mutants(text: &str) -> Vec<(String, String)> {
    let mut mutants = Vec::new();
    let mut replace = |from: &str, to: String| {
        assert!(text.contains(from), "{from} is not in {text}");
        mutants.push((format!("{from} becomes {to}"), text.replace(from, &to)));
    };
    for step in [1, 32, 63, 65, 128, 0, -64] {
        replace("%step_0 = arith.constant 64", format!("%step_0 = arith.constant {step}"));
    }
    for bound in ["%step_0", "%c1", "%dim_0_base", "%arg_0"] {
        replace("to %dim_0 step", format!("to {bound} step"));
    }
    replace("step %step_0", "step %c1".to_owned());
    replace("%i_0 = %c0 to", "%i_0 = %c1 to".to_owned());
    replace("%i_0 = %c0 to", "%i_0 = %step_0 to".to_owned());
    for bounds in ["granularity=32, max_value=640", "granularity=128, max_value=640", "granularity=64, max_value=704"] {
        replace("granularity=64, max_value=640", bounds.to_owned());
    }
    for line in text.lines().filter(|line| line.starts_with("#map")) {
        let stride = line.split(" + ").find_map(|term| term.strip_suffix("*d0)>")).unwrap();
        let number: i64 = stride.parse().unwrap();
        for other in [number * TILE, number + 128, number - 128, 0, number + 2] {
            replace(line, line.replace(&format!("{stride}*d0"), &format!("{other}*d0")));
        }
    }
    mutants
}

#[test]
fn finds_mutants_of_step_bound_and_stride() {
    let place = tempfile::tempdir().unwrap();
    let bundle = place.path().join("sized");
    emit(&format!("{}:{TILE}", MAX_TILES * TILE), MAX_TILES, &bundle);
    let file = bundle.join("bundle_0/bundle.mlir");
    let text = fs::read_to_string(&file).unwrap();
    let find_violations =
        || check_directory_with_profile(&bundle, &Target::spyre(), Profile::TorchSpyre2026_09).unwrap();
    assert!(find_violations().is_empty());
    let expected = run(&bundle, 3 * TILE).unwrap();
    let all = mutants(&text);
    assert!(all.len() >= 20, "{}", all.len());
    for (change, mutant) in all {
        fs::write(&file, mutant).unwrap();
        let is_found = !find_violations().is_empty() || run(&bundle, 3 * TILE).ok().as_ref() != Some(&expected);
        assert!(is_found, "{change}");
    }
}
