//! What the kernels of a program leave open.

use super::kernels_of;
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{Knob, condition_holds, input_dims_of},
    hint::Count,
    kernel::Cuts,
    mlir::{Op, OpExt, elements, integer, shape_of, string, strings},
};
use std::collections::{BTreeMap, BTreeSet};

/// A kernel that is open, or several of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenKernel {
    pub(crate) name: String,
    pub(crate) knobs: Vec<Knob>,
    pub(crate) cuts: BTreeSet<Cuts>,
}

impl OpenKernel {
    /// The condition that values of the knobs break; none if they break none.
    pub(crate) fn broken_condition(&self, values: &[i64]) -> Option<&str> {
        let names: Vec<&str> = self.knobs.iter().map(|knob| knob.name.as_str()).collect();
        let conditions = self.knobs.iter().map(|knob| knob.condition.as_str()).filter(|condition| !condition.is_empty());
        conditions.into_iter().find(|condition| !condition_holds(condition, &names, values))
    }

    /// Why tiles are not of equal size with values of the knobs; none if they are, as far as the kernel's inputs tell.
    pub(crate) fn uneven(&self, values: &[i64]) -> Option<String> {
        let value_of = |name: &str| self.knobs.iter().position(|knob| knob.name == name).map(|number| values[number]);
        self.cuts.iter().find_map(|cuts| cuts.uneven(value_of))
    }
}

/// The kernels with knobs, by their names.
pub(crate) fn open_kernels(around: Op<'_>) -> Vec<OpenKernel> {
    let mut found: BTreeMap<&str, OpenKernel> = BTreeMap::new();
    for kernel in kernels_of(around) {
        let (name, knobs) = (kernel.text_attr(attr::NAME), Knob::all_of(kernel));
        if knobs.is_empty() {
            continue;
        }
        let open = found.entry(name).or_insert_with(|| OpenKernel { name: name.to_owned(), knobs, cuts: BTreeSet::new() });
        collect_cuts(kernel, &sizes_of(kernel), &[], &mut open.cuts);
    }
    found.into_values().collect()
}

/// The sizes of the dimensions that the inputs name. A name of two sizes has none.
fn sizes_of(kernel: Op<'_>) -> BTreeMap<String, i64> {
    let mut sizes: BTreeMap<String, Option<i64>> = BTreeMap::new();
    for (input, names) in kernel.inputs().into_iter().zip(input_dims_of(kernel).unwrap_or_default()) {
        for (name, size) in names.into_iter().zip(shape_of(input)) {
            let Some(name) = name else { continue };
            let known = sizes.entry(name).or_insert(Some(size));
            *known = known.filter(|known| *known == size);
        }
    }
    sizes.into_iter().filter_map(|(name, size)| Some((name, size?))).collect()
}

/// What the scopes in an operation cut, in those around it.
fn collect_cuts(around: Op<'_>, sizes: &BTreeMap<String, i64>, outer: &[(String, Count)], found: &mut BTreeSet<Cuts>) {
    for scope in around.body_ops().into_iter().filter(|op| op.is(spyre::HINT)) {
        let dims = scope.attr(attr::TILE_DIMS).and_then(strings).unwrap_or_default();
        let counts = scope.attr(attr::TILE_COUNTS).and_then(elements).unwrap_or_default();
        let count_of = |attribute| integer(attribute).map(Count::Number).or_else(|| Some(Count::Symbol(string(attribute)?.to_owned())));
        let mut levels = outer.to_vec();
        levels.extend(dims.into_iter().zip(counts).filter_map(|(dim, count)| Some((dim.to_owned(), count_of(count)?))));
        for (dim, _) in &levels {
            let Some(&size) = sizes.get(dim) else { continue };
            let counts = levels.iter().filter(|(name, _)| name == dim).map(|(_, count)| count.clone()).collect();
            found.insert(Cuts { dim: dim.clone(), size, counts });
        }
        collect_cuts(scope, sizes, &levels, found);
    }
}
