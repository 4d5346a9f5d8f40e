//! Reconstructs the iteration space of an op from its SDSC file.

use super::OpSpecReadError;
use super::candidate::{OpSpecCandidate, RangePadding};
use super::evaluate::SymbolBase;
use super::file::SdscFile;
use crate::bundle::{IterationDim, SymbolicDim};
use crate::launch::geometry::DimLabel;
use sdsc_format::model::{Entries, Text};

impl SdscFile<'_> {
    /// Returns the iteration dimensions of the op, in the order of the candidate.
    pub(super) fn iteration_space(&self, candidate: &OpSpecCandidate) -> Result<Vec<IterationDim>, OpSpecReadError> {
        let build_dim = |label: &DimLabel| {
            let symbolic = self.symbolic_dim(*label)?;
            Ok(IterationDim {
                name: None,
                range: self.range(candidate, *label),
                split: self.split(*label),
                divisor: None,
                symbolic,
            })
        };
        candidate.dims.iter().map(build_dim).collect()
    }

    /// Returns the number of consecutive cores with the same slice of a dimension, which is the number of the first
    /// core with slice 1; 1 if no core has slice 1.
    pub(super) fn divisor(&self, label: DimLabel) -> i64 {
        let has_slice_1 = |slots: &Entries<Text, i64>| slots.get(label.name()) == Some(&1);
        self.core_slots().find(|(_, slots)| has_slice_1(slots)).map_or(1, |(core, _)| core.max(1))
    }

    /// Returns the size of a dimension without padding. If the file does not state it, the candidate determines it.
    pub(super) fn range(&self, candidate: &OpSpecCandidate, label: DimLabel) -> i64 {
        let size = self.size(label);
        if let Some([[valid, _]]) = self.dsc.masking.get(label.name()).map(Vec::as_slice) {
            return *valid;
        }
        let padded = candidate.paddings.iter().find(|padded| padded.label == label);
        padded.map_or(size, |padded| size.saturating_sub(padded.points))
    }

    /// Returns whether a tensor of a restickify ends at the unpadded size, so that its gap is exactly the padding.
    pub(super) fn ends_short(&self, candidate: &OpSpecCandidate, tensor: usize, label: DimLabel) -> bool {
        let is_padded = |padded: &RangePadding| {
            padded.label == label && padded.ends_short && padded.points == self.gap(tensor, label)
        };
        candidate.paddings.iter().any(is_padded)
    }

    /// Returns the name and the bounds of a symbolic size, which is a launch argument; `None` for a static size.
    fn symbolic_dim(&self, label: DimLabel) -> Result<Option<SymbolicDim>, OpSpecReadError> {
        let Some(ids) = self.dsc.dim_symbols.as_ref().and_then(|symbols| symbols.get(label.name())) else {
            return Ok(None);
        };
        let make_error = |reason: String| OpSpecReadError::member(format!("dimToSymbolMapping_.{label}"), reason);
        let [id] = ids.as_slice() else { return Err(make_error("expected one symbol for a size".to_owned())) };
        let bounds = match self.surroundings.symbols.get(&id.id).map(|symbol| symbol.base) {
            Some(SymbolBase::Size(bounds)) => bounds,
            Some(SymbolBase::Argument(_) | SymbolBase::Pool | SymbolBase::Number) | None => {
                return Err(make_error(format!("bundle.mlir does not say that symbol {} is a size", id.id)));
            }
        };
        let name = self.operation.size_name(id.id);
        let name = name.ok_or_else(|| make_error(format!("inputSymbolsAndTags_ has no symbol {}", id.id)))?;
        // `bundle.mlir` states the granularity of the first dimension with this symbol. Other dimensions with the
        // symbol may have another granularity, which follows from the granularity per core.
        let per_core = self.dsc.stages.core.steady.bounds(label.name()).map_or(1, |info| info.granularity);
        let split = self.split(label).max(1);
        let has_launch_granularity = (bounds.granularity / split).max(1) == per_core;
        let granularity = if has_launch_granularity { bounds.granularity } else { per_core.saturating_mul(split) };
        Ok(Some(SymbolicDim { symbol: name.to_string(), max: self.size(label), granularity }))
    }
}
