//! Generates Rust tables from `Formats.def` and `DeviceFunctions.def`, which the C++ verifiers include.

use std::{env, error::Error, fmt::Write as _, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for (table, rust_file, generate) in [
        ("Formats.def", "formats.rs", generate_formats as fn(&str) -> Result<String, String>),
        ("DeviceFunctions.def", "device_functions.rs", generate_device_functions),
    ] {
        println!("cargo::rerun-if-changed={table}");
        let text = generate(&fs::read_to_string(table)?).map_err(|error| format!("{table}: {error}"))?;
        fs::write(out.join(rust_file), text)?;
    }
    Ok(())
}

/// Returns the rows of a `.def` table, each as a macro name and its arguments.
fn parse_rows(table: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let is_row = |line: &&str| line.starts_with("SPYRE_");
    table.lines().filter(is_row).filter_map(|line| {
        let (name, arguments) = line.strip_suffix(')')?.split_once('(')?;
        Some((name, split_arguments(arguments)))
    })
}

/// Splits macro arguments at commas. Only the last argument may be quoted; it may contain commas.
fn split_arguments(text: &str) -> Vec<&str> {
    let (plain, quoted) =
        text.split_once('"').map_or((text, None), |(plain, quoted)| (plain, quoted.strip_suffix('"')));
    plain.split(',').map(str::trim).filter(|argument| !argument.is_empty()).chain(quoted).collect()
}

/// Generates `STICK_BYTES` and the enum `DeviceFormat`: one variant per
/// `SPYRE_FORMAT(variant, name, bytes, description)` or `SPYRE_PACKED_FORMAT(variant, name, bits, description)`.
fn generate_formats(table: &str) -> Result<String, String> {
    let (mut variants, mut all, mut packed, mut names, mut bits_of, mut stick) =
        (String::new(), Vec::new(), Vec::new(), String::new(), String::new(), None);
    for row in parse_rows(table) {
        let (variant, name, bits, description) = match (row.0, row.1.as_slice()) {
            ("SPYRE_STICK_BYTES", [bytes]) => {
                stick = Some(*bytes);
                continue;
            }
            ("SPYRE_FORMAT", [variant, name, bytes, description]) => {
                all.push(format!("Self::{variant}"));
                let bytes: i64 = bytes.parse().map_err(|error| format!("{bytes}: {error}"))?;
                (variant, name, (8 * bytes).to_string(), description)
            }
            ("SPYRE_PACKED_FORMAT", [variant, name, bits, description]) => {
                packed.push(format!("Self::{variant}"));
                (variant, name, (*bits).to_owned(), description)
            }
            _ => {
                return Err(format!(
                    "expected SPYRE_FORMAT(variant, name, bytes, description), SPYRE_PACKED_FORMAT(variant, name, \
                     bits, description) or SPYRE_STICK_BYTES(bytes), found {row:?}"
                ));
            }
        };
        writeln!(variants, "    /// {description}\n    {variant},").map_err(|error| error.to_string())?;
        writeln!(names, "            Self::{variant} => {name:?},").map_err(|error| error.to_string())?;
        writeln!(bits_of, "            Self::{variant} => {bits},").map_err(|error| error.to_string())?;
    }
    let (n, n_packed, all, packed) = (all.len(), packed.len(), all.join(", "), packed.join(", "));
    let stick = stick.ok_or("expected SPYRE_STICK_BYTES(bytes)")?;
    Ok(format!(
        r#"/// Bytes of one stick, the unit of transfer between HBM and LX ("SuperDSC-Bundle specification, data layout").
///
/// Device layouts, formats and the file format are all defined in terms of this size, so it is not part of
/// [`Target`](crate::Target).
pub const STICK_BYTES: i64 = {stick};

/// A number format of the device ("SuperDSC format, `DataFormats`"): the rows of `Formats.def`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceFormat {{
{variants}}}

impl DeviceFormat {{
    /// Every format of the IR, in the order of the enum.
    pub const ALL: [Self; {n}] = [{all}];

    /// The formats of files that the IR lacks: their elements share bytes.
    pub const PACKED: [Self; {n_packed}] = [{packed}];

    /// The spelling in SDSC files (`dataFormat_`) and in `#spyre.layout`.
    #[must_use]
    pub const fn name(self) -> &'static str {{
        match self {{
{names}        }}
    }}

    /// Bits of one element.
    #[must_use]
    pub const fn bits(self) -> i64 {{
        match self {{
{bits_of}        }}
    }}
}}
"#
    ))
}

/// Generates the static table of device functions: one row per `SPYRE_POINTWISE(name, operands, fp32, lx)` or
/// `SPYRE_REDUCE(name, fp32, lx)`. Each `SPYRE_CONSTANT(function, name)` adds a parameter to a function.
fn generate_device_functions(table: &str) -> Result<String, String> {
    let mut out = String::from("/// The rows of `DeviceFunctions.def`.\nstatic TABLE: &[DeviceFunction] = &[\n");
    let find_constants = |function: &str| -> Vec<&str> {
        let constants = parse_rows(table).filter_map(|(row, arguments)| (row == "SPYRE_CONSTANT").then_some(arguments));
        constants
            .filter_map(|arguments| Some((*arguments.first()?, *arguments.get(1)?)))
            .filter(|(owner, _)| *owner == function)
            .map(|(_, name)| name)
            .collect()
    };
    for (row, arguments) in parse_rows(table) {
        let (family, name, num_operands, fp32, lx) = match (row, arguments.as_slice()) {
            ("SPYRE_POINTWISE", [name, operands, fp32, lx]) => ("Pointwise", name, *operands, fp32, lx),
            ("SPYRE_REDUCE", [name, fp32, lx]) => ("Reduce", name, "1", fp32, lx),
            ("SPYRE_CONSTANT", [_, _]) => continue,
            found => return Err(format!("expected a row of the kinds in its comment, found {found:?}")),
        };
        let (fp32, lx, constants) = (*fp32 == "1", *lx == "1", find_constants(name));
        writeln!(
            out,
            "    DeviceFunction {{ name: {name:?}, family: Family::{family}, num_operands: {num_operands}, fp32: {fp32}, lx: {lx}, constants: &{constants:?} }},"
        )
        .map_err(|error| error.to_string())?;
    }
    out.push_str("];\n");
    Ok(out)
}
