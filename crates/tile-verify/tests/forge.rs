//! Certificates of hand-written programs, and the violations that forged certificates cause.

#![allow(clippy::unwrap_used, reason = "a test over values")]

use cost::{Dim as TileDim, OpKind, TileOp, TileOperand};
use machine::Target;
use serde_json::Value;
use tile_verify::{
    CertifiedDim, CertifiedInput, CertifiedOp, CertifiedProgram, TilingCertificate, TilingProof, Violation, verify,
};

const TARGET: Target = Target::spyre();

/// Builds an elementwise op or a row maximum on `[rows, columns]`; `maker` is the producer of its operand.
fn build_op(
    rows: i64,
    columns: i64,
    producer: Option<usize>,
    value: usize,
    reduces: bool,
    is_result: bool,
) -> CertifiedOp {
    let bytes = 2 * rows * columns;
    let operand = |is_output: bool, dims: &[usize], tile_bytes: i64| TileOperand {
        buffer: usize::from(is_output),
        is_output,
        is_kernel_input: !is_output && producer.is_none(),
        tile_bytes,
        element_bytes: 2,
        moved_by: dims.to_vec(),
        stick: dims.get(1).copied(),
        inner: Some(0),
        ..TileOperand::default()
    };
    let result = if reduces { operand(true, &[0], 128 * rows) } else { operand(true, &[0, 1], bytes) };
    let dim = |extent, is_reduced| TileDim { extent, slices: 1, is_reduced };
    CertifiedOp {
        priced: Some(TileOp {
            kind: if reduces { OpKind::Reduction } else { OpKind::Pointwise },
            is_reduction: reduces,
            dims: vec![dim(rows, false), dim(columns, reduces)],
            operands: vec![operand(false, &[0, 1], bytes), result],
            ..TileOp::default()
        }),
        dims: vec![
            CertifiedDim { size: rows, may_be_cut: true, granule: 1 },
            CertifiedDim { size: columns, may_be_cut: !reduces, granule: 64 },
        ],
        inputs: vec![CertifiedInput {
            value,
            maker: producer,
            dims: vec![Some(0), Some(1)],
            behind: vec![Some(0), Some(1)],
        }],
        output: if reduces { vec![Some(0), None] } else { vec![Some(0), Some(1)] },
        may_be_in_lx: true,
        is_result,
    }
}

/// Builds a chain of elementwise ops on `rows` rows of 4,096 columns.
fn build_chain(n_ops: usize, rows: i64) -> CertifiedProgram {
    CertifiedProgram {
        ops: (0..n_ops)
            .map(|number| build_op(rows, 4096, number.checked_sub(1), number, false, number + 1 == n_ops))
            .collect(),
    }
}

fn build_certificate(program: CertifiedProgram) -> TilingCertificate {
    let proof = TilingProof::from_program(program, &TARGET).unwrap();
    let bound_us = proof.bound_us();
    TilingCertificate { version: "0.1.0".to_owned(), us: bound_us, bound_us, proof }
}

fn check_certificate(certificate: &TilingCertificate) -> Result<f64, Violation> {
    verify(&serde_json::to_string(certificate).unwrap()).map(|verified| verified.bound_us)
}

/// Returns the violation that `verify` reports after replacing the certificate's value at JSON pointer `place`.
fn forge_and_verify(certificate: &TilingCertificate, place: &str, value: impl Into<Value>) -> Violation {
    let mut text = serde_json::to_value(certificate).unwrap();
    *text.pointer_mut(place).unwrap() = value.into();
    verify(&text.to_string()).unwrap_err()
}

/// Returns two times, ns: that of `bytes` in one HBM direction, and that of all cores for `points` points in LX.
fn compute_traffic_and_compute_ns(bytes: f64, points: f64) -> [f64; 2] {
    [bytes / TARGET.time.hbm.one_way, points / 32.0 / TARGET.time.recommended.lx]
}

#[test]
fn proves_time_of_hand_written_plan() {
    // 16 MiB fit into LX: one read, one write.
    let program = build_chain(3, 2048);
    let (bytes, points) = (2.0 * 2048.0 * 4096.0, 2048.0 * 4096.0);
    let [traffic, compute] = compute_traffic_and_compute_ns(bytes, points);
    let expected_ns = 2.0 * traffic.hypot(compute) + compute + 3.0 * TARGET.time.recommended.op_ns;
    let proved = build_certificate(program);
    assert!(
        (proved.bound_us * 1000.0 - expected_ns).abs() < 1e-3,
        "{} us, and {expected_ns} ns by hand",
        proved.bound_us
    );
    assert_eq!(check_certificate(&proved), Ok(proved.bound_us));
}

#[test]
fn charges_loop_or_hbm_for_oversized_result() {
    // 128 MiB fit into LX in four tiles.
    let [traffic, compute] = compute_traffic_and_compute_ns(2.0 * 16384.0 * 4096.0, 16384.0 * 4096.0);
    let recommended = &TARGET.time.recommended;
    let loops_ns = 2.0 * traffic.hypot(compute) + compute + 3.0 * (recommended.op_ns + 4.0 * recommended.iteration_ns);
    let proved = build_certificate(build_chain(3, 16384));
    assert!((proved.bound_us * 1000.0 - loops_ns).abs() < 1e-3, "{} us, and {loops_ns} ns in a loop", proved.bound_us);
    // A result of an op that cannot be tiled is written to HBM and read back.
    let mut whole = build_chain(3, 16384);
    whole.ops.iter_mut().flat_map(|op| &mut op.dims).for_each(|dim| dim.may_be_cut = false);
    let through_hbm = build_certificate(whole);
    let two_ways = (2.0 * traffic).hypot(compute);
    let expected_ns = 3.0 * (two_ways + recommended.op_ns);
    assert!(
        (through_hbm.bound_us * 1000.0 - expected_ns).abs() < 1e-3,
        "{} us, and {expected_ns} ns",
        through_hbm.bound_us
    );
}

#[test]
fn charges_hbm_for_rows_read_after_column_loop() {
    // A row maximum passes its result on within a loop over rows. A loop over columns tiles the result of the first op,
    // whose user is outside the loop.
    let rows = 16384;
    let mut program = build_chain(2, rows);
    program.ops[0].is_result = false;
    program.ops[1] = build_op(rows, 4096, Some(0), 1, true, true);
    let in_rows = build_certificate(program.clone());
    program.ops.iter_mut().for_each(|op| op.dims[0].may_be_cut = false);
    let in_columns = build_certificate(program);
    let [traffic, _] = compute_traffic_and_compute_ns(2.0 * 16384.0 * 4096.0, 0.0);
    assert!(
        in_columns.bound_us * 1000.0 > in_rows.bound_us * 1000.0 + traffic,
        "{} us, {} us",
        in_rows.bound_us,
        in_columns.bound_us
    );
}

#[test]
fn charges_shared_input_only_for_certain_first_reader() {
    // `x * exp x` needs `exp x`, so the latter reads `x` first. Of two ops `exp x`, either may come first.
    let needing = |needs: bool| {
        let mut program = build_chain(2, 2048);
        let input = |producer: Option<usize>, value: usize| CertifiedInput {
            value,
            maker: producer,
            ..program.ops[0].inputs[0].clone()
        };
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
        build_certificate(program).bound_us * 1000.0
    };
    let [traffic, compute] = compute_traffic_and_compute_ns(2.0 * 2048.0 * 4096.0, 2048.0 * 4096.0);
    let starts = 2.0 * TARGET.time.recommended.op_ns;
    let sure = (2.0 * traffic).hypot(compute) + traffic.hypot(compute) + starts;
    let unsure = 2.0 * traffic.hypot(compute) + starts;
    assert!((needing(true) - sure).abs() < 1e-3, "{} ns, {sure} by hand", needing(true));
    assert!((needing(false) - unsure).abs() < 1e-3, "{} ns, {unsure} by hand", needing(false));
}

#[test]
fn rejects_forged_certificates() {
    let honest = build_certificate(build_chain(4, 16384));
    assert!(check_certificate(&honest).is_ok());
    let last = honest.proof.potentials_ns.len() - 1;
    for position in 1..=last {
        let raised = honest.proof.potentials_ns[position] + 0.01;
        let rejected = forge_and_verify(&honest, &format!("/proof/potentials_ns/{position}"), raised);
        assert!(matches!(rejected, Violation::Step { .. }), "{position}: {rejected}");
    }
    let claim = |field: &str, value: f64| forge_and_verify(&honest, field, Value::from(value));
    assert!(matches!(claim("/bound_us", honest.bound_us + 0.001), Violation::Claim { field: "bound_us", .. }));
    assert!(matches!(claim("/us", honest.us - 0.001), Violation::Claim { field: "us", .. }));
    assert!(matches!(claim("/proof/potentials_ns/0", 1.0), Violation::Potentials(_)));
    assert!(matches!(forge_and_verify(&honest, "/proof/potentials_ns", vec![0.0]), Violation::Potentials(_)));
    assert!(matches!(forge_and_verify(&honest, "/us", Value::Null), Violation::ParseError(_)));
    // The program takes less time without its last op, and may take less with more freedom or on a faster machine.
    let mut shorter = honest.clone();
    shorter.proof.program.ops.pop();
    assert!(matches!(check_certificate(&shorter), Err(Violation::Potentials(_))));
    shorter.proof.potentials_ns.remove(1);
    assert!(matches!(check_certificate(&shorter), Err(Violation::Step { .. })));
    assert!(matches!(forge_and_verify(&honest, "/proof/program/ops/1/priced", Value::Null), Violation::Step { .. }));
    assert!(matches!(forge_and_verify(&honest, "/proof/target/time/hbm/one_way", 300.0), Violation::Step { .. }));
    assert!(matches!(forge_and_verify(&honest, "/proof/target/lx_bytes", 1_i64 << 30), Violation::Step { .. }));
}

#[test]
fn accepts_certificate_that_claims_less() {
    let mut modest = build_certificate(build_chain(4, 16384));
    modest.proof.potentials_ns.iter_mut().for_each(|ns| *ns *= 0.5);
    modest.bound_us = modest.proof.bound_us();
    let verified = verify(&serde_json::to_string(&modest).unwrap()).unwrap();
    assert!((verified.gap() - 0.5).abs() < 1e-6 && !verified.is_optimal());
    assert!(verified.to_string().ends_with(" us; the best tiling saves at most 50.0 %"), "{verified}");
}

#[test]
fn rejects_numbers_out_of_range() {
    let honest = build_certificate(build_chain(2, 2048));
    let forged_op =
        |place: &str, value: Value| forge_and_verify(&honest, &format!("/proof/program/ops/1/{place}"), value);
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
        let rejected = forged_op(place, value.clone());
        assert!(matches!(rejected, Violation::Op { op: 1, .. }), "{place} = {value}: {rejected}");
    }
    for (place, value) in [("cores", 1_i64 << 20), ("cores", 0), ("lx_bytes", 1 << 50)] {
        assert!(
            matches!(forge_and_verify(&honest, &format!("/proof/target/{place}"), value), Violation::Machine(_)),
            "{place} = {value}"
        );
    }
    assert!(matches!(forge_and_verify(&honest, "/proof/target/time/recommended/overlap", 1.5), Violation::Machine(_)));
    assert!(matches!(verify("{"), Err(Violation::ParseError(_))));
}

#[test]
fn takes_steps_in_proportion_to_ops() {
    let steps = |n_ops: usize, rows: i64| {
        let text = serde_json::to_string(&build_certificate(build_chain(n_ops, rows))).unwrap();
        verify(&text).unwrap().num_examined_ops
    };
    // Only the last 24 ops have fewer than 24 segments. The check of a segment ends early where it takes long enough.
    let [once, twice, four_times] = [50, 100, 200].map(|n_ops| steps(n_ops, 16384));
    assert!(100 * (four_times - twice) <= 105 * 2 * (twice - once), "{once}, {twice} and {four_times} ops in nests");
    // A segment of 24 ops has two axes of up to 12 counts: at most 12 * 12 pairs, and 12 nests of each axis alone.
    let per_op = (twice - once) / 50;
    let most = (1..=24).sum::<usize>() * (12 * 12 + 12 + 12) + 1;
    assert!(per_op <= most, "{per_op} looks for each op, and at most {most}");
    // A larger size has no more tile counts, because their number is limited.
    let of_more_rows = steps(50, 1 << 20);
    assert!(of_more_rows <= 4 * once, "{of_more_rows} looks, and {once} for a sixty-fourth of the rows");
}
