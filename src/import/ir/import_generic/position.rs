//! `spyre-import-linalg`, `argmax` and `argmin` as producers write them: ops with two results, the extremum and its position.

use crate::import::ir::{cast::element_type, generic::Generic};
use crate::{
    codes,
    import::{
        Combiner, Element, NodeId, Scalar,
        graph::digits::Digits,
        rules::{body::Position, digits, fold::MAX_WIDTH, known_index::counts_upwards},
    },
    mlir::{OpExt, Reported, ScalarType, ValueLike},
};
use machine::ElementType;

impl Generic<'_, '_> {
    /// Returns the smallest of the positions of the extremum, or the largest if the last one counts. The device represents positions as
    /// numbers.
    pub(super) fn import_position(&mut self, position: Position, found: Scalar, result: usize) -> Result<NodeId, Reported> {
        let Some(reduction) = self.body.reduction(position.of) else {
            return Ok(self.refused_result(
                result,
                codes::REDUCTION_FORM.says("expected the position of a maximum or minimum, found the position of another value"),
            ));
        };
        let start = self.importer.node_of(self.op, self.space.operands[self.n_inputs + position.of].0)?;
        let element = ScalarType::of(element_type(self.op.outputs()[position.of].r#type())).element();
        if element == Some(ElementType::Truth) {
            let message = codes::REDUCTION_FORM
                .says("expected the position of a maximum or minimum of numbers, found truth values; convert them to numbers");
            return Ok(self.refused_result(result, message));
        }
        let is_neutral = |number: f64| (number.is_nan() && reduction.ignores_nan) || reduction.combiner.can_start_from(number, element);
        if !self.importer.graph.number_of(start).is_some_and(is_neutral) {
            let message =
                codes::REDUCTION_FORM.says("expected a neutral constant as initial value of the maximum or minimum, found another value");
            return Ok(self.refused_result(result, message));
        }
        let (new, at) = (self.evaluate(reduction.new)?, self.evaluate(found)?);
        let (sizes, is_reduction) = (&self.space.window.sizes, &self.space.is_reduction);
        if !position.is_compared && !counts_upwards(&self.importer.graph, at, sizes, is_reduction) {
            let message = "expected the position of the maximum or minimum, found another value that is selected along with it";
            return Ok(self.refused_result(result, codes::REDUCTION_FORM.says(message)));
        }
        self.importer.note_place(self.op.loc());
        let graph = &mut self.importer.graph;
        let (new, at) = match (graph.numbers_of(new), graph.numbers_of(at)) {
            (Ok(new), Ok(at)) => (new, at),
            (Err(refused), _) | (_, Err(refused)) => return Ok(refused),
        };
        let whole = self.over_reduced(new);
        let width = ScalarType::of(element_type(self.op.outputs()[position.of].r#type())).width();
        let limit = self.reduced(whole, reduction.combiner, width);
        let reduced =
            (0..self.space.window.sizes.len()).filter(|&dim| self.space.is_reduction[dim]).map(|dim| self.space.window.sizes[dim]);
        #[allow(clippy::cast_precision_loss, reason = "an iteration space is far smaller than 2^53")]
        // Elements other than the extremum get the last possible position, so that even a row of NaN yields a valid position.
        let last = reduced.product::<i64>() as f64 - 1.0;
        let (outside, combiner) = if position.is_last { (0.0, Combiner::Max) } else { (last, Combiner::Min) };
        let graph = &mut self.importer.graph;
        let is_limit = match graph.apply("arith.cmpf oeq", &[whole, limit], Element::Bool) {
            Ok(is_limit) => is_limit,
            Err(message) => return Ok(self.refused_result(result, message)),
        };
        #[allow(clippy::cast_possible_truncation, reason = "an iteration space is far smaller than 2^53")]
        let end = last as i64 + 1;
        let as_digits = digits::are_needed(graph, end).then(|| digits::known_digits(graph, at)).flatten();
        let found = match as_digits {
            Some(digits) => self.first_digits(is_limit, (digits, end), outside, combiner),
            None => self.first_place(is_limit, at, outside, combiner),
        };
        match found {
            Ok(found) => self.shown_as_result(result, found),
            Err(message) => Ok(self.refused_result(result, message)),
        }
    }

    /// Returns the first or the last position of the extremum.
    fn first_place(&mut self, is_limit: NodeId, at: NodeId, outside: f64, combiner: Combiner) -> Result<NodeId, String> {
        let graph = &mut self.importer.graph;
        let (outside, element) = (graph.number(outside), graph.integers.element());
        let chosen = graph.apply("arith.select", &[is_limit, at, outside], element)?;
        let chosen = self.over_reduced(chosen);
        self.importer.graph.note_integers(chosen);
        let found = self.reduced(chosen, combiner, Some(MAX_WIDTH));
        Ok(self.importer.graph.as_integers(found))
    }

    /// Computes the first position from its digits: the first upper digit, then the first lower digit among the
    /// positions with that upper digit.
    fn first_digits(
        &mut self,
        is_limit: NodeId,
        (at, end): ([NodeId; 2], i64),
        outside: f64,
        combiner: Combiner,
    ) -> Result<NodeId, String> {
        let graph = &mut self.importer.graph;
        let outside = graph.number(outside);
        let outside = digits::known_digits(graph, outside).ok_or("has no place")?;
        let element = graph.integers.element();
        let mut chosen = [is_limit; 2];
        for ((chosen, at), outside) in chosen.iter_mut().zip(at).zip(outside) {
            *chosen = graph.apply("arith.select", &[is_limit, at, outside], element)?;
        }
        let [upper, lower] = chosen.map(|chosen| self.over_reduced(chosen));
        let first = self.reduced(upper, combiner, Some(MAX_WIDTH));
        let graph = &mut self.importer.graph;
        let is_first = graph.apply("arith.cmpf oeq", &[upper, first], Element::Bool)?;
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        let elsewhere = graph.number(if combiner == Combiner::Max { 0.0 } else { digits::RESULT_BASE as f64 });
        let lower = graph.apply("arith.select", &[is_first, lower, elsewhere], element)?;
        let lower = self.reduced(lower, combiner, Some(MAX_WIDTH));
        Ok(self.importer.as_digits(self.op, Digits { parts: [first, lower], range: [0, end], exact: None }))
    }
}
