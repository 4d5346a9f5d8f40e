//! Final check after the rules of the format: a file must be identical to the emission of its own op spec.
//!
//! A rule names the invalid field; this check only shows that no op spec has the file. So it runs after the rules, and
//! on files on disk only: new output would be compared with itself. Four kinds of legal files lack an op spec:
//!
//! * A shuffle may have views that no op spec describes. Another op takes its place, so that later files are checked.
//! * A tensor in LX may have one address for each core. The comparison uses the first one for all cores.
//! * The reader does not support every layout of the reference emitter's poolings. The comparison ends at such a file.
//! * The IR has no matmuls of integers. The comparison ends at such a file.

use crate::bundle::{Allocation, Coordinate, ElementArrangement, IterationDim, OpSpec, OpSpecOperand};
use crate::sdsc::emit::from_op_spec;
use crate::sdsc::read::{
    FileComparison, FileContext, OpSpecReadError, ProgramFacts, parse_launch, to_bundle, to_op_spec,
};
use machine::{DeviceFormat, STICK_BYTES};
use sdsc_check::{Violation, ViolationLocation};
use sdsc_format::{
    BUNDLE_FILE, Sdsc,
    program::{LaunchEntry, PROGRAM_FILE, Program},
};
use std::collections::BTreeMap;

/// Label of these violations, in addition to those of the rules.
pub const RE_EMISSION_LABEL: &str = "sdsc_r98";

/// Returns the first difference between the files of a bundle, or of a program and its bundles, and the emission of
/// their op specs.
///
/// Files are given with their paths below the directory. A file that cannot be interpreted violates a rule and is not
/// reported here.
#[must_use]
pub fn find_emission_difference<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Option<Violation> {
    let files: BTreeMap<&str, &[u8]> = files.into_iter().collect();
    let program: Option<Program> = files.get(PROGRAM_FILE).and_then(|bytes| serde_json::from_slice(bytes).ok());
    let launches = program.map(|program| program.launches).unwrap_or_default();
    if files.contains_key(BUNDLE_FILE) {
        let facts = launches.first().map(ProgramFacts::from_entry).unwrap_or_default();
        return find_bundle_difference(&files, "", facts);
    }
    let difference = |launch: &LaunchEntry| {
        find_bundle_difference(&files, &format!("{}/", launch.bundle), ProgramFacts::from_entry(launch))
    };
    launches.iter().find_map(difference)
}

fn find_bundle_difference(files: &BTreeMap<&str, &[u8]>, folder: &str, facts: ProgramFacts<'_>) -> Option<Violation> {
    let path = |name: &str| format!("{folder}{name}");
    let text = std::str::from_utf8(files.get(&*path(BUNDLE_FILE))?).ok()?;
    let mut read: Vec<Sdsc> = Vec::new();
    while let Some(bytes) = files.get(&*path(&format!("sdsc_{}.json", read.len()))) {
        let mut sdsc = serde_json::from_slice(bytes).ok()?;
        unify_lx_starts(&mut sdsc);
        read.push(if lacks_op_spec(&sdsc) { build_stand_in(read.len())? } else { sdsc });
    }
    let error = parse_launch(text).and_then(|launch| to_bundle(&launch, &read, facts)).err()?;
    let violation = |file: String, message: String| Violation {
        label: RE_EMISSION_LABEL,
        file,
        place: ViolationLocation::File,
        message,
    };
    match error {
        OpSpecReadError::InFile { index, source }
            if is_member_order_error(&source) || may_lack_op_spec(&read[index]) =>
        {
            None
        }
        OpSpecReadError::InFile { index, source } => {
            Some(violation(path(&format!("sdsc_{index}.json")), source.to_string()))
        }
        error => Some(violation(path(BUNDLE_FILE), error.to_string())),
    }
}

/// Gives each tensor in LX the address of the first core on all cores.
fn unify_lx_starts(sdsc: &mut Sdsc) {
    let nodes = sdsc.value.dscs.iter_mut().flat_map(|dsc| &mut dsc.value.nodes);
    for node in nodes.filter(|node| node.component == "lx") {
        let Some(first) = node.start.data.0.first().map(|(_, address)| *address) else { continue };
        node.start.data.0.iter_mut().for_each(|(_, address)| *address = first);
    }
}

/// Returns whether the file is a shuffle within LX without an op spec. Such a file has no symbols, so its context has
/// no effect.
fn lacks_op_spec(sdsc: &Sdsc) -> bool {
    let dscs = || sdsc.value.dscs.iter().map(|dsc| &dsc.value);
    let is_shuffle = dscs().flat_map(|dsc| &dsc.compute).any(|op| op.function == "shuffle");
    let is_in_lx = dscs().flat_map(|dsc| &dsc.nodes).all(|node| node.component == "lx");
    let context = FileContext {
        first_symbol_id: -1,
        symbols: BTreeMap::new(),
        pool_bytes: 0,
        memory: None,
        comparison: FileComparison::Exact,
    };
    is_shuffle && is_in_lx && to_op_spec(sdsc, &context).is_err()
}

/// Returns the file of a copy within LX, which has no symbols, as a shuffle has none. The addresses depend on the number
/// of the file, so that no two of these files are equal.
fn build_stand_in(index: usize) -> Option<Sdsc> {
    let offset_bytes = i64::try_from(index).ok()?.checked_mul(2 * STICK_BYTES)?;
    let operand = |is_input: bool, offset_bytes: i64| OpSpecOperand {
        is_input,
        format: DeviceFormat::Sen169Fp16,
        arrangement: ElementArrangement::Standard,
        device_size: vec![1, 1, 64],
        coordinates: vec![Coordinate::floordiv(1, 64), Coordinate::dim(0), Coordinate::modulo(1, 64)],
        allocation: Allocation::Lx { offset_bytes },
        tile_advance: Vec::new(),
        name: None,
        ownership: None,
    };
    let copy = OpSpec {
        function: "identity".to_owned(),
        iteration_space: vec![IterationDim::new(1, 1), IterationDim::new(64, 1)],
        operands: vec![operand(true, offset_bytes), operand(false, offset_bytes + STICK_BYTES)],
        ..OpSpec::default()
    };
    from_op_spec(&copy, index, -1).ok()
}

/// Returns whether the operation is a pooling or a matmul of integers, of which not every legal file has an op spec.
fn may_lack_op_spec(sdsc: &Sdsc) -> bool {
    let mut ops = sdsc.value.dscs.iter().flat_map(|dsc| &dsc.value.compute);
    ops.any(|op| matches!(&*op.function, "avgpoolfwd" | "batchmatmulint8" | "batchmatmulint4"))
}

/// Returns whether the error is a difference in the order of an object's members, which has no meaning.
fn is_member_order_error(error: &OpSpecReadError) -> bool {
    matches!(error, OpSpecReadError::NoOpSpec { member, .. } if member == "the order of members")
}
