//! View of an SDSC file for the rules: parsed members and look-ups.

use super::functions::Family;
use super::launch::{ExecuteView, LaunchValues};
use super::report::member;
use machine::Target;
use sdsc_format::model::{ClassInfo, ComputeOp, CoordInfo, Dsc, Entries, Node, Operation, Sdsc, TensorInfo, Text};

/// A tensor in HBM that is passed to a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Its name, for messages.
    pub name: String,
    /// Its size.
    pub bytes: i64,
    /// Its device shape, the elements of a stick last; empty when it is not known.
    pub device_size: Vec<i64>,
    /// Its number format; empty when it is not known.
    pub format: String,
}

/// Context that a file is checked against.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// The machine.
    pub(super) target: &'a Target,
    /// The kernel arguments, by number; `None` if they are unknown.
    pub(super) arguments: &'a [Buffer],
    /// Bytes of the pool in front of the arguments, if addresses are in the files; `None` if the addresses of arguments are unknown.
    pub(super) pool_bytes: Option<i64>,
    /// The function of the bundle; `None` if its text is invalid.
    pub(super) launch: Option<&'a LaunchValues<'a>>,
    /// The execute that runs the file.
    pub(super) execute: Option<&'a ExecuteView<'a>>,
}

/// An SDSC file with one description of one operation.
pub(super) struct FileView<'a> {
    pub(super) name: &'a str,
    pub(super) key: &'a str,
    pub(super) operation: &'a Operation,
    pub(super) dsc_key: &'a str,
    pub(super) dsc: &'a Dsc,
    pub(super) compute: &'a ComputeOp,
    pub(super) family: Family,
    pub(super) around: Surroundings<'a>,
    operation_path: String,
    dsc_path: String,
}

impl<'a> FileView<'a> {
    /// Returns the view of a file, if the file has one description of one operation.
    pub(super) fn new(name: &'a str, sdsc: &'a Sdsc, around: Surroundings<'a>) -> Option<Self> {
        let operation = &sdsc.value;
        let [named] = operation.dscs.as_slice() else { return None };
        let [compute] = named.value.compute.as_slice() else { return None };
        let operation_path = member("", &sdsc.name);
        let dsc_path = member(&format!("{operation_path}/dscs_/0"), &named.name);
        let family = Family::of(&compute.function).unwrap_or(Family::Other);
        let (dsc_key, dsc) = (&*named.name, &named.value);
        Some(Self { name, key: &sdsc.name, operation, dsc_key, dsc, compute, family, around, operation_path, dsc_path })
    }

    /// Whether the op copies a tensor between the LX of cores.
    pub(super) fn is_shuffle(&self) -> bool {
        self.compute.function == "shuffle"
    }

    /// The cores that have an address of each tensor. A shuffle may use fewer.
    pub(super) fn cores(&self) -> i64 {
        if self.is_shuffle() { self.operation.core_fold.factor } else { self.operation.n_cores }
    }

    /// The corelets of a core that share a tensor, in a shuffle: as many as any member says.
    pub(super) fn corelets(&self) -> i64 {
        let folds = self.dsc.nodes.iter().flat_map(|node| node.coordinates.dims.iter().map(|(_, info)| info.corelets()));
        let starts = self.dsc.nodes.iter().filter_map(|node| node.start.folds.get(1)).map(|fold| fold.factor);
        if self.is_shuffle() { folds.chain(starts).chain([self.dsc.n_corelets]).max().unwrap_or(1) } else { 1 }
    }

    /// The pointer to a member of the operation.
    pub(super) fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.operation_path)
    }

    /// The pointer to a member of the description.
    pub(super) fn dsc_at(&self, path: &str) -> String {
        format!("{}/{path}", self.dsc_path)
    }

    /// The pointer to a member of the compute operation.
    pub(super) fn compute_at(&self, path: &str) -> String {
        self.dsc_at(&format!("computeOp_/0/{path}"))
    }

    /// The points of a dimension.
    pub(super) fn size(&self, label: &str) -> Option<i64> {
        self.dsc.space.sizes.get(label)
    }

    /// The points of a dimension that one core computes.
    pub(super) fn core_size(&self, label: &str) -> Option<i64> {
        self.dsc.stages.core.steady.sizes.get(label)
    }

    /// The slices of a dimension.
    pub(super) fn slices(&self, label: &str) -> Option<i64> {
        self.operation.slices.get(label).copied()
    }

    /// The dimensions, in the order of the file.
    pub(super) fn labels(&self) -> impl Iterator<Item = &'a str> {
        self.dsc.space.sizes.0.iter().map(|(key, _)| key.strip_suffix('_').unwrap_or(key))
    }

    /// Returns the tensors that have both of their descriptions.
    pub(super) fn tensors(&self) -> impl Iterator<Item = TensorView<'a>> {
        let dsc = self.dsc;
        dsc.nodes.iter().zip(&dsc.tensors).enumerate().map(|(index, (node, info))| TensorView {
            index,
            node,
            info,
            class: dsc.classes.get(&info.class),
        })
    }

    /// The tensors that hold values, not indices.
    pub(super) fn data_tensors(&self) -> impl Iterator<Item = TensorView<'a>> {
        self.tensors().filter(|tensor| !tensor.is_index())
    }

    /// Whether some tensors are accessed through indices.
    pub(super) fn is_indirect(&self) -> bool {
        self.dsc.nodes.iter().any(|node| node.indirection != "no_indirection")
    }

    /// The number of the result.
    pub(super) fn result(&self) -> Option<usize> {
        self.dsc.tensors.len().checked_sub(1)
    }

    /// Whether a window slides along a dimension.
    pub(super) fn is_windowed(&self, label: &str) -> bool {
        let in_space = self.dsc.space.windows.iter().flat_map(Entries::iter);
        in_space.chain(self.dsc.stages.core.steady.windows.iter()).any(|(dim, _)| dim == label)
    }

    /// The pointer to a member of a tensor's node.
    pub(super) fn node_at(&self, tensor: usize, path: &str) -> String {
        self.dsc_at(&format!("scheduleTree_/{tensor}/{path}"))
    }

    /// The pointer to a member of a tensor's description.
    pub(super) fn tensor_at(&self, tensor: usize, path: &str) -> String {
        self.dsc_at(&format!("labeledDs_/{tensor}/{path}"))
    }
}

/// A tensor of an operation.
#[derive(Clone, Copy)]
pub(super) struct TensorView<'a> {
    pub(super) index: usize,
    pub(super) node: &'a Node,
    pub(super) info: &'a TensorInfo,
    /// Its layout class, when the file has it.
    pub(super) class: Option<&'a ClassInfo>,
}

impl<'a> TensorView<'a> {
    /// Whether it holds indices.
    pub(super) fn is_index(&self) -> bool {
        self.node.indirection == "index_tensor"
    }

    /// Whether the tensor is in the scratchpads (LX).
    pub(super) fn is_lx(&self) -> bool {
        self.node.component == "lx"
    }

    /// The dimensions of its class.
    pub(super) fn class_order(&self) -> &'a [Text] {
        self.class.map_or(&[], |class| &class.order)
    }

    /// The dimensions of its stick.
    pub(super) fn stick(&self) -> &'a [Text] {
        self.class.map_or(&[], |class| &class.stick)
    }

    /// Returns the elements of the stick along a dimension; `None` for other dimensions.
    pub(super) fn stick_size(&self, label: &str) -> Option<i64> {
        let class = self.class?;
        let position = class.stick.iter().position(|along| along == label)?;
        class.stick_sizes.get(position).copied()
    }

    /// Returns the role of a dimension in the tensor (`scale_`).
    pub(super) fn scale(&self, label: &str) -> Option<i64> {
        let position = self.class_order().iter().position(|known| known == label)?;
        self.info.scales.get(position).copied()
    }

    /// Whether it has the dimension, neither reduced nor broadcast.
    pub(super) fn has(&self, label: &str) -> bool {
        self.scale(label) == Some(1)
    }

    /// Returns the coordinate mapping of a dimension of the iteration space in the tensor.
    pub(super) fn coordinate(&self, label: &str) -> Option<&'a CoordInfo> {
        self.node.coordinates.dims.get(label)
    }

    /// The slices of a dimension that the cores hold.
    pub(super) fn held_slices(&self, label: &str) -> Option<i64> {
        self.coordinate(label)?.folds.folds.first().map(|fold| fold.factor)
    }

    /// Elements of a stick of its format.
    pub(super) const fn elements_per_stick(&self) -> Option<i64> {
        match self.info.word_length {
            bytes @ 1.. => Some(machine::STICK_BYTES / bytes),
            _ => None,
        }
    }
}
