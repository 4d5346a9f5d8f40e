//! Passes of stage `tile`, and the IR helpers that they share.

mod build_loops;
pub(crate) mod coarse_tile;
pub(crate) mod combination;
pub(crate) mod fuse_online_reductions;
pub(crate) mod insert_loop_copies;
pub(crate) mod items;
mod merge_loops;
pub(crate) mod online_steps;
mod scalar_constant;
pub(crate) mod write_in_place;

use crate::{
    dialect::DeviceTensor,
    mlir::{Op, OpExt, Type},
};
use program::layout::LayoutError;

/// Returns the type of a window of a tensor as a buffer of its own; types without a layout stay unchanged.
fn compact_type<'c>(at: Op<'c>, full: Type<'c>, window: Type<'c>) -> Result<Type<'c>, LayoutError> {
    let (Some(whole), Some(tile)) = (DeviceTensor::from_type(full), DeviceTensor::from_type(window)) else {
        return Ok(window);
    };
    let Some(layout) = &whole.layout else { return Ok(window) };
    let layout = layout.to_tile_layout(&whole.buffer_tensor()?, &tile.host.shape)?;
    Ok(tile.with_layout(at.ctx(), &layout, None))
}
