//! Checks that a program with constants computes the same results as with these numbers as arguments, for every type
//! and layout. The simulator stores arguments in memory with its own code, so the test compares two implementations of
//! the conversion from elements to device memory.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use machine::Target;
use referee::{ArrayElements, HostArray, RunOptions, Simulation, draw_seeded_array};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A function of `%x` and `%w`, of which `%w` can be a constant.
struct ConstantCase {
    x: &'static str,
    /// The type of `%w` without a layout.
    w: &'static str,
    /// Layout of the constant, if it is not the default one.
    layout: Option<&'static str>,
    body: &'static str,
    result: &'static str,
    options: &'static [&'static str],
}

/// Encoding of the elements in the source.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ElementEncoding {
    Argument,
    Dense,
    Resource,
}

const CASES: [ConstantCase; 9] = [
    ConstantCase {
        x: "tensor<64x128xf16>",
        w: "tensor<128x192xf16>",
        layout: None,
        body: "%r = spyre.matmul(%x, %w) : (tensor<64x128xf16>, tensor<128x192xf16>) -> tensor<64x192xf16>",
        result: "tensor<64x192xf16>",
        options: &[],
    },
    ConstantCase {
        x: "tensor<33x70xf16>",
        w: "tensor<33x70xf16>",
        layout: None,
        body: "%r = spyre.pointwise mul(%x, %w) : tensor<33x70xf16>",
        result: "tensor<33x70xf16>",
        options: &["--cores", "1"],
    },
    ConstantCase {
        x: "tensor<5x3x70xbf16>",
        w: "tensor<5x1x70xbf16>",
        layout: None,
        body: "%r = spyre.pointwise add(%x, %w) : (tensor<5x3x70xbf16>, tensor<5x1x70xbf16>) -> tensor<5x3x70xbf16>",
        result: "tensor<5x3x70xbf16>",
        options: &["--addresses", "baked"],
    },
    ConstantCase {
        x: "tensor<64x33xf32>",
        w: "tensor<64x33xf32>",
        layout: None,
        body: "%r = spyre.pointwise sub(%x, %w) : tensor<64x33xf32>",
        result: "tensor<64x33xf32>",
        options: &[],
    },
    ConstantCase {
        x: "tensor<64x70xf16>",
        w: "tensor<64x70xi1>",
        layout: None,
        body: "%n = spyre.pointwise neg(%x) : tensor<64x70xf16>
  %r = spyre.pointwise where3(%w, %x, %n) : (tensor<64x70xi1>, tensor<64x70xf16>, tensor<64x70xf16>) -> tensor<64x70xf16>",
        result: "tensor<64x70xf16>",
        options: &[],
    },
    // The sticks are along the columns.
    ConstantCase {
        x: "tensor<128x70xf16, #spyre.layout<[2, 70, 64], [4480, 1, 70]>>",
        w: "tensor<128x70xf16>",
        layout: Some("#spyre.layout<[2, 70, 64], [4480, 1, 70]>"),
        body: "%r = spyre.pointwise add(%x, %w) : (tensor<128x70xf16, #spyre.layout<[2, 70, 64], [4480, 1, 70]>>, \
               tensor<128x70xf16, #spyre.layout<[2, 70, 64], [4480, 1, 70]>>) -> tensor<128x70xf16>",
        result: "tensor<128x70xf16>",
        options: &[],
    },
    // One element per stick.
    ConstantCase {
        x: "tensor<64x256xf16>",
        w: "tensor<64x1xf16>",
        layout: Some("#spyre.layout<[1, 64, 64], [-1, 1, -1]>"),
        body: "%m = spyre.reduce max(%x) dims [1] : tensor<64x256xf16> -> tensor<64x1xf16>
  %r = spyre.pointwise mul(%m, %w) : (tensor<64x1xf16>, tensor<64x1xf16, #spyre.layout<[1, 64, 64], [-1, 1, -1]>>) -> tensor<64x1xf16>",
        result: "tensor<64x1xf16>",
        options: &[],
    },
    // The loop slices its tiles from the constant.
    ConstantCase {
        x: "tensor<128x256xf16> {spyre.dims = [\"A\", \"B\"]}",
        w: "tensor<128x256xf16>",
        layout: None,
        body: "%e = spyre.pointwise exp(%x) : tensor<128x256xf16>
  %r = spyre.pointwise add(%e, %w) : tensor<128x256xf16>",
        result: "tensor<128x256xf16>",
        options: &["--tiles", "A=2", "--tiles", "B=2"],
    },
    // Different indices, and a second use.
    ConstantCase {
        x: "tensor<70x64xf16>",
        w: "tensor<64x70xf16>",
        layout: None,
        body: "%e = spyre.pointwise exp(%w) : tensor<64x70xf16>
  %s = spyre.reduce sum(%e) dims [1] : tensor<64x70xf16> -> tensor<64x1xf16>
  %r = spyre.pointwise add(%w, %s) : (tensor<64x70xf16>, tensor<64x1xf16>) -> tensor<64x70xf16>",
        result: "tensor<64x70xf16>",
        options: &[],
    },
];

/// Formats the bits of the elements in hexadecimal, as in MLIR's text.
fn hex(elements: &ArrayElements, given: ElementEncoding) -> String {
    let bytes: Vec<u8> = match elements {
        ArrayElements::F16(bits) | ArrayElements::Bf16(bits) => {
            bits.iter().flat_map(|bits| bits.to_le_bytes()).collect()
        }
        ArrayElements::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        ArrayElements::F64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        ArrayElements::I8(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        ArrayElements::I32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        ArrayElements::I64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        // `dense` packs booleans, and a resource does not.
        ArrayElements::Bool(values) if given == ElementEncoding::Dense => {
            values.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect()
        }
        ArrayElements::F8E4M3Fn(values) | ArrayElements::F8E5M2(values) | ArrayElements::Bool(values) => values.clone(),
    };
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02X}").unwrap();
        text
    })
}

fn program(case: &ConstantCase, given: ElementEncoding, w: Option<&ArrayElements>) -> String {
    let ConstantCase { x, w: plain, layout, body, result, .. } = case;
    let laid_out =
        layout.map_or_else(|| (*plain).to_owned(), |layout| format!("{}, {layout}>", plain.trim_end_matches('>')));
    let bits = w.map(|w| hex(w, given)).unwrap_or_default();
    let (argument, constant, resources) = match given {
        ElementEncoding::Argument => (format!(", %w: {laid_out}"), String::new(), String::new()),
        ElementEncoding::Dense => (
            String::new(),
            format!("  %w = spyre.constant dense<\"0x{bits}\"> : {plain} -> {laid_out}\n"),
            String::new(),
        ),
        ElementEncoding::Resource => (
            String::new(),
            format!("  %w = spyre.constant dense_resource<w> : {plain} -> {laid_out}\n"),
            format!("{{-#\n  dialect_resources: {{ builtin: {{ w: \"0x08000000{bits}\" }} }}\n#-}}\n"),
        ),
    };
    format!(
        "func.func @main(%x: {x}{argument}) -> {result} {{\n{constant}  {body}\n  return %r : {result}\n}}\n\n{resources}"
    )
}

fn compile(text: &str, options: &[&str], place: &Path) -> Simulation {
    let (input, out) = (place.join("program.mlir"), place.join("out"));
    fs::write(&input, text).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
        .arg(&input)
        .arg("-o")
        .arg(&out)
        .arg("--validate=off")
        .args(options)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}\n{text}", String::from_utf8_lossy(&done.stderr));
    Simulation::load(&out, &Target::spyre()).unwrap()
}

fn run(simulation: &Simulation, inputs: &[(&str, &HostArray)]) -> Vec<(String, HostArray)> {
    let inputs: BTreeMap<_, _> = inputs.iter().map(|(name, array)| ((*name).to_owned(), (*array).clone())).collect();
    simulation.run(&inputs, &RunOptions::default()).unwrap().results
}

#[test]
fn computes_same_results_from_constants_as_from_arguments() {
    for case in &CASES {
        let place = tempfile::tempdir().unwrap();
        let with_argument = compile(&program(case, ElementEncoding::Argument, None), case.options, place.path());
        let [x, w] = [0, 1].map(|number| draw_seeded_array(&with_argument.program().arguments[number], 7).unwrap());
        let expected = run(&with_argument, &[("arg0", &x), ("arg1", &w)]);
        for given in [ElementEncoding::Dense, ElementEncoding::Resource] {
            let place = tempfile::tempdir().unwrap();
            let simulation = compile(&program(case, given, Some(&w.elements)), case.options, place.path());
            let entries = &simulation.program().constants;
            let (mut entry, argument) = (entries[0].clone(), &with_argument.program().arguments[1]);
            assert_eq!((entries.len(), entry.file.take().unwrap().as_str()), (1, "constants/const0.bin"));
            entry.name.clone_from(&argument.name);
            assert_eq!(entry, *argument, "{given:?}: {}", case.body);
            assert!(run(&simulation, &[("arg0", &x)]) == expected, "{given:?}: {}", case.body);
            let other = run(&simulation, &[("arg0", &x), ("const0", &draw_seeded_array(&entries[0], 8).unwrap())]);
            assert!(other != expected, "the value does not matter: {}", case.body);
        }
    }
}

/// The reason for a rejection must not depend on the file that the constant names.
#[test]
fn rejects_hostile_constant_files() {
    let place = tempfile::tempdir().unwrap();
    let case = &CASES[1];
    let with_argument = compile(&program(case, ElementEncoding::Argument, None), &[], place.path());
    let w = draw_seeded_array(&with_argument.program().arguments[1], 7).unwrap();
    let place = tempfile::tempdir().unwrap();
    let simulation = compile(&program(case, ElementEncoding::Dense, Some(&w.elements)), &[], place.path());
    let out = place.path().join("out");
    let load = |file: &str, bytes: i64| {
        let mut program = simulation.program().clone();
        program.constants[0].file = Some(file.to_owned());
        program.constants[0].bytes = bytes;
        Simulation::with_program(program, &out, &Target::spyre()).map(|_| ()).map_err(|error| error.rule())
    };
    let bytes = simulation.program().constants[0].bytes;
    assert_eq!(load("constants/const0.bin", bytes), Ok(()));
    for file in ["", ".", "/dev/zero", "../out/constants/const0.bin", "constants/../constants/const0.bin", "constants"]
    {
        assert_eq!(load(file, bytes), Err("malformed"), "{file}");
    }
    assert_eq!(load("constants/const1.bin", bytes), Err("missing-file"));
    for bytes in [0, -1, bytes - 1, bytes + 1, i64::MAX, i64::MIN] {
        assert_eq!(load("constants/const0.bin", bytes), Err("malformed"), "{bytes}");
    }
    // The size of the file matches its header, but exceeds the limit of the machine.
    fs::File::create(out.join("constants/large.bin")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(load("constants/large.bin", 1 << 40), Ok(()));
    let mut program = simulation.program().clone();
    (program.constants[0].file, program.constants[0].bytes) = (Some("constants/large.bin".to_owned()), 1 << 40);
    let large = Simulation::with_program(program, &out, &Target::spyre()).unwrap();
    let x = draw_seeded_array(&large.program().arguments[0], 1).unwrap();
    let rejected = large.run(&[("arg0".to_owned(), x.clone())].into(), &RunOptions::default()).unwrap_err();
    assert_eq!(rejected.rule(), "too-much-memory");
    // The file changes after it was opened.
    fs::write(out.join("constants/const0.bin"), "short").unwrap();
    let rejected = simulation.run(&[("arg0".to_owned(), x)].into(), &RunOptions::default()).unwrap_err();
    assert_eq!(rejected.rule(), "malformed");
}
