//! `spyre-tune` as a process: signals, and searches that do not evaluate all points.

#![allow(clippy::unwrap_used, reason = "a test over processes")]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
};

const TUNE: &str = env!("CARGO_BIN_EXE_spyre-tune");

/// A kernel with more points than a test can evaluate: the second knob has no effect.
const LARGE_SPACE_KERNEL: &str =
    "func.func private @twice(%x: tensor<128x256xf16> {spyre.dims = [\"rows\", \"columns\"]}) -> tensor<128x256xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 64>, #spyre.knob<Unread = 1 in 1 to 200>]} {
  %z = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<128x256xf16>
    %root = linalg.exp ins(%x : tensor<128x256xf16>) outs(%empty : tensor<128x256xf16>) -> tensor<128x256xf16>
    spyre.yield %root : tensor<128x256xf16>
  }
  return %z : tensor<128x256xf16>
}

func.func @main(%x: tensor<128x256xf16>) -> tensor<128x256xf16> {
  %y = call @twice(%x) : (tensor<128x256xf16>) -> tensor<128x256xf16>
  return %y : tensor<128x256xf16>
}
";

/// Starts a search, and waits until it has compiled its first points and is far from its end.
fn start_search(folder: &Path) -> Child {
    let program = folder.join("program.mlir");
    fs::write(&program, LARGE_SPACE_KERNEL).unwrap();
    let mut command = Command::new(TUNE);
    command.arg(&program).args(["-v", "--budget", "10000", "--cache"]).arg(folder.join("cache"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains(" compiled: best "), "{line}");
    child
}

#[test]
fn returns_best_so_far_when_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start_search(folder.path());
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(said.contains("interrupted; best candidate so far") && said.contains("validated: "), "{said}");
    assert!(said.contains("--knobs twice.T="), "{said}");
    assert!(!folder.path().join("cache").exists(), "who looks for the answer looks for the whole one");
}

#[test]
fn leaves_readable_cache_when_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start_search(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    let budget = |budget: &str| {
        let mut command = Command::new(TUNE);
        command
            .arg(folder.path().join("program.mlir"))
            .args(["--budget", budget, "--cache"])
            .arg(folder.path().join("cache"));
        let output = command.output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let of_cache =
            told.lines().find(|line| line.contains("warning: ") && !line.contains("'Unread' that changes nothing"));
        assert!(output.status.success() && of_cache.is_none(), "{told}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(budget("3").contains("not in the cache"));
    assert!(budget("3").contains("from the cache"));
    let missed = "was found with budget 3, seed 0, within 0 and shard 1/1; this search has budget 4, seed 0";
    assert!(budget("4").contains(missed), "another question");
}

#[test]
fn finds_same_best_point_by_walk_as_by_enumeration() {
    let folder = tempfile::tempdir().unwrap();
    for (kernel, lx_bytes, budget) in [("matmul", "65536", "24"), ("rms_norm", "4096", "15")] {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/kernels/{kernel}.mlir"));
        let best = |budget: &str, seed: &str| {
            let report = folder.path().join("report.json");
            let mut command = Command::new(TUNE);
            command
                .arg(&program)
                .args(["--lx-bytes", lx_bytes, "--budget", budget, "--seed", seed, "--report"])
                .arg(&report);
            assert!(command.output().unwrap().status.success());
            let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
            (report["answer"]["is_exhaustive"].as_bool().unwrap(), report["answer"]["best"][0].clone())
        };
        let (is_exhaustive, all) = best("100", "0");
        assert!(is_exhaustive);
        for seed in ["0", "1"] {
            assert_eq!(best(budget, seed), (false, all.clone()), "{kernel}, seed {seed}");
        }
    }
}
