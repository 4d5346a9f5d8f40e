//! Element positions of a tensor, computed from its members in the file.
//!
//! Memory consists of sticks of 128 bytes. `layoutDimOrder_` lists the dimensions from the inside: the first one has
//! the stride of one stick, each next one the product of the extents before it. The stick dimension (`stickDimOrder_`)
//! has the stride of one element inside of a stick, and that of sticks at its place in the order. A dimension whose
//! `scale_` is negative is not stored (SuperDSC schema, section 3 and section 6).

use super::error::PlanError;
use super::footprint::compute_footprints;
use super::padded_window::PaddedWindow;
use super::relayout::check_corelets;
use super::stagger::{GROUP_ELEMENTS, Stagger};
use super::stick::StickShape;
use super::{CoreAssignment, HOLE, IndirectAccess, IterationDim, MemorySpace, StartAddress, TensorPlan};
use machine::{DeviceFormat, STICK_BYTES};
use sdsc_format::model::{
    AllocateNode, ClassInfo, CoordInfo, Dsc, Entries, FoldFunction, NUMBER_FORMATS, TensorInfo, Text, WordLength,
};

/// Maximum number of elements of one tensor. A core accesses far fewer ("torch-spyre facts, A": 256 MiB).
const MAX_ELEMENTS: i64 = 1 << 46;

/// Number of corelets of a core.
const NUM_CORELETS: i64 = 2;

type TensorPlanResult<T> = std::result::Result<T, PlanError>;

fn reject_malformed<T>(message: impl Into<String>) -> TensorPlanResult<T> {
    Err(PlanError::Malformed(message.into()))
}

fn reject_unsupported<T>(what: impl Into<String>) -> TensorPlanResult<T> {
    Err(PlanError::NotSimulated(what.into()))
}

/// Parses the name of a number format.
pub(super) fn parse_number_format(name: &str) -> TensorPlanResult<DeviceFormat> {
    let is_legal = NUMBER_FORMATS.iter().any(|(known, _)| *known == name);
    match name.parse() {
        Ok(format) => Ok(format),
        Err(_) if is_legal => reject_unsupported(format!("the number format {name}")),
        Err(error) => reject_malformed(format!("{error}")),
    }
}

/// Builds the plan of one tensor of a file.
pub(super) struct TensorPlanBuilder<'f> {
    pub(super) dsc: &'f Dsc,
    pub(super) node: &'f AllocateNode,
    pub(super) info: &'f TensorInfo,
    /// Device function of the op.
    pub(super) function: &'f str,
    pub(super) dims: &'f [IterationDim],
    /// Cores, in the order of the plan.
    pub(super) cores: &'f [CoreAssignment],
    /// Stagger of the elements, if the tensor is the result of a conversion.
    pub(super) stagger: Option<Stagger>,
}

/// Dimension of a tensor while its tables are built.
struct StoredDim {
    dim: usize,
    /// Number of positions of one core.
    local: i64,
    /// Number of positions in memory: the size of the iteration plus `backGapCore_`. In HBM that is the size of the
    /// complete op, and the start address is that of a core's slice. In LX it is the size of one core's slice.
    extent: i64,
}

impl TensorPlanBuilder<'_> {
    /// Computes the element positions of the tensor.
    pub(super) fn build_plan(&self) -> TensorPlanResult<TensorPlan> {
        let class = self.find_class()?;
        let format = parse_number_format(&self.info.format)?;
        let width = WordLength { bits: format.bits() };
        if self.info.word_length != width {
            return reject_malformed(format!(
                "wordLength is {}, but {format} has {width} bytes",
                self.info.word_length
            ));
        }
        let shape = self.read_stick_shape(class, format)?;
        let stick = shape.inner;
        let memory = self.read_memory_space()?;
        let ownership = self.read_ownership(stick)?;
        let stored = self.collect_stored_dims(class, memory, ownership.is_some(), &shape)?;
        let locals: Vec<i64> = (0..self.dims.len())
            .map(|dim| self.local_size(dim, &stored, ownership.is_some()))
            .collect::<TensorPlanResult<_>>()?;
        self.check_slices(ownership.as_deref().unwrap_or_default(), &locals)?;
        self.check_blocks(&shape, &stored)?;
        let mut offsets: Vec<Vec<i64>> = locals.iter().map(|local| vec![0; *local as usize]).collect();
        let mut padded_windows = Vec::new();
        let indirect = self.fill_offsets(&stored, &shape, format, &mut offsets, &mut padded_windows)?;
        let present = (0..self.dims.len())
            .map(|dim| stored.iter().any(|entry| entry.dim == dim) || self.has_window_points(dim))
            .collect();
        let run = |dim: usize| match self.stagger {
            Some(_) if dim == stick => GROUP_ELEMENTS as usize,
            _ => shape.run_length(dim),
        };
        let even = (0..self.dims.len()).map(run).collect();
        let is_sparse = stored.iter().all(|entry| entry.dim != stick);
        let Some((read, written)) = compute_footprints(&offsets, format, &shape.lanes(), is_sparse) else {
            return reject_unsupported(format!(
                "{}: more separate pieces of memory than the simulator keeps",
                self.info.name
            ));
        };
        let starts = self.build_starts((memory, format), ownership.as_deref(), (&shape, &stored))?;
        let name = self.info.name.to_string();
        let positions = |entry: &StoredDim| {
            let size = self.dims[entry.dim].size;
            let size = if self.node.is_per_core() { size } else { size.min(entry.extent) };
            shape.count_sticks(entry.dim, size)
        };
        let sticks = stored.iter().map(positions).fold(1, i64::saturating_mul);
        let inner = stored.iter().find(|entry| entry.extent > shape.elements_along(entry.dim)).map(|entry| entry.dim);
        Ok(TensorPlan {
            name,
            format,
            memory,
            starts,
            offsets,
            uniform_run_lengths: even,
            stick_dim: stick,
            stick_lanes: shape.lanes(),
            adjacent_stick_dim: inner,
            num_sticks: sticks,
            has_dim: present,
            is_sparse,
            indirect,
            ownership,
            padded_windows,
            read_intervals: read,
            core_read_intervals: Vec::new(),
            written_intervals: written,
        })
    }

    fn find_class(&self) -> TensorPlanResult<&ClassInfo> {
        if self.dsc.classes.is_empty() {
            return reject_unsupported(
                "a data shuffle without 'primaryDsInfo_': the file does not say how its sticks run",
            );
        }
        let Some(class) = self.dsc.classes.get(&*self.info.class) else {
            return reject_malformed(format!("dsType_ '{}' is not in primaryDsInfo_", self.info.class));
        };
        let in_order = |label| class.order.iter().filter(|known| *known == label).count() == 1;
        if self.node.order.len() != class.order.len() || !self.node.order.iter().all(in_order) {
            return reject_malformed(format!(
                "layoutDimOrder_ {:?} is no permutation of the class's {:?}",
                self.node.order, class.order
            ));
        }
        if self.info.scales.len() != class.order.len() || self.node.page_sizes.len() != class.order.len() {
            return reject_malformed("scale_ and maxDimSizes_ must have one entry for each dimension of the class");
        }
        if let Some(copies) = class.stick_replication.iter().flatten().find(|copies| **copies != 1) {
            return reject_unsupported(format!("{}: sticks with {copies} copies (stickRepl_)", self.info.name));
        }
        if let Some(scale) = self.info.scales.iter().find(|scale| ![1, -1, -2].contains(*scale)) {
            return reject_malformed(format!("scale_ {scale} is none of 1, -1 and -2"));
        }
        Ok(class)
    }

    /// Reads the arrangement of the elements in a stick.
    fn read_stick_shape(&self, class: &ClassInfo, format: DeviceFormat) -> TensorPlanResult<StickShape> {
        let (labels, sizes, elements) = (&class.stick, &class.stick_sizes, format.elements_per_stick());
        let product = sizes.iter().try_fold(1_i64, |product, size| product.checked_mul(*size));
        if labels.len() != sizes.len() || sizes.iter().any(|size| *size < 1) || product != Some(elements) {
            return reject_malformed(format!(
                "stickSize_ is {sizes:?} along {labels:?}, but a stick of {format} has {elements} elements"
            ));
        }
        let entries: Vec<(usize, i64)> = labels
            .iter()
            .zip(sizes)
            .map(|(label, size)| Ok((self.find_dim(label)?, *size)))
            .collect::<TensorPlanResult<_>>()?;
        let shape = StickShape::new(&entries);
        shape.map_or_else(|| reject_malformed("stickDimOrder_ has no dimension"), Ok)
    }

    /// Checks that a tensor has all dimensions of its blocks, and that slices consist of complete blocks.
    fn check_blocks(&self, shape: &StickShape, stored: &[StoredDim]) -> TensorPlanResult<()> {
        for dim in shape.dims().filter(|_| shape.is_block()) {
            let (name, IterationDim { label, num_slices, .. }) = (&self.info.name, &self.dims[dim]);
            let Some(entry) = stored.iter().find(|entry| entry.dim == dim) else {
                return reject_unsupported(format!("{name}: sticks along '{label}', which the tensor does not have"));
            };
            let elements = shape.elements_along(dim);
            if *num_slices > 1 && entry.local % elements != 0 {
                return reject_malformed(format!(
                    "{name}: {} positions of '{label}' on a core; a core has complete sticks of {elements}",
                    entry.local
                ));
            }
        }
        Ok(())
    }

    pub(super) fn find_dim(&self, label: &str) -> TensorPlanResult<usize> {
        let known = self.dims.iter().position(|dim| dim.label == label);
        known.map_or_else(|| reject_malformed(format!("dimension '{label}' is not in N_")), Ok)
    }

    fn read_memory_space(&self) -> TensorPlanResult<MemorySpace> {
        match &*self.node.component {
            "hbm" => Ok(MemorySpace::Hbm),
            "lx" => Ok(MemorySpace::Lx),
            other => reject_malformed(format!("component_ '{other}' is neither hbm nor lx")),
        }
    }

    /// Reads the slices that the cores hold, if the file lists them; a core that is not listed holds nothing. A corelet
    /// with an address of its own holds half of the core's slice along the stick.
    fn read_ownership(&self, stick: usize) -> TensorPlanResult<Option<Vec<Option<Vec<i64>>>>> {
        let map = &self.node.coordinates.core_to_slice;
        if map.is_empty() {
            return Ok(None);
        }
        if let Some((core, _)) = map.iter().find(|(core, _)| !self.cores.iter().any(|known| known.id == **core)) {
            return reject_malformed(format!(
                "coreIdToWkSlice_ of {} lists core {core}, which the op does not have",
                self.info.name
            ));
        }
        check_corelets(self.dsc, self.node)?;
        let slot = |dim: &IterationDim, slots: &Entries<Text, i64>| {
            self.check_owned_slot(&dim.label, slots.get(dim.label.as_str()).copied().unwrap_or(0))
        };
        let of_core = |core: &CoreAssignment| {
            let Some(slots) = map.get(&core.id) else { return Ok(None) };
            let mut slots: Vec<i64> = self.dims.iter().map(|dim| slot(dim, slots)).collect::<TensorPlanResult<_>>()?;
            if let Some(corelet) = core.corelet {
                slots[stick] = NUM_CORELETS * slots[stick] + corelet;
            }
            Ok(Some(slots))
        };
        self.cores.iter().map(of_core).collect::<TensorPlanResult<_>>().map(Some)
    }

    fn check_owned_slot(&self, label: &str, slot: i64) -> TensorPlanResult<i64> {
        let (slices, size) = (self.count_slices(label)?, self.dims[self.find_dim(label)?].size);
        if size % slices != 0 || !(0..slices).contains(&slot) {
            return reject_malformed(format!("slice {slot} of {slices} of '{label}', which has {size} points"));
        }
        Ok(slot)
    }

    /// Checks that the slices of the cores lie within the iteration space, also along dimensions that are not stored
    /// and have no extent.
    fn check_slices(&self, slots_of_cores: &[Option<Vec<i64>>], locals: &[i64]) -> TensorPlanResult<()> {
        for (dim, slot) in slots_of_cores.iter().flatten().flat_map(|slots| slots.iter().enumerate()) {
            let IterationDim { label, size, .. } = &self.dims[dim];
            if (slot + 1).checked_mul(locals[dim]).is_none_or(|end| end > *size) {
                return reject_malformed(format!(
                    "slice {slot} of '{label}' has {} points of {size} in {}",
                    locals[dim], self.info.name
                ));
            }
        }
        Ok(())
    }

    /// Collects the stored dimensions from the inside, with their extents.
    fn collect_stored_dims(
        &self,
        class: &ClassInfo,
        memory: MemorySpace,
        owned: bool,
        shape: &StickShape,
    ) -> TensorPlanResult<Vec<StoredDim>> {
        let (stick, mut stored) = (shape.inner, Vec::new());
        for label in &self.node.order {
            let scale = class.order.iter().position(|known| known == label).map(|index| self.info.scales[index]);
            if scale != Some(1) {
                continue;
            }
            let dim = self.find_dim(label)?;
            let local = if owned { self.dims[dim].size / self.count_slices(label)? } else { self.dims[dim].local_size };
            let on_core = local;
            let local = if dim == stick { self.divide_among_corelets(local, shape)? } else { local };
            let held = if self.node.start.has_corelet_values() { local } else { on_core };
            let gap = self.read_gap(label, memory)?;
            let extent = self.count_positions(dim, held, stick, gap)?;
            if extent < 1 {
                return reject_malformed(format!("dimension '{label}' of {} has the extent {extent}", self.info.name));
            }
            stored.push(StoredDim { dim, local, extent });
        }
        Ok(stored)
    }

    /// Returns the number of positions along the stick that a corelet holds, if corelets have addresses of their own.
    fn divide_among_corelets(&self, local: i64, shape: &StickShape) -> TensorPlanResult<i64> {
        if self.cores.iter().all(|core| core.corelet.is_none()) {
            return Ok(local);
        }
        let elements = shape.elements_along(shape.inner);
        if local % (NUM_CORELETS * elements) != 0 {
            return reject_malformed(format!(
                "{}: {local} positions on a core; two corelets with addresses of their own have complete sticks of \
                 {elements}",
                self.info.name
            ));
        }
        Ok(local / NUM_CORELETS)
    }

    /// Returns the number of positions of a dimension in memory.
    fn count_positions(&self, dim: usize, local: i64, stick: usize, gap: i64) -> TensorPlanResult<i64> {
        if let Some(window) = self.find_window(dim)? {
            return self.count_window_positions(dim, window, gap);
        }
        let covered = if self.node.is_per_core() { local } else { self.dims[dim].size };
        Ok(if self.is_missing_gap(dim, stick, gap) { covered - gap } else { covered.saturating_add(gap) })
    }

    /// Returns the number of slices of a tensor with its own ownership: the factor of `core_fold`.
    fn count_slices(&self, label: &str) -> TensorPlanResult<i64> {
        let info: Option<&CoordInfo> = self.node.coordinates.dims.get(label);
        let folds = info.map(|info| info.folds.functions.iter().zip(&info.folds.folds));
        let fold = folds.into_iter().flatten().find(|(_, fold)| fold.label == "core_fold");
        let size = self.dims[self.find_dim(label)?].size;
        match fold {
            Some((FoldFunction::Affine { alpha, beta: 0 }, fold))
                if fold.factor > 1 && alpha.checked_mul(fold.factor).is_none_or(|covered| covered != size) =>
            {
                let (name, factor) = (&self.info.name, fold.factor);
                reject_malformed(format!(
                    "{name}: {factor} slices of '{label}' are {alpha} points apart; {size} points need slices side by side"
                ))
            }
            Some((FoldFunction::Affine { beta: 0, .. }, fold)) if fold.factor > 0 => Ok(fold.factor),
            _ => reject_malformed(format!("{} has no core_fold for '{label}'", self.info.name)),
        }
    }

    /// Reads `backGapCore_`: the elements of a dimension beyond those that the op accesses.
    fn read_gap(&self, label: &str, memory: MemorySpace) -> TensorPlanResult<i64> {
        let Some(gaps) = self.node.gaps.as_ref().and_then(|gaps| gaps.get(label)) else { return Ok(0) };
        let mut values = gaps.iter().map(|(_, gap)| gap.0);
        let Some(first) = values.next() else { return Ok(0) };
        if first < 0 || gaps.iter().any(|(core, _)| (*core == -1) != (memory == MemorySpace::Hbm)) {
            return reject_malformed(format!("backGapCore_ of '{label}' is negative, or not of its kind of memory"));
        }
        if values.any(|gap| gap != first) {
            return reject_unsupported(format!("{}: a gap that differs between cores", self.info.name));
        }
        Ok(first)
    }

    /// Returns whether a gap means that the tensor ends before the iteration does.
    ///
    /// A restickify pads both stick dimensions. A tensor whose stick is along the other one is not padded, and its gap
    /// is the missing padding (schema, section 4). Padding is less than a stick. A view's gap can be as small; the file
    /// is the same for both, and it is interpreted as padding.
    fn is_missing_gap(&self, dim: usize, stick: usize, gap: i64) -> bool {
        let along = |class: &ClassInfo| {
            let size = class.stick_sizes.first().copied().unwrap_or(0);
            class.stick.first().is_some_and(|label| *label == self.dims[dim].label) && gap < size
        };
        self.function == "ReStickifyOpHBM"
            && dim != stick
            && gap > 0
            && self.dsc.classes.iter().any(|(_, class)| along(class))
    }

    /// Returns the number of positions of one core along a dimension of the iteration space.
    fn local_size(&self, dim: usize, stored: &[StoredDim], owned: bool) -> TensorPlanResult<i64> {
        let entry = stored.iter().find(|entry| entry.dim == dim);
        Ok(match entry {
            Some(entry) if owned => entry.local,
            Some(_) | None => self.dims[dim].local_size,
        })
    }

    /// Fills the offset tables of the stored dimensions, and collects the windows with padding.
    fn fill_offsets(
        &self,
        stored: &[StoredDim],
        shape: &StickShape,
        format: DeviceFormat,
        offsets: &mut [Vec<i64>],
        padded_windows: &mut Vec<PaddedWindow>,
    ) -> TensorPlanResult<Option<IndirectAccess>> {
        let stick = shape.inner;
        let mut step = format.elements_per_stick();
        let (mut by_index, mut blocked) = (Vec::new(), false);
        for entry in stored {
            let label = &self.dims[entry.dim].label;
            if self.is_indirect(label) {
                by_index.push(entry.dim);
                continue;
            }
            let sticks = shape.count_sticks(entry.dim, entry.extent);
            let is_in_stick = shape.dims().any(|dim| dim == entry.dim);
            // The file has no size of the table, so only a dimension of one stick may be outside of it.
            blocked |= sticks > 1 && by_index.iter().any(|dim| self.dims[*dim].size > 1);
            self.check_end(entry)?;
            self.check_pairs(entry, stick)?;
            self.check_size(step, entry.extent.max(entry.local))?;
            let table = &mut offsets[entry.dim];
            for (at, offset) in (0..).zip(table.iter_mut()) {
                *offset = match self.stagger {
                    Some(stagger) if entry.dim == stick => stagger.column_offset(at, step),
                    _ if at >= entry.extent && self.dims[entry.dim].num_slices == 1 && !is_in_stick => HOLE,
                    _ => shape.offset(entry.dim, at, step),
                };
            }
            padded_windows.extend(self.fill_window(entry.dim, stick, step, offsets)?);
            step *= sticks;
        }
        if blocked {
            return reject_unsupported(format!(
                "{}: a dimension outside of the indexed one, whose size the file does not give",
                self.info.name
            ));
        }
        if by_index.is_empty() { Ok(None) } else { self.build_indirect_access(step).map(Some) }
    }

    /// Checks that a conversion that staggers has complete pairs of sticks: the elements of a partly filled stick lie
    /// in both sticks of a pair.
    fn check_pairs(&self, entry: &StoredDim, stick: usize) -> TensorPlanResult<()> {
        let columns = entry.local.min(entry.extent);
        if self.stagger.is_some()
            && entry.dim == stick
            && (columns % Stagger::COLUMNS != 0 || entry.extent % Stagger::COLUMNS != 0)
        {
            return reject_unsupported(format!(
                "'{}' of {columns} columns, not a multiple of {}: the partly filled sticks are staggered",
                self.function,
                Stagger::COLUMNS
            ));
        }
        Ok(())
    }

    /// Checks that sums of offsets cannot overflow.
    pub(super) fn check_size(&self, step: i64, positions: i64) -> TensorPlanResult<()> {
        match step.checked_mul(positions) {
            Some(elements) if elements <= MAX_ELEMENTS => Ok(()),
            Some(_) | None => reject_malformed(format!("{} is too large", self.info.name)),
        }
    }

    /// Rejects an HBM tensor that ends inside of a slice while the dimension is split over cores: all cores share one
    /// table.
    fn check_end(&self, entry: &StoredDim) -> TensorPlanResult<()> {
        let dim = &self.dims[entry.dim];
        let is_cut = entry.extent < dim.size && dim.num_slices > 1 && !self.node.is_per_core();
        if is_cut && self.find_window(entry.dim)?.is_none() {
            return reject_malformed(format!(
                "'{}' is split over cores, but {} ends inside of a slice",
                dim.label, self.info.name
            ));
        }
        Ok(())
    }

    fn is_indirect(&self, label: &str) -> bool {
        let index = self.node.order.iter().position(|known| known == label);
        self.node.indirection == "value_tensor" && index.is_some_and(|index| self.node.page_sizes[index] >= 0)
    }

    fn build_indirect_access(&self, row: i64) -> TensorPlanResult<IndirectAccess> {
        let related = self.node.related.as_deref().unwrap_or_default();
        let index = self.dsc.nodes.iter().enumerate().find(|(_, node)| node.name == related);
        match index {
            Some((_, node)) if node.index_type.as_deref() == Some("address") => {
                reject_unsupported(format!("{}: an index tensor of byte addresses", self.info.name))
            }
            Some((index, node)) if node.indirection == "index_tensor" => {
                Ok(IndirectAccess { index_tensor: index, row_stride: row })
            }
            _ => reject_malformed(format!("relatedIndirectAccessAlloc_ '{related}' is no index tensor")),
        }
    }

    /// Builds the start addresses of the cores. A core that holds no slice of the tensor needs none.
    fn build_starts(
        &self,
        (memory, format): (MemorySpace, DeviceFormat),
        ownership: Option<&[Option<Vec<i64>>]>,
        (shape, stored): (&StickShape, &[StoredDim]),
    ) -> TensorPlanResult<Vec<StartAddress>> {
        let by_corelet = self.node.start.has_corelet_values();
        let is_known = |corelet: i64| corelet == 0 || by_corelet;
        if let Some((key, _)) = self.node.start.data.iter().find(|(key, _)| !is_known(key.corelet)) {
            return reject_malformed(format!(
                "startAddressCoreCorelet_ of {} has the key {key}, but is constant over corelets",
                self.info.name
            ));
        }
        if by_corelet && ownership.is_none() {
            return reject_malformed(format!(
                "startAddressCoreCorelet_ of {} differs between corelets; only those of a shuffle do",
                self.info.name
            ));
        }
        let half = Self::corelet_bytes(format, shape, stored);
        let is_held = |position: usize| ownership.is_none_or(|ownership| ownership[position].is_some());
        let start = |(position, core): (usize, &CoreAssignment)| {
            let corelet = core.corelet.unwrap_or(0);
            let (listed, bytes) = if by_corelet { (corelet, 0) } else { (0, corelet * half) };
            let found = self.node.start.value_on_corelet(core.id, listed).map(|value| value.0);
            match (found, memory) {
                (None, _) if !is_held(position) => Ok(StartAddress::Address(0)),
                (None, _) => {
                    reject_malformed(format!("startAddressCoreCorelet_ of {} lacks core {}", self.info.name, core.id))
                }
                (Some(symbol), MemorySpace::Hbm) if symbol < 0 => Ok(StartAddress::Symbol(symbol)),
                (Some(symbol), MemorySpace::Lx) if symbol < 0 => {
                    reject_malformed(format!("{} is in LX but has the symbol {symbol} as address", self.info.name))
                }
                (Some(address), _) => Ok(StartAddress::Address(address.saturating_add(bytes))),
            }
        };
        self.cores.iter().enumerate().map(start).collect()
    }

    /// Returns the distance of the halves of two corelets in the layout of a core's slice, in bytes.
    fn corelet_bytes(format: DeviceFormat, shape: &StickShape, stored: &[StoredDim]) -> i64 {
        let inner = stored.iter().take_while(|entry| entry.dim != shape.inner);
        let sticks =
            inner.fold(1, |sticks: i64, entry| sticks.saturating_mul(shape.count_sticks(entry.dim, entry.extent)));
        let local = stored.iter().find(|entry| entry.dim == shape.inner).map_or(0, |entry| entry.local);
        let bytes = sticks.saturating_mul(STICK_BYTES);
        bytes.saturating_mul(local) / format.elements_per_stick()
    }
}
