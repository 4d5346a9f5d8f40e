//! Bundles with one error each.

use crate::check_bundle::bundles::{
    Files, adds, columns, copies, divided_gather, emit_ops, find_valid_bundle, matmul, matrix, narrow_product, op,
    operand, program, restick, sparse, top_k, widened_sum, with_allocation,
};
use crate::check_bundle::derived::{broken_live_ranges, broken_members, broken_programs};
use crate::check_bundle::edits::{
    STARTS_1, json, remove, rename, replace_bundle, replace_text, set, set_edit, set_starts, text_edit,
};
use crate::check_bundle::launch_specs::broken_launch_specs;
use machine::DeviceFormat;
use serde_json::{Value, json};
use spyre_compiler::bundle::{Coordinate as C, ElementArrangement};

/// Bundle with one fault, and the labels of the rules that it violates, the most basic one first.
pub(crate) struct BrokenBundle {
    pub(crate) labels: &'static [&'static str],
    pub(crate) files: Files,
}

pub(crate) fn break_bundle(
    labels: &'static [&'static str],
    base_name: &str,
    edit: impl FnOnce(&mut Files),
) -> BrokenBundle {
    let mut files = find_valid_bundle(base_name);
    let before = files.clone();
    edit(&mut files);
    assert_ne!(files, before, "the mutation for {labels:?} changes nothing");
    BrokenBundle { labels, files }
}

fn broken_values() -> Vec<BrokenBundle> {
    vec![
        break_bundle(&["sdsc_r1"], "add", text_edit("arith.addi", "arith.muli")),
        break_bundle(&["sdsc_r1"], "add", text_edit("sdsc_filename", "sdsc_file")),
        break_bundle(&["sdsc_r1"], "nest", text_edit("s0 + 8192*d0", "s0 + d0*d0")),
        break_bundle(&["sdsc_r8"], "add", text_edit("%arg_0_core_offset_4096 = ", "%other = ")),
        break_bundle(&["sdsc_r8"], "add", text_edit("%arg_1_core_offset_4096 = ", "%arg_0_core_offset_4096 = ")),
        break_bundle(&["sdsc_r8"], "nest", text_edit("#map_0 = ", "#map_7 = ")),
        break_bundle(&["sdsc_r9"], "add", text_edit("(%arg_0, ", "(%arg_0_base_addr, ")),
        break_bundle(&["sdsc_r9"], "nest", text_edit("#map_1(%i_0, %i_1)", "#map_1(%i_0)")),
        break_bundle(&["sdsc_r10"], "add", text_edit("%arg_0, %arg_0_core_offset_4096", "%arg_0, %arg_1")),
        break_bundle(&["sdsc_r11"], "nest", text_edit("allocate 8192 bytes", "allocate 99999999999 bytes")),
        break_bundle(&["sdsc_r11", "sdsc_r69"], "nest", text_edit("allocate 8192 bytes", "allocate -1 bytes")),
        break_bundle(
            &["sdsc_r12"],
            "nest",
            text_edit("%loop_bound_0 = arith.constant 2", "%loop_bound_0 = arith.constant 0"),
        ),
        break_bundle(&["sdsc_r12"], "nest", text_edit("%c1 = arith.constant 1", "%c1 = arith.constant 2")),
        break_bundle(&["sdsc_r12"], "nest", text_edit("to %loop_bound_1", "to %arg_0")),
    ]
}

fn broken_symbols() -> Vec<BrokenBundle> {
    let renumber = |files: &mut Files, by: i64| {
        let mut second = String::from_utf8(files.remove("sdsc_1.json").unwrap()).unwrap();
        (7..13).rev().for_each(|id| second = second.replace(&format!("\"-{id}\""), &format!("\"-{}\"", id + by)));
        files.insert("sdsc_1.json".to_owned(), second.into_bytes());
    };
    vec![
        break_bundle(&["sdsc_r13"], "add", text_edit("(%arg_0, ", "(")),
        break_bundle(
            &["sdsc_r13", "sdsc_r16"],
            "add",
            text_edit(", \"symbol_ids\"=[-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12]", ""),
        ),
        break_bundle(&["sdsc_r14"], "two adds", move |files| {
            replace_text(files, "[-7, -8, -9, -10, -11, -12]", "[-1, -2, -3, -4, -5, -6]");
            renumber(files, -6);
        }),
        break_bundle(&["sdsc_r14", "sdsc_r15", "sdsc_r67"], "add", |files| {
            replace_text(files, "=[-1, ", "=[1, ");
            set(files, "dsc/scheduleTree_/0/startAddressCoreCorelet_/data_/[0, 0, 0]", json!("1"));
        }),
        break_bundle(&["sdsc_r15"], "two adds", move |files| {
            replace_text(files, "[-7, -8, -9, -10, -11, -12]", "[-17, -18, -19, -20, -21, -22]");
            renumber(files, 10);
        }),
        break_bundle(&["sdsc_r16"], "add", |files| set_starts(files, "-5", 4)),
        break_bundle(&["sdsc_r16"], "add", |files| set_starts(files, "-99", 4)),
        break_bundle(&["sdsc_r17"], "add", |files| {
            replace_text(files, "(%arg_0, %arg_0_core_4096", "(%arg_0_core_4096, %arg_0");
            replace_text(files, "[-1, -2", "[-2, -1");
        }),
        break_bundle(&["sdsc_r74"], "moving row", |files| {
            replace_text(files, "(%addr_0, %addr_1, %addr_2)", "(%addr_0, %addr_2)");
            replace_text(files, "[-1, -2, -3]", "[-1, -2]");
            set_starts(files, "-1", 1);
            set(files, "dsc/scheduleTree_/2/startAddressCoreCorelet_/data_/[0, 0, 0]", json!("-2"));
        }),
        break_bundle(&["sdsc_r64"], "symbolic", |files| remove(files, "op/symbolDefinitions_")),
        break_bundle(&["sdsc_r64"], "symbolic", set_edit("op/inputSymbolsAndTags_", json!({"-2": "s"}))),
    ]
}

/// Sets a member of a buffer's placement.
fn set_placement_member(buffer: usize, member: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| json(files, "program.json", |value| value["buffers"][buffer]["place"][member] = to)
}

fn broken_files() -> Vec<BrokenBundle> {
    vec![
        break_bundle(&["sdsc_r2"], "add", set_edit("op/unknown_", json!(1))),
        break_bundle(&["sdsc_r2"], "add", set_edit("op/numCoresUsed_", json!("4"))),
        break_bundle(&["sdsc_r2"], "add", |files| remove(files, "dsc/computeOp_/0/exUnit")),
        break_bundle(&["sdsc_r2"], "add", |files| files.get_mut("sdsc_0.json").unwrap().truncate(100)),
        break_bundle(&["sdsc_r2"], "add", set_edit("op/numWkSlicesPerDim_", json!({}))),
        break_bundle(&["sdsc_r2"], "add", set_edit("dsc/scheduleTree_/1/component_", json!(""))),
        break_bundle(&["sdsc_r2"], "add", set_edit("dsc/scheduleTree_/1/layoutDimOrder_", json!([]))),
        break_bundle(&["sdsc_r2"], "add", set_edit("dsc/computeOp_/0/attributes_/dataFormat_", json!(""))),
        break_bundle(&["sdsc_r2"], "add", set_edit("dsc/dataStageParam_/0/ss_/rowSplit_", json!({"mb": {}}))),
        break_bundle(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| value["launches"][0]["arguments"][1] = json!("t7"))
        }),
        break_bundle(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| value["launches"][0]["bundle"] = json!("bundle_1"))
        }),
        break_bundle(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| value["launches"][0]["bundle"] = json!(1))
        }),
        break_bundle(&["sdsc_r72"], "constant", |files| drop(files.remove("constants/t0.bin"))),
        break_bundle(&["sdsc_r72"], "constant", |files| files.get_mut("constants/t0.bin").unwrap().truncate(32767)),
        break_bundle(&["sdsc_r72"], "constant", |files| {
            json(files, "program.json", |value| value["constants"][0]["file"] = json!("../program/constants/t0.bin"));
        }),
        break_bundle(&["sdsc_r72"], "program", |files| {
            json(files, "program.json", |value| value["results"][0]["file"] = json!("program.json"))
        }),
        break_bundle(&["sdsc_r73"], "shared", set_placement_member(2, "offset", json!(65536))),
        break_bundle(&["sdsc_r73"], "shared", set_placement_member(2, "offset", json!(65408))),
        break_bundle(&["sdsc_r73"], "shared", set_placement_member(0, "offset", json!(64))),
        break_bundle(&["sdsc_r73"], "shared", set_placement_member(0, "offset", json!(-128))),
        break_bundle(&["sdsc_r73"], "shared", |files| {
            json(files, "program.json", |value| value["buffer_bytes"] = json!(131_071))
        }),
        break_bundle(&["sdsc_r73"], "shared", set_placement_member(1, "first_launch", json!(2))),
        break_bundle(&["sdsc_r73"], "shared", set_placement_member(1, "last_launch", json!(1))),
        break_bundle(&["sdsc_r73"], "shared", set_placement_member(2, "last_launch", json!(4))),
        break_bundle(&["sdsc_r73"], "shared", set_placement_member(2, "first_launch", json!(1))),
        break_bundle(&["sdsc_r73"], "program", |files| {
            json(files, "program.json", |value| {
                value["results"][0]["place"] = json!({"offset": 0, "first_launch": 0, "last_launch": 0});
            });
        }),
        break_bundle(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| value["arguments"][0]["index_range"] = json!([0, 8]))
        }),
        break_bundle(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| value["results"][0]["digit_base"] = json!(1024))
        }),
        break_bundle(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| value["symbols"] = json!([{"name": "T", "maximum": 8}]));
        }),
        break_bundle(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| {
                value["results"][0]["element_type"] = json!("i32");
                value["results"][0]["index_range"] = json!([0, 8]);
            });
        }),
        break_bundle(&["sdsc_r3"], "program", |files| {
            json(files, "program.json", |value| {
                value["arguments"][0]["element_type"] = json!("i64");
                value["arguments"][0]["index_range"] = json!([8, 8]);
            });
        }),
        break_bundle(&["sdsc_r4"], "add", set_edit("op/dscs_", json!([]))),
        break_bundle(&["sdsc_r4"], "add", set_edit("dsc/computeOp_", json!([]))),
        break_bundle(&["sdsc_r5"], "two adds", |files| drop(files.remove("sdsc_1.json"))),
        break_bundle(&["sdsc_r5", "sdsc_r6"], "add", text_edit("sdsc_0.json", "../sdsc_0.json")),
        break_bundle(&["sdsc_r6"], "add", |files| {
            let unused = String::from_utf8(files["sdsc_0.json"].clone()).unwrap().replace("0_add", "9_add");
            files.insert("sdsc_9.json".to_owned(), unused.into_bytes());
        }),
        break_bundle(&["sdsc_r7"], "two adds", |files| {
            replace_text(files, "sdsc_1.json", "sdsc_0.json");
            files.remove("sdsc_1.json");
        }),
        break_bundle(&["sdsc_r18"], "add", |files| rename(files, "0_add", "1_add")),
        break_bundle(&["sdsc_r18"], "add", set_edit("dsc/computeOp_/0/opFuncName", json!("sub"))),
        break_bundle(&["sdsc_r19"], "add", |files| rename(files, "add\"", "plus\"")),
        break_bundle(&["sdsc_r20"], "add", set_edit("dsc/computeOp_/0/exUnit", json!("pt"))),
        break_bundle(&["sdsc_r21"], "add", set_edit("dsc/computeOp_/0/location", json!("Outer"))),
        break_bundle(&["sdsc_r21"], "add", set_edit("op/coreIdToDscSchedule/0", json!([[0, 0, 0, 0]]))),
    ]
}

/// Sets the slice count of the rows of an add of 128 rows everywhere in the file, but not the number of cores.
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

fn broken_divisions() -> Vec<BrokenBundle> {
    let huge = || matrix((0, 1 << 22), (1, 64));
    let huge_neg = op("neg", &[(1 << 22, 1), (64, 1)], 0, vec![huge(), huge()]);
    vec![
        break_bundle(&["sdsc_r22"], "add", set_edit("dsc/numCoresUsed_", json!(3))),
        break_bundle(&["sdsc_r22"], "add", set_edit("op/coreFoldProp_/factor_", json!(3))),
        break_bundle(&["sdsc_r23"], "add", set_edit("dsc/coreIdsUsed_", json!([0, 0, 2, 3]))),
        break_bundle(&["sdsc_r23"], "add", |files| remove(files, "op/coreIdToDsc_/3")),
        break_bundle(
            &["sdsc_r24"],
            "add",
            set_edit("dsc/scheduleTree_/1/startAddressCoreCorelet_/dim_prop_attr/0/factor_", json!(3)),
        ),
        break_bundle(&["sdsc_r24"], "clip", set_edit("dsc/constantInfo_/1/data_/dim_prop_func/0", json!({"Map": {}}))),
        break_bundle(&["sdsc_r25"], "add", |files| slice_rows(files, 8)),
        break_bundle(&["sdsc_r26"], "add", set_edit("op/coreIdToWkSlice_/3/mb", json!(4))),
        break_bundle(
            &["sdsc_r26"],
            "relayout",
            set_edit("dsc/scheduleTree_/1/coordinates_/coreIdToWkSlice_/3/out", json!(4)),
        ),
        break_bundle(&["sdsc_r150"], "relayout", |files| {
            remove(files, "dsc/scheduleTree_/1/coordinates_/coreIdToWkSlice_/3")
        }),
        break_bundle(
            &["sdsc_r150"],
            "relayout",
            set_edit("dsc/scheduleTree_/0/coordinates_/coreIdToWkSlice_/3/mb", json!(2)),
        ),
        break_bundle(&["sdsc_r151"], "relayout", |files| set_starts(files, "128", 4)),
        break_bundle(&["sdsc_r192"], "relayout", |files| {
            set(files, &format!("{STARTS_1}/[0, 1, 0]"), json!("512"));
        }),
        break_bundle(&["sdsc_r152"], "relayout", set_edit("dsc/numCoreletsUsed_", json!(2))),
        break_bundle(&["sdsc_r153"], "add", replace_bundle(widened_sum())),
        break_bundle(&["sdsc_r27"], "add", set_edit("op/coreIdToWkSlice_/3/mb", json!(2))),
        break_bundle(&["sdsc_r28"], "add", set_edit("dsc/dataStageParam_/0/el_/x_", json!(1))),
        break_bundle(&["sdsc_r29"], "add", |files| {
            set(files, "dsc/dataStageParam_/0/ss_/mb_", json!(31));
            set(files, "dsc/dataStageParam_/0/el_/mb_", json!(31));
        }),
        break_bundle(&["sdsc_r30"], "add", set_edit("dsc/dataStageParam_/0/el_/mb_", json!(31))),
        break_bundle(&["sdsc_r31"], "add", replace_bundle(emit_ops(vec![adds((1, 8))]))),
        break_bundle(&["sdsc_r32"], "add", replace_bundle(emit_ops(vec![huge_neg]))),
        break_bundle(&["sdsc_r54"], "columns", replace_bundle(columns([2, 2]))),
    ]
}

fn broken_tensors() -> Vec<BrokenBundle> {
    vec![
        break_bundle(&["sdsc_r33"], "add", |files| rename(files, "\"OUTPUT\"", "\"RESULT\"")),
        break_bundle(&["sdsc_r34"], "add", set_edit("dsc/labeledDs_/1/dsName_", json!("Tensor7"))),
        break_bundle(&["sdsc_r34"], "add", set_edit("dsc/scheduleTree_/1/ldsIdx_", json!(2))),
        break_bundle(&["sdsc_r35"], "add", set_edit("dsc/labeledDs_/1/dsType_", json!("KERNEL"))),
        break_bundle(&["sdsc_r36"], "add", set_edit("dsc/scheduleTree_/1/layoutDimOrder_", json!(["mb", "mb"]))),
        break_bundle(&["sdsc_r36"], "add", set_edit("dsc/labeledDs_/1/scale_", json!([1, 1, 1]))),
        break_bundle(&["sdsc_r37"], "add", |files| remove(files, "dsc/labeledDs_/1/memOrg_/hbm")),
        break_bundle(&["sdsc_r37"], "add", set_edit("dsc/scheduleTree_/1/name_", json!("allocate-Tensor1_lx"))),
        break_bundle(&["sdsc_r38"], "add", set_edit("dsc/labeledDs_/1/dataFormat_", json!("IEEE_FP32"))),
        break_bundle(
            &["sdsc_r186"],
            "add",
            set_edit("op/ldsShareInfo_", json!([{"dsName_": "Tensor9", "sharedDscs": []}])),
        ),
        break_bundle(
            &["sdsc_r186"],
            "add",
            set_edit("op/ldsShareInfo_", json!([{"dsName_": "Tensor0", "sharedDscs": [[0], [1]]}])),
        ),
        break_bundle(
            &["sdsc_r186"],
            "add",
            set_edit(
                "op/ldsShareInfo_",
                json!([{"dsName_": "Tensor0", "sharedDscs": [[0]], "repeatHbmLxThroImbalDim": [[["x", 2]]]}]),
            ),
        ),
        break_bundle(&["sdsc_r39"], "add", set_edit("dsc/primaryDsInfo_/OUTPUT/stickSize_", json!([32]))),
        break_bundle(&["sdsc_r40"], "add", set_edit("dsc/computeOp_/0/attributes_/dataFormat_", json!("IEEE_FP32"))),
        break_bundle(&["sdsc_r41"], "clip", set_edit("dsc/labeledDs_/1/scale_", json!([-2, 1]))),
        break_bundle(&["sdsc_r42"], "add", set_edit("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/spatial", json!(2))),
        break_bundle(
            &["sdsc_r43"],
            "add",
            set_edit("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/folds/dim_prop_attr/3/factor_", json!(31)),
        ),
        break_bundle(
            &["sdsc_r43"],
            "add",
            set_edit("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/folds/dim_prop_func/0/Affine/alpha_", json!(31)),
        ),
        break_bundle(&["sdsc_r44"], "add", set_edit("dsc/scheduleTree_/1/backGapCore_", json!({"mb": {"0": "64"}}))),
        break_bundle(&["sdsc_r45"], "add", set_edit("dsc/computeOp_/0/inputLabeledDs/1", json!("Tensor9-idx9"))),
        break_bundle(&["sdsc_r45"], "add", set_edit("dsc/computeOp_/0/outputLabeledDs/0", json!("Tensor1-idx1"))),
        break_bundle(
            &["sdsc_r46"],
            "gather",
            set_edit("dsc/computeOp_/0/indirectAccessIndexLabeledDs/0", json!("Tensor1-idx1")),
        ),
        break_bundle(&["sdsc_r47"], "gather", set_edit("dsc/labeledDs_/0/dataFormat_", json!("IEEE_INT32"))),
        break_bundle(&["sdsc_r154"], "divided gather", replace_bundle(divided_gather(128, [4, 2]))),
        break_bundle(
            &["sdsc_r154"],
            "divided gather",
            set_edit("dsc/scheduleTree_/1/startAddressCoreCorelet_/data_/[1, 0, 0]", json!("-1")),
        ),
        break_bundle(
            &["sdsc_r48"],
            "gather",
            set_edit("dsc/scheduleTree_/0/relatedIndirectAccessAlloc_", json!("allocate-Tensor2_hbm")),
        ),
        break_bundle(&["sdsc_r49"], "add", set_edit("dsc/scheduleTree_/1/maxDimSizes_", json!([5, -1]))),
    ]
}

fn broken_families() -> Vec<BrokenBundle> {
    let rows_of = |dim| {
        operand(&[2, 4, 4, 2, 64], vec![C::floordiv(dim, 64), C::dim(0), C::dim(1), C::dim(2), C::modulo(dim, 64)])
    };
    let many_rows = op(
        "batchmatmul",
        &[(4, 1), (4, 1), (2, 1), (128, 1), (128, 1)],
        0,
        vec![rows_of(4), matrix((4, 128), (3, 128)), rows_of(3)],
    );
    let mut by_rows = matmul();
    by_rows.operands[0] = matrix((2, 128), (0, 64));
    by_rows.iteration_space[0].split = 1;
    let mut two_sticks = adds((1, 1));
    two_sticks.operands[1] = with_allocation(matrix((1, 256), (0, 128)), two_sticks.operands[1].allocation);
    let split_mask = op("sum", &[(100, 1), (190, 3)], 0, vec![matrix((0, 100), (1, 190)), sparse(0, 100)]);
    let window =
        json!({"padFront_": 0, "padBack_": 0, "totalSize_": 128, "stride_": 1, "dilation_": 1, "windowDim_": "out"});
    vec![
        break_bundle(&["sdsc_r50"], "matmul", replace_bundle(emit_ops(vec![many_rows]))),
        break_bundle(&["sdsc_r51"], "matmul", replace_bundle(emit_ops(vec![by_rows]))),
        break_bundle(&["sdsc_r190"], "matmul", |files| {
            *files = narrow_product();
            set(files, "dsc/labeledDs_/1/dataFormat_", json!("SEN152_FP8"));
        }),
        break_bundle(&["sdsc_r191"], "matmul", |files| {
            *files = narrow_product();
            set(files, "dsc/primaryDsInfo_/KERNEL/stickDimOrder_", json!(["out", "in"]));
            set(files, "dsc/primaryDsInfo_/KERNEL/stickSize_", json!([64, 2]));
        }),
        break_bundle(&["sdsc_r52"], "columns", |files| rename(files, "sumnonstick", "sum")),
        break_bundle(&["sdsc_r53"], "padded sum", |files| {
            *files = emit_ops(vec![op("sum", &[(64, 2), (64, 1)], 0, vec![matrix((0, 64), (1, 64)), sparse(0, 64)])]);
            rename(files, "sum", "sumnonstick");
        }),
        break_bundle(&["sdsc_r102"], "identity", replace_bundle(copies(DeviceFormat::IeeeFp32))),
        break_bundle(&["sdsc_r55"], "top-k", replace_bundle(top_k(2))),
        break_bundle(
            &["sdsc_r56"],
            "restickify",
            replace_bundle(restick(DeviceFormat::Sen143Fp8, ElementArrangement::Qfp8Wt)),
        ),
        break_bundle(&["sdsc_r57"], "add", replace_bundle(emit_ops(vec![two_sticks]))),
        break_bundle(&["sdsc_r58"], "add", |files| {
            (0..3).for_each(|tensor| set(files, &format!("dsc/labeledDs_/{tensor}/scale_"), json!([1, -2])))
        }),
        break_bundle(&["sdsc_r59"], "add", set_edit("dsc/N_/paddingSizes_", json!({"mb": window}))),
        break_bundle(&["sdsc_r59"], "pooling", set_edit("dsc/N_/paddingSizes_/i/totalSize_", json!(7))),
        break_bundle(&["sdsc_r60"], "padded sum", set_edit("dsc/coordinateMasking_/out", json!([[50, 10]]))),
        break_bundle(&["sdsc_r60"], "add", replace_bundle(emit_ops(vec![split_mask]))),
        break_bundle(&["sdsc_r61"], "padded sum", set_edit("dsc/maskingConstId_", json!(-1))),
        break_bundle(&["sdsc_r61"], "add", set_edit("dsc/maskingConstId_", json!(0))),
        break_bundle(&["sdsc_r62"], "padded sum", set_edit("dsc/constantInfo_", json!("{}"))),
        break_bundle(&["sdsc_r62"], "clip", |files| remove(files, "dsc/constantInfo_/1")),
        break_bundle(&["sdsc_r62"], "clip", |files| rename(files, "clipMax", "eps")),
        break_bundle(&["sdsc_r63"], "clip", set_edit("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": [70000]}))),
        break_bundle(
            &["sdsc_r63"],
            "clip",
            set_edit("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": ["?DL16(6.0)"]})),
        ),
    ]
}

fn broken_addresses() -> Vec<BrokenBundle> {
    vec![
        break_bundle(&["sdsc_r65"], "chain", |files| set(files, &format!("{STARTS_1}/[1, 0, 0]"), json!("-128"))),
        break_bundle(&["sdsc_r88"], "chain", |files| set(files, &format!("{STARTS_1}/[1, 0, 0]"), json!("256"))),
        break_bundle(&["sdsc_r66"], "chain", |files| set_starts(files, "1625216", 2)),
        break_bundle(&["sdsc_r67"], "baked", |files| set(files, &format!("{STARTS_1}/[0, 0, 0]"), json!("-128"))),
        break_bundle(&["sdsc_r68"], "chain", |files| set_starts(files, "64", 2)),
        break_bundle(&["sdsc_r68"], "add", |files| {
            replace_text(
                files,
                "%arg_0_core_offset_4096 = arith.constant 4096",
                "%arg_0_core_offset_4096 = arith.constant 4100",
            );
        }),
        break_bundle(&["sdsc_r68"], "nest", text_edit("32768*d0", "32700*d0")),
        break_bundle(&["sdsc_r69"], "nest", text_edit("allocate 8192 bytes", "allocate 8064 bytes")),
        break_bundle(
            &["sdsc_r69"],
            "nest",
            text_edit("%pool_offset_4096 = arith.constant 4096", "%pool_offset_4096 = arith.constant -128"),
        ),
        break_bundle(&["sdsc_r70"], "program", replace_bundle(program([65536, 65408]))),
        break_bundle(&["sdsc_r70"], "program", replace_bundle(program([32640, 65536]))),
        break_bundle(&["sdsc_r71"], "baked", |files| set_starts(files, "17179869056", 2)),
        break_bundle(&["sdsc_r71"], "baked", |files| set_starts(files, &(7_i64 << 34).to_string(), 2)),
    ]
}

pub(crate) fn all_broken() -> Vec<BrokenBundle> {
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
        broken_live_ranges,
        broken_launch_specs,
    ];
    groups.into_iter().flat_map(|group| group()).collect()
}
