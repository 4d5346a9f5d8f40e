//! Certificates of hand-written programs, and the violations that forged certificates cause.

#![allow(clippy::unwrap_used, reason = "a test over values")]

use cost::{Dim as TileDim, OpKind, TileOp, TileOperand};
use machine::Target;
use serde_json::Value;
use tile_verify::{Certificate, Dim, Input, Op, Program, Proof, Violation, verify};

const TARGET: Target = Target::spyre();

/// Returns an elementwise op, or a maximum of rows, on `[rows, columns]`; `maker` is the producer of its operand.
fn op(rows: i64, columns: i64, maker: Option<usize>, value: usize, reduces: bool, is_result: bool) -> Op {
    let bytes = 2 * rows * columns;
    let operand = |is_output: bool, dims: &[usize], tile_bytes: i64| TileOperand {
        buffer: usize::from(is_output),
        is_output,
        is_kernel_input: !is_output && maker.is_none(),
        tile_bytes,
        element_bytes: 2,
        moved_by: dims.to_vec(),
        stick: dims.get(1).copied(),
        inner: Some(0),
        ..TileOperand::default()
    };
    let result = if reduces { operand(true, &[0], 128 * rows) } else { operand(true, &[0, 1], bytes) };
    let dim = |extent, is_reduced| TileDim { extent, slices: 1, is_reduced };
    Op {
        priced: Some(TileOp {
            kind: if reduces { OpKind::Reduction } else { OpKind::Pointwise },
            is_reduction: reduces,
            dims: vec![dim(rows, false), dim(columns, reduces)],
            operands: vec![operand(false, &[0, 1], bytes), result],
            ..TileOp::default()
        }),
        dims: vec![Dim { size: rows, may_be_cut: true, granule: 1 }, Dim { size: columns, may_be_cut: !reduces, granule: 64 }],
        inputs: vec![Input { value, maker, dims: vec![Some(0), Some(1)], behind: vec![Some(0), Some(1)] }],
        output: if reduces { vec![Some(0), None] } else { vec![Some(0), Some(1)] },
        may_be_in_lx: true,
        is_result,
    }
}

/// Returns a chain of elementwise ops on the given number of rows of 4,096 columns.
fn chain(n_ops: usize, rows: i64) -> Program {
    Program { ops: (0..n_ops).map(|number| op(rows, 4096, number.checked_sub(1), number, false, number + 1 == n_ops)).collect() }
}

fn certificate(program: Program) -> Certificate {
    let proof = Proof::of(program, &TARGET).unwrap();
    let bound_us = proof.bound_us();
    Certificate { version: "0.1.0".to_owned(), us: bound_us, bound_us, proof }
}

fn checked(certificate: &Certificate) -> Result<f64, Violation> {
    verify(&serde_json::to_string(certificate).unwrap()).map(|verified| verified.bound_us)
}

/// Returns the violation that `verify` reports after the certificate's value at JSON pointer `place` is replaced.
fn forged(certificate: &Certificate, place: &str, value: impl Into<Value>) -> Violation {
    let mut text = serde_json::to_value(certificate).unwrap();
    *text.pointer_mut(place).unwrap() = value.into();
    verify(&text.to_string()).unwrap_err()
}

/// Returns the time, ns, of `bytes` in one direction, and of all cores for the given number of points in LX.
fn traffic_and_compute_ns(bytes: f64, points: f64) -> [f64; 2] {
    [bytes / TARGET.time.hbm.one_way, points / 32.0 / TARGET.time.recommended.lx]
}

#[test]
fn what_is_proved_is_what_a_plan_by_hand_takes() {
    // 16 MiB fit into LX: one read, one write.
    let program = chain(3, 2048);
    let (bytes, points) = (2.0 * 2048.0 * 4096.0, 2048.0 * 4096.0);
    let [traffic, compute] = traffic_and_compute_ns(bytes, points);
    let expected_ns = 2.0 * traffic.hypot(compute) + compute + 3.0 * TARGET.time.recommended.op_ns;
    let proved = certificate(program);
    assert!((proved.bound_us * 1000.0 - expected_ns).abs() < 1e-3, "{} us, and {expected_ns} ns by hand", proved.bound_us);
    assert_eq!(checked(&proved), Ok(proved.bound_us));
}

#[test]
fn what_has_no_room_takes_a_loop_or_passes_hbm() {
    // 128 MiB: in four tiles there is room.
    let [traffic, compute] = traffic_and_compute_ns(2.0 * 16384.0 * 4096.0, 16384.0 * 4096.0);
    let recommended = &TARGET.time.recommended;
    let loops_ns = 2.0 * traffic.hypot(compute) + compute + 3.0 * (recommended.op_ns + 4.0 * recommended.iteration_ns);
    let proved = certificate(chain(3, 16384));
    assert!((proved.bound_us * 1000.0 - loops_ns).abs() < 1e-3, "{} us, and {loops_ns} ns in a loop", proved.bound_us);
    // A result of an op that cannot be tiled is written to HBM and read back.
    let mut whole = chain(3, 16384);
    whole.ops.iter_mut().flat_map(|op| &mut op.dims).for_each(|dim| dim.may_be_cut = false);
    let through_hbm = certificate(whole);
    let two_ways = (2.0 * traffic).hypot(compute);
    let expected_ns = 3.0 * (two_ways + recommended.op_ns);
    assert!((through_hbm.bound_us * 1000.0 - expected_ns).abs() < 1e-3, "{} us, and {expected_ns} ns", through_hbm.bound_us);
}

#[test]
fn a_row_that_is_whole_behind_a_loop_over_columns_passes_hbm() {
    // A row maximum passes its result on within a loop over rows. A loop over columns tiles the result of the first op, whose reader is
    // outside of the loop.
    let rows = 16384;
    let mut program = chain(2, rows);
    program.ops[0].is_result = false;
    program.ops[1] = op(rows, 4096, Some(0), 1, true, true);
    let in_rows = certificate(program.clone());
    program.ops.iter_mut().for_each(|op| op.dims[0].may_be_cut = false);
    let in_columns = certificate(program);
    let [traffic, _] = traffic_and_compute_ns(2.0 * 16384.0 * 4096.0, 0.0);
    assert!(in_columns.bound_us * 1000.0 > in_rows.bound_us * 1000.0 + traffic, "{} us, {} us", in_rows.bound_us, in_columns.bound_us);
}

#[test]
fn what_several_read_is_charged_only_where_one_is_surely_the_first() {
    // exp x and x * exp x: the second one needs the first. exp x and exp x: either may come first.
    let needing = |needs: bool| {
        let mut program = chain(2, 2048);
        let input = |maker: Option<usize>, value: usize| Input { value, maker, ..program.ops[0].inputs[0].clone() };
        let inputs = if needs { vec![input(Some(0), 1), input(None, 0)] } else { vec![input(None, 0)] };
        let mut second = program.ops[1].clone();
        second.inputs = inputs;
        let priced = second.priced.as_mut().unwrap();
        priced.operands[0].is_kernel_input = true;
        if needs {
            let made = TileOperand { is_kernel_input: false, ..priced.operands[0].clone() };
            priced.operands.insert(0, made);
        }
        program.ops[1] = second;
        program.ops[0].is_result = true;
        certificate(program).bound_us * 1000.0
    };
    let [traffic, compute] = traffic_and_compute_ns(2.0 * 2048.0 * 4096.0, 2048.0 * 4096.0);
    let starts = 2.0 * TARGET.time.recommended.op_ns;
    let sure = (2.0 * traffic).hypot(compute) + traffic.hypot(compute) + starts;
    let unsure = 2.0 * traffic.hypot(compute) + starts;
    assert!((needing(true) - sure).abs() < 1e-3, "{} ns, {sure} by hand", needing(true));
    assert!((needing(false) - unsure).abs() < 1e-3, "{} ns, {unsure} by hand", needing(false));
}

#[test]
fn forged_certificates_are_refused() {
    let honest = certificate(chain(4, 16384));
    assert!(checked(&honest).is_ok());
    let last = honest.proof.potentials_ns.len() - 1;
    for position in 1..=last {
        let raised = honest.proof.potentials_ns[position] + 0.01;
        let refused = forged(&honest, &format!("/proof/potentials_ns/{position}"), raised);
        assert!(matches!(refused, Violation::Step { .. }), "{position}: {refused}");
    }
    let claim = |field: &str, value: f64| forged(&honest, field, Value::from(value));
    assert!(matches!(claim("/bound_us", honest.bound_us + 0.001), Violation::Claim { field: "bound_us", .. }));
    assert!(matches!(claim("/us", honest.us - 0.001), Violation::Claim { field: "us", .. }));
    assert!(matches!(claim("/proof/potentials_ns/0", 1.0), Violation::Potentials(_)));
    assert!(matches!(forged(&honest, "/proof/potentials_ns", vec![0.0]), Violation::Potentials(_)));
    assert!(matches!(forged(&honest, "/us", Value::Null), Violation::Unreadable(_)));
    // Without its last op the program takes less; with more freedom, or a faster machine, it may.
    let mut shorter = honest.clone();
    shorter.proof.program.ops.pop();
    assert!(matches!(checked(&shorter), Err(Violation::Potentials(_))));
    shorter.proof.potentials_ns.remove(1);
    assert!(matches!(checked(&shorter), Err(Violation::Step { .. })));
    assert!(matches!(forged(&honest, "/proof/program/ops/1/priced", Value::Null), Violation::Step { .. }));
    assert!(matches!(forged(&honest, "/proof/target/time/hbm/one_way", 300.0), Violation::Step { .. }));
    assert!(matches!(forged(&honest, "/proof/target/lx_bytes", 1_i64 << 30), Violation::Step { .. }));
}

#[test]
fn a_certificate_may_claim_less() {
    let mut modest = certificate(chain(4, 16384));
    modest.proof.potentials_ns.iter_mut().for_each(|ns| *ns *= 0.5);
    modest.bound_us = modest.proof.bound_us();
    let verified = verify(&serde_json::to_string(&modest).unwrap()).unwrap();
    assert!((verified.gap() - 0.5).abs() < 1e-6 && !verified.is_optimal());
    assert!(verified.to_string().ends_with(" us; the best tiling saves at most 50.0 %"), "{verified}");
}

#[test]
fn numbers_that_no_program_has_are_refused() {
    let honest = certificate(chain(2, 2048));
    let forged_op = |place: &str, value: Value| forged(&honest, &format!("/proof/program/ops/1/{place}"), value);
    let forgeries: [(&str, Value); 15] = [
        ("dims/0/size", 0.into()),
        ("dims/0/granule", 0.into()),
        ("dims/0/size", i64::MAX.into()),
        ("output/0", 7.into()),
        ("inputs/0/maker", 1.into()),
        ("inputs/0/maker", 9.into()),
        ("priced/dims/0/extent", 0.into()),
        ("priced/dims/0/extent", i64::MAX.into()),
        ("priced/operands/0/tile_bytes", i64::MAX.into()),
        ("priced/operands/0/tile_bytes", (-1).into()),
        ("priced/operands/0/element_bytes", 0.into()),
        ("priced/operands/0/stick", 5.into()),
        ("priced/operands/0/moved_by", vec![9].into()),
        ("priced/trips", vec![4].into()),
        ("priced/operands", Vec::<Value>::new().into()),
    ];
    for (place, value) in forgeries {
        let refused = forged_op(place, value.clone());
        assert!(matches!(refused, Violation::Op { op: 1, .. }), "{place} = {value}: {refused}");
    }
    for (place, value) in [("cores", 1_i64 << 20), ("cores", 0), ("lx_bytes", 1 << 50)] {
        assert!(matches!(forged(&honest, &format!("/proof/target/{place}"), value), Violation::Machine(_)), "{place} = {value}");
    }
    assert!(matches!(forged(&honest, "/proof/target/time/recommended/overlap", 1.5), Violation::Machine(_)));
    assert!(matches!(verify("{"), Err(Violation::Unreadable(_))));
}

#[test]
fn a_check_takes_steps_in_proportion_to_the_ops() {
    let steps = |n_ops: usize, rows: i64| {
        let text = serde_json::to_string(&certificate(chain(n_ops, rows))).unwrap();
        verify(&text).unwrap().n_looked_at
    };
    // The last 24 ops have fewer segments than the others, which all have 24; a step ends where it takes long enough.
    let [once, twice, four_times] = [50, 100, 200].map(|n_ops| steps(n_ops, 16384));
    assert!(100 * (four_times - twice) <= 105 * 2 * (twice - once), "{once}, {twice} and {four_times} ops in nests");
    // An op in a segment of 24 ops is in no more nests than two axes have pairs of 12 counts, and each alone.
    let per_op = (twice - once) / 50;
    let most = (1..=24).sum::<usize>() * (12 * 12 + 12 + 12) + 1;
    assert!(per_op <= most, "{per_op} looks for each op, and at most {most}");
    // Larger sizes have no more counts.
    let of_more_rows = steps(50, 1 << 20);
    assert!(of_more_rows <= 4 * once, "{of_more_rows} looks, and {once} for a sixty-fourth of the rows");
}
