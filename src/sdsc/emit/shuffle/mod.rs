//! SDSC file of a shuffle: a copy of a tensor in LX from the cores that hold it to the cores that need it.
//!
//! A [`Shuffle`] is two views of one tensor, its source and its destination. A [`ShuffleView`] states which slice each
//! core holds and at which address. One file describes any pair of views: one-to-one moves, all-gathers within groups,
//! copies on the same core.

mod check;

pub use check::ShuffleError;

use crate::launch::geometry::DimLabel;
use check::check;
use machine::{DeviceFormat, ExecutionUnit, STICK_BYTES, Target};
use sdsc_format::model::{
    AllocateNode, ClassInfo, ComputeAttributes, ComputeOp, Constants, CoordInfo, CoordinateFolds, Coordinates, CoreKey,
    DecimalInteger, DimSizes, Dsc, Entries, Fold, FoldFunction, FoldMap, LabeledSizes, MemoryPresence, NamedMember,
    Operation, Sdsc, StagePair, StageParams, TensorInfo, TensorMemories, Text, WordLength,
};
use std::collections::BTreeMap;

/// Copy of a tensor in LX between cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// Dimensions of the tensor, with their sizes.
    pub dims: Vec<(DimLabel, i64)>,
    /// Dimension along the sticks.
    pub stick: DimLabel,
    /// Number format.
    pub format: DeviceFormat,
    /// Number of cores of the bundle; each view lists those that hold a slice.
    pub cores: i64,
    /// Number of corelets of a core that share its slice along [`Self::stick`]: 1 or 2.
    pub corelets: i64,
    /// Whether the source is a sum that only its cores have completed. The file then lists only these cores as used.
    pub is_completed_sum: bool,
    /// Slices before the copy.
    pub source: ShuffleView,
    /// Slices after the copy.
    pub destination: ShuffleView,
}

/// Slices of a tensor that cores hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShuffleView {
    /// Order of the dimensions in memory, from the one next to the stick outwards.
    pub order: Vec<DimLabel>,
    /// Number of slices of each dimension, in the order of [`Shuffle::dims`].
    pub slices: Vec<i64>,
    /// Slice of each dimension that a core holds; a core that holds none is absent.
    pub slots: BTreeMap<i64, Vec<i64>>,
    /// Points between two rows of a slice that do not belong to it, by dimension: the slice is a box in a larger buffer
    /// of its core.
    pub gaps: Vec<i64>,
    /// LX address of each core's slice, for all cores of [`Shuffle::cores`].
    pub addresses: Vec<i64>,
}

/// Returns the file of a shuffle, which is op `index` of its bundle.
///
/// # Errors
///
/// If the views are no copy of one tensor between cores, or do not fit into LX.
pub fn build_shuffle_file(shuffle: &Shuffle, index: usize, target: &Target) -> Result<Sdsc, ShuffleError> {
    check(shuffle, target)?;
    Ok(NamedMember { name: format!("{index}_shuffle").into(), value: shuffle.build_operation() })
}

impl Shuffle {
    /// Returns the number of points of one core's slice along each dimension.
    fn slice_sizes<'a>(&'a self, view: &'a ShuffleView) -> impl Iterator<Item = i64> + 'a {
        self.dims.iter().zip(&view.slices).map(|((_, size), slices)| size / slices)
    }

    /// Returns the bytes from the first stick of one core's slice to the last.
    fn slice_bytes(&self, view: &ShuffleView) -> i64 {
        let (mut last, mut step) = (0_i64, STICK_BYTES);
        for label in &view.order {
            let Some(dim) = self.dims.iter().position(|(known, _)| known == label) else { continue };
            let unit = if *label == self.stick { self.format.elements_per_stick() } else { 1 };
            let (part, gap) = (self.dims[dim].1 / view.slices[dim] / unit, view.gaps[dim] / unit);
            last = last.saturating_add((part - 1).saturating_mul(step));
            step = step.saturating_mul(part + gap);
        }
        last.saturating_add(STICK_BYTES)
    }

    fn build_gaps(&self, view: &ShuffleView) -> Option<Entries<Text, Entries<i64, DecimalInteger>>> {
        let by_core = |gap: i64| (0..self.cores).map(|core| (core, DecimalInteger(gap))).collect();
        let dims = self.dims.iter().zip(&view.gaps).filter(|(_, gap)| **gap > 0);
        let gaps: Entries<_, _> = dims.map(|((label, _), gap)| (label.name().into(), by_core(*gap))).collect();
        (!gaps.is_empty()).then_some(gaps)
    }

    fn build_operation(&self) -> Operation {
        let used: Vec<i64> =
            if self.is_completed_sum { self.source.slots.keys().copied().collect() } else { (0..self.cores).collect() };
        Operation {
            debug_handle: None,
            fold_props: vec![fold(1, "time")],
            folds: FoldMap {
                functions: vec![affine(1)],
                folds: vec![fold(1, "time")],
                data: Entries(vec![("[0]".into(), "0".into())]),
            },
            core_fold: fold(self.cores, "core"),
            corelet_fold: fold(self.corelets, "corelet"),
            n_cores: i64::try_from(used.len()).expect("few cores"),
            core_to_dsc: used.iter().map(|core| (*core, 0)).collect(),
            slices: self
                .dims
                .iter()
                .zip(&self.destination.slices)
                .map(|((label, _), slices)| (label.name().into(), *slices))
                .collect(),
            core_to_slice: self.build_slots(&self.destination),
            core_to_schedule: used.iter().map(|core| (*core, vec![[-1, 0, 0, 0]])).collect(),
            dscs: vec![NamedMember { name: FUNCTION_NAME.into(), value: self.build_dsc(used) }],
            data_dscs: None,
            opcode_correction: None,
            symbol_tags: None,
            symbol_definitions: None,
            share_info: None,
        }
    }

    fn build_dsc(&self, used: Vec<i64>) -> Dsc {
        let sizes = |name: &mut dyn Iterator<Item = i64>| {
            LabeledSizes(
                self.dims.iter().zip(name).map(|((label, _), size)| (label.size_name().into(), size)).collect(),
            )
        };
        let stage = DimSizes {
            name: Some("core".into()),
            sizes: sizes(&mut self.slice_sizes(&self.destination)),
            symbolic: Some(Entries::default()),
            max_symbolic_volume: Some(Entries::default()),
            corelet_split: Some(Entries::default()),
            row_split: Some(Entries::default()),
            pe_sfp_split: Some(Entries::default()),
            windows: Some(Entries::default()),
        };
        Dsc {
            n_cores: i64::try_from(used.len()).expect("few cores"),
            n_corelets: Some(self.corelets),
            core_ids: used,
            space: DimSizes {
                name: Some("n".into()),
                sizes: sizes(&mut self.dims.iter().map(|(_, size)| *size)),
                ..DimSizes::default()
            },
            masking: Entries::default(),
            masking_constant: -1,
            dim_symbols: None,
            stages: StageParams { core: StagePair { name: None, steady: stage.clone(), end: stage } },
            classes: Entries(vec![(CLASS_NAME.into(), self.build_class())]),
            class_relation: None,
            nodes: [&self.source, &self.destination]
                .into_iter()
                .enumerate()
                .map(|(tensor, view)| self.build_node(tensor, view))
                .collect(),
            tensors: (0..2).map(|tensor| self.build_tensor_info(tensor)).collect(),
            constants: Constants::default(),
            compute: vec![ComputeOp {
                unit: ExecutionUnit::Sfp.name().into(),
                function: FUNCTION_NAME.into(),
                attributes: ComputeAttributes { format: self.format.name().into(), fidelity: "regular".into() },
                location: Some("Inner".into()),
                inputs: vec!["Tensor0-idx0".into()],
                outputs: vec!["Tensor1-idx1".into()],
                indices: None,
            }],
        }
    }

    /// Returns the layout class of both tensors; it has the order of the first.
    fn build_class(&self) -> ClassInfo {
        ClassInfo {
            order: self.source.order.iter().map(|label| label.name().into()).collect(),
            stick: vec![self.stick.name().into()],
            stick_sizes: vec![self.format.elements_per_stick()],
            stick_replication: None,
        }
    }

    fn build_node(&self, tensor: usize, view: &ShuffleView) -> AllocateNode {
        let value = |(core, address): (i64, &i64)| (CoreKey::from_core(core), DecimalInteger(*address));
        let starts = (0..).zip(&view.addresses).map(value).collect();
        let start = FoldMap::from_core_values(self.cores, self.corelets, starts);
        let dims = self
            .dims
            .iter()
            .zip(&view.slices)
            .map(|((label, size), slices)| (label.name().into(), self.build_coordinate(*label, *size, *slices)));
        AllocateNode {
            node_type: "allocate".into(),
            name: format!("allocate-Tensor{tensor}_lx").into(),
            previous: Some("".into()),
            tensor: Some(tensor),
            component: "lx".into(),
            early_padding: None,
            is_symbolic: None,
            non_unified: None,
            order: view.order.iter().map(|label| label.name().into()).collect(),
            page_sizes: vec![-1; view.order.len()],
            indirection: "no_indirection".into(),
            related: None,
            index_type: None,
            start,
            padding: None,
            gaps: self.build_gaps(view),
            coordinates: Coordinates { dims: dims.collect(), core_to_slice: self.build_slots(view) },
        }
    }

    /// Returns the folds of one dimension: cores, corelets, rows, then the elements of a slice.
    fn build_coordinate(&self, label: DimLabel, size: i64, slices: i64) -> CoordInfo {
        let part = size / slices;
        let per_stick = self.format.elements_per_stick();
        let (corelets, elements) = match label == self.stick {
            false => ((0, 1), vec![(1, part)]),
            true if self.corelets > 1 => ((part / self.corelets, self.corelets), vec![(1, part)]),
            true => ((0, 1), vec![(per_stick, part / per_stick), (1, per_stick)]),
        };
        let folds: Vec<(i64, i64)> =
            [(part, slices), corelets, (0, 1)].into_iter().chain(elements.iter().copied()).collect();
        let labels = ["core_fold", "corelet_fold", "row_fold"].into_iter().chain(
            if elements.len() == 2 { &ELEMENT_FOLD_LABELS[..] } else { &ELEMENT_FOLD_LABELS[1..] }.iter().copied(),
        );
        CoordInfo {
            spatial: 3,
            temporal: 0,
            element_folds: i64::try_from(elements.len()).expect("few folds"),
            padding: "nopad".into(),
            folds: CoordinateFolds {
                functions: folds.iter().map(|(alpha, _)| affine(*alpha)).collect(),
                folds: folds.iter().zip(labels).map(|((_, factor), label)| fold(*factor, label)).collect(),
            },
        }
    }

    fn build_slots(&self, view: &ShuffleView) -> Entries<i64, Entries<Text, i64>> {
        let named = |slots: &Vec<i64>| {
            self.dims.iter().zip(slots).map(|((label, _), slot)| (Text::from(label.name()), *slot)).collect()
        };
        view.slots.iter().map(|(core, slots)| (*core, named(slots))).collect()
    }

    fn build_tensor_info(&self, tensor: usize) -> TensorInfo {
        TensorInfo {
            tensor,
            name: format!("Tensor{tensor}").into(),
            class: CLASS_NAME.into(),
            scales: vec![1; self.dims.len()],
            word_length: WordLength::from_bytes(self.format.bytes()),
            format: self.format.name().into(),
            memory: TensorMemories {
                hbm: None,
                lx: Some(MemoryPresence { is_present: 1, ..MemoryPresence::default() }),
            },
        }
    }
}

const FUNCTION_NAME: &str = "shuffle";

const CLASS_NAME: &str = "OUTPUT";

/// Folds of the elements along the stick: sticks, and elements of a stick.
const ELEMENT_FOLD_LABELS: [&str; 2] = ["elem_arr_1", "elem_arr_0"];

fn fold(factor: i64, label: &'static str) -> Fold {
    Fold { factor, label: label.into() }
}

const fn affine(alpha: i64) -> FoldFunction {
    FoldFunction::Affine { alpha, beta: 0 }
}
