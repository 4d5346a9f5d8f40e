//! Files with one changed number or a missing line end in a result or in a message, never in a panic.

#![allow(clippy::unwrap_used, reason = "a test over files")]

mod common;

use spyre::sdsc::program::{LaunchEntry, Program, Symbol, Tensor};
use spyre::sim::{RunOptions, Simulation, seeded};
use spyre::target::Target;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HOSTILE: [&str; 14] = [
    "0",
    "-1",
    "1",
    "2",
    "3",
    "63",
    "65",
    "128",
    "1000",
    "100000",
    "2147483648",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
];

/// The folder of the golden cases; none outside the project's workplace, where they are not shared.
fn golden() -> Option<PathBuf> {
    common::shared("golden/visible")
}

fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The program of a case, from its `case.json`: every argument is an input and a result of its device size.
fn program(case: &str) -> Program {
    let text = std::fs::read_to_string(golden().unwrap().join(case).join("case.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tensor = |arg: &serde_json::Value| {
        let device_size: Vec<i64> = arg["device_size"].as_array().unwrap().iter().map(|size| size.as_i64().unwrap()).collect();
        let stick = *device_size.last().unwrap();
        let stride = |dim: usize| device_size[dim + 1..].iter().product();
        let stride_map = (0..device_size.len()).map(stride).collect();
        Tensor {
            name: format!("arg{}", arg["index"]),
            shape: vec![device_size.iter().product()],
            element_type: if arg["dtype"] == "IEEE_INT32" { "i32" } else { "f32" }.to_owned(),
            format: arg["dtype"].as_str().unwrap().to_owned(),
            bytes: device_size.iter().product::<i64>() * 128 / stick,
            device_size,
            stride_map,
            ..Tensor::default()
        }
    };
    let arguments: Vec<Tensor> = json["args"].as_array().unwrap().iter().map(tensor).collect();
    let launches = vec![LaunchEntry {
        bundle: "case".to_owned(),
        arguments: arguments.iter().map(|tensor| tensor.name.clone()).collect(),
        ..LaunchEntry::default()
    }];
    Program { name: case.to_owned(), results: arguments.clone(), arguments, launches, ..Program::default() }
}

fn mutate(text: &str, state: &mut u64) -> String {
    if mix(state).is_multiple_of(5) {
        let lines: Vec<&str> = text.lines().collect();
        let gone = mix(state) as usize % lines.len();
        return lines.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, line)| format!("{line}\n")).collect();
    }
    let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> = (1..text.len()).filter(|at| digit(*at) && !digit(at - 1)).collect();
    let start = starts[mix(state) as usize % starts.len()];
    let end = (start..text.len()).find(|at| !digit(*at)).unwrap_or(text.len());
    format!("{}{}{}", &text[..start], HOSTILE[mix(state) as usize % HOSTILE.len()], &text[end..])
}

#[test]
fn numbers_that_are_known_at_launch_only_are_refused() {
    let symbols = vec![Symbol { name: "T".to_owned(), maximum: 8 }];
    let program = Program { name: "counted".to_owned(), symbols, ..Program::default() };
    let error = Simulation::with_program(program, Path::new("nowhere"), &Target::spyre()).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "counted: the symbol 'T', at most 8, is known at launch only; the counts of loops are numbers");
}

#[test]
fn one_change_never_panics() {
    let Some(_) = golden() else { return };
    let cases = [
        "pw_add_2core",
        "bc_all_sparse",
        "bc_row_vector",
        "red_sum_nonstick",
        "red_sum_unaligned_fp32",
        "mm_m4_n4_k2",
        "mm_k_padded",
        "restick_2d",
        "slice_cols",
        "shuffle_linear_bias",
        "gather_embedding_1d",
        "norm_layer_norm",
        "conv2d_3x3",
        "softmax_64x256",
        "tile_two_loops_sequence",
        "dtype_fp16_to_fp32",
        "bmm_3d",
        "lx_hbm_lx_pool",
    ];
    let rounds: usize = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    let options = RunOptions { max_steps: 1 << 23, max_bytes: 1 << 28, ..RunOptions::default() };
    let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases {
        let program = program(case);
        let inputs: BTreeMap<_, _> = program.arguments.iter().map(|tensor| (tensor.name.clone(), seeded(tensor, 1).unwrap())).collect();
        let mut files: Vec<(String, String)> = std::fs::read_dir(golden().unwrap().join(case))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "case.json")
            .map(|name| (name.clone(), std::fs::read_to_string(golden().unwrap().join(case).join(name)).unwrap()))
            .collect();
        files.sort();
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("case");
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in &files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        for round in 0..rounds {
            let mut state = round as u64 * 1000 + case.len() as u64 * 77 + case.as_bytes()[3] as u64;
            let (name, text) = &files[mix(&mut state) as usize % files.len()];
            let mutated = mutate(text, &mut state);
            std::fs::write(folder.join(name), &mutated).unwrap();
            let run = || {
                Simulation::with_program(program.clone(), dir.path(), &Target::spyre())
                    .and_then(|simulation| simulation.run(&inputs, &options))
            };
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            let Ok(result) = result else { panic!("{case}/{name}, round {round}:\n{mutated}") };
            *rules.entry(result.map_or_else(|error| error.rule().to_owned(), |_| "runs".to_owned())).or_default() += 1;
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    // Some changes have no effect, most are found; no rule is behind all of them.
    assert!(rules["runs"] > 0 && rules.len() > 5, "{rules:?}");
}
