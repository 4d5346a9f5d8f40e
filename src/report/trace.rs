//! Trace of the modeled time, for Perfetto and `chrome://tracing`.

use super::{OpReport, Report};
use crate::explain::TileLoop;
use serde_json::{Value, json};

/// Track of launches, and first track of loops. The tracks of cores have smaller numbers.
const LAUNCH_TRACK: i64 = 1000;
const FIRST_LOOP_TRACK: i64 = 1001;

/// Returns the trace in the Trace Event Format. It has a track for each core, one for launches and one for each loop
/// depth, and counters of HBM bytes per us.
///
/// Times are microseconds of the model in `docs/reference/cost-model.md`. An op in loops is one slice, with the time of
/// all its iterations.
#[must_use]
pub fn build_trace(report: &Report) -> Value {
    let mut events = build_track_names(report);
    for launch in report.launch_spans() {
        events.push(build_slice(
            LAUNCH_TRACK,
            launch.name,
            launch.start_us,
            launch.us,
            json!({"modelled_us": launch.us}),
        ));
    }
    for op in &report.ops {
        let arguments = json!({
            "location": op.location, "module": op.module, "iteration_space": op.iteration_space, "dims": op.dims, "work": op.work, "loops": op.loops,
            "result": op.memory, "why_not_in_lx": op.reason, "hbm_bytes": op.bytes.hbm(),
        });
        events.extend(
            (0..op.cores.max(1)).map(|core| build_slice(core, &op.function, op.start_us, op.us, arguments.clone())),
        );
        events.push(json!({"name": "HBM bytes per us", "ph": "C", "pid": 0, "ts": op.start_us, "args": {"bytes": compute_hbm_rate(op)}}));
    }
    if let Some(op) = report.ops.last() {
        events.push(
            json!({"name": "HBM bytes per us", "ph": "C", "pid": 0, "ts": op.start_us + op.us, "args": {"bytes": 0.0}}),
        );
    }
    add_loop_slices(&report.explain.loops, 0, &report.ops, &mut events);
    json!({"displayTimeUnit": "ns", "otherData": {"program": report.program}, "traceEvents": events})
}

/// Returns the events that name the tracks.
fn build_track_names(report: &Report) -> Vec<Value> {
    let name = |track: i64, name: &str| json!({"name": "thread_name", "ph": "M", "pid": 0, "tid": track, "args": {"name": name}});
    let cores = report.ops.iter().map(|op| op.cores.max(1)).max().unwrap_or_default();
    let depth = report.ops.iter().map(|op| op.loops.len()).max().unwrap_or_default();
    let process = json!({"name": "process_name", "ph": "M", "pid": 0, "args": {"name": report.program}});
    let mut named = vec![process, name(LAUNCH_TRACK, "launches")];
    named
        .extend((0..depth).zip(FIRST_LOOP_TRACK..).map(|(depth, track)| name(track, &format!("loops, depth {depth}"))));
    named.extend((0..cores).map(|core| name(core, &format!("core {core}"))));
    named
}

fn build_slice(track: i64, name: &str, start_us: f64, us: f64, arguments: Value) -> Value {
    let mut event = json!({"name": name, "ph": "X", "pid": 0, "tid": track, "ts": start_us, "dur": us});
    event["args"] = arguments;
    event
}

fn compute_hbm_rate(op: &OpReport) -> f64 {
    if op.us > 0.0 { op.bytes.hbm() as f64 / op.us } else { 0.0 }
}

/// Adds a slice for each loop, from the start of its first op to the end of its last op.
fn add_loop_slices(loops: &[TileLoop], depth: i64, ops: &[OpReport], events: &mut Vec<Value>) {
    for each in loops {
        let of_loop = || each.ops.iter().filter(|op| op.op < ops.len());
        let (Some(first), Some(last)) = (of_loop().map(|op| op.op).min(), of_loop().map(|op| op.op).max()) else {
            continue;
        };
        let us = ops[last].start_us + ops[last].us - ops[first].start_us;
        let arguments = json!({"location": each.location, "count": each.count, "hbm_bytes_per_iteration": each.bytes_per_iteration.hbm()});
        events.push(build_slice(
            FIRST_LOOP_TRACK + depth,
            &format!("{} tiles of {}", each.count, each.dim),
            ops[first].start_us,
            us,
            arguments,
        ));
        add_loop_slices(&each.loops, depth + 1, ops, events);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        explain::LoopOpReport,
        report::{LaunchCost, LaunchReport},
    };

    fn op(us: f64, cores: i64, loops: &[i64]) -> OpReport {
        OpReport { function: format!("f{us}"), us, cores, loops: loops.to_vec(), ..OpReport::default() }
    }

    fn launch(n_ops: usize, estimate_us: f64) -> LaunchReport {
        LaunchReport {
            bundle: format!("bundle_{n_ops}"),
            n_ops,
            cost: LaunchCost { estimate_us, ..LaunchCost::default() },
            ..LaunchReport::default()
        }
    }

    fn report() -> Report {
        let inside = |op| LoopOpReport { op, ..LoopOpReport::default() };
        let tiles = TileLoop { dim: "M".to_owned(), count: 4, ops: vec![inside(1), inside(2)], ..TileLoop::default() };
        let mut report = Report { ops: vec![op(2.0, 2, &[]), op(1.0, 1, &[4]), op(3.0, 1, &[4])], ..Report::default() };
        report.launches = vec![launch(1, 5.0), launch(2, 1.0)];
        report.explain.loops = vec![tiles];
        report.assign_start_times();
        report
    }

    fn find_slices(trace: &Value, track: i64) -> Vec<(String, f64, f64)> {
        let events =
            trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X" && event["tid"] == track);
        events
            .map(|event| {
                (
                    event["name"].as_str().unwrap().to_owned(),
                    event["ts"].as_f64().unwrap(),
                    event["dur"].as_f64().unwrap(),
                )
            })
            .collect()
    }

    #[test]
    fn places_ops_in_sequence_on_their_cores() {
        let trace = build_trace(&report());
        let found = |name: &str, start, us| (name.to_owned(), start, us);
        assert_eq!(find_slices(&trace, 0), [found("f2", 0.0, 2.0), found("f1", 5.0, 1.0), found("f3", 6.0, 3.0)]);
        assert_eq!(find_slices(&trace, 1), [found("f2", 0.0, 2.0)]);
        // A launch takes its own estimate, but at least the time of its ops.
        assert_eq!(find_slices(&trace, LAUNCH_TRACK), [found("bundle_1", 0.0, 5.0), found("bundle_2", 5.0, 4.0)]);
        assert_eq!(find_slices(&trace, FIRST_LOOP_TRACK), [found("4 tiles of M", 5.0, 4.0)]);
    }

    #[test]
    fn names_all_tracks() {
        let trace = build_trace(&report());
        let events = trace["traceEvents"].as_array().unwrap();
        let named: Vec<&Value> =
            events.iter().filter(|event| event["name"] == "thread_name").map(|event| &event["tid"]).collect();
        assert!(events.iter().filter(|event| event["ph"] == "X").all(|event| named.contains(&&event["tid"])));
    }

    #[test]
    fn emits_no_slices_without_ops() {
        assert_eq!(build_trace(&Report::default())["traceEvents"].as_array().unwrap().len(), 2);
    }
}
