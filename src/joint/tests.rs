//! Tests on small programs: the chosen splits are the best of all choices, and never worse than those of each op in isolation.

use super::*;
use crate::work::{CoreUse, agreed_view, divide};
use cost::{Dim, Objective, OpKind, TileOperand};
use machine::{DeviceFormat::Sen169Fp16, Family};
use program::layout::{Coordinate, DeviceLayout, HostTensor, device_coordinates, stick_of};
use program::{CoreOrder, DimKind, IterationDim, Operand, Operation};
use proptest::prelude::*;
use scratchpad::{Exact, Placement, Use, UseKind};
use std::collections::BTreeSet;

const M: usize = 0;
const N: usize = 1;
const K: usize = 2;

/// Builder of a program. A value has the number of the op that defines it, an input a number above 100.
#[derive(Default)]
struct Builder {
    program: JointProgram,
    /// Defining op of each operand of each op; `None` for inputs.
    makers: Vec<Vec<Option<usize>>>,
    n_inputs: usize,
}

fn operand(sizes: &[i64], dims: &[usize], ranges: &[i64]) -> Operand {
    let access: Vec<Coordinate> = dims.iter().map(|&dim| Coordinate::dim(dim)).collect();
    let layout = DeviceLayout::row_major(sizes, Sen169Fp16).unwrap();
    let coordinates = device_coordinates(&layout, &HostTensor::row_major(sizes).unwrap(), &access, ranges).unwrap();
    Operand { layout, coordinates, part_of: None, indexed: None }
}

fn tile_operand(operand: &Operand, ranges: &[i64]) -> TileOperand {
    let moved: BTreeSet<usize> = operand.coordinates.iter().filter_map(|at| at.term).map(|term| term.dim).collect();
    TileOperand {
        tile_bytes: operand.layout.bytes(),
        element_bytes: 2,
        moved_by: moved.into_iter().filter(|&dim| ranges[dim] > 1).collect(),
        stick: stick_of(&operand.coordinates).dim,
        ..TileOperand::default()
    }
}

impl Builder {
    /// Adds an op whose operands are indexed by `dims`, inputs first; `makers` has the defining op of each input.
    /// Returns its number.
    fn op(&mut self, family: Family, ranges: &[i64], dims: &[&[usize]], makers: &[Option<usize>]) -> usize {
        let is_reduced = |dim: usize| family == Family::Matmul && dim == K;
        let kind = |dim| if is_reduced(dim) { DimKind::Reduction } else { DimKind::Output };
        let sizes = |dims: &[usize]| dims.iter().map(|&dim| ranges[dim]).collect::<Vec<_>>();
        let operation = Operation {
            family,
            dims: ranges.iter().enumerate().map(|(dim, &size)| IterationDim { size, kind: kind(dim) }).collect(),
            operands: dims.iter().map(|dims| operand(&sizes(dims), dims, ranges)).collect(),
            minima: WorkSplit::whole(ranges.len()),
            hint: None,
            blocked: Vec::new(),
        };
        let position = self.program.ops.len();
        let mut operands: Vec<TileOperand> = operation.operands.iter().map(|operand| tile_operand(operand, ranges)).collect();
        for (operand, maker) in operands.iter_mut().zip(makers) {
            operand.is_kernel_input = maker.is_none();
            self.n_inputs += 1;
            operand.buffer = maker.unwrap_or(100 + self.n_inputs);
        }
        let last = operands.len() - 1;
        (operands[last].is_output, operands[last].buffer) = (true, position);
        let tile = TileOp {
            kind: if family == Family::Matmul { OpKind::Matmul } else { OpKind::Pointwise },
            is_reduction: family == Family::Matmul,
            dims: ranges.iter().enumerate().map(|(dim, &extent)| Dim { extent, slices: 1, is_reduced: is_reduced(dim) }).collect(),
            operands,
            ..TileOp::default()
        };
        let own = divide(&operation, &Target::spyre()).unwrap();
        let values = vec![None; operation.operands.len()];
        self.program.add_op(&Rc::new(Kind::new(position, Rc::new(operation), vec![own])), tile, values);
        self.makers.push(makers.to_vec());
        position
    }

    fn matmul(&mut self, [m, k, n]: [i64; 3], left: Option<usize>) -> usize {
        self.op(Family::Matmul, &[m, n, k], &[&[M, K], &[K, N], &[M, N]], &[left, None])
    }

    fn pointwise(&mut self, [m, n]: [i64; 2], inputs: &[Option<usize>]) -> usize {
        let dims = vec![[M, N].as_slice(); inputs.len() + 1];
        self.op(Family::Pointwise, &[m, n], &dims, inputs)
    }

    /// Builds the program with a value for each result that is read, and the candidate splits of `target`.
    fn build(self, target: &Target) -> JointProgram {
        self.build_with(&mut Memo::default(), target)
    }

    fn build_with(mut self, memo: &mut Memo, target: &Target) -> JointProgram {
        for maker in 0..self.program.ops.len() {
            let result = self.program.kind(maker).operation.operands.len() - 1;
            let reads =
                self.makers.iter().enumerate().flat_map(|(op, makers)| makers.iter().enumerate().map(move |(at, from)| (op, at, from)));
            let users: Vec<OperandOf> =
                reads.filter(|(.., from)| **from == Some(maker)).map(|(op, operand, _)| OperandOf { op, operand }).collect();
            if users.is_empty() {
                continue;
            }
            let written = OperandOf { op: maker, operand: result };
            let users: Vec<OperandOf> = [written].into_iter().chain(users).collect();
            let index = self.program.values.len();
            for user in &users {
                self.program.ops[user.op].values[user.operand] = Some(index);
            }
            let uses = users
                .iter()
                .map(|user| Use { time: Op::time(user.op), kind: if *user == written { UseKind::Write } else { UseKind::Read } });
            let bytes = self.program.kind(maker).operation.operands[result].layout.bytes();
            let buffer = Buffer {
                name: format!("op{maker}"),
                bytes,
                uses: uses.collect(),
                in_place_parents: Vec::new(),
                starts_in_hbm: false,
                ends_in_hbm: false,
                barred: None,
            };
            self.program.values.push(Value { buffer, users, copied_before: None });
        }
        let mut program = JointProgram { values: self.program.values, ..JointProgram::default() };
        for op in self.program.ops {
            let kind = memo.kind(&self.program.kinds[op.kind].operation, true, target).unwrap();
            program.add_op(&kind, op.tile, op.values);
        }
        program
    }
}

fn slices(program: &JointProgram, choice: &Choice, op: usize) -> Vec<i64> {
    program.split(op, choice.splits[op]).slices().to_vec()
}

/// Returns a small network: `act(x A) B`.
fn two_layers() -> Builder {
    let mut builder = Builder::default();
    let first = builder.matmul([32, 128, 512], None);
    let act = builder.pointwise([32, 512], &[Some(first)]);
    builder.matmul([32, 512, 128], Some(act));
    builder
}

#[test]
fn a_mismatch_is_removed_where_that_pays() {
    let target = Target::spyre();
    let program = two_layers().build(&target);
    let alone = evaluate(&program, &[0, 0, 0], &Exact::whole_lives(), &target);
    let choice = choose(&program, &Exact::whole_lives(), &target, Objective::Time, &mut Memo::default());
    assert!(choice.ns < alone.ns && choice.hbm_bytes < alone.hbm_bytes, "{choice:?} against {} ns", alone.ns);
    // The results of the first product and of the function are in LX: HBM traffic is arguments, weights and the result.
    assert_eq!(choice.hbm_bytes, 2 * (32 * 128 + 128 * 512 + 512 * 128 + 32 * 128));
    // The second product splits its reduction dimension as the first one splits its columns, and each core keeps its
    // slice.
    let (first, second) = (slices(&program, &choice, 0), slices(&program, &choice, 2));
    assert_eq!((first[M], first[N]), (second[M], second[K]));
}

#[test]
fn what_does_not_fit_is_left_in_hbm_and_the_rest_chosen_again() {
    // The result of the first product needs 1 KiB a core on 32 cores.
    let target = Target { lx_bytes: 512, ..Target::spyre() };
    let program = two_layers().build(&target);
    let planner = Exact::whole_lives();
    let choice = choose(&program, &planner, &target, Objective::Time, &mut Memo::default());
    // The splits for a large LX keep all values resident; here they leave a value out.
    let ample = choose(&program, &planner, &Target::spyre(), Objective::Time, &mut Memo::default());
    let squeezed = evaluate(&program, &ample.splits, &planner, &target);
    assert!(!squeezed.spilled.is_empty() && choice.hbm_bytes > ample.hbm_bytes);
    // Splits that are chosen for the values that fit are cheaper than those splits.
    assert!(choice.ns < squeezed.ns && choice.splits != ample.splits);
}

/// Planner that counts its calls and places every value in HBM.
struct Full(std::cell::Cell<usize>);

impl Planner for Full {
    fn name(&self) -> &'static str {
        "full"
    }

    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        self.0.set(self.0.get() + 1);
        Placement::explained(buffers, capacity, vec![None; buffers.len()])
    }
}

#[test]
fn the_same_splits_are_planned_once() {
    let target = Target::spyre();
    let program = two_layers().build(&target);
    let full = Full(std::cell::Cell::new(0));
    let _ = choose(&program, &full, &target, Objective::Time, &mut Memo::default());
    // The splits of each op in isolation, those with all values in LX, and those with no value in LX.
    assert!(full.0.get() <= 3, "{} plans", full.0.get());
}

/// Creates a chain of ops that all read one common value and the previous result: three values per op.
fn ops_in_a_row(n_ops: usize) -> Builder {
    let mut builder = Builder::default();
    let shared = builder.pointwise([256, 512], &[None]);
    (0..n_ops).fold(shared, |last, _| builder.pointwise([256, 512], &[Some(last), Some(shared)]));
    builder
}

#[test]
fn the_work_is_what_splits_allow_and_not_all_states_of_three_values() {
    let target = Target::spyre();
    let n_entries = |n_ops: usize| {
        let program = ops_in_a_row(n_ops).build(&target);
        let tables = Tables::new(
            &program,
            &Capacity::of(&target),
            Pricing { model: &target.time, objective: Objective::Time },
            &mut Memo::default(),
        );
        let in_hbm = vec![false; program.values.len()];
        let found = minimize(&tables.problem(&in_hbm), &tables.start(), MOST_ENTRIES);
        let n_splits: usize = (0..program.ops.len()).map(|op| program.kind(op).splits.len()).sum();
        assert!(found.is_optimal);
        assert!(found.n_entries <= 8 * 5 * n_splits, "{} entries for {n_splits} splits", found.n_entries);
        found.n_entries
    };
    let (few, many) = (n_entries(10), n_entries(40));
    assert!(many <= 5 * few, "{many} entries for four times the ops that took {few}");
}

#[test]
fn no_value_is_left_in_hbm_because_its_op_has_many_states_of_which_few_go_together() {
    let target = Target::spyre();
    let mut builder = Builder::default();
    let ranges = [32, 16, 16, 256];
    let mut op =
        |makers: &[Option<usize>]| builder.op(Family::Pointwise, &ranges, &vec![[0, 1, 2, 3].as_slice(); makers.len() + 1], makers);
    let (left, right) = (op(&[None]), op(&[None]));
    let sum = op(&[Some(left), Some(right)]);
    op(&[Some(sum)]);
    let program = builder.build(&target);
    let tables =
        Tables::new(&program, &Capacity::of(&target), Pricing { model: &target.time, objective: Objective::Time }, &mut Memo::default());
    let n_states = tables.problem(&[false; 3]).n_states;
    assert!(n_states.iter().product::<usize>() > 1 << 18, "{n_states:?}");
    assert!(n_states.iter().all(|&n_states| n_states > 1), "{n_states:?}");
}

#[test]
fn ops_that_are_alike_are_priced_once() {
    let target = Target::spyre();
    let n_prices = |n_ops: usize| {
        let program = ops_in_a_row(n_ops).build(&target);
        let mut memo = Memo::default();
        let _ = choose(&program, &Exact::whole_lives(), &target, Objective::Time, &mut memo);
        (program.kinds.len(), memo.prices.len())
    };
    assert_eq!(n_prices(5), n_prices(50));
}

#[test]
fn a_split_has_every_order_of_the_cores_with_the_sum_first() {
    let mut builder = Builder::default();
    builder.matmul([32, 128, 512], None);
    let kind = builder.program.kind(0);
    let found = candidates(&kind.operation, &kind.splits[0], true, &Target::spyre()).unwrap();
    let divisors = |slices: &[i64]| {
        let same = found.iter().filter(|split| split.slices() == slices);
        same.map(|split| split.divisors(CoreOrder::LastFastest)).collect::<BTreeSet<_>>()
    };
    assert_eq!(divisors(&[4, 8, 1]), BTreeSet::from([vec![1, 4, 1], vec![8, 1, 1]]));
    assert_eq!(divisors(&[4, 4, 2]), BTreeSet::from([vec![2, 8, 1], vec![8, 2, 1]]));
    assert_eq!(found[0], kind.splits[0]);
}

#[test]
fn an_order_of_the_cores_lets_a_product_read_what_a_product_leaves() {
    let mut builder = Builder::default();
    let first = builder.matmul([32, 128, 512], None);
    builder.matmul([32, 512, 128], Some(first));
    let program = builder.build(&Target::spyre());
    let find = |op: usize, slices: &[i64], divisors: &[i64]| {
        let is_it = |split: &&WorkSplit| split.slices() == slices && split.divisors(CoreOrder::LastFastest) == divisors;
        program.kind(op).splits.iter().find(is_it).unwrap()
    };
    let agree = |left: &WorkSplit, right: &WorkSplit| {
        let written = CoreUse { op: &program.kind(0).operation, operand: 2, split: left };
        let read = CoreUse { op: &program.kind(1).operation, operand: 0, split: right };
        agreed_view(&[written, read]).is_ok()
    };
    let second = find(1, &[4, 1, 8], &[8, 1, 1]);
    assert!(!agree(find(0, &[4, 8, 1], &[1, 4, 1]), second), "in the usual order other cores have the parts");
    assert!(agree(find(0, &[4, 8, 1], &[8, 1, 1]), second));
}

/// Up to four ops on small matrices; each reads results of earlier ops, or inputs.
fn builders() -> impl Strategy<Value = Vec<(bool, [usize; 2])>> {
    prop::collection::vec((any::<bool>(), [0_usize..5, 0..5]), 1..4)
}

fn random_program(ops: &[(bool, [usize; 2])], target: &Target) -> JointProgram {
    random_builder(ops).build(target)
}

fn random_builder(ops: &[(bool, [usize; 2])]) -> Builder {
    let mut builder = Builder::default();
    for (position, (is_matmul, from)) in ops.iter().enumerate() {
        let made = |choice: usize| (choice < position).then_some(choice);
        if *is_matmul {
            builder.matmul([4, 128, 128], made(from[0]));
        } else {
            builder.pointwise([4, 128], &[made(from[0]), made(from[1])]);
        }
    }
    builder
}

/// Every choice of splits.
fn all_choices(program: &JointProgram) -> Vec<Vec<usize>> {
    program.ops.iter().fold(vec![vec![]], |known, op| {
        known
            .iter()
            .flat_map(|chosen| (0..program.kinds[op.kind].splits.len()).map(move |split| [&chosen[..], &[split]].concat()))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_choice_is_the_best_of_all_where_everything_fits(ops in builders()) {
        let target = Target { cores: 4, ..Target::spyre() };
        let program = random_program(&ops, &target);
        let choices = all_choices(&program);
        prop_assume!(choices.len() <= 4_000);
        let planner = Exact::whole_lives();
            let price = |chosen: &Vec<usize>| evaluate(&program, chosen, &planner, &target).ns;
        let best = choices.iter().map(price).fold(f64::INFINITY, f64::min);
        let choice = choose(&program, &planner, &target, Objective::Time, &mut Memo::default());
        prop_assert!((choice.ns - best).abs() < 0.01, "{} ns, and the best is {best}", choice.ns);
    }

    #[test]
    fn the_choice_is_never_dearer_than_each_op_s_own(ops in builders(), lx_bytes in 0_i64..2_000) {
        let target = Target { cores: 8, lx_bytes, ..Target::spyre() };
        let program = random_program(&ops, &target);
        let planner = Exact::whole_lives();
        let alone = evaluate(&program, &vec![0; program.ops.len()], &planner, &target);
        let choice = choose(&program, &planner, &target, Objective::Time, &mut Memo::default());
        prop_assert!(choice.ns <= alone.ns);
        let again = evaluate(&program, &choice.splits, &planner, &target);
        prop_assert_eq!((again.ns.to_bits(), again.hbm_bytes), (choice.ns.to_bits(), choice.hbm_bytes));
    }
}

/// Programs of one search give what each of them gives alone, in any order.
#[test]
fn a_memo_changes_no_choice() {
    let target = Target { cores: 8, ..Target::spyre() };
    let planner = Exact::whole_lives();
    let mut memo = Memo::default();
    let programs: Vec<JointProgram> = [
        vec![(true, [4, 4]), (false, [0, 0]), (true, [1, 4])],
        vec![(false, [4, 4]), (false, [0, 0]), (true, [1, 4])],
        vec![(true, [4, 4]), (true, [0, 4]), (false, [0, 1])],
    ]
    .iter()
    .map(|ops| random_builder(ops).build_with(&mut memo, &target))
    .collect();
    for objective in [Objective::Time, Objective::Bytes, Objective::Time] {
        for program in &programs {
            let alone = choose(program, &planner, &target, objective, &mut Memo::default());
            assert_eq!(choose(program, &planner, &target, objective, &mut memo), alone);
        }
    }
}
