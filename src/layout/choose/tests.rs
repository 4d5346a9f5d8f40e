use super::{StickStrategy, *};
use crate::layout::{
    BufferRead,
    testing::{self, buffer, dims},
};
use program::layout::TensorIndex;
use proptest::prelude::*;

fn read(buffer: usize, ranges: &[i64], order: &[usize]) -> BufferRead {
    BufferRead { buffer, indices: dims(ranges, order), is_exempt: false }
}

fn op(kind: StickRule, ranges: &[i64], num_reduced: usize, reads: Vec<BufferRead>, result: usize) -> LayoutOp {
    LayoutOp { reads, result, ..testing::op(kind, ranges, num_reduced) }
}

/// `x W^T`, then `(x W^T) V^T` with both weights given row-major.
fn two_layers(is_free: bool) -> LayoutFlow {
    let mut buffers =
        vec![buffer(&[32, 128]), buffer(&[512, 128]), buffer(&[128, 512]), buffer(&[32, 512]), buffer(&[32, 128])];
    if !is_free {
        for buffer in &mut buffers[..3] {
            buffer.given = Some(buffer.layout(Some(1)).unwrap());
        }
    }
    let (up, down) = ([32, 512, 128], [32, 128, 512]);
    let ops = vec![
        op(StickRule::Matmul, &up, 1, vec![read(0, &up, &[0, 2]), read(1, &up, &[1, 2])], 3),
        op(StickRule::Matmul, &down, 1, vec![read(3, &down, &[0, 2]), read(2, &down, &[1, 2])], 4),
    ];
    LayoutFlow { buffers, ops }
}

#[test]
fn lays_out_free_arguments_for_their_users() {
    let choice = two_layers(true).choose_sticks(StickStrategy::Global).unwrap();
    assert_eq!(choice.moved_bytes, 0);
    assert_eq!(choice.buffer_sticks[..3], [Some(1), Some(0), Some(0)]);
    let greedy = two_layers(true).choose_sticks(StickStrategy::Greedy).unwrap();
    assert_eq!(greedy.moved_bytes, 2 * 2 * 512 * 128 * 2, "greedy has row-major arguments and moves both weights");
}

#[test]
fn moves_arguments_with_fixed_layouts() {
    let choice = two_layers(false).choose_sticks(StickStrategy::Global).unwrap();
    assert_eq!(choice.moved_bytes, 2 * 2 * 512 * 128 * 2);
    assert!(choice.is_optimal);
}

#[test]
fn shares_a_move_between_users() {
    let ranges = [128, 256];
    let mut buffers = vec![buffer(&[128, 256]), buffer(&[256, 128]), buffer(&[128, 256]), buffer(&[128, 256])];
    for buffer in &mut buffers {
        buffer.given = Some(buffer.layout(Some(1)).unwrap());
    }
    let reads = || vec![read(0, &ranges, &[0, 1]), read(1, &ranges, &[1, 0])];
    let ops =
        vec![op(StickRule::Elementwise, &ranges, 0, reads(), 2), op(StickRule::Elementwise, &ranges, 0, reads(), 3)];
    let choice = LayoutFlow { buffers, ops }.choose_sticks(StickStrategy::Global).unwrap();
    assert_eq!(choice.moved_bytes, 2 * 128 * 256 * 2);
    assert_eq!(choice.relayouts[0][1], choice.relayouts[1][1]);
}

#[test]
fn reports_unreadable_operand() {
    // One operand has one element per stick, the other sixty-four, at the same points.
    let ranges = [64];
    let (mut column, mut row) = (buffer(&[64, 1]), buffer(&[64]));
    column.given = Some(column.layout(None).unwrap());
    row.given = Some(row.layout(Some(0)).unwrap());
    let index = || TensorIndex::from_dim(0, &ranges).unwrap();
    let reads = vec![
        BufferRead { buffer: 0, indices: vec![index(), TensorIndex::constant(0)], is_exempt: false },
        BufferRead { buffer: 1, indices: vec![index()], is_exempt: false },
    ];
    let buffers = vec![column, row, buffer(&[64])];
    let flow = LayoutFlow { buffers, ops: vec![op(StickRule::Elementwise, &ranges, 0, reads, 2)] };
    let kind = LayoutConflictKind::Read { operand: 0, sizes: vec![64, 1], found: None };
    assert_eq!(flow.choose_sticks(StickStrategy::Global), Err(LayoutConflict { op: 0, kind }));
}

#[test]
fn reports_unwritable_result() {
    let ranges = [64, 256, 128];
    let reads = || vec![read(0, &ranges, &[0, 2]), read(1, &ranges, &[2, 1])];
    let mut flow = LayoutFlow {
        buffers: vec![buffer(&[64, 128]), buffer(&[128, 256]), buffer(&[64, 256])],
        ops: vec![op(StickRule::Matmul, &ranges, 1, reads(), 2)],
    };
    flow.buffers[2].given = Some(flow.buffers[2].layout(Some(0)).unwrap());
    let kind = LayoutConflictKind::Result { found: Some(0), expected: Some(1) };
    assert_eq!(flow.choose_sticks(StickStrategy::Global), Err(LayoutConflict { op: 0, kind }));
}

/// Returns a random graph of ops on square tensors, read plain or transposed: two arguments, then one result an op.
fn graphs() -> impl proptest::strategy::Strategy<Value = LayoutFlow> {
    let op = (0_usize..3, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<(bool, bool)>());
    (prop::collection::vec(op, 1..6), any::<(bool, bool)>()).prop_map(|(ops, given)| {
        let sizes = [128, 128];
        let mut flow = LayoutFlow { buffers: vec![buffer(&sizes), buffer(&sizes)], ops: Vec::new() };
        for (argument, is_given) in [given.0, given.1].into_iter().enumerate() {
            let layout = flow.buffers[argument].layout(Some(1)).unwrap();
            flow.buffers[argument].given = is_given.then_some(layout);
        }
        for (kind, first, second, (is_first_turned, is_second_turned)) in ops {
            let num_buffers = flow.buffers.len();
            let order =
                |dims: [usize; 2], is_turned: bool| if is_turned { vec![dims[1], dims[0]] } else { dims.to_vec() };
            let (first, second) = (first.index(num_buffers), second.index(num_buffers));
            flow.ops.push(if kind == 0 {
                let ranges = [128, 128, 128];
                let reads = vec![
                    read(first, &ranges, &order([0, 2], is_first_turned)),
                    read(second, &ranges, &order([2, 1], is_second_turned)),
                ];
                super::tests::op(StickRule::Matmul, &ranges, 1, reads, num_buffers)
            } else {
                let reads = vec![
                    read(first, &sizes, &order([0, 1], is_first_turned)),
                    read(second, &sizes, &order([0, 1], is_second_turned)),
                ];
                super::tests::op(StickRule::Elementwise, &sizes, 0, reads, num_buffers)
            });
            flow.buffers.push(buffer(&sizes));
        }
        flow
    })
}

/// Returns the bytes of the arguments with one element per stick.
fn padding_bytes(flow: &LayoutFlow, sticks: &[Option<usize>]) -> u64 {
    flow.buffers.iter().zip(sticks).map(|(buffer, &stick)| buffer_cost(buffer, stick).moved_bytes).sum()
}

fn exhaustive(flow: &LayoutFlow) -> Option<u64> {
    let chooser = StickChooser::new(flow);
    let mut states = vec![0; chooser.states.len()];
    let (problem, mut best) = (chooser.build_problem(StickCost::IMPOSSIBLE), None);
    loop {
        let is_written = problem.cost(&states) != StickCost::IMPOSSIBLE;
        let own = |buffer| chooser.buffer_stick(buffer, states[chooser.variable_of[buffer]]);
        let sticks: Vec<Option<usize>> = (0..flow.buffers.len()).map(own).collect();
        let bytes =
            chooser.total_moved_bytes(&states).filter(|_| is_written).map(|bytes| bytes + padding_bytes(flow, &sticks));
        best = match (best, bytes) {
            (Some(best), Some(bytes)) => Some(std::cmp::min(best, bytes)),
            (best, bytes) => best.or(bytes),
        };
        let Some(position) =
            (0..states.len()).rev().find(|&variable| states[variable] + 1 < chooser.states[variable].len())
        else {
            return best;
        };
        states[position] += 1;
        states[position + 1..].fill(0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn finds_minimum_bytes(flow in graphs()) {
        let found = flow.choose_sticks(StickStrategy::Global).ok();
        let bytes = |choice: &LayoutChoice| choice.moved_bytes + padding_bytes(&flow, &choice.buffer_sticks);
        prop_assert_eq!(found.as_ref().map(bytes), exhaustive(&flow));
        if let (Ok(greedy), Some(found)) = (flow.choose_sticks(StickStrategy::Greedy), found) {
            prop_assert!(found.moved_bytes <= greedy.moved_bytes);
        }
    }
}
