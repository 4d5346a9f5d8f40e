//! Contents of `bundle.mlir` as plain values: the addresses that it computes and the files that it executes
//! ("SuperDSC schema, section 8").

use super::name::ValueName;

/// One launchable unit: the function of `bundle.mlir`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The maps from loop counters to addresses, by number.
    pub maps: Vec<AddressMap>,
    /// The parameters of the function.
    pub params: Vec<Param>,
    /// Its body, without the final `return`.
    pub body: Vec<Stmt>,
    /// Id of the first symbol of each op, in depth-first order; argument of `sdsc::from_op_spec`.
    pub first_symbol_ids: Vec<i64>,
}

impl Launch {
    /// Returns the first parameter that is a trip count.
    #[must_use]
    pub fn find_count_param(&self) -> Option<Param> {
        fn find_bound_param(body: &[Stmt], params: &[Param]) -> Option<Param> {
            body.iter().find_map(|statement| {
                let Stmt::For { counter: _, bound, body } = statement else { return None };
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

/// A parameter of the function: a value that is known at launch only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The parameter.
    pub name: ValueName,
    /// The value that is extracted from it.
    pub value: ValueName,
    /// The bounds of a symbolic size; none for an address.
    pub bounds: Option<SizeBounds>,
}

/// Bounds of a symbolic size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeBounds {
    /// It is a multiple of this.
    pub granularity: i64,
    /// It is no larger than this.
    pub max: i64,
}

/// A statement of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// Allocates the bundle's pool.
    DeviceMemAllocate {
        /// The address of the pool.
        name: ValueName,
        /// Its size.
        bytes: i64,
    },
    /// Reads the value of a parameter.
    InputArgExtract {
        /// The parameter and the value.
        param: Param,
    },
    /// An integer.
    Constant {
        /// The result.
        name: ValueName,
        /// The integer.
        value: i64,
    },
    /// A sum.
    AddI {
        /// The result.
        name: ValueName,
        /// The left operand.
        lhs: ValueName,
        /// The right operand.
        rhs: ValueName,
    },
    /// An address that moves with loops.
    AffineApply {
        /// The result.
        name: ValueName,
        /// The number of the map.
        map: usize,
        /// The loop counters it depends on.
        counters: Vec<ValueName>,
        /// The address of the first iteration.
        base: ValueName,
    },
    /// Runs an op on its cores.
    Execute(Execute),
    /// Runs a body for every value of a counter from 0 to the bound.
    For {
        /// The counter.
        counter: ValueName,
        /// The count.
        bound: ValueName,
        /// The body.
        body: Vec<Stmt>,
    },
}

/// Runs an op on its cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute {
    /// The depth-first number of the op, which names its file.
    pub op: usize,
    /// The values of the symbols.
    pub operands: Vec<ValueName>,
    /// The id of each operand; none when addresses are baked.
    pub symbol_ids: Option<Vec<i64>>,
}

impl Execute {
    /// The file that describes the op.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("sdsc_{}.json", self.op)
    }
}
