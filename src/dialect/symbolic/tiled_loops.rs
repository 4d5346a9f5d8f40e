//! Loops that tile a dimension of symbolic size: the size determines how often they run.

use super::{FIXED_SIZE_ADVICE, SymbolicSize, SymbolicSizes, TiledSize};
use crate::dialect::base_buffer::tiled_operand;
use crate::dialect::ods::{attr, spyre};
use crate::dialect::{declared_maxima, loop_carried_values, tiled_dims};
use crate::{
    codes,
    mlir::{ErrorReported, Op, OpExt, Value, error_at, integer, shape_of, string},
};
use program::dim_names::{BufferFactor, NamedFactor, collect_dim_factors};
use std::collections::BTreeMap;

impl<'c> SymbolicSizes<'c> {
    /// Propagates through a loop. If it tiles a symbolic dimension, the tiles have one size, and the symbolic size
    /// determines the trip count.
    pub(super) fn visit_loop(&mut self, around: Op<'c>) -> Result<(), ErrorReported> {
        let (inputs, arguments) = (around.inputs(), around.body_args());
        let tiled = tiled_dims(around);
        if let Some((name, tile)) = self.find_tiled_size(around, &inputs, &tiled)? {
            self.loops.push((around, name, tile));
        } else if let Some(symbol) = around.attr(attr::SYMBOL).and_then(string) {
            let message = format!(
                "repeats '{symbol}' times for tiles of no argument; tile a dimension of an argument, or give --bind {symbol}=NUMBER"
            );
            return Err(error_at(codes::SYMBOLIC_SIZE, around, message).report());
        }
        for (position, (input, argument)) in inputs.iter().zip(&arguments).enumerate() {
            let parts = self.resize_factors(*input, tiled.get(position).copied(), None, *argument);
            self.record_buffer(*argument, parts);
        }
        self.visit_block(around)?;
        let size = self.tiled_size(around).map(|TiledSize { size, .. }| size.clone());
        let Some(terminator) = around.body_ops().pop() else { return Ok(()) };
        let yielded = terminator.inputs();
        let given = tiled_dims(terminator);
        // A carried value has the sizes of the value that the previous iteration yields: the body is visited again.
        let carried = loop_carried_values(around);
        if carried
            .iter()
            .any(|carried| self.find_factors(carried.argument).is_none() && self.find_factors(carried.after).is_some())
        {
            carried
                .iter()
                .for_each(|carried| self.record_buffer(carried.argument, self.collect_factors(carried.after)));
            self.visit_block(around)?;
        }
        for (position, (value, output)) in yielded.iter().zip(around.outputs()).enumerate() {
            let tiled = given.get(position).copied();
            if let (Some(size), Some(dim)) = (&size, tiled) {
                let found = dim_length(output, dim);
                if found != size.maximum {
                    let message = format!(
                        "joins tiles of '{}' to {found} positions, expected the maximum {}; {FIXED_SIZE_ADVICE}",
                        size.name, size.maximum
                    );
                    return Err(error_at(codes::SYMBOLIC_SIZE, around, message).report());
                }
            }
            let parts = self.resize_factors(*value, tiled, size.as_ref(), output);
            self.record_buffer(output, parts);
        }
        Ok(())
    }

    /// Returns the symbolic size of the dimension that a loop tiles, and the positions of a tile. Sizes of different
    /// operands must be equal.
    fn find_tiled_size(
        &mut self,
        around: Op<'c>,
        inputs: &[Value<'c>],
        tiled: &[usize],
    ) -> Result<Option<(String, i64)>, ErrorReported> {
        let (mut found, mut known) = (None, Vec::new());
        for (&input, &dim) in inputs.iter().zip(tiled) {
            let claims = self.find_factors(input).map(|seen| seen.walk.dims[dim].clone()).unwrap_or_default();
            let Some(claim) = claims.first() else { continue };
            let name = self.representative(&claim.name).to_owned();
            let Some(size) = self.find_size(&name) else { continue };
            let length = dim_length(input, dim);
            let tile = check_tile(around, length, claims.len(), size)?;
            self.add_symbolic_size(around, 0, &mut known, claim.clone())?;
            found = found.or(Some((name, tile)));
        }
        Ok(found)
    }

    /// Returns the factors of `to`, which is `from` with another size along `dim`: a symbolic size, or a fixed one.
    fn resize_factors(
        &self,
        from: Value<'c>,
        dim: Option<usize>,
        size: Option<&SymbolicSize>,
        to: Value<'c>,
    ) -> Vec<BufferFactor> {
        let Some(cut) = dim else { return self.collect_factors(from) };
        let (from_shape, to_shape) = (shape_of(from), shape_of(to));
        let no_claims = vec![Vec::new(); from_shape.len()];
        let claims = self.find_factors(from).map_or(&no_claims, |seen| &seen.walk.dims);
        let along = |(dim, (claims, &length)): (usize, (&Vec<NamedFactor>, &i64))| match size {
            Some(size) if dim == cut => vec![BufferFactor::with_name(&size.name, to_shape[dim])],
            None if dim == cut => vec![BufferFactor::from_size(to_shape[dim])],
            _ => collect_dim_factors(claims, length),
        };
        claims.iter().zip(&from_shape).enumerate().flat_map(along).collect()
    }

    /// Declares the sizes of dimensions whose number of tiles is symbolic: a launch chooses a multiple of a tile.
    pub(super) fn declare_counted_dims(
        &mut self,
        function: Op<'c>,
        counted: Vec<CountedDim>,
    ) -> Result<(), ErrorReported> {
        let mut names: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let arguments = function.body_args();
        for CountedDim { argument, dim, size } in counted {
            match self.find_size(&size.name) {
                Some(known) if *known != size => {
                    let message = format!(
                        "expected one dimension of '{}', found tiles of {} of {} positions, and of {} of {}; use two names",
                        size.name, known.granularity, known.maximum, size.granularity, size.maximum
                    );
                    return Err(error_at(codes::SYMBOLIC_DECLARATION, function, message).report());
                }
                Some(_) => {}
                None => {
                    self.same.push(self.sizes.len());
                    self.sizes.push(size.clone());
                }
            }
            let labels = self.labels(arguments[argument]);
            names.entry(argument).or_insert(labels)[dim] = size.name;
        }
        for (argument, names) in names {
            let value = arguments[argument];
            let shape = shape_of(value);
            let factor = |(name, &size): (&String, &i64)| match name.as_str() {
                "" => BufferFactor::from_size(size),
                name => BufferFactor::with_name(name, size),
            };
            self.record_buffer(value, names.iter().zip(&shape).map(factor).collect());
        }
        Ok(())
    }
}

/// Returns the positions of a tile of a dimension that a loop tiles. The dimension must have the symbolic size alone, of
/// which every value is a whole number of tiles.
fn check_tile(around: Op<'_>, length: i64, num_claims: usize, size: &SymbolicSize) -> Result<i64, ErrorReported> {
    let SymbolicSize { name, maximum, granularity } = size;
    let count = around.required_attr("count", integer);
    let tile = length / count.max(1);
    let reject = |message: String| Err(error_at(codes::SYMBOLIC_SIZE, around, message).report());
    if num_claims != 1 || length != *maximum {
        return reject(format!(
            "tiles a dimension that merges symbolic dimension '{name}' with others; {FIXED_SIZE_ADVICE}"
        ));
    }
    if tile * count != length || granularity % tile.max(1) != 0 {
        return reject(format!(
            "has {count} tiles of {tile} positions of symbolic dimension '{name}', a multiple of {granularity}; expected \
             tiles whose size divides {granularity}, such as {} tiles",
            maximum / granularity
        ));
    }
    Ok(tile)
}

/// Dimension of an argument that loops with a symbolic trip count tile.
pub(super) struct CountedDim {
    argument: usize,
    dim: usize,
    size: SymbolicSize,
}

/// Returns the dimensions of arguments that the loops of a function tile with a symbolic trip count.
pub(super) fn find_counted_dims(function: Op<'_>) -> Result<Vec<CountedDim>, ErrorReported> {
    let (arguments, declared) = (function.body_args(), declared_maxima(function));
    let mut found = Vec::new();
    for around in function.nested().into_iter().filter(|op| op.is(spyre::LOOP)) {
        let Some(symbol) = around.attr(attr::SYMBOL).and_then(string) else { continue };
        let count = around.required_attr("count", integer);
        if declared.get(symbol) != Some(&count) {
            let found = declared.get(symbol).map_or_else(|| "none".to_owned(), i64::to_string);
            let message = format!(
                "expected the maximum {count} of '{symbol}' in 'spyre.symbols' of the function, as many as tiles, found {found}; \
                 correct the declaration"
            );
            return Err(error_at(codes::SYMBOLIC_DECLARATION, around, message).report());
        }
        let tiled = tiled_dims(around);
        for (input, &dim) in around.inputs().into_iter().zip(&tiled) {
            let buffer = outermost_buffer(input);
            let Some(argument) = arguments.iter().position(|argument| *argument == buffer) else { continue };
            let maximum = dim_length(buffer, dim);
            if dim_length(input, dim) != maximum {
                let message = format!("repeats '{symbol}' times for tiles of a tile; give --bind {symbol}=NUMBER");
                return Err(error_at(codes::SYMBOLIC_SIZE, around, message).report());
            }
            let size = SymbolicSize { name: symbol.to_owned(), maximum, granularity: maximum / count.max(1) };
            found.push(CountedDim { argument, dim, size });
        }
    }
    Ok(found)
}

/// Returns the length of a dimension of a tensor; 0 for other values.
fn dim_length(value: Value<'_>, dim: usize) -> i64 {
    shape_of(value).get(dim).copied().unwrap_or_default()
}

/// Returns the value outside of all loops of which a value is a tile.
fn outermost_buffer(mut value: Value<'_>) -> Value<'_> {
    while let Some(input) = tiled_operand(value) {
        value = input;
    }
    value
}
