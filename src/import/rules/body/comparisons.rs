//! Evaluation of comparisons in a body, and of their logical combinations, with numbers in place of the compared
//! scalars.
//!
//! Producers express in many ways which of two elements comes first or is larger, and how a NaN is handled. A truth
//! value made only of comparisons of a few scalars is determined by the order of these scalars, so evaluation covers
//! all of these ways.

use super::{BodyScalar, GenericBody, ScalarOp};
use std::cmp::Ordering;

/// Evaluates operation `last` of a body for given numbers; returns None if it depends on anything but comparisons of
/// these scalars.
pub(in crate::import::rules) fn evaluate_condition(
    body: &GenericBody,
    last: usize,
    number_of: impl Fn(BodyScalar) -> Option<f64>,
) -> Option<bool> {
    let mut truths: Vec<Option<bool>> = Vec::with_capacity(last + 1);
    for ScalarOp { name, operands } in body.ops.iter().take(last + 1) {
        let truth = |operand: BodyScalar| {
            if let BodyScalar::Op(op) = operand { truths.get(op).copied().flatten() } else { None }
        };
        let found = match operands.as_slice() {
            &[one, other] => match name.as_str() {
                "arith.andi" => truth(one).zip(truth(other)).map(|(one, other)| one & other),
                "arith.ori" => truth(one).zip(truth(other)).map(|(one, other)| one | other),
                _ => {
                    number_of(one).zip(number_of(other)).and_then(|(one, other)| evaluate_comparison(name, one, other))
                }
            },
            _ => None,
        };
        truths.push(found);
    }
    truths.get(last).copied().flatten()
}

/// Evaluates a comparison of two numbers.
fn evaluate_comparison(name: &str, one: f64, other: f64) -> Option<bool> {
    let (kind, predicate) = name.split_once(' ')?;
    let found = one.partial_cmp(&other);
    let is = |asked: &[Ordering]| found.is_some_and(|found| asked.contains(&found));
    let (less, equal, greater) = (Ordering::Less, Ordering::Equal, Ordering::Greater);
    let of_relation = |relation: &str| {
        Some(match relation {
            "eq" => is(&[equal]),
            "ne" => is(&[less, greater]),
            "lt" => is(&[less]),
            "le" => is(&[less, equal]),
            "gt" => is(&[greater]),
            "ge" => is(&[greater, equal]),
            _ => return None,
        })
    };
    match (kind, predicate) {
        ("arith.cmpi", "eq" | "ne") => of_relation(predicate),
        ("arith.cmpi", _) => of_relation(predicate.strip_prefix('s')?),
        ("arith.cmpf", "ord") => Some(found.is_some()),
        ("arith.cmpf", "uno") => Some(found.is_none()),
        ("arith.cmpf", _) => match predicate.split_at_checked(1)? {
            ("o", "ne") => Some(is(&[less, greater])),
            ("o", relation) => of_relation(relation),
            ("u", relation) => Some(of_relation(relation)? || found.is_none()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate_ops(ops: &[(&str, [BodyScalar; 2])], numbers: [f64; 2]) -> Option<bool> {
        let op = |(name, operands): &(&str, [BodyScalar; 2])| ScalarOp {
            name: (*name).to_owned(),
            operands: operands.to_vec(),
        };
        let body = GenericBody { ops: ops.iter().map(op).collect(), yields: Vec::new() };
        evaluate_condition(&body, ops.len() - 1, |scalar| {
            if let BodyScalar::Input(input) = scalar { numbers.get(input).copied() } else { None }
        })
    }

    #[test]
    fn evaluates_ordered_and_unordered_comparisons() {
        let both = [BodyScalar::Input(0), BodyScalar::Input(1)];
        let truths = |name| {
            [[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [f64::NAN, 1.0]].map(|numbers| evaluate_ops(&[(name, both)], numbers))
        };
        assert_eq!(truths("arith.cmpf ogt"), [false, true, false, false].map(Some));
        assert_eq!(truths("arith.cmpf ugt"), [false, true, false, true].map(Some));
        assert_eq!(truths("arith.cmpf one"), [true, true, false, false].map(Some));
        assert_eq!(truths("arith.cmpf une"), [true, true, false, true].map(Some));
        assert_eq!(truths("arith.cmpf uno"), [false, false, false, true].map(Some));
        assert_eq!(truths("arith.cmpi ult"), [None; 4]);
        assert_eq!(truths("arith.addf"), [None; 4]);
    }

    #[test]
    fn visits_shared_truth_values_once() {
        let both = [BodyScalar::Input(0), BodyScalar::Input(1)];
        let mut ops = vec![("arith.cmpf olt", both)];
        ops.extend((0..60).map(|op| ("arith.ori", [BodyScalar::Op(op), BodyScalar::Op(op)])));
        assert_eq!(evaluate_ops(&ops, [1.0, 2.0]), Some(true));
        assert_eq!(evaluate_ops(&[("arith.cmpf olt", [BodyScalar::Input(0), BodyScalar::Unknown])], [1.0, 2.0]), None);
    }
}
