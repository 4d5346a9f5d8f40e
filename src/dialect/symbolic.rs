//! Symbolic sizes: which dimensions of ops and values have a size that is fixed at launch.
//!
//! `spyre.symbolic` marks the dimensions of arguments with a symbolic size; `spyre.granularities` on the function has
//! the number that each size is a multiple of. Types have the maximum sizes. All other symbolic dimensions are derived
//! from these attributes, in any phase after the import. Sizes propagate through views, ops and loops, as names do
//! (`crate::write_hint`). Results below the size must not depend on elements beyond it, so ops that reduce a symbolic
//! dimension, and views that split it, are rejected.

mod tiled_loops;

use super::{ComputeOp, views::view_indices};
use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    mlir::{
        ErrorReported, Op, OpExt, TensorType, Value, ValueLike, ValueMap, argument_attribute, dictionary_entries,
        error_at, integer, integers, string_array, strings,
    },
};
use machine::Family;
use program::dim_names::{BufferFactor, BufferIndexMap, DimNameMap, NamedFactor, collect_dim_factors};
use std::{collections::BTreeMap, rc::Rc};
use tiled_loops::find_counted_dims;

/// Advice at the end of an error message about a symbolic size.
const FIXED_SIZE_ADVICE: &str = "give one size with '--dim-size NAME=SIZE'";

/// Symbolic sizes of a value: the factors of its buffer, and the elements that the value views.
struct SymbolicFactors {
    /// Factors of its buffer, in storage order; symbolic ones have a name.
    parts: Rc<Vec<BufferFactor>>,
    /// Elements of the buffer that the value views.
    viewed: BufferIndexMap,
    walk: DimNameMap,
}

/// Size that is fixed at launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicSize {
    /// Name of the size.
    pub name: String,
    /// Maximum size.
    pub maximum: i64,
    /// Number that the size is a multiple of.
    pub granularity: i64,
}

/// Symbolic size and its name in the files, where two sizes that must be equal share one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSize {
    /// Symbolic size.
    pub size: SymbolicSize,
    /// Name in the files.
    pub name: String,
}

/// Symbolic sizes of a function, and the dimensions that have them.
pub struct SymbolicSizes<'c> {
    /// Sizes in the order of the arguments that declare them.
    sizes: Vec<SymbolicSize>,
    /// Number of the first size that each size must be equal to.
    same: Vec<usize>,
    values: ValueMap<Option<SymbolicFactors>>,
    ops: Vec<(ComputeOp<'c>, Vec<Vec<NamedFactor>>)>,
    /// Loops that tile a dimension of symbolic size, each with the name of the size and the positions of a tile.
    loops: Vec<(Op<'c>, String, i64)>,
}

/// Symbolic size of the dimension that a loop tiles.
pub struct TiledSize<'a> {
    /// Size.
    pub size: &'a SymbolicSize,
    /// Positions of a tile.
    pub tile: i64,
}

/// Writes `symbolic` on the ops of the functions in a module, or of a function, that declare symbolic sizes.
///
/// # Errors
/// An op that cannot have a symbolic size where it has one.
pub fn mark_symbolic(around: Op<'_>) -> Result<(), ErrorReported> {
    let functions = if around.is("func.func") { vec![around] } else { around.body_ops() };
    for function in functions.into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        SymbolicSizes::derive_and_mark(function)?;
    }
    Ok(())
}

impl<'c> SymbolicSizes<'c> {
    /// Returns the symbolic sizes of a function; `None` if it declares none.
    ///
    /// # Errors
    /// An op, a view or a loop that cannot have a symbolic size where it has one.
    pub fn from_function(function: Op<'c>) -> Result<Option<Self>, ErrorReported> {
        let declared = function.attr(attr::SPYRE_GRANULARITIES).and_then(dictionary_entries);
        let counted = find_counted_dims(function)?;
        if declared.is_none() && counted.is_empty() {
            return Ok(None);
        }
        let granularities: BTreeMap<&str, i64> =
            declared.into_iter().flatten().filter_map(|(name, number)| Some((name, integer(number)?))).collect();
        let mut found = Self {
            sizes: Vec::new(),
            same: Vec::new(),
            values: ValueMap::default(),
            ops: Vec::new(),
            loops: Vec::new(),
        };
        for (number, argument) in function.body_args().into_iter().enumerate() {
            found.read_argument(function, number, argument, &granularities)?;
        }
        found.declare_counted_dims(function, counted)?;
        found.visit_block(function)?;
        for (number, result) in function.yielded().into_iter().enumerate() {
            let is_mixed = |label: &&String| !label.is_empty() && found.find_size(label).is_none();
            if let Some((dim, label)) = found.labels(result).iter().enumerate().find(|(_, label)| is_mixed(label)) {
                let message = format!(
                    "expected a symbolic size as a dimension of its own, found the product '{label}' in dimension {dim} of result {number}"
                );
                return Err(
                    error_at(codes::SYMBOLIC_SIZE, function, format_args!("{message}; {FIXED_SIZE_ADVICE}")).report()
                );
            }
        }
        Ok(Some(found))
    }

    /// Returns the symbolic sizes of a function, and writes them on its ops as `symbolic`; returns `None` if it
    /// declares none.
    ///
    /// # Errors
    /// As [`SymbolicSizes::from_function`].
    pub fn derive_and_mark(function: Op<'c>) -> Result<Option<Self>, ErrorReported> {
        let sizes = Self::from_function(function)?;
        sizes.iter().for_each(Self::mark);
        Ok(sizes)
    }

    /// Returns the sizes without duplicates of equal ones.
    pub fn sizes(&self) -> impl Iterator<Item = &SymbolicSize> {
        self.same.iter().enumerate().filter(|(size, first)| size == *first).map(|(size, _)| &self.sizes[size])
    }

    /// Returns all sizes with their names in the files.
    pub fn named_sizes(&self) -> Vec<NamedSize> {
        let name =
            |size: &SymbolicSize| NamedSize { name: self.representative(&size.name).to_owned(), size: size.clone() };
        self.sizes.iter().map(name).collect()
    }

    /// Returns the name of the symbolic size of each dimension of a value, empty if it has none; a product for merged
    /// dimensions.
    #[must_use]
    pub fn labels(&self, value: Value<'c>) -> Vec<String> {
        let Some(shape) = TensorType::from_type(value.r#type()).map(|tensor| tensor.shape) else { return Vec::new() };
        let Some(seen) = self.find_factors(value) else { return vec![String::new(); shape.len()] };
        seen.walk.dims.iter().zip(&shape).map(|(claims, &size)| self.format_label(claims, size)).collect()
    }

    /// Returns the symbolic size of the dimension that a loop tiles, if any.
    #[must_use]
    pub fn tiled_size(&self, around: Op<'c>) -> Option<TiledSize<'_>> {
        let (_, name, tile) = self.loops.iter().find(|(known, ..)| *known == around)?;
        Some(TiledSize { size: self.find_size(self.representative(name))?, tile: *tile })
    }

    /// Returns the size with that name.
    fn find_size(&self, name: &str) -> Option<&SymbolicSize> {
        self.sizes.iter().find(|size| size.name == name)
    }

    fn mark(&self) {
        for (compute, claims) in &self.ops {
            let space = compute.iteration_space();
            let labels: Vec<String> =
                claims.iter().zip(&space).map(|(claims, &size)| self.format_label(claims, size)).collect();
            if labels.iter().any(|label| !label.is_empty()) {
                compute.op.set_attr(attr::SPYRE_SYMBOLIC, string_array(compute.op.ctx(), &labels));
            } else {
                compute.op.remove_attr(attr::SPYRE_SYMBOLIC);
            }
        }
    }

    fn format_label(&self, claims: &[NamedFactor], size: i64) -> String {
        if claims.is_empty() {
            return String::new();
        }
        let name = |part: BufferFactor| {
            part.name.map_or_else(|| part.size.to_string(), |name| self.representative(&name).to_owned())
        };
        collect_dim_factors(claims, size).into_iter().map(name).collect::<Vec<_>>().join("*")
    }

    /// Returns the name of the first size that must be equal to the size `name`.
    fn representative<'a>(&'a self, name: &'a str) -> &'a str {
        let position = self.sizes.iter().position(|size| size.name == name);
        position.map_or(name, |position| &self.sizes[self.same[position]].name)
    }

    fn read_argument(
        &mut self,
        function: Op<'c>,
        number: usize,
        argument: Value<'c>,
        granularities: &BTreeMap<&str, i64>,
    ) -> Result<(), ErrorReported> {
        let Some(names) = argument_attribute(function, number, attr::SPYRE_SYMBOLIC).and_then(strings) else {
            return Ok(());
        };
        let reject = |message: String| {
            Err(error_at(codes::SYMBOLIC_DECLARATION, function, format_args!("argument {number}: {message}")).report())
        };
        let Some(shape) = TensorType::from_type(argument.r#type())
            .map(|tensor| tensor.shape)
            .filter(|shape| shape.len() == names.len())
        else {
            return reject("expected one entry of 'spyre.symbolic' per dimension".to_owned());
        };
        for (name, &maximum) in names.iter().zip(&shape).filter(|(name, _)| !name.is_empty()) {
            let Some(&granularity) = granularities.get(name) else {
                return reject(format!("expected '{name}' in 'spyre.granularities' of the function; declare it"));
            };
            match self.find_size(name) {
                Some(known) if known.maximum != maximum => {
                    return reject(format!(
                        "expected one maximum of '{name}', found {maximum} and {}; give both dimensions the same maximum, or different \
                         names",
                        known.maximum
                    ));
                }
                Some(_) => {}
                None => {
                    self.same.push(self.sizes.len());
                    self.sizes.push(SymbolicSize { name: (*name).to_owned(), maximum, granularity });
                }
            }
        }
        self.record_buffer(
            argument,
            names.iter().zip(&shape).map(|(name, &size)| BufferFactor::with_name(name, size)).collect(),
        );
        Ok(())
    }

    /// Records a value as a complete buffer with these factors, in storage order.
    fn record_buffer(&mut self, value: Value<'c>, parts: Vec<BufferFactor>) {
        let shape = TensorType::from_type(value.r#type()).map(|tensor| tensor.shape).unwrap_or_default();
        let viewed = BufferIndexMap::from_buffer_shape(&shape).filter(|_| parts.iter().any(BufferFactor::is_named));
        let seen =
            viewed.map(|viewed| SymbolicFactors { walk: viewed.map_names(&parts), parts: Rc::new(parts), viewed });
        self.values.insert(value, seen);
    }

    fn find_factors(&self, value: Value<'c>) -> Option<&SymbolicFactors> {
        self.values.get(value).and_then(Option::as_ref)
    }

    fn visit_block(&mut self, around: Op<'c>) -> Result<(), ErrorReported> {
        for op in around.body_ops() {
            if op.is(spyre::VIEW) {
                self.visit_view(op)?;
            } else if let Some(compute) = ComputeOp::from_op(op) {
                self.visit_op(compute)?;
            } else if op.is(spyre::LOOP) {
                self.visit_loop(op)?;
            } else if op.is(spyre::HINT) || op.is(spyre::KERNEL) {
                for (input, argument) in op.inputs().into_iter().zip(op.body_args()) {
                    self.record_buffer(argument, self.collect_factors(input));
                }
                self.visit_block(op)?;
                for (yielded, output) in op.yielded().into_iter().zip(op.outputs()) {
                    self.record_buffer(output, self.collect_factors(yielded));
                }
            }
        }
        Ok(())
    }

    /// Returns the factors of all dimensions of a value, in order.
    fn collect_factors(&self, value: Value<'c>) -> Vec<BufferFactor> {
        let shape = TensorType::from_type(value.r#type()).map(|tensor| tensor.shape).unwrap_or_default();
        match self.find_factors(value) {
            Some(seen) => seen
                .walk
                .dims
                .iter()
                .zip(&shape)
                .flat_map(|(claims, &size)| collect_dim_factors(claims, size))
                .collect(),
            None => shape.into_iter().map(BufferFactor::from_size).collect(),
        }
    }

    fn visit_view(&mut self, view: Op<'c>) -> Result<(), ErrorReported> {
        let Some(behind) = self.find_factors(view.inputs()[0]) else { return Ok(()) };
        let shape = TensorType::from_type(view.output().r#type()).map(|tensor| tensor.shape).unwrap_or_default();
        let names = behind.parts.iter().filter_map(|part| part.name.as_ref());
        let viewed =
            behind.viewed.compose(&view_indices(view), &shape).map(|viewed| (viewed.map_names(&behind.parts), viewed));
        let is_kept = |name: &str, walk: &DimNameMap| walk.dims.iter().flatten().any(|claim| claim.name == name);
        let lost = names.clone().find(|name| viewed.as_ref().is_none_or(|(walk, _)| !is_kept(name, walk)));
        if let Some(name) = lost {
            let message = format!("slices or reshapes symbolic dimension '{}'", self.representative(name));
            return Err(error_at(
                codes::SYMBOLIC_SIZE,
                view,
                format_args!("{message}, so its elements depend on the size; {FIXED_SIZE_ADVICE}"),
            )
            .report());
        }
        if let Some((walk, viewed)) = viewed {
            let parts = Rc::clone(&behind.parts);
            self.values.insert(view.output(), Some(SymbolicFactors { parts, viewed, walk }));
        }
        Ok(())
    }

    fn visit_op(&mut self, compute: ComputeOp<'c>) -> Result<(), ErrorReported> {
        let space = compute.iteration_space();
        let reads = compute.read_operands();
        let mut dims: Vec<Vec<NamedFactor>> = vec![Vec::new(); space.len()];
        for (operand, value) in reads.iter().enumerate() {
            let Some(seen) = self.find_factors(*value) else { continue };
            for (claims, moved_by) in seen.walk.dims.clone().into_iter().zip(compute.operand_dims(operand)) {
                for claim in claims {
                    let Some(dim) = moved_by else {
                        let name = self.representative(&claim.name);
                        let message =
                            format!("indexes symbolic dimension '{name}', which is not supported; {FIXED_SIZE_ADVICE}");
                        return Err(error_at(codes::SYMBOLIC_SIZE, compute.op, message).report());
                    };
                    self.add_symbolic_size(compute.op, dim, &mut dims[dim], claim)?;
                }
            }
        }
        self.check_roles(compute, &dims)?;
        if compute.is_insert() {
            self.visit_insert(compute, &dims)?;
        } else {
            let tensor =
                TensorType::from_type(compute.op.output().r#type()).map(|tensor| tensor.shape).unwrap_or_default();
            let moved_by = compute.operand_dims(reads.len());
            let along = |(dim, &size): (&Option<usize>, &i64)| {
                dim.map_or_else(|| vec![BufferFactor::from_size(size)], |dim| collect_dim_factors(&dims[dim], size))
            };
            self.record_buffer(compute.op.output(), moved_by.iter().zip(&tensor).flat_map(along).collect());
        }
        self.ops.push((compute, dims));
        Ok(())
    }

    /// Adds the symbolic size of an operand to an iteration dimension. Two sizes of one dimension must be equal.
    fn add_symbolic_size(
        &mut self,
        op: Op<'c>,
        dim: usize,
        known: &mut Vec<NamedFactor>,
        claim: NamedFactor,
    ) -> Result<(), ErrorReported> {
        let overlaps = |other: &&NamedFactor| {
            claim.divisor < other.divisor * other.size && other.divisor < claim.divisor * claim.size
        };
        let Some(other) = known.iter().find(overlaps) else {
            known.push(claim);
            known.sort_by_key(|claim| -claim.divisor);
            return Ok(());
        };
        let position =
            |name: &str| self.sizes.iter().position(|size| size.name == name).map(|position| self.same[position]);
        let (Some(one), Some(two)) = (position(&other.name), position(&claim.name)) else { return Ok(()) };
        let (first, second) = (one.min(two), one.max(two));
        let is_same_place = (other.divisor, other.size) == (claim.divisor, claim.size);
        if !is_same_place || self.sizes[first].granularity != self.sizes[second].granularity {
            let (first, second) = (&self.sizes[first], &self.sizes[second]);
            let message = format!(
                "uses symbolic sizes '{}' (maximum {}, multiple {}) and '{}' (maximum {}, multiple {}) for iteration dimension {dim}; \
                 declare the same maximum and multiple for both, or give one size with '--dim-size NAME=SIZE'",
                first.name, first.maximum, first.granularity, second.name, second.maximum, second.granularity
            );
            return Err(error_at(codes::SYMBOLIC_SIZE, op, message).report());
        }
        self.same.iter_mut().filter(|same| **same == second).for_each(|same| *same = first);
        Ok(())
    }

    /// Rejects symbolic sizes of reduced dimensions and of the columns of a matmul: both need one fixed size.
    fn check_roles(&self, compute: ComputeOp<'c>, dims: &[Vec<NamedFactor>]) -> Result<(), ErrorReported> {
        let num_outputs = dims.len() - compute.num_reduced_dims();
        let named = |dim: usize| dims[dim].first().map(|claim| self.representative(&claim.name));
        if let Some(name) = (num_outputs..dims.len()).find_map(named) {
            let message = format!(
                "reduces symbolic dimension '{name}', so the result would include elements beyond the size; {FIXED_SIZE_ADVICE}"
            );
            return Err(error_at(codes::SYMBOLIC_SIZE, compute.op, message).report());
        }
        let columns = num_outputs.checked_sub(1).filter(|_| compute.family() == Family::Matmul).and_then(named);
        if let Some(name) = columns {
            let message = format!(
                "has symbolic dimension '{name}' as columns of a matmul, which are stored in sticks; {FIXED_SIZE_ADVICE}"
            );
            return Err(error_at(codes::SYMBOLIC_SIZE, compute.op, message).report());
        }
        Ok(())
    }

    /// Propagates through an insert: the slice must have the symbolic dimensions of the buffer, completely.
    fn visit_insert(&mut self, insert: ComputeOp<'c>, dims: &[Vec<NamedFactor>]) -> Result<(), ErrorReported> {
        let (op, result) = (insert.op, insert.op.output());
        let shape = TensorType::from_type(result.r#type()).map(|tensor| tensor.shape).unwrap_or_default();
        let whole = op.inputs().last().and_then(|whole| self.find_factors(*whole)).map(|seen| seen.walk.dims.clone());
        let mut whole = whole.unwrap_or_else(|| vec![Vec::new(); shape.len()]);
        let (space, offsets) = (insert.iteration_space(), op.required_attr("offsets", integers));
        for dim in (0..shape.len()).filter(|&dim| !dims[dim].is_empty()) {
            if offsets[dim] != 0 || space[dim] != shape[dim] {
                let name = self.representative(&dims[dim][0].name);
                let message =
                    format!("concatenates symbolic dimension '{name}' with other elements along dimension {dim}");
                return Err(error_at(
                    codes::SYMBOLIC_SIZE,
                    op,
                    format_args!("{message}, whose offset depends on the size; {FIXED_SIZE_ADVICE}"),
                )
                .report());
            }
            for claim in &dims[dim] {
                self.add_symbolic_size(op, dim, &mut whole[dim], claim.clone())?;
            }
        }
        self.record_buffer(
            result,
            whole.iter().zip(&shape).flat_map(|(claims, &size)| collect_dim_factors(claims, size)).collect(),
        );
        Ok(())
    }
}
