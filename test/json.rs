//! Schemas of the JSON output of the tools: `docs/reference/schemas` is generated from the types
//! (`BLESS=json cargo test --test compiler -- json::` writes it), and the output conforms to it.

#![allow(clippy::unwrap_used, reason = "a test over processes and files")]

use crate::common::{bless, schemas};
use schemars::{JsonSchema, generate::SchemaSettings};
use schemas::{expect_schema, load_schema};
use sdsc_format::program::Program;
use serde_json::{Value, json};
use spyre_compiler::{report::Report, tool::Message};
use std::{fs, path::Path, process::Command};

/// Generates the schema of a serialized type.
fn generate_schema<T: JsonSchema>() -> String {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    format!("{}\n", serde_json::to_string_pretty(&schema).unwrap())
}

#[test]
fn matches_recorded_schemas() {
    let schemas = [
        ("report", generate_schema::<Report>()),
        ("program", generate_schema::<Program>()),
        ("message", generate_schema::<Message>()),
    ];
    for (form, wanted) in schemas {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/schemas").join(format!("{form}.json"));
        if bless::is_blessed("json") {
            fs::write(&path, &wanted).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        let first = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
        assert!(
            found == wanted,
            "docs/reference/schemas/{form}.json: write it again with BLESS=json cargo test --test compiler -- json::\n{first:?}"
        );
    }
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the report and `program.json` of a program.
fn write_report_and_program(words: &[&str]) -> [Value; 2] {
    let place = tempfile::tempdir().unwrap();
    let (out, report) = (place.path().join("out"), place.path().join("report.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).arg("-o").arg(&out).arg("--report").arg(&report);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    [read_json(&report), read_json(&out.join("program.json"))]
}

#[test]
fn writes_reports_and_programs_that_satisfy_schemas() {
    let programs: [&[&str]; 7] = [
        &["examples/softmax.mlir"],
        &["examples/softmax.mlir", "--validate"],
        &["examples/softmax.mlir", "--addresses", "baked", "--lx-planner", "none"],
        &["test/pipeline/add_mul/01-input.mlir", "--dims", "0=A:B", "--tiles", "A=2,B=4"],
        &["test/pipeline/softmax/01-input.mlir", "--joint", "--lx-bytes", "8192"],
        &["examples/kernels/attention.mlir"],
        &["examples/kernels/matmul.mlir"],
    ];
    for words in programs {
        let [report, program] = write_report_and_program(words);
        expect_schema("report", &report);
        expect_schema("program", &program);
        assert_eq!([&report["version"], &program["version"]], [&json!(1), &json!(1)]);
    }
}

#[test]
fn accepts_recorded_programs() {
    let mut num_files = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("test/pipeline")).unwrap() {
        expect_schema("program", &read_json(&entry.unwrap().path().join("09-out/program.json")));
        num_files += 1;
    }
    assert!(num_files >= 2);
}

#[test]
fn detects_missing_unknown_and_mistyped_members() {
    let [report, program] = write_report_and_program(&["examples/softmax.mlir"]);
    let is_rejected = |form: &str, value: &Value, pointer: &str, new: Option<Value>| {
        let mut value = value.clone();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        let members = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        match new {
            Some(new) => members.insert(member.to_owned(), new),
            None => members.remove(member),
        };
        load_schema(form).validate(&value).is_err()
    };
    assert!(is_rejected("report", &report, "/launches/0/cost/estimate_us", None));
    assert!(is_rejected("report", &report, "/ops/0/work", Some(json!("all"))));
    assert!(is_rejected("report", &report, "/gap/nonsense", Some(json!(1))));
    assert!(is_rejected("report", &report, "/version", Some(json!(2))));
    assert!(is_rejected("program", &program, "/arguments/0/bytes", None));
    assert!(is_rejected("program", &program, "/launches/0/nonsense", Some(json!(1))));
    assert!(is_rejected("program", &program, "/version", Some(json!(2))));
}

#[test]
fn rejects_other_versions_and_reads_unversioned_bundles() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let run = |tool: &str, words: &[&str]| {
        let output = Command::new(tool).current_dir(env!("CARGO_MANIFEST_DIR")).args(words).arg(&out).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(env!("CARGO_BIN_EXE_spyre-compile"), &["examples/softmax.mlir", "-q", "-o"]).0, Some(0));
    let path = out.join("program.json");
    let text = fs::read_to_string(&path).unwrap();
    let with = |version: &str| text.replacen("\"version\": 1,", version, 1);
    assert_ne!(with(""), text, "the version is the first member");
    fs::write(&path, with("")).unwrap();
    assert_eq!(run(env!("CARGO_BIN_EXE_spyre-run"), &[]).0, Some(0));
    fs::write(&path, with("\"version\": 2, \"what_a_later_form_has\": 1,")).unwrap();
    let (code, said) = run(env!("CARGO_BIN_EXE_spyre-run"), &[]);
    assert_eq!(code, Some(1));
    assert!(said.contains("expected version 1, found version 2"), "{said}");
}
