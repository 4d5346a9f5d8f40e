//! Eligibility of buffers for LX, and the reasons against it.

use crate::work::CoreSplitConflict;
use scratchpad::PlacementExclusion;

/// Reason why a buffer may not be placed in LX, regardless of room (torch-spyre, August 2026). The first reason in this
/// order is reported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LxIneligibility {
    /// The back end reads or writes LX only for some device functions.
    #[error("the device function '{function}' cannot access LX")]
    FunctionNotAllowed {
        /// Device function of the op that writes the buffer.
        function: String,
    },
    /// Its slices are written in different loops, or by an op that can write to HBM only.
    #[error("it is written in parts")]
    WrittenInParts,
    /// It shares the buffer of a loop's initial value.
    #[error("it shares the buffer of the initial value of a loop")]
    Carried,
    /// An LX address cannot advance with a loop.
    #[error("its address would advance with a loop")]
    Tiled,
    /// A restickify reads it from HBM: the restickify pads the other operand, so that this one ends in a gap, or the
    /// target has `lx_restickify` 0.
    #[error("a restickify that pads sticks, or that the target keeps in HBM, reads it")]
    ReadByRestickify,
    /// A gather reads and writes HBM only (torch-spyre facts, H).
    #[error("a gather writes it, which works from HBM to HBM")]
    Gathered,
    /// Index tensors and the tensors that they index must be in HBM.
    #[error("it is an index tensor, or accessed through one")]
    Indirect,
    /// A result of the graph must be in HBM.
    #[error("it is a result of the graph and has no copy in LX")]
    GraphOutput,
    /// An input of the graph is in HBM.
    #[error("it is an input of the graph and has no copy in LX")]
    GraphInput,
    /// A function result with another shape shares the buffer.
    #[error("a result of the graph is a view of it")]
    ViewedOutput,
    /// A partial read would need an address inside the buffer.
    #[error("an op reads a part of it")]
    PartialRead,
    /// A core can access only its own LX.
    #[error("its users split it over the cores differently: {0}")]
    CoreMismatch(CoreSplitConflict),
    /// LX would save no traffic.
    #[error("no op could read it from LX")]
    NoReader,
}

impl From<LxIneligibility> for PlacementExclusion {
    fn from(ineligible: LxIneligibility) -> Self {
        Self(ineligible.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_reasons_without_full_stop() {
        let reason = LxIneligibility::CoreMismatch(CoreSplitConflict::Shared { user: 1, cores: 32, slices: 8 });
        let expected = "its users split it over the cores differently: use 1 runs on 32 cores, but there are 8 slices";
        assert_eq!(reason.to_string(), expected);
        assert_eq!(PlacementExclusion::from(reason).to_string(), expected);
    }
}
