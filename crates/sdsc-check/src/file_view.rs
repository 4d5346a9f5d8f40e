//! View of an SDSC file for the rules: parsed members and look-ups.

use super::functions::FunctionFamily;
use super::launch::{ExecuteView, LaunchValues};
use super::profile::Profile;
use super::report::member_pointer;
use machine::Target;
use sdsc_format::model::{
    AllocateNode, ClassInfo, ComputeOp, CoordInfo, Dsc, Operation, Sdsc, TensorInfo, Text, strip_underscore,
};

/// A tensor in HBM that is passed to a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelArgument {
    /// Name, for messages.
    pub name: String,
    /// Size in bytes.
    pub bytes: i64,
    /// Device shape, the elements of a stick last; empty if unknown.
    pub device_size: Vec<i64>,
    /// Number format; empty if unknown.
    pub format: String,
}

/// Context of the check of one file.
#[derive(Clone, Copy)]
pub(super) struct CheckContext<'a> {
    /// Machine that runs the bundle.
    pub(super) target: &'a Target,
    /// Kernel arguments, by number; `None` if they are unknown.
    pub(super) arguments: &'a [KernelArgument],
    /// Bytes of the pool before the arguments, if addresses are in the files; `None` if the addresses of arguments are
    /// unknown.
    pub(super) pool_bytes: Option<i64>,
    /// Function of the bundle; `None` if its text is invalid.
    pub(super) launch: Option<&'a LaunchValues<'a>>,
    /// Profile that the file is checked against.
    pub(super) profile: Profile,
    /// Execute that runs the file.
    pub(super) execute: Option<&'a ExecuteView<'a>>,
}

/// One operation of one description of an SDSC file.
pub(super) struct FileView<'a> {
    pub(super) name: &'a str,
    pub(super) key: &'a str,
    pub(super) operation: &'a Operation,
    pub(super) dsc_key: &'a str,
    pub(super) dsc: &'a Dsc,
    /// Number of the description; cores with unequal sizes in one description have descriptions of their own.
    pub(super) dsc_index: usize,
    pub(super) compute: &'a ComputeOp,
    /// Number of the operation in its description.
    compute_index: usize,
    pub(super) family: FunctionFamily,
    pub(super) context: CheckContext<'a>,
    operation_path: String,
    dsc_path: String,
}

impl<'a> FileView<'a> {
    /// Returns the views of a file, one for each operation of each description. `numbers_in_file` are the numbers of
    /// the descriptions in the file.
    pub(super) fn from_sdsc(
        name: &'a str,
        sdsc: &'a Sdsc,
        numbers_in_file: &[usize],
        around: CheckContext<'a>,
    ) -> Vec<Self> {
        let operation = &sdsc.value;
        let operation_path = member_pointer("", &sdsc.name);
        let mut views = Vec::new();
        for ((dsc_index, named), number) in operation.dscs.iter().enumerate().zip(numbers_in_file) {
            let dsc_path = member_pointer(&format!("{operation_path}/dscs_/{number}"), &named.name);
            for (compute_index, compute) in named.value.compute.iter().enumerate() {
                let family = FunctionFamily::from_function(&compute.function).unwrap_or(FunctionFamily::Other);
                let (dsc_key, dsc, key) = (&*named.name, &named.value, &*sdsc.name);
                let (operation_path, dsc_path) = (operation_path.clone(), dsc_path.clone());
                views.push(Self {
                    name,
                    key,
                    operation,
                    dsc_key,
                    dsc,
                    dsc_index,
                    compute,
                    compute_index,
                    family,
                    context: around,
                    operation_path,
                    dsc_path,
                });
            }
        }
        views
    }

    /// Returns whether descriptions divide the work unequally.
    pub(super) fn is_uneven(&self) -> bool {
        let sizes = |dsc: &'a Dsc| &dsc.stages.core.steady.sizes;
        self.operation.dscs.iter().any(|other| sizes(&other.value) != sizes(self.dsc))
    }

    /// Returns whether several descriptions share the cores or the steps of the file.
    pub(super) fn has_several_descriptions(&self) -> bool {
        self.operation.dscs.len() > 1
    }

    /// Returns whether the op copies a tensor between the LX of cores.
    pub(super) fn is_shuffle(&self) -> bool {
        self.compute.function == "shuffle"
    }

    /// Returns the number of cores that have an address of each tensor. A shuffle may use fewer.
    pub(super) fn num_cores(&self) -> i64 {
        if self.is_shuffle() { self.operation.core_fold.factor } else { self.operation.n_cores }
    }

    /// Returns the number of corelets of a core that share a tensor in a shuffle: the largest number of any member.
    pub(super) fn num_corelets(&self) -> i64 {
        let folds =
            self.dsc.nodes.iter().flat_map(|node| node.coordinates.dims.iter().map(|(_, info)| info.num_corelets()));
        let starts = self.dsc.nodes.iter().filter_map(|node| node.start.folds.get(1)).map(|fold| fold.factor);
        if self.is_shuffle() { folds.chain(starts).chain(self.dsc.n_corelets).max().unwrap_or(1) } else { 1 }
    }

    /// Returns the pointer to a member of the operation.
    pub(super) fn member_path(&self, path: &str) -> String {
        format!("{}/{path}", self.operation_path)
    }

    /// Returns the pointer to a member of the description.
    pub(super) fn dsc_member_path(&self, path: &str) -> String {
        format!("{}/{path}", self.dsc_path)
    }

    /// Returns the pointer to a member of the compute operation.
    pub(super) fn compute_member_path(&self, path: &str) -> String {
        self.dsc_member_path(&format!("computeOp_/{}/{path}", self.compute_index))
    }

    /// Returns the number of points of a dimension.
    pub(super) fn size(&self, label: &str) -> Option<i64> {
        self.dsc.space.sizes.get(label)
    }

    /// Returns the number of points of a dimension that one core computes.
    pub(super) fn core_size(&self, label: &str) -> Option<i64> {
        self.dsc.stages.core.steady.sizes.get(label)
    }

    /// Returns the number of slices of a dimension.
    pub(super) fn num_slices(&self, label: &str) -> Option<i64> {
        self.operation.slices.get(label).copied()
    }

    /// Returns the dimensions, in the order of the file.
    pub(super) fn labels(&self) -> impl Iterator<Item = &'a str> {
        self.dsc.space.sizes.0.iter().map(|(key, _)| strip_underscore(key))
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

    /// Returns the tensors that hold values, not indices.
    pub(super) fn data_tensors(&self) -> impl Iterator<Item = TensorView<'a>> {
        self.tensors().filter(|tensor| !tensor.is_index())
    }

    /// Returns whether some tensors are accessed through indices.
    pub(super) fn is_indirect(&self) -> bool {
        self.dsc.nodes.iter().any(|node| node.indirection != "no_indirection")
    }

    /// Returns the number of the result among the tensors.
    pub(super) fn result_index(&self) -> Option<usize> {
        self.dsc.tensors.len().checked_sub(1)
    }

    /// Returns whether a window slides along a dimension.
    pub(super) fn is_windowed(&self, label: &str) -> bool {
        self.dsc.space.windows().chain(self.dsc.stages.core.steady.windows()).any(|(dim, _)| dim == label)
    }

    /// Returns the pointer to a member of a tensor's node.
    pub(super) fn node_member_path(&self, tensor: usize, path: &str) -> String {
        self.dsc_member_path(&format!("scheduleTree_/{tensor}/{path}"))
    }

    /// Returns the pointer to a member of a tensor's description.
    pub(super) fn tensor_member_path(&self, tensor: usize, path: &str) -> String {
        self.dsc_member_path(&format!("labeledDs_/{tensor}/{path}"))
    }
}

/// Tensor of an operation.
#[derive(Clone, Copy)]
pub(super) struct TensorView<'a> {
    pub(super) index: usize,
    pub(super) node: &'a AllocateNode,
    pub(super) info: &'a TensorInfo,
    /// Layout class; `None` if the file lacks it.
    pub(super) class: Option<&'a ClassInfo>,
}

impl<'a> TensorView<'a> {
    /// Returns whether the tensor holds indices.
    pub(super) fn is_index(&self) -> bool {
        self.node.indirection == "index_tensor"
    }

    /// Returns the name of the tensor in the operand lists of the compute operation.
    pub(super) fn operand_name(&self) -> Text {
        format!("{}-idx{}", self.info.name, self.index).into()
    }

    /// Returns whether the tensor is in LX.
    pub(super) fn is_lx(&self) -> bool {
        self.node.component == "lx"
    }

    /// Returns the dimensions of the tensor's class.
    pub(super) fn class_order(&self) -> &'a [Text] {
        self.class.map_or(&[], |class| &class.order)
    }

    /// Returns the dimensions of the tensor's stick.
    pub(super) fn stick(&self) -> &'a [Text] {
        self.class.map_or(&[], |class| &class.stick)
    }

    /// Returns the dimensions of the tensor's stick with the elements along each, outermost first.
    pub(super) fn stick_entries(&self) -> Vec<(&'a str, i64)> {
        let sizes = self.class.map_or(&[][..], |class| &class.stick_sizes);
        self.stick().iter().map(|label| &**label).zip(sizes.iter().copied()).collect()
    }

    /// Returns the elements of the stick along a dimension; `None` for other dimensions.
    pub(super) fn stick_size(&self, label: &str) -> Option<i64> {
        let class = self.class?;
        // A stick of 4-bit elements has two entries for one of its dimensions.
        let sizes =
            class.stick.iter().zip(&class.stick_sizes).filter(|(along, _)| *along == label).map(|(_, size)| *size);
        sizes.reduce(i64::saturating_mul)
    }

    /// Returns the role of a dimension in the tensor (`scale_`).
    pub(super) fn scale(&self, label: &str) -> Option<i64> {
        let position = self.class_order().iter().position(|known| known == label)?;
        self.info.scales.get(position).copied()
    }

    /// Returns whether the tensor has the dimension, neither reduced nor broadcast.
    pub(super) fn has_dim(&self, label: &str) -> bool {
        self.scale(label) == Some(1)
    }

    /// Returns the coordinate mapping of a dimension of the iteration space in the tensor.
    pub(super) fn coordinate(&self, label: &str) -> Option<&'a CoordInfo> {
        self.node.coordinates.dims.get(label)
    }

    /// Returns the number of slices of a dimension that the cores hold.
    pub(super) fn num_held_slices(&self, label: &str) -> Option<i64> {
        self.coordinate(label)?.folds.folds.first().map(|fold| fold.factor)
    }

    /// Returns whether each core has its own tensor, in LX or in HBM.
    pub(super) fn is_per_core(&self) -> bool {
        self.node.is_per_core()
    }

    /// Returns the number of elements in a stick of the tensor's format.
    pub(super) const fn elements_per_stick(&self) -> Option<i64> {
        match self.info.word_length.bits {
            bits @ 1.. => Some(machine::STICK_BYTES * 8 / bits),
            _ => None,
        }
    }
}
