//! Shares one file among equal ops of a bundle, as torch-spyre does since August 2026 (later torch-spyre sources).
//!
//! Ops are equal if their files are, except for the numbers of the file and of the symbols. Addresses in the pool and in
//! arguments are operands of the executes, so they may differ, as may the arguments themselves, but not with the pool;
//! addresses in LX are in the file. torch-spyre also compares the numbers of the arguments. Back ends before 28 August
//! 2026 abort on a file that two executes name.
//!
//! ```text
//! sdsc_execute (%arg_0, %arg_1, %pool_addr_0) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3]}
//! sdsc_execute (%arg_0, %arg_1, %pool_addr_8192) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3]}
//! ```
//!
//! The ids of the second execute are those of the first. No other op uses its own ids, -4 to -6.

use super::{SdscError, from_op_spec};
use crate::bundle::{Allocation, NamedConstant, OpSpec, OpSpecOperand};
use crate::launch::geometry::Geometry;
use crate::launch::symbols::OpAddresses;
use crate::launch::{Launch, Stmt};
use sdsc_format::Sdsc;
use sdsc_format::model::DebugHandle;
use sdsc_format::program::OpHandle;
use std::collections::BTreeMap;

/// Files of a bundle in which equal ops share a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedFiles {
    /// Files by number.
    pub files: Vec<Sdsc>,
    /// Number of the file of each op, in depth-first order.
    pub file_of_op: Vec<usize>,
    /// Debug handles of ops whose file has the handle of an earlier op.
    pub debug_handles: Vec<OpHandle>,
}

/// Returns the files of the ops of a bundle, in depth-first order, and makes the launch execute them. `handles` has the
/// debug handle of each op; a file has that of the first op.
///
/// # Errors
/// If an op has no file.
pub fn share_files(
    ops: &[&OpSpec],
    handles: &[Option<DebugHandle>],
    launch: &mut Launch,
) -> Result<SharedFiles, SdscError> {
    let mut table = UniqueFileTable::default();
    let mut shared = SharedFiles::default();
    let mut first_ids = vec![-1];
    for (op, spec) in ops.iter().enumerate() {
        let first_id = first_ids[op];
        first_ids.push(OpAddresses::new_symbolic(spec, &Geometry::new(spec)?, first_id)?.next_id());
        let handle = handles.get(op).cloned().flatten();
        let number = match table.find_or_add(spec, first_id)? {
            FileLookup::File(number) => {
                if let Some(handle) =
                    handle.filter(|handle| shared.files[number].value.debug_handle.as_ref() != Some(handle))
                {
                    shared.debug_handles.push(OpHandle { op, handle });
                }
                number
            }
            FileLookup::New(number) => {
                let mut file = from_op_spec(spec, number, first_id)?;
                file.value.debug_handle = handle;
                shared.files.push(file);
                number
            }
        };
        shared.file_of_op.push(number);
    }
    rename_executes(
        &mut launch.body,
        &mut ExecuteRenaming { next_op: 0, first_ids: &first_ids, shared: &shared, table: &table },
    );
    Ok(shared)
}

/// Common properties of equal ops that are cheap to compare: function, which operands are kernel arguments, sizes
/// and slices.
type OpFingerprint<'a> = (&'a str, Vec<bool>, Vec<(i64, i64)>);

/// Op with a file of its own.
struct UniqueFile<'a> {
    /// File with number 0 and symbols from -1 on.
    canonical: Sdsc,
    /// Constants before rounding: `exact.json` names them by file.
    constants: &'a [NamedConstant],
    first_id: i64,
}

#[derive(Default)]
struct UniqueFileTable<'a> {
    unique: Vec<UniqueFile<'a>>,
    by_fingerprint: BTreeMap<OpFingerprint<'a>, Vec<usize>>,
}

enum FileLookup {
    File(usize),
    New(usize),
}

impl<'a> UniqueFileTable<'a> {
    fn find_or_add(&mut self, op: &'a OpSpec, first_id: i64) -> Result<FileLookup, SdscError> {
        let canonical = from_op_spec(op, 0, -1)?;
        let candidates = self.by_fingerprint.entry(compute_fingerprint(op)).or_default();
        let is_equal = |number: &&usize| {
            let known = &self.unique[**number];
            known.canonical == canonical && known.constants == op.constants.as_slice()
        };
        if let Some(number) = candidates.iter().find(is_equal) {
            return Ok(FileLookup::File(*number));
        }
        let number = self.unique.len();
        candidates.push(number);
        self.unique.push(UniqueFile { canonical, constants: &op.constants, first_id });
        Ok(FileLookup::New(number))
    }
}

fn compute_fingerprint(op: &OpSpec) -> OpFingerprint<'_> {
    let is_argument = |operand: &OpSpecOperand| matches!(operand.allocation, Allocation::Hbm { .. });
    (
        &op.function,
        op.operands.iter().map(is_argument).collect(),
        op.iteration_space.iter().map(|dim| (dim.range, dim.split)).collect(),
    )
}

/// State of the walk over the executes.
struct ExecuteRenaming<'a> {
    next_op: usize,
    first_ids: &'a [i64],
    shared: &'a SharedFiles,
    table: &'a UniqueFileTable<'a>,
}

fn rename_executes(body: &mut [Stmt], renaming: &mut ExecuteRenaming<'_>) {
    for statement in body {
        match statement {
            Stmt::Execute(execute) => {
                let op = renaming.next_op;
                renaming.next_op += 1;
                let Some(number) = renaming.shared.file_of_op.get(op) else { continue };
                execute.op = *number;
                let moved_by = renaming.table.unique[*number].first_id - renaming.first_ids[op];
                execute.symbol_ids.iter_mut().flatten().for_each(|id| *id += moved_by);
            }
            Stmt::For { body, .. } => rename_executes(body, renaming),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::{dense_operand, op};
    use crate::bundle::{Bundle, BundleItem};

    /// Returns exponentials of rows of `[64, 64]`, each from the first to the second allocation of a pair.
    fn exponentials(places: &[[Allocation; 2]]) -> Bundle {
        let exp = |places: &[Allocation; 2]| {
            let mut exp = op("exp", &[64, 64], vec![dense_operand(&[64, 64], 0, 1), dense_operand(&[64, 64], 0, 1)]);
            for (operand, place) in exp.operands.iter_mut().zip(places) {
                operand.allocation = *place;
            }
            BundleItem::Op(Box::new(exp))
        };
        Bundle { pool_bytes: 1 << 16, items: places.iter().map(exp).collect() }
    }

    const fn pool(offset_bytes: i64) -> Allocation {
        Allocation::Pool { offset_bytes }
    }

    const fn lx(offset_bytes: i64) -> Allocation {
        Allocation::Lx { offset_bytes }
    }

    const fn argument(argument: u32, offset_bytes: i64) -> Allocation {
        Allocation::Hbm { argument, offset_bytes }
    }

    fn share_bundle_files(bundle: &Bundle, handles: &[Option<DebugHandle>]) -> (SharedFiles, Launch) {
        let mut launch = Launch::new(bundle).unwrap();
        let shared = share_files(&bundle.ops(), handles, &mut launch).unwrap();
        (shared, launch)
    }

    fn file_numbers(places: &[[Allocation; 2]]) -> Vec<usize> {
        share_bundle_files(&exponentials(places), &[]).0.file_of_op
    }

    #[test]
    fn shares_file_of_ops_at_other_pool_offsets() {
        let bundle = exponentials(&[
            [argument(0, 0), pool(0)],
            [pool(0), pool(8192)],
            [pool(8192), pool(16384)],
            [pool(0), argument(1, 0)],
        ]);
        let (shared, launch) = share_bundle_files(&bundle, &[]);
        assert_eq!(shared.file_of_op, [0, 1, 1, 2]);
        let names: Vec<&str> = shared.files.iter().map(|file| &*file.name).collect();
        assert_eq!(names, ["0_exp", "1_exp", "2_exp"]);
        let text = launch.to_string();
        let executes: Vec<&str> =
            text.lines().filter_map(|line| line.trim().strip_prefix("sdscbundle.sdsc_execute ")).collect();
        assert!(executes[1].ends_with(r#"{sdsc_filename="sdsc_1.json", "symbol_ids"=[-3, -4]}"#), "{text}");
        assert!(executes[2].ends_with(r#"{sdsc_filename="sdsc_1.json", "symbol_ids"=[-3, -4]}"#), "{text}");
        assert!(executes[2].starts_with("(%pool_addr_8192, %pool_addr_16384)"), "{text}");
        // The ids of the third op are used by no execute.
        assert!(executes[3].ends_with(r#"{sdsc_filename="sdsc_2.json", "symbol_ids"=[-7, -8]}"#), "{text}");
    }

    #[test]
    fn separates_files_by_lx_address_and_not_by_argument() {
        assert_eq!(
            file_numbers(&[[argument(0, 0), pool(0)], [argument(1, 0), pool(0)], [pool(0), argument(2, 0)]]),
            [0, 0, 1]
        );
        assert_eq!(file_numbers(&[[lx(0), lx(8192)], [lx(0), lx(16384)], [lx(0), lx(8192)]]), [0, 1, 0]);
        // An in-place op has one symbol, any other op two.
        assert_eq!(file_numbers(&[[pool(0), pool(0)], [pool(0), pool(8192)], [pool(8192), pool(8192)]]), [0, 1, 0]);
    }

    #[test]
    fn separates_files_by_unrounded_constants() {
        let mut bundle = exponentials(&[[pool(0), pool(8192)]; 3]);
        for (item, value) in bundle.items.iter_mut().zip([1.0, 1.000_01, 1.0]) {
            let BundleItem::Op(op) = item else { unreachable!("a list of ops") };
            op.function = "clip".to_owned();
            op.constants = [("clipMin", 0.0), ("clipMax", value)]
                .map(|(name, value)| NamedConstant { name: name.to_owned(), value })
                .to_vec();
        }
        assert_eq!(share_bundle_files(&bundle, &[]).0.file_of_op, [0, 1, 0]);
    }

    #[test]
    fn keeps_debug_handle_of_first_op() {
        let handle = |id: &'static str| Some(DebugHandle { id: id.into(), ..DebugHandle::default() });
        let bundle = exponentials(&[[pool(0), pool(8192)], [pool(8192), pool(0)], [pool(0), pool(8192)]]);
        let (shared, _) = share_bundle_files(&bundle, &[handle("7"), handle("8"), handle("7")]);
        assert_eq!(shared.files.iter().map(|file| file.value.debug_handle.clone()).collect::<Vec<_>>(), [handle("7")]);
        assert_eq!(shared.debug_handles, [OpHandle { op: 1, handle: handle("8").unwrap() }]);
    }

    #[test]
    fn keeps_executes_in_loops() {
        let ops = exponentials(&[[pool(0), pool(8192)], [pool(8192), pool(0)]]).items;
        let body = BundleItem::Loop { count: 4, symbol: None, body: ops.clone() };
        let bundle = Bundle { pool_bytes: 1 << 16, items: vec![ops[0].clone(), body] };
        let (shared, launch) = share_bundle_files(&bundle, &[]);
        assert_eq!(shared.file_of_op, [0, 0, 0]);
        assert_eq!(launch.to_string().matches("sdsc_0.json").count(), 3);
    }
}
