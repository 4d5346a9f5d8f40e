//! Completes a file: fills omitted members whose values follow from other members.

use super::fold::{default_time_folds, single_time_fold};
use super::space::strip_underscore;
use super::{AllocateNode, Dsc, Entries, LabeledSizes, Operation, TensorInfo, Text, WordLength, number_format_bits};

/// Size of a dimension that the file does not set, or that is symbolic.
const UNSET_SIZE: i64 = -1;

/// Kind of a node that holds indices.
const INDEX_TENSOR: &str = "index_tensor";

/// Elements of a stick of 32-bit indices in the examples of the release. A stick of 128 bytes has half as many.
const STICK_SIZE_OF_INDEX_EXAMPLES: i64 = 64;

impl Operation {
    /// Fills the omitted members. A value that does not follow from the file stays missing, for a rule to report.
    /// Tensors and their nodes get the order of their numbers, and unset dimensions are removed.
    pub fn complete(&mut self) {
        for dsc in &mut self.dscs {
            dsc.value.normalize();
        }
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

/// Returns the slices of each dimension that follow from the sizes of the op and of a core. All slices but the last one
/// have the size of `ss_`, and the last one has that of `el_`.
fn derive_slices(dsc: &Dsc) -> Entries<Text, i64> {
    let (steady, end) = (&dsc.stages.core.steady, &dsc.stages.core.end);
    let count = |(key, size): (&Text, &i64)| {
        let label = strip_underscore(key);
        let size = dsc.space.bounds(label).filter(|_| *size == UNSET_SIZE).map_or(*size, |bounds| bounds.max);
        let last = end.sizes.get(label).unwrap_or_default();
        let part = steady.sizes.get(label).filter(|part| (1..=*part).contains(&last) && size >= last);
        let slices = part.filter(|part| (size - last) % part == 0).map_or(1, |part| (size - last) / part + 1);
        (Text::from(label.to_owned()), slices)
    };
    dsc.space.sizes.0.iter().map(count).collect()
}

impl Dsc {
    fn complete(&mut self, slices: &Entries<Text, i64>) {
        self.n_corelets.get_or_insert(1);
        self.complete_sizes(slices);
        let points = self.space.sizes.clone();
        let stage = &mut self.stages.core;
        for sizes in [&mut self.space, &mut stage.steady, &mut stage.end] {
            sizes.complete_windows(&points);
        }
        self.complete_indices();
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

    /// Fills the members of an indexed table that follow from its index tensor, and the size of index sticks.
    fn complete_indices(&mut self) {
        let partners: Vec<(Text, Text)> = self
            .nodes
            .iter()
            .filter(|node| node.indirection == INDEX_TENSOR)
            .filter_map(|node| Some((node.related.clone()?, node.name.clone())))
            .collect();
        for table in self.nodes.iter_mut().filter(|node| node.indirection == "value_tensor" && node.related.is_none()) {
            table.related = partners.iter().find(|(name, _)| *name == table.name).map(|(_, index)| index.clone());
        }
        for (name, class) in &mut self.classes.0 {
            let mut users = self.tensors.iter().zip(&self.nodes).filter(|(info, _)| info.class == *name).peekable();
            let is_of_indices = users.peek().is_some()
                && users.all(|(info, node)| node.indirection == INDEX_TENSOR && info.word_length.bits == 32);
            if is_of_indices && class.stick_sizes == [STICK_SIZE_OF_INDEX_EXAMPLES] {
                class.stick_sizes = vec![STICK_SIZE_OF_INDEX_EXAMPLES / 2];
            }
        }
    }

    /// Removes unset dimensions, and puts tensors and nodes into the order of their numbers.
    fn normalize(&mut self) {
        for (label, _) in self.dim_symbols.iter_mut().flat_map(|symbols| &mut symbols.0) {
            *label = strip_underscore(label).to_owned().into();
        }
        self.remove_unset_sizes();
        self.tensors.sort_by_key(|info| info.tensor);
        if self.nodes.iter().all(|node| node.tensor.is_some()) {
            self.nodes.sort_by_key(|node| node.tensor);
        }
    }

    fn remove_unset_sizes(&mut self) {
        let symbols = self.dim_symbols.iter().flat_map(Entries::iter);
        let mut symbolic: Vec<String> = symbols.map(|(label, _)| label.to_string()).collect();
        let stage = &mut self.stages.core;
        for sizes in [&self.space, &stage.steady, &stage.end] {
            let bounds = sizes.symbolic.iter().flat_map(Entries::iter);
            symbolic.extend(bounds.map(|(label, _)| strip_underscore(label).to_owned()));
        }
        for sizes in [&mut self.space, &mut stage.steady, &mut stage.end] {
            let is_symbolic = |key: &str| symbolic.iter().any(|label| label == strip_underscore(key));
            sizes.sizes.0.0.retain(|(key, size)| *size != UNSET_SIZE || is_symbolic(key));
        }
    }

    /// Fills the sizes of a core, and replaces symbolic sizes by their maxima. The bounds of a core are in its stages,
    /// and those of the op in `N_`; either may be missing.
    fn complete_sizes(&mut self, slices: &Entries<Text, i64>) {
        let count = |key: &str| slices.get(strip_underscore(key)).copied().unwrap_or(1).max(1);
        let (space, stage) = (&mut self.space, &mut self.stages.core);
        let of_op = space.symbolic.clone().unwrap_or_default();
        for (key, size) in space.sizes.0.0.iter_mut().filter(|(_, size)| *size == UNSET_SIZE) {
            let label = strip_underscore(key);
            let of_op = of_op.iter().find(|(key, _)| strip_underscore(key) == label).map(|(_, bounds)| bounds.max);
            let of_core = stage.steady.bounds(label).map(|bounds| bounds.max);
            let whole = of_core.map(|part| part.saturating_mul(count(key))).or(of_op);
            let Some(whole) = whole else { continue };
            let part = of_core.unwrap_or(whole / count(key));
            *size = whole;
            set_symbolic(&mut stage.steady.sizes, key, part);
            set_symbolic(&mut stage.end.sizes, key, part);
        }
        if stage.steady.sizes.0.is_empty() && stage.end.sizes.0.is_empty() {
            let part = |(key, size): (&Text, &i64)| (key.clone(), size / count(key));
            stage.steady.sizes = LabeledSizes(space.sizes.0.iter().map(part).collect());
            stage.end.sizes = stage.steady.sizes.clone();
        }
    }
}

fn set_symbolic(sizes: &mut LabeledSizes, key: &str, largest: i64) {
    let found = sizes.0.0.iter_mut().find(|(known, size)| known == key && *size == UNSET_SIZE);
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
