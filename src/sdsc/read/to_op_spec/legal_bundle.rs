//! Reconstructs the bundle of a legal bundle directory of any emitter: with other names of values, files and tensors,
//! other ids of symbols, and optional members left out.
//!
//! Each file becomes canonical before its op spec is reconstructed. The launch is not compared as text: the
//! reconstructed bundle has the same loops and ops, and each core's slice of each tensor starts at the same address.

use super::bundle::{has_symbols, read_items};
use super::canonical::{rename_dims, to_canonical};
use super::evaluate::{EffectStep, LoopSize, evaluate_launch, evaluate_text};
use super::{FileComparison, FileContext, OpSpecReadError, ProgramFacts, SymbolValue, to_op_spec};
use crate::bundle::{Bundle, OpSpec};
use crate::launch::Launch;
use crate::launch::symbols::MemoryMap;
use crate::sdsc::emit::from_op_spec;
use machine::Target;
use sdsc_format::Sdsc;
use sdsc_format::bundle_text::{Stmt, StmtKind, parse};
use sdsc_format::model::{DebugHandle, DecimalInteger, Entries, Text};
use sdsc_format::program::OpHandle;
use std::collections::BTreeMap;

/// Bundle that was reconstructed from its files.
#[derive(Clone, Debug)]
pub struct LegalBundle {
    /// Bundle.
    pub bundle: Bundle,
    /// Debug handles of the ops, in depth-first order.
    pub handles: Vec<Option<DebugHandle>>,
    /// Whether the addresses are baked into the files.
    pub is_baked: bool,
}

/// Returns the paths of the files that a `bundle.mlir` executes, in the order of their first executes.
///
/// # Errors
///
/// If the text is not a bundle.
pub fn find_executed_files(text: &str) -> Result<Vec<String>, OpSpecReadError> {
    fn collect_files(body: &[Stmt<&str>], files: &mut Vec<String>) {
        for statement in body {
            match &statement.kind {
                StmtKind::Execute(execute) if !files.iter().any(|known| known == execute.file) => {
                    files.push(execute.file.to_owned());
                }
                StmtKind::For(counted) => collect_files(&counted.body, files),
                _ => {}
            }
        }
    }
    let text = parse(text).map_err(|error| OpSpecReadError::launch(error.to_string()))?;
    let mut files = Vec::new();
    collect_files(&text.body, &mut files);
    Ok(files)
}

/// Reconstructs a bundle from the text of its `bundle.mlir` and from its files, which are in the order of their first
/// executes.
///
/// # Errors
///
/// If a file or the launch has a meaning that no bundle of op specs has.
pub fn read_legal_bundle(
    text: &str,
    files: &[Sdsc],
    program: ProgramFacts<'_>,
) -> Result<LegalBundle, OpSpecReadError> {
    let (effect, names) = evaluate_text(text)?;
    if names.len() != files.len() {
        let reason = format!("executes {} files, found {}", names.len(), files.len());
        return Err(OpSpecReadError::launch(reason));
    }
    let is_baked = !has_symbols(&effect.steps);
    let target = Target::spyre();
    let pool_bytes = if is_baked { program.pool_bytes } else { effect.pool_bytes };
    let mut reader = LegalBundleReader {
        files,
        names: &names,
        memory: is_baked.then(|| program.memory_map(&target)),
        pool_bytes,
        program,
        size_names: BTreeMap::new(),
        canonical: Vec::new(),
    };
    let mut read_op = |file: usize, symbols: Option<&_>, sizes: &_| reader.read_op(file, symbols, sizes);
    let bundle = Bundle { pool_bytes, items: read_items(&effect.steps, &program, &mut read_op)? };
    let launch = if is_baked { Launch::new_baked(&bundle, &target) } else { Launch::new(&bundle) }?;
    if !is_baked {
        let emitted = evaluate_launch(&launch)?;
        let mut comparison = StartComparison {
            ops: &bundle.ops(),
            first_ids: &launch.first_symbol_ids,
            canonical: &reader.canonical,
            next_op: 0,
        };
        comparison.check_steps(&effect.steps, &emitted.steps)?;
    }
    let mut handles = Vec::new();
    collect_handles(&effect.steps, files, &mut handles);
    for OpHandle { op, handle } in program.debug_handles {
        if let Some(known) = handles.get_mut(*op) {
            *known = Some(handle.clone());
        }
    }
    Ok(LegalBundle { bundle, handles, is_baked })
}

/// Appends the debug handles that the files of ops have, in depth-first order.
fn collect_handles(steps: &[EffectStep], files: &[Sdsc], handles: &mut Vec<Option<DebugHandle>>) {
    for step in steps {
        match step {
            EffectStep::Op { index, .. } => handles.push(files[*index].value.debug_handle.clone()),
            EffectStep::Loop { body, .. } => collect_handles(body, files, handles),
        }
    }
}

struct LegalBundleReader<'a> {
    files: &'a [Sdsc],
    names: &'a [String],
    memory: Option<MemoryMap>,
    pool_bytes: i64,
    program: ProgramFacts<'a>,
    /// Names of the parameters that are sizes, by number.
    size_names: BTreeMap<usize, Text>,
    /// Canonical file of each op so far, in depth-first order.
    canonical: Vec<Sdsc>,
}

impl LegalBundleReader<'_> {
    fn read_op(
        &mut self,
        file: usize,
        symbols: Option<&BTreeMap<i64, SymbolValue>>,
        sizes: &BTreeMap<i64, usize>,
    ) -> Result<OpSpec, OpSpecReadError> {
        self.read_file(file, symbols.cloned().unwrap_or_default(), sizes)
            .map_err(|source| OpSpecReadError::InNamedFile { file: self.names[file].clone(), source: Box::new(source) })
    }

    fn read_file(
        &mut self,
        file: usize,
        symbols: BTreeMap<i64, SymbolValue>,
        sizes: &BTreeMap<i64, usize>,
    ) -> Result<OpSpec, OpSpecReadError> {
        let mut canonical = to_canonical(&self.files[file], self.canonical.len())?;
        self.name_sizes(&mut canonical, sizes);
        let context = FileContext {
            first_symbol_id: -1,
            symbols,
            pool_bytes: self.pool_bytes,
            memory: self.memory,
            comparison: FileComparison::Meaning,
        };
        let mut first_error = None;
        for named in rename_dims(&canonical) {
            match to_op_spec(&named, &context) {
                Ok(op) => {
                    self.canonical.push(named);
                    return Ok(op);
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_else(|| {
            OpSpecReadError::member("numWkSlicesPerDim_", "expected at most 8 dimensions with the names of the format")
        }))
    }

    /// Names the symbolic sizes of a file: as the program does, else as the first file with the size does.
    fn name_sizes(&mut self, sdsc: &mut Sdsc, sizes: &BTreeMap<i64, usize>) {
        let tags = sdsc.value.symbol_tags.take().unwrap_or_default();
        let dims = sdsc.value.dscs.iter().flat_map(|dsc| dsc.value.dim_symbols.iter()).flat_map(Entries::iter);
        let mut named: Entries<Text, Text> = Entries::default();
        for id in dims.flat_map(|(_, symbols)| symbols.iter().map(|symbol| symbol.id)) {
            let Some(&number) = sizes.get(&id) else { continue };
            let id = id.to_string();
            if named.get(&id).is_none() {
                let name = self.size_name(number, tags.get(&id));
                named.0.push((id.into(), name));
            }
        }
        sdsc.value.symbol_tags = (!named.is_empty()).then_some(named);
    }

    fn size_name(&mut self, number: usize, tag: Option<&Text>) -> Text {
        if let Some(name) = self.program.sizes.get(number) {
            return name.clone().into();
        }
        let is_free = |tag: &&Text| !self.size_names.iter().any(|(other, name)| *other != number && *name == **tag);
        let name = tag.filter(is_free).cloned().unwrap_or_else(|| format!("size{number}").into());
        self.size_names.entry(number).or_insert(name).clone()
    }
}

/// Comparison of the start addresses of a launch that was read with those of the reconstructed bundle.
struct StartComparison<'a> {
    ops: &'a [&'a OpSpec],
    first_ids: &'a [i64],
    canonical: &'a [Sdsc],
    next_op: usize,
}

impl StartComparison<'_> {
    fn check_steps(&mut self, read: &[EffectStep], emitted: &[EffectStep]) -> Result<(), OpSpecReadError> {
        for (read, emitted) in read.iter().zip(emitted) {
            match (read, emitted) {
                (
                    EffectStep::Loop { count, size, body },
                    EffectStep::Loop { count: again, size: size_again, body: body_again },
                ) => {
                    if (count, size.map(LoopSize::range)) != (again, size_again.map(LoopSize::range)) {
                        return Err(OpSpecReadError::launch("has a loop with bounds that no bundle has"));
                    }
                    self.check_steps(body, body_again)?;
                }
                (EffectStep::Op { symbols, .. }, EffectStep::Op { symbols: again, .. }) => {
                    self.check_op(symbols.as_ref(), again.as_ref())?;
                }
                (EffectStep::Op { .. } | EffectStep::Loop { .. }, EffectStep::Op { .. } | EffectStep::Loop { .. }) => {}
            }
        }
        Ok(())
    }

    fn check_op(
        &mut self,
        read: Option<&BTreeMap<i64, SymbolValue>>,
        emitted: Option<&BTreeMap<i64, SymbolValue>>,
    ) -> Result<(), OpSpecReadError> {
        let op = self.next_op;
        self.next_op += 1;
        let file = from_op_spec(self.ops[op], op, self.first_ids[op])?;
        let (starts, starts_again) = (find_starts(&self.canonical[op], read), find_starts(&file, emitted));
        let differs = starts.iter().zip(&starts_again).position(|(start, again)| start != again);
        match differs {
            Some(tensor) => Err(OpSpecReadError::launch(format!(
                "gives tensor {tensor} of op {op} addresses that no op spec with this file has"
            ))),
            None => Ok(()),
        }
    }
}

/// Returns the start of each core's slice of each tensor whose starts are symbols.
fn find_starts<'a>(file: &Sdsc, symbols: Option<&'a BTreeMap<i64, SymbolValue>>) -> Vec<Vec<Option<&'a SymbolValue>>> {
    let nodes = file.value.dscs.iter().flat_map(|dsc| &dsc.value.nodes);
    let starts = |ids: &Entries<_, DecimalInteger>| ids.iter().map(|(_, id)| symbols?.get(&id.0)).collect();
    nodes.map(|node| if node.has_symbolic_start() { starts(&node.start.data) } else { Vec::new() }).collect()
}
