//! Allocates the tensors of a program in the machine's memory.

use crate::error::SimError;
use crate::load::directory;
use crate::load::host::HostArray;
use crate::load::inputs::check_indices;
use crate::load::layout::DeviceLayout;
use crate::machine::{BufferExtent, Machine, RegionId};
use crate::run::shadow_memory::{ShadowInput, ShadowMemory};
use crate::run::simulation::{Simulation, array_error};
use machine::STICK_BYTES;
use sdsc_format::program::Tensor;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Name of the memory that launches share.
const SHARED_REGION_NAME: &str = "the buffers that launches share";

impl Simulation {
    pub(crate) fn allocate_tensors<B: ShadowMemory>(
        &self,
        inputs: &BTreeMap<String, HostArray>,
        machine: &mut Machine,
        beside: &mut B,
    ) -> Result<BTreeMap<String, BufferExtent>, SimError> {
        if let Some(name) = inputs.keys().find(|name| !self.program.tensors().any(|tensor| tensor.name == **name)) {
            return Err(SimError::Array { name: name.clone(), message: "the program has no such tensor".to_owned() });
        }
        let region = if self.program.buffer_bytes > 0 {
            Some(machine.allocate(SHARED_REGION_NAME, self.program.buffer_bytes)?)
        } else {
            None
        };
        let mut buffers = BTreeMap::new();
        for tensor in self.program.tensors() {
            if buffers.contains_key(&tensor.name) {
                continue;
            }
            // A buffer whose value the caller specifies is outside of the shared memory.
            if let (Some(place), None) = (tensor.place, inputs.get(&tensor.name)) {
                let start = place.offset;
                buffers.insert(
                    tensor.name.clone(),
                    BufferExtent { buffer: region.unwrap_or(0), start, end: start + tensor.bytes },
                );
                continue;
            }
            let buffer = machine.allocate(&tensor.name, tensor.bytes)?;
            let is_given =
                self.program.arguments.iter().chain(&self.program.constants).any(|given| given.name == tensor.name);
            buffers.insert(tensor.name.clone(), BufferExtent::whole_buffer(buffer));
            let argument = self
                .program
                .arguments
                .iter()
                .position(|given| given.name == tensor.name)
                .map(|position| position as u64);
            if let Some(array) = inputs.get(&tensor.name) {
                fill_buffer(tensor, array, buffer, machine)?;
                let argument = argument.or(Some(u64::MAX));
                beside.store_input(
                    &ShadowInput {
                        region: RegionId::Hbm(buffer),
                        layout: &DeviceLayout::from_tensor(tensor)?,
                        exact: Some(array),
                        argument,
                    },
                    machine,
                );
            } else if let Some(path) = self.constants.get(&tensor.name) {
                load_constant_file(tensor, path, buffer, machine)?;
                let (layout, exact) = (DeviceLayout::from_tensor(tensor)?, self.exact.get(&tensor.name));
                if let Some(exact) = exact {
                    layout
                        .check_rounded(exact, machine.bytes(RegionId::Hbm(buffer)))
                        .map_err(|message| array_error(tensor, message))?;
                }
                beside.store_input(
                    &ShadowInput { region: RegionId::Hbm(buffer), layout: &layout, exact, argument: None },
                    machine,
                );
            } else if let Some(argument) = argument.filter(|_| !machine.has_values()) {
                let writer = machine.register_writer(&host_writer_name(tensor));
                let region = machine.region_mut(RegionId::Hbm(buffer));
                region.mark_written(0, region.length(), writer);
                let layout = DeviceLayout::from_tensor(tensor)?;
                beside.store_input(
                    &ShadowInput {
                        region: RegionId::Hbm(buffer),
                        layout: &layout,
                        exact: None,
                        argument: Some(argument),
                    },
                    machine,
                );
            } else if is_given {
                return Err(SimError::Array { name: tensor.name.clone(), message: "has no value".to_owned() });
            }
            let is_result = self.program.results.iter().any(|result| result.name == tensor.name);
            if is_given && !is_result {
                machine.region_mut(RegionId::Hbm(buffer)).protect();
            }
        }
        Ok(buffers)
    }

    /// Returns the numbers in the file of a constant; `None` for a tensor without a file.
    ///
    /// # Errors
    /// The file cannot be read, or the members of the tensor contradict each other.
    pub fn read_constant(&self, tensor: &Tensor) -> Result<Option<HostArray>, SimError> {
        let Some(path) = self.constants.get(&tensor.name) else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = directory::open_constant(path, tensor)?.read_to_end(&mut bytes);
        read.map_err(|source| SimError::Io { path: path.clone(), source })?;
        DeviceLayout::from_tensor(tensor)?
            .decode(tensor, &bytes)
            .map(Some)
            .map_err(|message| array_error(tensor, message))
    }

    /// Poisons the buffers whose live ranges end with a launch.
    pub(crate) fn end_live_ranges<B: ShadowMemory>(
        &self,
        launch: usize,
        buffers: &BTreeMap<String, BufferExtent>,
        machine: &mut Machine,
        beside: &mut B,
    ) {
        let ends = |tensor: &&Tensor| tensor.place.is_some_and(|place| place.last_launch == launch);
        for extent in self.program.buffers.iter().filter(ends).filter_map(|tensor| buffers.get(&tensor.name)) {
            // A buffer whose value the caller specified is not in the region.
            if extent.end < i64::MAX {
                let region = RegionId::Hbm(extent.buffer);
                machine.region_mut(region).end_live_range(extent.start as usize, extent.end as usize);
                beside.end_live_range(region, extent.start as usize, extent.end as usize);
            }
        }
    }

    /// Poisons the buffers whose live ranges begin with a launch: their bytes belonged to other buffers.
    pub(crate) fn begin_live_ranges(
        &self,
        launch: usize,
        buffers: &BTreeMap<String, BufferExtent>,
        machine: &mut Machine,
    ) {
        let begins = |tensor: &&Tensor| tensor.place.is_some_and(|place| place.first_launch == launch);
        for extent in self.program.buffers.iter().filter(begins).filter_map(|tensor| buffers.get(&tensor.name)) {
            let region = machine.region_mut(RegionId::Hbm(extent.buffer));
            // A buffer whose value the caller specified is not in the region.
            if extent.end < i64::MAX {
                region.poison(
                    extent.start as usize,
                    (extent.end as usize).next_multiple_of(STICK_BYTES as usize).min(region.capacity),
                );
            }
        }
    }
}

/// Returns the name of the host as the writer of a tensor.
fn host_writer_name(tensor: &Tensor) -> String {
    format!("the host, '{}'", tensor.name)
}

fn fill_buffer(tensor: &Tensor, array: &HostArray, buffer: usize, machine: &mut Machine) -> Result<(), SimError> {
    let (shape, element_type) = (&array.shape, array.elements.element_type());
    if *shape != tensor.shape || element_type.name() != tensor.element_type {
        let message = format!(
            "is {shape:?} of {element_type}, the program's tensor is {:?} of {}",
            tensor.shape, tensor.element_type
        );
        return Err(array_error(tensor, message));
    }
    check_indices(tensor, array)?;
    let writer = machine.register_writer(&host_writer_name(tensor));
    let layout = DeviceLayout::from_tensor(tensor)?;
    let region = machine.region_mut(RegionId::Hbm(buffer));
    region.enable_values();
    layout.store_array(array, region, writer).map_err(|message| array_error(tensor, message))
}

/// Loads the file of a constant into its buffer, byte for byte.
fn load_constant_file(tensor: &Tensor, path: &Path, buffer: usize, machine: &mut Machine) -> Result<(), SimError> {
    let file = directory::open_constant(path, tensor)?;
    let writer = machine.register_writer(&format!("the file of '{}'", tensor.name));
    let region = machine.region_mut(RegionId::Hbm(buffer));
    region.enable_values();
    region.load_from(file).map_err(|source| SimError::Io { path: path.to_owned(), source })?;
    region.mark_written(0, region.length(), writer);
    Ok(())
}
