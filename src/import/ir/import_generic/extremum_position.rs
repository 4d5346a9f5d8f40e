//! `spyre-import-linalg`, `argmax` and `argmin` as producers write them: ops with two results, the extremum and its
//! position.

use crate::import::ir::{cast::element_type, generic::GenericImporter};
use crate::{
    codes,
    import::{
        BodyScalar, Combiner, ConstantTensor, NodeElementType, NodeId,
        graph::digit_pair::DigitPair,
        rules::{affine_index::is_nondecreasing, body::ExtremumPosition, digits, fold::MAX_WIDTH},
    },
    mlir::{ErrorReported, OpExt, ScalarType, ValueLike},
};
use machine::ElementType;

impl GenericImporter<'_, '_> {
    /// Returns the smallest of the positions of the extremum, or the largest if the last one counts. The device
    /// represents positions as numbers.
    pub(super) fn import_position(
        &mut self,
        position: ExtremumPosition,
        found: BodyScalar,
        result: usize,
    ) -> Result<NodeId, ErrorReported> {
        let Some(reduction) = self.body.find_reduction(position.extremum_result) else {
            return Ok(self.add_unsupported_result(
                result,
                codes::REDUCTION_FORM
                    .format("expected the position of a maximum or minimum, found the position of another value"),
            ));
        };
        let start =
            self.importer.node_of(self.op, self.space.operands[self.num_inputs + position.extremum_result].0)?;
        let element =
            ScalarType::from_type(element_type(self.op.outputs()[position.extremum_result].r#type())).element_type();
        if element == Some(ElementType::Bool) {
            let message = codes::REDUCTION_FORM.format(
                "expected the position of a maximum or minimum of numbers, found truth values; convert them to numbers",
            );
            return Ok(self.add_unsupported_result(result, message));
        }
        let is_neutral = |number: f64| {
            (number.is_nan() && reduction.ignores_nan) || reduction.combiner.can_start_from(number, element)
        };
        if !self.importer.graph.as_scalar(start).is_some_and(is_neutral) {
            let message = codes::REDUCTION_FORM
                .format("expected a neutral constant as initial value of the maximum or minimum, found another value");
            return Ok(self.add_unsupported_result(result, message));
        }
        let (new, at) = (self.evaluate(reduction.new)?, self.evaluate(found)?);
        let (sizes, is_reduction) = (&self.space.window.sizes, &self.space.is_reduction);
        if !position.is_compared && !is_nondecreasing(&self.importer.graph, at, sizes, is_reduction) {
            let message =
                "expected the position of the maximum or minimum, found another value that is selected along with it";
            return Ok(self.add_unsupported_result(result, codes::REDUCTION_FORM.format(message)));
        }
        self.importer.record_op(self.op);
        let graph = &mut self.importer.graph;
        let (new, at) = match (graph.convert_to_numbers(new), graph.convert_to_numbers(at)) {
            (Ok(new), Ok(at)) => (new, at),
            (Err(rejected), _) | (_, Err(rejected)) => return Ok(rejected),
        };
        let whole = self.broadcast_to_reduced(new);
        let width = ScalarType::from_type(element_type(self.op.outputs()[position.extremum_result].r#type())).width();
        let limit = self.reduce_dims(whole, reduction.combiner, width);
        // Elements other than the extremum get the last possible position, so that even a row of NaN yields a valid
        // position.
        let Some([first, last]) = self.importer.graph.as_constant(at).and_then(find_least_and_largest) else {
            let message = "expected positions that follow from the indices of the op, found integers that are known at runtime only; select \
                           the integers by the position of the extremum";
            return Ok(self.add_unsupported_result(result, codes::REDUCTION_FORM.format(message)));
        };
        let (outside, combiner) = if position.is_last { (first, Combiner::Max) } else { (last, Combiner::Min) };
        let graph = &mut self.importer.graph;
        let is_limit = match graph.apply("arith.cmpf oeq", &[whole, limit], NodeElementType::Bool) {
            Ok(is_limit) => is_limit,
            Err(message) => return Ok(self.add_unsupported_result(result, message)),
        };
        #[expect(clippy::cast_possible_truncation, reason = "positions are far smaller than 2^53")]
        let end = last as i64 + 1;
        let as_digits = digits::needs_digits(graph, end).then(|| digits::split_constant_digits(graph, at)).flatten();
        let found = match as_digits {
            Some(digits) => self.select_first_digits(is_limit, (digits, end), outside, combiner),
            None => self.select_first_position(is_limit, at, outside, combiner),
        };
        match found {
            Ok(found) => self.view_as_result(result, found),
            Err(message) => Ok(self.add_unsupported_result(result, message)),
        }
    }

    /// Returns the first or the last position of the extremum.
    fn select_first_position(
        &mut self,
        is_limit: NodeId,
        at: NodeId,
        outside: f64,
        combiner: Combiner,
    ) -> Result<NodeId, String> {
        let graph = &mut self.importer.graph;
        let (outside, element) = (graph.add_scalar(outside), graph.integers.element());
        let chosen = graph.apply("arith.select", &[is_limit, at, outside], element)?;
        let chosen = self.broadcast_to_reduced(chosen);
        self.importer.graph.record_integers(chosen);
        let found = self.reduce_dims(chosen, combiner, Some(MAX_WIDTH));
        Ok(self.importer.graph.add_integers(found))
    }

    /// Computes the first position from its digits: the first upper digit, then the first lower digit among the
    /// positions with that upper digit.
    fn select_first_digits(
        &mut self,
        is_limit: NodeId,
        (at, end): ([NodeId; 2], i64),
        outside: f64,
        combiner: Combiner,
    ) -> Result<NodeId, String> {
        let graph = &mut self.importer.graph;
        let outside = graph.add_scalar(outside);
        let outside = digits::split_constant_digits(graph, outside).ok_or("has no place")?;
        let element = graph.integers.element();
        let mut chosen = [is_limit; 2];
        for ((chosen, at), outside) in chosen.iter_mut().zip(at).zip(outside) {
            *chosen = graph.apply("arith.select", &[is_limit, at, outside], element)?;
        }
        let [upper, lower] = chosen.map(|chosen| self.broadcast_to_reduced(chosen));
        let first = self.reduce_dims(upper, combiner, Some(MAX_WIDTH));
        let graph = &mut self.importer.graph;
        let is_first = graph.apply("arith.cmpf oeq", &[upper, first], NodeElementType::Bool)?;
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        let elsewhere = graph.add_scalar(if combiner == Combiner::Max { 0.0 } else { digits::RESULT_BASE as f64 });
        let lower = graph.apply("arith.select", &[is_first, lower, elsewhere], element)?;
        let lower = self.reduce_dims(lower, combiner, Some(MAX_WIDTH));
        Ok(self.importer.add_digits(self.op, DigitPair { parts: [first, lower], range: [0, end], exact: None }))
    }
}

/// Returns the least and the largest element of a constant; `None` if it has no elements.
fn find_least_and_largest(constant: &ConstantTensor) -> Option<[f64; 2]> {
    let ends = |found: Option<[f64; 2]>, number: f64| {
        Some(found.map_or([number; 2], |[least, largest]| [least.min(number), largest.max(number)]))
    };
    constant.numbers().fold(None, ends)
}
