use super::*;
use crate::tile::Operand;
use proptest::prelude::*;

/// Creates an op with dimensions of 64 elements and the levels of a table, given by its names and ids. Reduced dimensions are not
/// in its result.
fn op(names: &[&str], n_reduced: usize, ids: &[i64], table: &[(&str, i64)]) -> TiledOp {
    let level = |&id: &i64| Level { id, name: table[id as usize].0.to_owned(), count: table[id as usize].1, symbol: None };
    TiledOp {
        names: names.iter().map(|names| names.split('*').map(str::to_owned).collect()).collect(),
        sizes: vec![64; names.len()],
        n_reduced,
        levels: ids.iter().map(level).collect(),
        again: Vec::new(),
        inputs: Vec::new(),
        output: (0..names.len() - n_reduced).map(Some).collect(),
        combines: true,
    }
}

impl TiledOp {
    /// Adds a read of another op's result. `dims` has the own dimension for each dimension of that result, or none
    /// where it is read at index 0.
    fn reading(mut self, maker: usize, dims: &[Option<usize>]) -> Self {
        let behind = (0..dims.len()).map(Some).collect();
        self.inputs.push(Operand { dims: dims.to_vec(), maker: Some(maker), behind });
        self
    }

    /// Adds a read through a view. `behind` has the dimension of the source's result for each dimension of the view.
    fn reading_through(mut self, maker: usize, dims: &[Option<usize>], behind: &[Option<usize>]) -> Self {
        self.inputs.push(Operand { dims: dims.to_vec(), maker: Some(maker), behind: behind.to_vec() });
        self
    }
}

fn grown(ops: &[TiledOp]) -> Tree {
    Tree::grow(ops, &BTreeMap::from([("C".to_owned(), 4), ("D".to_owned(), 16)])).unwrap()
}

/// Formats the tree in one line: ops by number, loops by name.
fn text(tree: &Tree) -> String {
    fn list(tree: &Tree, nodes: &[Node]) -> String {
        let node = |node: &Node| match *node {
            Node::Op(op) => op.to_string(),
            Node::Loop(around) => format!("{}({})", tree.loops[around].level.name, list(tree, &tree.loops[around].body)),
        };
        nodes.iter().map(node).collect::<Vec<_>>().join(" ")
    }
    list(tree, &tree.roots)
}

const ROWS: [Option<usize>; 2] = [Some(0), Some(1)];
const A_B: [(&str, i64); 2] = [("A", 2), ("B", 4)];

fn row_op(ids: &[i64]) -> TiledOp {
    op(&["A", "B"], 0, ids, &A_B)
}

#[test]
fn what_is_made_of_a_product_stands_beside_its_inner_loop() {
    let table = [("M", 8), ("K", 4)];
    let product = op(&["M", "N", "K"], 1, &[0, 1], &table);
    let sum = op(&["M", "N"], 0, &[0, 1], &table).reading(0, &ROWS);
    let tree = grown(&[product, sum]);
    assert_eq!(text(&tree), "M(K(0) 1)");
    assert_eq!((tree.home_depth(0), tree.home_depth(1), tree.common_depth(1, 0)), (1, 1, 1));
    assert_eq!(tree.chains, [vec![0, 1], vec![0]]);
}

#[test]
fn ops_of_the_same_levels_share_nested_loops() {
    let tree = grown(&[row_op(&[0, 1]), row_op(&[0, 1]).reading(0, &ROWS), row_op(&[0]).reading(1, &ROWS)]);
    assert_eq!(text(&tree), "A(B(0 1) 2)");
    assert_eq!((tree.common_depth(1, 0), tree.common_depth(2, 1), tree.home_depth(1)), (2, 1, 2));
}

#[test]
fn inner_loops_of_other_levels_are_siblings() {
    let table = [("A", 2), ("B", 4), ("C", 2)];
    let wide = op(&["A", "B"], 0, &[0, 1], &table);
    let other = op(&["A", "C"], 0, &[0, 2], &table);
    assert_eq!(text(&grown(&[wide.clone(), other.clone()])), "A(B(0) C(1))");
    // As for ops, the entries in between come first.
    assert_eq!(text(&grown(&[wide.clone(), other, wide.reading(0, &ROWS)])), "A(C(1) B(0 2))");
}

#[test]
fn levels_of_equal_names_are_told_apart_by_their_ids() {
    let table = [("A", 2), ("A", 2)];
    assert_eq!(text(&grown(&[op(&["A"], 0, &[0], &table), op(&["A"], 0, &[1], &table)])), "A(0) A(1)");
    assert_eq!(text(&grown(&[op(&["A"], 0, &[0, 1], &table)])), "A(A(0))");
}

#[test]
fn an_op_without_the_dimension_comes_before_the_loop() {
    let column = |ids| op(&["B"], 0, ids, &A_B);
    let tree = grown(&[row_op(&[0]), column(&[0]), column(&[]).reading(1, &[Some(0)]), row_op(&[0]).reading(2, &[Some(1)])]);
    assert_eq!(text(&tree), "1 2 A(0 3)");
    // Inside an outer loop as well.
    let tree = grown(&[row_op(&[0, 1]), op(&["A"], 0, &[0, 1], &A_B), row_op(&[0, 1]).reading(1, &[Some(0)])]);
    assert_eq!(text(&tree), "A(1 B(0 2))");
}

#[test]
fn an_op_that_needs_the_loop_comes_behind_it() {
    assert_eq!(text(&grown(&[row_op(&[0]), row_op(&[]).reading(0, &ROWS), row_op(&[0])])), "A(0 2) 1");
}

#[test]
fn an_op_that_needs_the_loop_and_is_needed_in_it_parts_it() {
    let tree = grown(&[row_op(&[0]), row_op(&[]).reading(0, &ROWS), row_op(&[0]).reading(1, &ROWS), row_op(&[0])]);
    assert_eq!(text(&tree), "A(0) 1 A(2 3)");
    assert_eq!(tree.common_depth(2, 0), 0);
}

#[test]
fn another_group_in_between_is_moved_or_parts_the_loop() {
    let table = [("A", 2), ("A", 2)];
    let of = |id: i64| op(&["A", "B"], 0, &[id], &table);
    assert_eq!(text(&grown(&[of(0), of(1), of(0)])), "A(1) A(0 2)");
    assert_eq!(text(&grown(&[of(0), of(1).reading(0, &ROWS), of(0)])), "A(0 2) A(1)");
    assert_eq!(text(&grown(&[of(0), of(1).reading(0, &ROWS), of(0).reading(1, &ROWS)])), "A(0) A(1) A(2)");
}

#[test]
fn softmax_by_columns_has_three_loops_and_by_rows_one() {
    let softmax = |id: i64| {
        let column = [Some(0)];
        let reduce = || op(&["A", "B"], 1, &[id], &A_B);
        let shift = row_op(&[id]).reading(0, &column);
        let exp = row_op(&[id]).reading(1, &ROWS);
        [reduce(), shift, exp, reduce().reading(2, &ROWS), row_op(&[id]).reading(2, &ROWS).reading(3, &column)]
    };
    assert_eq!(text(&grown(&softmax(1))), "B(0) B(1 2 3) B(4)");
    assert_eq!(text(&grown(&softmax(0))), "A(0 1 2 3 4)");
}

#[test]
fn a_level_that_is_reduced_outside_of_one_that_is_not_has_nothing_finished_in_it() {
    let table = [("K", 4), ("M", 8)];
    let tree = grown(&[op(&["M", "N", "K"], 1, &[0, 1], &table), op(&["M", "N"], 0, &[0, 1], &table).reading(0, &ROWS)]);
    assert_eq!(text(&tree), "K(M(0)) M(1)");
    assert_eq!((tree.home_depth(0), tree.common_depth(1, 0)), (0, 0));
}

#[test]
fn a_read_under_exchanged_dimensions_parts_the_loop() {
    let exchanged = [Some(1), Some(0)];
    assert_eq!(text(&grown(&[row_op(&[0]), row_op(&[0]).reading(0, &exchanged)])), "A(0) A(1)");
    // After a second view that swaps the dimensions back, it is the same tile.
    assert_eq!(text(&grown(&[row_op(&[0]), row_op(&[0]).reading_through(0, &exchanged, &exchanged)])), "A(0 1)");
    // A view without known dimensions shows the complete value.
    assert_eq!(text(&grown(&[row_op(&[0]), row_op(&[0]).reading_through(0, &ROWS, &[None, Some(1)])])), "A(0) A(1)");
    // Read both directly and with swapped dimensions.
    assert_eq!(text(&grown(&[row_op(&[0]), row_op(&[0]).reading(0, &ROWS).reading(0, &exchanged)])), "A(0) A(1)");
}

#[test]
fn a_row_that_all_tiles_read_is_finished_before() {
    // The producer is tiled along its only dimension; the reader has it under another name.
    let tree = grown(&[op(&["A"], 0, &[0], &A_B), op(&["A", "B"], 0, &[0], &A_B).reading(0, &[Some(1)])]);
    assert_eq!(text(&tree), "A(0) A(1)");
}

#[test]
fn names_of_one_dimension_are_levels_of_it() {
    let table = [("C", 4), ("D", 2)];
    let merged = || op(&["C*D"], 0, &[0, 1], &table);
    assert_eq!(text(&grown(&[merged(), merged().reading(0, &[Some(0)])])), "C(D(0 1))");
    // The outer name tiles the outer dimension of the merged ones; the inner one is unknown.
    let mut parts = op(&["C", "D"], 0, &[0, 1], &table);
    parts.sizes = vec![4, 16];
    assert_eq!(text(&grown(&[parts, merged().reading_through(0, &[Some(0)], &[Some(0)])])), "C(D(0) D(1))");
}

#[test]
fn a_name_that_no_op_has_is_refused_at_its_first_op() {
    let table = [("A", 2), ("X", 2), ("X", 1), ("C", 1)];
    let sizes = BTreeMap::from([("C".to_owned(), 4)]);
    let of = |ids: &[i64]| Tree::grow(&[op(&["A"], 0, &[0], &table), op(&["A"], 0, ids, &table)], &sizes).map(|tree| text(&tree));
    let unknown =
        |count: i64| Err((1, CutError::Unknown { dim: "X".to_owned(), count, known: KnownNames(["A"].map(str::to_owned).into()) }));
    assert_eq!(of(&[0, 1]), unknown(2));
    // A name that the program declares may have one tile, since it may belong to a dimension of size 1.
    assert_eq!(of(&[0, 2]), unknown(1));
    assert_eq!(of(&[0, 3]), Ok("A(0 1)".to_owned()));
}

#[test]
fn a_name_that_no_op_has_is_answered_with_those_of_its_scope_alone() {
    let table = [("X", 2), ("B", 2)];
    let tree = Tree::grow(&[op(&["A", "C"], 0, &[0], &table), op(&["B"], 0, &[1], &table)], &BTreeMap::new());
    let known = KnownNames(["A", "C"].map(str::to_owned).into());
    assert_eq!(tree, Err((0, CutError::Unknown { dim: "X".to_owned(), count: 2, known })));
}

/// Creates an op with dimension B only that is recomputed in the loop along A.
fn again(maker: Option<usize>) -> TiledOp {
    let own = TiledOp { again: vec![0], ..op(&["B"], 0, &[0, 1], &A_B) };
    maker.into_iter().fold(own, |own, maker| own.reading(maker, &[Some(0)]))
}

#[test]
fn what_is_computed_again_is_in_all_loops_of_its_readers() {
    let of_column = [None, Some(1)];
    let tree = grown(&[again(None), again(Some(0)), row_op(&[0, 1]).reading(1, &of_column[1..])]);
    assert_eq!(text(&tree), "A(B(0 1 2))");
    assert_eq!((tree.times(0), tree.times(1), tree.times(2)), (2, 2, 1));
    assert_eq!((tree.home_depth(0), tree.common_depth(1, 0)), (2, 2));
}

#[test]
fn what_is_read_elsewhere_or_by_nobody_is_computed_once_and_so_is_what_it_reads() {
    let of_column = [Some(1)];
    // The last op needs the complete value.
    let whole = op(&["A"], 0, &[], &A_B).reading(1, &[None]);
    let tree = grown(&[again(None), again(Some(0)), row_op(&[0, 1]).reading(1, &of_column), whole]);
    assert_eq!(text(&tree), "B(0 1) A(B(2)) 3");
    assert_eq!((tree.times(0), tree.times(1)), (1, 1));
    // It is in the loop along A only, and reads the complete value.
    let of_rows = op(&["A"], 0, &[0, 1], &A_B).reading(0, &[None]);
    assert_eq!(text(&grown(&[again(None), row_op(&[0, 1]).reading(0, &of_column), of_rows])), "B(0) A(B(1) 2)");
    assert_eq!(text(&grown(&[row_op(&[0, 1]), again(None)])), "A(B(0)) B(1)");
}

#[test]
fn the_op_that_cannot_be_cut_is_named() {
    let error = CutError::Uneven { dim: "A".to_owned(), size: 64, count: 3 };
    assert_eq!(Tree::grow(&[row_op(&[]), op(&["A"], 0, &[0], &[("A", 3)])], &BTreeMap::new()), Err((1, error)));
}

#[test]
fn twenty_thousand_ops_in_two_groups_are_two_loops() {
    let table = [("A", 2), ("A", 4)];
    let ops: Vec<TiledOp> = (0..20_000_usize)
        .map(|position| {
            let own = op(&["A", "B"], 0, [&[0][..], &[1], &[]][position % 3], &table);
            if position < 3 { own } else { own.reading(position - 3, &ROWS) }
        })
        .collect();
    assert_eq!(grown(&ops).loops.len(), 2);
}

const NAMES: [&str; 4] = ["A", "B", "C", "D"];
const LEVELS: [(&str, i64); 5] = [("A", 2), ("B", 2), ("A", 4), ("C", 2), ("D", 2)];

prop_compose! {
    /// Random op: its names, number of reduced dimensions, levels, and reads.
    fn drawn()(
        names in proptest::sample::subsequence(&NAMES[..], 1..=3).prop_shuffle(),
        n_reduced in 0..3_usize,
        ids in proptest::sample::subsequence(vec![0, 1, 2, 3, 4], 0..=3),
        again in proptest::sample::subsequence(vec![0, 1, 2, 3, 4], 0..=5),
        reads in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 0..3),
    ) -> (TiledOp, Vec<(prop::sample::Index, u32)>) {
        let n_reduced = n_reduced.min(names.len());
        let again = if n_reduced == 0 { again } else { Vec::new() };
        (TiledOp { again, ..op(&names, n_reduced, &ids, &LEVELS) }, reads)
    }
}

/// Random ops in program order; the first one has all names, so that none is unknown.
fn programs() -> impl Strategy<Value = Vec<TiledOp>> {
    prop::collection::vec(drawn(), 1..24).prop_map(|drawn| {
        let mut ops = vec![op(&NAMES, 0, &[0, 1, 2, 3, 4], &LEVELS)];
        for (mut own, reads) in drawn {
            for (maker, bits) in reads {
                let (maker, n_dims) = (maker.index(ops.len()), own.names.len());
                // Usually the dimension of the same name; sometimes another one, or none.
                let by_name = |dim: usize| own.names.iter().position(|names| *names == ops[maker].names[dim]);
                let choose = |dim: usize| match bits >> (4 * dim) & 15 {
                    0 => None,
                    1 | 2 => Some(bits as usize % n_dims),
                    _ => by_name(dim),
                };
                let dims: Vec<Option<usize>> = (0..ops[maker].output.len()).map(choose).collect();
                let behind: Vec<Option<usize>> = (0..dims.len()).map(|dim| Some(dim).filter(|_| bits >> (16 + dim) & 7 != 0)).collect();
                own = own.reading_through(maker, &dims, &behind);
            }
            ops.push(own);
        }
        ops
    })
}

/// Returns the ops in execution order, each with the loops around it.
fn flat(tree: &Tree, nodes: &[Node], around: &[usize], to: &mut Vec<(usize, Vec<usize>)>) {
    for node in nodes {
        match *node {
            Node::Op(op) => to.push((op, around.to_vec())),
            Node::Loop(inner) => flat(tree, &tree.loops[inner].body, &[around, &[inner]].concat(), to),
        }
    }
}

proptest! {
    #[test]
    fn every_op_stands_in_its_loops_behind_what_it_reads(ops in programs()) {
        let tree = grown(&ops);
        prop_assert_eq!(&tree, &grown(&ops));
        let mut order = Vec::new();
        flat(&tree, &tree.roots, &[], &mut order);
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
                let maker = input.maker.unwrap();
                prop_assert!(places[maker] < places[reader], "{maker} is behind its reader {reader} in {}", text(&tree));
                let both = tree.chains[reader].iter().zip(&tree.chains[maker]).take_while(|(one, other)| one == other).count();
                prop_assert_eq!(tree.common_depth(reader, maker), both);
                prop_assert!(tree.times(maker) == 1 || both == tree.chains[maker].len(), "{maker} is read outside in {}", text(&tree));
                for (wanted, made) in tree.cuts[reader].iter().zip(&tree.cuts[maker]).take(both) {
                    prop_assert!(!made.is_reduced, "{reader} reads a part of {maker} in {}", text(&tree));
                    if made.dim.is_none() {
                        continue;
                    }
                    let read = TiledOp::cut_dim(&input.dims, wanted).and_then(|dim| input.behind[dim]);
                    prop_assert_eq!(read, TiledOp::cut_dim(&ops[maker].output, made));
                    prop_assert!(read.is_some());
                }
            }
        }
    }
}
