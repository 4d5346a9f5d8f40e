//! Tests that need the reference material outside the repository: the golden bundles of torch-spyre.
//!
//! Logical shapes and layouts are derived by hand from the coordinates in each `case.json`.

use super::*;

/// Returns the folder of the golden cases.
fn golden_folder() -> PathBuf {
    common::shared("golden/visible")
}

fn load_case(case: &str, args: &[GoldenArgument<'_>], result: usize) -> GoldenCase {
    GoldenCase::new(&golden_folder(), case, args, result)
}

const ROWS_128: GoldenArgument<'static> = (&[128, 256], &[4, 128, 64], &[64, 256, 1]);
const ROWS_64: GoldenArgument<'static> = (&[64, 256], &[4, 64, 64], &[64, 256, 1]);
const VECTOR_256: GoldenArgument<'static> = (&[256], &[1, 4, 64], &[-1, 64, 1]);
const ROWS_512: GoldenArgument<'static> = (&[512, 256], &[4, 512, 64], &[64, 256, 1]);
const LARGE: GoldenArgument<'static> = (&[1024, 4096], &[64, 1024, 64], &[64, 4096, 1]);
const SCALAR: GoldenArgument<'static> = (&[], &[1, 1, 64], &[-1, -1, -1]);
const COLUMN_64: GoldenArgument<'static> = (&[64], &[1, 64, 64], &[-1, 1, -1]);

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn pw_add_2core() {
    let case = load_case("pw_add_2core", &[ROWS_128; 3], 2);
    let (a, b) = (case.get(0), case.get(1));
    let expected: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let outcome = case.check(&expected, 4.0 * ROUNDING);
    let total = outcome.report.total;
    assert_eq!((total.hbm_read, total.hbm_written, total.lx_read), (2 * 65536, 65536, 0));
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn pw_softplus_const() {
    let mut case = load_case("pw_softplus_const", &[ROWS_128; 2], 1);
    case.set(0, |at| (at % 97) as f64 - 48.0);
    let expected: Vec<f64> = case.get(0).iter().map(|x| if *x > 20.0 { *x } else { x.exp().ln_1p() }).collect();
    case.check(&expected, 4.0 * ROUNDING);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn bc_row_vector() {
    let case = load_case("bc_row_vector", &[ROWS_128, VECTOR_256, ROWS_128], 2);
    let (a, b) = (case.get(0), case.get(1));
    let expected: Vec<f64> = a.iter().enumerate().map(|(at, a)| a + b[at % 256]).collect();
    case.check(&expected, 4.0 * ROUNDING);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn bc_all_sparse() {
    let mut case = load_case("bc_all_sparse", &[ROWS_64, SCALAR, COLUMN_64], 2);
    case.set(0, |at| (at / 256 + 1) as f64 / 64.0 + (at % 7) as f64 / 32.0);
    case.set(1, |_| 1e-5);
    let x = case.get(0);
    let expected: Vec<f64> = x.chunks(256).map(|row| 1.0 / (row.iter().sum::<f64>() + 1e-5).sqrt()).collect();
    case.check(&expected, 4.0 * ROUNDING);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn reductions() {
    let case = load_case("red_sum_stick", &[ROWS_64, COLUMN_64], 1);
    let x = case.get(0);
    let expected: Vec<f64> = x.chunks(256).map(|row| row.iter().sum()).collect();
    let outcome = case.check(&expected, 4.0 * ROUNDING);
    // One stick for each row, of which one element is used.
    assert_eq!((outcome.report.total.hbm_written, outcome.report.total.hbm_written_elements), (64 * 128, 64 * 2));

    let case = load_case("red_sum_nonstick", &[ROWS_64, VECTOR_256], 1);
    let x = case.get(0);
    let expected: Vec<f64> = (0..256).map(|column| (0..64).map(|row| x[row * 256 + column]).sum()).collect();
    case.check(&expected, 4.0 * ROUNDING);

    let args: [GoldenArgument<'_>; 2] = [(&[64, 50], &[2, 64, 32], &[32, 50, 1]), (&[64], &[1, 64, 32], &[-1, 1, -1])];
    let case = load_case("red_sum_unaligned_fp32", &args, 1);
    let x = case.get(0);
    let expected: Vec<f64> = x.chunks(50).map(|row| row.iter().sum()).collect();
    case.check(&expected, 1e-5);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn mm_m4_n4_k2() {
    let args: [GoldenArgument<'_>; 3] =
        [(&[64, 128], &[2, 64, 64], &[64, 128, 1]), (&[128, 256], &[4, 128, 64], &[64, 256, 1]), ROWS_64];
    let case = load_case("mm_m4_n4_k2", &args, 2);
    let expected = matmul(&case.get(0), &case.get(1), 64, 256, 128);
    let outcome = case.check(&expected, 4.0 * ROUNDING);
    // Half of the cores send a 16 x 64 slice of f32.
    assert_eq!(outcome.report.total.ring_bytes, 16 * 16 * 64 * 4);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn mm_k_padded() {
    let args: [GoldenArgument<'_>; 4] = [
        SCALAR,
        (&[100, 150], &[3, 100, 64], &[64, 150, 1]),
        (&[70, 100], &[2, 70, 64], &[64, 100, 1]),
        (&[70, 150], &[3, 70, 64], &[64, 150, 1]),
    ];
    let mut case = load_case("mm_k_padded", &args, 3);
    case.set(0, |_| 0.0);
    let expected = matmul(&case.get(2), &case.get(1), 70, 150, 100);
    case.check(&expected, 4.0 * ROUNDING);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn bmm_3d() {
    let args: [GoldenArgument<'_>; 3] = [
        (&[4, 64, 128], &[64, 2, 4, 64], &[128, 64, 8192, 1]),
        (&[4, 128, 128], &[128, 2, 4, 64], &[128, 64, 16384, 1]),
        (&[4, 64, 128], &[64, 2, 4, 64], &[128, 64, 8192, 1]),
    ];
    let case = load_case("bmm_3d", &args, 2);
    let (x, y) = (case.get(0), case.get(1));
    let expected: Vec<f64> =
        (0..4).flat_map(|b| matmul(&x[b * 8192..][..8192], &y[b * 16384..][..16384], 64, 128, 128)).collect();
    case.check(&expected, 4.0 * ROUNDING);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn restick_2d() {
    let case = load_case("restick_2d", &[ROWS_128, (&[256, 128], &[2, 256, 64], &[64, 128, 1])], 1);
    let x = case.get(0);
    let expected: Vec<f64> = (0..256 * 128).map(|at| x[at % 128 * 256 + at / 128]).collect();
    case.check(&expected, 0.0);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn slice_cols() {
    let half: GoldenArgument<'_> = (&[128, 128], &[2, 128, 64], &[64, 128, 1]);
    let case = load_case("slice_cols", &[ROWS_128, half, half], 2);
    let (x, y) = (case.get(0), case.get(1));
    let expected: Vec<f64> = (0..128 * 128).map(|at| x[at / 128 * 256 + 64 + at % 128] + y[at]).collect();
    let outcome = case.check(&expected, 4.0 * ROUNDING);
    assert_eq!(outcome.report.total.hbm_read, 2 * 128 * 128 * 2);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn lx_hbm_lx_pool() {
    // A missing bundle writes the tensor in LX, and the result stays in the pool.
    let args: [GoldenArgument<'_>; 1] = [(&[100, 150], &[3, 100, 64], &[64, 150, 1])];
    let mut program = program("lx_hbm_lx_pool", &args, 0);
    program.arguments = std::mem::take(&mut program.results);
    let simulation = load(program, &golden_folder()).unwrap();
    let input = draw_seeded_array(&simulation.program().arguments[0], 1).unwrap();
    let inputs = BTreeMap::from([("arg0".to_owned(), input)]);
    let error = simulation.run(&inputs, &RunOptions::default()).unwrap_err();
    assert_eq!(error.rule(), "unwritten");
    assert!(
        error.to_string().contains("sdsc_0.json (add): core 0, Tensor1: reads byte 0x0 of LX of core 0"),
        "{error}"
    );
    let lx = (0..2).map(|core| LxImage { core, address: 0, bytes: vec![0; 50 * 192 * 2] }).collect();
    let outcome = simulation.run(&inputs, &RunOptions { lx, ..RunOptions::default() }).unwrap();
    assert_eq!(outcome.report.total.lx_read, 2 * 50 * 192 * 2);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn softmax_64x256() {
    let case = load_case("softmax_64x256", &[ROWS_64; 2], 1);
    let x = case.get(0);
    let expected: Vec<f64> = x.chunks(256).flat_map(softmax).collect();
    let outcome = case.check(&expected, 16.0 * ROUNDING);
    // In place in LX, with a cloned input: 2 MN elements.
    assert_eq!((outcome.report.total.hbm_read, outcome.report.total.hbm_written), (64 * 256 * 2, 64 * 256 * 2));
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn shuffle_linear_bias() {
    let args: [GoldenArgument<'_>; 4] =
        [(&[256, 128], &[2, 256, 64], &[64, 128, 1]), (&[64, 128], &[2, 64, 64], &[64, 128, 1]), VECTOR_256, ROWS_64];
    let case = load_case("shuffle_linear_bias", &args, 3);
    let (w, x, b) = (case.get(0), case.get(1), case.get(2));
    let expected: Vec<f64> = (0..64 * 256)
        .map(|at| (0..128).map(|k| x[at / 256 * 128 + k] * w[at % 256 * 128 + k]).sum::<f64>() + b[at % 256])
        .collect();
    let outcome = case.check(&expected, 8.0 * ROUNDING);
    assert!(outcome.report.total.ring_bytes > 0);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn tile_nested_add_mul() {
    let case = load_case("tile_nested_add_mul", &[LARGE; 4], 3);
    let (a, b, c) = (case.get(0), case.get(1), case.get(2));
    let expected: Vec<f64> = (0..a.len()).map(|at| (a[at] + b[at]) * c[at]).collect();
    let outcome = case.check(&expected, 16.0 * ROUNDING);
    let launch = &outcome.report.launches[0];
    assert_eq!((launch.iterations, launch.ops.len(), launch.ops[0].executions), (2 + 8, 6, 8));
    assert_eq!((launch.total.hbm_read, launch.total.hbm_reread), ((3 * 8) << 20, 0));
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn tile_mm_k_direct() {
    let args: [GoldenArgument<'_>; 4] =
        [SCALAR, (&[128, 512], &[8, 128, 64], &[64, 512, 1]), (&[512, 256], &[4, 512, 64], &[64, 256, 1]), ROWS_128];
    let mut case = load_case("tile_mm_k_direct", &args, 3);
    case.set(0, |_| 0.0);
    let expected = matmul(&case.get(1), &case.get(2), 128, 256, 512);
    case.check(&expected, 16.0 * ROUNDING);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn tile_two_loops_sequence() {
    let case = load_case("tile_two_loops_sequence", &[ROWS_512; 3], 2);
    let (a, b) = (case.get(0), case.get(1));
    let expected: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a + b).abs() * b).collect();
    case.check(&expected, 16.0 * ROUNDING);
}

fn embedding_case(bound: i64) -> (GoldenCase, Vec<usize>) {
    let args: [GoldenArgument<'_>; 3] = [
        (&[512, 128], &[2, 512, 64], &[64, 128, 1]),
        (&[16], &[1, 1, 32], &[32, -1, 1]),
        (&[16, 128], &[2, 16, 64], &[64, 128, 1]),
    ];
    gather_case(&golden_folder(), "gather_embedding_1d", &args, bound)
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn gather_embedding_1d() {
    let (case, rows) = embedding_case(512);
    assert!(rows.iter().any(|row| *row > 100));
    let table = case.get(0);
    let expected: Vec<f64> = rows.iter().flat_map(|row| table[row * 128..][..128].to_vec()).collect();
    case.check(&expected, 0.0);

    let (case, rows) = embedding_case(100_000);
    assert!(rows.iter().any(|row| *row >= 512));
    assert_eq!(case.simulation.run(&case.inputs, &RunOptions::default()).unwrap_err().rule(), "index-out-of-bounds");
    assert_eq!(case.simulation.count(&case.inputs, &RunOptions::default()).unwrap_err().rule(), "index-out-of-bounds");

    // Without values the rows of a gather are unknown.
    let error = case.simulation.count(&BTreeMap::new(), &RunOptions::default()).unwrap_err();
    assert_eq!(error.rule(), "not-simulated");
    assert!(error.to_string().ends_with("as an index while values are not computed"), "{error}");
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn dtype_fp16_to_fp32() {
    let case = load_case("dtype_fp16_to_fp32", &[ROWS_64, (&[64, 256], &[8, 64, 32], &[32, 256, 1])], 1);
    let x = case.get(0);
    let mut expected = vec![0.0; x.len()];
    for (at, x) in x.iter().enumerate() {
        // Of each 64 columns, groups of four go to two sticks of 32 in turn.
        let (first, column) = (at / 64 * 64, at % 64);
        expected[first + 32 * (column / 4 % 2) + 4 * (column / 8) + column % 4] = *x;
    }
    case.check(&expected, 0.0);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn norm_layer_norm() {
    let case = load_case("norm_layer_norm", &[ROWS_64, VECTOR_256, VECTOR_256, ROWS_64], 3);
    let (x, w, b) = (case.get(0), case.get(1), case.get(2));
    let expected: Vec<f64> = x.chunks(256).flat_map(|row| normalize(row, &w, &b)).collect();
    case.check(&expected, 16.0 * ROUNDING);
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn conv2d_3x3() {
    let args: [GoldenArgument<'_>; 3] = [
        (&[2, 8, 8, 64], &[1, 8, 1, 8, 1, 2, 64], &[64, 512, -1, 64, -1, 4096, 1]),
        (&[3, 3, 64, 64], &[1, 1, 1, 3, 3, 64, 64], &[64, -1, -1, 12288, 4096, 64, 1]),
        (&[2, 6, 6, 64], &[1, 1, 1, 6, 6, 2, 64], &[64, -1, -1, 384, 64, 2304, 1]),
    ];
    let case = load_case("conv2d_3x3", &args, 2);
    let (x, w) = (case.get(0), case.get(1));
    let mut expected = vec![0.0; 2 * 6 * 6 * 64];
    for (at, sum) in expected.iter_mut().enumerate() {
        let (n, h, v, o) = (at / 2304, at / 384 % 6, at / 64 % 6, at % 64);
        for (p, q) in (0..9).map(|k| (k / 3, k % 3)) {
            *sum += (0..64)
                .map(|c| x[n * 4096 + (h + p) * 512 + (v + q) * 64 + c] * w[((p * 3 + q) * 64 + c) * 64 + o])
                .sum::<f64>();
        }
    }
    case.check(&expected, 4.0 * ROUNDING);
}

/// torch-spyre leaves these unfinished: addresses of a tensor split on a symbolic dimension lack their base.
#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn dyn_add_split4_has_wrong_addresses() {
    let args = [(&[1024, 256][..], &[4, 1024, 64][..], &[64, 256, 1][..]); 3];
    let case = load_case("dyn_add_split4", &args, 2);
    let error = case.simulation.run(&case.inputs, &RunOptions::default()).unwrap_err();
    assert_eq!(error.rule(), "out-of-bounds", "{error}");
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn rejects_constant_of_unknown_value() {
    let args = [(&[100, 150][..], &[3, 100, 64][..], &[64, 150, 1][..]); 2];
    let error = load(program("pw_exp_unaligned_mask", &args, 1), &golden_folder()).unwrap_err();
    assert_eq!(error.rule(), "not-simulated");
}

/// With the constant filled in (2^32 and a sign, as our emitter encodes -inf) the padding is replaced.
#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn pw_exp_unaligned_mask() {
    let dir = copy_case("pw_exp_unaligned_mask", |name, text| {
        if name.ends_with("json") { text.replace("\"?DL16(-inf)\"", "65024") } else { text }
    });
    let args = [(&[100, 150][..], &[3, 100, 64][..], &[64, 150, 1][..]); 2];
    let simulation = load(program("case", &args, 1), dir.path()).unwrap();
    let mut input = draw_seeded_array(&simulation.program().arguments[0], 1).unwrap();
    round_to_dl16(&mut input);
    let case = GoldenCase { simulation, inputs: BTreeMap::from([("arg0".to_owned(), input)]) };
    let expected: Vec<f64> = case.get(0).iter().map(|x| x.exp()).collect();
    case.check(&expected, 8.0 * ROUNDING);
}

/// Copies a case with changed files, as the bundle `case` of a temporary directory.
fn copy_case(case: &str, change: impl Fn(&str, String) -> String) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let target: PathBuf = dir.path().join("case");
    std::fs::create_dir(&target).unwrap();
    for entry in std::fs::read_dir(golden_folder().join(case)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let text = std::fs::read_to_string(entry.path()).unwrap();
        std::fs::write(target.join(&name), change(&name, text)).unwrap();
    }
    dir
}

/// Returns how a mutant was detected: the rule of the error, or a difference of the numbers.
fn find_verdict(case: &str, args: &[GoldenArgument<'_>], result: usize, file: &str, from: &str, to: &str) -> String {
    let healthy = load_case(case, args, result);
    let expected = healthy.run().results.remove(0).1;
    let changed = std::cell::Cell::new(false);
    let dir = copy_case(case, |name, text| {
        if name != file {
            return text;
        }
        let mutated = text.replacen(from, to, 1);
        changed.set(mutated != text);
        mutated
    });
    assert!(changed.get(), "{from} is not in {file}");
    let simulation = match load(program("case", args, result), dir.path()) {
        Ok(simulation) => simulation,
        Err(error) => return error.rule().to_owned(),
    };
    match simulation.run(&healthy.inputs, &RunOptions::default()) {
        Err(error) => error.rule().to_owned(),
        Ok(outcome) => {
            let found = &outcome.results[0].1;
            let same = (0..expected.elements.len()).all(|at| found.elements.get(at) == expected.elements.get(at));
            if same { "nothing".to_owned() } else { "numbers".to_owned() }
        }
    }
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn finds_faults() {
    let add = [ROWS_128; 3];
    let two = |file, from, to| find_verdict("pw_add_2core", &add, 2, file, from, to);
    assert_eq!(two("bundle.mlir", "constant 8192", "constant 8064"), "numbers");
    assert_eq!(two("bundle.mlir", "constant 8192", "constant 8193"), "misaligned");
    assert_eq!(
        two(
            "bundle.mlir",
            "%arg_2_core_offset_8192 = arith.constant 8192",
            "%arg_2_core_offset_8192 = arith.constant 8064"
        ),
        "write-conflict"
    );
    assert_eq!(
        two(
            "bundle.mlir",
            "%arg_1_core_offset_8192 = arith.constant 8192",
            "%arg_1_core_offset_8192 = arith.constant 81920"
        ),
        "out-of-bounds"
    );
    assert_eq!(two("bundle.mlir", "[-1, -2, -3, -4, -5, -6]", "[-2, -1, -3, -4, -5, -6]"), "numbers");
    assert_eq!(two("bundle.mlir", "[-1, -2, -3, -4, -5, -6]", "[-1, -2, -3, -4, -5, -7]"), "no-value");
    assert_eq!(two("sdsc_0.json", "\"mb\": 1,", "\"mb\": 0,"), "malformed");
    assert_eq!(two("sdsc_0.json", "\"mb_\": 64", "\"mb_\": 32"), "malformed");
    // The release does not restrict the name of a description, so the file runs; `sdsc_r18` requires torch-spyre's
    // names.
    assert_eq!(two("sdsc_0.json", "\"opFuncName\": \"add\"", "\"opFuncName\": \"sub\""), "numbers");

    let loops = [ROWS_512; 3];
    let looped = |file, from, to| find_verdict("tile_two_loops_sequence", &loops, 2, file, from, to);
    // With too small a tile stride, some memory is written twice and some never: the next op reads unwritten memory.
    assert_eq!(looped("bundle.mlir", "16384*d0", "16256*d0"), "unwritten");
    assert_eq!(looped("bundle.mlir", "16384*d0", "131072*d0"), "out-of-bounds");
    assert_eq!(
        looped("bundle.mlir", "%loop_bound_0 = arith.constant 4", "%loop_bound_0 = arith.constant 3"),
        "unwritten"
    );
    assert_eq!(
        looped("bundle.mlir", "%loop_bound_0 = arith.constant 4", "%loop_bound_0 = arith.constant 5"),
        "out-of-bounds"
    );
    assert_eq!(
        looped("bundle.mlir", "%loop_bound_1 = arith.constant 2", "%loop_bound_1 = arith.constant 1"),
        "bad-array"
    );
    assert_eq!(looped("bundle.mlir", "step %c1", "step %c0"), "malformed");
    assert_eq!(looped("bundle.mlir", "device_mem_allocate 524288", "device_mem_allocate 524160"), "out-of-bounds");

    let softmax = |file: &str, from: &str, to: &str| find_verdict("softmax_64x256", &[ROWS_64; 2], 1, file, from, to);
    let address = |bytes: &str| format!("\"[0, 0, 0]\": \"{bytes}\"");
    assert_eq!(softmax("sdsc_0.json", &address("1024"), &address("1152")), "unwritten");
    assert_eq!(softmax("sdsc_1.json", &address("0"), &address("1024")), "overlap");
    assert_eq!(softmax("sdsc_1.json", &address("0"), &address("128")), "overlap");
    assert_eq!(softmax("sdsc_3.json", &address("1024"), &address("1625344")), "out-of-bounds");
    let exp = "sdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_3.json\", \"symbol_ids\"=[]}";
    assert_eq!(softmax("bundle.mlir", exp, ""), "numbers");
    let sum = "sdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_4.json\", \"symbol_ids\"=[]}";
    assert_eq!(softmax("bundle.mlir", sum, ""), "numbers");

    let fp32: [GoldenArgument<'_>; 2] = [(&[64, 50], &[2, 64, 32], &[32, 50, 1]), (&[64], &[1, 64, 32], &[-1, 1, -1])];
    let masked = |from, to| find_verdict("red_sum_unaligned_fp32", &fp32, 1, "sdsc_0.json", from, to);
    let mask = "\"coordinateMasking_\": {\n            \"out\": [\n              [\n                50,\n                14\n              ]\n            ]\n          }";
    assert_eq!(masked(mask, "\"coordinateMasking_\": {}"), "numbers");

    let split: [GoldenArgument<'_>; 3] =
        [(&[64, 128], &[2, 64, 64], &[64, 128, 1]), (&[128, 256], &[4, 128, 64], &[64, 256, 1]), ROWS_64];
    assert_eq!(
        find_verdict("mm_m4_n4_k2", &split, 2, "bundle.mlir", "(%arg_0, %arg_0_core_8192", "(%arg_0_core_8192, %arg_0"),
        "numbers"
    );
}
