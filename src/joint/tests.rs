//! Tests on small programs: the chosen splits are the best of all choices, and never worse than those of each op in
//! isolation.

use super::*;
use crate::assignment::TableMemo;
use crate::work::{CoreUse, divide, find_common_view};
use cost::{Dim, Objective, OpKind, TileOperand};
use machine::{DeviceFormat::Sen169Fp16, Family};
use program::layout::{Coordinate, DeviceLayout, HostTensor, compute_device_coordinates, find_stick_contents};
use program::{CoreOrder, DeviceOperand, DimKind, IterationDim, UndividedOp};
use proptest::prelude::*;
use scratchpad::{ExactPlanner, Placement, Use, UseKind};
use std::collections::BTreeSet;

const M: usize = 0;
const N: usize = 1;
const K: usize = 2;

/// Builder of a program. A value has the number of the op that defines it, an input a number above 100.
#[derive(Default)]
struct JointProgramBuilder {
    program: JointProgram,
    /// Defining op of each operand of each op; `None` for inputs.
    producers: Vec<Vec<Option<usize>>>,
    num_inputs: usize,
}

fn build_operand(sizes: &[i64], dims: &[usize], ranges: &[i64]) -> DeviceOperand {
    let access: Vec<Coordinate> = dims.iter().map(|&dim| Coordinate::from_dim(dim)).collect();
    let layout = DeviceLayout::row_major(sizes, Sen169Fp16).unwrap();
    let coordinates =
        compute_device_coordinates(&layout, &HostTensor::row_major(sizes).unwrap(), &access, ranges).unwrap();
    DeviceOperand { layout, coordinates, part_of: None, indexed: None }
}

fn build_tile_operand(operand: &DeviceOperand, ranges: &[i64]) -> TileOperand {
    let moved: BTreeSet<usize> = operand.coordinates.iter().filter_map(|at| at.term).map(|term| term.dim).collect();
    TileOperand {
        tile_bytes: operand.layout.bytes(),
        element_bytes: 2,
        moved_by: moved.into_iter().filter(|&dim| ranges[dim] > 1).collect(),
        stick: find_stick_contents(&operand.coordinates).dim,
        ..TileOperand::default()
    }
}

impl JointProgramBuilder {
    /// Adds an op whose operands are indexed by `dims`, inputs first; `makers` has the defining op of each input.
    /// Returns its number.
    fn add_op(&mut self, family: Family, ranges: &[i64], dims: &[&[usize]], producers: &[Option<usize>]) -> usize {
        let is_reduced = |dim: usize| family == Family::Matmul && dim == K;
        let kind = |dim| if is_reduced(dim) { DimKind::Reduction } else { DimKind::Output };
        let sizes = |dims: &[usize]| dims.iter().map(|&dim| ranges[dim]).collect::<Vec<_>>();
        let operation = UndividedOp {
            family,
            dims: ranges.iter().enumerate().map(|(dim, &size)| IterationDim { size, kind: kind(dim) }).collect(),
            operands: dims.iter().map(|dims| build_operand(&sizes(dims), dims, ranges)).collect(),
            minima: WorkSplit::single_core(ranges.len()),
            hint: None,
            blocked: Vec::new(),
        };
        let position = self.program.ops.len();
        let mut operands: Vec<TileOperand> =
            operation.operands.iter().map(|operand| build_tile_operand(operand, ranges)).collect();
        for (operand, producer) in operands.iter_mut().zip(producers) {
            operand.is_kernel_input = producer.is_none();
            self.num_inputs += 1;
            operand.buffer = producer.unwrap_or(100 + self.num_inputs);
        }
        let last = operands.len() - 1;
        (operands[last].is_output, operands[last].buffer) = (true, position);
        let tile = TileOp {
            kind: if family == Family::Matmul { OpKind::Matmul } else { OpKind::Pointwise },
            is_reduction: family == Family::Matmul,
            dims: ranges
                .iter()
                .enumerate()
                .map(|(dim, &extent)| Dim { extent, slices: 1, is_reduced: is_reduced(dim) })
                .collect(),
            operands,
            ..TileOp::default()
        };
        let own = divide(&operation, &Target::spyre()).unwrap();
        let values = vec![None; operation.operands.len()];
        self.program.add_op(&Rc::new(OpClass::new(position, Rc::new(operation), vec![own])), tile, values);
        self.producers.push(producers.to_vec());
        position
    }

    fn add_matmul(&mut self, [m, k, n]: [i64; 3], left: Option<usize>) -> usize {
        self.add_op(Family::Matmul, &[m, n, k], &[&[M, K], &[K, N], &[M, N]], &[left, None])
    }

    fn add_pointwise(&mut self, [m, n]: [i64; 2], inputs: &[Option<usize>]) -> usize {
        let dims = vec![[M, N].as_slice(); inputs.len() + 1];
        self.add_op(Family::Pointwise, &[m, n], &dims, inputs)
    }

    /// Builds the program with a value for each result that is read, and the candidate splits of `target`.
    fn build(self, target: &Target) -> JointProgram {
        self.build_with_memo(&mut JointMemo::default(), target)
    }

    fn build_with_memo(mut self, memo: &mut JointMemo, target: &Target) -> JointProgram {
        for producer in 0..self.program.ops.len() {
            let result = self.program.op_class(producer).operation.operands.len() - 1;
            let reads = self
                .producers
                .iter()
                .enumerate()
                .flat_map(|(op, producers)| producers.iter().enumerate().map(move |(at, from)| (op, at, from)));
            let users: Vec<OperandRef> = reads
                .filter(|(.., from)| **from == Some(producer))
                .map(|(op, operand, _)| OperandRef { op, operand })
                .collect();
            if users.is_empty() {
                continue;
            }
            let written = OperandRef { op: producer, operand: result };
            let users: Vec<OperandRef> = [written].into_iter().chain(users).collect();
            let index = self.program.values.len();
            for user in &users {
                self.program.ops[user.op].values[user.operand] = Some(index);
            }
            let uses = users.iter().map(|user| Use {
                time: JointOp::use_time(user.op),
                kind: if *user == written { UseKind::Write } else { UseKind::Read },
            });
            let bytes = self.program.op_class(producer).operation.operands[result].layout.bytes();
            let buffer = Buffer {
                name: format!("op{producer}"),
                bytes,
                uses: uses.collect(),
                in_place_parents: Vec::new(),
                starts_in_hbm: false,
                ends_in_hbm: false,
                barred: None,
            };
            self.program.values.push(JointValue { buffer, users, copied_before: None });
        }
        let mut program = JointProgram { values: self.program.values, ..JointProgram::default() };
        for op in self.program.ops {
            let kind = memo.find_op_class(&self.program.kinds[op.kind].operation, true, target).unwrap();
            program.add_op(&kind, op.tile, op.values);
        }
        program
    }
}

fn chosen_slices(program: &JointProgram, choice: &SplitChoice, op: usize) -> Vec<i64> {
    program.split(op, choice.splits[op]).slices().to_vec()
}

/// Returns a small network: `act(x A) B`.
fn build_two_layers() -> JointProgramBuilder {
    let mut builder = JointProgramBuilder::default();
    let first = builder.add_matmul([32, 128, 512], None);
    let act = builder.add_pointwise([32, 512], &[Some(first)]);
    builder.add_matmul([32, 512, 128], Some(act));
    builder
}

#[test]
fn removes_split_conflict_where_that_saves_time() {
    let target = Target::spyre();
    let program = build_two_layers().build(&target);
    let alone = evaluate(&program, &[0, 0, 0], &ExactPlanner::new_unsplit(), &target);
    let choice = choose_joint_splits(
        &program,
        &ExactPlanner::new_unsplit(),
        &target,
        Objective::Time,
        &mut JointMemo::default(),
    );
    assert!(choice.ns < alone.ns && choice.hbm_bytes < alone.hbm_bytes, "{choice:?} against {} ns", alone.ns);
    // The results of the first matmul and of the function are in LX: HBM traffic is arguments, weights and the result.
    assert_eq!(choice.hbm_bytes, 2 * (32 * 128 + 128 * 512 + 512 * 128 + 32 * 128));
    // The second matmul splits its reduction dimension as the first one splits its columns, and each core keeps its
    // slice.
    let (first, second) = (chosen_slices(&program, &choice, 0), chosen_slices(&program, &choice, 2));
    assert_eq!((first[M], first[N]), (second[M], second[K]));
}

#[test]
fn leaves_values_that_do_not_fit_in_hbm_and_chooses_again() {
    // The result of the first matmul needs 1 KiB per core on 32 cores.
    let target = Target { lx_bytes: 512, ..Target::spyre() };
    let program = build_two_layers().build(&target);
    let planner = ExactPlanner::new_unsplit();
    let choice = choose_joint_splits(&program, &planner, &target, Objective::Time, &mut JointMemo::default());
    // The splits for a large LX keep all values resident; here they leave a value out.
    let ample = choose_joint_splits(&program, &planner, &Target::spyre(), Objective::Time, &mut JointMemo::default());
    let squeezed = evaluate(&program, &ample.splits, &planner, &target);
    assert!(!squeezed.spilled.is_empty() && choice.hbm_bytes > ample.hbm_bytes);
    // Splits that are chosen for the values that fit are cheaper than those splits.
    assert!(choice.ns < squeezed.ns && choice.splits != ample.splits);
}

/// Planner that counts its calls and places every value in HBM.
struct HbmOnlyPlanner(std::cell::Cell<usize>);

impl Planner for HbmOnlyPlanner {
    fn name(&self) -> &'static str {
        "full"
    }

    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        self.0.set(self.0.get() + 1);
        Placement::from_addresses(buffers, capacity, vec![None; buffers.len()])
    }
}

#[test]
fn plans_equal_splits_once() {
    let target = Target::spyre();
    let program = build_two_layers().build(&target);
    let full = HbmOnlyPlanner(std::cell::Cell::new(0));
    let _ = choose_joint_splits(&program, &full, &target, Objective::Time, &mut JointMemo::default());
    // The splits of each op in isolation, those with all values in LX, and those with no value in LX.
    assert!(full.0.get() <= 3, "{} plans", full.0.get());
}

/// Creates a chain of ops that all read one common value and the previous result: three values per op.
fn build_op_chain(n_ops: usize) -> JointProgramBuilder {
    let mut builder = JointProgramBuilder::default();
    let shared = builder.add_pointwise([256, 512], &[None]);
    (0..n_ops).fold(shared, |last, _| builder.add_pointwise([256, 512], &[Some(last), Some(shared)]));
    builder
}

#[test]
fn visits_only_states_that_splits_allow() {
    let target = Target::spyre();
    let num_entries = |n_ops: usize| {
        let program = build_op_chain(n_ops).build(&target);
        let tables = CostTables::new(
            &program,
            &Capacity::from_target(&target),
            CostContext { model: &target.time, objective: Objective::Time },
            &mut JointMemo::default(),
        );
        let in_hbm = vec![false; program.values.len()];
        let found = minimize(
            &tables.build_problem(&in_hbm),
            &tables.initial_states(),
            MAX_TABLE_ENTRIES,
            &mut TableMemo::default(),
        );
        let num_splits: usize = (0..program.ops.len()).map(|op| program.op_class(op).splits.len()).sum();
        assert!(found.is_optimal);
        assert!(found.num_entries <= 8 * 5 * num_splits, "{} entries for {num_splits} splits", found.num_entries);
        found.num_entries
    };
    let (few, many) = (num_entries(10), num_entries(40));
    assert!(many <= 5 * few, "{many} entries for four times the ops that took {few}");
}

#[test]
fn keeps_values_eligible_if_few_of_many_states_are_feasible() {
    let target = Target::spyre();
    let mut builder = JointProgramBuilder::default();
    let ranges = [32, 16, 16, 256];
    let mut op = |producers: &[Option<usize>]| {
        builder.add_op(Family::Pointwise, &ranges, &vec![[0, 1, 2, 3].as_slice(); producers.len() + 1], producers)
    };
    let (left, right) = (op(&[None]), op(&[None]));
    let sum = op(&[Some(left), Some(right)]);
    op(&[Some(sum)]);
    let program = builder.build(&target);
    let tables = CostTables::new(
        &program,
        &Capacity::from_target(&target),
        CostContext { model: &target.time, objective: Objective::Time },
        &mut JointMemo::default(),
    );
    let num_states = tables.build_problem(&[false; 3]).num_states;
    assert!(num_states.iter().product::<usize>() > 1 << 18, "{num_states:?}");
    assert!(num_states.iter().all(|&num_states| num_states > 1), "{num_states:?}");
}

#[test]
fn computes_costs_of_equivalent_ops_once() {
    let target = Target::spyre();
    let num_prices = |n_ops: usize| {
        let program = build_op_chain(n_ops).build(&target);
        let mut memo = JointMemo::default();
        let _ = choose_joint_splits(&program, &ExactPlanner::new_unsplit(), &target, Objective::Time, &mut memo);
        (program.kinds.len(), memo.prices.len())
    };
    assert_eq!(num_prices(5), num_prices(50));
}

#[test]
fn enumerates_core_orders_with_reduction_dim_first() {
    let mut builder = JointProgramBuilder::default();
    builder.add_matmul([32, 128, 512], None);
    let kind = builder.program.op_class(0);
    let found = enumerate_split_candidates(&kind.operation, &kind.splits[0], true, &Target::spyre()).unwrap();
    let divisors = |slices: &[i64]| {
        let same = found.iter().filter(|split| split.slices() == slices);
        same.map(|split| split.divisors(CoreOrder::LastFastest)).collect::<BTreeSet<_>>()
    };
    assert_eq!(divisors(&[4, 8, 1]), BTreeSet::from([vec![1, 4, 1], vec![8, 1, 1]]));
    assert_eq!(divisors(&[4, 4, 2]), BTreeSet::from([vec![2, 8, 1], vec![8, 2, 1]]));
    assert_eq!(found[0], kind.splits[0]);
}

#[test]
fn lets_matmul_read_matmul_result_by_core_order() {
    let mut builder = JointProgramBuilder::default();
    let first = builder.add_matmul([32, 128, 512], None);
    builder.add_matmul([32, 512, 128], Some(first));
    let program = builder.build(&Target::spyre());
    let find = |op: usize, slices: &[i64], divisors: &[i64]| {
        let is_it = |split: &&WorkSplit| split.slices() == slices && split.divisors(CoreOrder::LastFastest) == divisors;
        program.op_class(op).splits.iter().find(is_it).unwrap()
    };
    let agree = |left: &WorkSplit, right: &WorkSplit| {
        let written = CoreUse { op: &program.op_class(0).operation, operand: 2, split: left };
        let read = CoreUse { op: &program.op_class(1).operation, operand: 0, split: right };
        find_common_view(&[written, read]).is_ok()
    };
    let second = find(1, &[4, 1, 8], &[8, 1, 1]);
    assert!(!agree(find(0, &[4, 8, 1], &[1, 4, 1]), second), "in the usual order other cores have the parts");
    assert!(agree(find(0, &[4, 8, 1], &[8, 1, 1]), second));
}

/// Returns up to four ops on small matrices; each reads results of earlier ops, or inputs.
fn random_ops() -> impl Strategy<Value = Vec<(bool, [usize; 2])>> {
    prop::collection::vec((any::<bool>(), [0_usize..5, 0..5]), 1..4)
}

fn random_program(ops: &[(bool, [usize; 2])], target: &Target) -> JointProgram {
    build_random_ops(ops).build(target)
}

fn build_random_ops(ops: &[(bool, [usize; 2])]) -> JointProgramBuilder {
    let mut builder = JointProgramBuilder::default();
    for (position, (is_matmul, from)) in ops.iter().enumerate() {
        let made = |choice: usize| (choice < position).then_some(choice);
        if *is_matmul {
            builder.add_matmul([4, 128, 128], made(from[0]));
        } else {
            builder.add_pointwise([4, 128], &[made(from[0]), made(from[1])]);
        }
    }
    builder
}

/// Returns every choice of splits.
fn enumerate_choices(program: &JointProgram) -> Vec<Vec<usize>> {
    program.ops.iter().fold(vec![vec![]], |known, op| {
        known
            .iter()
            .flat_map(|chosen| {
                (0..program.kinds[op.kind].splits.len()).map(move |split| [&chosen[..], &[split]].concat())
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn finds_optimum_if_everything_fits(ops in random_ops()) {
        let target = Target { cores: 4, ..Target::spyre() };
        let program = random_program(&ops, &target);
        let choices = enumerate_choices(&program);
        prop_assume!(choices.len() <= 4_000);
        let planner = ExactPlanner::new_unsplit();
            let price = |chosen: &Vec<usize>| evaluate(&program, chosen, &planner, &target).ns;
        let best = choices.iter().map(price).fold(f64::INFINITY, f64::min);
        let choice = choose_joint_splits(&program, &planner, &target, Objective::Time, &mut JointMemo::default());
        prop_assert!((choice.ns - best).abs() < 0.01, "{} ns, and the best is {best}", choice.ns);
    }

    #[test]
    fn never_costs_more_than_separate_splits(ops in random_ops(), lx_bytes in 0_i64..2_000) {
        let target = Target { cores: 8, lx_bytes, ..Target::spyre() };
        let program = random_program(&ops, &target);
        let planner = ExactPlanner::new_unsplit();
        let alone = evaluate(&program, &vec![0; program.ops.len()], &planner, &target);
        let choice = choose_joint_splits(&program, &planner, &target, Objective::Time, &mut JointMemo::default());
        prop_assert!(choice.ns <= alone.ns);
        let again = evaluate(&program, &choice.splits, &planner, &target);
        prop_assert_eq!((again.ns.to_bits(), again.hbm_bytes), (choice.ns.to_bits(), choice.hbm_bytes));
    }
}

/// A memo that the programs of one search share changes no result, in any order.
#[test]
fn chooses_equal_splits_with_shared_memo() {
    let target = Target { cores: 8, ..Target::spyre() };
    let planner = ExactPlanner::new_unsplit();
    let mut memo = JointMemo::default();
    let programs: Vec<JointProgram> = [
        vec![(true, [4, 4]), (false, [0, 0]), (true, [1, 4])],
        vec![(false, [4, 4]), (false, [0, 0]), (true, [1, 4])],
        vec![(true, [4, 4]), (true, [0, 4]), (false, [0, 1])],
    ]
    .iter()
    .map(|ops| build_random_ops(ops).build_with_memo(&mut memo, &target))
    .collect();
    for objective in [Objective::Time, Objective::Bytes, Objective::Time] {
        for program in &programs {
            let alone = choose_joint_splits(program, &planner, &target, objective, &mut JointMemo::default());
            assert_eq!(choose_joint_splits(program, &planner, &target, objective, &mut memo), alone);
        }
    }
}
