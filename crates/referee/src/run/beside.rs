//! Companion memory of the device's bytes: an element of another kind for each stored number.
//!
//! Device and companion computations share the addresses, checks and order of one execution; only the computed values differ. An element
//! records the format in which it was written; read in another format it is poison. Integers have no companion elements: the bytes hold
//! their values.

use crate::account::rounding::OpError;
use crate::load::host::HostArray;
use crate::load::layout::DeviceLayout;
use crate::machine::access::Parts;
use crate::machine::{Machine, RegionId};
use crate::ops::Stored;
use crate::plan::Plan;
use element::{Arithmetic, Draw, Exact, Field, FieldElement, Ordered, OrderedElement};
use machine::DeviceFormat;
use std::sync::Arc;

/// Elements that an execution can compute in addition to the device's numbers.
pub trait Companion: Arithmetic {
    /// The element of a number that the program gives, which the device has as `device`.
    fn given(&self, exact: f64, device: f32) -> Self::Element;

    /// Returns the companion of element `index`, row-major, of argument `argument`, if the element is a floating-point number. By default this is
    /// [`Self::given`].
    fn argument(&self, _argument: u64, _index: u64, exact: f64, device: f32) -> Self::Element {
        self.given(exact, device)
    }

    /// Returns the element after a store in a format. By default it is unchanged.
    fn stored(&self, _format: DeviceFormat, element: Self::Element) -> Self::Element {
        element
    }

    /// Notes how far the device's number is from the element.
    fn judge(&self, _element: Self::Element, _device: f32, _error: &mut OpError) {}
}

impl Companion for Exact {
    fn given(&self, exact: f64, _device: f32) -> f64 {
        exact
    }
}

/// Arguments are random.
impl Companion for Field {
    fn given(&self, exact: f64, _device: f32) -> FieldElement {
        self.number(exact)
    }

    fn argument(&self, argument: u64, index: u64, _exact: f64, _device: f32) -> FieldElement {
        self.input(argument, index)
    }
}

/// As [`Field`].
impl Companion for Ordered {
    fn given(&self, exact: f64, _device: f32) -> OrderedElement {
        self.number(exact)
    }

    fn argument(&self, argument: u64, index: u64, _exact: f64, _device: f32) -> OrderedElement {
        self.input(argument, index)
    }
}

/// A tensor with both the device's numbers and companion elements.
pub(crate) struct Given<'g> {
    pub(crate) region: RegionId,
    pub(crate) layout: &'g DeviceLayout,
    /// The program's numbers; where there are none, those that the device's stand for.
    pub(crate) exact: Option<&'g HostArray>,
    /// The number of the argument.
    pub(crate) argument: Option<u64>,
}

/// Companion memory of a machine.
pub(crate) trait Beside {
    /// Executes an op before its `device` results are stored, and compares with them.
    fn execute(&mut self, plan: &Arc<Plan>, parts: &Parts, leaders: &[usize], machine: &Machine, device: &[(usize, Stored<u8>)])
    -> OpError;

    /// Takes up a tensor whose bytes are in the machine.
    fn put(&mut self, given: &Given<'_>, machine: &Machine);

    /// Drops the elements of a dead buffer.
    fn release(&mut self, region: RegionId);

    /// Drops the elements of bytes whose live range has ended.
    fn end_life(&mut self, region: RegionId, start: usize, end: usize);

    /// Whether the device's numbers are not needed.
    fn replaces_numbers(&self) -> bool {
        false
    }
}

/// No companion elements.
impl Beside for () {
    fn execute(&mut self, _: &Arc<Plan>, _: &Parts, _: &[usize], _: &Machine, _: &[(usize, Stored<u8>)]) -> OpError {
        OpError::default()
    }

    fn put(&mut self, _: &Given<'_>, _: &Machine) {}

    fn release(&mut self, _: RegionId) {}

    fn end_life(&mut self, _: RegionId, _: usize, _: usize) {}
}
