//! Reconstructs the start addresses of a file's tensors from symbols or numbers.

use super::{FileContext, OpSpecReadError, SymbolBase};
use crate::bundle::Allocation;
use crate::launch::symbols::MemoryMap;
use sdsc_format::model::AllocateNode;
use std::collections::BTreeSet;

/// Location of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TensorLocation {
    /// Buffer that the positions are relative to; the offset in this field is ignored.
    pub(super) memory: Allocation,
    /// Byte position of each core's slice.
    pub(super) positions: Vec<i64>,
    /// Bytes that the tensor advances in one iteration of each enclosing loop.
    pub(super) strides: Vec<i64>,
}

/// Symbols of the preceding tensors.
#[derive(Default)]
struct PrecedingSymbols {
    all: BTreeSet<i64>,
    /// Symbols of moving tensors.
    moving: BTreeSet<i64>,
}

/// Returns the location of every tensor of an op.
pub(super) fn locate_tensors(
    nodes: &[AllocateNode],
    context: &FileContext,
) -> Result<Vec<TensorLocation>, OpSpecReadError> {
    let mut preceding = PrecedingSymbols::default();
    nodes.iter().enumerate().map(|(index, node)| locate_tensor(index, node, context, &mut preceding)).collect()
}

fn locate_tensor(
    index: usize,
    node: &AllocateNode,
    context: &FileContext,
    preceding: &mut PrecedingSymbols,
) -> Result<TensorLocation, OpSpecReadError> {
    let values: Vec<i64> = node.start.data.iter().map(|(_, value)| value.0).collect();
    let member = || format!("scheduleTree_[{index}].startAddressCoreCorelet_");
    if node.start.has_corelet_values() {
        return Err(OpSpecReadError::member(
            member(),
            "differs between corelets; an op spec has one address for each core",
        ));
    }
    if node.component == "lx" {
        return Ok(TensorLocation {
            memory: Allocation::Lx { offset_bytes: 0 },
            positions: values,
            strides: Vec::new(),
        });
    }
    let location = match (&context.memory, node.has_symbolic_start()) {
        (_, true) => locate_symbolic(&values, context, preceding),
        (Some(memory), false) => locate_baked(&values, memory),
        (None, false) => Err("is a number, and the places of the kernel arguments are unknown".to_owned()),
    };
    location.map_err(|reason| OpSpecReadError::member(member(), reason))
}

/// Locates a tensor whose start addresses are symbols.
fn locate_symbolic(
    ids: &[i64],
    context: &FileContext,
    preceding: &mut PrecedingSymbols,
) -> Result<TensorLocation, String> {
    let find_symbol =
        |id: &i64| context.symbols.get(id).ok_or_else(|| format!("bundle.mlir gives symbol {id} no value"));
    let Some(first) = ids.first() else { return Err("has no core".to_owned()) };
    let first = find_symbol(first)?;
    let memory = match first.base {
        SymbolBase::Argument(argument) => Allocation::Hbm { argument, offset_bytes: 0 },
        SymbolBase::Pool => Allocation::Pool { offset_bytes: 0 },
        SymbolBase::Number | SymbolBase::Size(_) => {
            return Err("the first core's address is neither in a kernel argument nor in the pool".to_owned());
        }
    };
    let mut positions = Vec::with_capacity(ids.len());
    for id in ids {
        let symbol = find_symbol(id)?;
        positions.push(match (symbol.base, first.base) {
            // The slice of a core along a dimension with a symbolic size is a plain number: the number of the argument
            // plus the byte position. All tensors in one argument share this symbol, even if they start at different
            // positions, so it is valid only for the first of these tensors.
            (SymbolBase::Number, SymbolBase::Argument(_)) if preceding.all.contains(id) => break,
            (SymbolBase::Number, SymbolBase::Argument(argument)) => symbol.offset.saturating_sub(i64::from(argument)),
            (base, first) if base == first => symbol.offset,
            _ => return Err(format!("symbol {id} is not in the buffer of the first core")),
        });
    }
    let strides = find_strides(ids, context, &preceding.moving);
    preceding.all.extend(ids);
    if strides.iter().any(|stride| *stride != 0) {
        preceding.moving.extend(ids);
    }
    Ok(TensorLocation { memory, positions, strides })
}

/// Returns the strides of a tensor; empty unless its symbols agree on them. A symbol that an earlier moving tensor
/// shares has the strides of that tensor, so it counts only if the tensor has no other symbols. A fixed tensor may
/// share some of its symbols with a later moving tensor, but not all.
fn find_strides(ids: &[i64], context: &FileContext, moving: &BTreeSet<i64>) -> Vec<i64> {
    let find_symbol_strides = |id: &i64| context.symbols.get(id).map(|symbol| symbol.strides.clone());
    let own: BTreeSet<_> = ids.iter().filter(|id| !moving.contains(id)).filter_map(find_symbol_strides).collect();
    let all: BTreeSet<_> = ids.iter().filter_map(find_symbol_strides).collect();
    let mut found = if own.is_empty() { all } else { own };
    if found.len() == 1 { found.pop_first().unwrap_or_default() } else { Vec::new() }
}

/// Locates a tensor whose start addresses are numbers.
fn locate_baked(addresses: &[i64], map: &MemoryMap) -> Result<TensorLocation, String> {
    let Some(first) = addresses.first() else { return Err("has no core".to_owned()) };
    if map.segment_bytes < 1 {
        return Err("segments have no bytes".to_owned());
    }
    let segment = first.div_euclid(map.segment_bytes);
    let base = segment.saturating_mul(map.segment_bytes);
    let positions = addresses.iter().map(|address| address.saturating_sub(base)).collect();
    let memory = match u32::try_from(segment - i64::from(map.has_pool)) {
        Ok(argument) => Allocation::Hbm { argument, offset_bytes: 0 },
        Err(_) if segment == 0 => Allocation::Pool { offset_bytes: 0 },
        Err(_) => return Err(format!("address {first} is in no segment")),
    };
    Ok(TensorLocation { memory, positions, strides: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locates_kernel_argument_by_segment() {
        let map = MemoryMap { segment_bytes: 1 << 34, segments: 7, has_pool: false };
        let location = locate_baked(&[(1 << 34) + 128, (1 << 34) + 256], &map).unwrap();
        assert_eq!(
            (location.memory, location.positions),
            (Allocation::Hbm { argument: 1, offset_bytes: 0 }, vec![128, 256])
        );
        let with_pool = MemoryMap { has_pool: true, ..map };
        assert_eq!(locate_baked(&[128], &with_pool).unwrap().memory, Allocation::Pool { offset_bytes: 0 });
        assert!(locate_baked(&[-1], &with_pool).is_err());
    }
}
