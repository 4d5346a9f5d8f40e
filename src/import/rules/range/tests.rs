use super::super::quotients::build_division;
use super::*;

fn add_integers(graph: &mut ValueGraph, number: usize) -> NodeId {
    let tensor = graph.add_tensor(number, vec![2, 77], NodeElementType::Int);
    graph.convert_to_numbers(tensor).unwrap()
}

fn infer_ranges(graph: &ValueGraph, root: NodeId) -> Result<BTreeMap<usize, [i64; 2]>, RangeViolation> {
    compute_ranges(graph, &graph.collect_required(&[root], |_| false), &[], HALF_LIMITS, |number| {
        graph.integers.promised_range(number).unwrap_or([i64::MIN, i64::MAX])
    })
}

#[test]
fn restricts_divisor_to_positive_integers() {
    let mut graph = ValueGraph::default();
    let (x, y) = (add_integers(&mut graph, 0), add_integers(&mut graph, 1));
    let rest = build_division(&mut graph, "arith.remsi", &[x, y], NodeElementType::F32).unwrap().unwrap();
    let of_y = infer_ranges(&graph, rest).unwrap()[&1];
    assert_eq!((of_y[0], of_y[1] > 100), (1, true), "{of_y:?}");
    graph.integers.record_promised_range(1, [0, 8]);
    assert_eq!(infer_ranges(&graph, rest), Err(RangeViolation::LowerBound(y)), "the caller promised other integers");
}

#[test]
fn restricts_selected_divisor_to_positive_integers() {
    let mut graph = ValueGraph::default();
    let (x, y) = (add_integers(&mut graph, 0), add_integers(&mut graph, 1));
    let (zero, one) = (graph.add_scalar(0.0), graph.add_scalar(1.0));
    let is_zero = graph.add_pointwise("equal", &[x, zero], NodeElementType::Bool);
    let chosen = graph.add_pointwise("where3", &[is_zero, one, y], NodeElementType::F32);
    let rest = build_division(&mut graph, "arith.remsi", &[x, chosen], NodeElementType::F32).unwrap().unwrap();
    let ranges = infer_ranges(&graph, rest).unwrap();
    assert_eq!((ranges[&0][0] < 1, ranges[&1][0]), (true, 1), "a condition is no value: {ranges:?}");
}

#[test]
fn restricts_mask_to_0_and_1() {
    let mut graph = ValueGraph::default();
    let mask = add_integers(&mut graph, 0);
    let (one, low) = (graph.add_scalar(1.0), graph.add_scalar(-3.4e38));
    let open = graph.apply("arith.subf", &[one, mask], NodeElementType::F32).unwrap();
    let bias = graph.apply("arith.mulf", &[open, low], NodeElementType::F32).unwrap();
    assert_eq!(infer_ranges(&graph, bias), Ok(BTreeMap::from([(0, [0, 2])])));
}

#[test]
fn bounds_selected_value_by_condition() {
    let mut graph = ValueGraph::default();
    let x = graph.add_tensor(0, vec![4, 8], NodeElementType::F16);
    let floor = graph.add_pointwise("floor", &[x], NodeElementType::F16);
    let (zero, width) = (graph.add_scalar(0.0), graph.add_scalar(20.0));
    let [above, below] = [("greaterequal", zero), ("lesserthan", width)]
        .map(|(name, bound)| graph.add_pointwise(name, &[floor, bound], NodeElementType::Bool));
    let both = graph.add_pointwise("mul", &[above, below], NodeElementType::Bool);
    let integer = graph.apply("math.trunc", &[floor], NodeElementType::F16).unwrap();
    let mut next = |condition: NodeId| {
        let chosen = graph.add_pointwise("where3", &[condition, integer, zero], NodeElementType::F16);
        let next = graph.add_pointwise("add", &[chosen, width], NodeElementType::F16);
        graph.record_integers(next);
        (next, chosen)
    };
    let ((bounded, chosen), (open, _)) = (next(both), next(above));
    let mut bounds = IntervalAnalysis::new(&graph, HALF_LIMITS);
    let of = |interval: Option<ValueInterval>| interval.map(|found| [found.first, found.last]);
    assert_eq!(of(bounds.interval(chosen)), Some([0.0, 19.0]), "a whole number below 20");
    assert_eq!(of(bounds.interval(bounded)), Some([20.0, 39.0]));
    assert_eq!(infer_ranges(&graph, bounded), Ok(BTreeMap::new()));
    assert_eq!(infer_ranges(&graph, open), Err(RangeViolation::Node(open)), "bounded on one side only");
}

#[test]
fn allows_full_exact_range_for_compared_integers() {
    let mut graph = ValueGraph::default();
    let length = add_integers(&mut graph, 3);
    let zero = graph.add_scalar(0.0);
    let compared = graph.add_pointwise("greaterthan", &[length, zero], NodeElementType::Bool);
    assert_eq!(infer_ranges(&graph, compared), Ok(BTreeMap::from([(3, [-1024, 1025])])));
    graph.integers.record_promised_range(3, [0, 5000]);
    assert_eq!(infer_ranges(&graph, compared), Err(RangeViolation::Node(length)));
}

#[test]
fn skips_wrap_of_nonnegative_index() {
    let mut graph = ValueGraph::default();
    let index = add_integers(&mut graph, 0);
    graph.integers.record_promised_range(0, [0, 64]);
    let (zero, rows) = (graph.add_scalar(0.0), graph.add_scalar(64.0));
    let is_negative = graph.add_pointwise("lesserthan", &[index, zero], NodeElementType::Bool);
    let wrapped = graph.add_pointwise("add", &[index, rows], NodeElementType::F32);
    let chosen = graph.add_pointwise("where3", &[is_negative, wrapped, index], NodeElementType::F32);
    let fits = graph.add_pointwise("lesserthan", &[chosen, rows], NodeElementType::Bool);
    let of = |asserted: &[NodeId]| {
        compute_ranges(&graph, &graph.collect_required(&[chosen], |_| false), asserted, HALF_LIMITS, |_| [0, 64])
    };
    assert_eq!(of(&[fits]), Ok(BTreeMap::from([(0, [0, 64])])));
    assert_eq!(of(&[is_negative]), Err(RangeViolation::Assertion(0)));
    assert_eq!(find_unsatisfiable_asserts(&graph, &[fits, is_negative], HALF_LIMITS), [1]);
}

#[test]
fn shares_exact_range_among_summands() {
    let mut graph = ValueGraph::default();
    let (a, b) = (add_integers(&mut graph, 0), add_integers(&mut graph, 1));
    let sum = graph.add_pointwise("add", &[a, b], NodeElementType::F32);
    graph.record_integers(sum);
    assert_eq!(infer_ranges(&graph, sum), Ok(BTreeMap::from([(0, [-513, 514]), (1, [-511, 512])])));
}

#[test]
fn proves_wrapped_index_in_bounds() {
    let mut graph = ValueGraph::default();
    let index = add_integers(&mut graph, 0);
    graph.integers.record_promised_range(0, [-64, 64]);
    let (zero, rows) = (graph.add_scalar(0.0), graph.add_scalar(64.0));
    let is_negative = graph.add_pointwise("lesserthan", &[index, zero], NodeElementType::Bool);
    let wrapped = graph.add_pointwise("add", &[index, rows], NodeElementType::F32);
    let chosen = graph.add_pointwise("where3", &[is_negative, wrapped, index], NodeElementType::F32);
    let fits = graph.add_pointwise("lesserthan", &[chosen, rows], NodeElementType::Bool);
    let is_row = graph.add_pointwise("greaterequal", &[chosen, zero], NodeElementType::Bool);
    let of = |first: i64| {
        compute_ranges(&graph, &graph.collect_required(&[chosen], |_| false), &[fits, is_row], HALF_LIMITS, |_| {
            [first, 64]
        })
    };
    assert_eq!(of(-64), Ok(BTreeMap::from([(0, [-64, 64])])));
}

#[test]
fn bounds_selected_integers_by_superset() {
    let mut graph = ValueGraph::default();
    let ids = add_integers(&mut graph, 0);
    graph.integers.record_promised_range(0, [0, 1000]);
    let [largest, smallest] = ["max", "min"].map(|function| graph.reduce(function, ids, 1));
    let one = graph.add_pointwise("add", &[largest, smallest], NodeElementType::F32);
    graph.record_integers(one);
    assert_eq!(infer_ranges(&graph, one), Err(RangeViolation::Node(one)), "999 and 999");
    graph.record_superset(one, ids);
    assert_eq!(infer_ranges(&graph, one), Ok(BTreeMap::from([(0, [0, 1000])])));
}

#[test]
fn keeps_sums_within_exact_range() {
    let mut graph = ValueGraph::default();
    let mask = add_integers(&mut graph, 0);
    let sum = graph.reduce("sum", mask, 1);
    graph.record_integers(sum);
    assert_eq!(infer_ranges(&graph, sum), Ok(BTreeMap::from([(0, [-13, 14])])), "77 times 13 is below 1024");
    let double = graph.add_pointwise("add", &[sum, sum], NodeElementType::F32);
    let many = graph.add_pointwise("mul", &[double, double], NodeElementType::F32);
    graph.record_integers(many);
    assert_eq!(infer_ranges(&graph, many), Err(RangeViolation::Node(many)));
}

#[test]
fn checks_nodes_again_only_if_ranges_affect_them() {
    let mut graph = ValueGraph::default();
    let (integers, one) = (add_integers(&mut graph, 0), graph.add_scalar(1.0));
    let mut real = graph.add_tensor(1, vec![2, 77], NodeElementType::F16);
    for _ in 0..50 {
        real = graph.add_pointwise("exp", &[real], NodeElementType::F16);
    }
    let next = graph.add_pointwise("add", &[integers, one], NodeElementType::F16);
    let needed = graph.collect_required(&[real, next], |_| false);
    let mut constraints =
        RangeConstraints { bounds: IntervalAnalysis::new(&graph, HALF_LIMITS), needed, asserted: &[] };
    let range = |end: i64| BTreeMap::from([(0, [0, end])]);
    assert_eq!(constraints.check(range(2)), Ok(()));
    assert_eq!(constraints.needed, [integers, next], "the other nodes have no integers");
    assert_eq!(constraints.check(range(1000)), Ok(()));
    assert_eq!(constraints.check(range(10_000)), Err(RangeViolation::Node(integers)));
    assert_eq!(constraints.check(range(1000)), Ok(()), "an earlier violation has no effect");
}
