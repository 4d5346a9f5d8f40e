//! `spyre-import-linalg`, emission: restricts integer arguments to ranges in which the device is exact.

use crate::{
    codes,
    dialect::ods::attr,
    import::{
        NodeId, NodeKind,
        ir::{emit::GraphEmitter, importer::ExternalTensor},
        rules::range::{self, FormatLimits, RangeViolation},
    },
    mlir::{
        ErrorReported, Location, Op, OpExt, ScalarType, TensorType, ValueExt, ValueLike, error_at, i64_array_attribute,
        set_argument_attribute, string, warning_at,
    },
};
use std::collections::BTreeSet;

impl<'c> GraphEmitter<'_, 'c> {
    /// Restricts integers that ops compute with to a range in which the device is exact.
    pub(super) fn choose_ranges(&self, needed: &[NodeId]) -> Result<(), ErrorReported> {
        let limits = if self.half.is_some() { range::HALF_LIMITS } else { range::SINGLE_LIMITS };
        let element = |number: usize| match self.importer.sources.get(number) {
            Some(ExternalTensor::Value(value)) => {
                TensorType::from_type(value.r#type()).map(|tensor| ScalarType::from_type(tensor.element))
            }
            _ => None,
        };
        let of_type = |number: usize| match element(number) {
            Some(ScalarType::Integer(width @ 2..32)) => [-(1_i64 << (width - 1)), 1_i64 << (width - 1)],
            _ => [i64::MIN, i64::MAX],
        };
        let given = |number: usize| self.graph.integers.promised_range(number).unwrap_or_else(|| of_type(number));
        let open = self.collect_checkable_asserts(limits);
        let asserted: Vec<NodeId> = open.iter().map(|(condition, ..)| *condition).collect();
        let mut ranges = range::compute_ranges(self.graph, needed, &asserted, limits, given).map_err(|unbounded| match unbounded {
            RangeViolation::Node(id) => {
                let what = if self.graph.integers.contains(id) { "integers beyond" } else { "numbers of integers beyond" };
                let limit = if self.graph.integers.contains(id) { limits.exact } else { limits.largest };
                let message = codes::INTEGER_RANGE.format(format_args!(
                    "computes {what} {limit:.0}, the largest that the device \
                 computes exactly; bound arguments with 'spyre.range'"
                ));
                error_at(codes::INTEGER_RANGE, self.function, message).with_location(self.location(id)).report()
            }
            RangeViolation::LowerBound(id) => {
                let code = if self.graph.integers.lower_bound(id) == Some(1) { codes::INTEGER_DIVISOR } else { codes::INTEGER_SIGN };
                let message = match self.graph.integers.lower_bound(id) {
                    Some(1) => "requires a positive integer divisor, found one that may be 0 or negative; apply 'arith.maxsi' with 1 to it",
                    _ => {
                        "requires nonnegative integers for unsigned arithmetic, found integers that may be negative; bound \
                     arguments with 'spyre.range'"
                    }
                };
                error_at(code, self.function, message).with_location(self.location(id)).report()
            }
            RangeViolation::Width(id, width) => {
                let advice = match width {
                    ..64 => "compute with more bits",
                    _ => "bound arguments with 'spyre.range', or use smaller constants",
                };
                let message = codes::INTEGER_WIDTH
                    .format(format_args!("expected integers that stay within {width} bits, found a value that may overflow; {advice}"));
                error_at(codes::INTEGER_RANGE, self.function, message).with_location(self.location(id)).report()
            }
            RangeViolation::RoundedConstant(id) => {
                let message = format!(
                    "compares runtime integers with {:.0}, which the device's format cannot represent; compare with a neighboring number",
                    limits.exact + 1.0
                );
                error_at(codes::INTEGER_RANGE, self.function, message).with_location(self.location(id)).report()
            }
            RangeViolation::Assertion(position) => {
                let (_, op, location) = open[position];
                let message = if op.is("cf.assert") {
                    "asserts a condition that contradicts the other assertions on the arguments; remove one of them"
                } else {
                    "indexes a table with integers that may be out of bounds; bound the argument with 'spyre.range'"
                };
                error_at(codes::INTEGER_RANGE, op, message).with_location(location).report()
            }
        })?;
        // No op reads integers that select the same element for all positions, but they still select one of the rows.
        let source =
            |&id: &NodeId| if let NodeKind::Tensor(number) = self.graph.node(id).kind { Some(number) } else { None };
        let read: BTreeSet<usize> = needed.iter().filter_map(source).collect();
        for (number, _) in self.graph.iter_index_tensors().filter(|(number, _)| read.contains(number)) {
            if let (Some(ExternalTensor::Value(value)), Some(ScalarType::Integer(8))) =
                (self.importer.sources.get(number), element(number))
            {
                let message = format!(
                    "expected row indices of i32 or i64, found an argument of {} that selects rows of a table; give the argument one of \
                     these types",
                    value.r#type()
                );
                return Err(error_at(codes::INTEGER_WIDTH, self.function, message).report());
            }
        }
        // A lookup covers the integers from 0 on. It restricts them also if it became a constant that no op reads.
        let unread = self
            .graph
            .iter_index_tensors()
            .map(|(number, rows)| (number, [0, rows]))
            .chain(self.graph.iter_lookup_ranges());
        for (number, covered) in unread.filter(|(number, _)| !read.contains(number)) {
            let range = ranges.entry(number).or_insert_with(|| given(number));
            *range = [range[0].max(covered[0]), range[1].min(covered[1])];
        }
        for (number, range) in ranges {
            if let Some(ExternalTensor::Value(value)) = self.importer.sources.get(number)
                && !matches!(element(number), Some(ScalarType::Integer(8 | 32 | 64)))
            {
                let message = codes::INTEGER_WIDTH.format(format_args!(
                    "expected runtime integers of i8, i32 or i64, found {}; convert them before the export",
                    value.r#type()
                ));
                return Err(error_at(codes::INTEGER_RANGE, self.function, message).report());
            }
            let range = match element(number) {
                Some(ScalarType::Integer(8)) => [range[0].max(i8::MIN.into()), range[1].min(i64::from(i8::MAX) + 1)],
                _ => range,
            };
            let argument = match self.importer.sources[number] {
                ExternalTensor::Value(value) => {
                    value.as_block_arg().filter(|_| value.def().is_none()).map(|(_, position)| position)
                }
                ExternalTensor::Weights(..) => None,
            };
            if let Some(position) = argument {
                set_argument_attribute(
                    self.function,
                    position,
                    attr::SPYRE_RANGE,
                    i64_array_attribute(self.context, &range),
                );
            }
        }
        Ok(())
    }

    /// Returns the assertions that do not hold for every index, without those of the program (`cf.assert`) that no
    /// range of integers makes true. The latter get a warning: the device cannot stop a program, so the caller must
    /// ensure them.
    fn collect_checkable_asserts(&self, limits: FormatLimits) -> Vec<(NodeId, Op<'c>, Location<'c>)> {
        let open: Vec<_> = self.importer.iter_open_asserts().collect();
        let conditions: Vec<NodeId> = open.iter().map(|(condition, ..)| *condition).collect();
        let (unmet, mut kept) = (range::find_unsatisfiable_asserts(self.graph, &conditions, limits), Vec::new());
        for (position, (condition, op, location)) in open.into_iter().enumerate() {
            if op.is("cf.assert") && unmet.binary_search(&position).is_ok() {
                let text = op.attr("msg").and_then(string).unwrap_or_default();
                let message = format!(
                    "is not checked, because the device cannot stop a program; results are undefined where \"{text}\" fails"
                );
                warning_at(codes::ASSERTION_UNCHECKED, op, message).with_location(location).emit();
            } else {
                kept.push((condition, op, location));
            }
        }
        kept
    }
}
