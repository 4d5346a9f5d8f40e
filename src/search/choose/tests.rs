use super::*;
use crate::search::{
    Copied, Cut, OpCosts,
    tests::{matmul, pointwise},
};
use std::cell::RefCell;

impl Found {
    fn ns(&self) -> Option<f64> {
        self.cost.map(|cost| cost.ns)
    }

    fn untiled_ns(&self) -> Option<f64> {
        self.untiled.map(|cost| cost.ns)
    }
}

type Asked = (Place, Vec<(usize, i64)>);

/// A machine on which an op takes a ns for each byte to and from HBM, and 10 for each iteration.
struct Bytes<'a> {
    ops: &'a [SearchedOp],
    lx_bytes: i64,
    /// How much dearer nests are than is estimated.
    surprise: f64,
    /// Evaluated segments: the first op, the number of ops, and the axes with their tile counts.
    asked: RefCell<Vec<Asked>>,
    compiles_untiled: bool,
    /// Additional time of an op outside of loops in a program with loops, ns.
    apart_ns: f64,
    /// Whether nests that are feasible one by one are also feasible together.
    compiles_plans: bool,
}

impl<'a> Bytes<'a> {
    fn new(ops: &'a [SearchedOp], lx_bytes: i64) -> Self {
        Self { ops, lx_bytes, surprise: 1.0, asked: RefCell::default(), compiles_untiled: true, apart_ns: 0.0, compiles_plans: true }
    }

    /// Returns the cost of an op outside of loops; it is `apart_ns` higher if the program has loops elsewhere.
    fn outside(&self, op: usize, loops: &[Loops]) -> Cost {
        let alone = self.cost(op..op + 1, &[], &[]);
        Cost { ns: alone.ns + if loops.is_empty() { 0.0 } else { self.apart_ns }, ..alone }
    }

    fn cost(&self, range: Range<usize>, axes: &[Axis], nest: &[Cut]) -> Cost {
        let surprise = if nest.is_empty() { 1.0 } else { self.surprise };
        Cost { ns: estimate(self.ops, range, axes, nest, false, self).ns * surprise, hbm_bytes: 0 }
    }
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn float(number: i64) -> f64 {
    number as f64
}

impl OpCosts for Bytes<'_> {
    fn lx_bytes(&self) -> i64 {
        self.lx_bytes
    }

    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> Cost {
        let bytes: i64 = self.ops[op].operand_bytes.iter().zip(in_lx).filter(|(_, in_lx)| !**in_lx).map(|(bytes, _)| bytes).sum();
        Cost { ns: float(bytes) + 10.0 * float(cuts.iter().map(|(_, count)| count).product()), hbm_bytes: 0 }
    }

    fn combine_cost(&self, _op: usize, _cuts: &[(usize, i64)]) -> Cost {
        Cost::default()
    }
}

impl Judge for Bytes<'_> {
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    fn untiled(&self) -> Option<Vec<Cost>> {
        let n_ops = self.ops.len();
        let whole = self.cost(0..n_ops, &[], &[]);
        let each = Cost { ns: whole.ns / n_ops as f64, ..whole };
        self.compiles_untiled.then(|| vec![each; n_ops])
    }

    fn segment(&self, segment: Range<usize>, axes: &[Axis], nest: &[Cut], _kept: &[Copied]) -> Option<Vec<Cost>> {
        self.asked
            .borrow_mut()
            .push((Place { first: segment.start, n_ops: segment.len() }, nest.iter().map(|cut| (cut.axis, cut.count)).collect()));
        let n_ops = segment.len();
        let whole = self.cost(segment, axes, nest);
        Some(vec![Cost { ns: whole.ns / n_ops as f64, ..whole }; n_ops])
    }

    fn plan(&self, loops: &[Loops]) -> Option<Vec<Cost>> {
        let is_inside = |op: usize| loops.iter().any(|loops| loops.ops.contains(&op));
        let mut by_op: Vec<Cost> =
            (0..self.ops.len()).map(|op| if is_inside(op) { Cost::default() } else { self.outside(op, loops) }).collect();
        for loops in loops {
            let axes: Vec<Axis> = loops.levels.iter().map(|level| Axis { size: 0, dims: level.dims.clone(), ..Axis::default() }).collect();
            let nest: Nest = loops.levels.iter().enumerate().map(|(axis, level)| Cut { axis, count: level.count }).collect();
            by_op[loops.ops.start] = self.cost(loops.ops.clone(), &axes, &nest);
        }
        self.compiles_plans.then_some(by_op)
    }
}

/// Elementwise ops one after the other, on 2 MiB.
fn chain(n_ops: usize) -> Vec<SearchedOp> {
    let op = |position: usize| SearchedOp {
        readers: (position + 1 < n_ops).then_some(position + 1).into_iter().collect(),
        read_before: vec![None],
        is_result: position + 1 == n_ops,
        ..pointwise(&[1024, 1024], position.checked_sub(1))
    };
    (0..n_ops).map(op).collect()
}

#[test]
fn what_does_not_fit_is_run_in_tiles_that_do() {
    let ops = chain(4);
    let judge = Bytes::new(&ops, 1 << 20);
    let chosen = choose(&ops, &judge, 1000);
    assert_eq!(chosen.loops.len(), 1);
    assert_eq!((chosen.loops[0].ops.clone(), chosen.loops[0].levels.iter().map(|level| level.count).collect()), (0..4, vec![2]));
    let found = chosen.found.unwrap();
    assert!(found.is_complete && found.ns() < found.untiled_ns() && found.least_ns <= found.ns(), "{found:?}");
}

/// Whole-program plans evaluate all ops each time, so they have a step budget of their own.
#[test]
fn plans_of_the_whole_keep_to_their_steps() {
    let ops = chain(40);
    let look = |most_whole_steps: usize| {
        let judge = Bytes { surprise: 1.1, ..Bytes::new(&ops, 1 << 20) };
        let mut search = Search::new(&ops, &judge);
        search.most_whole_steps = most_whole_steps;
        search.begin(judge.untiled().as_deref());
        let mut rounds = Rounds { least_ns: f64::INFINITY, is_complete: true, cost: None, loops: Vec::new() };
        search.look(3000, &mut rounds);
        assert!(rounds.cost.is_some(), "the plan of the shortest path is judged in any case");
        (search.tried.len(), search.whole_steps, rounds.is_complete)
    };
    let (n_plans, steps, _) = look(usize::MAX);
    let (n_plans_of_few, few_steps, is_complete) = look(100);
    // An evaluation that begins within the budget completes, and the first plan is always evaluated.
    let last = MOST_SPARING * (MOST_OPS + STEPS_A_JUDGEMENT) + ops.len() + STEPS_A_JUDGEMENT;
    assert!(steps > 100 + last && few_steps <= 100 + last, "{steps} and {few_steps}");
    assert!(n_plans_of_few < n_plans && !is_complete, "{n_plans_of_few} of {n_plans}");
}

/// Two ops that read the same 2 MiB from outside, and nothing of each other.
#[test]
fn what_is_read_twice_is_a_reason_for_tiles() {
    let reader = |before: Option<usize>| SearchedOp {
        values: vec![0],
        read_before: vec![before],
        tiled: crate::tile::TiledOp { output: vec![None, None], ..pointwise(&[1024, 1024], None).tiled },
        ..pointwise(&[1024, 1024], None)
    };
    let ops = vec![reader(None), reader(Some(0))];
    let estimated = |nest: &[Cut], lx_bytes| {
        let rows = Axis { size: 1024, dims: [(0, 0), (1, 0)].into(), ..Axis::default() };
        estimate(&ops, 0..2, &[rows], nest, false, &Bytes::new(&ops, lx_bytes)).ns
    };
    let (value, rows) = (f64::from(1 << 21), |count| [Cut { axis: 0, count }]);
    // Both results go to HBM; the value is read once where it, or what an iteration reads of it, has room.
    assert_eq!(estimated(&[], 1 << 21), 3.0 * value + 20.0);
    assert_eq!(estimated(&[], 1 << 20), 4.0 * value + 20.0);
    assert_eq!(estimated(&rows(2), 1 << 20), 3.0 * value + 40.0);
    assert_eq!(estimated(&rows(2), 1 << 19), 4.0 * value + 40.0);
}

/// A sum of two values, one of which no loop cuts: it is made in front of the loop, which reads parts of it, unless it needs what the loop makes.
#[test]
fn what_stands_in_front_of_a_loop_parts_no_loop() {
    let estimated = |of_uncut: Option<usize>| {
        let op = |maker: Option<usize>, readers: &[usize]| SearchedOp {
            read_before: vec![None],
            readers: readers.to_vec(),
            is_result: readers.is_empty(),
            ..pointwise(&[1024, 1024], maker)
        };
        let first_readers: &[usize] = if of_uncut.is_some() { &[1, 2] } else { &[2] };
        let (mut sum, beside) = (op(Some(0), &[]), op(of_uncut, &[2]));
        sum.tiled.inputs.push(crate::tile::Operand { maker: Some(1), ..sum.tiled.inputs[0].clone() });
        (sum.read_before, sum.operand_bytes) = (vec![None; 2], vec![1 << 21; 3]);
        let ops = vec![op(None, first_readers), beside, sum];
        let rows = Axis { size: 1024, dims: [(0, 0), (2, 0)].into(), ..Axis::default() };
        estimate(&ops, 0..3, &[rows], &[Cut { axis: 0, count: 2 }], false, &Bytes::new(&ops, 1 << 20)).ns
    };
    let value = f64::from(1 << 21);
    assert_eq!(estimated(None), 5.0 * value + 50.0, "the loop finds in LX what it makes itself");
    assert_eq!(estimated(Some(0)), 7.0 * value + 50.0, "one loop makes what is read, another one reads");
}

/// The second of two products reads rows that the first one has made, and is cut along its columns.
#[test]
fn what_is_made_before_may_be_there_for_loops_that_do_not_cut_it() {
    let first = SearchedOp { values: vec![0, 1], readers: vec![1], ..matmul([512, 256, 128], None) };
    let second = SearchedOp { values: vec![2, 3], read_before: vec![None; 2], ..matmul([512, 256, 256], Some(0)) };
    let ops = vec![first, second];
    let estimated = |dim: usize, keeps: bool, lx_bytes: i64| {
        let axis = Axis { size: 256, dims: [(1, dim)].into(), ..Axis::default() };
        estimate(&ops, 1..2, &[axis], &[Cut { axis: 0, count: 4 }], keeps, &Bytes::new(&ops, lx_bytes)).ns
    };
    let (columns, rows) = (1, 0);
    // Neither written nor read.
    let made = f64::from(2 * 2 * 512 * 256);
    let lx_bytes = 1 << 20;
    assert_eq!(estimated(columns, false, lx_bytes) - estimated(columns, true, lx_bytes), made);
    assert_eq!(estimated(rows, false, lx_bytes), estimated(rows, true, lx_bytes), "the loop cuts it");
    assert_eq!(estimated(columns, false, 1 << 10), estimated(columns, true, 1 << 10), "there is no room");
}

#[test]
fn what_fits_is_not_even_judged() {
    let ops = chain(4);
    let judge = Bytes::new(&ops, 8 << 20);
    assert_eq!(choose(&ops, &judge, 1000), Chosen::default());
    assert!(judge.asked.borrow().is_empty());
}

#[test]
fn where_the_user_has_said_all_nothing_is_judged() {
    let mut ops = chain(4);
    ops.iter_mut().for_each(|op| op.may_be_cut = vec![false; 2]);
    let judge = Bytes::new(&ops, 1 << 20);
    assert_eq!(choose(&ops, &judge, 1000), Chosen::default());
}

#[test]
fn a_plan_is_never_worse_than_none() {
    let ops = chain(4);
    let judge = Bytes { surprise: 100.0, ..Bytes::new(&ops, 1 << 20) };
    let chosen = choose(&ops, &judge, 1000);
    assert!(chosen.loops.is_empty());
    let found = chosen.found.unwrap();
    assert_eq!(found.cost, found.untiled);
}

#[test]
fn loops_that_cannot_be_made_together_are_not_chosen() {
    let ops = chain(4);
    let judge = Bytes { compiles_plans: false, ..Bytes::new(&ops, 1 << 20) };
    let chosen = choose(&ops, &judge, 1000);
    let found = chosen.found.unwrap();
    assert_eq!((chosen.loops, found.cost), (vec![], found.untiled));
}

#[test]
fn steps_bound_the_judgements() {
    let ops = chain(20);
    for most_steps in [0, 1, 30, 100] {
        let judge = Bytes { surprise: 1.05, ..Bytes::new(&ops, 1 << 20) };
        let _ = choose(&ops, &judge, most_steps);
        let steps: usize = judge.asked.borrow().iter().map(|(place, _)| place.n_ops + STEPS_A_JUDGEMENT).sum();
        // The last evaluation, and the neighbors of the chosen nests, exceed the budget.
        let beside = (1 + 4 * MOST_CLIMBS * ops.len()) * (1 + STEPS_A_JUDGEMENT);
        assert!(steps <= most_steps + MOST_OPS + beside, "{steps} of {most_steps}");
    }
}

#[test]
fn nothing_is_judged_when_the_steps_are_used_up() {
    let ops = chain(4);
    let judge = Bytes::new(&ops, 1 << 20);
    let untiled = judge.untiled();
    let begun = || {
        let mut search = Search::new(&ops, &judge);
        search.begin(untiled.as_deref());
        search
    };
    // Steps until the queue is filled that contains the first evaluated nest.
    let (mut search, mut steps) = (begun(), 0);
    while let Some(Place { first, n_ops }) = search.doubtful(CAUTION[0]).filter(|&place| search.edge(place).queue.is_none()) {
        steps += search.edges[first][n_ops - 1].open(&judge);
    }
    let n_judged = |most_steps| {
        let is_complete = begun().run(most_steps);
        (judge.asked.take().len(), is_complete)
    };
    assert!(steps > 0);
    assert_eq!((n_judged(steps), n_judged(steps + 1).0), ((0, false), 1));
}

#[test]
fn no_nest_is_judged_twice() {
    let ops = chain(12);
    let judge = Bytes { surprise: 1.02, ..Bytes::new(&ops, 1 << 20) };
    let _ = choose(&ops, &judge, 5000);
    let asked = judge.asked.into_inner();
    let mut different = asked.clone();
    different.sort();
    different.dedup();
    assert_eq!(asked.len(), different.len());
}

#[test]
fn a_program_that_needs_loops_gets_them() {
    let ops = chain(3);
    let judge = Bytes { compiles_untiled: false, ..Bytes::new(&ops, 1 << 20) };
    let chosen = choose(&ops, &judge, 1000);
    assert_eq!(chosen.loops.len(), 1);
    assert_eq!(chosen.found.unwrap().untiled, None);
}

#[test]
fn an_op_that_no_loop_can_cut_stands_beside_those_that_need_one() {
    let mut ops = chain(3);
    ops[2].may_be_cut = vec![false, false];
    let judge = Bytes { compiles_untiled: false, ..Bytes::new(&ops, 1 << 20) };
    let chosen = choose(&ops, &judge, 1000);
    assert_eq!((chosen.loops.len(), chosen.loops[0].ops.clone()), (1, 0..2));
    assert!(chosen.found.unwrap().cost.is_some_and(|cost| cost.ns.is_finite()));
}

#[test]
fn what_was_seen_of_an_op_is_expected_where_it_is_cut_alike_and_at_last_all_that_could_be_better_is_judged() {
    let mut ops = chain(4);
    ops.iter_mut().for_each(|op| op.may_be_cut = vec![true, false]);
    let judge = Bytes { surprise: 1.5, ..Bytes::new(&ops, 1 << 20) };
    let mut search = Search::new(&ops, &judge);
    let Search { edges, seen, .. } = &mut search;
    edges[0][3].open(&judge);
    edges[0][3].judge_next(&judge, seen, CAUTION[0]);
    let (cost, nest) = edges[0][3].judged[0].clone();
    let edge = &mut edges[1][2];
    edge.open(&judge);
    let first = |edge: &Edge<'_>| edge.queue.as_ref().and_then(|queue| queue.last()).map(|waiting| waiting.nest.clone());
    let (before, estimated) = (first(edge), edge.least_ns(1.0));
    assert_eq!(before.as_ref(), Some(&nest));
    assert!(edge.look_again(&judge, seen) > 0);
    assert_eq!(edge.look_again(&judge, seen), 0, "nothing new was seen");
    let expected = edge.queue.iter().flatten().find(|waiting| waiting.nest == nest).map(|waiting| waiting.expected_ns).unwrap();
    assert!(expected >= cost.ns * 0.75, "{expected}, and four ops took {}", cost.ns);
    assert_ne!(first(edge), before, "what was seen of no op may be better");
    edge.order_by_estimates();
    assert_eq!(first(edge), before);
    assert!((edge.least_ns(1.0) - estimated).abs() < 1e-6);
}

#[test]
fn the_path_over_a_nest_has_the_best_ones_right_in_front_of_it_and_right_behind_it() {
    let ops = chain(3);
    let judge = Bytes::new(&ops, 1 << 20);
    let mut search = Search::new(&ops, &judge);
    for ((first, n_ops), ns) in [((0, 1), 10.0), ((1, 1), 10.0), ((2, 1), 10.0), ((1, 2), 25.0), ((0, 2), 5.0), ((0, 3), 9.0)] {
        let cost = Cost { ns, hbm_bytes: 0 };
        search.edges[first][n_ops - 1].judged.push((cost, vec![Cut { axis: 0, count: 2 }]));
    }
    let paths = [vec![(0, 3)], vec![(0, 2), (2, 1)], vec![(0, 1), (1, 1), (2, 1)], vec![(0, 1), (1, 2)]];
    let plain = |path: Vec<Place>| path.into_iter().map(|place| (place.first, place.n_ops)).collect::<Vec<_>>();
    assert_eq!(search.best_paths().into_iter().map(plain).collect::<Vec<_>>(), paths);
}

/// An op outside of loops that takes longer than in the program without loops, because its operand has left LX, is moved into the loops.
#[test]
fn what_a_plan_shows_of_ops_outside_of_loops_is_learnt() {
    let ops = chain(4);
    // The last op takes no longer in a loop than without, but for its iterations.
    let judge = |apart_ns| Bytes { apart_ns, ..Bytes::new(&ops, 1 << 20) };
    let outside = vec![Cost { ns: 10.0, hbm_bytes: 0 }; 4];
    let of = |apart_ns: f64, inside: Range<usize>| {
        let judge = judge(apart_ns);
        let mut search = Search::new(&ops, &judge);
        search.begin(Some(&outside));
        let loops = Loops { ops: inside, levels: Vec::new(), copies: Vec::new() };
        let by_op = vec![Cost { ns: 10.0 + apart_ns, hbm_bytes: 0 }; 4];
        search.shown = search.outside_of(&[Some(loops)], &by_op);
        let learns = search.learn();
        (learns, search.outside.iter().map(|cost| cost.ns).collect::<Vec<_>>(), search.edges[2][1].settled_ns())
    };
    assert_eq!(of(5.0, 0..2), (true, vec![10.0, 10.0, 15.0, 15.0], 30.0));
    assert_eq!(of(5.0, 0..4), (false, vec![10.0; 4], 20.0), "what is in loops says nothing");
    assert_eq!(of(-5.0, 0..2), (false, vec![10.0; 4], 20.0), "what takes less is no news");
}
