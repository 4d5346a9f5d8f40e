use super::{segment_edge::MAX_TRAFFIC_SAVING_NESTS, *};
use crate::search::{
    AxisTiling, HoistedCopy, OpCosts, TilingAxis,
    tests::{matmul, pointwise},
};
use std::cell::RefCell;

impl TileSearchStatistics {
    fn ns(&self) -> Option<f64> {
        self.cost.map(|cost| cost.ns)
    }

    fn untiled_ns(&self) -> Option<f64> {
        self.untiled.map(|cost| cost.ns)
    }
}

type EvaluatedSegment = (SegmentKey, Vec<(usize, i64)>);

/// Machine on which an op takes 1 ns per HBM byte, and 10 ns per iteration.
struct ByteCostEvaluator<'a> {
    ops: &'a [SearchedOp],
    lx_bytes: i64,
    /// Ratio of the evaluated time of nests to the estimate.
    surprise: f64,
    /// Evaluated segments: the first op, the number of ops, and the axes with their tile counts.
    asked: RefCell<Vec<EvaluatedSegment>>,
    compiles_untiled: bool,
    /// Additional time of an op outside of loops in a program with loops, ns.
    apart_ns: f64,
    /// Whether nests that are feasible one by one are also feasible together.
    compiles_plans: bool,
}

impl<'a> ByteCostEvaluator<'a> {
    fn new(ops: &'a [SearchedOp], lx_bytes: i64) -> Self {
        Self {
            ops,
            lx_bytes,
            surprise: 1.0,
            asked: RefCell::default(),
            compiles_untiled: true,
            apart_ns: 0.0,
            compiles_plans: true,
        }
    }

    /// Returns the cost of an op outside of loops; it is `apart_ns` higher if the program has loops elsewhere.
    fn outside_cost(&self, op: usize, loops: &[LoopNest]) -> ModeledCost {
        let alone = self.cost(op..op + 1, &[], &[]);
        ModeledCost { ns: alone.ns + if loops.is_empty() { 0.0 } else { self.apart_ns }, ..alone }
    }

    fn cost(&self, range: Range<usize>, axes: &[TilingAxis], nest: &[AxisTiling]) -> ModeledCost {
        let surprise = if nest.is_empty() { 1.0 } else { self.surprise };
        ModeledCost { ns: estimate_cost(self.ops, range, axes, nest, false, self).ns * surprise, hbm_bytes: 0 }
    }
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn to_f64(number: i64) -> f64 {
    number as f64
}

impl OpCosts for ByteCostEvaluator<'_> {
    fn lx_bytes(&self) -> i64 {
        self.lx_bytes
    }

    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> ModeledCost {
        let bytes: i64 =
            self.ops[op].operand_bytes.iter().zip(in_lx).filter(|(_, in_lx)| !**in_lx).map(|(bytes, _)| bytes).sum();
        ModeledCost { ns: to_f64(bytes) + 10.0 * to_f64(cuts.iter().map(|(_, count)| count).product()), hbm_bytes: 0 }
    }

    fn combine_cost(&self, _op: usize, _cuts: &[(usize, i64)]) -> ModeledCost {
        ModeledCost::default()
    }
}

impl CostEvaluator for ByteCostEvaluator<'_> {
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    fn evaluate_untiled(&self) -> Option<Vec<ModeledCost>> {
        let n_ops = self.ops.len();
        let whole = self.cost(0..n_ops, &[], &[]);
        let each = ModeledCost { ns: whole.ns / n_ops as f64, ..whole };
        self.compiles_untiled.then(|| vec![each; n_ops])
    }

    fn evaluate_segment(
        &self,
        segment: Range<usize>,
        axes: &[TilingAxis],
        nest: &[AxisTiling],
        _kept: &[HoistedCopy],
    ) -> Option<Vec<ModeledCost>> {
        self.asked.borrow_mut().push((
            SegmentKey { first: segment.start, n_ops: segment.len() },
            nest.iter().map(|cut| (cut.axis, cut.count)).collect(),
        ));
        let n_ops = segment.len();
        let whole = self.cost(segment, axes, nest);
        Some(vec![ModeledCost { ns: whole.ns / n_ops as f64, ..whole }; n_ops])
    }

    fn evaluate_plan(&self, loops: &[LoopNest]) -> Option<Vec<ModeledCost>> {
        let is_inside = |op: usize| loops.iter().any(|loops| loops.ops.contains(&op));
        let mut by_op: Vec<ModeledCost> = (0..self.ops.len())
            .map(|op| if is_inside(op) { ModeledCost::default() } else { self.outside_cost(op, loops) })
            .collect();
        for loops in loops {
            let axes: Vec<TilingAxis> = loops
                .levels
                .iter()
                .map(|level| TilingAxis { size: 0, dims: level.dims.clone(), ..TilingAxis::default() })
                .collect();
            let nest: Tiling =
                loops.levels.iter().enumerate().map(|(axis, level)| AxisTiling { axis, count: level.count }).collect();
            by_op[loops.ops.start] = self.cost(loops.ops.clone(), &axes, &nest);
        }
        self.compiles_plans.then_some(by_op)
    }
}

/// Returns a chain of elementwise ops on 2 MiB.
fn elementwise_chain(n_ops: usize) -> Vec<SearchedOp> {
    let op = |position: usize| SearchedOp {
        readers: (position + 1 < n_ops).then_some(position + 1).into_iter().collect(),
        read_before: vec![None],
        is_result: position + 1 == n_ops,
        ..pointwise(&[1024, 1024], position.checked_sub(1))
    };
    (0..n_ops).map(op).collect()
}

#[test]
fn tiles_values_that_exceed_lx() {
    let ops = elementwise_chain(4);
    let evaluator = ByteCostEvaluator::new(&ops, 1 << 20);
    let chosen = choose_tilings(&ops, &evaluator, 1000);
    assert_eq!(chosen.loops.len(), 1);
    assert_eq!(
        (chosen.loops[0].ops.clone(), chosen.loops[0].levels.iter().map(|level| level.count).collect()),
        (0..4, vec![2])
    );
    let found = chosen.found.unwrap();
    assert!(found.is_complete && found.ns() < found.untiled_ns() && found.least_ns <= found.ns(), "{found:?}");
}

/// Whole-program plans evaluate all ops each time, so they have a step budget of their own.
#[test]
fn bounds_steps_of_whole_program_plans() {
    let ops = elementwise_chain(40);
    let look = |most_whole_steps: usize| {
        let evaluator = ByteCostEvaluator { surprise: 1.1, ..ByteCostEvaluator::new(&ops, 1 << 20) };
        let mut search = ShortestPathSearch::new(&ops, &evaluator);
        search.max_program_steps = most_whole_steps;
        search.initialize_edges(evaluator.evaluate_untiled().as_deref());
        let mut rounds = SearchState { least_ns: f64::INFINITY, is_complete: true, cost: None, loops: Vec::new() };
        search.run_rounds(3000, &mut rounds);
        assert!(rounds.cost.is_some(), "the plan of the shortest path is judged in any case");
        (search.evaluated_plans.len(), search.program_steps, rounds.is_complete)
    };
    let (num_plans, steps, _) = look(usize::MAX);
    let (num_plans_of_few, few_steps, is_complete) = look(100);
    // An evaluation that begins within the budget completes, and the first plan is always evaluated.
    let last = MAX_TRAFFIC_SAVING_NESTS * (MAX_SEGMENT_OPS + STEPS_PER_EVALUATION) + ops.len() + STEPS_PER_EVALUATION;
    assert!(steps > 100 + last && few_steps <= 100 + last, "{steps} and {few_steps}");
    assert!(num_plans_of_few < num_plans && !is_complete, "{num_plans_of_few} of {num_plans}");
}

/// Two independent ops read the same 2 MiB from outside.
#[test]
fn counts_reused_input_once_where_it_fits() {
    let reader = |before: Option<usize>| SearchedOp {
        values: vec![0],
        read_before: vec![before],
        tiled: crate::tile::TiledOp { output: vec![None, None], ..pointwise(&[1024, 1024], None).tiled },
        ..pointwise(&[1024, 1024], None)
    };
    let ops = vec![reader(None), reader(Some(0))];
    let estimated = |nest: &[AxisTiling], lx_bytes| {
        let rows = TilingAxis { size: 1024, dims: [(0, 0), (1, 0)].into(), ..TilingAxis::default() };
        estimate_cost(&ops, 0..2, &[rows], nest, false, &ByteCostEvaluator::new(&ops, lx_bytes)).ns
    };
    let (value, rows) = (f64::from(1 << 21), |count| [AxisTiling { axis: 0, count }]);
    // Both results go to HBM. The value is read once if it, or an iteration's tile of it, fits into LX.
    assert_eq!(estimated(&[], 1 << 21), 3.0 * value + 20.0);
    assert_eq!(estimated(&[], 1 << 20), 4.0 * value + 20.0);
    assert_eq!(estimated(&rows(2), 1 << 20), 3.0 * value + 40.0);
    assert_eq!(estimated(&rows(2), 1 << 19), 4.0 * value + 40.0);
}

/// A sum has two operands, one of which no loop tiles. That operand is computed before the loop, which reads tiles of
/// it, unless it needs a result of the loop.
#[test]
fn keeps_loop_fused_after_hoisted_op() {
    let estimated = |of_uncut: Option<usize>| {
        let op = |maker: Option<usize>, readers: &[usize]| SearchedOp {
            read_before: vec![None],
            readers: readers.to_vec(),
            is_result: readers.is_empty(),
            ..pointwise(&[1024, 1024], maker)
        };
        let first_readers: &[usize] = if of_uncut.is_some() { &[1, 2] } else { &[2] };
        let (mut sum, beside) = (op(Some(0), &[]), op(of_uncut, &[2]));
        sum.tiled.inputs.push(crate::tile::TiledOperand { producer: Some(1), ..sum.tiled.inputs[0].clone() });
        (sum.read_before, sum.operand_bytes) = (vec![None; 2], vec![1 << 21; 3]);
        let ops = vec![op(None, first_readers), beside, sum];
        let rows = TilingAxis { size: 1024, dims: [(0, 0), (2, 0)].into(), ..TilingAxis::default() };
        estimate_cost(
            &ops,
            0..3,
            &[rows],
            &[AxisTiling { axis: 0, count: 2 }],
            false,
            &ByteCostEvaluator::new(&ops, 1 << 20),
        )
        .ns
    };
    let value = f64::from(1 << 21);
    assert_eq!(estimated(None), 5.0 * value + 50.0, "the loop finds in LX what it makes itself");
    assert_eq!(estimated(Some(0)), 7.0 * value + 50.0, "one loop makes what is read, another one reads");
}

/// The second of two matmuls reads rows that the first one computes, and is tiled along its columns.
#[test]
fn keeps_live_in_resident_if_loops_do_not_tile_it() {
    let first = SearchedOp { values: vec![0, 1], readers: vec![1], ..matmul([512, 256, 128], None) };
    let second = SearchedOp { values: vec![2, 3], read_before: vec![None; 2], ..matmul([512, 256, 256], Some(0)) };
    let ops = vec![first, second];
    let estimated = |dim: usize, keeps: bool, lx_bytes: i64| {
        let axis = TilingAxis { size: 256, dims: [(1, dim)].into(), ..TilingAxis::default() };
        estimate_cost(
            &ops,
            1..2,
            &[axis],
            &[AxisTiling { axis: 0, count: 4 }],
            keeps,
            &ByteCostEvaluator::new(&ops, lx_bytes),
        )
        .ns
    };
    let (columns, rows) = (1, 0);
    // The value is neither written nor read.
    let made = f64::from(2 * 2 * 512 * 256);
    let lx_bytes = 1 << 20;
    assert_eq!(estimated(columns, false, lx_bytes) - estimated(columns, true, lx_bytes), made);
    assert_eq!(estimated(rows, false, lx_bytes), estimated(rows, true, lx_bytes), "the loop cuts it");
    assert_eq!(estimated(columns, false, 1 << 10), estimated(columns, true, 1 << 10), "there is no room");
}

#[test]
fn skips_evaluation_if_all_values_fit() {
    let ops = elementwise_chain(4);
    let evaluator = ByteCostEvaluator::new(&ops, 8 << 20);
    assert_eq!(choose_tilings(&ops, &evaluator, 1000), TileSearchResult::default());
    assert!(evaluator.asked.borrow().is_empty());
}

#[test]
fn skips_evaluation_if_no_dimension_may_be_tiled() {
    let mut ops = elementwise_chain(4);
    ops.iter_mut().for_each(|op| op.may_be_tiled = vec![false; 2]);
    let evaluator = ByteCostEvaluator::new(&ops, 1 << 20);
    assert_eq!(choose_tilings(&ops, &evaluator, 1000), TileSearchResult::default());
}

#[test]
fn keeps_untiled_program_if_plans_are_slower() {
    let ops = elementwise_chain(4);
    let evaluator = ByteCostEvaluator { surprise: 100.0, ..ByteCostEvaluator::new(&ops, 1 << 20) };
    let chosen = choose_tilings(&ops, &evaluator, 1000);
    assert!(chosen.loops.is_empty());
    let found = chosen.found.unwrap();
    assert_eq!(found.cost, found.untiled);
}

#[test]
fn rejects_loops_that_are_infeasible_together() {
    let ops = elementwise_chain(4);
    let evaluator = ByteCostEvaluator { compiles_plans: false, ..ByteCostEvaluator::new(&ops, 1 << 20) };
    let chosen = choose_tilings(&ops, &evaluator, 1000);
    let found = chosen.found.unwrap();
    assert_eq!((chosen.loops, found.cost), (vec![], found.untiled));
}

#[test]
fn bounds_evaluations_by_steps() {
    let ops = elementwise_chain(20);
    for most_steps in [0, 1, 30, 100] {
        let evaluator = ByteCostEvaluator { surprise: 1.05, ..ByteCostEvaluator::new(&ops, 1 << 20) };
        let _ = choose_tilings(&ops, &evaluator, most_steps);
        let steps: usize = evaluator.asked.borrow().iter().map(|(place, _)| place.n_ops + STEPS_PER_EVALUATION).sum();
        // The last evaluation, and the neighbors of the chosen nests, exceed the budget.
        let beside = (1 + 4 * MAX_HILL_CLIMBING_ITERATIONS * ops.len()) * (1 + STEPS_PER_EVALUATION);
        assert!(steps <= most_steps + MAX_SEGMENT_OPS + beside, "{steps} of {most_steps}");
    }
}

#[test]
fn stops_evaluating_when_steps_are_used_up() {
    let ops = elementwise_chain(4);
    let evaluator = ByteCostEvaluator::new(&ops, 1 << 20);
    let untiled = evaluator.evaluate_untiled();
    let begun = || {
        let mut search = ShortestPathSearch::new(&ops, &evaluator);
        search.initialize_edges(untiled.as_deref());
        search
    };
    // Steps until the queue is filled that contains the first evaluated nest.
    let (mut search, mut steps) = (begun(), 0);
    while let Some(SegmentKey { first, n_ops }) =
        search.find_least_certain_edge(ESTIMATE_FACTORS[0]).filter(|&place| search.edge(place).queue.is_none())
    {
        steps += search.edges[first][n_ops - 1].enumerate_candidates(&evaluator);
    }
    let n_evaluated = |most_steps| {
        let is_complete = begun().refine_shortest_path(most_steps);
        (evaluator.asked.take().len(), is_complete)
    };
    assert!(steps > 0);
    assert_eq!((n_evaluated(steps), n_evaluated(steps + 1).0), ((0, false), 1));
}

#[test]
fn evaluates_no_nest_twice() {
    let ops = elementwise_chain(12);
    let evaluator = ByteCostEvaluator { surprise: 1.02, ..ByteCostEvaluator::new(&ops, 1 << 20) };
    let _ = choose_tilings(&ops, &evaluator, 5000);
    let asked = evaluator.asked.into_inner();
    let mut different = asked.clone();
    different.sort();
    different.dedup();
    assert_eq!(asked.len(), different.len());
}

#[test]
fn tiles_program_that_cannot_be_compiled_untiled() {
    let ops = elementwise_chain(3);
    let evaluator = ByteCostEvaluator { compiles_untiled: false, ..ByteCostEvaluator::new(&ops, 1 << 20) };
    let chosen = choose_tilings(&ops, &evaluator, 1000);
    assert_eq!(chosen.loops.len(), 1);
    assert_eq!(chosen.found.unwrap().untiled, None);
}

#[test]
fn leaves_untileable_op_outside_of_required_loops() {
    let mut ops = elementwise_chain(3);
    ops[2].may_be_tiled = vec![false, false];
    let evaluator = ByteCostEvaluator { compiles_untiled: false, ..ByteCostEvaluator::new(&ops, 1 << 20) };
    let chosen = choose_tilings(&ops, &evaluator, 1000);
    assert_eq!((chosen.loops.len(), chosen.loops[0].ops.clone()), (1, 0..2));
    assert!(chosen.found.unwrap().cost.is_some_and(|cost| cost.ns.is_finite()));
}

#[test]
fn reuses_measured_times_of_equal_tilings_as_lower_bounds() {
    let mut ops = elementwise_chain(4);
    ops.iter_mut().for_each(|op| op.may_be_tiled = vec![true, false]);
    let evaluator = ByteCostEvaluator { surprise: 1.5, ..ByteCostEvaluator::new(&ops, 1 << 20) };
    let mut search = ShortestPathSearch::new(&ops, &evaluator);
    let ShortestPathSearch { edges, measured: seen, .. } = &mut search;
    edges[0][3].enumerate_candidates(&evaluator);
    edges[0][3].evaluate_next(&evaluator, seen, ESTIMATE_FACTORS[0]);
    let (cost, nest) = edges[0][3].evaluated[0].clone();
    let edge = &mut edges[1][2];
    edge.enumerate_candidates(&evaluator);
    let first =
        |edge: &SegmentEdge<'_>| edge.queue.as_ref().and_then(|queue| queue.last()).map(|waiting| waiting.nest.clone());
    let (before, estimated) = (first(edge), edge.lower_bound_ns(1.0));
    assert_eq!(before.as_ref(), Some(&nest));
    assert!(edge.update_expected_times(&evaluator, seen) > 0);
    assert_eq!(edge.update_expected_times(&evaluator, seen), 0, "nothing new was seen");
    let expected =
        edge.queue.iter().flatten().find(|waiting| waiting.nest == nest).map(|waiting| waiting.expected_ns).unwrap();
    assert!(expected >= cost.ns * 0.75, "{expected}, and four ops took {}", cost.ns);
    assert_ne!(first(edge), before, "what was seen of no op may be better");
    edge.order_by_estimates();
    assert_eq!(first(edge), before);
    assert!((edge.lower_bound_ns(1.0) - estimated).abs() < 1e-6);
}

#[test]
fn completes_paths_with_best_edges_before_and_after_a_nest() {
    let ops = elementwise_chain(3);
    let evaluator = ByteCostEvaluator::new(&ops, 1 << 20);
    let mut search = ShortestPathSearch::new(&ops, &evaluator);
    for ((first, n_ops), ns) in
        [((0, 1), 10.0), ((1, 1), 10.0), ((2, 1), 10.0), ((1, 2), 25.0), ((0, 2), 5.0), ((0, 3), 9.0)]
    {
        let cost = ModeledCost { ns, hbm_bytes: 0 };
        search.edges[first][n_ops - 1].evaluated.push((cost, vec![AxisTiling { axis: 0, count: 2 }]));
    }
    let paths = [vec![(0, 3)], vec![(0, 2), (2, 1)], vec![(0, 1), (1, 1), (2, 1)], vec![(0, 1), (1, 2)]];
    let plain = |path: Vec<SegmentKey>| path.into_iter().map(|place| (place.first, place.n_ops)).collect::<Vec<_>>();
    assert_eq!(search.find_best_paths().into_iter().map(plain).collect::<Vec<_>>(), paths);
}

/// An op outside of loops takes longer than in the program without loops, because its operand has left LX. The search
/// moves it into the loops.
#[test]
fn updates_costs_of_ops_outside_of_loops() {
    let ops = elementwise_chain(4);
    // The last op takes no longer in a loop than without a loop, except for its iterations.
    let evaluator = |apart_ns| ByteCostEvaluator { apart_ns, ..ByteCostEvaluator::new(&ops, 1 << 20) };
    let outside = vec![ModeledCost { ns: 10.0, hbm_bytes: 0 }; 4];
    let of = |apart_ns: f64, inside: Range<usize>| {
        let evaluator = evaluator(apart_ns);
        let mut search = ShortestPathSearch::new(&ops, &evaluator);
        search.initialize_edges(Some(&outside));
        let loops = LoopNest { ops: inside, levels: Vec::new(), copies: Vec::new() };
        let by_op = vec![ModeledCost { ns: 10.0 + apart_ns, hbm_bytes: 0 }; 4];
        search.path_costs = search.compute_outside_costs(&[Some(loops)], &by_op);
        let learns = search.update_outside_costs();
        (learns, search.outside.iter().map(|cost| cost.ns).collect::<Vec<_>>(), search.edges[2][1].best_evaluated_ns())
    };
    assert_eq!(of(5.0, 0..2), (true, vec![10.0, 10.0, 15.0, 15.0], 30.0));
    assert_eq!(of(5.0, 0..4), (false, vec![10.0; 4], 20.0), "what is in loops says nothing");
    assert_eq!(of(-5.0, 0..2), (false, vec![10.0; 4], 20.0), "what takes less is no news");
}
