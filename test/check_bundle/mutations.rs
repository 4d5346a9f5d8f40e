//! Bundles that are wrong in one way each.

use crate::check_bundle::bundles::{
    Files, adds, at, base, columns, copies, divided_gather, emit_ops, matmul, matrix, op, operand, program, restick, sparse, top_k,
    widened_sum,
};
use crate::check_bundle::derived::{broken_lives, broken_members, broken_programs};
use crate::check_bundle::edits::{STARTS_1, becomes, json, remove, rename, set, sets, starts, text, texts};
use crate::check_bundle::launch_specs::broken_launch_specs;
use machine::DeviceFormat;
use serde_json::{Value, json};
use spyre::bundle::{Coordinate as C, ElementArrangement};

/// A bundle with one fault, and the labels of the rules it violates, the most basic one first.
pub(crate) struct Broken {
    pub(crate) labels: &'static [&'static str],
    pub(crate) files: Files,
}

pub(crate) fn broken(labels: &'static [&'static str], base_name: &str, edit: impl FnOnce(&mut Files)) -> Broken {
    let mut files = base(base_name);
    let before = files.clone();
    edit(&mut files);
    assert_ne!(files, before, "the mutation for {labels:?} changes nothing");
    Broken { labels, files }
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
        broken(&["sdsc_r14", "sdsc_r15", "sdsc_r67"], "add", |files| {
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
        broken(&["sdsc_r74"], "moving row", |files| {
            text(files, "(%addr_0, %addr_1, %addr_2)", "(%addr_0, %addr_2)");
            text(files, "[-1, -2, -3]", "[-1, -2]");
            starts(files, "-1", 1);
            set(files, "dsc/scheduleTree_/2/startAddressCoreCorelet_/data_/[0, 0, 0]", json!("-2"));
        }),
        broken(&["sdsc_r64"], "symbolic", |files| remove(files, "op/symbolDefinitions_")),
        broken(&["sdsc_r64"], "symbolic", sets("op/inputSymbolsAndTags_", json!({"-2": "s"}))),
    ]
}

/// Sets a member of the place of a buffer.
fn places(buffer: usize, member: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| json(files, "program.json", |value| value["buffers"][buffer]["place"][member] = to)
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
        broken(&["sdsc_r72"], "constant", |files| drop(files.remove("constants/t0.bin"))),
        broken(&["sdsc_r72"], "constant", |files| files.get_mut("constants/t0.bin").unwrap().truncate(32767)),
        broken(&["sdsc_r72"], "constant", |files| {
            json(files, "program.json", |value| value["constants"][0]["file"] = json!("../program/constants/t0.bin"));
        }),
        broken(&["sdsc_r72"], "program", |files| json(files, "program.json", |value| value["results"][0]["file"] = json!("program.json"))),
        broken(&["sdsc_r73"], "shared", places(2, "offset", json!(65536))),
        broken(&["sdsc_r73"], "shared", places(2, "offset", json!(65408))),
        broken(&["sdsc_r73"], "shared", places(0, "offset", json!(64))),
        broken(&["sdsc_r73"], "shared", places(0, "offset", json!(-128))),
        broken(&["sdsc_r73"], "shared", |files| json(files, "program.json", |value| value["buffer_bytes"] = json!(131_071))),
        broken(&["sdsc_r73"], "shared", places(1, "first_launch", json!(2))),
        broken(&["sdsc_r73"], "shared", places(1, "last_launch", json!(1))),
        broken(&["sdsc_r73"], "shared", places(2, "last_launch", json!(4))),
        broken(&["sdsc_r73"], "shared", places(2, "first_launch", json!(1))),
        broken(&["sdsc_r73"], "program", |files| {
            json(files, "program.json", |value| {
                value["results"][0]["place"] = json!({"offset": 0, "first_launch": 0, "last_launch": 0});
            });
        }),
        broken(&["sdsc_r3"], "program", |files| json(files, "program.json", |value| value["arguments"][0]["index_range"] = json!([0, 8]))),
        broken(&["sdsc_r3"], "program", |files| json(files, "program.json", |value| value["results"][0]["digit_base"] = json!(1024))),
        broken(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| value["symbols"] = json!([{"name": "T", "maximum": 8}]));
        }),
        broken(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| {
                value["results"][0]["element_type"] = json!("i32");
                value["results"][0]["index_range"] = json!([0, 8]);
            });
        }),
        broken(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| {
                value["arguments"][0]["element_type"] = json!("i64");
                value["arguments"][0]["index_range"] = json!([8, 8]);
            });
        }),
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

/// Sets the slices of the rows of an add of 128 rows everywhere in the file, but not the cores.
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
        broken(&["sdsc_r150"], "relayout", |files| remove(files, "dsc/scheduleTree_/1/coordinates_/coreIdToWkSlice_/3")),
        broken(&["sdsc_r150"], "relayout", sets("dsc/scheduleTree_/0/coordinates_/coreIdToWkSlice_/3/mb", json!(2))),
        broken(&["sdsc_r151"], "relayout", |files| starts(files, "128", 4)),
        broken(&["sdsc_r152"], "relayout", sets("dsc/numCoreletsUsed_", json!(2))),
        broken(&["sdsc_r153"], "add", becomes(widened_sum())),
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
        broken(&["sdsc_r154"], "divided gather", becomes(divided_gather(128, [4, 2]))),
        broken(&["sdsc_r154"], "divided gather", sets("dsc/scheduleTree_/1/startAddressCoreCorelet_/data_/[1, 0, 0]", json!("-1"))),
        broken(&["sdsc_r48"], "gather", sets("dsc/scheduleTree_/0/relatedIndirectAccessAlloc_", json!("allocate-Tensor2_hbm"))),
        broken(&["sdsc_r49"], "add", sets("dsc/scheduleTree_/1/maxDimSizes_", json!([5, -1]))),
    ]
}

fn broken_families() -> Vec<Broken> {
    let rows_of = |dim| operand(&[2, 4, 4, 2, 64], vec![C::floordiv(dim, 64), C::dim(0), C::dim(1), C::dim(2), C::modulo(dim, 64)]);
    let many_rows =
        op("batchmatmul", &[(4, 1), (4, 1), (2, 1), (128, 1), (128, 1)], 0, vec![rows_of(4), matrix((4, 128), (3, 128)), rows_of(3)]);
    let mut by_rows = matmul();
    by_rows.operands[0] = matrix((2, 128), (0, 64));
    by_rows.iteration_space[0].split = 1;
    let mut two_sticks = adds((1, 1));
    two_sticks.operands[1] = at(matrix((1, 256), (0, 128)), two_sticks.operands[1].allocation);
    let split_mask = op("sum", &[(100, 1), (190, 3)], 0, vec![matrix((0, 100), (1, 190)), sparse(0, 100)]);
    let window = json!({"padFront_": 0, "padBack_": 0, "totalSize_": 128, "stride_": 1, "dilation_": 1, "windowDim_": "out"});
    vec![
        broken(&["sdsc_r50"], "matmul", becomes(emit_ops(vec![many_rows]))),
        broken(&["sdsc_r51"], "matmul", becomes(emit_ops(vec![by_rows]))),
        broken(&["sdsc_r52"], "columns", |files| rename(files, "sumnonstick", "sum")),
        broken(&["sdsc_r53"], "padded sum", |files| {
            *files = emit_ops(vec![op("sum", &[(64, 2), (64, 1)], 0, vec![matrix((0, 64), (1, 64)), sparse(0, 64)])]);
            rename(files, "sum", "sumnonstick");
        }),
        broken(&["sdsc_r102"], "identity", becomes(copies(DeviceFormat::IeeeFp32))),
        broken(&["sdsc_r55"], "top-k", becomes(top_k(2))),
        broken(&["sdsc_r56"], "restickify", becomes(restick(DeviceFormat::Sen143Fp8, ElementArrangement::Qfp8Wt))),
        broken(&["sdsc_r57"], "add", becomes(emit_ops(vec![two_sticks]))),
        broken(&["sdsc_r58"], "add", |files| {
            (0..3).for_each(|tensor| set(files, &format!("dsc/labeledDs_/{tensor}/scale_"), json!([1, -2])))
        }),
        broken(&["sdsc_r59"], "add", sets("dsc/N_/paddingSizes_", json!({"mb": window}))),
        broken(&["sdsc_r59"], "pooling", sets("dsc/N_/paddingSizes_/i/totalSize_", json!(7))),
        broken(&["sdsc_r60"], "padded sum", sets("dsc/coordinateMasking_/out", json!([[50, 10]]))),
        broken(&["sdsc_r60"], "add", becomes(emit_ops(vec![split_mask]))),
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
        broken(&["sdsc_r65"], "chain", |files| set(files, &format!("{STARTS_1}/[1, 0, 0]"), json!("-128"))),
        broken(&["sdsc_r88"], "chain", |files| set(files, &format!("{STARTS_1}/[1, 0, 0]"), json!("256"))),
        broken(&["sdsc_r66"], "chain", |files| starts(files, "1625216", 2)),
        broken(&["sdsc_r67"], "baked", |files| set(files, &format!("{STARTS_1}/[0, 0, 0]"), json!("-128"))),
        broken(&["sdsc_r68"], "chain", |files| starts(files, "64", 2)),
        broken(&["sdsc_r68"], "add", |files| {
            text(files, "%arg_0_core_offset_4096 = arith.constant 4096", "%arg_0_core_offset_4096 = arith.constant 4100");
        }),
        broken(&["sdsc_r68"], "nest", texts("32768*d0", "32700*d0")),
        broken(&["sdsc_r69"], "nest", texts("allocate 8192 bytes", "allocate 8064 bytes")),
        broken(&["sdsc_r69"], "nest", texts("%pool_offset_4096 = arith.constant 4096", "%pool_offset_4096 = arith.constant -128")),
        broken(&["sdsc_r70"], "program", becomes(program([65536, 65408]))),
        broken(&["sdsc_r70"], "program", becomes(program([32640, 65536]))),
        broken(&["sdsc_r71"], "baked", |files| starts(files, "17179869056", 2)),
        broken(&["sdsc_r71"], "baked", |files| starts(files, &(7_i64 << 34).to_string(), 2)),
    ]
}

pub(crate) fn all_broken() -> Vec<Broken> {
    let groups = [
        broken_values,
        broken_symbols,
        broken_files,
        broken_divisions,
        broken_tensors,
        broken_families,
        broken_addresses,
        broken_members,
        broken_programs,
        broken_lives,
        broken_launch_specs,
    ];
    groups.into_iter().flat_map(|group| group()).collect()
}
