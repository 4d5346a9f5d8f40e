//! Tools as processes, on inputs that are no regular files, link elsewhere, or are nested too deeply.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

const COMPILE: &str = env!("CARGO_BIN_EXE_spyre-compile");
const OPT: &str = env!("CARGO_BIN_EXE_spyre-opt");
const PLAN: &str = env!("CARGO_BIN_EXE_spyre-plan");
const RUN: &str = env!("CARGO_BIN_EXE_spyre-run");
const TRANSLATE: &str = env!("CARGO_BIN_EXE_spyre-translate");

/// Time after which a tool counts as blocked. The limit is generous, since a machine may be busy.
const MAX_TOOL_TIME: Duration = Duration::from_secs(120);

/// Runs a tool with empty standard input, and with little memory.
fn run(tool: &str, arguments: &[&str]) -> Output {
    // A pipe without a reader would block a tool with much output.
    let said = tempfile::tempdir().unwrap();
    let (out, err) = (said.path().join("out"), said.path().join("err"));
    let mut process = Command::new("sh")
        .args(["-c", "ulimit -v 4000000; ulimit -c 0; exec \"$0\" \"$@\"", tool])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = process.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > MAX_TOOL_TIME {
            process.kill().unwrap();
            panic!("{tool} {arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Output { status, stdout: fs::read(out).unwrap(), stderr: fs::read(err).unwrap() }
}

/// Expects that a tool rejects its input; returns the message.
#[track_caller]
fn expect_rejection(tool: &str, arguments: &[&str]) -> String {
    let output = run(tool, arguments);
    let message = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        output.status.code(),
        Some(1),
        "{tool} {arguments:?}: {}\n{}",
        output.status,
        &message[..message.len().min(2000)]
    );
    message
}

#[track_caller]
fn expect(message: &str, part: &str) {
    assert!(message.contains(part), "expected '{part}' in: {}", &message[..message.len().min(2000)]);
}

fn input(name: &str) -> String {
    format!("{}/test/hostile/Inputs/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Creates a folder with a compiled program in `out`.
fn compile_program() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let done = run(COMPILE, &[&input("layers.mlir"), "-o", out.to_str().unwrap()]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    (place, out)
}

/// Lists all commands that read a bundle directory.
fn list_readers(directory: &Path) -> Vec<(&'static str, Vec<&str>)> {
    let directory = directory.to_str().unwrap();
    vec![
        (RUN, vec![directory]),
        (RUN, vec![directory, "--count"]),
        (TRANSLATE, vec!["--check-bundle", directory]),
        (TRANSLATE, vec!["--bundle-to-mlir", directory]),
    ]
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{}: no {from}", path.display());
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn rejects_pipes_devices_and_folders_in_a_bundle() {
    let (_place, out) = compile_program();
    for name in ["bundle_0/sdsc_0.json", "bundle_0/bundle.mlir", "program.json"] {
        let (path, kept) = (out.join(name), fs::read(out.join(name)).unwrap());
        let endless: [fn(&Path); 3] =
            [make_pipe, |path| symlink("/dev/zero", path).unwrap(), |path| fs::create_dir(path).unwrap()];
        for (number, make) in endless.iter().enumerate() {
            fs::remove_file(&path).unwrap();
            make(&path);
            for (tool, arguments) in list_readers(&out) {
                let message = expect_rejection(tool, &arguments);
                assert!(!message.contains("bug"), "{name}, {number}: {message}");
            }
            if path.is_dir() {
                fs::remove_dir(&path).unwrap()
            } else {
                fs::remove_file(&path).unwrap()
            }
            fs::write(&path, &kept).unwrap();
        }
    }
}

#[test]
fn rejects_large_file_without_reading_it() {
    let (_place, out) = compile_program();
    let long = fs::OpenOptions::new().write(true).open(out.join("bundle_0/sdsc_0.json")).unwrap();
    long.set_len(1 << 40).unwrap();
    for (tool, arguments) in list_readers(&out) {
        expect(&expect_rejection(tool, &arguments), "is larger than the limit of 268435456 bytes");
    }
}

#[test]
fn rejects_links_out_of_a_bundle() {
    let (place, out) = compile_program();
    let secret = place.path().join("secret.json");
    fs::rename(out.join("bundle_0/sdsc_0.json"), &secret).unwrap();
    symlink("../../secret.json", out.join("bundle_0/sdsc_0.json")).unwrap();
    for (tool, arguments) in list_readers(&out) {
        expect(&expect_rejection(tool, &arguments), "leads out of the directory");
    }
    // A link to another file of the same bundle is accepted.
    fs::remove_file(out.join("bundle_0/sdsc_0.json")).unwrap();
    fs::rename(&secret, out.join("first.json")).unwrap();
    symlink("../first.json", out.join("bundle_0/sdsc_0.json")).unwrap();
    for (tool, arguments) in list_readers(&out) {
        assert!(run(tool, &arguments).status.success(), "{arguments:?}");
    }
}

#[test]
fn rejects_names_out_of_a_bundle() {
    let (place, out) = compile_program();
    let program = out.join("program.json");
    let right = fs::read(&program).unwrap();
    let absolute = out.join("bundle_0");
    for name in ["../out/bundle_0", absolute.to_str().unwrap(), "./bundle_0", ""] {
        edit(&program, "\"bundle_0\"", &format!("\"{name}\""));
        for (tool, arguments) in list_readers(&out) {
            expect_rejection(tool, &arguments);
        }
        fs::write(&program, &right).unwrap();
    }
    let results = place.path().join("results");
    for name in ["../evil", "a/b", place.path().join("evil").to_str().unwrap()] {
        edit(&program, "\"result0\"", &format!("\"{name}\""));
        let message = expect_rejection(RUN, &[out.to_str().unwrap(), "--output-dir", results.to_str().unwrap()]);
        expect(&message, "has no plain file name");
        assert!(!results.exists() && !place.path().join("evil.npy").exists(), "nothing is written");
        fs::write(&program, &right).unwrap();
    }
}

#[test]
fn rejects_names_in_ir_out_of_the_output() {
    let (place, out) = compile_program();
    let ir = place.path().join("ir.mlir");
    let read = run(TRANSLATE, &["--bundle-to-mlir", out.to_str().unwrap()]);
    let text = String::from_utf8(read.stdout).unwrap();
    let written = place.path().join("deep/er/written");
    fs::create_dir_all(written.parent().unwrap()).unwrap();
    for name in [
        "../../escaped",
        "../escaped",
        place.path().join("escaped").to_str().unwrap(),
        "..",
        "constants",
        "program.json",
    ] {
        fs::write(&ir, text.replace("@bundle_0", &format!("@\"{name}\""))).unwrap();
        let message =
            expect_rejection(TRANSLATE, &["--mlir-to-bundle", ir.to_str().unwrap(), "-o", written.to_str().unwrap()]);
        expect(&message, &format!("cannot be written as '{name}'"));
        let left: Vec<_> = fs::read_dir(written.parent().unwrap()).unwrap().collect();
        assert!(
            left.is_empty() && !place.path().join("escaped").exists() && !place.path().join("deep/escaped").exists(),
            "{name}: {left:?}"
        );
    }
}

#[test]
fn accepts_only_files_from_users() {
    let place = tempfile::tempdir().unwrap();
    let pipe = place.path().join("pipe");
    make_pipe(&pipe);
    let (pipe, folder, out) = (pipe.to_str().unwrap(), place.path().to_str().unwrap(), place.path().join("out"));
    let (out, program) = (out.to_str().unwrap(), input("layers.mlir"));
    for path in [pipe, folder, "/dev/zero"] {
        // The pipe has no writer: it is equivalent to an empty file.
        expect_rejection(COMPILE, &[path, "-o", out]);
        expect_rejection(COMPILE, &[&program, "-o", out, "--target", path]);
        expect_rejection(TRANSLATE, &["--mlir-to-bundle", path, "-o", out]);
        expect_rejection(TRANSLATE, &["--opspec-to-mlir", path]);
        expect_rejection(PLAN, &[path, "--capacity", "1024"]);
    }
    expect(&expect_rejection(OPT, &["/dev/zero"]), "is a device or a socket, not a file");
    expect(&expect_rejection(OPT, &[folder]), "is a directory, not a file");
    let (_place, compiled) = compile_program();
    for path in [pipe, folder, "/dev/zero"] {
        expect(&expect_rejection(RUN, &[compiled.to_str().unwrap(), "--input", &format!("arg0={path}")]), "not a file");
    }
    let list = place.path().join("list.json");
    fs::write(&list, "[]").unwrap();
    expect(
        &expect_rejection(COMPILE, &[&program, "-o", out, "--target", list.to_str().unwrap()]),
        "expected a machine description",
    );
}

#[test]
fn text_that_nests_too_deep_is_rejected() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("deep.mlir");
    let path_text = path.to_str().unwrap();
    let around = |open: &str, depth: usize, inside: &str, close: &str| {
        format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
    };
    let chain = |define: &dyn Fn(usize) -> String, n: usize| (1..n).map(define).collect::<String>();
    let map =
        |expression: String| format!("func.func private @f() attributes {{m = affine_map<(d0) -> ({expression})>}}\n");
    let deep = |depth: usize| {
        [
            around("builtin.module {\n", depth, "", "}\n"),
            format!("func.func private @f({})\n", around("tuple<", depth, "i1", ">")),
            map(around("(", depth, "d0", ")")),
            map(around("-", depth, "d0", "")),
            map(format!("d0{}", " + d0".repeat(depth))),
            map(format!("d0{}", " mod 7".repeat(depth))),
            format!("func.func private @f() attributes {{a = {}}}\n", around("[", depth, "", "]")),
            // Aliases of aliases: the text of each is not nested.
            format!(
                "!t0 = tuple<i1>\n{}func.func private @f(!t{})\n",
                chain(&|n| format!("!t{n} = tuple<!t{}>\n", n - 1), depth),
                depth - 1
            ),
            format!("#a0 = [1]\n{}", chain(&|n| format!("#a{n} = // [\n  [ // ]\n#a{}]\n", n - 1), depth)),
        ]
    };
    for text in deep(50_000) {
        fs::write(&path, &text).unwrap();
        let start = &text[..text.len().min(60)];
        for (tool, arguments) in [(OPT, vec![path_text]), (COMPILE, vec![path_text, "-o", "nowhere"])] {
            let message = expect_rejection(tool, &arguments);
            assert!(
                message.contains("at most 2000 nested brackets"),
                "{start}: {}",
                &message[..message.len().min(500)]
            );
        }
    }
    // The maximum allowed nesting is parsed and printed.
    for text in deep(300) {
        fs::write(&path, &text).unwrap();
        let output = run(OPT, &[path_text]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}: {}",
            &text[..text.len().min(60)],
            String::from_utf8_lossy(&output.stderr)
        );
    }
    for text in deep(950) {
        fs::write(&path, &text).unwrap();
        assert!(run(COMPILE, &[path_text, "-o", "nowhere"]).status.code().is_some(), "{}", &text[..text.len().min(60)]);
    }
    fs::write(&path, [0; 100]).unwrap();
    expect(&expect_rejection(OPT, &[path_text]), "found a zero byte");
}

/// IR that was edited after a phase printed it is rejected as a user error, not as a compiler bug, wherever the
/// compilation continues.
#[test]
fn edited_ir_is_rejected_and_no_bug_of_ours() {
    let place = tempfile::tempdir().unwrap();
    let (page, out) = (place.path().join("page.mlir"), place.path().join("out"));
    let (page, out) = (page.to_str().unwrap(), out.to_str().unwrap());
    for phase in ["lx", "bundle"] {
        let printed = run(COMPILE, &[&input("layers.mlir"), "--compile-to", phase, "-o", page]);
        assert!(printed.status.success());
        // The sum reads unwritten memory.
        let (from, to) = if phase == "lx" {
            ("reduce max(%", "reduce max(%arg0 , %")
        } else {
            ("ins [#lx1, #hbm2]", "ins [#lx2, #hbm2]")
        };
        edit(Path::new(page), from, to);
        for arguments in [vec![page, "-o", out], vec![page, "-o", out, "--validate"]] {
            assert!(!expect_rejection(COMPILE, &arguments).contains("compiler bug"));
            assert!(!Path::new(out).exists());
        }
    }
}

#[test]
fn damaged_bytecode_ends_by_a_message() {
    let place = tempfile::tempdir().unwrap();
    let (right, damaged) = (place.path().join("right.mlirbc"), place.path().join("damaged.mlirbc"));
    let made = run(OPT, &[&input("layers.mlir"), "-emit-bytecode", "-o", right.to_str().unwrap()]);
    assert!(made.status.success());
    let right = fs::read(&right).unwrap();
    let mut state = 1;
    for _ in 0..40 {
        let mut bytes = right.clone();
        let at = crate::hostile::mutation::below(bytes.len(), &mut state);
        bytes[at] = crate::hostile::mutation::mix(&mut state).to_le_bytes()[0];
        fs::write(&damaged, &bytes).unwrap();
        let output = run(COMPILE, &[damaged.to_str().unwrap(), "--compile-to", "import"]);
        assert!(
            output.status.code().is_some_and(|code| code < 2),
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Returns the delays after which a compilation is killed; they cover all of its phases.
fn kill_delays() -> impl Iterator<Item = Duration> {
    let (_place, out) = compile_program();
    let started = Instant::now();
    assert!(run(COMPILE, &[&input("layers.mlir"), "-o", out.to_str().unwrap()]).status.success());
    let whole = started.elapsed();
    (0..MOMENTS).map(move |moment| whole * moment / (MOMENTS - 4))
}

/// Number of delays. The last few exceed the usual limit.
const MOMENTS: u32 = 40;

fn compile_and_kill(out: &Path, delay: Duration) {
    let mut process = Command::new(COMPILE)
        .args([&input("layers.mlir"), "-o", out.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(delay);
    process.kill().unwrap();
    process.wait().unwrap();
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn killed_compilation_leaves_old_output_or_none() {
    let (place, out) = compile_program();
    let first = fs::read(out.join("program.json")).unwrap();
    let fresh = place.path().join("fresh");
    for delay in kill_delays() {
        compile_and_kill(&out, delay);
        assert_eq!(fs::read(out.join("program.json")).unwrap(), first);
        assert!(run(TRANSLATE, &["--check-bundle", out.to_str().unwrap()]).status.success(), "{delay:?}");
        compile_and_kill(&fresh, delay);
        if fresh.exists() {
            assert!(run(TRANSLATE, &["--check-bundle", fresh.to_str().unwrap()]).status.success(), "{delay:?}");
            fs::remove_dir_all(&fresh).unwrap();
        }
    }
    // The next process removes the files of killed ones.
    fs::create_dir(place.path().join(".spyre-new-left")).unwrap();
    assert!(run(COMPILE, &[&input("layers.mlir"), "-o", out.to_str().unwrap()]).status.success());
    assert_eq!(names_in(place.path()), ["out"]);
}

#[test]
fn two_compilations_into_one_place_do_not_mix() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let alone = |program: &str| {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("alone");
        assert!(run(COMPILE, &[&input(program), "-o", to.to_str().unwrap()]).status.success());
        (folder, to)
    };
    let rights = ["layers.mlir", "rows.mlir"].map(alone);
    for _ in 0..6 {
        let both = ["layers.mlir", "rows.mlir"].map(|program| {
            let arguments = [&input(program), "-o", out.to_str().unwrap()];
            Command::new(COMPILE).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        });
        assert!(both.into_iter().all(|mut process| process.wait().unwrap().success()));
        let is_equal = |right: &Path| {
            Command::new("diff").arg("-rq").arg(right).arg(&out).stdout(Stdio::null()).status().unwrap().success()
        };
        assert!(rights.iter().any(|right| is_equal(&right.1)), "{:?}", names_in(&out));
        assert_eq!(names_in(place.path()), ["out"]);
    }
}
