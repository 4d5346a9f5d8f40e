//! Faults, each named by its effect on the program.

use crate::faults::edits::{
    BUNDLE, FileEdit, apply_all, edit_execute, edit_program, edit_text, execute_line, move_buffer, rename_word,
    replace_operands, replace_text, sdsc_file_name, set_member, swap_members,
};
use serde_json::json;

/// Program with one error.
pub(crate) struct FileFault {
    pub(crate) name: &'static str,
    /// Correct program.
    pub(crate) program: &'static str,
    pub(crate) edit: FileEdit,
}

fn fault(name: &'static str, program: &'static str, edit: FileEdit) -> FileFault {
    FileFault { name, program, edit }
}

fn loop_faults() -> Vec<FileFault> {
    let strides = "s0 + 4096*d0 + 16384*d1";
    let stale = |result: bool| {
        let [addresses, starts] = if result {
            ["%addr_12, %addr_13, %addr_14, %addr_15", "%arg_3, %arg_3_core_1024, %arg_3_core_2048, %arg_3_core_3072"]
        } else {
            ["%addr_8, %addr_9, %addr_10, %addr_11", "%arg_2, %arg_2_core_1024, %arg_2_core_2048, %arg_2_core_3072"]
        };
        replace_operands(1, addresses, starts)
    };
    vec![
        fault("a loop's stride is a stick short", "tiled", replace_text("16384*d1", "16256*d1")),
        fault("a loop's stride is a stick too long", "tiled", replace_text("16384*d1", "16512*d1")),
        fault("a loop's stride is a byte short", "tiled", replace_text("4096*d0", "4095*d0")),
        fault("the strides of two loops are swapped", "tiled", replace_text(strides, "s0 + 16384*d0 + 4096*d1")),
        fault(
            "the counters are swapped for one operand on one core",
            "tiled",
            replace_text("(%i_0, %i_1)[%arg_0]", "(%i_1, %i_0)[%arg_0]"),
        ),
        fault("an address does not advance along the outer loop", "tiled", replace_text(strides, "s0 + 16384*d1")),
        fault("a stale tile: an operand does not advance", "tiled", stale(false)),
        fault("a stale tile: the result does not advance", "tiled", stale(true)),
        fault("a stale tile on one core", "tiled", replace_operands(1, "%addr_9", "%arg_2_core_1024")),
        fault(
            "a loop ends one iteration early",
            "tiled",
            replace_text("%loop_bound_1 = arith.constant 4", "%loop_bound_1 = arith.constant 3"),
        ),
        fault(
            "a loop ends one iteration late",
            "tiled",
            replace_text("%loop_bound_1 = arith.constant 4", "%loop_bound_1 = arith.constant 5"),
        ),
        fault(
            "the bounds of two loops are swapped",
            "tiled",
            apply_all(vec![
                replace_text("to %loop_bound_0", "to %bound"),
                replace_text("to %loop_bound_1", "to %loop_bound_0"),
                replace_text("to %bound", "to %loop_bound_1"),
            ]),
        ),
        fault("a loop begins with its second iteration", "tiled", replace_text("%i_1 = %c0", "%i_1 = %c1")),
    ]
}

fn execute_faults() -> Vec<FileFault> {
    let without = |op| edit_execute(op, |_| String::new());
    let without_file = |op| -> FileEdit { Box::new(move |files| drop(files.remove(&sdsc_file_name(op)).unwrap())) };
    let reordered: FileEdit = Box::new(|files| {
        edit_text(files, BUNDLE, |text| {
            let (sum, difference) = (execute_line(text, 2), execute_line(text, 3));
            text.replacen(&format!("{sum}{difference}"), &format!("{difference}{sum}"), 1)
        });
    });
    vec![
        fault("an execute is dropped", "chain", without(3)),
        fault("an execute is dropped, and its file", "chain", apply_all(vec![without(3), without_file(3)])),
        fault("an execute of a loop is dropped", "tiled", without(1)),
        fault("an execute whose result is read from the pool is dropped", "softmax", without(0)),
        fault("an op that works in place is executed twice", "chain", edit_execute(3, |line| line.repeat(2))),
        fault("two executes are swapped, and the first overwrites what the second reads", "chain", reordered),
        fault("an execute names the file of another op", "chain", replace_text("sdsc_3.json", "sdsc_2.json")),
        fault(
            "the starts of two cores are swapped in an operand",
            "tiled",
            replace_operands(0, "%addr_0, %addr_1", "%addr_1, %addr_0"),
        ),
        fault(
            "the starts of two cores are swapped in the result",
            "tiled",
            replace_operands(1, "%addr_12, %addr_13", "%addr_13, %addr_12"),
        ),
        fault(
            "the starts of two cores are swapped in a copy to LX",
            "chain",
            replace_operands(0, "%arg_0, %arg_0_core_4096", "%arg_0_core_4096, %arg_0"),
        ),
        fault(
            "a core adds up the rows of another core",
            "rows",
            replace_operands(1, "%pool_addr_0, %pool_addr_12288", "%pool_addr_12288, %pool_addr_0"),
        ),
        fault(
            "partial sums go to the results of other cores",
            "matmul",
            replace_operands(0, "%arg_2, %arg_2_core_128", "%arg_2_core_128, %arg_2"),
        ),
        fault("two cores write the same part of the result", "tiled", replace_operands(1, "%addr_13", "%addr_12")),
        fault(
            "an operand and the result are swapped",
            "tiled",
            replace_operands(
                1,
                "%addr_8, %addr_9, %addr_10, %addr_11, %addr_12, %addr_13, %addr_14, %addr_15",
                "%addr_12, %addr_13, %addr_14, %addr_15, %addr_8, %addr_9, %addr_10, %addr_11",
            ),
        ),
        fault("two symbols are in the wrong order", "tiled", replace_text("[-1, -2, ", "[-2, -1, ")),
        fault("an operand has no symbol", "tiled", replace_text("[-1, -2, ", "[-1, ")),
        fault("two ops share their symbols", "softmax", replace_text("[-15, -16, -17, -18]", "[-11, -12, -13, -14]")),
        fault(
            "the restickify is skipped: its reader takes the tensor as it was",
            "turned",
            replace_operands(1, "%pool_addr_0", "%arg_0"),
        ),
        fault("the restickify is a copy", "turned", rename_word(0, "ReStickifyOpHBM", "identity")),
    ]
}

fn memory_faults() -> Vec<FileFault> {
    // Uses of the copy of the first argument, and of the sum.
    const COPY: &[(usize, usize)] = &[(0, 1), (2, 0), (3, 0)];
    const SUM: &[(usize, usize)] = &[(2, 2), (4, 0)];
    vec![
        fault("a buffer in LX is written a stick too high", "chain", move_buffer(&[(0, 1)], None, "8320")),
        fault("a buffer in LX overlaps another live one", "chain", move_buffer(COPY, None, "4096")),
        fault("two live buffers have one place in LX", "chain", move_buffer(COPY, None, "0")),
        fault("a result in LX replaces an operand that is still read", "chain", move_buffer(SUM, None, "8192")),
        fault("a result in LX overlaps an operand by a stick", "chain", move_buffer(SUM, None, "16256")),
        fault("a buffer ends a stick beyond LX", "chain", move_buffer(SUM, None, "1617280")),
        fault("a buffer in LX begins inside of a stick", "chain", move_buffer(SUM, None, "16448")),
        fault("a buffer in LX begins before it", "chain", move_buffer(SUM, None, "-128")),
        fault("a buffer has another place in LX on one core", "chain", move_buffer(&[(2, 2)], Some(1), "16512")),
        fault("the pool is a stick too small", "rows", replace_text("allocate 24576 bytes", "allocate 24448 bytes")),
        fault(
            "a core's start in the pool is a stick too low",
            "rows",
            replace_text("%pool_offset_3072 = arith.constant 3072", "%pool_offset_3072 = arith.constant 2944"),
        ),
        fault(
            "two live buffers have one place in the pool",
            "softmax",
            apply_all(vec![
                replace_text("%pool_offset_8960 = arith.constant 8960", "%pool_offset_8960 = arith.constant 0"),
                replace_text("%pool_offset_13440 = arith.constant 13440", "%pool_offset_13440 = arith.constant 4480"),
            ]),
        ),
        fault(
            "a core's start in an argument is off by half a stick",
            "rows",
            replace_text("offset_3072 = arith.constant 3072", "offset_3072 = arith.constant 3136"),
        ),
        fault(
            "a core's start in an argument is off by a stick",
            "rows",
            replace_text("offset_3072 = arith.constant 3072", "offset_3072 = arith.constant 3200"),
        ),
    ]
}

fn division_faults() -> Vec<FileFault> {
    vec![
        fault(
            "two cores have each other's slices of a masked dimension",
            "softmax",
            swap_members(2, "op/coreIdToWkSlice_/0", "op/coreIdToWkSlice_/2"),
        ),
        fault(
            "two cores have each other's slices",
            "softmax",
            swap_members(2, "op/coreIdToWkSlice_/0", "op/coreIdToWkSlice_/3"),
        ),
        fault(
            "two cores of a split product have each other's slices",
            "matmul",
            swap_members(0, "op/coreIdToWkSlice_/0", "op/coreIdToWkSlice_/3"),
        ),
        fault(
            "two cores of a split sum have each other's slices",
            "rows",
            swap_members(1, "op/coreIdToWkSlice_/0", "op/coreIdToWkSlice_/1"),
        ),
        fault("two cores have the same slice", "tiled", set_member(0, "op/coreIdToWkSlice_/1/mb", json!(0))),
        fault("a core has a slice that does not exist", "tiled", set_member(0, "op/coreIdToWkSlice_/3/mb", json!(4))),
        fault("the op counts one core less", "tiled", set_member(0, "op/numCoresUsed_", json!(3))),
        fault(
            "a slice of K is never added: two cores say the same one",
            "matmul",
            set_member(0, "op/coreIdToWkSlice_/1/in", json!(0)),
        ),
        fault(
            "a slice of K is never added: two cores read the same one",
            "matmul",
            replace_operands(0, "%arg_0, %arg_0_core_4096", "%arg_0, %arg_0"),
        ),
        fault(
            "the slices of K are swapped in one operand",
            "matmul",
            replace_operands(0, "(%arg_0, %arg_0_core_4096", "(%arg_0_core_4096, %arg_0"),
        ),
        fault("a partial sum is added to another row", "matmul", move_buffer(&[(0, 2)], Some(1), "-8")),
        fault(
            "partial sums are not added: the file says that K is not split",
            "matmul",
            set_member(0, "op/numWkSlicesPerDim_/in", json!(1)),
        ),
        fault(
            "partial sums are not added: every core has all of K and its own half is lost",
            "matmul",
            apply_all(vec![
                set_member(0, "op/numWkSlicesPerDim_/in", json!(1)),
                set_member(0, "op/coreIdToWkSlice_/1/in", json!(0)),
                set_member(0, "op/coreIdToWkSlice_/3/in", json!(0)),
                set_member(0, "dsc/N_/in_", json!(1024)),
            ]),
        ),
        fault("K is half of what it should be", "matmul", set_member(0, "dsc/N_/in_", json!(1024))),
        fault(
            "half of K is left out",
            "matmul",
            apply_all(vec![
                set_member(0, "dsc/N_/in_", json!(1024)),
                set_member(0, "dsc/dataStageParam_/0/ss_/in_", json!(512)),
                set_member(0, "dsc/dataStageParam_/0/el_/in_", json!(512)),
            ]),
        ),
        fault("the space is twice as large", "tiled", set_member(0, "dsc/N_/mb_", json!(64))),
        fault(
            "a core's part is one row short",
            "tiled",
            apply_all(vec![
                set_member(1, "dsc/N_/mb_", json!(28)),
                set_member(1, "dsc/dataStageParam_/0/ss_/mb_", json!(7)),
                set_member(1, "dsc/dataStageParam_/0/el_/mb_", json!(7)),
            ]),
        ),
        fault(
            "the last core's part is one row short",
            "tiled",
            set_member(1, "dsc/dataStageParam_/0/el_/mb_", json!(7)),
        ),
    ]
}

fn op_faults() -> Vec<FileFault> {
    let no_mask = |op| {
        apply_all(vec![
            set_member(op, "dsc/coordinateMasking_", json!({})),
            set_member(op, "dsc/maskingConstId_", json!(-1)),
            set_member(op, "dsc/constantInfo_", json!("{}")),
        ])
    };
    let mask_value = "dsc/constantInfo_/0/data_/data_/[0, 0, 0]/0";
    vec![
        fault("a maximum has no mask", "softmax", no_mask(0)),
        fault("neither an exponential nor its sum has a mask", "softmax", apply_all(vec![no_mask(2), no_mask(3)])),
        fault("an op names another constant for its mask", "softmax", set_member(0, "dsc/maskingConstId_", json!(1))),
        // 20000 is 272 in DL16.
        fault("padding counts as a large number in a maximum", "softmax", set_member(0, mask_value, json!(20000))),
        fault(
            "a mask is empty, and its constant is there",
            "softmax",
            set_member(0, "dsc/coordinateMasking_", json!({})),
        ),
        fault("a mask has no constant", "softmax", set_member(3, "dsc/constantInfo_", json!("{}"))),
        // 15872 is 1 in DL16.
        fault("padding counts as 1 in a sum", "softmax", set_member(3, mask_value, json!(15872))),
        fault(
            "a mask covers half of the values",
            "softmax",
            set_member(3, "dsc/coordinateMasking_/out", json!([[50, 78]])),
        ),
        fault(
            "a mask begins one column late",
            "softmax",
            set_member(0, "dsc/coordinateMasking_/out", json!([[101, 27]])),
        ),
        fault(
            "a mask does not end with the row",
            "softmax",
            set_member(0, "dsc/coordinateMasking_/out", json!([[100, 27]])),
        ),
        fault("another function: a sum is a difference", "tiled", rename_word(0, "add\"", "sub\"")),
        fault("another function: a maximum is a minimum", "softmax", rename_word(0, "max\"", "min\"")),
        fault("a sum along sticks says that it is across them", "softmax", rename_word(3, "sum\"", "sumnonstick\"")),
        fault(
            "an op reads one operand twice",
            "tiled",
            set_member(0, "dsc/computeOp_/0/inputLabeledDs/1", json!("Tensor0-idx0")),
        ),
        fault(
            "another function in one of its places",
            "tiled",
            set_member(0, "dsc/computeOp_/0/opFuncName", json!("sub")),
        ),
        fault("a function that the device does not have", "tiled", rename_word(0, "add\"", "plus\"")),
        fault(
            "the operands of a difference are swapped",
            "chain",
            swap_members(3, "dsc/computeOp_/0/inputLabeledDs/0", "dsc/computeOp_/0/inputLabeledDs/1"),
        ),
        fault("an op runs on the wrong unit", "tiled", set_member(0, "dsc/computeOp_/0/exUnit", json!("pt"))),
        fault(
            "a tensor has another number format",
            "tiled",
            set_member(0, "dsc/labeledDs_/0/dataFormat_", json!("BFLOAT16")),
        ),
        fault(
            "a tensor has the width of another number format",
            "tiled",
            set_member(0, "dsc/labeledDs_/0/wordLength", json!(4)),
        ),
        fault(
            "a tensor in HBM says that it is in LX",
            "tiled",
            set_member(0, "dsc/scheduleTree_/0/component_", json!("lx")),
        ),
        fault(
            "a symbol says that it is an address",
            "tiled",
            set_member(0, "dsc/scheduleTree_/0/isStartAddrSymbolic_", json!(0)),
        ),
        fault("a stick is half as long", "tiled", set_member(0, "dsc/primaryDsInfo_/OUTPUT/stickSize_", json!([32]))),
        fault("a row is not repeated: its scale is 1", "rows", set_member(0, "dsc/labeledDs_/1/scale_", json!([1, 1]))),
        fault(
            "a matrix is one row, repeated: its scale is -1",
            "rows",
            set_member(0, "dsc/labeledDs_/0/scale_", json!([-1, 1])),
        ),
        fault(
            "sums of rows are read as whole sticks: their scale is 1",
            "softmax",
            set_member(4, "dsc/labeledDs_/1/scale_", json!([1, 1])),
        ),
        fault(
            "sticks run along the rows",
            "tiled",
            set_member(1, "dsc/primaryDsInfo_/OUTPUT/stickDimOrder_", json!(["mb"])),
        ),
        fault(
            "the dimensions of a tensor are in the other order",
            "tiled",
            set_member(1, "dsc/scheduleTree_/1/layoutDimOrder_", json!(["out", "mb"])),
        ),
        fault(
            "the dimensions of a factor are in the other order",
            "matmul",
            set_member(0, "dsc/scheduleTree_/0/layoutDimOrder_", json!(["in", "mb"])),
        ),
        fault(
            "a window of a larger tensor has a smaller gap",
            "tiled",
            set_member(1, "dsc/scheduleTree_/1/backGapCore_/mb/-1", json!("16")),
        ),
        fault(
            "a window of a larger tensor has a larger gap",
            "tiled",
            set_member(1, "dsc/scheduleTree_/2/backGapCore_/mb/-1", json!("48")),
        ),
        fault(
            "a window of a larger tensor has no gap",
            "tiled",
            set_member(1, "dsc/scheduleTree_/1/backGapCore_", json!({})),
        ),
        fault(
            "the folds of a tensor are not its slices",
            "tiled",
            set_member(
                1,
                "dsc/scheduleTree_/1/coordinates_/coordInfo/mb/folds/dim_prop_func/0/Affine/alpha_",
                json!(4),
            ),
        ),
    ]
}

fn file_faults() -> Vec<FileFault> {
    vec![
        fault("a file is missing", "tiled", Box::new(|files| drop(files.remove(&sdsc_file_name(1)).unwrap()))),
        fault(
            "a file is cut off",
            "tiled",
            Box::new(|files| files.get_mut(&sdsc_file_name(1)).unwrap().truncate(1000)),
        ),
        fault(
            "the text of the bundle is cut off",
            "tiled",
            Box::new(|files| files.get_mut(BUNDLE).unwrap().truncate(3000)),
        ),
        fault(
            "two arguments of a launch are swapped",
            "tiled",
            edit_program(|value| swap_entries(&mut value["launches"][0]["arguments"], 0, 2)),
        ),
        fault(
            "two arguments of different sizes are swapped",
            "matmul",
            edit_program(|value| swap_entries(&mut value["launches"][0]["arguments"], 0, 1)),
        ),
        fault(
            "a launch writes an argument instead of the result",
            "tiled",
            edit_program(|value| value["launches"][0]["arguments"][3] = json!("arg0")),
        ),
        fault(
            "an argument has the strides of another layout",
            "tiled",
            edit_program(|value| value["arguments"][2]["stride_map"] = json!([1, 512, 8])),
        ),
        fault(
            "the result has the strides of another layout",
            "tiled",
            edit_program(|value| value["results"][0]["stride_map"] = json!([1, 512, 8])),
        ),
        fault(
            "an argument has rows and sticks swapped",
            "tiled",
            edit_program(|value| value["arguments"][2]["device_size"] = json!([64, 8, 64])),
        ),
        fault(
            "the result has rows and columns swapped",
            "tiled",
            edit_program(|value| value["results"][0]["shape"] = json!([512, 64])),
        ),
        fault(
            "an argument is a stick short",
            "tiled",
            edit_program(|value| value["arguments"][2]["bytes"] = json!(65408)),
        ),
        fault(
            "an argument has another number format",
            "tiled",
            edit_program(|value| value["arguments"][2]["format"] = json!("BFLOAT16")),
        ),
        fault(
            "a launch names a bundle that is not there",
            "tiled",
            edit_program(|value| value["launches"][0]["bundle"] = json!("bundle_1")),
        ),
        fault(
            "two live buffers share bytes",
            "launches",
            edit_program(|value| value["buffers"][3]["place"]["offset"] = json!(16384)),
        ),
        fault(
            "a buffer has no whole sticks",
            "launches",
            edit_program(|value| value["buffers"][1]["place"]["offset"] = json!(64)),
        ),
        fault(
            "a buffer ends behind the region",
            "launches",
            edit_program(|value| value["buffer_bytes"] = json!(16384)),
        ),
        fault(
            "a buffer's life begins a launch late",
            "launches",
            edit_program(|value| value["buffers"][0]["place"]["first_launch"] = json!(1)),
        ),
        fault(
            "a pool is a stick short",
            "launches",
            edit_program(|value| value["launches"][1]["pool_bytes"] = json!(16256)),
        ),
        fault("a launch is missing", "tiled", edit_program(|value| value["launches"] = json!([]))),
    ]
}

/// Changes to the live ranges in the first launch of a plan.
fn live_range_faults() -> Vec<FileFault> {
    let longest = |edit: fn(&mut serde_json::Value)| {
        edit_program(move |value| {
            let live_ranges = value["launches"][0]["lx"].as_array_mut().unwrap();
            let length = |live_range: &serde_json::Value| {
                live_range["last_op"].as_i64().unwrap() - live_range["first_op"].as_i64().unwrap()
            };
            edit(live_ranges.iter_mut().max_by_key(|live_range| length(live_range)).unwrap());
        })
    };
    vec![
        fault(
            "a live range in LX ends an op early",
            "chain",
            longest(|live_range| add_to_member(live_range, "last_op", -1)),
        ),
        fault(
            "a live range in LX begins an op late",
            "chain",
            longest(|live_range| add_to_member(live_range, "first_op", 1)),
        ),
        fault(
            "a live range in LX goes on behind its last use",
            "chain",
            longest(|live_range| add_to_member(live_range, "last_op", 1)),
        ),
        fault(
            "a live range in LX is a stick short",
            "chain",
            longest(|live_range| add_to_member(live_range, "bytes", -128)),
        ),
        fault(
            "a live range in LX is a stick too long",
            "chain",
            longest(|live_range| add_to_member(live_range, "bytes", 128)),
        ),
        fault(
            "a live range in LX is elsewhere",
            "chain",
            longest(|live_range| add_to_member(live_range, "offset", 1 << 19)),
        ),
        fault(
            "a live range in LX is left out",
            "chain",
            edit_program(|value| _ = value["launches"][0]["lx"].as_array_mut().unwrap().remove(0)),
        ),
        fault(
            "a live range in the pool ends an op early",
            "turned",
            edit_program(|value| value["launches"][0]["pool"][0]["last_op"] = json!(0)),
        ),
        fault(
            "a live range names an op that does not exist",
            "turned",
            edit_program(|value| value["launches"][0]["pool"][0]["last_op"] = json!(2)),
        ),
    ]
}

fn add_to_member(live_range: &mut serde_json::Value, member: &str, number: i64) {
    live_range[member] = json!(live_range[member].as_i64().unwrap() + number);
}

fn swap_entries(list: &mut serde_json::Value, first: usize, second: usize) {
    list.as_array_mut().unwrap().swap(first, second);
}

pub(crate) fn all_faults() -> Vec<FileFault> {
    [loop_faults, execute_faults, memory_faults, division_faults, op_faults, file_faults, live_range_faults]
        .into_iter()
        .flat_map(|group| group())
        .collect()
}
