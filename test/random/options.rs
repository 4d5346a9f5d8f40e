//! Random options of `spyre-compile`.

use crate::choices::Choices;
use spyre::pipeline::{Options, Phase};

const LX_BYTES: [&str; 8] = ["-1", "256", "1024", "4096", "8192", "65536", "262144", "1048576"];
const PLANNERS: [&str; 6] = ["", "none", "greedy", "first-fit", "best-fit", "exact"];

/// Options with every choice made at random; the first choice of each is the default.
pub(crate) fn options(choices: &mut Choices) -> Options {
    let cores = if choices.one_in(2) { 1 + choices.below(32) } else { 0 };
    let planner = if choices.one_in(2) { *choices.pick(&PLANNERS) } else { "" };
    let lx_bytes = if choices.one_in(3) { *choices.pick(&LX_BYTES) } else { "-1" };
    let joint = if planner == "exact" { *choices.pick(&["", "true", "false"]) } else { "" };
    Options {
        cores: cores.to_string(),
        lx_planner: planner.to_owned(),
        joint: joint.to_owned(),
        lx_bytes: lx_bytes.to_owned(),
        addresses: if choices.one_in(4) { "baked" } else { "symbolic" }.to_owned(),
        loops: if choices.one_in(3) { "unroll" } else { "keep" }.to_owned(),
        precision: if choices.one_in(6) { "strict" } else { "device" }.to_owned(),
        sticks: if choices.one_in(4) { "greedy" } else { "global" }.to_owned(),
        compile_to: Phase::Emit,
        ..Options::default()
    }
}

/// As arguments of `spyre-compile`, without those that are the defaults.
pub(crate) fn text(options: &Options) -> String {
    let defaults = Options::default();
    let pairs = [
        ("--cores", &options.cores, &defaults.cores),
        ("--lx-planner", &options.lx_planner, &defaults.lx_planner),
        ("--lx-bytes", &options.lx_bytes, &defaults.lx_bytes),
        ("--addresses", &options.addresses, &defaults.addresses),
        ("--loops", &options.loops, &defaults.loops),
        ("--precision", &options.precision, &defaults.precision),
        ("--sticks", &options.sticks, &defaults.sticks),
    ];
    let mut words: Vec<String> = pairs.iter().filter(|(_, is, was)| is != was).map(|(name, is, _)| format!("{name} {is}")).collect();
    words.extend((options.joint == "true").then(|| "--joint".to_owned()));
    words.extend(options.tiles.iter().map(|tile| format!("--tiles {tile}")));
    words.join(" ")
}
