//! Reconstructs the bundle from its launch and its files.

use super::evaluate::{EffectStep, LaunchEffect, LoopSize, evaluate_launch};
use super::{FileComparison, FileContext, OpSpecReadError, SymbolValue, to_op_spec};
use crate::launch::geometry::Geometry;
use crate::launch::symbols::{MemoryMap, OpAddresses};
use crate::sdsc::emit::share_files;
use crate::{
    bundle::{Bundle, BundleItem, LoopSymbol, OpSpec},
    launch::Launch,
};
use machine::Target;
use sdsc_format::{
    Sdsc,
    program::{LaunchEntry, OpHandle},
};
use std::collections::BTreeMap;

/// Facts about a bundle that only the program states.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramFacts<'a> {
    /// Bytes of the pool that precedes the arguments in a bundle with baked addresses.
    pub pool_bytes: i64,
    /// Names of the parameters that are symbolic sizes.
    pub sizes: &'a [String],
    /// Debug handles of ops whose file has that of another op.
    pub debug_handles: &'a [OpHandle],
}

impl<'a> ProgramFacts<'a> {
    /// Returns the facts that the entry of a launch states.
    #[must_use]
    pub fn from_entry(entry: &'a LaunchEntry) -> Self {
        Self { pool_bytes: entry.pool_bytes, sizes: &entry.sizes, debug_handles: &entry.debug_handles }
    }

    /// Returns the locations of the arguments of a bundle with baked addresses.
    pub(super) const fn memory_map(&self, target: &Target) -> MemoryMap {
        MemoryMap { segment_bytes: target.segment_bytes, segments: target.segments, has_pool: self.pool_bytes > 0 }
    }

    /// Returns the symbol of a loop. Without a program a size has no name, so it is named after its parameter; files do
    /// not name the tiled dimension.
    pub(super) fn loop_symbol(&self, size: &LoopSize) -> LoopSymbol {
        let name = self.sizes.get(size.number).cloned().unwrap_or_else(|| format!("size{}", size.number));
        LoopSymbol { dim: name.clone(), name, tile: size.step, granularity: size.bounds.granularity }
    }
}

/// Returns the bundle of a launch and its files; file `k` is the operation of `sdsc_<k>.json`. Executes may share a
/// file if it is that of equal ops; files are in the order of their first executes.
///
/// The numbers in [`Launch::first_symbol_ids`] of the parsed launch are not used.
///
/// # Errors
///
/// If a file cannot be read back, or the reconstructed bundle's launch has another effect than this one.
pub fn to_bundle(launch: &Launch, files: &[Sdsc], program: ProgramFacts<'_>) -> Result<Bundle, OpSpecReadError> {
    let pool_bytes = program.pool_bytes;
    let mut effect = evaluate_launch(launch)?;
    let is_baked = !has_symbols(&effect.steps);
    if is_baked {
        effect.pool_bytes = pool_bytes;
    }
    let target = Target::spyre();
    let memory = is_baked.then(|| program.memory_map(&target));
    let mut reader =
        SdscBundleReader { files, memory, pool_bytes: effect.pool_bytes, next_id: -1, first_ids: Vec::new() };
    let mut read_op = |index: usize, symbols: Option<&_>, _: &_| reader.read_op(index, symbols);
    let bundle = Bundle { pool_bytes: effect.pool_bytes, items: read_items(&effect.steps, &program, &mut read_op)? };
    if reader.first_ids.len() != files.len() {
        return Err(OpSpecReadError::launch(format!(
            "runs {} files; there are {}",
            reader.first_ids.len(),
            files.len()
        )));
    }
    let ops = bundle.ops();
    let mut again = if is_baked { Launch::new_baked(&bundle, &target) } else { Launch::new(&bundle) }?;
    if ops.len() > files.len() {
        share_files(&ops, &[], &mut again)?;
    }
    let mut again = evaluate_launch(&again)?;
    if is_baked {
        again.pool_bytes = if bundle.uses_pool() { pool_bytes } else { 0 };
    }
    check_same_effect(&effect, &again)?;
    Ok(bundle)
}

/// Returns whether ops have symbol lists, possibly empty; ops with baked addresses have none.
pub(super) fn has_symbols(steps: &[EffectStep]) -> bool {
    steps.iter().any(|step| match step {
        EffectStep::Op { symbols, .. } => symbols.is_some(),
        EffectStep::Loop { body, .. } => has_symbols(body),
    })
}

/// Returns the items of a bundle with these steps. `read_op` reads the op of a step from the number of its file, its
/// symbols and its sizes.
pub(super) fn read_items<F>(
    steps: &[EffectStep],
    program: &ProgramFacts<'_>,
    read_op: &mut F,
) -> Result<Vec<BundleItem>, OpSpecReadError>
where
    F: FnMut(usize, Option<&BTreeMap<i64, SymbolValue>>, &BTreeMap<i64, usize>) -> Result<OpSpec, OpSpecReadError>,
{
    let mut items = Vec::with_capacity(steps.len());
    for step in steps {
        items.push(match step {
            EffectStep::Op { index, symbols, sizes } => {
                BundleItem::Op(Box::new(read_op(*index, symbols.as_ref(), sizes)?))
            }
            EffectStep::Loop { count, size, body } => BundleItem::Loop {
                count: *count,
                symbol: size.map(|size| program.loop_symbol(&size)),
                body: read_items(body, program, read_op)?,
            },
        });
    }
    Ok(items)
}

struct SdscBundleReader<'a> {
    files: &'a [Sdsc],
    memory: Option<MemoryMap>,
    pool_bytes: i64,
    next_id: i64,
    /// First symbol id of each file so far.
    first_ids: Vec<i64>,
}

impl SdscBundleReader<'_> {
    fn read_op(
        &mut self,
        index: usize,
        symbols: Option<&BTreeMap<i64, SymbolValue>>,
    ) -> Result<OpSpec, OpSpecReadError> {
        let next = self.first_ids.len();
        if index > next || index < next && self.memory.is_some() {
            return Err(OpSpecReadError::launch(format!(
                "runs sdsc_{index}.json where sdsc_{next}.json is next; files are in the order in which they first run"
            )));
        }
        let first_symbol_id = self.first_ids.get(index).copied().unwrap_or(self.next_id);
        let Some(sdsc) = self.files.get(index) else {
            return Err(OpSpecReadError::launch(format!("runs sdsc_{index}.json, which is not there")));
        };
        let at_fault = |source: OpSpecReadError| OpSpecReadError::InFile { index, source: Box::new(source) };
        let surroundings = FileContext {
            first_symbol_id,
            symbols: symbols.cloned().unwrap_or_default(),
            pool_bytes: self.pool_bytes,
            memory: self.memory,
            comparison: FileComparison::Exact,
        };
        let op = to_op_spec(sdsc, &surroundings).map_err(at_fault)?;
        if sdsc.name.split_once('_').map(|(number, _)| number) != Some(index.to_string().as_str()) {
            return Err(at_fault(OpSpecReadError::member(
                sdsc.name.to_string(),
                format!("this is op {index} of its bundle"),
            )));
        }
        if self.memory.is_none() {
            let geometry = Geometry::new(&op)?;
            self.next_id = OpAddresses::new_symbolic(&op, &geometry, self.next_id)?.next_id();
        }
        if index == next {
            self.first_ids.push(first_symbol_id);
        }
        Ok(op)
    }
}

/// Checks that the launch of the reconstructed bundle has the same effect as the launch that was read.
fn check_same_effect(read: &LaunchEffect, emitted: &LaunchEffect) -> Result<(), OpSpecReadError> {
    if read.pool_bytes != emitted.pool_bytes {
        let reason =
            format!("allocates a pool of {} bytes; its ops need one of {}", read.pool_bytes, emitted.pool_bytes);
        return Err(OpSpecReadError::launch(reason));
    }
    check_same_steps(&read.steps, &emitted.steps)
}

fn check_same_steps(read: &[EffectStep], emitted: &[EffectStep]) -> Result<(), OpSpecReadError> {
    for (read, emitted) in read.iter().zip(emitted) {
        match (read, emitted) {
            (
                EffectStep::Loop { count, size, body: read },
                EffectStep::Loop { count: again, size: size_again, body: emitted },
            ) => {
                if (count, size.map(LoopSize::range)) != (again, size_again.map(LoopSize::range)) {
                    return Err(OpSpecReadError::launch("has a loop with bounds that no op spec has".to_owned()));
                }
                check_same_steps(read, emitted)?
            }
            (EffectStep::Op { index, .. }, EffectStep::Op { index: again, .. }) if index != again => {
                return Err(OpSpecReadError::launch(format!(
                    "runs sdsc_{index}.json where equal ops share sdsc_{again}.json"
                )));
            }
            (EffectStep::Op { index, symbols, sizes: _ }, EffectStep::Op { symbols: again, .. })
                if symbols != again =>
            {
                let (symbols, again) = (symbols.as_ref(), again.as_ref());
                let differs = symbols
                    .into_iter()
                    .flatten()
                    .find(|(id, value)| again.and_then(|again| again.get(id)) != Some(value));
                let which = differs
                    .map_or("another number of symbols".to_owned(), |(id, _)| format!("a value for symbol {id}"));
                return Err(OpSpecReadError::launch(format!(
                    "gives sdsc_{index}.json {which} that no op spec with this file has"
                )));
            }
            (EffectStep::Op { .. } | EffectStep::Loop { .. }, EffectStep::Op { .. } | EffectStep::Loop { .. }) => {}
        }
    }
    Ok(())
}
