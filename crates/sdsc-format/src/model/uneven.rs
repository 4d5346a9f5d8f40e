//! Descriptions whose cores have unequal work.

use super::space::strip_underscore;
use super::{AllocateNode, CoreKey, Dsc, FoldFunction, FoldMap, NamedMember, Operation, Text};
use std::collections::BTreeMap;

impl Operation {
    /// Replaces each description in which `el_` differs from `ss_` by one description for each set of cores with equal
    /// sizes, and returns for each description the number that it has in the file.
    ///
    /// `ss_` has the sizes of all slices of a dimension but the last one, and `el_` has the sizes of the last slice.
    /// A larger size in `el_`, or another size of a dimension in one slice, has no meaning and stays for a rule to
    /// report.
    pub fn split_unequal_cores(&mut self) -> Vec<usize> {
        let (mut dscs, mut numbers_in_file) = (Vec::new(), Vec::new());
        let mut replacements: BTreeMap<(i64, i64), i64> = BTreeMap::new();
        for (number, named) in std::mem::take(&mut self.dscs).into_iter().enumerate() {
            for part in self.split_description(&named.value) {
                for core in &part.core_ids {
                    replacements.insert((*core, number as i64), dscs.len() as i64);
                }
                dscs.push(NamedMember { name: named.name.clone(), value: part });
                numbers_in_file.push(number);
            }
        }
        self.dscs = dscs;
        if numbers_in_file.iter().enumerate().any(|(index, number)| index != *number) {
            self.renumber_descriptions(&replacements);
        }
        numbers_in_file
    }

    /// Replaces the number of a description, by core and number in the file.
    fn renumber_descriptions(&mut self, replacements: &BTreeMap<(i64, i64), i64>) {
        let replace = |core: i64, number: &mut i64| {
            *number = replacements.get(&(core, *number)).copied().unwrap_or(*number);
        };
        for (core, number) in &mut self.core_to_dsc.0 {
            replace(*core, number);
        }
        for (core, steps) in &mut self.core_to_schedule.0 {
            steps.iter_mut().for_each(|[_, number, _, _]| replace(*core, number));
        }
    }

    fn split_description(&self, dsc: &Dsc) -> Vec<Dsc> {
        let ends: Vec<(Text, i64)> = self.list_shorter_ends(dsc);
        let mut groups: Vec<(Vec<bool>, Vec<i64>)> = Vec::new();
        for core in &dsc.core_ids {
            let is_last = ends.iter().map(|(key, _)| self.has_last_slice(*core, key)).collect();
            match groups.iter_mut().find(|(known, _)| *known == is_last) {
                Some((_, cores)) => cores.push(*core),
                None => groups.push((is_last, vec![*core])),
            }
        }
        if ends.is_empty() || groups.is_empty() {
            return vec![dsc.clone()];
        }
        let of_group = |(is_last, cores): (Vec<bool>, Vec<i64>)| {
            let mut part = dsc.clone();
            part.restrict_to_cores(cores);
            let stage = &mut part.stages.core;
            for ((key, end), is_last) in ends.iter().zip(is_last) {
                let size = if is_last { Some(*end) } else { stage.steady.sizes.0.get(key).copied() };
                for sizes in [&mut stage.steady.sizes, &mut stage.end.sizes] {
                    sizes.0.0.iter_mut().filter(|(known, _)| known == key).for_each(|(_, known)| {
                        *known = size.unwrap_or(*known);
                    });
                }
            }
            part
        };
        groups.into_iter().map(of_group).collect()
    }

    /// Returns the dimensions in several slices whose last slice is smaller than the others, with its size.
    fn list_shorter_ends(&self, dsc: &Dsc) -> Vec<(Text, i64)> {
        let stage = &dsc.stages.core;
        let is_shorter = |(key, end): &(&Text, &i64)| {
            let slices = self.slices.get(strip_underscore(key)).copied().unwrap_or(1);
            slices > 1 && **end > 0 && stage.steady.sizes.0.get(*key).is_some_and(|size| *end < size)
        };
        stage.end.sizes.0.iter().filter(is_shorter).map(|(key, end)| (key.clone(), *end)).collect()
    }

    fn has_last_slice(&self, core: i64, key: &str) -> bool {
        let label = strip_underscore(key);
        let slot = self.core_to_slice.get(&core).and_then(|slots| slots.get(label));
        slot.zip(self.slices.get(label)).is_some_and(|(slot, slices)| *slot == slices - 1)
    }
}

impl Dsc {
    fn restrict_to_cores(&mut self, cores: Vec<i64>) {
        if self.n_cores == self.core_ids.len() as i64 {
            self.n_cores = cores.len() as i64;
        }
        for node in &mut self.nodes {
            node.restrict_to_cores(&cores);
        }
        for (_, constant) in &mut self.constants.0.0 {
            restrict_values(&mut constant.data, &cores);
        }
        self.core_ids = cores;
    }
}

impl AllocateNode {
    fn restrict_to_cores(&mut self, cores: &[i64]) {
        restrict_values(&mut self.start, cores);
        for (_, by_core) in self.gaps.iter_mut().flat_map(|gaps| &mut gaps.0) {
            by_core.0.retain(|(core, _)| *core < 0 || cores.contains(core));
        }
    }
}

/// Removes the values of other cores from a map that lists values by core.
fn restrict_values<V>(map: &mut FoldMap<CoreKey, V>, cores: &[i64]) {
    if matches!(map.functions.first(), Some(FoldFunction::Map(_))) {
        map.data.0.retain(|(key, _)| cores.contains(&key.core));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sdsc;
    use serde_json::{Value, json};

    fn split(edit: impl FnOnce(&mut Value)) -> (Sdsc, Vec<usize>) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/golden/add/sdsc_0.json");
        let mut file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        edit(file.pointer_mut("/0_add/dscs_/0/add").unwrap());
        let mut file: Sdsc = serde_json::from_value(file).unwrap();
        file.value.complete();
        let numbers = file.value.split_unequal_cores();
        (file, numbers)
    }

    #[test]
    fn keeps_descriptions_of_equal_work() {
        let (file, numbers) = split(|_| {});
        assert_eq!((numbers, file.value.dscs.len()), (vec![0], 1));
    }

    #[test]
    fn gives_last_slice_its_own_description() {
        let (file, numbers) = split(|dsc| {
            dsc["N_"]["mb_"] = json!(31);
            dsc["dataStageParam_"]["0"]["el_"]["mb_"] = json!(15);
        });
        assert_eq!(numbers, [0, 0]);
        let summary = |index: usize| {
            let dsc = &file.value.dscs[index].value;
            let stage = &dsc.stages.core;
            (
                dsc.core_ids.clone(),
                stage.steady.sizes.get("mb"),
                stage.end.sizes.get("mb"),
                dsc.nodes[0].start.data.0.len(),
            )
        };
        let cores = file.value.core_to_slice.0.len() as i64;
        assert_eq!(summary(0), ((0..cores - 1).collect(), Some(16), Some(16), cores as usize - 1));
        assert_eq!(summary(1), (vec![cores - 1], Some(15), Some(15), 1));
        assert_eq!(file.value.core_to_dsc.get(&(cores - 1)), Some(&1));
        assert_eq!(file.value.core_to_schedule.get(&(cores - 1)), Some(&vec![[-1, 1, 0, 0]]));
        assert_eq!(file.value.core_to_dsc.get(&0), Some(&0));
    }

    #[test]
    fn keeps_sizes_without_meaning() {
        let (file, numbers) = split(|dsc| dsc["dataStageParam_"]["0"]["el_"]["mb_"] = json!(64));
        let stage = &file.value.dscs[0].value.stages.core;
        assert_eq!((numbers, stage.end.sizes.get("mb")), (vec![0], Some(64)));
    }
}
