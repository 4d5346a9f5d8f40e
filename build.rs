//! Builds the dialects with CMake and links them.

#[path = "build/version.rs"]
mod version;

use serde_json::Value;
use std::{
    collections::BTreeSet,
    env,
    error::Error,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    print_origin()?;
    if env::var_os("CARGO_FEATURE_MLIR").is_none() {
        println!("cargo::rustc-env=SPYRE_LLVM=without MLIR");
        return Ok(());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let prefix =
        PathBuf::from(env::var("MLIR_SYS_220_PREFIX").map_err(|_| "set MLIR_SYS_220_PREFIX to the prefix of MLIR 22")?);
    println!("cargo::rerun-if-changed=CMakeLists.txt");
    println!("cargo::rerun-if-changed=cmake");
    println!("cargo::rerun-if-changed=dialects");
    println!("cargo::rerun-if-changed=crates/machine/Formats.def");
    println!("cargo::rerun-if-changed=crates/machine/DeviceFunctions.def");
    println!("cargo::rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let llvm = version::llvm_version(&prefix)
        .ok_or_else(|| format!("no llvm/Config/llvm-config.h below {}", prefix.display()))?;
    println!("cargo::rustc-env=SPYRE_LLVM=MLIR {llvm}");
    println!("cargo::rerun-if-env-changed=SPYRE_DIALECTS");
    let built = env::var_os("SPYRE_DIALECTS").map(PathBuf::from);
    let dialects = built.as_deref().map_or_else(|| dialects_build_folder(&out), |built| Ok(built.to_owned()))?;
    println!("cargo::rustc-env=SPYRE_BUILT_DIALECTS={}", dialects.display());
    // A lint does not link, so the C++ is not built: that would take longer than the rest of the lint.
    if !is_lint() {
        // Prebuilt dialects (`SPYRE_DIALECTS`) may be in use by another build, so they are not rebuilt.
        let libraries = if built.is_some() { dialects.join("dialects") } else { build_dialects(&prefix, &dialects)? };
        link_libraries(&libraries, &prefix)?;
    }
    let declared = dump_records(&prefix, "dialects/passes/Passes.td")?;
    fs::write(
        out.join("ods.rs"),
        format!("{}{}", generate_name_constants(&prefix)?, generate_option_names(&declared)?),
    )?;
    fs::write(out.join("passes.rs"), generate_pass_table(&declared)?)?;
    if env::var_os("CARGO_FEATURE_PLUGIN").is_some() {
        link_plugin(&out, &prefix)?;
    }
    Ok(())
}

/// Passes the origin of the sources to the tools, for `--version`.
fn print_origin() -> Result<(), Box<dyn Error>> {
    let version::Origin { text, watched } = version::origin(&env::current_dir()?, env::var("PROFILE")? == "release");
    println!("cargo::rustc-env=SPYRE_ORIGIN={text}");
    for path in watched {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(())
}

/// Returns whether clippy runs this script: it builds the script and the library separately.
fn is_lint() -> bool {
    let wrapper = env::var_os("RUSTC_WORKSPACE_WRAPPER").map(PathBuf::from);
    wrapper.is_some_and(|wrapper| wrapper.file_stem().is_some_and(|name| name == "clippy-driver"))
}

/// Returns the build folder of CMake, next to cargo's folders of this profile and shared by all feature sets.
fn dialects_build_folder(out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    // <profile>/build/spyre-<hash>/out
    let profile = out.ancestors().nth(3).filter(|_| out.ends_with("out"));
    Ok(profile.ok_or_else(|| format!("{} is in no folder of a profile", out.display()))?.join("dialects"))
}

/// Runs CMake and Ninja, and returns the folder of the libraries.
fn build_dialects(prefix: &Path, build: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let bin = prefix.join("bin");
    // CMake rejects a build folder whose sources have moved.
    let home = format!("CMAKE_HOME_DIRECTORY:INTERNAL={}\n", env::current_dir()?.display());
    if fs::read_to_string(build.join("CMakeCache.txt")).is_ok_and(|cache| !cache.contains(&home)) {
        fs::remove_dir_all(build)?;
    }
    fs::create_dir_all(build)?;
    run_command(
        Command::new("cmake")
            .args(["-G", "Ninja", "-S", ".", "-B"])
            .arg(build)
            .arg("-DCMAKE_BUILD_TYPE=Release")
            .arg("-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
            .arg(format!("-DMLIR_DIR={}", prefix.join("lib/cmake/mlir").display()))
            .arg(format!("-DCMAKE_C_COMPILER={}", bin.join("clang").display()))
            .arg(format!("-DCMAKE_CXX_COMPILER={}", bin.join("clang++").display())),
    )?;
    run_command(Command::new("cmake").arg("--build").arg(build).args(["--target", "SpyreDialects", "SpyreBridge"]))?;
    Ok(build.join("dialects"))
}

/// Dialects, each with its main `.td` file.
const DIALECTS: &[(&str, &str)] = &[
    ("spyre", "dialects/spyre/Spyre.td"),
    ("sdsc", "dialects/sdsc/Sdsc.td"),
    ("sdscbundle", "dialects/sdscbundle/SdscBundle.td"),
    ("stablehlo", "dialects/stablehlo/Stablehlo.td"),
    ("tm_tensor", "dialects/tm_tensor/TmTensor.td"),
];

/// Returns the names of the ops and attributes of our dialects as Rust constants: a name that ODS lacks does not
/// compile.
fn generate_name_constants(prefix: &Path) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let mut attributes: BTreeSet<String> = BTreeSet::new();
    for (dialect, file) in DIALECTS {
        let records = dump_records(prefix, file)?;
        let ops = find_records_of_class(&records, "Op");
        let attribute_classes: BTreeSet<&str> = find_records_of_class(&records, "Attr").into_iter().collect();
        let mut names: BTreeSet<String> = BTreeSet::new();
        for op in ops.into_iter().map(|name| &records[name]) {
            names.insert(op["opName"].as_str().ok_or("an op without a name")?.to_owned());
            let is_attribute =
                |class: &Value| class["def"].as_str().is_some_and(|class| attribute_classes.contains(class));
            attributes
                .extend(dag_arguments(&op["arguments"]).filter(|(class, _)| is_attribute(class)).map(|(_, name)| name));
        }
        writeln!(text, "/// The ops of the dialect `{dialect}`.\npub mod {dialect} {{")?;
        names.iter().try_for_each(|name| write_constant(&mut text, name, &format!("{dialect}.{name}")))?;
        let all: Vec<String> = names.iter().map(|name| format!("{dialect}.{name}")).collect();
        writeln!(
            text,
            "    /// All ops of the dialect.\n    pub const EVERY_OP: &[&str] = &{};",
            serde_json::to_string(&all)?
        )?;
        text.push_str("}\n");
        let own = find_records_of_class(&records, "Dialect")
            .into_iter()
            .map(|name| &records[name])
            .find(|record| record["name"] == **dialect);
        let own = own.ok_or_else(|| format!("{file} has no dialect '{dialect}'"))?;
        attributes.extend(dag_arguments(&own["discardableAttrs"]).map(|(_, name)| format!("{dialect}.{name}")));
    }
    let enums = dump_records(prefix, "dialects/enums/Enums.td")?;
    find_records_of_class(&enums, "EnumInfo")
        .into_iter()
        .try_for_each(|name| write_enum_cases(&mut text, &enums, &enums[name]))?;
    writeln!(text, "/// The attributes of their ops, and those of the dialects that other ops have.\npub mod attr {{")?;
    attributes.iter().try_for_each(|name| write_constant(&mut text, &name.replace('.', "_"), name))?;
    text.push_str("}\n");
    Ok(text)
}

/// Writes the cases of an enum and their spellings as Rust constants.
fn write_enum_cases(text: &mut String, records: &Value, of: &Value) -> Result<(), Box<dyn Error>> {
    let name = of["className"].as_str().ok_or("an enum without a name")?;
    writeln!(text, "/// The cases of the enum `{name}`.\npub mod {} {{", name.to_lowercase())?;
    let mut names = Vec::new();
    for (number, case) in of["enumerants"].as_array().into_iter().flatten().enumerate() {
        let case = &records[case["def"].as_str().ok_or("a case without a name")?];
        let symbol = case["symbol"].as_str().ok_or("a case without a symbol")?;
        if case["value"] != number {
            return Err(format!("{name}::{symbol} is {}, but stands at {number}", case["value"]).into());
        }
        writeln!(text, "    /// `{symbol}`\n    pub const {}: i32 = {number};", symbol.to_uppercase())?;
        names.push(&case["str"]);
    }
    writeln!(
        text,
        "    /// How they are spelt, by their numbers.\n    pub const NAMES: &[&str] = &{};\n}}",
        serde_json::to_string(&names)?
    )?;
    Ok(())
}

/// Returns the arguments and summaries of the passes that `Passes.td` declares, as a constant of Rust.
fn generate_pass_table(records: &Value) -> Result<String, Box<dyn Error>> {
    let mut text = String::from(
        "/// The passes that `Passes.td` declares: argument and summary.\nconst DECLARED: &[(&str, &str)] = &[\n",
    );
    for pass in find_records_of_class(records, "PassBase").into_iter().map(|name| &records[name]) {
        writeln!(text, "    ({}, {}),", pass["argument"], pass["summary"])?;
    }
    text.push_str("];\n");
    Ok(text)
}

/// Returns the option names of the passes as Rust constants.
fn generate_option_names(records: &Value) -> Result<String, Box<dyn Error>> {
    let names: BTreeSet<&str> = find_records_of_class(records, "Option")
        .into_iter()
        .filter_map(|name| records[name]["argument"].as_str())
        .collect();
    let mut text = String::from("/// The options of our passes.\npub mod option {\n");
    names.iter().try_for_each(|name| write_constant(&mut text, &name.replace('-', "_"), name))?;
    text.push_str("}\n");
    Ok(text)
}

/// Returns the records of a `.td` file, as `llvm-tblgen --dump-json` prints them.
fn dump_records(prefix: &Path, file: &str) -> Result<Value, Box<dyn Error>> {
    let mut tablegen = Command::new(prefix.join("bin/llvm-tblgen"));
    tablegen.arg("--dump-json").arg("-I").arg(prefix.join("include"));
    tablegen.args([
        "-I",
        "dialects/enums",
        "-I",
        "dialects/spyre",
        "-I",
        "dialects/sdsc",
        "-I",
        "dialects/sdscbundle",
        "-I",
        "dialects/stablehlo",
        "-I",
        "dialects/tm_tensor",
        "-I",
        "dialects/passes",
        file,
    ]);
    Ok(serde_json::from_str(&command_output(&mut tablegen)?)?)
}

/// Returns the names of the records of a tablegen class.
fn find_records_of_class<'r>(records: &'r Value, class: &str) -> Vec<&'r str> {
    let names = records["!instanceof"][class].as_array();
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the class and the name of each argument of an `(ins ...)` dag.
fn dag_arguments(dag: &Value) -> impl Iterator<Item = (&Value, String)> {
    dag["args"].as_array().into_iter().flatten().filter_map(|pair| Some((&pair[0], pair[1].as_str()?.to_owned())))
}

fn write_constant(text: &mut String, name: &str, value: &str) -> std::fmt::Result {
    writeln!(text, "    /// `{value}`\n    pub const {}: &str = \"{value}\";", name.to_uppercase())
}

/// Runs a program of the build, and forwards its warnings to cargo.
fn run_command(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let text = command_output(command)?;
    // Warnings of the compiler are errors; these are CMake's, tablegen's and the linker's.
    for line in text.lines().filter(|line| line.to_lowercase().contains("warning")) {
        println!("cargo::warning={line}");
    }
    Ok(())
}

/// Runs a program, and returns its output.
fn command_output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output().map_err(|error| format!("cannot run {:?}: {error}", command.get_program()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (written, complaints) = (text(&output.stdout), text(&output.stderr));
    if !output.status.success() {
        return Err(format!("{command:?} failed:\n{written}{complaints}").into());
    }
    Ok(written)
}

fn link_libraries(libraries: &Path, prefix: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rustc-link-search=native={}", libraries.display());
    for library in ["SpyreBridge", "SpyreDialects"] {
        if !libraries.join(format!("lib{library}.a")).exists() {
            return Err(format!(
                "{} has no lib{library}.a: the folder in SPYRE_DIALECTS is one where this project is built",
                libraries.display()
            )
            .into());
        }
        println!("cargo::rustc-link-lib=static:-bundle={library}");
    }
    // The C API and the dialects are not all that the bridge needs: the driver and the parser have no C interface.
    // mlir-sys links every library of MLIR, so they are there already.
    for argument in ["-fuse-ld=lld".to_owned(), format!("-B{}", prefix.join("bin").display())] {
        println!("cargo::rustc-link-arg={argument}");
    }
    Ok(())
}

/// A plugin must use the libMLIR of the program that loads it. Debian has no shared C API to go with it, so the library
/// that mlir-sys asks for, `libMLIR-C.so`, is a linker script here that takes what is needed from the static ones.
fn link_plugin(out: &Path, prefix: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=MLIR_SYS_LINK_SHARED");
    if env::var("MLIR_SYS_LINK_SHARED").as_deref() != Ok("1") {
        return Err("a plugin links the shared libMLIR: build it with `cargo xtask plugin`".into());
    }
    let mut script = String::from("GROUP(\n");
    for entry in fs::read_dir(prefix.join("lib"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("libMLIRCAPI") && name.ends_with(".a") {
            writeln!(script, "  \"{}\"", path.display())?;
        }
    }
    script.push_str(")\n");
    fs::write(out.join("libMLIR-C.so"), script)?;
    println!("cargo::rustc-link-search=native={}", out.display());
    Ok(())
}
