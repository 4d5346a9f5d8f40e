//! Legal files of release 1.0.0, each with a member or a spelling that torch-spyre does not write. They conform to the
//! schema and the rules, and are written back. They compute the same results as without the spelling, or are rejected
//! with its name.

use super::legal_structure::{legal_divisions, legal_tensors, legal_windows};
use super::legal_texts::{legal_names, legal_texts};
use super::run::{gathered_rows, images, program, run};
use super::{Profile, convert_to_release, find_violations, parse, schema_differences, sdsc_files};
use crate::check_bundle::bundles::{Files, adds, emit_ops, find_valid_bundle, matmul, matrix, op, pooling_on};
use crate::check_bundle::edits::{json, remove, set, to_pointer};
use referee::HostArray;
use sdsc_format::program::Program;
use serde_json::{Value, json};
use spyre_compiler::bundle::SymbolicDim;
use std::collections::BTreeMap;
use std::path::Path;

/// Expected result of writing back a file.
#[derive(Clone, Copy, PartialEq)]
enum WriteBack {
    /// With the same members and values.
    Same,
    /// In torch-spyre's spelling, which has the same meaning.
    Canonical,
}

/// Outcome of a run.
#[derive(Clone, Copy)]
pub(super) enum ExecutionExpectation {
    /// Same results as the base.
    AsBase,
    /// Results of its own, which other tests compare.
    Runs,
    /// An error of the simulator that contains the words.
    Rejected(&'static str),
}

pub(super) struct LegalFile {
    pub(super) name: &'static str,
    pub(super) base: &'static str,
    pub(super) files: Files,
    written: WriteBack,
    pub(super) runs: ExecutionExpectation,
}

pub(super) fn base_files(name: &str) -> Files {
    convert_to_release(match name {
        "one core" => emit_ops(vec![adds((1, 1))]),
        "product" => {
            let mut product = matmul();
            product.iteration_space[2].split = 1;
            emit_ops(vec![product])
        }
        "gathered rows" => {
            let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/golden/gather_rows");
            ["bundle.mlir", "sdsc_0.json"]
                .map(|name| (name.to_owned(), std::fs::read(golden.join(name)).unwrap()))
                .into()
        }
        // The starts of slices of a symbolic size are undetermined.
        "symbolic" => {
            let mut add = adds((1, 1));
            add.iteration_space[0].symbolic = Some(SymbolicDim { symbol: "s".to_owned(), max: 128, granularity: 64 });
            emit_ops(vec![add])
        }
        "neg" => emit_ops(vec![op(
            "neg",
            &[(128, 1), (256, 1)],
            0,
            vec![matrix((0, 128), (1, 256)), matrix((0, 128), (1, 256))],
        )]),
        "split pooling" => split_pooling(),
        _ => find_valid_bundle(name),
    })
}

/// Returns the pooling on two cores that divide its rows. The release has -1 for padding and the windows of a core.
fn split_pooling() -> Files {
    let mut files = pooling_on([2, 1]);
    for stage in ["ss_", "el_"] {
        let path = format!("dsc/dataStageParam_/0/{stage}/paddingSizes_/i");
        set(&mut files, &format!("{path}/padFront_"), json!(-1));
        set(&mut files, &format!("{path}/padBack_"), json!(-1));
        set(&mut files, &format!("{path}/totalSize_"), json!(4));
    }
    files
}

/// Returns the program of a base; `None` if the base has its own, or is not run.
pub(super) fn base_program(name: &str) -> Option<Program> {
    let wide = [128, 256];
    Some(match name {
        "add" | "one core" => program(&[wide; 3], &[]),
        "symbolic" => program(&[wide; 3], &[("s", 128, 64)]),
        "neg" => program(&[wide; 2], &[]),
        "clip" | "chain" => program(&[[128, 64]; 2], &[]),
        "restickify" => program(&[[256, 128], wide], &[]),
        "gathered rows" => gathered_rows(),
        "pooling" | "split pooling" => images(),
        "product" => program(&[[64, 128], wide, [64, 256]], &[]),
        _ => return None,
    })
}

pub(super) fn edit_base(name: &'static str, base: &'static str, edit: impl FnOnce(&mut Files)) -> LegalFile {
    let before = base_files(base);
    let mut files = before.clone();
    edit(&mut files);
    assert_ne!(files, before, "'{name}' changes nothing");
    LegalFile { name, base, files, written: WriteBack::Same, runs: ExecutionExpectation::AsBase }
}

impl LegalFile {
    pub(super) fn canonical(self) -> Self {
        Self { written: WriteBack::Canonical, ..self }
    }

    pub(super) fn expect_rejection(self, words: &'static str) -> Self {
        Self { runs: ExecutionExpectation::Rejected(words), ..self }
    }
}

fn remove_member(path: &'static str) -> impl FnOnce(&mut Files) {
    move |files| remove(files, path)
}

fn set_member(path: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| set(files, path, to)
}

/// Removes a member of each node or tensor.
fn remove_from_each(list: &'static str, member: &'static str) -> impl FnOnce(&mut Files) {
    move |files| {
        edit_each(files, list, |_, entry| drop(entry.as_object_mut().unwrap().remove(member).unwrap()));
    }
}

/// Edits each entry of a list of the description.
pub(super) fn edit_each(files: &mut Files, list: &str, mut edit: impl FnMut(usize, &mut Value)) {
    json(files, "sdsc_0.json", |file| {
        let path = to_pointer(file, list);
        file.pointer_mut(&path)
            .unwrap()
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .enumerate()
            .for_each(|(index, entry)| edit(index, entry));
    });
}

/// Gives the starts of a node two folds, or one start for all cores.
fn fold_starts(start: &mut Value, is_constant: bool) {
    for member in ["dim_prop_func", "dim_prop_attr"] {
        start[member].as_array_mut().unwrap().truncate(2);
    }
    let starts = start["data_"].as_object().unwrap().iter();
    let short: BTreeMap<String, Value> =
        starts.map(|(key, start)| (key.replace(", 0, 0]", ", 0]"), start.clone())).collect();
    start["data_"] = json!(short);
    if is_constant {
        start["dim_prop_func"][0] = json!({"Const": {}});
        start["data_"] = json!({"[0, 0]": short["[0, 0]"]});
    }
}

fn missing_members() -> Vec<LegalFile> {
    let nodes = "dsc/scheduleTree_";
    let tensors = "dsc/labeledDs_";
    vec![
        edit_base("no sdscFoldProps_", "add", remove_member("op/sdscFoldProps_")),
        edit_base("no sdscFolds_", "add", remove_member("op/sdscFolds_")),
        edit_base("no numWkSlicesPerDim_", "add", remove_member("op/numWkSlicesPerDim_")),
        edit_base("no coreIdToWkSlice_", "one core", remove_member("op/coreIdToWkSlice_")),
        edit_base("no coreIdToWkSlice_ on four cores", "add", remove_member("op/coreIdToWkSlice_"))
            .expect_rejection("which slice a core computes"),
        edit_base("no debug_handle_", "add", remove_member("op/debug_handle_")).canonical(),
        edit_base("no numCoreletsUsed_", "add", remove_member("dsc/numCoreletsUsed_")),
        edit_base("no coordinateMasking_", "add", remove_member("dsc/coordinateMasking_")).canonical(),
        edit_base("no maskingConstId_", "add", remove_member("dsc/maskingConstId_")).canonical(),
        edit_base("no dataStageParam_", "add", remove_member("dsc/dataStageParam_")),
        edit_base("no primaryDsInfo_", "restickify", remove_member("dsc/primaryDsInfo_"))
            .expect_rejection("without 'primaryDsInfo_'"),
        edit_base("no constantInfo_", "add", remove_member("dsc/constantInfo_")).canonical(),
        edit_base("no name_ in N_", "add", remove_member("dsc/N_/name_")),
        edit_base("no members in stages", "add", |files| {
            for stage in ["ss_", "el_"] {
                for member in [
                    "name_",
                    "symbolicDimInfo_",
                    "maxSymbolicVolume_",
                    "coreletSplit_",
                    "rowSplit_",
                    "peSfpSplit_",
                    "paddingSizes_",
                ] {
                    remove(files, &format!("dsc/dataStageParam_/0/{stage}/{member}"));
                }
            }
        }),
        edit_base("no prev_", "add", remove_from_each(nodes, "prev_")),
        edit_base("no ldsIdx_", "add", remove_from_each(nodes, "ldsIdx_")),
        edit_base("no component_", "add", remove_from_each(nodes, "component_")),
        edit_base("no component_ in LX", "chain", remove_from_each(nodes, "component_")),
        edit_base("no layoutDimOrder_", "add", remove_from_each(nodes, "layoutDimOrder_")),
        edit_base("no maxDimSizes_", "add", remove_from_each(nodes, "maxDimSizes_")),
        edit_base("no indirectAllocType_", "add", remove_from_each(nodes, "indirectAllocType_")),
        edit_base("no coordinates_", "add", remove_from_each(nodes, "coordinates_")),
        edit_base("no coreIdToWkSlice_ of tensors", "add", |files| {
            edit_each(files, nodes, |_, node| {
                drop(node["coordinates_"].as_object_mut().unwrap().remove("coreIdToWkSlice_").unwrap())
            });
        })
        .canonical(),
        edit_base("no scale_", "add", remove_from_each(tensors, "scale_")),
        edit_base("no wordLength", "add", remove_from_each(tensors, "wordLength")),
        edit_base("no slot of another memory", "add", |files| {
            edit_each(files, tensors, |_, tensor| {
                drop(tensor["memOrg_"].as_object_mut().unwrap().remove("lx").unwrap())
            });
        }),
        edit_base("no attributes_", "add", remove_member("dsc/computeOp_/0/attributes_")),
    ]
}

fn legal_spellings() -> Vec<LegalFile> {
    vec![
        edit_base("two-fold addresses", "add", |files| {
            edit_each(files, "dsc/scheduleTree_", |_, node| fold_starts(&mut node["startAddressCoreCorelet_"], false));
        }),
        edit_base("one start for all cores", "chain", |files| {
            edit_each(files, "dsc/scheduleTree_", |index, node| {
                fold_starts(&mut node["startAddressCoreCorelet_"], index == 1)
            });
        }),
        edit_base("truth values", "add", |files| {
            edit_each(files, "dsc/scheduleTree_", |_, node| node["isStartAddrSymbolic_"] = json!(true));
        }),
        edit_base("scales with a fraction", "add", set_member("dsc/labeledDs_/0/scale_", json!([1.0, 1.0])))
            .canonical(),
        edit_base("sizes with a fraction", "add", set_member("dsc/N_/mb_", json!(128.0))).canonical(),
        edit_base(
            "a constant without a list",
            "clip",
            set_member("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": 17152})),
        )
        .canonical(),
        edit_base(
            "a constant as a string",
            "clip",
            set_member("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": "17152"})),
        )
        .canonical(),
        edit_base(
            "a constant for each core",
            "clip",
            set_member("dsc/constantInfo_/1/data_/dim_prop_func/0", json!({"Map": {}})),
        ),
        edit_base("symbolic sizes of -1", "symbolic", |files| {
            set(files, "dsc/N_/mb_", json!(-1));
            set(files, "dsc/dataStageParam_/0/ss_/mb_", json!(-1));
            set(files, "dsc/dataStageParam_/0/el_/mb_", json!(-1));
        }),
        edit_base("bounds with an underscore", "symbolic", |files| {
            for stage in ["ss_", "el_"] {
                let path = format!("dsc/dataStageParam_/0/{stage}/symbolicDimInfo_");
                set(files, &path, json!({"mb_": {"maxSize_": 128, "granularity_": 64}}));
            }
        }),
        edit_base("the folds of a stick in the other order", "add", |files| {
            edit_each(files, "dsc/scheduleTree_", |_, node| {
                let folds = &mut node["coordinates_"]["coordInfo"]["out"]["folds"];
                folds["dim_prop_attr"].as_array_mut().unwrap().swap(3, 4);
                folds["dim_prop_func"][3]["Affine"]["alpha_"] = json!(1);
            });
        }),
        edit_base("other names", "add", |files| {
            let bytes = files.get_mut("sdsc_0.json").unwrap();
            let named = String::from_utf8(std::mem::take(bytes))
                .unwrap()
                .replace("allocate-Tensor", "node-")
                .replace("Tensor", "value-");
            *bytes = named.replace("0_add", "sum/of-two").into_bytes();
        }),
        edit_base("a previous node", "add", set_member("dsc/scheduleTree_/1/prev_", json!("allocate-Tensor0_hbm"))),
        edit_base("the name of a stage beside it", "add", |files| {
            set(files, "dsc/dataStageParam_/0/name_", json!("core"));
            remove(files, "dsc/dataStageParam_/0/ss_/name_");
            remove(files, "dsc/dataStageParam_/0/el_/name_");
        }),
        edit_base("a source", "add", |files| {
            let source =
                json!({"file": "model.py", "start_line": 3, "start_col": 4, "end_line": null, "end_col": null});
            let step = json!({"kind": "fusion", "pass_name": "fuse", "reason": null});
            let handle = json!({"id": "7", "source": source, "aten_op": "aten.add", "ir_chain": ["add"], "fused_from": [],
                                "transform_history": [step]});
            set(files, "op/debug_handle_", handle);
        }),
    ]
}

fn legal_members() -> Vec<LegalFile> {
    let splits = |files: &mut Files| {
        set(files, "dsc/dataStageParam_/0/ss_/coreletSplit_", json!({"out": [128, 128]}));
        set(files, "dsc/dataStageParam_/0/ss_/rowSplit_", json!({"out": {"0": [64, 64]}}));
        set(files, "dsc/dataStageParam_/0/ss_/peSfpSplit_", json!({"out": {"0": {"pe": 64, "sfp": 64}}}));
        set(files, "dsc/dataStageParam_/0/ss_/maxSymbolicVolume_", json!({"[\"mb_\",\"out_\"]": 32768}));
    };
    vec![
        edit_base("splits over corelets, rows and units", "add", splits),
        edit_base("two corelets", "add", |files| {
            set(files, "op/coreletFoldProp_/factor_", json!(2));
            set(files, "dsc/numCoreletsUsed_", json!(2));
        }),
        edit_base("x1_", "add", |files| {
            let bytes = files.get_mut("sdsc_0.json").unwrap();
            *bytes = String::from_utf8(std::mem::take(bytes))
                .unwrap()
                .replace("\"mb\"", "\"x1\"")
                .replace("\"mb_\"", "\"x1_\"")
                .into_bytes();
        }),
        edit_base("fast fidelity", "add", set_member("dsc/computeOp_/0/attributes_/fidelity_", json!("fast"))),
        edit_base("sizes of a direct tensor", "add", set_member("dsc/scheduleTree_/1/maxDimSizes_", json!([128, 256]))),
        edit_base("stick replication", "add", set_member("dsc/primaryDsInfo_/OUTPUT/stickRepl_", json!([1]))),
        edit_base("class relation", "add", set_member("dsc/pdsRelation_", json!({"isPdsReuse": 0}))),
        edit_base(
            "padded memory",
            "add",
            set_member("dsc/labeledDs_/0/memOrg_/hbm", json!({"isPresent": 1, "isPadded": 1, "isZeroPadded": 1})),
        ),
        edit_base("tensors that cores allocate separately", "add", |files| {
            // Each core's slice of each tensor is 16 KiB.
            replace_numbers_in_text(
                files,
                [("core_offset_4096 = arith.constant 4096", 16384), ("core_offset_8192 = arith.constant 8192", 32768)],
            );
            replace_numbers_in_text(files, [("core_offset_12288 = arith.constant 12288", 49152), ("", 0)]);
            edit_each(files, "dsc/scheduleTree_", |_, node| node["nonUnifiedAllocInHBM_"] = json!(1));
        }),
        edit_base("signed indices", "gathered rows", set_member("dsc/labeledDs_/0/dataFormat_", json!("IEEE_INT32"))),
        edit_base(
            "indices that are addresses",
            "gathered rows",
            set_member("dsc/scheduleTree_/0/indexTensorType_", json!("address")),
        )
        .expect_rejection("an index tensor of byte addresses"),
        edit_base("elements of half a byte", "neg", |files| {
            quantize(files, "csqint4wt", ("SENINT4", json!(0.5)));
            set(files, "dsc/primaryDsInfo_/OUTPUT/stickDimOrder_", json!(["mb", "out"]));
            set(files, "dsc/primaryDsInfo_/OUTPUT/stickSize_", json!([4, 64]));
        })
        .expect_rejection("the function 'csqint4wt'"),
        edit_base("constants of a quantization", "neg", |files| quantize(files, "csqint8ch", ("SENINT8", json!(1))))
            .expect_rejection("the function 'csqint8ch'"),
        LegalFile { runs: ExecutionExpectation::Runs, ..edit_base("sticks of 4-bit blocks", "product", use_four_bits) },
        edit_base("fused operations", "neg", |files| {
            json(files, "sdsc_0.json", |file| {
                let path = to_pointer(file, "dsc/computeOp_");
                let operations = file.pointer_mut(&path).unwrap().as_array_mut().unwrap();
                operations.push(operations[0].clone());
            });
        })
        .expect_rejection("2 fused operations"),
    ]
}

/// Replaces numbers of `bundle.mlir` at all their occurrences.
pub(super) fn replace_numbers_in_text(files: &mut Files, edits: [(&str, i64); 2]) {
    for (from, to) in edits.into_iter().filter(|(from, _)| !from.is_empty()) {
        let (name, number) = from.rsplit_once(' ').unwrap();
        let bytes = files.get_mut("bundle.mlir").unwrap();
        let text = String::from_utf8(std::mem::take(bytes)).unwrap();
        assert!(text.contains(from), "{from} is not in\n{text}");
        *bytes = text.replace(&format!("{name} {number} "), &format!("{name} {to} ")).into_bytes();
    }
}

/// Renames the function of an op, and the op.
fn rename_function(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("sdsc_0.json").unwrap();
    *bytes = String::from_utf8(std::mem::take(bytes))
        .unwrap()
        .replace(&format!("\"{from}\""), &format!("\"{to}\""))
        .replace(&format!("0_{from}"), &format!("0_{to}"))
        .into_bytes();
}

/// Makes an op convert to integers by a scale and a shift.
fn quantize(files: &mut Files, function: &str, (format, word_length): (&str, Value)) {
    rename_function(files, "neg", function);
    json(files, "sdsc_0.json", |file| {
        let path = to_pointer(file, "dsc/primaryDsInfo_");
        let classes = file.pointer_mut(&path).unwrap();
        classes["INPUT"] = classes["OUTPUT"].clone();
        classes["OUTPUT"]["stickSize_"] = json!([128]);
    });
    set(files, "dsc/labeledDs_/0/dsType_", json!("INPUT"));
    set(files, "dsc/labeledDs_/1/dataFormat_", json!(format));
    set(files, "dsc/labeledDs_/1/wordLength", word_length);
    let folds = json!([{"factor_": 1, "label_": "core"}, {"factor_": 1, "label_": "corelet"}, {"factor_": 1, "label_": "time"}]);
    let data = json!({"dim_prop_func": [{"Const": {}}, {"Const": {}}, {"Map": {}}], "dim_prop_attr": folds, "data_": {"[0, 0, 0]": [15872]}});
    let constant = |name: &str| json!({"dataFormat_": "SEN169_FP16", "name_": name, "data_": data});
    set(files, "dsc/constantInfo_", json!({"0": constant("scaleact"), "1": constant("shiftact")}));
}

/// Returns the legal file with this name.
pub(crate) fn find_legal(name: &str) -> Files {
    all_legal().into_iter().find(|case| case.name == name).unwrap().files
}

fn use_four_bits(files: &mut Files) {
    let bytes = files.get_mut("sdsc_0.json").unwrap();
    *bytes = String::from_utf8(std::mem::take(bytes)).unwrap().replace("batchmatmul", "batchmatmulint4").into_bytes();
    for tensor in 0..2 {
        set(files, &format!("dsc/labeledDs_/{tensor}/dataFormat_"), json!("SENINT4"));
        set(files, &format!("dsc/labeledDs_/{tensor}/wordLength"), json!(0.5));
    }
    set(files, "dsc/primaryDsInfo_/INPUT/stickDimOrder_", json!(["in", "mb", "in"]));
    set(files, "dsc/primaryDsInfo_/INPUT/stickSize_", json!([16, 2, 8]));
    set(files, "dsc/primaryDsInfo_/KERNEL/stickDimOrder_", json!(["in", "out"]));
    set(files, "dsc/primaryDsInfo_/KERNEL/stickSize_", json!([4, 64]));
    set(files, "dsc/computeOp_/0/attributes_/dataFormat_", json!("SENINT4"));
}

/// Splits the description of an op on four cores into two, of the first and of the other cores.
pub(crate) fn split_description(files: &mut Files, parts: [i64; 2]) {
    json(files, "sdsc_0.json", |file| {
        let operation = file.as_object_mut().unwrap().values_mut().next().unwrap();
        let mut dscs = vec![operation["dscs_"][0].clone(), operation["dscs_"][0].clone()];
        for (number, (dsc, part)) in dscs.iter_mut().zip(parts).enumerate() {
            let cores: Vec<usize> = if number == 0 { vec![0, 1] } else { vec![2, 3] };
            let dsc = &mut dsc["add"];
            dsc["numCoresUsed_"] = json!(2);
            dsc["coreIdsUsed_"] = json!(cores);
            dsc["dataStageParam_"]["0"]["ss_"]["mb_"] = json!(part);
            dsc["dataStageParam_"]["0"]["el_"]["mb_"] = json!(part);
            for node in dsc["scheduleTree_"].as_array_mut().unwrap() {
                let start = &mut node["startAddressCoreCorelet_"]["data_"];
                *start = cores
                    .iter()
                    .map(|core| (format!("[{core}, 0, 0]"), start[format!("[{core}, 0, 0]")].clone()))
                    .collect();
            }
            for core in cores {
                operation["coreIdToDsc_"][core.to_string()] = json!(number);
                operation["coreIdToDscSchedule"][core.to_string()] = json!([[-1, number, 0, 0]]);
            }
        }
        operation["dscs_"] = json!(dscs);
    });
}

fn set_schedules(files: &mut Files, steps: &Value) {
    let schedules: BTreeMap<String, Value> = (0..4).map(|core| (core.to_string(), steps.clone())).collect();
    set(files, "op/coreIdToDscSchedule", json!(schedules));
}

fn legal_descriptions() -> Vec<LegalFile> {
    vec![
        edit_base("two descriptions", "add", |files| split_description(files, [32, 32])),
        edit_base("unequal work", "add", |files| {
            split_description(files, [48, 16]);
            // Rows of 48, 48, 16 and 16.
            replace_numbers_in_text(
                files,
                [("core_offset_4096 = arith.constant 4096", 6144), ("core_offset_8192 = arith.constant 8192", 12288)],
            );
            replace_numbers_in_text(files, [("core_offset_12288 = arith.constant 12288", 14336), ("", 0)]);
        }),
        edit_base("two steps with a barrier", "add", |files| {
            set_schedules(files, &json!([[-1, 0, 0, 1], [-1, 0, 1, 0]]))
        }),
        edit_base("two steps without a barrier", "add", |files| {
            set_schedules(files, &json!([[-1, 0, 0, 0], [-1, 0, 0, 0]]))
        })
        .expect_rejection("without a barrier"),
        edit_base("a data operation", "add", |files| {
            set_schedules(files, &json!([[0, -1, 0, 1], [-1, 0, 1, 0]]));
            set(files, "op/datadscs_", json!([{"copy": {"from": 1}}]));
        })
        .expect_rejection("a data operation"),
    ]
}

pub(super) fn all_legal() -> Vec<LegalFile> {
    let groups = [
        missing_members,
        legal_spellings,
        legal_members,
        legal_descriptions,
        legal_texts,
        legal_divisions,
        legal_windows,
        legal_tensors,
        legal_names,
    ];
    groups.into_iter().flat_map(|group| group()).collect()
}

#[test]
fn accepts_legal_files() {
    let legal = all_legal();
    assert!(legal.len() >= 60, "{}", legal.len());
    let mut wrong = String::new();
    for LegalFile { name, files, .. } in &legal {
        let found: Vec<_> = sdsc_files(files).flat_map(schema_differences).collect();
        let (labels, viewed) = find_violations(files, Profile::Release1_0);
        if !found.is_empty() || !labels.is_empty() {
            wrong += &format!("\n'{name}': {found:?}{viewed}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn writes_back_legal_files() {
    for LegalFile { name, files, written, .. } in all_legal() {
        for bytes in sdsc_files(&files) {
            let file = parse(bytes).unwrap_or_else(|error| panic!("'{name}': {error}"));
            let text = sdsc_format::to_text(&file);
            assert_eq!(parse(&text).unwrap(), file, "'{name}'");
            let (before, after): (Value, Value) =
                (serde_json::from_slice(bytes).unwrap(), serde_json::from_slice(&text).unwrap());
            assert!(written == WriteBack::Canonical || before == after, "'{name}' is written in another way");
        }
    }
}

#[test]
fn runs_or_rejects_legal_files() {
    let mut expected: BTreeMap<&str, Vec<HostArray>> = BTreeMap::new();
    let (mut num_run, mut wrong) = (0, String::new());
    for LegalFile { name, base, files, runs, .. } in all_legal() {
        let program = base_program(base);
        let fault = match (runs, run(&files, program.as_ref())) {
            (ExecutionExpectation::AsBase, Ok(results)) => {
                num_run += 1;
                let of_base = expected.entry(base).or_insert_with(|| run(&base_files(base), program.as_ref()).unwrap());
                (results != *of_base).then(|| "other results".to_owned())
            }
            (ExecutionExpectation::Runs, Ok(_)) => None,
            (ExecutionExpectation::AsBase | ExecutionExpectation::Runs, Err(error)) => Some(error.to_string()),
            (ExecutionExpectation::Rejected(words), Err(error)) => {
                Some(error.to_string()).filter(|error| !error.contains(words))
            }
            (ExecutionExpectation::Rejected(_), Ok(_)) => Some("runs".to_owned()),
        };
        wrong.extend(fault.map(|fault| format!("\n'{name}': {fault}")));
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(num_run >= 40, "{num_run}");
}

/// The schema does not have the member, but descriptions of the back end do.
#[test]
fn reads_shared_tensors_of_unequal_work() {
    for repeated in [json!({"0": [["mb", 2]]}), json!([[["mb", 2]]])] {
        let share = json!([{"dsName_": "Tensor0", "sharedDscs": [[0]], "repeatHbmLxThroImbalDim": repeated}]);
        let mut files = find_valid_bundle("add");
        set(&mut files, "op/ldsShareInfo_", share);
        let bytes = &files["sdsc_0.json"];
        let text = sdsc_format::to_text(&parse(bytes).unwrap());
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), serde_json::from_slice::<Value>(bytes).unwrap());
        assert_eq!(find_violations(&files, Profile::TorchSpyre2026_08), (vec![], String::new()));
        assert_eq!(find_violations(&convert_to_release(files), Profile::Release1_0).0, ["sdsc_r2"]);
    }
}
