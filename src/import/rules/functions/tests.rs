use super::*;
use crate::import::{
    graph::constant_tensor::ConstantTensor,
    rules::fold::{Undefined, find_integer_function},
};

#[test]
fn lists_every_operation_once() {
    for (position, function) in SCALAR_FUNCTIONS.iter().enumerate() {
        assert!(!SCALAR_FUNCTIONS[..position].iter().any(|other| other.name == function.name), "{}", function.name);
    }
}

#[test]
fn folds_every_integer_operation() {
    for function in SCALAR_FUNCTIONS {
        assert!(
            !matches!(function.fold, ConstantFolding::Integers) || find_integer_function(function.name).is_some(),
            "{}",
            function.name
        );
    }
}

#[test]
fn marks_undefined_elements() {
    let mut graph = ValueGraph::default();
    let ten = graph.add_constant(ConstantTensor::from_integer(10), Vec::new(), NodeElementType::Int);
    let by = graph.add_constant(ConstantTensor::iota(0, 3), vec![3], NodeElementType::Int);
    let divide = ScalarFunction::from_name("arith.divsi").unwrap();
    let folded = divide.fold(&graph, &[ten, by], NodeElementType::Int, IntegerWidths::uniform(32)).unwrap();
    assert_eq!(folded.known.integers().collect::<Vec<_>>(), [0, 10, 5]);
    assert_eq!(folded.undefined, Some((vec![true, false, false], Undefined::DivisionByZero)));
    assert!(
        divide
            .build(&mut graph, &[ten, by], NodeElementType::Int, IntegerWidths::uniform(32))
            .is_err_and(|message| message.contains("by 0"))
    );
}

#[test]
fn folds_constant_operands() {
    let mut graph = ValueGraph::default();
    let (two, three) = (graph.add_scalar(2.0), graph.add_scalar(3.0));
    let power = graph.apply("math.powf", &[two, three], NodeElementType::F32).unwrap();
    assert_eq!(graph.as_scalar(power), Some(8.0));
    let sine = graph.apply("math.sin", &[two], NodeElementType::F32).unwrap();
    assert_eq!(graph.as_scalar(sine), Some(2.0_f64.sin()), "what the device lacks may be computed beforehand");
}

#[test]
fn converts_truth_values_by_signedness() {
    let mut graph = ValueGraph::default();
    let truth = graph.add_constant(ConstantTensor::from_numbers(&[1.0, 0.0]), vec![2], NodeElementType::Bool);
    let numbers = |graph: &mut ValueGraph, name| {
        let function = ScalarFunction::from_name(name).unwrap();
        let node =
            function.build(graph, &[truth], NodeElementType::F32, IntegerWidths { operand: 1, result: 32 }).unwrap();
        graph.as_constant(node).unwrap().numbers().collect::<Vec<_>>()
    };
    assert_eq!(numbers(&mut graph, "arith.sitofp"), [-1.0, 0.0]);
    assert_eq!(numbers(&mut graph, "arith.uitofp"), [1.0, 0.0]);
}

#[test]
fn rejects_runtime_values_without_device_function() {
    let mut graph = ValueGraph::default();
    let x = graph.add_tensor(0, vec![64], NodeElementType::F16);
    assert!(graph.apply("arith.shli", &[x, x], NodeElementType::F16).unwrap_err().contains("runtime"));
    let y = graph.add_tensor(1, vec![64], NodeElementType::Bf16);
    assert_eq!(
        graph.apply("arith.cmpf ogt", &[x, y], NodeElementType::F16).unwrap_err(),
        "expected operands of one element type, found f16 and bf16; convert one of them"
    );
}
