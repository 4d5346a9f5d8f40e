//! Conversion of files to release 1.0.0, where torch-spyre's practice, which the emitter follows, differs from it.

use super::{AllocateNode, CoordinateFolds, Dsc, MemoryPresence, Operation, strip_underscore};

impl Operation {
    /// Rewrites a file of torch-spyre's practice as a file of release 1.0.0 with the same meaning. Members that the
    /// release cannot express stay unchanged, and violate a rule of the release.
    ///
    /// * `location` and `dsOffset` are not members of the release, and a first node has no `prev_`.
    /// * A fold of sticks counts partially filled sticks too.
    /// * A tensor is present in the memory of its node only.
    /// * The ids of symbolic sizes are strings, and a symbolic size is -1.
    pub fn convert_to_release(&mut self) {
        for dsc in &mut self.dscs {
            dsc.value.convert_to_release();
        }
    }
}

impl Dsc {
    fn convert_to_release(&mut self) {
        for compute in &mut self.compute {
            compute.location = None;
        }
        for tensor in &mut self.tensors {
            for place in [&mut tensor.memory.hbm, &mut tensor.memory.lx].into_iter().flatten() {
                place.offset = None;
            }
        }
        for (node, tensor) in self.nodes.iter().zip(&mut self.tensors) {
            let other = if node.component == "hbm" { &mut tensor.memory.lx } else { &mut tensor.memory.hbm };
            if let Some(place) = other {
                *place = MemoryPresence::default();
            }
        }
        for symbol in self.dim_symbols.iter_mut().flat_map(|symbols| &mut symbols.0).flat_map(|(_, symbols)| symbols) {
            symbol.is_text = true;
        }
        let symbolic: Vec<_> =
            self.dim_symbols.iter().flat_map(|symbols| &symbols.0).map(|(dim, _)| dim.clone()).collect();
        for (dim, size) in &mut self.space.sizes.0.0 {
            let label = strip_underscore(dim);
            if symbolic.iter().any(|symbolic| strip_underscore(symbolic) == label) {
                *size = -1;
            }
        }
        let sizes = self.stages.core.steady.sizes.clone();
        for (node, tensor) in self.nodes.iter_mut().zip(&self.tensors) {
            let order = self.classes.get(&tensor.class).map_or(&[][..], |class| &class.order);
            // A tensor that lacks a dimension has one row or one stick of it.
            let lacks = |dim: &str| order.iter().zip(&tensor.scales).any(|(label, scale)| label == dim && *scale != 1);
            node.convert_to_release(|dim| if lacks(dim) { Some(1) } else { sizes.get(dim) });
        }
    }
}

impl AllocateNode {
    fn convert_to_release(&mut self, size: impl Fn(&str) -> Option<i64>) {
        self.previous = self.previous.take().filter(|previous| !previous.is_empty());
        for (dim, info) in &mut self.coordinates.dims.0 {
            info.folds.count_partial_sticks(size(dim));
        }
    }
}

/// Label of the fold that counts sticks.
const STICK_FOLD_LABEL: &str = "elem_arr_1";

impl CoordinateFolds {
    /// Makes the fold of sticks count a last stick that `size` points fill partially.
    fn count_partial_sticks(&mut self, size: Option<i64>) {
        let is_counted = self.folds.iter().filter(|fold| fold.label.starts_with("elem_arr_")).count() == 2;
        let (Some(sticks), Some(within)) = (self.find_fold(STICK_FOLD_LABEL), self.find_fold("elem_arr_0")) else {
            return;
        };
        if let (true, Some(size)) = (is_counted, size) {
            let elements = self.folds[within].factor.max(1);
            let counted = size.div_euclid(elements) + i64::from(size % elements != 0);
            self.folds[sticks].factor = self.folds[sticks].factor.max(counted).max(1);
        }
    }

    fn find_fold(&self, label: &str) -> Option<usize> {
        self.folds.iter().position(|fold| fold.label == label)
    }
}
