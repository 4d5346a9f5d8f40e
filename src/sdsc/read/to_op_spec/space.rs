//! Reconstructs the iteration space of an op.

use super::OpSpecReadError;
use super::candidate::{OpSpecCandidate, RangePadding};
use super::evaluate::SymbolBase;
use super::file::SdscFile;
use crate::bundle::{IterationDim, SymbolicDim};
use crate::launch::geometry::DimLabel;
use sdsc_format::model::{DecimalInteger, Entries, Text};

impl SdscFile<'_> {
    /// Returns the dimensions of the op, in order.
    pub(super) fn iteration_space(&self, guess: &OpSpecCandidate) -> Result<Vec<IterationDim>, OpSpecReadError> {
        let dim = |label: &DimLabel| {
            let symbolic = self.symbolic_dim(*label)?;
            Ok(IterationDim {
                name: None,
                range: self.range(guess, *label),
                split: self.split(*label),
                divisor: None,
                symbolic,
            })
        };
        guess.dims.iter().map(dim).collect()
    }

    /// Returns the number of consecutive cores with the same slice of a dimension: the number of the first core whose
    /// slice differs from core 0's.
    pub(super) fn divisor(&self, label: DimLabel) -> i64 {
        let has_next = |slots: &Entries<Text, i64>| slots.get(label.name()) == Some(&1);
        self.core_slots().find(|(_, slots)| has_next(slots)).map_or(1, |(core, _)| core.max(1))
    }

    /// Returns the points of a dimension without padding, as far as the file determines them.
    pub(super) fn range(&self, guess: &OpSpecCandidate, label: DimLabel) -> i64 {
        let size = self.size(label);
        if let Some([[valid, _]]) = self.dsc.masking.get(label.name()).map(Vec::as_slice) {
            return *valid;
        }
        let padded = guess.padded.iter().find(|padded| padded.label == label);
        padded.map_or(size, |padded| size.saturating_sub(padded.points))
    }

    /// Returns whether a tensor of a restickify ends with the range, so that its gap is padding.
    pub(super) fn ends_short(&self, guess: &OpSpecCandidate, tensor: usize, label: DimLabel) -> bool {
        let is_padded = |padded: &RangePadding| {
            padded.label == label && padded.ends_short && padded.points == self.gap(tensor, label)
        };
        guess.padded.iter().any(is_padded)
    }

    /// Returns the name and bounds of a dimension's size that is a launch argument; `None` for a fixed size.
    fn symbolic_dim(&self, label: DimLabel) -> Result<Option<SymbolicDim>, OpSpecReadError> {
        let Some(ids) = self.dsc.dim_symbols.as_ref().and_then(|symbols| symbols.get(label.name())) else {
            return Ok(None);
        };
        let reject = |reason: String| OpSpecReadError::member(format!("dimToSymbolMapping_.{label}"), reason);
        let [id] = ids.as_slice() else { return Err(reject("expected one symbol for a size".to_owned())) };
        let name = self.operation.symbol_tags.as_ref().and_then(|tags| tags.get(&DecimalInteger(id.id)));
        let name = name.ok_or_else(|| reject(format!("inputSymbolsAndTags_ has no symbol {}", id.id)))?;
        let bounds = match self.surroundings.symbols.get(&id.id).map(|symbol| symbol.base) {
            Some(SymbolBase::Size(bounds)) => bounds,
            Some(SymbolBase::Argument(_) | SymbolBase::Pool | SymbolBase::Number) | None => {
                return Err(reject(format!("bundle.mlir does not say that symbol {} is a size", id.id)));
            }
        };
        // The launch has the bounds of the first dimension of that size; others may be multiples of another number.
        let per_core = self.dsc.stages.core.steady.bounds(label.name()).map_or(1, |info| info.granularity);
        let split = self.split(label).max(1);
        let is_same = (bounds.granularity / split).max(1) == per_core;
        let granularity = if is_same { bounds.granularity } else { per_core.saturating_mul(split) };
        Ok(Some(SymbolicDim { symbol: name.to_string(), max: self.size(label), granularity }))
    }
}
