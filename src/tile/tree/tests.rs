use super::*;
use crate::tile::TiledOperand;
use proptest::prelude::*;

/// Creates an op with dimensions of 64 elements and the levels of a table, given by its names and ids. Reduced
/// dimensions are not in its result.
fn make_op(names: &[&str], num_reduced: usize, ids: &[i64], table: &[(&str, i64)]) -> TiledOp {
    let level =
        |&id: &i64| LoopLevel { id, name: table[id as usize].0.to_owned(), count: table[id as usize].1, symbol: None };
    TiledOp {
        names: names.iter().map(|names| names.split('*').map(str::to_owned).collect()).collect(),
        sizes: vec![64; names.len()],
        num_reduced,
        levels: ids.iter().map(level).collect(),
        again: Vec::new(),
        inputs: Vec::new(),
        output: (0..names.len() - num_reduced).map(Some).collect(),
        combines: true,
    }
}

impl TiledOp {
    /// Adds a read of another op's result. `dims` has the own dimension for each dimension of that result, or none
    /// where it is read at index 0.
    fn with_read(mut self, maker: usize, dims: &[Option<usize>]) -> Self {
        let after = (0..dims.len()).map(Some).collect();
        self.inputs.push(TiledOperand { dims: dims.to_vec(), producer: Some(maker), source_dims: after });
        self
    }

    /// Adds a read through a view. `behind` has the dimension of the source's result for each dimension of the view.
    fn with_read_through_view(mut self, maker: usize, dims: &[Option<usize>], after: &[Option<usize>]) -> Self {
        self.inputs.push(TiledOperand { dims: dims.to_vec(), producer: Some(maker), source_dims: after.to_vec() });
        self
    }
}

fn build_tree(ops: &[TiledOp]) -> LoopTree {
    LoopTree::build(ops, &BTreeMap::from([("C".to_owned(), 4), ("D".to_owned(), 16)])).unwrap()
}

/// Formats the tree in one line: ops by number, loops by name.
fn format_tree(tree: &LoopTree) -> String {
    fn format_nodes(tree: &LoopTree, nodes: &[LoopTreeNode]) -> String {
        let node = |node: &LoopTreeNode| match *node {
            LoopTreeNode::Op(op) => op.to_string(),
            LoopTreeNode::Loop(around) => {
                format!("{}({})", tree.loops[around].level.name, format_nodes(tree, &tree.loops[around].body))
            }
        };
        nodes.iter().map(node).collect::<Vec<_>>().join(" ")
    }
    format_nodes(tree, &tree.roots)
}

const ROWS: [Option<usize>; 2] = [Some(0), Some(1)];
const LEVELS_A_B: [(&str, i64); 2] = [("A", 2), ("B", 4)];

fn make_row_op(ids: &[i64]) -> TiledOp {
    make_op(&["A", "B"], 0, ids, &LEVELS_A_B)
}

#[test]
fn places_user_of_a_matmul_after_its_inner_loop() {
    let table = [("M", 8), ("K", 4)];
    let product = make_op(&["M", "N", "K"], 1, &[0, 1], &table);
    let sum = make_op(&["M", "N"], 0, &[0, 1], &table).with_read(0, &ROWS);
    let tree = build_tree(&[product, sum]);
    assert_eq!(format_tree(&tree), "M(K(0) 1)");
    assert_eq!((tree.home_depth(0), tree.home_depth(1), tree.common_depth(1, 0)), (1, 1, 1));
    assert_eq!(tree.chains, [vec![0, 1], vec![0]]);
}

#[test]
fn shares_nested_loops_between_ops_of_equal_levels() {
    let tree = build_tree(&[
        make_row_op(&[0, 1]),
        make_row_op(&[0, 1]).with_read(0, &ROWS),
        make_row_op(&[0]).with_read(1, &ROWS),
    ]);
    assert_eq!(format_tree(&tree), "A(B(0 1) 2)");
    assert_eq!((tree.common_depth(1, 0), tree.common_depth(2, 1), tree.home_depth(1)), (2, 1, 2));
}

#[test]
fn makes_inner_loops_of_different_levels_siblings() {
    let table = [("A", 2), ("B", 4), ("C", 2)];
    let wide = make_op(&["A", "B"], 0, &[0, 1], &table);
    let other = make_op(&["A", "C"], 0, &[0, 2], &table);
    assert_eq!(format_tree(&build_tree(&[wide.clone(), other.clone()])), "A(B(0) C(1))");
    // As for ops, the nodes in between come first.
    assert_eq!(format_tree(&build_tree(&[wide.clone(), other, wide.with_read(0, &ROWS)])), "A(C(1) B(0 2))");
}

#[test]
fn distinguishes_levels_of_equal_names_by_id() {
    let table = [("A", 2), ("A", 2)];
    assert_eq!(
        format_tree(&build_tree(&[make_op(&["A"], 0, &[0], &table), make_op(&["A"], 0, &[1], &table)])),
        "A(0) A(1)"
    );
    assert_eq!(format_tree(&build_tree(&[make_op(&["A"], 0, &[0, 1], &table)])), "A(A(0))");
}

#[test]
fn hoists_op_without_the_dimension_before_the_loop() {
    let column = |ids| make_op(&["B"], 0, ids, &LEVELS_A_B);
    let tree = build_tree(&[
        make_row_op(&[0]),
        column(&[0]),
        column(&[]).with_read(1, &[Some(0)]),
        make_row_op(&[0]).with_read(2, &[Some(1)]),
    ]);
    assert_eq!(format_tree(&tree), "1 2 A(0 3)");
    // Inside an outer loop as well.
    let tree = build_tree(&[
        make_row_op(&[0, 1]),
        make_op(&["A"], 0, &[0, 1], &LEVELS_A_B),
        make_row_op(&[0, 1]).with_read(1, &[Some(0)]),
    ]);
    assert_eq!(format_tree(&tree), "A(1 B(0 2))");
}

#[test]
fn places_op_that_needs_the_loop_after_it() {
    assert_eq!(
        format_tree(&build_tree(&[make_row_op(&[0]), make_row_op(&[]).with_read(0, &ROWS), make_row_op(&[0])])),
        "A(0 2) 1"
    );
}

#[test]
fn splits_loop_at_an_op_between_its_ops() {
    let tree = build_tree(&[
        make_row_op(&[0]),
        make_row_op(&[]).with_read(0, &ROWS),
        make_row_op(&[0]).with_read(1, &ROWS),
        make_row_op(&[0]),
    ]);
    assert_eq!(format_tree(&tree), "A(0) 1 A(2 3)");
    assert_eq!(tree.common_depth(2, 0), 0);
}

#[test]
fn moves_group_in_between_or_splits_the_loop() {
    let table = [("A", 2), ("A", 2)];
    let of = |id: i64| make_op(&["A", "B"], 0, &[id], &table);
    assert_eq!(format_tree(&build_tree(&[of(0), of(1), of(0)])), "A(1) A(0 2)");
    assert_eq!(format_tree(&build_tree(&[of(0), of(1).with_read(0, &ROWS), of(0)])), "A(0 2) A(1)");
    assert_eq!(
        format_tree(&build_tree(&[of(0), of(1).with_read(0, &ROWS), of(0).with_read(1, &ROWS)])),
        "A(0) A(1) A(2)"
    );
}

#[test]
fn builds_three_loops_for_softmax_by_columns_and_one_by_rows() {
    let softmax = |id: i64| {
        let column = [Some(0)];
        let reduce = || make_op(&["A", "B"], 1, &[id], &LEVELS_A_B);
        let shift = make_row_op(&[id]).with_read(0, &column);
        let exp = make_row_op(&[id]).with_read(1, &ROWS);
        [
            reduce(),
            shift,
            exp,
            reduce().with_read(2, &ROWS),
            make_row_op(&[id]).with_read(2, &ROWS).with_read(3, &column),
        ]
    };
    assert_eq!(format_tree(&build_tree(&softmax(1))), "B(0) B(1 2 3) B(4)");
    assert_eq!(format_tree(&build_tree(&softmax(0))), "A(0 1 2 3 4)");
}

#[test]
fn places_user_of_outer_reduction_in_a_second_loop() {
    let table = [("K", 4), ("M", 8)];
    let tree = build_tree(&[
        make_op(&["M", "N", "K"], 1, &[0, 1], &table),
        make_op(&["M", "N"], 0, &[0, 1], &table).with_read(0, &ROWS),
    ]);
    assert_eq!(format_tree(&tree), "K(M(0)) M(1)");
    assert_eq!((tree.home_depth(0), tree.common_depth(1, 0)), (0, 0));
}

#[test]
fn splits_loop_at_a_transposed_read() {
    let exchanged = [Some(1), Some(0)];
    assert_eq!(format_tree(&build_tree(&[make_row_op(&[0]), make_row_op(&[0]).with_read(0, &exchanged)])), "A(0) A(1)");
    // After a second view that swaps the dimensions back, it is the same tile.
    assert_eq!(
        format_tree(&build_tree(&[
            make_row_op(&[0]),
            make_row_op(&[0]).with_read_through_view(0, &exchanged, &exchanged)
        ])),
        "A(0 1)"
    );
    // A view without known dimensions shows the complete value.
    assert_eq!(
        format_tree(&build_tree(&[
            make_row_op(&[0]),
            make_row_op(&[0]).with_read_through_view(0, &ROWS, &[None, Some(1)])
        ])),
        "A(0) A(1)"
    );
    // Read both directly and with swapped dimensions.
    assert_eq!(
        format_tree(&build_tree(&[make_row_op(&[0]), make_row_op(&[0]).with_read(0, &ROWS).with_read(0, &exchanged)])),
        "A(0) A(1)"
    );
}

#[test]
fn finishes_row_before_tiles_that_read_all_of_it() {
    // The producer is tiled along its only dimension; the reader has it under another name.
    let tree = build_tree(&[
        make_op(&["A"], 0, &[0], &LEVELS_A_B),
        make_op(&["A", "B"], 0, &[0], &LEVELS_A_B).with_read(0, &[Some(1)]),
    ]);
    assert_eq!(format_tree(&tree), "A(0) A(1)");
}

#[test]
fn nests_levels_of_the_names_of_one_dimension() {
    let table = [("C", 4), ("D", 2)];
    let merged = || make_op(&["C*D"], 0, &[0, 1], &table);
    assert_eq!(format_tree(&build_tree(&[merged(), merged().with_read(0, &[Some(0)])])), "C(D(0 1))");
    // The outer name tiles the outer dimension of the merged ones; the inner one is unknown.
    let mut parts = make_op(&["C", "D"], 0, &[0, 1], &table);
    parts.sizes = vec![4, 16];
    assert_eq!(
        format_tree(&build_tree(&[parts, merged().with_read_through_view(0, &[Some(0)], &[Some(0)])])),
        "C(D(0) D(1))"
    );
}

#[test]
fn rejects_unknown_name_at_its_first_op() {
    let table = [("A", 2), ("X", 2), ("X", 1), ("C", 1)];
    let sizes = BTreeMap::from([("C".to_owned(), 4)]);
    let of = |ids: &[i64]| {
        LoopTree::build(&[make_op(&["A"], 0, &[0], &table), make_op(&["A"], 0, ids, &table)], &sizes)
            .map(|tree| format_tree(&tree))
    };
    let unknown = |count: i64| {
        Err((
            1,
            TilingError::Unknown { dim: "X".to_owned(), count, known: KnownDimNames(["A"].map(str::to_owned).into()) },
        ))
    };
    assert_eq!(of(&[0, 1]), unknown(2));
    // A name that the program declares may have one tile, since it may belong to a dimension of size 1.
    assert_eq!(of(&[0, 2]), unknown(1));
    assert_eq!(of(&[0, 3]), Ok("A(0 1)".to_owned()));
}

#[test]
fn lists_known_names_of_the_scope_only() {
    let table = [("X", 2), ("B", 2)];
    let tree =
        LoopTree::build(&[make_op(&["A", "C"], 0, &[0], &table), make_op(&["B"], 0, &[1], &table)], &BTreeMap::new());
    let known = KnownDimNames(["A", "C"].map(str::to_owned).into());
    assert_eq!(tree, Err((0, TilingError::Unknown { dim: "X".to_owned(), count: 2, known })));
}

/// Creates an op with dimension B only that is recomputed in the loop along A.
fn make_recomputed_op(maker: Option<usize>) -> TiledOp {
    let own = TiledOp { again: vec![0], ..make_op(&["B"], 0, &[0, 1], &LEVELS_A_B) };
    maker.into_iter().fold(own, |own, maker| own.with_read(maker, &[Some(0)]))
}

#[test]
fn recomputes_op_in_all_loops_of_its_users() {
    let of_column = [None, Some(1)];
    let tree = build_tree(&[
        make_recomputed_op(None),
        make_recomputed_op(Some(0)),
        make_row_op(&[0, 1]).with_read(1, &of_column[1..]),
    ]);
    assert_eq!(format_tree(&tree), "A(B(0 1 2))");
    assert_eq!((tree.num_computations(0), tree.num_computations(1), tree.num_computations(2)), (2, 2, 1));
    assert_eq!((tree.home_depth(0), tree.common_depth(1, 0)), (2, 2));
}

#[test]
fn computes_op_with_outside_users_once() {
    let of_column = [Some(1)];
    // The last op needs the complete value.
    let whole = make_op(&["A"], 0, &[], &LEVELS_A_B).with_read(1, &[None]);
    let tree = build_tree(&[
        make_recomputed_op(None),
        make_recomputed_op(Some(0)),
        make_row_op(&[0, 1]).with_read(1, &of_column),
        whole,
    ]);
    assert_eq!(format_tree(&tree), "B(0 1) A(B(2)) 3");
    assert_eq!((tree.num_computations(0), tree.num_computations(1)), (1, 1));
    // It is in the loop along A only, and reads the complete value.
    let of_rows = make_op(&["A"], 0, &[0, 1], &LEVELS_A_B).with_read(0, &[None]);
    assert_eq!(
        format_tree(&build_tree(&[make_recomputed_op(None), make_row_op(&[0, 1]).with_read(0, &of_column), of_rows])),
        "B(0) A(B(1) 2)"
    );
    assert_eq!(format_tree(&build_tree(&[make_row_op(&[0, 1]), make_recomputed_op(None)])), "A(B(0)) B(1)");
}

#[test]
fn reports_op_that_cannot_be_tiled() {
    let error = TilingError::Uneven { dim: "A".to_owned(), size: 64, count: 3 };
    assert_eq!(
        LoopTree::build(&[make_row_op(&[]), make_op(&["A"], 0, &[0], &[("A", 3)])], &BTreeMap::new()),
        Err((1, error))
    );
}

#[test]
fn builds_two_loops_for_two_large_groups() {
    let table = [("A", 2), ("A", 4)];
    let ops: Vec<TiledOp> = (0..20_000_usize)
        .map(|position| {
            let own = make_op(&["A", "B"], 0, [&[0][..], &[1], &[]][position % 3], &table);
            if position < 3 { own } else { own.with_read(position - 3, &ROWS) }
        })
        .collect();
    assert_eq!(build_tree(&ops).loops.len(), 2);
}

const NAMES: [&str; 4] = ["A", "B", "C", "D"];
const LEVELS: [(&str, i64); 5] = [("A", 2), ("B", 2), ("A", 4), ("C", 2), ("D", 2)];

prop_compose! {
    /// Random op: its names, number of reduced dimensions, levels, and reads.
    fn drawn()(
        names in proptest::sample::subsequence(&NAMES[..], 1..=3).prop_shuffle(),
        num_reduced in 0..3_usize,
        ids in proptest::sample::subsequence(vec![0, 1, 2, 3, 4], 0..=3),
        again in proptest::sample::subsequence(vec![0, 1, 2, 3, 4], 0..=5),
        reads in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 0..3),
    ) -> (TiledOp, Vec<(prop::sample::Index, u32)>) {
        let num_reduced = num_reduced.min(names.len());
        let again = if num_reduced == 0 { again } else { Vec::new() };
        (TiledOp { again, ..make_op(&names, num_reduced, &ids, &LEVELS) }, reads)
    }
}

/// Random ops in program order; the first one has all names, so that none is unknown.
fn programs() -> impl Strategy<Value = Vec<TiledOp>> {
    prop::collection::vec(drawn(), 1..24).prop_map(|drawn| {
        let mut ops = vec![make_op(&NAMES, 0, &[0, 1, 2, 3, 4], &LEVELS)];
        for (mut own, reads) in drawn {
            for (maker, bits) in reads {
                let (maker, num_dims) = (maker.index(ops.len()), own.names.len());
                // Usually the dimension of the same name; sometimes another one, or none.
                let by_name = |dim: usize| own.names.iter().position(|names| *names == ops[maker].names[dim]);
                let choose = |dim: usize| match bits >> (4 * dim) & 15 {
                    0 => None,
                    1 | 2 => Some(bits as usize % num_dims),
                    _ => by_name(dim),
                };
                let dims: Vec<Option<usize>> = (0..ops[maker].output.len()).map(choose).collect();
                let after: Vec<Option<usize>> =
                    (0..dims.len()).map(|dim| Some(dim).filter(|_| bits >> (16 + dim) & 7 != 0)).collect();
                own = own.with_read_through_view(maker, &dims, &after);
            }
            ops.push(own);
        }
        ops
    })
}

/// Returns the ops in execution order, each with the loops around it.
fn flatten(tree: &LoopTree, nodes: &[LoopTreeNode], around: &[usize], to: &mut Vec<(usize, Vec<usize>)>) {
    for node in nodes {
        match *node {
            LoopTreeNode::Op(op) => to.push((op, around.to_vec())),
            LoopTreeNode::Loop(inner) => flatten(tree, &tree.loops[inner].body, &[around, &[inner]].concat(), to),
        }
    }
}

proptest! {
    #[test]
    fn places_ops_in_their_loops_after_their_operands(ops in programs()) {
        let tree = build_tree(&ops);
        prop_assert_eq!(&tree, &build_tree(&ops));
        let mut order = Vec::new();
        flatten(&tree, &tree.roots, &[], &mut order);
        prop_assert_eq!(order.len(), ops.len());
        let mut places = vec![None; ops.len()];
        for (place, (op, chain)) in order.into_iter().enumerate() {
            prop_assert_eq!(&tree.chains[op], &chain);
            prop_assert!(chain.is_sorted());
            prop_assert!(chain.iter().map(|&around| &tree.loops[around].level).eq(tree.cuts[op].iter().map(|cut| &cut.level)));
            prop_assert!(places[op].replace(place).is_none());
        }
        for (reader, op) in ops.iter().enumerate() {
            for input in &op.inputs {
                let maker = input.producer.unwrap();
                prop_assert!(places[maker] < places[reader], "{maker} is behind its reader {reader} in {}", format_tree(&tree));
                let both = tree.chains[reader].iter().zip(&tree.chains[maker]).take_while(|(one, other)| one == other).count();
                prop_assert_eq!(tree.common_depth(reader, maker), both);
                prop_assert!(tree.num_computations(maker) == 1 || both == tree.chains[maker].len(), "{maker} is read outside in {}", format_tree(&tree));
                for (wanted, made) in tree.cuts[reader].iter().zip(&tree.cuts[maker]).take(both) {
                    prop_assert!(!made.is_reduced, "{reader} reads a part of {maker} in {}", format_tree(&tree));
                    if made.dim.is_none() {
                        continue;
                    }
                    let read = TiledOp::find_tiled_dim(&input.dims, wanted).and_then(|dim| input.source_dims[dim]);
                    prop_assert_eq!(read, TiledOp::find_tiled_dim(&ops[maker].output, made));
                    prop_assert!(read.is_some());
                }
            }
        }
    }
}
