//! Ops of a program before loops are chosen, in the format of a certificate.

use super::Violation;
use cost::TileOp;
use serde::{Deserialize, Serialize};

/// Maximum number of ops, of dimensions and operands, and of points of a dimension. Larger programs are rejected.
const MAX_OPS: usize = 1 << 13;
const MAX_DIMS: usize = 16;
const MAX_SIZE: i64 = 1 << 40;

/// Program in a certificate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedProgram {
    /// Ops, in program order.
    pub ops: Vec<CertifiedOp>,
}

/// Op of a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedOp {
    /// Cost description of the complete op, unsplit and in HBM; `None` for an op that may take no time.
    pub priced: Option<TileOp>,
    /// Iteration dimensions.
    pub dims: Vec<CertifiedDim>,
    /// Operands.
    pub inputs: Vec<CertifiedInput>,
    /// For each dimension of the result, the iteration dimension that indexes it.
    pub output: Vec<Option<usize>>,
    /// Whether the result may be in LX.
    pub may_be_in_lx: bool,
    /// Whether the result is an output of the program.
    pub is_result: bool,
}

/// Iteration dimension of an op.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedDim {
    /// Number of points.
    pub size: i64,
    /// Whether a loop may tile the dimension.
    pub may_be_cut: bool,
    /// Granularity of a tile: its size is a multiple of this number of points.
    pub granule: i64,
}

/// Operand of an op.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedInput {
    /// Number of the value.
    pub value: usize,
    /// Op that defines the value; `None` for a value from outside the program.
    pub maker: Option<usize>,
    /// For each dimension of the operand, the iteration dimension that indexes it.
    pub dims: Vec<Option<usize>>,
    /// For each dimension of the operand, the corresponding dimension of the producer's result.
    pub behind: Vec<Option<usize>>,
}

impl CertifiedProgram {
    /// Rejects programs whose numbers are out of range or inconsistent.
    pub(super) fn check(&self) -> Result<(), Violation> {
        if self.ops.len() > MAX_OPS {
            return Err(Violation::ParseError(format!("expected at most {MAX_OPS} ops, found {}", self.ops.len())));
        }
        self.ops
            .iter()
            .enumerate()
            .try_for_each(|(op, found)| found.check(op).map_err(|what| Violation::Op { op, what }))
    }

    /// Returns the op that produces an operand of an op; `None` for an operand from outside the program.
    pub(super) fn producer(&self, op: usize, input: usize) -> Option<usize> {
        self.ops[op].inputs[input].maker
    }
}

impl CertifiedOp {
    fn check(&self, op: usize) -> Result<(), String> {
        let num_dims = self.dims.len();
        if num_dims > MAX_DIMS || self.inputs.len() > MAX_DIMS {
            return Err(format!(
                "expected at most {MAX_DIMS} dimensions and operands, found {num_dims} and {}",
                self.inputs.len()
            ));
        }
        if let Some(dim) =
            self.dims.iter().find(|dim| !(1..=MAX_SIZE).contains(&dim.size) || !(1..=MAX_SIZE).contains(&dim.granule))
        {
            return Err(format!(
                "expected sizes and steps of dimensions from 1 to {MAX_SIZE}, found {} and {}",
                dim.size, dim.granule
            ));
        }
        let indices = self.inputs.iter().flat_map(|input| &input.dims).chain(&self.output).flatten();
        if let Some(dim) = indices.into_iter().find(|dim| **dim >= num_dims) {
            return Err(format!("it has {num_dims} dimensions, and no dimension {dim}"));
        }
        if let Some(maker) = self.inputs.iter().filter_map(|input| input.maker).find(|maker| *maker >= op) {
            return Err(format!("it reads the result of op {maker}, which is not an earlier op"));
        }
        self.priced.as_ref().map_or(Ok(()), |priced| self.check_priced(priced))
    }

    fn check_priced(&self, priced: &TileOp) -> Result<(), String> {
        let num_dims = priced.dims.len();
        let are_same = priced.dims.iter().map(|dim| dim.extent).eq(self.dims.iter().map(|dim| dim.size));
        if !are_same || priced.operands.len() != self.inputs.len() + 1 || !priced.trips.is_empty() {
            return Err("its member 'priced' has other dimensions or operands, or loops".to_owned());
        }
        let points = priced
            .dims
            .iter()
            .try_fold(1_i64, |all, dim| all.checked_mul(dim.extent))
            .filter(|all| *all <= MAX_SIZE * 1024);
        if points.is_none() {
            return Err("its iteration space is too large".to_owned());
        }
        for operand in &priced.operands {
            let named = || operand.moved_by.iter().chain(&operand.stick).chain(&operand.inner);
            if named().any(|dim| *dim >= num_dims)
                || !(0..=MAX_SIZE).contains(&operand.tile_bytes)
                || !(1..=128).contains(&operand.element_bytes)
            {
                return Err(
                    "an operand of its member 'priced' has an unknown dimension, or an invalid number of bytes"
                        .to_owned(),
                );
            }
        }
        Ok(())
    }

    pub(super) fn may_tile(&self, dim: usize) -> bool {
        self.dims[dim].may_be_cut
    }
}
