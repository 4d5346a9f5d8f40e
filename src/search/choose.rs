//! The plan of least time: a shortest path over segments, whose costs are estimated first and judged where it matters.

use super::{Axis, Cut, Judge, Nest, SearchedOp, axes, estimate::estimate_ns, nests};
use std::ops::Range;

/// The most ops of a segment.
const MOST_OPS: usize = 24;
/// A plan whose time is at most this part above what is estimated of every other one is taken.
const CLOSE: f64 = 0.001;
/// Judging an op takes as long as estimating it in so many nests.
const ESTIMATES_A_STEP: usize = 2000;
/// What judging a segment takes beside its ops, in steps.
const STEPS_A_JUDGEMENT: usize = 4;

/// Ops that run in the same loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The ops.
    pub ops: Range<usize>,
    /// Their axes.
    pub axes: Vec<Axis>,
    /// The loops; none for no loop.
    pub nest: Nest,
    /// What it takes by itself, ns.
    pub ns: f64,
    /// The next best nest that was judged, and what it takes.
    pub runner_up: Option<(Nest, f64)>,
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The segments, in order; together they are all ops.
    pub segments: Vec<Segment>,
    /// The least sum of what segments are judged or estimated to take, ns.
    pub estimated_ns: f64,
    /// Judgements made.
    pub n_judged: usize,
    /// Whether the search ended by itself, not for want of steps.
    pub is_complete: bool,
}

/// Chooses segments and nests in at most `most_steps` steps; a step judges an op.
#[must_use]
pub fn choose(ops: &[SearchedOp], judge: &dyn Judge, most_steps: usize) -> Chosen {
    let mut search = Search::new(ops, judge);
    let is_complete = search.run(most_steps);
    let (estimated_ns, _) = search.path(Edge::least_ns);
    let (_, path) = search.path(|edge| edge.settled_ns(judge));
    let segments = path.into_iter().map(|(from, length)| search.edges[from][length - 1].segment()).collect();
    Chosen { segments, estimated_ns, n_judged: search.n_judged, is_complete }
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
    /// What was judged, the best first.
    judged: Vec<(f64, Nest)>,
}

impl Edge<'_> {
    /// The least that it may take, as far as is known.
    fn least_ns(&self) -> f64 {
        let Some(queue) = &self.queue else { return self.roomy_ns };
        let estimated = queue.last().map_or(f64::INFINITY, |(ns, _)| *ns);
        self.judged.first().map_or(estimated, |(ns, _)| ns.min(estimated))
    }

    /// What the best judged nest takes. One op that was not judged is not tiled.
    fn settled_ns(&self, judge: &dyn Judge) -> f64 {
        if !self.may_gain() {
            return self.least_ns();
        }
        let unjudged = || if self.range.len() == 1 { estimate_ns(self.ops, self.range.clone(), &[], &[], judge) } else { f64::INFINITY };
        self.judged.first().map_or_else(unjudged, |(ns, _)| *ns)
    }

    /// Whether loops could save something: not where the ops are estimated best without any, and LX has room for all.
    fn may_gain(&self) -> bool {
        let best = self.queue.as_ref().and_then(|queue| queue.last());
        !self.judged.is_empty() || best.is_none_or(|(ns, nest)| !nest.is_empty() || *ns > self.roomy_ns * (1.0 + CLOSE))
    }

    /// Whether no nest that is left could be better than the best judged one.
    fn is_settled(&self) -> bool {
        !self.may_gain() || self.queue.is_some() && self.judged.first().is_some_and(|(ns, _)| *ns <= self.least_ns() * (1.0 + CLOSE))
    }

    fn segment(&self) -> Segment {
        let (ns, nest) = self.judged.first().cloned().unwrap_or_default();
        let runner_up = self.judged.get(1).map(|(ns, nest)| (nest.clone(), *ns));
        Segment { ops: self.range.clone(), axes: self.axes.clone(), nest, ns, runner_up }
    }

    /// Finds the nests to judge; gives the steps that it took.
    fn open(&mut self, judge: &dyn Judge) -> usize {
        self.axes = axes(self.ops, self.range.clone());
        let nests = nests(self.ops, &self.axes);
        let n_estimates = nests.len() * self.range.len();
        let mut queue: Vec<(f64, Nest)> = nests
            .into_iter()
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
        let Some((_, nest)) = self.queue.as_mut().and_then(Vec::pop) else { return 0 };
        if let Some(ns) = judge.segment_ns(self.range.clone(), &self.axes, &nest) {
            let place = self.judged.partition_point(|(known, _)| *known <= ns);
            self.judged.insert(place, (ns, nest));
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
        let roomy = Roomy(judge);
        let edge = |range: Range<usize>| Edge {
            ops,
            roomy_ns: estimate_ns(ops, range.clone(), &[], &[], &roomy),
            range,
            axes: Vec::new(),
            queue: None,
            judged: Vec::new(),
        };
        let from = |first: usize| (first + 1..=ops.len().min(first + MOST_OPS)).map(|end| edge(first..end)).collect();
        Self { judge, edges: (0..ops.len()).map(from).collect(), n_judged: 0 }
    }

    /// Looks at edges of the shortest path until it is settled; false if the steps did not do.
    fn run(&mut self, most_steps: usize) -> bool {
        let mut steps = 0;
        loop {
            let (least_ns, path) = self.path(Edge::least_ns);
            let judge = self.judge;
            let (settled_ns, _) = self.path(|edge| edge.settled_ns(judge));
            if settled_ns <= least_ns * (1.0 + CLOSE) {
                return true;
            }
            let Some(&(from, length)) = path.iter().find(|&&(from, length)| !self.edges[from][length - 1].is_settled()) else {
                return true;
            };
            if steps >= most_steps {
                return false;
            }
            let edge = &mut self.edges[from][length - 1];
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

/// A judge with LX without end.
struct Roomy<'a>(&'a dyn Judge);

impl Judge for Roomy<'_> {
    fn lx_bytes(&self) -> i64 {
        i64::MAX
    }

    fn op_ns(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> f64 {
        self.0.op_ns(op, cuts, in_lx)
    }

    fn segment_ns(&self, segment: Range<usize>, axes: &[Axis], nest: &[Cut]) -> Option<f64> {
        self.0.segment_ns(segment, axes, nest)
    }
}
