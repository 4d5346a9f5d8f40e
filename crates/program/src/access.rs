//! Accesses of ops to tensors.

use crate::layout::{
    Coordinate, CoordinateTerm, DeviceLayout, HostTensor, LayoutError, compute_device_coordinates, find_stick_contents,
};

const NO_LAYOUT: &str = "has an operand without a device layout";

/// Shape and layout of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramTensor {
    /// Sizes of the dimensions.
    pub shape: Vec<i64>,
    /// The layout, once the layout phase has run.
    pub layout: Option<DeviceLayout>,
    /// The shape of the buffer, if the tensor is a window of a larger one.
    pub buffer_shape: Option<Vec<i64>>,
}

impl ProgramTensor {
    /// Returns the bytes of the buffer that the layout describes.
    ///
    /// # Errors
    /// If the layout phase has not run.
    pub fn bytes(&self) -> Result<i64, String> {
        self.layout.as_ref().map(DeviceLayout::bytes).ok_or_else(|| NO_LAYOUT.to_owned())
    }

    /// Returns sizes and strides of the buffer that the layout describes: the tensor's own buffer, or the one that the
    /// tensor is a window of.
    ///
    /// # Errors
    /// If the shape has no contiguous strides.
    pub fn buffer(&self) -> Result<HostTensor, LayoutError> {
        HostTensor::row_major(self.buffer_shape.as_deref().unwrap_or(&self.shape))
    }

    /// Returns the layout as that of a separate buffer with the tensor's shape, without the surroundings of a window;
    /// `None` without a layout.
    ///
    /// # Errors
    /// Those of [`DeviceLayout::to_tile_layout`], and of [`Self::buffer`].
    #[must_use]
    pub fn compact_layout(&self) -> Option<Result<DeviceLayout, LayoutError>> {
        let layout = self.layout.as_ref()?;
        Some(self.buffer().and_then(|host| layout.to_tile_layout(&host, &self.shape)))
    }

    /// Returns the type of a separate buffer with the tensor's shape; `Ok(None)` without a layout.
    ///
    /// # Errors
    /// Those of [`Self::compact_layout`], as text.
    pub fn to_compact(&self) -> Result<Option<Self>, String> {
        let layout = self.compact_layout().transpose().map_err(|error| error.to_string())?;
        Ok(layout.map(|layout| Self { shape: self.shape.clone(), layout: Some(layout), buffer_shape: None }))
    }
}

/// Interpretation of a tensor's elements by an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Numbers at the coordinates of the access.
    Data,
    /// Positions in a table.
    Indices,
    /// Rows to choose from. The indices are the position along this dimension of the tensor, which `dims` marks as not
    /// moving.
    Table(usize),
}

/// Access of an op to a tensor, through all views of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorAccess {
    /// The accessed tensor: the root of all views, or the outermost view with a layout, which has the same bytes under
    /// other dimensions.
    pub tensor: ProgramTensor,
    /// For each dimension of the tensor, the iteration dimension that indexes it; `None` for a constant index.
    pub dims: Vec<Option<usize>>,
    /// For each dimension of the tensor, the first accessed index.
    pub offsets: Vec<i64>,
    /// How the op interprets the elements.
    pub used_as: AccessKind,
}

impl TensorAccess {
    /// Returns the access to each element of a tensor; dimensions of size 1 do not move.
    #[must_use]
    pub fn identity(tensor: ProgramTensor) -> Self {
        let dims = tensor.shape.iter().enumerate().map(|(dim, &size)| (size > 1).then_some(dim)).collect();
        Self { dims, offsets: vec![0; tensor.shape.len()], tensor, used_as: AccessKind::Data }
    }

    /// Returns the layout, or an error message if there is none.
    ///
    /// # Errors
    /// If the layout phase has not run.
    pub fn layout(&self) -> Result<&DeviceLayout, String> {
        self.tensor.layout.as_ref().ok_or_else(|| NO_LAYOUT.to_owned())
    }

    /// Returns the device coordinates in terms of the iteration dimensions; 0 where an index tensor determines the
    /// position.
    ///
    /// # Errors
    /// If the tensor has no layout, or one that the access does not fit.
    pub fn coordinates(&self, iteration_space: &[i64]) -> Result<Vec<Coordinate>, String> {
        let layout = self.layout()?;
        let index =
            |(dim, &offset): (&Option<usize>, &i64)| Coordinate { term: dim.map(CoordinateTerm::from_dim), offset };
        let access: Vec<Coordinate> = self.dims.iter().zip(&self.offsets).map(index).collect();
        let text = |error: LayoutError| error.to_string();
        compute_device_coordinates(layout, &self.tensor.buffer().map_err(text)?, &access, iteration_space).map_err(text)
    }

    /// Returns whether the op accesses fewer elements than the tensor has.
    ///
    /// # Panics
    /// If the iteration space has fewer dimensions than the access.
    #[must_use]
    pub fn is_partial(&self, iteration_space: &[i64]) -> bool {
        let touched = self.dims.iter().map(|dim| dim.map_or(1, |dim| iteration_space[dim]));
        touched.zip(&self.tensor.shape).any(|(touched, &size)| touched < size)
    }

    /// Returns the device dimension whose position an index tensor determines; `None` unless the tensor is a table.
    ///
    /// # Errors
    /// If the table has no layout, or not that of a table; if a view of it begins after its first row.
    pub fn find_indexed_dim(&self, iteration_space: &[i64]) -> Result<Option<usize>, String> {
        let AccessKind::Table(dim) = self.used_as else { return Ok(None) };
        if self.offsets[dim] != 0 {
            return Err(format!("its rows begin at position {} of the buffer, not at 0", self.offsets[dim]));
        }
        let host = self.tensor.buffer().map_err(|error| error.to_string())?;
        let coordinates = self.coordinates(iteration_space)?;
        let is_fixed = |device_dim: usize| {
            coordinates[device_dim].term.is_none_or(|term| term.max_value(iteration_space) == Ok(0))
        };
        self.layout()?.find_indexed_dim(&host, dim, is_fixed).map(Some).map_err(|error| error.to_string())
    }

    /// Returns whether the access leaves the last stick of the tensor incomplete.
    ///
    /// # Errors
    /// Those of [`Self::coordinates`].
    ///
    /// # Panics
    /// If the iteration space has fewer dimensions than the access.
    pub fn pads_last_stick(&self, iteration_space: &[i64]) -> Result<bool, String> {
        let per_stick = self.layout()?.format().elements_per_stick();
        let along = find_stick_contents(&self.coordinates(iteration_space)?).dim;
        Ok(along.is_some_and(|dim| iteration_space[dim] % per_stick != 0))
    }

    /// Returns the first accessed element, as a position in the element order of the device.
    ///
    /// # Errors
    /// Those of [`Self::coordinates`].
    pub fn find_first_element(&self, iteration_space: &[i64]) -> Result<i64, String> {
        let coordinates = self.coordinates(iteration_space)?;
        let along = coordinates.iter().zip(self.layout()?.device_size());
        Ok(along.fold(0, |first, (coordinate, &size)| first * size + coordinate.offset))
    }
}
