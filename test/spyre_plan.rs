//! The tool `spyre-plan` as a process: its files, its messages, its exit codes.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn spyre_plan(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spyre-plan")).current_dir(folder).args(arguments).output().unwrap()
}

fn refusal(name: &str, text: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    let output = spyre_plan(folder.path(), &[&[name], arguments].concat());
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

const CSV: &str = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

#[test]
fn a_csv_instance_is_placed_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.csv"), CSV).unwrap();
    let output = spyre_plan(folder.path(), &["in.csv", "--capacity", "12", "-o", "out.json", "--svg", "out.svg"]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "no progress where there is no terminal");
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("5 of 5 buffers in LX; HBM 0 bytes left, bound 0, optimal;"));
    let result: serde_json::Value = serde_json::from_str(&fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(result["addresses"].as_object().unwrap().len(), 5);
    assert_eq!((&result["optimal"], &result["timed_out"]), (&true.into(), &false.into()));
    assert_eq!(fs::read_to_string(folder.path().join("out.svg")).unwrap().matches("class=\"stay ").count(), 5);
}

#[test]
fn the_smallest_peak_needs_no_capacity() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.csv"), CSV).unwrap();
    let output = spyre_plan(folder.path(), &["in.csv", "--smallest-peak"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("12 bytes suffice, bound 12, optimal"));
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let capacity = ["--capacity", "12"];
    assert!(
        refusal("a.csv", "id,lower,upper,size\n0,3,2,1\n", &capacity).contains("a.csv:2: expected 'id,lower,upper,size', found '0,3,2,1'")
    );
    assert!(refusal("a.json", "{\"name\": 3}", &[]).contains("a.json:1:10: invalid type: integer `3`, expected a string\n"));
    assert!(refusal("a.csv", CSV, &[]).contains("--capacity is missing"));
    assert!(refusal("a.csv", CSV, &["--capacity", "12", "--planner", "worst"]).contains("unknown LX planner 'worst'"));
    assert!(refusal("a.csv", CSV, &["--capacity", "12", "--timeout=-1"]).contains("--timeout -1"));
}
