//! The public interface, used as a library.

use referee::{RunOptions, draw_seeded_array};
use spyre::{Compiler, Phase, Severity, Source, Target};
use std::{collections::BTreeMap, fs};

const DOUBLE: &str = "func.func @double(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %empty = tensor.empty() : tensor<64x128xf16>
  %sum = linalg.add ins(%x, %x : tensor<64x128xf16>, tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %sum : tensor<64x128xf16>
}
";

#[test]
fn compiles_text_and_file_to_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("double.mlir");
    fs::write(&path, DOUBLE).unwrap();
    let compiler = Compiler::new(Target::spyre());
    let from_text = compiler.compile(DOUBLE).unwrap();
    let from_file = compiler.compile(Source::from_file(&path)).unwrap();
    let paths: Vec<&str> = from_text.files().iter().map(|file| file.path.as_str()).collect();
    assert!(paths.contains(&"program.json"), "{paths:?}");
    let without_locations = |name: &str| !name.contains("sdsc_");
    let of = |compiled: &spyre::Compiled| {
        compiled.files().iter().filter(|file| without_locations(&file.path)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of(&from_text), of(&from_file));
    assert_eq!((from_text.hbm_bytes(), from_text.hbm_bytes_lower_bound()), (32_768, 32_768));
    assert!(from_text.modeled_us() > 0.0);
    assert!(from_text.report_json().starts_with('{'));
}

#[test]
fn written_program_runs_on_the_simulator() {
    let compiled = Compiler::new(Target::spyre().with_cores(4)).compile(DOUBLE).unwrap();
    let simulation = compiled.simulation().unwrap();
    let tensor = &simulation.program().arguments[0];
    let inputs = BTreeMap::from([(tensor.name.clone(), draw_seeded_array(tensor, 1).unwrap())]);
    let outcome = simulation.run(&inputs, &RunOptions::default()).unwrap();
    assert_eq!(outcome.results.len(), 1);
    let folder = tempfile::tempdir().unwrap();
    compiled.write_to(folder.path().join("out")).unwrap();
    compiled.write_to(folder.path().join("out")).unwrap();
    assert!(folder.path().join("out/program.json").exists());
    fs::write(folder.path().join("other"), "").unwrap();
    assert!(compiled.write_to(folder.path()).is_err());
}

#[test]
fn ir_of_a_phase_continues_to_the_same_files() {
    let compiler = Compiler::new(Target::spyre()).option("validate", "off");
    let ir = compiler.compile_to_ir(DOUBLE, Phase::Work).unwrap();
    assert!(ir.contains("spyre.pointwise"), "{ir}");
    let whole = compiler.compile(DOUBLE).unwrap();
    let continued = compiler.compile(Source::from_text("input.mlir", ir)).unwrap();
    assert_eq!(whole.hbm_bytes(), continued.hbm_bytes());
    let error = compiler.compile_to_ir(DOUBLE, Phase::Emit).unwrap_err();
    assert_eq!(error.to_string(), "error: phase 'emit' has no IR; use Compiler::compile");
}

#[test]
fn rejects_invalid_programs_and_options_with_their_position() {
    let compiler = Compiler::new(Target::spyre());
    let error = compiler.compile("func.func @f() {\n  %x = foo.bar : f32\n}\n").unwrap_err();
    let first = error.iter().next().unwrap();
    assert_eq!((first.severity, first.positions[0].line), (Severity::Error, 2), "{error}");
    assert!(!error.is_bug());
    let message =
        |name: &str, value: &str| compiler.clone().option(name, value).compile(DOUBLE).unwrap_err().to_string();
    assert!(message("coers", "3").contains("unknown option 'coers'"), "{}", message("coers", "3"));
    assert!(message("cores", "many").contains("expected a number, found 'many'"));
    assert!(message("validate", "perhaps").starts_with("error: option 'validate': "));
    assert!(message("compile-to", "lx").contains("use Compiler::compile_to_ir"));
    let missing = compiler.compile(Source::from_file("/nowhere/double.mlir")).unwrap_err().to_string();
    assert!(missing.starts_with("error: cannot read '/nowhere/double.mlir': "), "{missing}");
}
