//! Legal texts of `bundle.mlir` of release 1.0.0 that torch-spyre does not write.

use super::legal::{LegalFile, edit_base};
use crate::check_bundle::bundles::Files;
use crate::check_bundle::edits::replace_text;

pub(super) fn legal_texts() -> Vec<LegalFile> {
    vec![
        edit_base("plain parameters", "add", |files| {
            let bytes = files.get_mut("bundle.mlir").unwrap();
            let lines = String::from_utf8(std::mem::take(bytes)).unwrap();
            let plain = lines
                .replace(": !sdscbundle.input_arg<index>,", ": index,")
                .replace(": !sdscbundle.input_arg<index>)", ": index)");
            let kept: Vec<&str> = plain.lines().filter(|line| !line.contains("input_arg_extract")).collect();
            let mut text = kept.join("\n");
            for argument in 0..3 {
                text = text.replace(&format!("%arg_{argument}_base_addr"), &format!("%arg_{argument}"));
            }
            *bytes = text.into_bytes();
        }),
        edit_base("a declared bound", "symbolic", |files| {
            let line = "\t\t%bound = sdscbundle.input_arg_extract max_value from %sym_0_1_base : \
                        !sdscbundle.input_arg<index, granularity=64, max_value=128> -> index\n\t\tsdscbundle.sdsc_execute";
            replace_text(files, "\t\tsdscbundle.sdsc_execute", line);
        }),
        edit_base("a loop from 4 by 4", "program", |files| {
            replace_in_text(files, "%i_1 = %c0 to %loop_bound_1 step %c1", "%i_1 = %c4 to %c20 step %c4");
            replace_in_text(files, "s0 + 8192*d0)", "s0 + 2048*d0 - 8192)");
            replace_in_text(files, "8192*d1)", "2048*d1 - 8192)");
            replace_in_text(
                files,
                "%c1 = arith.constant 1 : index",
                "%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n%c20 = arith.constant 20 : index",
            );
        }),
        edit_base("memory that is allocated in a loop", "program", |files| {
            let text = String::from_utf8(files["bundle_0/bundle.mlir"].clone()).unwrap();
            let line = text.lines().find(|line| line.contains("device_mem_allocate")).unwrap().to_owned();
            let uses: Vec<String> = text
                .lines()
                .filter(|line| line.contains("%pool") && line.contains(" = arith."))
                .map(str::to_owned)
                .collect();
            let moved: String = std::iter::once(line).chain(uses).fold(String::new(), |moved, line| {
                replace_in_text(files, &format!("{line}\n"), "");
                moved + &line + "\n"
            });
            replace_in_text(
                files,
                "scf.for %i_1 = %c0 to %loop_bound_1 step %c1 {\n",
                &format!("scf.for %i_1 = %c0 to %loop_bound_1 step %c1 {{\n{moved}"),
            );
        }),
    ]
}

/// Replaces a substring in the text of a bundle.
fn replace_in_text(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("bundle_0/bundle.mlir").unwrap();
    let text = String::from_utf8(std::mem::take(bytes)).unwrap();
    assert!(text.contains(from), "{from:?} is not in\n{text}");
    *bytes = text.replace(from, to).into_bytes();
}

pub(super) fn legal_names() -> Vec<LegalFile> {
    vec![
        edit_base("another function name", "add", |files| replace_text(files, "@sdsc_bundle", "@main")),
        edit_base("a file in a folder", "program", |files| {
            let file = files.remove("bundle_0/sdsc_0.json").unwrap();
            files.insert("bundle_0/kernels/sdsc_0.json".to_owned(), file);
            replace_in_text(files, "\"sdsc_0.json\"", "\"kernels/sdsc_0.json\"");
        }),
    ]
}
