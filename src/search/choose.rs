//! The plan of least time: a shortest path over segments, whose costs are estimated first and judged where it matters.

use super::{Axis, Cut, Judge, Loops, Nest, SearchedOp, axes, estimate::estimate_ns, nests, nests::counts};
use std::{cell::RefCell, collections::BTreeMap, ops::Range};

/// The most ops of a segment.
const MOST_OPS: usize = 24;
/// A plan whose time is at most this part above what is estimated of every other one is taken.
const CLOSE: f64 = 0.001;
/// The most nests of a segment that are judged.
const MOST_JUDGED: usize = 40;
/// The most nests of a segment that are tried in the whole program.
const MOST_TRIED: usize = 3;
/// Judging an op takes as long as estimating it in so many nests.
const ESTIMATES_A_STEP: usize = 2000;
/// What judging a segment takes beside its ops, in steps.
const STEPS_A_JUDGEMENT: usize = 4;

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Loops around some of the ops.
    pub loops: Vec<Loops>,
    /// What all ops take with them, ns; none if nothing was judged, as loops could save nothing.
    pub ns: Option<f64>,
    /// What all ops take without loops, ns; none if nothing was judged, or if they cannot be compiled so.
    pub untiled_ns: Option<f64>,
    /// The least sum of what segments are judged or estimated to take, ns.
    pub estimated_ns: f64,
    /// Judgements made.
    pub n_judged: usize,
    /// Whether the search ended by itself, not for want of steps.
    pub is_complete: bool,
}

/// Chooses loops in at most `most_steps` steps, and a few plans more; a step judges an op. The program never takes longer with them, by the
/// judge.
#[must_use]
pub fn choose(ops: &[SearchedOp], judge: &dyn Judge, most_steps: usize) -> Chosen {
    let mut search = Search::new(ops, judge);
    if !search.may_gain() {
        let estimated_ns = search.path(Edge::least_ns).0;
        return Chosen { loops: Vec::new(), ns: None, untiled_ns: None, estimated_ns, n_judged: 0, is_complete: true };
    }
    let untiled_ns = judge.untiled_ns().map(|by_op| by_op.iter().sum());
    search.begin();
    let is_complete = search.run(most_steps);
    let (estimated_ns, _) = search.path(Edge::least_ns);
    let (ns, loops) = search.refined(untiled_ns);
    Chosen { loops, ns, untiled_ns, estimated_ns, n_judged: search.n_judged, is_complete }
}

/// A segment in the search.
struct Edge<'a> {
    ops: &'a [SearchedOp],
    range: Range<usize>,
    /// What it takes if LX has room for everything.
    roomy_ns: f64,
    /// Empty until the path leads over it.
    axes: Vec<Axis>,
    /// Nests to judge with their estimates, the best last; none until the path leads over the edge.
    queue: Option<Vec<(f64, Nest)>>,
    /// What was judged, the best first; to begin with no loop.
    judged: Vec<(f64, Nest)>,
    /// How many nests were judged, those that cannot be made included.
    n_judged: usize,
}

impl Edge<'_> {
    /// The least that it may take, as far as is known.
    fn least_ns(&self) -> f64 {
        let Some(queue) = &self.queue else { return self.roomy_ns };
        let estimated = queue.last().map_or(f64::INFINITY, |(ns, _)| *ns);
        self.judged.first().map_or(estimated, |(ns, _)| ns.min(estimated))
    }

    /// What the best judged nest takes.
    fn settled_ns(&self) -> f64 {
        self.judged.first().map_or(f64::INFINITY, |(ns, _)| *ns)
    }

    /// Whether no nest that is left could be better.
    fn is_settled(&self) -> bool {
        self.settled_ns() <= self.least_ns() * (1.0 + CLOSE)
    }

    /// The loops that were judged, the best first; none for no loop.
    fn judged_loops(&self) -> impl Iterator<Item = Option<Loops>> {
        self.judged.iter().map(|(_, nest)| (!nest.is_empty()).then(|| Loops::new(&self.range, &self.axes, nest)))
    }

    /// Finds the nests to judge; gives the steps that it took.
    fn open(&mut self, judge: &dyn Judge) -> usize {
        self.axes = axes(self.ops, self.range.clone());
        let nests = nests(self.ops, self.range.clone(), &self.axes);
        let n_estimates = nests.len() * self.range.len();
        let mut queue: Vec<(f64, Nest)> = nests
            .into_iter()
            .filter(|nest| !nest.is_empty())
            .map(|nest: Vec<Cut>| (estimate_ns(self.ops, self.range.clone(), &self.axes, &nest, judge), nest))
            .collect();
        // The best last; of equal ones the first, which has the fewest loops and tiles.
        queue.reverse();
        queue.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        self.queue = Some(queue);
        n_estimates.div_ceil(ESTIMATES_A_STEP)
    }

    /// Judges the nest that is estimated best; gives the steps that it took.
    fn judge_next(&mut self, judge: &dyn Judge) -> usize {
        let Some((_est, nest)) = self.queue.as_mut().and_then(Vec::pop) else { return 0 };
        if std::env::var("SPYRE_DEBUG").is_ok_and(|v| v == "2") { eprintln!("judge {:?} {:?} est {_est} -> {:?}", self.range, nest, judge.segment_ns(self.range.clone(), &self.axes, &nest)); }
        if let Some(ns) = judge.segment_ns(self.range.clone(), &self.axes, &nest) {
            let place = self.judged.partition_point(|(known, _)| *known <= ns);
            self.judged.insert(place, (ns, nest));
        }
        self.n_judged += 1;
        if self.n_judged >= MOST_JUDGED {
            self.queue = Some(Vec::new());
        }
        self.range.len() + STEPS_A_JUDGEMENT
    }
}

struct Search<'a> {
    judge: &'a dyn Judge,
    /// By the first op, then by the number of ops less one.
    edges: Vec<Vec<Edge<'a>>>,
    n_judged: usize,
}

impl<'a> Search<'a> {
    fn new(ops: &'a [SearchedOp], judge: &'a dyn Judge) -> Self {
        let roomy = Roomy::new(ops, judge);
        let edge = |range: Range<usize>| Edge {
            ops,
            roomy_ns: estimate_ns(ops, range.clone(), &[], &[], &roomy),
            range,
            axes: Vec::new(),
            queue: None,
            judged: Vec::new(),
            n_judged: 0,
        };
        let from = |first: usize| (first + 1..=ops.len().min(first + MOST_OPS)).map(|end| edge(first..end)).collect();
        Self { judge, edges: (0..ops.len()).map(from).collect(), n_judged: 0 }
    }

    /// Whether loops could save something.
    fn may_gain(&self) -> bool {
        let (untiled_ns, _) = self.path(|edge| estimate_ns(edge.ops, edge.range.clone(), &[], &[], self.judge));
        untiled_ns > self.path(Edge::least_ns).0 * (1.0 + CLOSE)
    }

    /// Begins with what the ops take without loops.
    fn begin(&mut self) {
        let by_op = self.judge.untiled_ns();
        for edge in self.edges.iter_mut().flatten() {
            let ns = by_op.as_ref().map_or(f64::INFINITY, |by_op| by_op[edge.range.clone()].iter().sum());
            edge.judged.push((ns, Vec::new()));
        }
    }

    /// The loops of the shortest path. Segments were judged one by one; together, values stay in LX from one to the next, so what was next
    /// best may be better, or no loop.
    fn refined(&mut self, untiled_ns: Option<f64>) -> (Option<f64>, Vec<Loops>) {
        let (_, path) = self.path(Edge::settled_ns);
        let choices: Vec<Vec<Option<Loops>>> = path
            .iter()
            .map(|&(from, length)| self.edges[from][length - 1].judged_loops().take(MOST_TRIED).collect())
            .filter(|choices: &Vec<Option<Loops>>| choices.first().is_some_and(Option::is_some))
            .collect();
        let mut plan: Vec<Option<Loops>> = choices.iter().map(|choices| choices[0].clone()).collect();
        let mut best = self.plan_ns(&plan);
        for (place, others) in choices.iter().enumerate() {
            for other in others.iter().skip(1).cloned().chain([None]) {
                let before = std::mem::replace(&mut plan[place], other);
                let ns = self.plan_ns(&plan);
                if ns.is_some_and(|ns| best.is_none_or(|best| ns < best)) {
                    best = ns;
                } else {
                    plan[place] = before;
                }
            }
        }
        if best.is_none_or(|best| untiled_ns.is_some_and(|untiled| untiled <= best)) { (untiled_ns, Vec::new()) } else { (best, plan.into_iter().flatten().collect()) }
    }

    fn plan_ns(&mut self, plan: &[Option<Loops>]) -> Option<f64> {
        self.n_judged += 1;
        self.judge.plan_ns(&plan.iter().flatten().cloned().collect::<Vec<_>>())
    }

    /// Looks at edges of the shortest path until it is settled; false if the steps did not do. The edge about which least is known is the next.
    fn run(&mut self, most_steps: usize) -> bool {
        let mut steps = 0;
        loop {
            let (least_ns, path) = self.path(Edge::least_ns);
            let (settled_ns, _) = self.path(Edge::settled_ns);
            let edge = |&(from, length): &(usize, usize)| &self.edges[from][length - 1];
            let doubt = |place: &(usize, usize)| edge(place).settled_ns() - edge(place).least_ns();
            let open = path.iter().rev().filter(|place| !edge(place).is_settled());
            let next = open.max_by(|one, other| doubt(one).total_cmp(&doubt(other)));
            let Some(&(from, length)) = next.filter(|_| settled_ns > least_ns * (1.0 + CLOSE)) else { return true };
            if steps >= most_steps {
                return false;
            }
            let judge = self.judge;
            let edge = &mut self.edges[from][length - 1];
            if std::env::var("SPYRE_DEBUG").is_ok() { eprintln!("at {:?} least {} settled {} all {least_ns} {settled_ns}", edge.range, edge.least_ns(), edge.settled_ns()); }
            if edge.queue.is_none() {
                steps += edge.open(judge);
            } else {
                steps += edge.judge_next(judge);
                self.n_judged += 1;
            }
        }
    }

    /// The shortest path and its length: the first op and the number of ops of each edge. Of equal ones that with the longer last edges.
    fn path(&self, ns_of: impl Fn(&Edge<'a>) -> f64) -> (f64, Vec<(usize, usize)>) {
        let n_ops = self.edges.len();
        let mut best = vec![(f64::INFINITY, 0); n_ops + 1];
        best[0].0 = 0.0;
        for (from, edges) in self.edges.iter().enumerate() {
            for (index, edge) in edges.iter().enumerate() {
                let ns = best[from].0 + ns_of(edge);
                if ns < best[from + index + 1].0 {
                    best[from + index + 1] = (ns, from);
                }
            }
        }
        let mut path = Vec::new();
        let mut end = n_ops;
        while end > 0 {
            let from = best[end].1;
            path.push((from, end - from));
            end = from;
        }
        path.reverse();
        (best[n_ops].0, path)
    }
}

/// A judge with LX without end, for whom each op is cut as is best for it alone.
struct Roomy<'a> {
    judge: &'a dyn Judge,
    /// For each op the cuts of one dimension.
    cuts: Vec<Vec<(usize, i64)>>,
    known: RefCell<BTreeMap<(usize, Vec<bool>), f64>>,
}

impl<'a> Roomy<'a> {
    fn new(ops: &[SearchedOp], judge: &'a dyn Judge) -> Self {
        let cuts = |op: usize| {
            let of_axis = |axis: Axis| counts(ops, &axis).into_iter().map(move |count| (axis.dims[&op], count));
            axes(ops, op..op + 1).into_iter().flat_map(of_axis).collect()
        };
        Self { judge, cuts: (0..ops.len()).map(cuts).collect(), known: RefCell::default() }
    }
}

impl Judge for Roomy<'_> {
    fn lx_bytes(&self) -> i64 {
        i64::MAX
    }

    fn op_ns(&self, op: usize, _cuts: &[(usize, i64)], in_lx: &[bool]) -> f64 {
        let key = (op, in_lx.to_vec());
        if let Some(&ns) = self.known.borrow().get(&key) {
            return ns;
        }
        let cut_ns = self.cuts[op].iter().map(|cut| self.judge.op_ns(op, &[*cut], in_lx));
        let ns = cut_ns.fold(self.judge.op_ns(op, &[], in_lx), f64::min);
        self.known.borrow_mut().insert(key, ns);
        ns
    }

    fn untiled_ns(&self) -> Option<Vec<f64>> {
        self.judge.untiled_ns()
    }

    fn plan_ns(&self, loops: &[Loops]) -> Option<f64> {
        self.judge.plan_ns(loops)
    }

    fn segment_ns(&self, segment: Range<usize>, axes: &[Axis], nest: &[Cut]) -> Option<f64> {
        self.judge.segment_ns(segment, axes, nest)
    }
}
