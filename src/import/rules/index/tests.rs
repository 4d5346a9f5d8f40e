use super::*;

fn add_integer_op(graph: &mut ValueGraph, operation: &'static str, inputs: &[NodeId]) -> NodeId {
    let fallback = graph.add_unsupported(0, vec![3], NodeElementType::Int);
    graph.add_virtual_op(operation, inputs, fallback, NodeElementType::Int)
}

#[test]
fn strips_wrap_and_clamp_of_index() {
    let mut graph = ValueGraph::default();
    let index = graph.add_tensor(0, vec![3], NodeElementType::Int);
    let (zero, rows, last) = (graph.add_scalar(0.0), graph.add_scalar(128.0), graph.add_scalar(127.0));
    let is_negative = add_integer_op(&mut graph, "arith.cmpi slt", &[index, zero]);
    let wrapped = add_integer_op(&mut graph, "arith.addi", &[index, rows]);
    let chosen = add_integer_op(&mut graph, "arith.select", &[is_negative, wrapped, index]);
    let cast = add_integer_op(&mut graph, "arith.index_cast", &[chosen]);
    let above = add_integer_op(&mut graph, "arith.maxsi", &[cast, zero]);
    let below = add_integer_op(&mut graph, "arith.minsi", &[above, last]);
    assert_eq!(find_row_index(&graph, below, 128), Some(index));
    assert_eq!(find_row_index(&graph, below, 200), None, "a clamp to fewer rows changes the index");
    assert_eq!(find_row_index(&graph, wrapped, 128), None);
}

#[test]
fn proves_bounds_of_index() {
    let mut graph = ValueGraph::default();
    let index = graph.add_tensor(0, vec![3], NodeElementType::Int);
    let rows = graph.add_scalar(512.0);
    let is_below = add_integer_op(&mut graph, "arith.cmpi slt", &[index, rows]);
    assert!(always_holds(&graph, is_below, &[(index, 512)]));
    assert!(!always_holds(&graph, is_below, &[(index, 600)]));
    assert!(!always_holds(&graph, is_below, &[]), "nothing is known of an index that chooses no row");
}

#[test]
fn recognizes_affine_index() {
    let mut graph = ValueGraph::default();
    let known = crate::import::graph::constant_tensor::ConstantTensor::from_numbers(&[3.0, 5.0, 7.0]);
    let index = graph.add_constant(known, vec![1, 3, 1], NodeElementType::Int);
    let two = || Box::new(AffineExpression::Constant(2));
    let scaled = AffineExpression::Mul(Box::new(AffineExpression::Dim(1)), two());
    assert_eq!(
        as_affine_index(&graph, index),
        Some(AffineExpression::Add(Box::new(scaled), Box::new(AffineExpression::Constant(3))))
    );
    let number = graph.add_scalar(4.0);
    assert_eq!(as_affine_index(&graph, number), Some(AffineExpression::Constant(4)));
}
