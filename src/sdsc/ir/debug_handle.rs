//! Debug handles of ops: from their locations, and as attributes of `sdsc.op`.
//!
//! A compilation derives the handle of an op from its location, which lists the passes that derived the op
//! ([`crate::mlir::derived_location`]). Printed IR omits locations, so the handles that were read from files are
//! attributes.

use crate::bundle::ir::op_origins::collect_ops;
use crate::dialect::ods::attr;
use crate::mlir::{
    Attribute, AttributeList, Context, Derivation, DerivationKind, FileRange, Location, LocationForm, Op, OpExt,
    array_attribute, build_dictionary, dictionary_entries, elements, integer, string, string_array, strings,
};
use sdsc_format::model::{DebugHandle, ProvenanceTransform, SourceRange, TransformKind};
use std::collections::BTreeSet;

/// Reader of the debug handles of a program. It numbers handles over the complete program.
#[derive(Default)]
pub(crate) struct DebugHandleReader {
    num_handles: u64,
}

impl DebugHandleReader {
    /// Returns the debug handle of an `sdsc.op`: that of its attribute, or that of its location. Returns `None` for an
    /// op that no pass derived, such as one of IR written by hand.
    pub(crate) fn read(&mut self, op: Op<'_>) -> Option<DebugHandle> {
        if let Some(handle) = op.attr(attr::SDSC_DEBUG_HANDLE) {
            return parse_handle(handle);
        }
        let mut handle = self.read_location(op.loc(), &mut BTreeSet::new())?;
        if handle.transform_history.is_empty() {
            return None;
        }
        handle.ir_chain.push(op.text_attr(attr::FUNCTION).to_owned().into());
        Some(handle)
    }

    /// Returns the handle of a location; `None` for one without a source, and for one that was visited before.
    fn read_location(
        &mut self,
        location: Location<'_>,
        seen: &mut BTreeSet<*const std::ffi::c_void>,
    ) -> Option<DebugHandle> {
        if !seen.insert(location.to_raw().ptr) {
            return None;
        }
        match LocationForm::from_location(location) {
            LocationForm::File(range) => Some(self.new_handle(Some(to_source(range)), Vec::new())),
            LocationForm::Name { inner, .. } => self.read_location(inner, seen),
            LocationForm::Call { callee, caller } => {
                self.read_location(callee, seen).or_else(|| self.read_location(caller, seen))
            }
            LocationForm::Fused { parts, metadata } => {
                let mut handles: Vec<DebugHandle> =
                    parts.into_iter().filter_map(|part| self.read_location(part, seen)).collect();
                let derivation = metadata.and_then(Derivation::from_metadata);
                let mut handle = match (handles.len(), &derivation) {
                    (0, None) => return None,
                    (0, Some(_)) => self.new_handle(None, Vec::new()),
                    (1, _) => handles.remove(0),
                    _ => self.new_handle(None, handles),
                };
                if let Some(derivation) = derivation {
                    add_step(&mut handle, derivation);
                }
                Some(handle)
            }
            LocationForm::Other => None,
        }
    }

    fn new_handle(&mut self, source: Option<SourceRange>, fused_from: Vec<DebugHandle>) -> DebugHandle {
        self.num_handles += 1;
        DebugHandle { id: self.num_handles.to_string().into(), source, fused_from, ..DebugHandle::default() }
    }
}

fn to_source(range: FileRange) -> SourceRange {
    let FileRange { file, start: [start_line, start_col], end } = range;
    let [end_line, end_col] = end.map(|number| Some(i64::from(number)));
    SourceRange { file: file.into(), start_line: start_line.into(), start_col: start_col.into(), end_line, end_col }
}

fn add_step(handle: &mut DebugHandle, derivation: Derivation) {
    let Derivation { kind, pass, op } = derivation;
    handle.ir_chain.extend(op.map(Into::into));
    let kind = match kind {
        DerivationKind::Rewrite => TransformKind::Rewrite,
        DerivationKind::Fusion => TransformKind::Fusion,
        DerivationKind::Decomposition => TransformKind::Decomposition,
        DerivationKind::Clone => TransformKind::Clone,
    };
    handle.transform_history.push(ProvenanceTransform { kind, pass_name: pass.into(), reason: None });
}

/// Sets the debug handles of the `sdsc.op`s below an op, in depth-first order.
pub(crate) fn set_debug_handles(around: Op<'_>, handles: &[Option<DebugHandle>]) {
    for (op, handle) in collect_ops(around).into_iter().zip(handles) {
        if let Some(handle) = handle {
            op.set_attr(attr::SDSC_DEBUG_HANDLE, to_attribute(op.ctx(), handle));
        }
    }
}

fn to_attribute<'c>(context: &'c Context, handle: &DebugHandle) -> Attribute<'c> {
    let DebugHandle { id, source, aten_op, ir_chain, fused_from, transform_history } = handle;
    let mut entries = AttributeList::new(context).with_text("id", id);
    if let Some(source) = source {
        entries = entries.with_attribute("source", source_attribute(context, source));
    }
    if let Some(aten_op) = aten_op {
        entries = entries.with_text("aten_op", aten_op);
    }
    let chain: Vec<String> = ir_chain.iter().map(ToString::to_string).collect();
    let fused: Vec<Attribute<'c>> = fused_from.iter().map(|part| to_attribute(context, part)).collect();
    let steps: Vec<Attribute<'c>> = transform_history.iter().map(|step| step_attribute(context, step)).collect();
    build_dictionary(
        entries
            .with_attribute("ir_chain", string_array(context, &chain))
            .with_attribute("fused_from", array_attribute(context, &fused))
            .with_attribute("transform_history", array_attribute(context, &steps)),
    )
}

fn source_attribute<'c>(context: &'c Context, source: &SourceRange) -> Attribute<'c> {
    let SourceRange { file, start_line, start_col, end_line, end_col } = source;
    let mut entries = AttributeList::new(context)
        .with_text("file", file)
        .with_int("start_line", *start_line)
        .with_int("start_col", *start_col);
    for (name, number) in [("end_line", end_line), ("end_col", end_col)] {
        if let Some(number) = number {
            entries = entries.with_int(name, *number);
        }
    }
    build_dictionary(entries)
}

fn step_attribute<'c>(context: &'c Context, step: &ProvenanceTransform) -> Attribute<'c> {
    let ProvenanceTransform { kind, pass_name, reason } = step;
    let mut entries = AttributeList::new(context).with_text("kind", kind.into()).with_text("pass_name", pass_name);
    if let Some(reason) = reason {
        entries = entries.with_text("reason", reason);
    }
    build_dictionary(entries)
}

/// Entries of a dictionary attribute.
struct AttributeEntries<'c>(Vec<(&'c str, Attribute<'c>)>);

impl<'c> AttributeEntries<'c> {
    fn get(&self, name: &str) -> Option<Attribute<'c>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(string).map(str::to_owned)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(integer)
    }

    fn list<T>(&self, name: &str, parse: impl Fn(Attribute<'c>) -> Option<T>) -> Option<Vec<T>> {
        self.get(name).and_then(elements)?.into_iter().map(parse).collect()
    }
}

fn parse_handle(attribute: Attribute<'_>) -> Option<DebugHandle> {
    let entries = AttributeEntries(dictionary_entries(attribute)?);
    Some(DebugHandle {
        id: entries.text("id")?.into(),
        source: entries.get("source").map(|source| parse_source(source)).unwrap_or_default(),
        aten_op: entries.text("aten_op").map(Into::into),
        ir_chain: entries.get("ir_chain").and_then(strings)?.into_iter().map(|op| op.to_owned().into()).collect(),
        fused_from: entries.list("fused_from", parse_handle)?,
        transform_history: entries.list("transform_history", parse_step)?,
    })
}

fn parse_source(attribute: Attribute<'_>) -> Option<SourceRange> {
    let entries = AttributeEntries(dictionary_entries(attribute)?);
    Some(SourceRange {
        file: entries.text("file")?.into(),
        start_line: entries.number("start_line")?,
        start_col: entries.number("start_col")?,
        end_line: entries.number("end_line"),
        end_col: entries.number("end_col"),
    })
}

fn parse_step(attribute: Attribute<'_>) -> Option<ProvenanceTransform> {
    let entries = AttributeEntries(dictionary_entries(attribute)?);
    Some(ProvenanceTransform {
        kind: entries.text("kind")?.parse().ok()?,
        pass_name: entries.text("pass_name")?.into(),
        reason: entries.text("reason").map(Into::into),
    })
}
