//! The faults, each named as a reader of a broken program would.

use crate::faults::edits::{BUNDLE, Edit, all, edit_text, execute, moves, on_execute, operands, program, renames, sdsc, sets, swaps, text};
use serde_json::json;

/// A program that is wrong in one way.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// The right program.
    pub(crate) program: &'static str,
    pub(crate) edit: Edit,
}

fn fault(name: &'static str, program: &'static str, edit: Edit) -> Fault {
    Fault { name, program, edit }
}

fn loops() -> Vec<Fault> {
    let strides = "s0 + 4096*d0 + 16384*d1";
    let stale = |result: bool| {
        let [addresses, starts] = if result {
            ["%addr_12, %addr_13, %addr_14, %addr_15", "%arg_3, %arg_3_core_1024, %arg_3_core_2048, %arg_3_core_3072"]
        } else {
            ["%addr_8, %addr_9, %addr_10, %addr_11", "%arg_2, %arg_2_core_1024, %arg_2_core_2048, %arg_2_core_3072"]
        };
        operands(1, addresses, starts)
    };
    vec![
        fault("a loop's stride is a stick short", "tiled", text("16384*d1", "16256*d1")),
        fault("a loop's stride is a stick too long", "tiled", text("16384*d1", "16512*d1")),
        fault("a loop's stride is a byte short", "tiled", text("4096*d0", "4095*d0")),
        fault("the strides of two loops are swapped", "tiled", text(strides, "s0 + 16384*d0 + 4096*d1")),
        fault("the counters are swapped for one operand on one core", "tiled", text("(%i_0, %i_1)[%arg_0]", "(%i_1, %i_0)[%arg_0]")),
        fault("an address does not advance along the outer loop", "tiled", text(strides, "s0 + 16384*d1")),
        fault("a stale tile: an operand does not advance", "tiled", stale(false)),
        fault("a stale tile: the result does not advance", "tiled", stale(true)),
        fault("a stale tile on one core", "tiled", operands(1, "%addr_9", "%arg_2_core_1024")),
        fault("a loop ends one iteration early", "tiled", text("%loop_bound_1 = arith.constant 4", "%loop_bound_1 = arith.constant 3")),
        fault("a loop ends one iteration late", "tiled", text("%loop_bound_1 = arith.constant 4", "%loop_bound_1 = arith.constant 5")),
        fault(
            "the bounds of two loops are swapped",
            "tiled",
            all(vec![
                text("to %loop_bound_0", "to %bound"),
                text("to %loop_bound_1", "to %loop_bound_0"),
                text("to %bound", "to %loop_bound_1"),
            ]),
        ),
        fault("a loop begins with its second iteration", "tiled", text("%i_1 = %c0", "%i_1 = %c1")),
    ]
}

fn executes() -> Vec<Fault> {
    let without = |op| on_execute(op, |_| String::new());
    let without_file = |op| -> Edit { Box::new(move |files| drop(files.remove(&sdsc(op)).unwrap())) };
    let reordered: Edit = Box::new(|files| {
        edit_text(files, BUNDLE, |text| {
            let (sum, difference) = (execute(text, 2), execute(text, 3));
            text.replacen(&format!("{sum}{difference}"), &format!("{difference}{sum}"), 1)
        });
    });
    vec![
        fault("an execute is dropped", "chain", without(3)),
        fault("an execute is dropped, and its file", "chain", all(vec![without(3), without_file(3)])),
        fault("an execute of a loop is dropped", "tiled", without(1)),
        fault("an execute whose result is read from the pool is dropped", "softmax", without(0)),
        fault("an op that works in place is executed twice", "chain", on_execute(3, |line| line.repeat(2))),
        fault("two executes are swapped, and the first overwrites what the second reads", "chain", reordered),
        fault("an execute names the file of another op", "chain", text("sdsc_3.json", "sdsc_2.json")),
        fault("the starts of two cores are swapped in an operand", "tiled", operands(0, "%addr_0, %addr_1", "%addr_1, %addr_0")),
        fault("the starts of two cores are swapped in the result", "tiled", operands(1, "%addr_12, %addr_13", "%addr_13, %addr_12")),
        fault(
            "the starts of two cores are swapped in a copy to LX",
            "chain",
            operands(0, "%arg_0, %arg_0_core_4096", "%arg_0_core_4096, %arg_0"),
        ),
        fault(
            "a core adds up the rows of another core",
            "rows",
            operands(1, "%pool_addr_0, %pool_addr_12288", "%pool_addr_12288, %pool_addr_0"),
        ),
        fault("partial sums go to the results of other cores", "matmul", operands(0, "%arg_2, %arg_2_core_128", "%arg_2_core_128, %arg_2")),
        fault("two cores write the same part of the result", "tiled", operands(1, "%addr_13", "%addr_12")),
        fault(
            "an operand and the result are swapped",
            "tiled",
            operands(
                1,
                "%addr_8, %addr_9, %addr_10, %addr_11, %addr_12, %addr_13, %addr_14, %addr_15",
                "%addr_12, %addr_13, %addr_14, %addr_15, %addr_8, %addr_9, %addr_10, %addr_11",
            ),
        ),
        fault("two symbols are in the wrong order", "tiled", text("[-1, -2, ", "[-2, -1, ")),
        fault("an operand has no symbol", "tiled", text("[-1, -2, ", "[-1, ")),
        fault("two ops share their symbols", "softmax", text("[-15, -16, -17, -18]", "[-11, -12, -13, -14]")),
        fault("the restickify is skipped: its reader takes the tensor as it was", "turned", operands(1, "%pool_addr_0", "%arg_0")),
        fault("the restickify is a copy", "turned", renames(0, "ReStickifyOpHBM", "identity")),
    ]
}

fn memory() -> Vec<Fault> {
    // Where the copy of the first argument is written and read, and where the sum is.
    const COPY: &[(usize, usize)] = &[(0, 1), (2, 0), (3, 0)];
    const SUM: &[(usize, usize)] = &[(2, 2), (4, 0)];
    vec![
        fault("a buffer in LX is written a stick too high", "chain", moves(&[(0, 1)], None, "8320")),
        fault("a buffer in LX overlaps another live one", "chain", moves(COPY, None, "4096")),
        fault("two live buffers have one place in LX", "chain", moves(COPY, None, "0")),
        fault("a result in LX replaces an operand that is still read", "chain", moves(SUM, None, "8192")),
        fault("a result in LX overlaps an operand by a stick", "chain", moves(SUM, None, "16256")),
        fault("a buffer ends a stick beyond LX", "chain", moves(SUM, None, "1617280")),
        fault("a buffer in LX begins inside of a stick", "chain", moves(SUM, None, "16448")),
        fault("a buffer in LX begins before it", "chain", moves(SUM, None, "-128")),
        fault("a buffer has another place in LX on one core", "chain", moves(&[(2, 2)], Some(1), "16512")),
        fault("the pool is a stick too small", "rows", text("allocate 24576 bytes", "allocate 24448 bytes")),
        fault(
            "a core's start in the pool is a stick too low",
            "rows",
            text("%pool_offset_3072 = arith.constant 3072", "%pool_offset_3072 = arith.constant 2944"),
        ),
        fault(
            "two live buffers have one place in the pool",
            "softmax",
            all(vec![
                text("%pool_offset_8960 = arith.constant 8960", "%pool_offset_8960 = arith.constant 0"),
                text("%pool_offset_13440 = arith.constant 13440", "%pool_offset_13440 = arith.constant 4480"),
            ]),
        ),
        fault(
            "a core's start in an argument is off by half a stick",
            "rows",
            text("offset_3072 = arith.constant 3072", "offset_3072 = arith.constant 3136"),
        ),
        fault(
            "a core's start in an argument is off by a stick",
            "rows",
            text("offset_3072 = arith.constant 3072", "offset_3072 = arith.constant 3200"),
        ),
    ]
}

fn division() -> Vec<Fault> {
    vec![
        fault(
            "two cores have each other's slices of a masked dimension",
            "softmax",
            swaps(2, "op/coreIdToWkSlice_/0", "op/coreIdToWkSlice_/2"),
        ),
        fault("two cores have each other's slices", "softmax", swaps(2, "op/coreIdToWkSlice_/0", "op/coreIdToWkSlice_/3")),
        fault(
            "two cores of a split product have each other's slices",
            "matmul",
            swaps(0, "op/coreIdToWkSlice_/0", "op/coreIdToWkSlice_/3"),
        ),
        fault("two cores of a split sum have each other's slices", "rows", swaps(1, "op/coreIdToWkSlice_/0", "op/coreIdToWkSlice_/1")),
        fault("two cores have the same slice", "tiled", sets(0, "op/coreIdToWkSlice_/1/mb", json!(0))),
        fault("a core has a slice that does not exist", "tiled", sets(0, "op/coreIdToWkSlice_/3/mb", json!(4))),
        fault("the op counts one core less", "tiled", sets(0, "op/numCoresUsed_", json!(3))),
        fault("a slice of K is never added: two cores say the same one", "matmul", sets(0, "op/coreIdToWkSlice_/1/in", json!(0))),
        fault(
            "a slice of K is never added: two cores read the same one",
            "matmul",
            operands(0, "%arg_0, %arg_0_core_4096", "%arg_0, %arg_0"),
        ),
        fault(
            "the slices of K are swapped in one operand",
            "matmul",
            operands(0, "(%arg_0, %arg_0_core_4096", "(%arg_0_core_4096, %arg_0"),
        ),
        fault("a partial sum is added to another row", "matmul", moves(&[(0, 2)], Some(1), "-8")),
        fault("partial sums are not added: the file says that K is not split", "matmul", sets(0, "op/numWkSlicesPerDim_/in", json!(1))),
        fault(
            "partial sums are not added: every core has all of K and its own half is lost",
            "matmul",
            all(vec![
                sets(0, "op/numWkSlicesPerDim_/in", json!(1)),
                sets(0, "op/coreIdToWkSlice_/1/in", json!(0)),
                sets(0, "op/coreIdToWkSlice_/3/in", json!(0)),
                sets(0, "dsc/N_/in_", json!(1024)),
            ]),
        ),
        fault("K is half of what it should be", "matmul", sets(0, "dsc/N_/in_", json!(1024))),
        fault(
            "half of K is left out",
            "matmul",
            all(vec![
                sets(0, "dsc/N_/in_", json!(1024)),
                sets(0, "dsc/dataStageParam_/0/ss_/in_", json!(512)),
                sets(0, "dsc/dataStageParam_/0/el_/in_", json!(512)),
            ]),
        ),
        fault("the space is twice as large", "tiled", sets(0, "dsc/N_/mb_", json!(64))),
        fault(
            "a core's part is one row short",
            "tiled",
            all(vec![
                sets(1, "dsc/N_/mb_", json!(28)),
                sets(1, "dsc/dataStageParam_/0/ss_/mb_", json!(7)),
                sets(1, "dsc/dataStageParam_/0/el_/mb_", json!(7)),
            ]),
        ),
        fault("the last core's part is one row short", "tiled", sets(1, "dsc/dataStageParam_/0/el_/mb_", json!(7))),
    ]
}

fn ops() -> Vec<Fault> {
    let no_mask = |op| {
        all(vec![
            sets(op, "dsc/coordinateMasking_", json!({})),
            sets(op, "dsc/maskingConstId_", json!(-1)),
            sets(op, "dsc/constantInfo_", json!("{}")),
        ])
    };
    let mask_value = "dsc/constantInfo_/0/data_/data_/[0, 0, 0]/0";
    vec![
        fault("a maximum has no mask", "softmax", no_mask(0)),
        fault("neither an exponential nor its sum has a mask", "softmax", all(vec![no_mask(2), no_mask(3)])),
        fault("an op names another constant for its mask", "softmax", sets(0, "dsc/maskingConstId_", json!(1))),
        // 20000 is 272 in DL16.
        fault("padding counts as a large number in a maximum", "softmax", sets(0, mask_value, json!(20000))),
        fault("a mask is empty, and its constant is there", "softmax", sets(0, "dsc/coordinateMasking_", json!({}))),
        fault("a mask has no constant", "softmax", sets(3, "dsc/constantInfo_", json!("{}"))),
        // 15872 is 1 in DL16.
        fault("padding counts as 1 in a sum", "softmax", sets(3, mask_value, json!(15872))),
        fault("a mask covers half of the values", "softmax", sets(3, "dsc/coordinateMasking_/out", json!([[50, 78]]))),
        fault("a mask begins one column late", "softmax", sets(0, "dsc/coordinateMasking_/out", json!([[101, 27]]))),
        fault("a mask does not end with the row", "softmax", sets(0, "dsc/coordinateMasking_/out", json!([[100, 27]]))),
        fault("another function: a sum is a difference", "tiled", renames(0, "add\"", "sub\"")),
        fault("another function: a maximum is a minimum", "softmax", renames(0, "max\"", "min\"")),
        fault("a sum along sticks says that it is across them", "softmax", renames(3, "sum\"", "sumnonstick\"")),
        fault("an op reads one operand twice", "tiled", sets(0, "dsc/computeOp_/0/inputLabeledDs/1", json!("Tensor0-idx0"))),
        fault("another function in one of its places", "tiled", sets(0, "dsc/computeOp_/0/opFuncName", json!("sub"))),
        fault("a function that the device does not have", "tiled", renames(0, "add\"", "plus\"")),
        fault(
            "the operands of a difference are swapped",
            "chain",
            swaps(3, "dsc/computeOp_/0/inputLabeledDs/0", "dsc/computeOp_/0/inputLabeledDs/1"),
        ),
        fault("an op runs on the wrong unit", "tiled", sets(0, "dsc/computeOp_/0/exUnit", json!("pt"))),
        fault("a tensor has another number format", "tiled", sets(0, "dsc/labeledDs_/0/dataFormat_", json!("BFLOAT16"))),
        fault("a tensor has the width of another number format", "tiled", sets(0, "dsc/labeledDs_/0/wordLength", json!(4))),
        fault("a tensor in HBM says that it is in LX", "tiled", sets(0, "dsc/scheduleTree_/0/component_", json!("lx"))),
        fault("a symbol says that it is an address", "tiled", sets(0, "dsc/scheduleTree_/0/isStartAddrSymbolic_", json!(0))),
        fault("a stick is half as long", "tiled", sets(0, "dsc/primaryDsInfo_/OUTPUT/stickSize_", json!([32]))),
        fault("a row is not repeated: its scale is 1", "rows", sets(0, "dsc/labeledDs_/1/scale_", json!([1, 1]))),
        fault("a matrix is one row, repeated: its scale is -1", "rows", sets(0, "dsc/labeledDs_/0/scale_", json!([-1, 1]))),
        fault("sums of rows are read as whole sticks: their scale is 1", "softmax", sets(4, "dsc/labeledDs_/1/scale_", json!([1, 1]))),
        fault("sticks run along the rows", "tiled", sets(1, "dsc/primaryDsInfo_/OUTPUT/stickDimOrder_", json!(["mb"]))),
        fault(
            "the dimensions of a tensor are in the other order",
            "tiled",
            sets(1, "dsc/scheduleTree_/1/layoutDimOrder_", json!(["out", "mb"])),
        ),
        fault(
            "the dimensions of a factor are in the other order",
            "matmul",
            sets(0, "dsc/scheduleTree_/0/layoutDimOrder_", json!(["in", "mb"])),
        ),
        fault("a window of a larger tensor has a smaller gap", "tiled", sets(1, "dsc/scheduleTree_/1/backGapCore_/mb/-1", json!("16"))),
        fault("a window of a larger tensor has a larger gap", "tiled", sets(1, "dsc/scheduleTree_/2/backGapCore_/mb/-1", json!("48"))),
        fault("a window of a larger tensor has no gap", "tiled", sets(1, "dsc/scheduleTree_/1/backGapCore_", json!({}))),
        fault(
            "the folds of a tensor are not its slices",
            "tiled",
            sets(1, "dsc/scheduleTree_/1/coordinates_/coordInfo/mb/folds/dim_prop_func/0/Affine/alpha_", json!(4)),
        ),
    ]
}

fn files() -> Vec<Fault> {
    vec![
        fault("a file is missing", "tiled", Box::new(|files| drop(files.remove(&sdsc(1)).unwrap()))),
        fault("a file is cut off", "tiled", Box::new(|files| files.get_mut(&sdsc(1)).unwrap().truncate(1000))),
        fault("the text of the bundle is cut off", "tiled", Box::new(|files| files.get_mut(BUNDLE).unwrap().truncate(3000))),
        fault("two arguments of a launch are swapped", "tiled", program(|value| swap(&mut value["launches"][0]["arguments"], 0, 2))),
        fault(
            "two arguments of different sizes are swapped",
            "matmul",
            program(|value| swap(&mut value["launches"][0]["arguments"], 0, 1)),
        ),
        fault(
            "a launch writes an argument instead of the result",
            "tiled",
            program(|value| value["launches"][0]["arguments"][3] = json!("arg0")),
        ),
        fault(
            "an argument has the strides of another layout",
            "tiled",
            program(|value| value["arguments"][2]["stride_map"] = json!([1, 512, 8])),
        ),
        fault(
            "the result has the strides of another layout",
            "tiled",
            program(|value| value["results"][0]["stride_map"] = json!([1, 512, 8])),
        ),
        fault(
            "an argument has rows and sticks swapped",
            "tiled",
            program(|value| value["arguments"][2]["device_size"] = json!([64, 8, 64])),
        ),
        fault("the result has rows and columns swapped", "tiled", program(|value| value["results"][0]["shape"] = json!([512, 64]))),
        fault("an argument is a stick short", "tiled", program(|value| value["arguments"][2]["bytes"] = json!(65408))),
        fault("an argument has another number format", "tiled", program(|value| value["arguments"][2]["format"] = json!("BFLOAT16"))),
        fault("a launch names a bundle that is not there", "tiled", program(|value| value["launches"][0]["bundle"] = json!("bundle_1"))),
        fault("two live buffers share bytes", "launches", program(|value| value["buffers"][3]["place"]["offset"] = json!(16384))),
        fault("a buffer has no whole sticks", "launches", program(|value| value["buffers"][1]["place"]["offset"] = json!(64))),
        fault("a buffer ends behind the region", "launches", program(|value| value["buffer_bytes"] = json!(16384))),
        fault("a buffer's life begins a launch late", "launches", program(|value| value["buffers"][0]["place"]["first_launch"] = json!(1))),
        fault("a pool is a stick short", "launches", program(|value| value["launches"][1]["pool_bytes"] = json!(16256))),
        fault("a launch is missing", "tiled", program(|value| value["launches"] = json!([]))),
    ]
}

/// Changes to the live ranges in the first launch of a plan.
fn lives() -> Vec<Fault> {
    let longest = |edit: fn(&mut serde_json::Value)| {
        program(move |value| {
            let lives = value["launches"][0]["lx"].as_array_mut().unwrap();
            let length = |life: &serde_json::Value| life["last_op"].as_i64().unwrap() - life["first_op"].as_i64().unwrap();
            edit(lives.iter_mut().max_by_key(|life| length(life)).unwrap());
        })
    };
    vec![
        fault("a live range in LX ends an op early", "chain", longest(|life| add(life, "last_op", -1))),
        fault("a live range in LX begins an op late", "chain", longest(|life| add(life, "first_op", 1))),
        fault("a live range in LX goes on behind its last use", "chain", longest(|life| add(life, "last_op", 1))),
        fault("a live range in LX is a stick short", "chain", longest(|life| add(life, "bytes", -128))),
        fault("a live range in LX is a stick too long", "chain", longest(|life| add(life, "bytes", 128))),
        fault("a live range in LX is elsewhere", "chain", longest(|life| add(life, "offset", 1 << 19))),
        fault("a live range in LX is left out", "chain", program(|value| _ = value["launches"][0]["lx"].as_array_mut().unwrap().remove(0))),
        fault(
            "a live range in the pool ends an op early",
            "turned",
            program(|value| value["launches"][0]["pool"][0]["last_op"] = json!(0)),
        ),
        fault(
            "a live range names an op that does not exist",
            "turned",
            program(|value| value["launches"][0]["pool"][0]["last_op"] = json!(2)),
        ),
    ]
}

fn add(life: &mut serde_json::Value, member: &str, number: i64) {
    life[member] = json!(life[member].as_i64().unwrap() + number);
}

fn swap(list: &mut serde_json::Value, first: usize, second: usize) {
    list.as_array_mut().unwrap().swap(first, second);
}

pub(crate) fn all_faults() -> Vec<Fault> {
    [loops, executes, memory, division, ops, files, lives].into_iter().flat_map(|group| group()).collect()
}
