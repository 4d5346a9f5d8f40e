//! Companion memory of the device's bytes: an element of another kind for each stored number.
//!
//! Device and companion computations share the addresses, checks and order of one execution; only the computed values
//! differ. An element records the format in which it was written; a read in another format yields poison. Integers have
//! no companion elements: the bytes hold their values.

use crate::account::rounding::OpRoundingError;
use crate::load::host::HostArray;
use crate::load::layout::DeviceLayout;
use crate::machine::access::TensorSlices;
use crate::machine::{Machine, RegionId};
use crate::ops::EncodedSlice;
use crate::plan::OpPlan;
use element::{Arithmetic, F64Arithmetic, FieldElement, FiniteField, OrderedElement, OrderedField, RandomArithmetic};
use machine::DeviceFormat;
use std::sync::Arc;

/// Elements that an execution can compute in addition to the device's numbers.
pub trait ShadowArithmetic: Arithmetic {
    /// Returns the element of a program's number; `device` is the same number on the device.
    fn embed_value(&self, exact: f64, device: f32) -> Self::Element;

    /// Returns the companion of element `index`, row-major, of argument `argument`, if the element is a floating-point
    /// number. By default this is [`Self::embed_value`].
    fn embed_argument(&self, _argument: u64, _index: u64, exact: f64, device: f32) -> Self::Element {
        self.embed_value(exact, device)
    }

    /// Returns the element as a store in a format leaves it. By default it is unchanged.
    fn round_for_store(&self, _format: DeviceFormat, element: Self::Element) -> Self::Element {
        element
    }

    /// Records the difference between the device's number and the element.
    fn record_error(&self, _element: Self::Element, _device: f32, _error: &mut OpRoundingError) {}
}

impl ShadowArithmetic for F64Arithmetic {
    fn embed_value(&self, exact: f64, _device: f32) -> f64 {
        exact
    }
}

/// Draws arguments at random.
impl ShadowArithmetic for FiniteField {
    fn embed_value(&self, exact: f64, _device: f32) -> FieldElement {
        self.constant(exact)
    }

    fn embed_argument(&self, argument: u64, index: u64, _exact: f64, _device: f32) -> FieldElement {
        self.random_input(argument, index)
    }
}

/// Draws arguments at random, as [`FiniteField`] does.
impl ShadowArithmetic for OrderedField {
    fn embed_value(&self, exact: f64, _device: f32) -> OrderedElement {
        self.constant(exact)
    }

    fn embed_argument(&self, argument: u64, index: u64, _exact: f64, _device: f32) -> OrderedElement {
        self.random_input(argument, index)
    }
}

/// An input tensor with both device's numbers and companion elements.
pub(crate) struct ShadowInput<'g> {
    pub(crate) region: RegionId,
    pub(crate) layout: &'g DeviceLayout,
    /// Program's numbers; if `None`, they are derived from the device's.
    pub(crate) exact: Option<&'g HostArray>,
    /// Number of the argument.
    pub(crate) argument: Option<u64>,
}

/// Companion memory of a machine.
pub(crate) trait ShadowMemory {
    /// Executes an op before its `device` results are stored, and compares the results with them.
    fn execute_op(
        &mut self,
        plan: &Arc<OpPlan>,
        parts: &TensorSlices,
        leaders: &[usize],
        machine: &Machine,
        device: &[(usize, EncodedSlice<u8>)],
    ) -> OpRoundingError;

    /// Stores the elements of an input whose bytes are in the machine.
    fn store_input(&mut self, given: &ShadowInput<'_>, machine: &Machine);

    /// Drops the elements of a dead buffer.
    fn release_region(&mut self, region: RegionId);

    /// Drops the elements of bytes whose live range has ended.
    fn end_live_range(&mut self, region: RegionId, start: usize, end: usize);

    /// Returns whether the device's numbers are not needed.
    fn replaces_numbers(&self) -> bool {
        false
    }
}

/// Companion memory without elements.
impl ShadowMemory for () {
    fn execute_op(
        &mut self,
        _: &Arc<OpPlan>,
        _: &TensorSlices,
        _: &[usize],
        _: &Machine,
        _: &[(usize, EncodedSlice<u8>)],
    ) -> OpRoundingError {
        OpRoundingError::default()
    }

    fn store_input(&mut self, _: &ShadowInput<'_>, _: &Machine) {}

    fn release_region(&mut self, _: RegionId) {}

    fn end_live_range(&mut self, _: RegionId, _: usize, _: usize) {}
}
