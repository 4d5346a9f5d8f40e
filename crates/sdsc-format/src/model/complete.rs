//! Completes a file: fills omitted members whose values follow from other members.

use super::fold::{default_time_folds, single_time_fold};
use super::{AllocateNode, Dsc, Entries, LabeledSizes, Operation, TensorInfo, Text, WordLength, number_format_bits};

impl Operation {
    /// Fills the omitted members. A value that does not follow from the file stays missing, for a rule to report.
    pub fn complete(&mut self) {
        if self.fold_props.is_empty() {
            self.fold_props = single_time_fold();
        }
        if self.folds.is_missing() {
            self.folds = default_time_folds();
        }
        if let Some(first) = self.dscs.first().filter(|_| self.slices.is_empty()) {
            self.slices = derive_slices(&first.value);
        }
        for dsc in &mut self.dscs {
            dsc.value.complete(&self.slices);
        }
        let only_core = self.dscs.first().and_then(|dsc| dsc.value.core_ids.first()).filter(|_| self.n_cores == 1);
        if let Some(core) = only_core.filter(|_| self.core_to_slice.is_empty()) {
            let slots = self.slices.iter().map(|(label, _)| (label.clone(), 0)).collect();
            self.core_to_slice = Entries(vec![(*core, slots)]);
        }
    }
}

/// Returns the slices of each dimension that follow from the sizes of the op and of a core.
fn derive_slices(dsc: &Dsc) -> Entries<Text, i64> {
    let stage = &dsc.stages.core.steady.sizes;
    let count = |(key, size): (&Text, &i64)| {
        let label = key.strip_suffix('_').unwrap_or(key);
        let part = stage.get(label).filter(|part| *part > 0 && size % part == 0);
        (Text::from(label.to_owned()), part.map_or(1, |part| size / part))
    };
    dsc.space.sizes.0.iter().map(count).collect()
}

impl Dsc {
    fn complete(&mut self, slices: &Entries<Text, i64>) {
        self.n_corelets.get_or_insert(1);
        self.complete_sizes(slices);
        for index in 0..self.nodes.len() {
            let (node, info) = (&mut self.nodes[index], self.tensors.get_mut(index));
            node.tensor.get_or_insert(index);
            if node.indirection.is_empty() {
                node.indirection = "no_indirection".into();
            }
            if let Some(info) = info {
                let order = self.classes.get(&info.class).map(|class| class.order.as_slice()).unwrap_or_default();
                complete_tensor(node, info, order);
            }
        }
        let format = self
            .tensors
            .iter()
            .zip(&self.nodes)
            .find(|(_, node)| node.indirection != "index_tensor")
            .map(|(info, _)| &info.format);
        if let Some(format) = format {
            let attributes = self.compute.iter_mut().map(|compute| &mut compute.attributes);
            attributes
                .filter(|attributes| attributes.is_missing())
                .for_each(|attributes| attributes.format = format.clone());
        }
    }

    /// Fills the sizes of a core, and replaces symbolic sizes by their maxima.
    fn complete_sizes(&mut self, slices: &Entries<Text, i64>) {
        let count = |key: &str| slices.get(key.strip_suffix('_').unwrap_or(key)).copied().unwrap_or(1).max(1);
        let stage = &mut self.stages.core;
        for (key, size) in self.space.sizes.0.0.iter_mut().filter(|(_, size)| *size == -1) {
            let label = key.strip_suffix('_').unwrap_or(key);
            if let Some(bounds) = stage.steady.bounds(label).copied() {
                *size = bounds.max.saturating_mul(count(key));
                set_symbolic(&mut stage.steady.sizes, key, bounds.max);
                set_symbolic(&mut stage.end.sizes, key, bounds.max);
            }
        }
        if stage.steady.sizes.0.is_empty() && stage.end.sizes.0.is_empty() {
            let part = |(key, size): (&Text, &i64)| (key.clone(), size / count(key));
            stage.steady.sizes = LabeledSizes(self.space.sizes.0.iter().map(part).collect());
            stage.end.sizes = stage.steady.sizes.clone();
        }
    }
}

fn set_symbolic(sizes: &mut LabeledSizes, key: &str, largest: i64) {
    let found = sizes.0.0.iter_mut().find(|(known, size)| known == key && *size == -1);
    if let Some((_, size)) = found {
        *size = largest;
    }
}

fn complete_tensor(node: &mut AllocateNode, info: &mut TensorInfo, order: &[Text]) {
    if node.order.is_empty() {
        node.order = order.to_vec();
    }
    if node.page_sizes.is_empty() {
        node.page_sizes = vec![-1; order.len()];
    }
    if info.scales.is_empty() {
        info.scales = vec![1; order.len()];
    }
    if info.word_length.is_missing()
        && let Some(bits) = number_format_bits(&info.format)
    {
        info.word_length = WordLength { bits };
    }
    if node.component.is_empty() {
        let is_present = |slot: &Option<super::MemoryPresence>| slot.as_ref().is_some_and(|slot| slot.is_present == 1);
        match (is_present(&info.memory.hbm), is_present(&info.memory.lx)) {
            (true, _) => node.component = "hbm".into(),
            (false, true) => node.component = "lx".into(),
            (false, false) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sdsc;
    use serde_json::{Value, json};

    fn golden() -> Value {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/golden/add/sdsc_0.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn completed(file: &Value) -> Sdsc {
        let mut file: Sdsc = serde_json::from_value(file.clone()).unwrap();
        file.value.complete();
        file
    }

    #[test]
    fn fills_missing_members() {
        let (mut file, whole) = (golden(), completed(&golden()));
        let operation = file.pointer_mut("/0_add").unwrap().as_object_mut().unwrap();
        for member in ["sdscFoldProps_", "sdscFolds_", "numWkSlicesPerDim_"] {
            operation.remove(member).unwrap();
        }
        let dsc = file.pointer_mut("/0_add/dscs_/0/add").unwrap();
        dsc.as_object_mut().unwrap().remove("numCoreletsUsed_").unwrap();
        dsc["computeOp_"][0].as_object_mut().unwrap().remove("attributes_").unwrap();
        for list in ["scheduleTree_", "labeledDs_"] {
            for entry in dsc[list].as_array_mut().unwrap() {
                let entry = entry.as_object_mut().unwrap();
                for member in
                    ["component_", "layoutDimOrder_", "maxDimSizes_", "indirectAllocType_", "scale_", "wordLength"]
                {
                    entry.remove(member);
                }
            }
        }
        assert_eq!(completed(&file), whole);
        file.pointer_mut("/0_add/dscs_/0/add").unwrap().as_object_mut().unwrap().remove("dataStageParam_").unwrap();
        let sizes = |file: &Sdsc| file.value.dscs[0].value.stages.core.steady.sizes.clone();
        assert_eq!(
            sizes(&completed(&file)).get("mb"),
            Some(32),
            "without slices and sizes of a core, a dimension is whole"
        );
    }

    #[test]
    fn replaces_symbolic_sizes_by_maximum() {
        let mut file = golden();
        let dsc = file.pointer_mut("/0_add/dscs_/0/add").unwrap();
        dsc["N_"]["mb_"] = json!(-1);
        for stage in ["ss_", "el_"] {
            let stage = &mut dsc["dataStageParam_"]["0"][stage];
            stage["mb_"] = json!(-1);
            stage["symbolicDimInfo_"] = json!({"mb_": {"maxSize_": 16, "granularity_": 8}});
        }
        let dsc = completed(&file).value.dscs.remove(0).value;
        assert_eq!((dsc.space.sizes.get("mb"), dsc.stages.core.steady.sizes.get("mb")), (Some(32), Some(16)));
    }
}
