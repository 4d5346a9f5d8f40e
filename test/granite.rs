//! The model of `benches/granite.rs` is valid, and each layer uses the result of the previous one.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::granite::Granite;
use half::f16;
use referee::{ArrayElements, HostArray};
use spyre_compiler::{mlir::Module, reference};
use std::fs;

const SMALL: Granite =
    Granite { layers: 2, sequence: 4, cached: 0, hidden: 8, heads: 4, kv_heads: 2, head_size: 4, mlp: 12 };

/// Returns numbers between -1 and 1 for each argument.
fn inputs(model: &Granite) -> Vec<HostArray> {
    let array = |(argument, shape): (usize, Vec<usize>)| {
        let num_elements: usize = shape.iter().product();
        let number = |index: usize| f16::from_f64(((argument * 31 + index * 17) as f64).sin()).to_bits();
        let shape = shape.iter().map(|size| *size as i64).collect();
        HostArray { shape, elements: ArrayElements::F16((0..num_elements).map(number).collect()) }
    };
    model.arguments().into_iter().enumerate().map(array).collect()
}

/// Returns the result that the reference computes.
fn run(model: &Granite, inputs: &[HostArray]) -> HostArray {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("granite.mlir");
    fs::write(&path, model.module()).unwrap();
    reference::run_reference(path.to_str().unwrap(), inputs).unwrap().remove(0)
}

#[test]
fn builds_valid_module_of_forty_layers() {
    let session = spyre_compiler::pipeline::create_session();
    for model in [Granite::of_2b(40), Granite::of_8b(1, 2048), SMALL, Granite { kv_heads: 4, ..SMALL }] {
        assert!(Module::parse(&session, &model.module()).is_some(), "{model:?}");
    }
}

#[test]
fn adds_same_number_of_lines_per_layer() {
    let lines = [1, 2, 3].map(|layers| Granite::of_2b(layers).module().lines().count());
    assert_eq!(lines[2] - lines[1], lines[1] - lines[0]);
}

#[test]
fn composes_two_layers_sequentially() {
    let one = Granite { layers: 1, ..SMALL };
    let all = inputs(&SMALL);
    let (first, second, tables) = (&all[1..10], &all[10..19], &all[19..]);
    let between = run(&one, &[&all[..1], first, tables].concat());
    let expected = run(&one, &[std::slice::from_ref(&between), second, tables].concat());
    let found = run(&SMALL, &all);
    assert_eq!(found, expected);
    assert_ne!(found, between, "the second layer does something");
    assert_ne!(between, all[0], "and so does the first");
}
