//! Correct bundles, written by our emitter, each with a different construct of the format.

use crate::check_bundle::launch_specs::{baked_program, program_with_launch_spec};
use machine::{DeviceFormat, Target};
use serde_json::{Value, json};
use spyre_compiler::launch::symbols::MemoryMap;
use spyre_compiler::sdsc;
use spyre_compiler::{
    bundle::{
        Allocation, Bundle, BundleItem, Coordinate as C, ElementArrangement, IterationDim, NamedConstant, OpSpec,
        OpSpecOperand, OpWindow, OwnedDim, Ownership, SymbolicDim, WindowAxis,
    },
    launch::Launch,
};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A directory in memory.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn operand(device_size: &[i64], coordinates: Vec<C>) -> OpSpecOperand {
    OpSpecOperand {
        is_input: true,
        format: DeviceFormat::Sen169Fp16,
        arrangement: ElementArrangement::Standard,
        device_size: device_size.to_vec(),
        coordinates,
        allocation: Allocation::Hbm { argument: 0, offset_bytes: 0 },
        tile_advance: vec![],
        name: None,
        ownership: None,
    }
}

/// Returns a matrix whose dimensions `row` and `column` have these sizes; the stick is along the column.
pub(crate) fn matrix((row, rows): (usize, i64), (column, columns): (usize, i64)) -> OpSpecOperand {
    operand(&[(columns + 63) / 64, rows, 64], vec![C::floordiv(column, 64), C::dim(row), C::modulo(column, 64)])
}

/// Returns a vector along dimension `row` with one element in each stick.
pub(crate) fn sparse(row: usize, rows: i64) -> OpSpecOperand {
    operand(&[1, rows, 64], vec![C::constant(0), C::dim(row), C::constant(0)])
}

pub(crate) fn with_allocation(mut operand: OpSpecOperand, allocation: Allocation) -> OpSpecOperand {
    operand.allocation = allocation;
    operand
}

pub(crate) fn lx(operand: OpSpecOperand, offset_bytes: i64) -> OpSpecOperand {
    with_allocation(operand, Allocation::Lx { offset_bytes })
}

pub(crate) fn pool(operand: OpSpecOperand, offset_bytes: i64) -> OpSpecOperand {
    with_allocation(operand, Allocation::Pool { offset_bytes })
}

/// Returns an op whose operands are consecutive kernel arguments from `first` on, unless placed elsewhere.
pub(crate) fn op(function: &str, dims: &[(i64, i64)], first: u32, mut operands: Vec<OpSpecOperand>) -> OpSpec {
    for (operand, argument) in operands.iter_mut().zip(first..) {
        if let Allocation::Hbm { argument: number, .. } = &mut operand.allocation {
            *number = argument;
        }
    }
    operands.last_mut().unwrap().is_input = false;
    let reductions = ["sum", "batchmatmul", "avgpoolfwd", "topkvalue"];
    OpSpec {
        function: function.to_owned(),
        is_reduction: reductions.contains(&function),
        iteration_space: dims.iter().map(|(range, split)| IterationDim::new(*range, *split)).collect(),
        operands,
        ..OpSpec::default()
    }
}

pub(crate) fn emit(pool_bytes: i64, items: Vec<BundleItem>) -> Files {
    let bundle = Bundle { pool_bytes, items };
    let launch = Launch::new(&bundle).unwrap();
    let sdsc = bundle.ops().into_iter().enumerate().map(|(index, op)| {
        let sdsc = sdsc::from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap();
        (format!("sdsc_{index}.json"), sdsc_format::to_text(&sdsc))
    });
    sdsc.chain([("bundle.mlir".to_owned(), launch.to_string().into_bytes())]).collect()
}

pub(crate) fn emit_ops(ops: Vec<OpSpec>) -> Files {
    emit(1 << 16, ops.into_iter().map(|op| BundleItem::Op(Box::new(op))).collect())
}

pub(crate) fn adds(splits: (i64, i64)) -> OpSpec {
    let tensor = || matrix((0, 128), (1, 256));
    op("add", &[(128, splits.0), (256, splits.1)], 0, vec![tensor(), tensor(), tensor()])
}

/// Copies tiles of 64 rows of a kernel argument to the pool in each of 4 iterations, and from there to another
/// argument.
pub(crate) fn nest() -> Files {
    let tile = |mut operand: OpSpecOperand, advance: &[i64]| {
        operand.device_size = vec![1, 512, 64];
        operand.tile_advance = advance.to_vec();
        operand
    };
    let rows = || matrix((0, 64), (1, 64));
    let load = op("identity", &[(64, 2), (64, 1)], 0, vec![tile(rows(), &[0, 4096]), pool(rows(), 0)]);
    let store = op("identity", &[(64, 2), (64, 1)], 0, vec![pool(rows(), 0), tile(rows(), &[16384, 4096])]);
    let body = [load, store].map(|op| BundleItem::Op(Box::new(op))).to_vec();
    emit(
        8192,
        vec![BundleItem::Loop {
            count: 2,
            symbol: None,
            body: vec![BundleItem::Loop { count: 4, symbol: None, body }],
        }],
    )
}

/// Subtracts one row from rows, tile by tile; both arguments move with the loop.
pub(crate) fn moving_row() -> Files {
    let tile = |mut operand: OpSpecOperand| {
        operand.tile_advance = vec![4096];
        operand
    };
    let row = operand(&[1, 64], vec![C::constant(0), C::dim(1)]);
    let sub = op(
        "sub",
        &[(64, 1), (64, 1)],
        0,
        vec![tile(matrix((0, 64), (1, 64))), tile(row), tile(matrix((0, 64), (1, 64)))],
    );
    emit(0, vec![BundleItem::Loop { count: 4, symbol: None, body: vec![BundleItem::Op(Box::new(sub))] }])
}

/// Computes `exp` between scratchpads, with copies in and out.
pub(crate) fn chain() -> Files {
    let tensor = || matrix((0, 128), (1, 64));
    let dims = [(128, 2), (64, 1)];
    emit_ops(vec![
        op("identity", &dims, 0, vec![tensor(), lx(tensor(), 0)]),
        op("exp", &dims, 0, vec![lx(tensor(), 0), lx(tensor(), 8192)]),
        op("identity", &dims, 0, vec![lx(tensor(), 8192), tensor()]),
    ])
}

pub(crate) fn gather() -> Files {
    divided_gather(16, [1, 1])
}

/// Gathers rows of 128 elements; `slices` has the slice counts of the indices and of the columns.
pub(crate) fn divided_gather(num_indices: i64, slices: [i64; 2]) -> Files {
    let mut index = operand(&[(num_indices + 31) / 32, 32], vec![C::floordiv(0, 32), C::modulo(0, 32)]);
    if num_indices <= 32 {
        index.coordinates = vec![C::constant(0), C::dim(0)];
    }
    index.format = DeviceFormat::IeeeInt32;
    index.name = Some("t".to_owned());
    let table = operand(&[2, 512, 64], vec![C::floordiv(1, 64), C::indirect("t"), C::modulo(1, 64)]);
    let space = [(num_indices, slices[0]), (128, slices[1])];
    emit_ops(vec![op("identity", &space, 0, vec![index, table, matrix((0, num_indices), (1, 128))])])
}

/// Returns the bundle `gather` as a program of one launch.
pub(crate) fn table() -> Files {
    let tensor = |name: &str,
                  shape: &[i64],
                  (element, format): (&str, &str),
                  device_size: &[i64],
                  stride_map: &[i64]| {
        json!({"name": name, "shape": shape, "element_type": element, "format": format, "device_size": device_size,
               "stride_map": stride_map, "bytes": device_size.iter().product::<i64>() * if element == "i32" { 4 } else { 2 }})
    };
    let half = ("f16", "SEN169_FP16");
    let mut index = tensor("t0", &[16], ("i32", "IEEE_INT32"), &[1, 32], &[32, 1]);
    index["index_range"] = json!([0, 512]);
    let rows = tensor("t1", &[512, 128], half, &[2, 512, 64], &[64, 128, 1]);
    let result = tensor("t2", &[16, 128], half, &[2, 16, 64], &[64, 128, 1]);
    let program = json!({"name": "main", "arguments": [index, rows], "results": [result], "constants": [], "buffers": [],
                         "launches": [{"bundle": "bundle_0", "arguments": ["t0", "t1", "t2"]}]});
    let bundle = gather().into_iter().map(|(name, bytes)| (format!("bundle_0/{name}"), bytes));
    bundle.chain([("program.json".to_owned(), serde_json::to_vec(&program).unwrap())]).collect()
}

pub(crate) fn relayout() -> Files {
    let owned = |dim| Some(Ownership { dims: vec![OwnedDim { dim, slices: 4, divisor: 1 }] });
    let mut copy = op("identity", &[(64, 4), (256, 1)], 0, vec![matrix((0, 64), (1, 256)), matrix((0, 64), (1, 256))]);
    for (operand, (dim, offset_bytes)) in copy.operands.iter_mut().zip([(0, 0), (1, 8192)]) {
        operand.allocation = Allocation::Lx { offset_bytes };
        operand.ownership = owned(dim);
    }
    emit_ops(vec![copy])
}

pub(crate) fn pooling() -> Files {
    pooling_on([1, 1])
}

/// Returns a pooling whose rows and columns are in slices.
pub(crate) fn pooling_on([rows, columns]: [i64; 2]) -> Files {
    let input =
        operand(&[1, 4, 2, 4, 2, 64], vec![C::constant(0), C::dim(0), C::dim(3), C::dim(1), C::dim(4), C::dim(2)]);
    let output = operand(&[1, 4, 4, 64], vec![C::constant(0), C::dim(0), C::dim(1), C::dim(2)]);
    let mut pool = op("avgpoolfwd", &[(4, rows), (4, columns), (64, 1), (2, 1), (2, 1)], 0, vec![input, output]);
    let axis = WindowAxis { kernel: 2, stride: 2, ..WindowAxis::default() };
    pool.window = Some(OpWindow { height: axis, width: axis, pad_type: None });
    pool.node_output_ranges = Some([1, 64, 4, 4]);
    emit_ops(vec![pool])
}

pub(crate) fn symbolic() -> Files {
    let mut add = adds((4, 1));
    add.iteration_space[0].symbolic = Some(SymbolicDim { symbol: "s".to_owned(), max: 128, granularity: 64 });
    emit_ops(vec![add])
}

/// Adds matrices whose columns cores divide, and whose number of rows is symbolic.
pub(crate) fn symbolic_rows() -> Files {
    let mut add = adds((1, 4));
    add.iteration_space[0].symbolic = Some(SymbolicDim { symbol: "s".to_owned(), max: 128, granularity: 64 });
    emit_ops(vec![add])
}

pub(crate) fn clip() -> Files {
    let mut clip = op("clip", &[(128, 1), (64, 1)], 0, vec![matrix((0, 128), (1, 64)), matrix((0, 128), (1, 64))]);
    let constant = |name: &str, value| NamedConstant { name: name.to_owned(), value };
    clip.constants = vec![constant("clipMin", 0.0), constant("clipMax", 6.0)];
    emit_ops(vec![clip])
}

pub(crate) fn matmul() -> OpSpec {
    op(
        "batchmatmul",
        &[(64, 2), (256, 2), (128, 2)],
        0,
        vec![matrix((0, 64), (2, 128)), matrix((2, 128), (1, 256)), matrix((0, 64), (1, 256))],
    )
}

pub(crate) fn top_k(stick: usize) -> Files {
    let input = if stick == 0 { matrix((2, 256), (0, 64)) } else { matrix((0, 64), (2, 256)) };
    let output = if stick == 0 {
        matrix((1, 4), (0, 64))
    } else {
        operand(&[4, 64, 64], vec![C::dim(1), C::dim(0), C::constant(0)])
    };
    emit_ops(vec![op("topkvalue", &[(64, 1), (4, 1), (256, 1)], 0, vec![input, output])])
}

pub(crate) fn columns(splits: [i64; 2]) -> Files {
    let input = operand(&[4, 1, 64, 64], vec![C::dim(1), C::constant(0), C::dim(2), C::dim(0)]);
    let output = operand(&[1, 64], vec![C::constant(0), C::dim(0)]);
    emit_ops(vec![op("sum", &[(64, 1), (4, splits[0]), (64, splits[1])], 0, vec![input, output])])
}

pub(crate) fn restick(formats: DeviceFormat, arrangement: ElementArrangement) -> Files {
    let mut to = matrix((0, 128), (1, 256));
    if arrangement == ElementArrangement::Qfp8Wt {
        to = operand(&[2, 128, 128], vec![C::floordiv(1, 128), C::dim(0), C::modulo(1, 128)]);
    }
    (to.format, to.arrangement) = (formats, arrangement);
    emit_ops(vec![op("ReStickifyOpHBM", &[(128, 2), (256, 1)], 0, vec![matrix((1, 256), (0, 128)), to])])
}

/// Returns a matmul of 8-bit floats.
pub(crate) fn narrow_product() -> Files {
    let narrow = |device_size: &[i64], coordinates, arrangement| OpSpecOperand {
        format: DeviceFormat::Sen143Fp8,
        arrangement,
        ..operand(device_size, coordinates)
    };
    let left_coordinates = vec![C::floordiv(2, 128), C::dim(0), C::modulo(2, 128)];
    let left = narrow(&[2, 8, 128], left_coordinates, ElementArrangement::Standard);
    let right = narrow(&[1, 256, 128], vec![C::constant(0), C::dim(2), C::dim(1)], ElementArrangement::Qfp8Wt);
    let mut product =
        op("batchmatmulfp8", &[(8, 2), (128, 1), (256, 1)], 0, vec![left, right, matrix((0, 8), (1, 128))]);
    product.is_reduction = true;
    emit_ops(vec![product])
}

/// Copies one stick per row: f32 fills it, and f16 does not.
pub(crate) fn copies(from: DeviceFormat) -> Files {
    let mut source = matrix((0, 128), (1, 64));
    if from == DeviceFormat::IeeeFp32 {
        source = operand(&[2, 128, 32], vec![C::floordiv(1, 32), C::dim(0), C::modulo(1, 32)]);
    }
    source.format = from;
    emit_ops(vec![op("identity", &[(128, 1), (64, 1)], 0, vec![source, matrix((0, 128), (1, 64))])])
}

/// Adds a number of another element order to a widened value: the second operand comes from the caller.
pub(crate) fn widened_sum() -> Files {
    let single = || OpSpecOperand {
        format: DeviceFormat::IeeeFp32,
        ..operand(&[4, 64, 32], vec![C::floordiv(1, 32), C::dim(0), C::modulo(1, 32)])
    };
    let dims = [(64, 1), (128, 1)];
    let widen = op("dl16tofp32", &dims, 0, vec![matrix((0, 64), (1, 128)), lx(single(), 0)]);
    emit_ops(vec![widen, op("add", &dims, 0, vec![lx(single(), 0), single(), lx(single(), 32_768)])])
}

pub(crate) fn baked() -> Files {
    let bundle = Bundle { pool_bytes: 0, items: vec![BundleItem::Op(Box::new(adds((2, 1))))] };
    let launch = Launch::new_baked(&bundle, &Target::spyre()).unwrap();
    let map = MemoryMap::from_bundle(&bundle, &Target::spyre());
    let sdsc = sdsc::from_op_spec_baked(bundle.ops()[0], 0, &map).unwrap();
    [
        ("bundle.mlir".to_owned(), launch.to_string().into_bytes()),
        ("sdsc_0.json".to_owned(), sdsc_format::to_text(&sdsc)),
    ]
    .into()
}

/// Returns a launch of the bundle `nest`, which has a tile in its pool.
fn launch(arguments: [&str; 2]) -> Value {
    launch_with_pool(arguments, 8192)
}

/// Returns a launch whose first op writes a tensor of `bytes` bytes to the pool for the second op.
fn launch_with_pool(arguments: [&str; 2], bytes: i64) -> Value {
    let pool = json!([{"offset": 0, "bytes": bytes, "first_op": 0, "last_op": 1}]);
    json!({"bundle": "bundle_0", "arguments": arguments, "pool": pool})
}

/// Returns the bundle `nest` as a program of one launch.
pub(crate) fn program(bytes: [i64; 2]) -> Files {
    let tensor = |(number, bytes): (usize, i64)| {
        json!({"name": format!("t{number}"), "shape": [bytes / 128, 64], "element_type": "f16", "format": "SEN169_FP16",
               "device_size": [1, bytes / 128, 64], "stride_map": [64, 64, 1], "bytes": bytes})
    };
    let tensors: Vec<_> = bytes.into_iter().enumerate().map(tensor).collect();
    let program = json!({"name": "main", "arguments": tensors[..1], "results": tensors[1..], "constants": [], "buffers": [],
                         "launches": [launch(["t0", "t1"])]});
    let bundle = nest().into_iter().map(|(name, bytes)| (format!("bundle_0/{name}"), bytes));
    bundle.chain([("program.json".to_owned(), serde_json::to_vec(&program).unwrap())]).collect()
}

/// Reads columns from the middle of a matrix in the pool.
pub(crate) fn slice_of_pool() -> Files {
    let columns = C { offset: 2, ..C::floordiv(1, 64) };
    let slice = pool(operand(&[4, 64, 64], vec![columns, C::dim(0), C::modulo(1, 64)]), 0);
    let exp = op("exp", &[(64, 2), (256, 1)], 0, vec![matrix((0, 64), (1, 256)), pool(matrix((0, 64), (1, 256)), 0)]);
    let neg = op("neg", &[(64, 2), (64, 1)], 0, vec![slice, matrix((0, 64), (1, 64))]);
    let mut files: Files = emit(32768, [exp, neg].map(|op| BundleItem::Op(Box::new(op))).to_vec())
        .into_iter()
        .map(|(name, bytes)| (format!("bundle_0/{name}"), bytes))
        .collect();
    let tensor = |name: &str, columns: i64| {
        json!({"name": name, "shape": [64, columns], "element_type": "f16", "format": "SEN169_FP16",
               "device_size": [columns / 64, 64, 64], "stride_map": [64, columns, 1], "bytes": columns * 128})
    };
    let program = json!({"name": "main", "arguments": [tensor("t0", 256)], "results": [tensor("t1", 64)], "constants": [], "buffers": [],
                         "launches": [launch_with_pool(["t0", "t1"], 32768)]});
    files.insert("program.json".to_owned(), serde_json::to_vec(&program).unwrap());
    files
}

/// Returns [`program`] with its first tensor as a constant.
pub(crate) fn constant() -> Files {
    let mut files = program([65536, 65536]);
    let mut program: Value = serde_json::from_slice(&files["program.json"]).unwrap();
    let mut tensor = program["arguments"][0].take();
    tensor["file"] = json!("constants/t0.bin");
    program["arguments"] = json!([]);
    program["constants"] = json!([tensor]);
    files.insert("program.json".to_owned(), serde_json::to_vec(&program).unwrap());
    files.insert("constants/t0.bin".to_owned(), vec![0; 65536]);
    files
}

/// Returns four launches of one bundle. Each leaves a buffer for the next one; the third reuses the address of the
/// first.
pub(crate) fn shared() -> Files {
    let mut files = program([65536, 65536]);
    let mut program: Value = serde_json::from_slice(&files["program.json"]).unwrap();
    let buffer = |name: &str, offset: i64, first: usize| {
        let mut tensor = program["results"][0].clone();
        tensor["name"] = json!(name);
        tensor["place"] = json!({"offset": offset, "first_launch": first, "last_launch": first + 1});
        tensor
    };
    let buffers = json!([buffer("t2", 0, 0), buffer("t3", 65536, 1), buffer("t4", 0, 2)]);
    program["launches"] =
        json!([launch(["t0", "t2"]), launch(["t2", "t3"]), launch(["t3", "t4"]), launch(["t4", "t1"])]);
    program["buffers"] = buffers;
    program["buffer_bytes"] = json!(131_072);
    files.insert("program.json".to_owned(), serde_json::to_vec(&program).unwrap());
    files
}

pub(crate) fn valid_bundles() -> Vec<(&'static str, Files)> {
    let tensor = |rows, columns| matrix((0, rows), (1, columns));
    vec![
        ("add", emit_ops(vec![adds((4, 1))])),
        ("add of columns", emit_ops(vec![adds((1, 4))])),
        ("two adds", emit_ops(vec![adds((2, 1)), adds((2, 1))])),
        ("padded sum", emit_ops(vec![op("sum", &[(64, 2), (50, 1)], 0, vec![tensor(64, 50), sparse(0, 64)])])),
        ("matmul", emit_ops(vec![matmul()])),
        ("sparse", emit_ops(vec![op("rsqrt", &[(64, 4)], 0, vec![sparse(0, 64), sparse(0, 64)])])),
        ("columns", columns([1, 4])),
        ("nest", nest()),
        ("moving row", moving_row()),
        ("chain", chain()),
        ("gather", gather()),
        ("divided gather", divided_gather(128, [4, 1])),
        ("relayout", relayout()),
        ("pooling", pooling()),
        ("symbolic", symbolic()),
        ("symbolic rows", symbolic_rows()),
        ("clip", clip()),
        ("top-k", top_k(0)),
        ("restickify", restick(DeviceFormat::Sen169Fp16, ElementArrangement::Standard)),
        ("identity", copies(DeviceFormat::Sen169Fp16)),
        ("baked", baked()),
        ("program", program([65536, 65536])),
        ("slice of the pool", slice_of_pool()),
        ("table", table()),
        ("constant", constant()),
        ("shared", shared()),
        ("launched", program_with_launch_spec()),
        ("baked program", baked_program()),
    ]
}

pub(crate) static RIGHT: LazyLock<Vec<(&str, Files)>> = LazyLock::new(valid_bundles);

pub(crate) fn find_valid_bundle(name: &str) -> Files {
    RIGHT.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}")).1.clone()
}
