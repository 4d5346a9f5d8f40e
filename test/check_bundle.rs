//! The labelled format rules: what is right passes, and each of many small mutations is refused with the right label.
use serde_json::{Value, json};
use spyre::bundle::symbols::MemoryMap;
use spyre::bundle::{
    Allocation, Arrangement, Bundle, Constant, Coordinate as C, Item, IterationDim, Launch, OpSpec, Operand, OwnedDim, Ownership,
    SymbolicDim, Window, WindowAxis,
};
use spyre::sdsc::check::{Buffer, BundleFiles, CheckError, RULES, check_bundle, check_directory, check_files, rules_table};
use spyre::sdsc::{self, case_json};
use spyre::target::{DeviceFormat, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A directory in memory.
type Files = BTreeMap<String, Vec<u8>>;

// ---------------------------------------------------------------------------------------------- bundles of our own emitter

fn operand(device_size: &[i64], coordinates: Vec<C>) -> Operand {
    Operand {
        is_input: true,
        format: DeviceFormat::Sen169Fp16,
        arrangement: Arrangement::Standard,
        device_size: device_size.to_vec(),
        coordinates,
        allocation: Allocation::Hbm { argument: 0, offset_bytes: 0 },
        tile_advance: vec![],
        name: None,
        ownership: None,
    }
}

/// A matrix of which dimension `row` and `column` have those sizes; the stick runs along the column.
fn matrix((row, rows): (usize, i64), (column, columns): (usize, i64)) -> Operand {
    operand(&[(columns + 63) / 64, rows, 64], vec![C::floordiv(column, 64), C::dim(row), C::modulo(column, 64)])
}

/// A vector along dimension `row` with one element in each stick.
fn sparse(row: usize, rows: i64) -> Operand {
    operand(&[1, rows, 64], vec![C::constant(0), C::dim(row), C::constant(0)])
}

fn at(mut operand: Operand, allocation: Allocation) -> Operand {
    operand.allocation = allocation;
    operand
}

fn lx(operand: Operand, offset_bytes: i64) -> Operand {
    at(operand, Allocation::Lx { offset_bytes })
}

fn pool(operand: Operand, offset_bytes: i64) -> Operand {
    at(operand, Allocation::Pool { offset_bytes })
}

/// An op whose operands are kernel arguments from `first` on, unless they are elsewhere.
fn op(function: &str, dims: &[(i64, i64)], first: u32, mut operands: Vec<Operand>) -> OpSpec {
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

fn emit(pool_bytes: i64, items: Vec<Item>) -> Files {
    let bundle = Bundle { pool_bytes, items };
    let launch = Launch::new(&bundle).unwrap();
    let sdsc = bundle.ops().into_iter().enumerate().map(|(index, op)| {
        let sdsc = sdsc::from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap();
        (format!("sdsc_{index}.json"), sdsc::to_text(&sdsc))
    });
    sdsc.chain([("bundle.mlir".to_owned(), launch.to_string().into_bytes())]).collect()
}

fn emit_ops(ops: Vec<OpSpec>) -> Files {
    emit(1 << 16, ops.into_iter().map(|op| Item::Op(Box::new(op))).collect())
}

fn adds(splits: (i64, i64)) -> OpSpec {
    let tensor = || matrix((0, 128), (1, 256));
    op("add", &[(128, splits.0), (256, splits.1)], 0, vec![tensor(), tensor(), tensor()])
}

/// Tiles of 64 rows of a kernel argument: copied to the pool in each of 4 iterations, and from there to another argument.
fn nest() -> Files {
    let tile = |mut operand: Operand, advance: &[i64]| {
        operand.device_size = vec![1, 512, 64];
        operand.tile_advance = advance.to_vec();
        operand
    };
    let rows = || matrix((0, 64), (1, 64));
    let load = op("identity", &[(64, 2), (64, 1)], 0, vec![tile(rows(), &[0, 4096]), pool(rows(), 0)]);
    let store = op("identity", &[(64, 2), (64, 1)], 0, vec![pool(rows(), 0), tile(rows(), &[16384, 4096])]);
    let body = [load, store].map(|op| Item::Op(Box::new(op))).to_vec();
    emit(8192, vec![Item::Loop { count: 2, body: vec![Item::Loop { count: 4, body }] }])
}

/// `exp` between scratchpads, with the copies in and out.
fn chain() -> Files {
    let tensor = || matrix((0, 128), (1, 64));
    let dims = [(128, 2), (64, 1)];
    emit_ops(vec![
        op("identity", &dims, 0, vec![tensor(), lx(tensor(), 0)]),
        op("exp", &dims, 0, vec![lx(tensor(), 0), lx(tensor(), 8192)]),
        op("identity", &dims, 0, vec![lx(tensor(), 8192), tensor()]),
    ])
}

fn gather() -> Files {
    let mut index = operand(&[1, 32], vec![C::constant(0), C::dim(0)]);
    index.format = DeviceFormat::IeeeInt32;
    index.name = Some("t".to_owned());
    let table = operand(&[2, 512, 64], vec![C::floordiv(1, 64), C::indirect("t"), C::modulo(1, 64)]);
    emit_ops(vec![op("identity", &[(16, 1), (128, 1)], 0, vec![index, table, matrix((0, 16), (1, 128))])])
}

fn relayout() -> Files {
    let owned = |dim| Some(Ownership { dims: vec![OwnedDim { dim, slices: 4, divisor: 1 }] });
    let mut copy = op("identity", &[(64, 4), (256, 1)], 0, vec![matrix((0, 64), (1, 256)), matrix((0, 64), (1, 256))]);
    for (operand, (dim, offset_bytes)) in copy.operands.iter_mut().zip([(0, 0), (1, 8192)]) {
        operand.allocation = Allocation::Lx { offset_bytes };
        operand.ownership = owned(dim);
    }
    emit_ops(vec![copy])
}

fn pooling() -> Files {
    let input = operand(&[1, 4, 2, 4, 2, 64], vec![C::constant(0), C::dim(0), C::dim(3), C::dim(1), C::dim(4), C::dim(2)]);
    let output = operand(&[1, 4, 4, 64], vec![C::constant(0), C::dim(0), C::dim(1), C::dim(2)]);
    let mut pool = op("avgpoolfwd", &[(4, 1), (4, 1), (64, 1), (2, 1), (2, 1)], 0, vec![input, output]);
    let axis = WindowAxis { kernel: 2, stride: 2, ..WindowAxis::default() };
    pool.window = Some(Window { height: axis, width: axis, pad_type: None });
    pool.node_output_ranges = Some([1, 64, 4, 4]);
    emit_ops(vec![pool])
}

fn symbolic() -> Files {
    let mut add = adds((4, 1));
    add.iteration_space[0].symbolic = Some(SymbolicDim { symbol: "s".to_owned(), max: 128, granularity: 64 });
    emit_ops(vec![add])
}

fn clip() -> Files {
    let mut clip = op("clip", &[(128, 1), (64, 1)], 0, vec![matrix((0, 128), (1, 64)), matrix((0, 128), (1, 64))]);
    let constant = |name: &str, value| Constant { name: name.to_owned(), value };
    clip.constants = vec![constant("clipMin", 0.0), constant("clipMax", 6.0)];
    emit_ops(vec![clip])
}

fn matmul() -> OpSpec {
    op("batchmatmul", &[(64, 2), (256, 2), (128, 2)], 0, vec![matrix((0, 64), (2, 128)), matrix((2, 128), (1, 256)), matrix((0, 64), (1, 256))])
}

fn top_k(stick: usize) -> Files {
    let input = if stick == 0 { matrix((2, 256), (0, 64)) } else { matrix((0, 64), (2, 256)) };
    let output = if stick == 0 { matrix((1, 4), (0, 64)) } else { operand(&[4, 64, 64], vec![C::dim(1), C::dim(0), C::constant(0)]) };
    emit_ops(vec![op("topkvalue", &[(64, 1), (4, 1), (256, 1)], 0, vec![input, output])])
}

fn columns(splits: [i64; 2]) -> Files {
    let input = operand(&[4, 1, 64, 64], vec![C::dim(1), C::constant(0), C::dim(2), C::dim(0)]);
    let output = operand(&[1, 64], vec![C::constant(0), C::dim(0)]);
    emit_ops(vec![op("sum", &[(64, 1), (4, splits[0]), (64, splits[1])], 0, vec![input, output])])
}

fn restick(formats: DeviceFormat, arrangement: Arrangement) -> Files {
    let mut to = matrix((0, 128), (1, 256));
    if arrangement == Arrangement::Qfp8Wt {
        to = operand(&[2, 128, 128], vec![C::floordiv(1, 128), C::dim(0), C::modulo(1, 128)]);
    }
    (to.format, to.arrangement) = (formats, arrangement);
    emit_ops(vec![op("ReStickifyOpHBM", &[(128, 2), (256, 1)], 0, vec![matrix((1, 256), (0, 128)), to])])
}

fn baked() -> Files {
    let bundle = Bundle { pool_bytes: 0, items: vec![Item::Op(Box::new(adds((2, 1))))] };
    let launch = Launch::baked(&bundle, &Target::spyre()).unwrap();
    let map = MemoryMap::of(&bundle, &Target::spyre());
    let sdsc = sdsc::from_op_spec_baked(bundle.ops()[0], 0, &map).unwrap();
    [("bundle.mlir".to_owned(), launch.to_string().into_bytes()), ("sdsc_0.json".to_owned(), sdsc::to_text(&sdsc))].into()
}

/// The bundle `nest` as a program of one launch.
fn program(bytes: [i64; 2]) -> Files {
    let tensor = |(number, bytes): (usize, i64)| {
        json!({"name": format!("t{number}"), "shape": [512, 64], "element_type": "f16", "format": "SEN169_FP16",
               "device_size": [1, 512, 64], "stride_map": [64, 64, 1], "bytes": bytes})
    };
    let tensors: Vec<_> = bytes.into_iter().enumerate().map(tensor).collect();
    let program = json!({"name": "main", "arguments": tensors[..1], "results": tensors[1..], "constants": [], "buffers": [],
                         "launches": [{"bundle": "bundle_0", "arguments": ["t0", "t1"]}]});
    let bundle = nest().into_iter().map(|(name, bytes)| (format!("bundle_0/{name}"), bytes));
    bundle.chain([("program.json".to_owned(), serde_json::to_vec(&program).unwrap())]).collect()
}

fn right() -> Vec<(&'static str, Files)> {
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
        ("chain", chain()),
        ("gather", gather()),
        ("relayout", relayout()),
        ("pooling", pooling()),
        ("symbolic", symbolic()),
        ("clip", clip()),
        ("top-k", top_k(0)),
        ("restickify", restick(DeviceFormat::Sen169Fp16, Arrangement::Standard)),
        ("baked", baked()),
        ("program", program([32768, 65536])),
    ]
}

fn base(name: &str) -> Files {
    static RIGHT: LazyLock<Vec<(&str, Files)>> = LazyLock::new(right);
    RIGHT.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}")).1.clone()
}

fn labels(files: &Files) -> (Vec<&'static str>, String) {
    let found = check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    let mut labels: Vec<_> = found.iter().map(|violation| violation.label).collect();
    labels.dedup();
    (labels, found.iter().map(|violation| format!("\n  {violation}")).collect())
}

#[test]
fn what_our_emitter_writes_breaks_no_rule() {
    for (name, files) in right() {
        let (labels, shown) = labels(&files);
        assert!(labels.is_empty(), "{name}:{shown}");
    }
}

#[test]
fn the_order_of_members_has_no_meaning() {
    for (name, mut files) in right() {
        for (path, bytes) in files.iter_mut().filter(|(path, _)| path.ends_with(".json")) {
            // `Value` sorts the members of objects.
            let sorted: Value = serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
            *bytes = serde_json::to_vec(&sorted).unwrap();
        }
        let (labels, shown) = labels(&files);
        assert!(labels.is_empty(), "{name}:{shown}");
    }
}

// ---------------------------------------------------------------------------------------------- mutations

/// A bundle that is wrong in one way, and the labels of the rules it breaks, the most basic one first.
struct Broken {
    labels: &'static [&'static str],
    files: Files,
}

fn broken(labels: &'static [&'static str], base_name: &str, edit: impl FnOnce(&mut Files)) -> Broken {
    let mut files = base(base_name);
    let before = files.clone();
    edit(&mut files);
    assert_ne!(files, before, "the mutation for {labels:?} changes nothing");
    Broken { labels, files }
}

/// Replaces a part of `bundle.mlir`.
fn text(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("bundle.mlir").unwrap();
    let text = String::from_utf8(std::mem::take(bytes)).unwrap();
    assert!(text.contains(from), "{from:?} is not in\n{text}");
    *bytes = text.replacen(from, to, 1).into_bytes();
}

fn json(files: &mut Files, file: &str, edit: impl FnOnce(&mut Value)) {
    let bytes = files.get_mut(file).unwrap();
    let mut value = serde_json::from_slice(bytes).unwrap();
    edit(&mut value);
    *bytes = serde_json::to_vec(&value).unwrap();
}

/// The members below `op/`, the operation, and `dsc/`, its description.
fn pointer(value: &Value, path: &str) -> String {
    let Value::Object(file) = value else { panic!("no operation") };
    let operation = format!("/{}", file.keys().next().unwrap());
    match path.split_once('/') {
        Some(("op", rest)) => format!("{operation}/{rest}"),
        Some(("dsc", rest)) => {
            let function = value.pointer(&format!("{operation}/dscs_/0")).unwrap().as_object().unwrap().keys().next().unwrap();
            format!("{operation}/dscs_/0/{function}/{rest}")
        }
        _ => panic!("{path}"),
    }
}

/// Sets a member of the first file, which may be new.
fn set(files: &mut Files, path: &str, to: Value) {
    json(files, "sdsc_0.json", |value| {
        let pointer = pointer(value, path);
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match value.pointer_mut(parent).unwrap_or_else(|| panic!("{parent}")) {
            Value::Object(members) => drop(members.insert(key.to_owned(), to)),
            Value::Array(items) if items.len() == key.parse::<usize>().unwrap() => items.push(to),
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = to,
            other => panic!("{other}"),
        }
    });
}

/// Removes a member of the first file.
fn remove(files: &mut Files, path: &str) {
    json(files, "sdsc_0.json", |value| {
        let pointer = pointer(value, path);
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        value.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key).unwrap();
    });
}

/// Replaces a word everywhere in the first file.
fn rename(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("sdsc_0.json").unwrap();
    *bytes = String::from_utf8(std::mem::take(bytes)).unwrap().replace(from, to).into_bytes();
}

fn sets(path: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| set(files, path, to)
}

fn texts(from: &'static str, to: &'static str) -> impl FnOnce(&mut Files) {
    move |files| text(files, from, to)
}

fn becomes(with: Files) -> impl FnOnce(&mut Files) {
    move |files| *files = with
}

const STARTS_1: &str = "dsc/scheduleTree_/1/startAddressCoreCorelet_/data_";

/// The starts of every core of the second tensor.
fn starts(files: &mut Files, start: &str, cores: usize) {
    let starts = (0..cores).map(|core| (format!("[{core}, 0, 0]"), json!(start)));
    set(files, STARTS_1, Value::Object(starts.collect()));
}

fn broken_values() -> Vec<Broken> {
    vec![
        broken(&["sdsc_r1"], "add", texts("arith.addi", "arith.muli")),
        broken(&["sdsc_r1"], "add", texts("sdsc_filename", "sdsc_file")),
        broken(&["sdsc_r1"], "nest", texts("s0 + 8192*d0", "s0 + d0*d0")),
        broken(&["sdsc_r8"], "add", texts("%arg_0_core_offset_4096 = ", "%other = ")),
        broken(&["sdsc_r8"], "add", texts("%arg_1_core_offset_4096 = ", "%arg_0_core_offset_4096 = ")),
        broken(&["sdsc_r8"], "nest", texts("#map_0 = ", "#map_7 = ")),
        broken(&["sdsc_r9"], "add", texts("(%arg_0, ", "(%arg_0_base_addr, ")),
        broken(&["sdsc_r9"], "nest", texts("#map_1(%i_0, %i_1)", "#map_1(%i_0)")),
        broken(&["sdsc_r10"], "add", texts("%arg_0, %arg_0_core_offset_4096", "%arg_0, %arg_1")),
        broken(&["sdsc_r11"], "nest", texts("allocate 8192 bytes", "allocate 99999999999 bytes")),
        broken(&["sdsc_r11", "sdsc_r69"], "nest", texts("allocate 8192 bytes", "allocate -1 bytes")),
        broken(&["sdsc_r12"], "nest", texts("%loop_bound_0 = arith.constant 2", "%loop_bound_0 = arith.constant 0")),
        broken(&["sdsc_r12"], "nest", texts("%c1 = arith.constant 1", "%c1 = arith.constant 2")),
        broken(&["sdsc_r12"], "nest", texts("to %loop_bound_1", "to %arg_0")),
    ]
}

fn broken_symbols() -> Vec<Broken> {
    let renumber = |files: &mut Files, by: i64| {
        let mut second = String::from_utf8(files.remove("sdsc_1.json").unwrap()).unwrap();
        (7..13).rev().for_each(|id| second = second.replace(&format!("\"-{id}\""), &format!("\"-{}\"", id + by)));
        files.insert("sdsc_1.json".to_owned(), second.into_bytes());
    };
    vec![
        broken(&["sdsc_r13"], "add", texts("(%arg_0, ", "(")),
        broken(&["sdsc_r13", "sdsc_r16"], "add", texts(", \"symbol_ids\"=[-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12]", "")),
        broken(&["sdsc_r14"], "two adds", move |files| {
            text(files, "[-7, -8, -9, -10, -11, -12]", "[-1, -2, -3, -4, -5, -6]");
            renumber(files, -6);
        }),
        broken(&["sdsc_r14", "sdsc_r67"], "add", |files| {
            text(files, "=[-1, ", "=[1, ");
            set(files, "dsc/scheduleTree_/0/startAddressCoreCorelet_/data_/[0, 0, 0]", json!("1"));
        }),
        broken(&["sdsc_r15"], "two adds", move |files| {
            text(files, "[-7, -8, -9, -10, -11, -12]", "[-17, -18, -19, -20, -21, -22]");
            renumber(files, 10);
        }),
        broken(&["sdsc_r16"], "add", |files| starts(files, "-5", 4)),
        broken(&["sdsc_r16"], "add", |files| starts(files, "-99", 4)),
        broken(&["sdsc_r17"], "add", |files| {
            text(files, "(%arg_0, %arg_0_core_4096", "(%arg_0_core_4096, %arg_0");
            text(files, "[-1, -2", "[-2, -1");
        }),
        broken(&["sdsc_r64"], "symbolic", |files| remove(files, "op/symbolDefinitions_")),
        broken(&["sdsc_r64"], "symbolic", sets("op/inputSymbolsAndTags_", json!({"-2": "s"}))),
    ]
}

fn broken_files() -> Vec<Broken> {
    vec![
        broken(&["sdsc_r2"], "add", sets("op/unknown_", json!(1))),
        broken(&["sdsc_r2"], "add", sets("op/numCoresUsed_", json!("4"))),
        broken(&["sdsc_r2"], "add", |files| remove(files, "dsc/computeOp_/0/exUnit")),
        broken(&["sdsc_r2"], "add", |files| files.get_mut("sdsc_0.json").unwrap().truncate(100)),
        broken(&["sdsc_r3"], "program", |files| json(files, "program.json", |value| value["launches"][0]["arguments"][1] = json!("t7"))),
        broken(&["sdsc_r3"], "program", |files| json(files, "program.json", |value| value["launches"][0]["bundle"] = json!("bundle_1"))),
        broken(&["sdsc_r3"], "program", |files| json(files, "program.json", |value| value["launches"][0]["bundle"] = json!(1))),
        broken(&["sdsc_r4"], "add", sets("op/dscs_", json!([]))),
        broken(&["sdsc_r4"], "add", sets("dsc/computeOp_", json!([]))),
        broken(&["sdsc_r5"], "two adds", |files| drop(files.remove("sdsc_1.json"))),
        broken(&["sdsc_r5", "sdsc_r6"], "add", texts("sdsc_0.json", "../sdsc_0.json")),
        broken(&["sdsc_r6"], "add", |files| {
            let unused = String::from_utf8(files["sdsc_0.json"].clone()).unwrap().replace("0_add", "9_add");
            files.insert("sdsc_9.json".to_owned(), unused.into_bytes());
        }),
        broken(&["sdsc_r7"], "two adds", |files| {
            text(files, "sdsc_1.json", "sdsc_0.json");
            files.remove("sdsc_1.json");
        }),
        broken(&["sdsc_r18"], "add", |files| rename(files, "0_add", "1_add")),
        broken(&["sdsc_r18"], "add", sets("dsc/computeOp_/0/opFuncName", json!("sub"))),
        broken(&["sdsc_r19"], "add", |files| rename(files, "add\"", "plus\"")),
        broken(&["sdsc_r20"], "add", sets("dsc/computeOp_/0/exUnit", json!("pt"))),
        broken(&["sdsc_r21"], "add", sets("dsc/computeOp_/0/location", json!("Outer"))),
        broken(&["sdsc_r21"], "add", sets("op/coreIdToDscSchedule/0", json!([[0, 0, 0, 0]]))),
    ]
}

/// Sets the slices of the rows of an add of 128 rows wherever the file says them, but not the cores.
fn slice_rows(files: &mut Files, slices: i64) {
    let part = 128 / slices;
    set(files, "op/numWkSlicesPerDim_/mb", json!(slices));
    set(files, "dsc/dataStageParam_/0/ss_/mb_", json!(part));
    set(files, "dsc/dataStageParam_/0/el_/mb_", json!(part));
    for tensor in 0..3 {
        let folds = format!("dsc/scheduleTree_/{tensor}/coordinates_/coordInfo/mb/folds");
        set(files, &format!("{folds}/dim_prop_attr/0/factor_"), json!(slices));
        set(files, &format!("{folds}/dim_prop_attr/3/factor_"), json!(part));
        set(files, &format!("{folds}/dim_prop_func/0/Affine/alpha_"), json!(part));
    }
}

fn broken_divisions() -> Vec<Broken> {
    let huge = || matrix((0, 1 << 22), (1, 64));
    let huge_neg = op("neg", &[(1 << 22, 1), (64, 1)], 0, vec![huge(), huge()]);
    vec![
        broken(&["sdsc_r22"], "add", sets("dsc/numCoresUsed_", json!(3))),
        broken(&["sdsc_r22"], "add", sets("op/coreFoldProp_/factor_", json!(3))),
        broken(&["sdsc_r23"], "add", sets("dsc/coreIdsUsed_", json!([0, 0, 2, 3]))),
        broken(&["sdsc_r23"], "add", |files| remove(files, "op/coreIdToDsc_/3")),
        broken(&["sdsc_r24"], "add", sets("dsc/scheduleTree_/1/startAddressCoreCorelet_/dim_prop_attr/0/factor_", json!(3))),
        broken(&["sdsc_r24"], "clip", sets("dsc/constantInfo_/1/data_/dim_prop_func/0", json!({"Map": {}}))),
        broken(&["sdsc_r25"], "add", |files| slice_rows(files, 8)),
        broken(&["sdsc_r26"], "add", sets("op/coreIdToWkSlice_/3/mb", json!(4))),
        broken(&["sdsc_r26"], "relayout", sets("dsc/scheduleTree_/1/coordinates_/coreIdToWkSlice_/3/out", json!(4))),
        broken(&["sdsc_r27"], "add", sets("op/coreIdToWkSlice_/3/mb", json!(2))),
        broken(&["sdsc_r28"], "add", sets("dsc/dataStageParam_/0/el_/x_", json!(1))),
        broken(&["sdsc_r29"], "add", |files| {
            set(files, "dsc/dataStageParam_/0/ss_/mb_", json!(31));
            set(files, "dsc/dataStageParam_/0/el_/mb_", json!(31));
        }),
        broken(&["sdsc_r30"], "add", sets("dsc/dataStageParam_/0/el_/mb_", json!(31))),
        broken(&["sdsc_r31"], "add", becomes(emit_ops(vec![adds((1, 8))]))),
        broken(&["sdsc_r32"], "add", becomes(emit_ops(vec![huge_neg]))),
        broken(&["sdsc_r54"], "columns", becomes(columns([2, 2]))),
    ]
}

fn broken_tensors() -> Vec<Broken> {
    vec![
        broken(&["sdsc_r33"], "add", |files| rename(files, "\"OUTPUT\"", "\"RESULT\"")),
        broken(&["sdsc_r34"], "add", sets("dsc/labeledDs_/1/dsName_", json!("Tensor7"))),
        broken(&["sdsc_r34"], "add", sets("dsc/scheduleTree_/1/ldsIdx_", json!(2))),
        broken(&["sdsc_r35"], "add", sets("dsc/labeledDs_/1/dsType_", json!("KERNEL"))),
        broken(&["sdsc_r36"], "add", sets("dsc/scheduleTree_/1/layoutDimOrder_", json!(["mb", "mb"]))),
        broken(&["sdsc_r36"], "add", sets("dsc/labeledDs_/1/scale_", json!([1, 1, 1]))),
        broken(&["sdsc_r37"], "add", |files| remove(files, "dsc/labeledDs_/1/memOrg_/hbm")),
        broken(&["sdsc_r37"], "add", sets("dsc/scheduleTree_/1/name_", json!("allocate-Tensor1_lx"))),
        broken(&["sdsc_r38"], "add", sets("dsc/labeledDs_/1/dataFormat_", json!("IEEE_FP32"))),
        broken(&["sdsc_r39"], "add", sets("dsc/primaryDsInfo_/OUTPUT/stickSize_", json!([32]))),
        broken(&["sdsc_r40"], "add", sets("dsc/computeOp_/0/attributes_/dataFormat_", json!("IEEE_FP32"))),
        broken(&["sdsc_r41"], "clip", sets("dsc/labeledDs_/1/scale_", json!([-2, 1]))),
        broken(&["sdsc_r42"], "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/spatial", json!(2))),
        broken(&["sdsc_r43"], "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/folds/dim_prop_attr/3/factor_", json!(31))),
        broken(&["sdsc_r43"], "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/folds/dim_prop_func/0/Affine/alpha_", json!(31))),
        broken(&["sdsc_r44"], "add", sets("dsc/scheduleTree_/1/backGapCore_", json!({"mb": {"0": "64"}}))),
        broken(&["sdsc_r45"], "add", sets("dsc/computeOp_/0/inputLabeledDs/1", json!("Tensor9-idx9"))),
        broken(&["sdsc_r45"], "add", sets("dsc/computeOp_/0/outputLabeledDs/0", json!("Tensor1-idx1"))),
        broken(&["sdsc_r46"], "gather", sets("dsc/computeOp_/0/indirectAccessIndexLabeledDs/0", json!("Tensor1-idx1"))),
        broken(&["sdsc_r47"], "gather", sets("dsc/labeledDs_/0/dataFormat_", json!("IEEE_INT32"))),
        broken(&["sdsc_r48"], "gather", sets("dsc/scheduleTree_/0/relatedIndirectAccessAlloc_", json!("allocate-Tensor2_hbm"))),
        broken(&["sdsc_r49"], "add", sets("dsc/scheduleTree_/1/maxDimSizes_", json!([5, -1]))),
    ]
}

fn broken_families() -> Vec<Broken> {
    let rows_of = |dim| operand(&[2, 4, 4, 2, 64], vec![C::floordiv(dim, 64), C::dim(0), C::dim(1), C::dim(2), C::modulo(dim, 64)]);
    let many_rows = op("batchmatmul", &[(4, 1), (4, 1), (2, 1), (128, 1), (128, 1)], 0, vec![rows_of(4), matrix((4, 128), (3, 128)), rows_of(3)]);
    let mut by_rows = matmul();
    by_rows.operands[0] = matrix((2, 128), (0, 64));
    by_rows.iteration_space[0].split = 1;
    let mut two_sticks = adds((1, 1));
    two_sticks.operands[1] = at(matrix((1, 256), (0, 128)), two_sticks.operands[1].allocation);
    let window = json!({"padFront_": 0, "padBack_": 0, "totalSize_": 128, "stride_": 1, "dilation_": 1, "windowDim_": "out"});
    vec![
        broken(&["sdsc_r50"], "matmul", becomes(emit_ops(vec![many_rows]))),
        broken(&["sdsc_r51"], "matmul", becomes(emit_ops(vec![by_rows]))),
        broken(&["sdsc_r52"], "columns", |files| rename(files, "sumnonstick", "sum")),
        broken(&["sdsc_r53"], "padded sum", |files| {
            *files = emit_ops(vec![op("sum", &[(64, 2), (64, 1)], 0, vec![matrix((0, 64), (1, 64)), sparse(0, 64)])]);
            rename(files, "sum", "sumnonstick");
        }),
        broken(&["sdsc_r55"], "top-k", becomes(top_k(2))),
        broken(&["sdsc_r56"], "restickify", becomes(restick(DeviceFormat::Sen143Fp8, Arrangement::Qfp8Wt))),
        broken(&["sdsc_r57"], "add", becomes(emit_ops(vec![two_sticks]))),
        broken(&["sdsc_r58"], "add", |files| (0..3).for_each(|tensor| set(files, &format!("dsc/labeledDs_/{tensor}/scale_"), json!([1, -2])))),
        broken(&["sdsc_r59"], "add", sets("dsc/N_/paddingSizes_", json!({"mb": window}))),
        broken(&["sdsc_r59"], "pooling", sets("dsc/N_/paddingSizes_/i/totalSize_", json!(7))),
        broken(&["sdsc_r60"], "padded sum", sets("dsc/coordinateMasking_/out", json!([[50, 10]]))),
        broken(&["sdsc_r61"], "padded sum", sets("dsc/maskingConstId_", json!(-1))),
        broken(&["sdsc_r61"], "add", sets("dsc/maskingConstId_", json!(0))),
        broken(&["sdsc_r62"], "padded sum", sets("dsc/constantInfo_", json!("{}"))),
        broken(&["sdsc_r62"], "clip", |files| remove(files, "dsc/constantInfo_/1")),
        broken(&["sdsc_r62"], "clip", |files| rename(files, "clipMax", "eps")),
        broken(&["sdsc_r63"], "clip", sets("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": [70000]}))),
        broken(&["sdsc_r63"], "clip", sets("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": ["?DL16(6.0)"]}))),
    ]
}

fn broken_addresses() -> Vec<Broken> {
    vec![
        broken(&["sdsc_r65"], "chain", |files| set(files, &format!("{STARTS_1}/[1, 0, 0]"), json!("256"))),
        broken(&["sdsc_r66"], "chain", |files| starts(files, "1625216", 2)),
        broken(&["sdsc_r67"], "baked", |files| set(files, &format!("{STARTS_1}/[0, 0, 0]"), json!("-128"))),
        broken(&["sdsc_r68"], "chain", |files| starts(files, "64", 2)),
        broken(&["sdsc_r68"], "add", |files| {
            text(files, "%arg_0_core_offset_4096 = arith.constant 4096", "%arg_0_core_offset_4096 = arith.constant 4100");
        }),
        broken(&["sdsc_r68"], "nest", texts("32768*d0", "32700*d0")),
        broken(&["sdsc_r69"], "nest", texts("allocate 8192 bytes", "allocate 8064 bytes")),
        broken(&["sdsc_r69"], "nest", texts("%pool_offset_4096 = arith.constant 4096", "%pool_offset_4096 = arith.constant -128")),
        broken(&["sdsc_r70"], "program", becomes(program([32768, 65408]))),
        broken(&["sdsc_r70"], "program", becomes(program([32640, 65536]))),
        broken(&["sdsc_r71"], "baked", |files| starts(files, "17179869056", 2)),
        broken(&["sdsc_r71"], "baked", |files| starts(files, &(7_i64 << 34).to_string(), 2)),
    ]
}

fn all_broken() -> Vec<Broken> {
    let groups = [broken_values, broken_symbols, broken_files, broken_divisions, broken_tensors, broken_families, broken_addresses];
    groups.into_iter().flat_map(|group| group()).collect()
}

#[test]
fn each_mutation_breaks_its_rule() {
    let mut wrong = String::new();
    for (number, Broken { labels: expected, files }) in all_broken().into_iter().enumerate() {
        let (found, shown) = labels(&files);
        if found != expected {
            wrong += &format!("\nmutation {number}: expected {expected:?}, found {found:?}{shown}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_rule_has_a_file_that_breaks_just_that_rule() {
    let broken = all_broken();
    assert!(broken.len() >= 30);
    let alone: BTreeSet<_> = broken.iter().filter(|broken| broken.labels.len() == 1).map(|broken| broken.labels[0]).collect();
    let missing: Vec<_> = RULES.iter().map(|rule| rule.label).filter(|label| !alone.contains(label)).collect();
    assert!(missing.is_empty(), "no mutation breaks just {missing:?}");
}

// ---------------------------------------------------------------------------------------------- other bundles and the page

/// The folders of the golden cases; none outside the project's workplace, where they are not shared.
fn golden_cases() -> Vec<PathBuf> {
    let named = std::env::var_os("SPYRE_SHARED").map(PathBuf::from);
    let shared = named.clone().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    let visible = shared.join("golden/visible");
    if named.is_none() && !visible.is_dir() {
        eprintln!("skipped: no golden cases, {} does not exist", visible.display());
        return Vec::new();
    }
    let entries = std::fs::read_dir(&visible).unwrap_or_else(|error| panic!("{}: {error}", visible.display()));
    let mut cases: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "no golden cases in {}", visible.display());
    cases
}

#[test]
fn golden_bundles_break_no_rule() {
    for case in golden_cases() {
        let found = check_directory(&case).unwrap();
        // Constants whose bits nobody knows are written as "?DL16(...)"; that is the only rule such a bundle may break.
        let is_marker = |message: &str| message.starts_with("'?DL16(");
        let shown: String = found.iter().filter(|one| !is_marker(&one.message)).map(|one| format!("\n  {one}")).collect();
        assert!(shown.is_empty(), "{}:{shown}", case.display());
    }
}

#[test]
fn golden_op_specs_are_emitted_without_breaking_a_rule() {
    for case in golden_cases() {
        let bundle = case_json::read_case(&std::fs::read_to_string(case.join("case.json")).unwrap()).unwrap();
        let (labels, shown) = labels(&emit(bundle.pool_bytes, bundle.items));
        assert!(labels.is_empty(), "{}:{shown}", case.display());
    }
}

#[test]
fn violations_say_where_and_what() {
    let shown = |edit: &dyn Fn(&mut Files)| {
        let mut files = base("add");
        edit(&mut files);
        labels(&files).1.lines().nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(
        shown(&|files| set(files, "dsc/dataStageParam_/0/el_/mb_", json!(31))),
        "sdsc_0.json:/0_add/dscs_/0/add/dataStageParam_/0/el_/mb_: sdsc_r30: 31 points where 'ss_' has 32; \
         every core has equal work from start to end"
    );
    assert_eq!(
        shown(&|files| text(files, "(%arg_0, ", "(")),
        "bundle.mlir:24:3: sdsc_r13: 11 operands for 12 symbol ids; each operand is the value of one symbol"
    );
    let wrong_type = shown(&|files| set(files, "dsc/coreIdsUsed_", json!([0, "1"])));
    assert!(wrong_type.starts_with("sdsc_0.json:/0_add/dscs_/0/add/coreIdsUsed_/1: sdsc_r2: invalid type"), "{wrong_type}");
}

#[test]
fn a_directory_without_a_bundle_is_no_violation_but_an_error() {
    let dir = std::env::temp_dir();
    let missing = dir.join("no-such-directory-of-spyre");
    assert!(matches!(check_directory(&missing), Err(CheckError::NoBundle(found)) if found == missing));
    let none: [(&str, &[u8]); 0] = [];
    assert!(matches!(check_files(none, &Target::spyre()), Err(CheckError::NoBundle(_))));
}

#[test]
fn a_bundle_is_checked_in_memory_with_what_it_is_given() {
    let mut files = nest();
    let text = String::from_utf8(files.remove("bundle.mlir").unwrap()).unwrap();
    let buffer = |name: &str, bytes| Buffer { name: name.to_owned(), bytes };
    let mut bundle = BundleFiles { text, sdsc: files, arguments: vec![buffer("x", 32768), buffer("y", 65536)] };
    assert_eq!(check_bundle(&bundle), []);
    bundle.arguments[1].bytes -= 1;
    let found = check_bundle(&bundle);
    assert_eq!(found.len(), 1);
    let reached = "core 1 reaches bytes 4096 to 65536 of 'y', kernel argument 1, which has 65535; a tensor lies within its buffer";
    assert_eq!((found[0].label, found[0].message.as_str()), ("sdsc_r70", reached));
}

#[test]
fn the_page_has_every_rule() {
    const BEGIN: &str = "<!-- rules: written by `BLESS=1 cargo test --test check_bundle` -->\n";
    const END: &str = "<!-- end of rules -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sdsc-format.md");
    let page = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (head, rest) = page.split_once(BEGIN).expect("the page has a place for the rules");
    let (_, tail) = rest.split_once(END).expect("the place for the rules has an end");
    let wanted = format!("{head}{BEGIN}{}{END}{tail}", rules_table());
    if std::env::var_os("BLESS").is_some_and(|bless| bless == "1") {
        std::fs::write(&path, &wanted).unwrap();
    } else {
        assert_eq!(page, wanted, "the rules of {} are out of date; run with BLESS=1", path.display());
    }
}
