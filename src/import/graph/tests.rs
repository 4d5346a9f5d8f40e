//! Tests construction and simplification of the value graph.

use super::*;

#[test]
fn shares_equal_nodes_of_scope() {
    let mut graph = ValueGraph::default();
    let x = graph.add_tensor(0, vec![8, 64], NodeElementType::F16);
    let first = graph.add_pointwise("exp", &[x], NodeElementType::F16);
    assert_eq!(graph.add_pointwise("exp", &[x], NodeElementType::F16), first);
    graph.enter_scope(1);
    assert_ne!(graph.add_pointwise("exp", &[x], NodeElementType::F16), first);
}

#[test]
fn cancels_inverse_reshapes() {
    let mut graph = ValueGraph::default();
    let x = graph.add_tensor(0, vec![8, 64], NodeElementType::F16);
    let flat = graph.reshape(x, &[512]);
    assert_eq!(graph.reshape(flat, &[8, 64]), x);
}

#[test]
fn lists_only_required_nodes() {
    let mut graph = ValueGraph::default();
    let x = graph.add_tensor(0, vec![8, 64], NodeElementType::F16);
    let dead = graph.add_unsupported(0, vec![8, 64], NodeElementType::F16);
    let exp = graph.add_pointwise("exp", &[x], NodeElementType::F16);
    assert_eq!(graph.collect_required(&[exp], |id| id == x), [exp]);
    assert!(!graph.collect_required(&[exp], |_| false).contains(&dead));
}

#[test]
fn keeps_shape_of_unsupported_node() {
    let mut graph = ValueGraph::default();
    let unsupported = graph.add_unsupported(3, vec![8, 1], NodeElementType::F16);
    let flat = graph.reshape(unsupported, &[8]);
    let broadcast = graph.broadcast(unsupported, &[8, 64]);
    let transposed = graph.view(broadcast, vec![AffineExpression::Dim(1), AffineExpression::Dim(0)], &[64, 8]);
    let zero = graph.add_scalar(0.0);
    let padded = graph.pad(flat, &[1], &[0], zero);
    let shape_of = |id: NodeId| (graph.node(id).shape.clone(), graph.find_unsupported(&[id]).is_some());
    assert_eq!(
        [flat, broadcast, transposed, padded].map(shape_of),
        [vec![8], vec![8, 64], vec![64, 8], vec![9]].map(|shape| (shape, true))
    );
}

#[test]
fn collapses_equal_elements_to_scalar() {
    let mut graph = ValueGraph::default();
    let ones = graph.add_constant(ConstantTensor::from_numbers(&[1.0; 4]), vec![2, 2], NodeElementType::F32);
    assert_eq!(graph.as_scalar(ones), Some(1.0));
    assert!(graph.node(ones).shape.is_empty());
}
