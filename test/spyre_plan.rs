//! Tool `spyre-plan` as a process: its files, its messages, its exit codes.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

fn run_spyre_plan(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spyre-plan")).current_dir(folder).args(arguments).output().unwrap()
}

fn expect_rejection(name: &str, text: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    let output = run_spyre_plan(folder.path(), &[&[name], arguments].concat());
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

const CSV: &str = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

#[test]
fn places_and_draws_csv_instance() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.csv"), CSV).unwrap();
    let output = run_spyre_plan(folder.path(), &["in.csv", "--capacity", "12", "-o", "out.json", "--svg", "out.svg"]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "no progress where there is no terminal");
    assert!(String::from_utf8(output.stdout).unwrap().starts_with(
        "5 of 5 buffers in LX; HBM traffic 0 bytes (lower bound 0, optimal among plans without split live ranges);"
    ));
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(result["addresses"].as_object().unwrap().len(), 5);
    assert_eq!((&result["optimal"], &result["timed_out"]), (&true.into(), &false.into()));
    assert_eq!(fs::read_to_string(folder.path().join("out.svg")).unwrap().matches("class=\"stay ").count(), 5);
}

/// Two large buffers with interleaved uses: both fit only if the first one is evicted from LX and reloaded.
const EVICTED: &str = r#"{"name": "evicted", "limit": 4, "alignment": 1, "buffers": [
  {"name": "outer", "size": 3, "uses": [{"time": 0, "kind": "write"}, {"time": 1, "kind": "read"}, {"time": 1, "kind": "read"},
    {"time": 4, "kind": "read"}, {"time": 4, "kind": "read"}, {"time": 4, "kind": "read"}],
    "start": 0, "end": 5, "in_place_parents": [], "graph_input": false},
  {"name": "inner", "size": 3, "uses": [{"time": 2, "kind": "write"}, {"time": 3, "kind": "read"}, {"time": 3, "kind": "read"},
    {"time": 3, "kind": "read"}], "start": 2, "end": 4, "in_place_parents": [], "graph_input": false}]}"#;

#[test]
fn plans_draws_and_verifies_evicted_buffer() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.json"), EVICTED).unwrap();
    let output = run_spyre_plan(folder.path(), &["in.json", "-o", "out.json", "--svg", "out.svg"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let among = "optimal among plans that may split live ranges";
    let start =
        format!("2 of 2 buffers in LX, in 3 residency intervals; HBM traffic 6 bytes (lower bound 6, {among});");
    assert!(said.starts_with(&start), "{said}");
    assert!(fs::read_to_string(folder.path().join("out.svg")).unwrap().contains("outer is evicted and reloaded"));
    let verified = run_spyre_plan(folder.path(), &["--verify", "out.json", "in.json"]);
    let said = String::from_utf8(verified.stdout).unwrap();
    assert_eq!(said, format!("valid for 4 bytes of LX: HBM traffic 6 bytes (lower bound 6, gap 0.000 %, {among})\n"));
    let text = fs::read_to_string(folder.path().join("out.json")).unwrap();
    fs::write(folder.path().join("out.json"), text.replace("\"hbm_bytes_left\": 6", "\"hbm_bytes_left\": 5")).unwrap();
    let rejected = run_spyre_plan(folder.path(), &["--verify", "out.json", "in.json"]);
    assert_eq!(rejected.status.code(), Some(1));
    assert!(String::from_utf8(rejected.stderr).unwrap().contains("out.json: expected 'hbm_bytes_left' = 6, found 5"));
}

#[test]
fn verifies_results_of_every_planner() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.json"), EVICTED).unwrap();
    let options: [&[&str]; 6] = [
        &["--planner", "greedy"],
        &["--planner", "first-fit"],
        &["--planner", "best-fit"],
        &["--whole-lives"],
        &["--capacity", "6"],
        &["--smallest-peak"],
    ];
    for options in options {
        let output = run_spyre_plan(folder.path(), &[&["in.json", "-o", "out.json"], options].concat());
        assert!(output.status.success(), "{options:?}");
        let given: &[&str] = if options.len() == 2 && options[0] == "--capacity" || options[0] == "--smallest-peak" {
            &["--capacity", "6"]
        } else {
            &[]
        };
        let verified = run_spyre_plan(folder.path(), &[&["--verify", "out.json", "in.json"], given].concat());
        assert!(verified.status.success(), "{options:?}: {}", String::from_utf8_lossy(&verified.stderr));
    }
}

#[test]
fn selects_buffers_by_weight() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.csv"), "id,lower,upper,size,weight\na,0,9,3,1\nb,0,9,3,5\nc,0,9,3,2\n").unwrap();
    let output = run_spyre_plan(folder.path(), &["in.csv", "--capacity", "6", "-o", "out.json"]);
    assert!(String::from_utf8(output.stdout).unwrap().starts_with(
        "2 of 3 buffers in LX; HBM traffic 6 bytes (lower bound 6, optimal among plans without split live ranges);"
    ));
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
    assert!(result["addresses"]["a"].is_null());
    assert!(run_spyre_plan(folder.path(), &["--verify", "out.json", "in.csv"]).status.success());
}

#[test]
fn finds_smallest_peak_without_capacity() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.csv"), CSV).unwrap();
    let output = run_spyre_plan(folder.path(), &["in.csv", "--smallest-peak", "-o", "out.json"]);
    let suffices = "12 bytes of LX suffice, lower bound 12, optimal among plans without split live ranges";
    assert!(String::from_utf8(output.stdout).unwrap().contains(suffices));
    let verified = run_spyre_plan(folder.path(), &["--verify", "out.json", "in.csv"]);
    let said = String::from_utf8(verified.stdout).unwrap();
    assert!(
        said.starts_with(
            "valid for 12 bytes of LX, which suffice for all buffers, lower bound 12: HBM traffic 0 bytes"
        ),
        "{said}"
    );
}

/// Returns an instance whose search takes longer than any user waits.
fn build_long_instance() -> String {
    let mut state = 1_u64;
    let mut draw = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut text = "id,lower,upper,size\n".to_owned();
    for id in 0..300 {
        let lower = draw(600);
        text += &format!("b{id},{lower},{},{}\n", lower + 1 + draw(60), 1 + draw(1000));
    }
    text
}

#[test]
fn shows_progress_after_two_seconds_on_request() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.csv"), build_long_instance()).unwrap();
    let start = |progress: &str, format: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-plan"));
        command.current_dir(folder.path()).env("SPYRE_PROGRESS", progress).args([
            "in.csv",
            "--capacity=3000",
            "--timeout=60",
            format,
        ]);
        command.args(["--budget", "1000000000000"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let silent = [start("0", "--format=text"), start("1", "--format=json")];
    let mut viewed = start("1", "--format=text");
    let mut line = String::new();
    BufReader::new(viewed.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("spyre-plan: planning in.csv (") && line.ends_with(" s\n"), "{line}");
    viewed.kill().unwrap();
    viewed.wait().unwrap();
    for mut child in silent {
        child.kill().unwrap();
        assert_eq!(String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap(), "");
    }
}

fn plan_result(folder: &Path, threads: &str) -> String {
    let arguments = ["in.json", "-o", "out.json", "--svg", "out.svg"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-plan"));
    let output = command.current_dir(folder).args(arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let plan: Vec<String> =
        text("out.json").lines().filter(|line| !line.contains("\"seconds\"")).map(str::to_owned).collect();
    format!("{}{}{}", String::from_utf8(output.stdout).unwrap(), plan.join("\n"), text("out.svg"))
}

#[test]
fn writes_same_files_in_every_run_and_with_every_thread_count() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.json"), EVICTED).unwrap();
    let first = plan_result(folder.path(), "1");
    assert!(first.contains("certificate") && first.contains("</svg>"));
    assert!(["1", "2", "2", "1"].into_iter().all(|threads| plan_result(folder.path(), threads) == first));
}

#[test]
fn plans_late_operations_and_rejects_huge_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let late =
        EVICTED.replace("\"time\": 4", "\"time\": 1000000000004").replace("\"end\": 5", "\"end\": 1000000000005");
    fs::write(folder.path().join("in.json"), late).unwrap();
    let output = run_spyre_plan(folder.path(), &["in.json", "-o", "out.json", "--svg", "out.svg"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("HBM traffic 6 bytes (lower bound 6, optimal"));
    assert!(run_spyre_plan(folder.path(), &["--verify", "out.json", "in.json"]).status.success());
    for power in [43, 45, 50, 62] {
        let text = EVICTED.replace("\"size\": 3", &format!("\"size\": {}", 1_u64 << power));
        let said = expect_rejection("a.json", &text, &[]);
        assert!(
            said.contains("a.json: ") && said.contains("outer") && said.contains("up to 2^44"),
            "2^{power}: {said}"
        );
    }
    let said = expect_rejection("a.json", EVICTED, &["--capacity", "9223372036854775807"]);
    assert!(said.contains("an alignment from 1 to 2^44, found 9223372036854775807 and 1"), "{said}");
    assert!(expect_rejection("a.json", EVICTED, &["--alignment", "0"]).contains("an alignment from 1 to 2^44"));
    // A large LX and maximum sizes cause no overflow.
    let large = EVICTED
        .replace("\"size\": 3", &format!("\"size\": {}", 1_u64 << 40))
        .replace("\"limit\": 4", "\"limit\": 1500000000000");
    fs::write(folder.path().join("in.json"), large).unwrap();
    let output = run_spyre_plan(folder.path(), &["in.json", "-o", "out.json"]);
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("HBM traffic 2199023255552 bytes (lower bound 2199023255552, optimal")
    );
    assert!(run_spyre_plan(folder.path(), &["--verify", "out.json", "in.json"]).status.success());
}

#[test]
fn names_file_and_line_of_mistakes() {
    let capacity = ["--capacity", "12"];
    let rejected = expect_rejection("a.csv", "id,lower,upper,size\n0,3,2,1\n", &capacity);
    let rule =
        "a.csv:2: expected 'id,lower,upper,size' with lower below upper, found '0,3,2,1': lower 3 is not below upper 2";
    assert!(rejected.contains(rule), "{rejected}");
    let rejected = expect_rejection("a.json", "{\"name\": 3}", &[]);
    let rule =
        "a.json:1:10: expected an instance, found other JSON: invalid type: integer `3`, expected a string; docs/";
    assert!(rejected.contains(rule), "{rejected}");
    assert!(expect_rejection("a.csv", CSV, &[]).contains("add --capacity BYTES"));
    assert!(
        expect_rejection("a.csv", CSV, &["--capacity", "12", "--planner", "worst"])
            .contains("unknown LX planner 'worst'")
    );
    assert!(expect_rejection("a.csv", CSV, &["--capacity", "12", "--timeout=-1"]).contains("--timeout -1"));
}

/// A copy of two megabytes in HBM, and one in LX after an opaque op.
const KERNELS: &str = r#"{"entries": [{"id": "copies", "ops": [
  {"op": "identity", "kind": "pointwise", "iter_space": {"d0": 1024, "d1": 1024}, "reduction_dims": [], "core_splits": {"d0": 32}, "loop": null,
   "dtype_bytes": 2, "tensors": [
    {"name": "arg0", "role": "input", "mem": "hbm", "logical": [1024, 1024], "device": [16, 1024, 64], "device_bytes": 2097152, "index": {"d0": 1024, "d1": 1}},
    {"name": "buf0", "role": "output", "mem": "hbm", "logical": [1024, 1024], "device": [16, 1024, 64], "device_bytes": 2097152, "index": {"d0": 1024, "d1": 1}}]},
  {"foreign": true}]}]}"#;

#[test]
fn estimates_kernels_in_neutral_terms() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kernels.json"), KERNELS).unwrap();
    let output = run_spyre_plan(folder.path(), &["--price", "kernels.json", "-o", "out.json"]);
    let said = String::from_utf8(output.stdout).unwrap();
    // 4 MiB at 150 bytes/ns, bus turnarounds for half of them, 1 Mi points on 32 cores at 15 per ns, and the start of
    // an op.
    let (memory, compute) = (4_194_304.0 / 150.0 + 0.00574 * 2_097_152.0, 1_048_576.0 / 32.0 / 15.0);
    let expected = f64::hypot(memory, compute) / 1e3 + 0.45;
    assert!(said.starts_with(&format!("copies: {expected:.3} us (")), "{said}, not {expected}");
    let written: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
    assert!((written["copies"].as_f64().unwrap() - expected).abs() < 1e-9, "{written}");
}

#[test]
fn rejects_invalid_kernels() {
    let rejected = |from: &str, to: &str| {
        let folder = tempfile::tempdir().unwrap();
        let text = KERNELS.replacen(from, to, 1);
        assert_ne!(text, KERNELS);
        fs::write(folder.path().join("in.json"), text).unwrap();
        let output = run_spyre_plan(folder.path(), &["--price", "in.json"]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = rejected("\"d0\": 1024", "\"d0\": 0");
    assert!(said.contains("'in.json': entry 'copies', op 0: the extent of 'd0' is 0, and must be from 1"), "{said}");
    let said = rejected("\"d0\": 1024", "\"d0\": 9007199254740992");
    assert!(said.contains("points are more than"), "{said}");
    let said = rejected("\"index\": {\"d0\"", "\"index\": {\"d7\"");
    assert!(said.contains("tensor 'arg0': 'd7' is no dimension of 'iter_space'"), "{said}");
    let said = rejected("\"kind\": \"pointwise\"", "\"kind\": \"sort\"");
    assert!(said.contains("the kind 'sort' is none of pointwise, reduction and matmul"), "{said}");
    let said = rejected("\"entries\"", "\"kernels\"");
    assert!(said.contains("missing field `entries`"), "{said}");
}
