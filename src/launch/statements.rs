//! Contents of `bundle.mlir` as plain values: the addresses that it computes and the files that it executes ("SuperDSC
//! schema, section 8").

use super::name::ValueName;

/// Launch: the function of `bundle.mlir`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Maps from loop counters to addresses, by number.
    pub maps: Vec<AddressMap>,
    /// Parameters of the function.
    pub params: Vec<Param>,
    /// Body of the function, without the final `return`.
    pub body: Vec<Stmt>,
    /// Id of the first symbol of each op, in depth-first order; argument of `sdsc::from_op_spec`.
    pub first_symbol_ids: Vec<i64>,
}

impl Launch {
    /// Returns the first parameter that bounds a loop.
    #[must_use]
    pub fn find_loop_size(&self) -> Option<Param> {
        fn find_bound_param(body: &[Stmt], params: &[Param]) -> Option<Param> {
            body.iter().find_map(|statement| {
                let Stmt::For { counter: _, bound, step: _, body } = statement else { return None };
                params.iter().find(|param| param.value == *bound).copied().or_else(|| find_bound_param(body, params))
            })
        }
        find_bound_param(&self.body, &self.params)
    }
}

/// `(d0, d1, ...)[s0] -> (s0 + strides[0] * d0 + strides[1] * d1 + ...)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddressMap {
    /// Bytes per iteration of each loop that moves the address, outermost first.
    pub strides: Vec<i64>,
}

/// Parameter of the function: a value that is known at launch only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name of the parameter.
    pub name: ValueName,
    /// Name of the value that is extracted from it.
    pub value: ValueName,
    /// Bounds of a symbolic size; `None` for an address.
    pub bounds: Option<SizeBounds>,
}

/// Bounds of a symbolic size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeBounds {
    /// Number of which the size is a multiple.
    pub granularity: i64,
    /// Maximum size.
    pub max: i64,
}

/// Statement of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// Allocates the bundle's pool.
    DeviceMemAllocate {
        /// Address of the pool.
        name: ValueName,
        /// Size in bytes.
        bytes: i64,
    },
    /// Reads the value of a parameter.
    InputArgExtract {
        /// Parameter and extracted value.
        param: Param,
    },
    /// Defines an integer constant.
    Constant {
        /// Result.
        name: ValueName,
        /// Integer.
        value: i64,
    },
    /// Adds two numbers.
    AddI {
        /// Result.
        name: ValueName,
        /// Left operand.
        lhs: ValueName,
        /// Right operand.
        rhs: ValueName,
    },
    /// Computes an address that moves with loops.
    AffineApply {
        /// Result.
        name: ValueName,
        /// Number of the map.
        map: usize,
        /// Loop counters that the address depends on.
        counters: Vec<ValueName>,
        /// Address in the first iteration.
        base: ValueName,
    },
    /// Runs an op on its cores.
    Execute(Execute),
    /// Repeats a body for every multiple of the step from 0 to the bound, which is excluded.
    For {
        /// Counter.
        counter: ValueName,
        /// Bound: a constant trip count, or a symbolic size.
        bound: ValueName,
        /// Step: 1, or the positions of a tile if the bound is a symbolic size.
        step: ValueName,
        /// Body of the loop.
        body: Vec<Stmt>,
    },
}

/// Runs an op on its cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute {
    /// Depth-first number of the op, which names its file.
    pub op: usize,
    /// Values of the symbols.
    pub operands: Vec<ValueName>,
    /// Id of each operand; `None` if addresses are baked.
    pub symbol_ids: Option<Vec<i64>>,
}

impl Execute {
    /// Returns the name of the file that describes the op.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("sdsc_{}.json", self.op)
    }
}
