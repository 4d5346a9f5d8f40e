use super::*;
use crate::layout::testing::{buffer, dims, op};
use program::affine::AffineExpression;

fn can_read(
    op: &LayoutOp,
    stick: Option<usize>,
    operand: usize,
    sizes: &[i64],
    own: Option<usize>,
    indices: &[TensorIndex],
) -> bool {
    let buffer = buffer(sizes);
    op.can_read_directly(stick, operand, &buffer.host_tensor().unwrap(), &buffer.layout(own).unwrap(), indices)
}

#[test]
fn requires_operand_sticks_of_the_op_or_none() {
    let ranges = [128, 256];
    let add = op(StickRule::Elementwise, &ranges, 0);
    assert!(can_read(&add, Some(1), 0, &[128, 256], Some(1), &dims(&ranges, &[0, 1])));
    assert!(!can_read(&add, Some(0), 0, &[128, 256], Some(1), &dims(&ranges, &[0, 1])));
    assert!(can_read(&add, Some(0), 0, &[256, 128], Some(1), &dims(&ranges, &[1, 0])));
    let column = [TensorIndex::from_dim(0, &ranges).unwrap(), TensorIndex::constant(0)];
    assert!(can_read(&add, Some(1), 0, &[128, 1], None, &column));
    assert!(!can_read(&add, Some(0), 0, &[128, 1], None, &column), "rows step over the sticks of a sparse tensor");
    assert!(!can_read(&add, None, 0, &[128, 256], Some(1), &dims(&ranges, &[0, 1])));
}

#[test]
fn uses_matmul_sticks_per_operand() {
    let ranges = [64, 256, 128];
    let matmul = op(StickRule::Matmul, &ranges, 1);
    assert_eq!(matmul.candidate_sticks(), [Some(1)]);
    assert!(can_read(&matmul, Some(1), 0, &[64, 128], Some(1), &dims(&ranges, &[0, 2])));
    assert!(!can_read(&matmul, Some(1), 0, &[64, 128], Some(0), &dims(&ranges, &[0, 2])));
    assert!(
        can_read(&matmul, Some(1), 1, &[256, 128], Some(0), &dims(&ranges, &[1, 2])),
        "a transposed weight with N in its sticks"
    );
    assert!(!can_read(&matmul, Some(1), 1, &[256, 128], Some(1), &dims(&ranges, &[1, 2])));
}

#[test]
fn requires_whole_sticks_of_k_in_matmul() {
    let ranges = [64, 128, 100];
    let matmul = op(StickRule::Matmul, &ranges, 1);
    let columns = dims(&ranges, &[2, 1]);
    assert!(!can_read(&matmul, Some(1), 1, &[100, 128], Some(1), &columns));
    assert!(can_read(&matmul, Some(1), 1, &[128, 128], Some(1), &columns));
    let later = [TensorIndex { offset: 28, ..columns[0].clone() }, columns[1].clone()];
    assert!(!can_read(&matmul, Some(1), 1, &[128, 128], Some(1), &later));
}

#[test]
fn bounds_row_dimensions_of_matmul() {
    let ranges = [24, 32, 128, 64];
    let right = |batch: Option<TensorIndex>| {
        let indices = batch
            .into_iter()
            .chain([TensorIndex::from_dim(3, &ranges).unwrap(), TensorIndex::from_dim(2, &ranges).unwrap()])
            .collect();
        BufferRead { buffer: 0, indices, is_exempt: false }
    };
    let part = |of: AffineExpression| TensorIndex::from_expr(&of, &ranges).unwrap();
    let number = |number: i64| Box::new(AffineExpression::Constant(number));
    let div = |by: i64| AffineExpression::FloorDiv(Box::new(AffineExpression::Dim(0)), number(by));
    let rest = |of: AffineExpression, by: i64| AffineExpression::Mod(Box::new(of), number(by));
    let rows = [
        part(div(12)),
        part(rest(div(4), 3)),
        part(rest(AffineExpression::Dim(0), 4)),
        part(AffineExpression::Dim(1)),
        part(AffineExpression::Dim(3)),
    ];
    let reads_left = |right: BufferRead, num_parts: usize| {
        let matmul = LayoutOp { reads: vec![right.clone(), right], ..op(StickRule::Matmul, &ranges, 1) };
        let (sizes, indices) = match num_parts {
            1 => (vec![24, 32, 64], dims(&ranges, &[0, 1, 3])),
            2 => (vec![6, 4, 32, 64], [&[part(div(4))], &rows[2..]].concat()),
            _ => (vec![2, 3, 4, 32, 64], rows.to_vec()),
        };
        can_read(&matmul, Some(2), 0, &sizes, Some(sizes.len() - 1), &indices)
    };
    // Rows that the right operand lacks: with those of dimension 1, one part is left for dimension 0.
    assert!(reads_left(right(None), 1));
    assert!(!reads_left(right(None), 2));
    // Two parts that the right operand has.
    assert!(reads_left(right(Some(part(AffineExpression::Dim(0)))), 2));
    assert!(!reads_left(right(Some(part(AffineExpression::Dim(0)))), 3));
    // One of two parts that the right operand has: a head of keys for four heads of queries.
    assert!(reads_left(right(Some(part(div(4)))), 2));
    assert!(reads_left(right(Some(part(div(4)))), 3));
}

#[test]
fn rejects_narrow_heads_in_sticks() {
    let ranges = [8, 64, 32];
    let exp = LayoutOp { written: dims(&ranges, &[0, 1, 2]), ..op(StickRule::Elementwise, &ranges, 0) };
    let column = AffineExpression::Add(
        Box::new(AffineExpression::Mul(Box::new(AffineExpression::Dim(0)), Box::new(AffineExpression::Constant(32)))),
        Box::new(AffineExpression::Dim(2)),
    );
    let heads = [TensorIndex::from_dim(1, &ranges).unwrap(), TensorIndex::from_expr(&column, &ranges).unwrap()];
    assert!(can_read(&exp, Some(1), 0, &[64, 256], Some(0), &heads));
    assert!(!can_read(&exp, Some(2), 0, &[64, 256], Some(1), &heads));
}

#[test]
fn counts_read_and_written_bytes_of_a_move() {
    let ranges = [64, 256];
    let from = buffer(&[64, 256]);
    let (host, layout, to) =
        (from.host_tensor().unwrap(), from.layout(Some(1)).unwrap(), from.layout(Some(0)).unwrap());
    let plain = dims(&ranges, &[0, 1]);
    let restickify = compute_copy_traffic(&split_operand(&ranges, &host, &layout, &plain).unwrap(), &to, 0);
    assert_eq!(restickify, Some(CopyTraffic { bytes: 2 * 64 * 256 * 2, is_restickify: true }));
    let copied = compute_copy_traffic(&split_operand(&ranges, &host, &layout, &plain).unwrap(), &layout, 1);
    assert_eq!(copied, Some(CopyTraffic { bytes: 2 * 64 * 256 * 2, is_restickify: false }));
    let sparse = buffer(&[64, 1]);
    let column = [TensorIndex::from_dim(0, &[64]).unwrap(), TensorIndex::constant(0)];
    let dense = buffer(&[64]).layout(Some(0)).unwrap();
    assert_eq!(
        split_operand(&[64], &sparse.host_tensor().unwrap(), &sparse.layout(None).unwrap(), &column)
            .and_then(|read| compute_copy_traffic(&read, &dense, 0)),
        None
    );
}

#[test]
fn rejects_restickify_of_a_window_of_the_other_stick() {
    let whole = buffer(&[64, 128]);
    let half = [TensorIndex::from_dim(0, &[32, 128]).unwrap(), TensorIndex::from_dim(1, &[32, 128]).unwrap()];
    let to = buffer(&[32, 128]).layout(Some(0)).unwrap();
    assert_eq!(
        split_operand(&[32, 128], &whole.host_tensor().unwrap(), &whole.layout(Some(1)).unwrap(), &half)
            .and_then(|read| compute_copy_traffic(&read, &to, 0)),
        None
    );
}

/// Batched scores, a function of them, and a batched product: buffers 0 to 4 are q, k, the scores, the function, v.
fn build_attention(role: BufferRole) -> LayoutFlow {
    let sizes = [[4, 32, 64], [4, 128, 64], [4, 32, 128], [4, 32, 128], [4, 128, 64], [4, 32, 64]];
    let mut buffers: Vec<LayoutBuffer> = sizes.iter().map(|sizes| buffer(sizes)).collect();
    buffers[4].role = role;
    let matmul = |ranges: [i64; 4], [left, right, result]: [usize; 3], right_dims: [usize; 3]| {
        let mut matmul = op(StickRule::Matmul, &ranges, 1);
        let read = |buffer, of: &[usize]| BufferRead { buffer, indices: dims(&ranges, of), is_exempt: false };
        matmul.reads = vec![read(left, &[0, 1, 3]), read(right, &right_dims)];
        matmul.result = result;
        matmul
    };
    let ranges = [4, 32, 128];
    let mut function = op(StickRule::Elementwise, &ranges, 0);
    function.reads = vec![BufferRead { buffer: 2, indices: dims(&ranges, &[0, 1, 2]), is_exempt: false }];
    function.result = 3;
    let ops =
        vec![matmul([4, 32, 128, 64], [0, 1, 2], [0, 2, 3]), function, matmul([4, 32, 64, 128], [3, 4, 5], [0, 3, 2])];
    LayoutFlow { buffers, ops }
}

#[test]
fn keeps_batch_away_from_sticks_of_operands_and_what_they_are_computed_from() {
    let mut flow = build_attention(BufferRole::Inner);
    flow.record_batch_dims();
    let device_size = |buffer: usize| flow.buffers[buffer].layout(Some(2)).unwrap().device_size().to_vec();
    assert_eq!(device_size(2), [4, 2, 32, 64], "the scores, because a function of them is read");
    assert_eq!((device_size(3), device_size(4)), (vec![4, 2, 32, 64], vec![4, 1, 128, 64]));
    assert_eq!(device_size(5), [32, 1, 4, 64], "no matmul reads the result");
}

#[test]
fn keeps_layout_of_host_for_results() {
    let outer = [4, 1, 128, 64];
    for (role, expected) in
        [(BufferRole::Input, outer), (BufferRole::Constant, outer), (BufferRole::Output, [128, 1, 4, 64])]
    {
        let mut flow = build_attention(role);
        flow.record_batch_dims();
        assert_eq!(flow.buffers[4].layout(Some(2)).unwrap().device_size(), expected, "{role:?}");
    }
}

#[test]
fn keeps_batch_away_from_sticks_of_inserted_slices() {
    let mut flow = build_attention(BufferRole::Inner);
    flow.buffers.push(buffer(&[4, 100, 64]));
    let ranges = [4, 100, 64];
    let mut insert = op(StickRule::Insert, &ranges, 0);
    let indices = dims(&ranges, &[0, 1, 2]);
    insert.reads = vec![BufferRead { buffer: 6, indices: indices.clone(), is_exempt: false }];
    (insert.result, insert.written) = (4, indices);
    flow.ops.insert(0, insert);
    flow.record_batch_dims();
    assert_eq!(flow.buffers[6].layout(Some(2)).unwrap().device_size(), [4, 1, 100, 64]);
}
