//! Companion memory of the device's bytes: an element of another kind for each stored number.
//!
//! Device and companion computations share the addresses, checks and order of one execution; only the computed values
//! differ. An element records the format in which it was written; read in another format it is poison. Integers have no
//! companion elements: the bytes hold their values.

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
    /// The element of a number that the program gives, which the device has as `device`.
    fn embed_value(&self, exact: f64, device: f32) -> Self::Element;

    /// Returns the companion of element `index`, row-major, of argument `argument`, if the element is a floating-point
    /// number. By default this is [`Self::embed_value`].
    fn embed_argument(&self, _argument: u64, _index: u64, exact: f64, device: f32) -> Self::Element {
        self.embed_value(exact, device)
    }

    /// Returns the element after a store in a format. By default it is unchanged.
    fn round_for_store(&self, _format: DeviceFormat, element: Self::Element) -> Self::Element {
        element
    }

    /// Notes how far the device's number is from the element.
    fn record_error(&self, _element: Self::Element, _device: f32, _error: &mut OpRoundingError) {}
}

impl ShadowArithmetic for F64Arithmetic {
    fn embed_value(&self, exact: f64, _device: f32) -> f64 {
        exact
    }
}

/// Arguments are random.
impl ShadowArithmetic for FiniteField {
    fn embed_value(&self, exact: f64, _device: f32) -> FieldElement {
        self.constant(exact)
    }

    fn embed_argument(&self, argument: u64, index: u64, _exact: f64, _device: f32) -> FieldElement {
        self.random_input(argument, index)
    }
}

/// As [`Field`].
impl ShadowArithmetic for OrderedField {
    fn embed_value(&self, exact: f64, _device: f32) -> OrderedElement {
        self.constant(exact)
    }

    fn embed_argument(&self, argument: u64, index: u64, _exact: f64, _device: f32) -> OrderedElement {
        self.random_input(argument, index)
    }
}

/// A tensor with both the device's numbers and companion elements.
pub(crate) struct ShadowInput<'g> {
    pub(crate) region: RegionId,
    pub(crate) layout: &'g DeviceLayout,
    /// The program's numbers; where there are none, those that the device's stand for.
    pub(crate) exact: Option<&'g HostArray>,
    /// The number of the argument.
    pub(crate) argument: Option<u64>,
}

/// Companion memory of a machine.
pub(crate) trait ShadowMemory {
    /// Executes an op before its `device` results are stored, and compares with them.
    fn execute_op(
        &mut self,
        plan: &Arc<OpPlan>,
        parts: &TensorSlices,
        leaders: &[usize],
        machine: &Machine,
        device: &[(usize, EncodedSlice<u8>)],
    ) -> OpRoundingError;

    /// Takes up a tensor whose bytes are in the machine.
    fn store_input(&mut self, given: &ShadowInput<'_>, machine: &Machine);

    /// Drops the elements of a dead buffer.
    fn release_region(&mut self, region: RegionId);

    /// Drops the elements of bytes whose live range has ended.
    fn end_live_range(&mut self, region: RegionId, start: usize, end: usize);

    /// Whether the device's numbers are not needed.
    fn replaces_numbers(&self) -> bool {
        false
    }
}

/// No companion elements.
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
