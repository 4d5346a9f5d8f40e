//! Tests ops without a public golden case, with files built here from the schema.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::counted;
use machine::Target;
use referee::{ArrayElements, HostArray, RunOptions, SimError, Simulation, dl16_to_f64, draw_seeded_array};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Tensor of an op.
#[derive(Clone)]
struct TensorSpec {
    class: &'static str,
    order: &'static [&'static str],
    /// Scales, in the class's order.
    scale: &'static [i64],
    format: &'static str,
    gap: &'static [(&'static str, i64)],
    pages: &'static [i64],
    /// `value_tensor` or `index_tensor`, and its partner.
    indirect: Option<(&'static str, usize)>,
    /// Byte offset of each core from the argument; one core if empty.
    offsets: &'static [i64],
}

const PLAIN: TensorSpec = TensorSpec {
    class: "OUTPUT",
    order: &["mb", "out"],
    scale: &[1, 1],
    format: "SEN169_FP16",
    gap: &[],
    pages: &[-1, -1],
    indirect: None,
    offsets: &[0],
};

/// An op on tensors that are the kernel's arguments, in order.
struct SimulatedOp {
    function: &'static str,
    /// Label, size, slices.
    dims: &'static [(&'static str, i64, i64)],
    /// Name, order, stick, stick size.
    classes: &'static [(&'static str, &'static [&'static str], &'static str, i64)],
    tensors: Vec<TensorSpec>,
    mask: Option<(&'static str, i64, i64)>,
    constants: &'static [(&'static str, u32)],
}

impl SimulatedOp {
    fn num_cores(&self) -> i64 {
        self.dims.iter().map(|dim| dim.2).product()
    }

    /// Returns the slices of a core, the first dimension fastest.
    fn slots(&self, core: i64) -> Value {
        let mut rest = core;
        let slot = |(label, _, slices): &(&str, i64, i64)| {
            let slot = rest % slices;
            rest /= slices;
            ((*label).to_owned(), json!(slot))
        };
        Value::Object(self.dims.iter().map(slot).collect())
    }

    fn map_cores(&self, value: impl Fn(i64) -> Value) -> Value {
        Value::Object((0..self.num_cores()).map(|core| (core.to_string(), value(core))).collect())
    }

    fn sizes(&self, name: &str, local: bool) -> serde_json::Map<String, Value> {
        let mut sizes: serde_json::Map<String, Value> = self
            .dims
            .iter()
            .map(|(label, size, slices)| (format!("{label}_"), json!(if local { size / slices } else { *size })))
            .collect();
        sizes.insert("name_".to_owned(), json!(name));
        sizes
    }

    fn node(&self, index: usize, tensor: &TensorSpec) -> Value {
        let start: serde_json::Map<String, Value> = (0..self.num_cores())
            .map(|core| {
                (
                    format!("[{core}, 0, 0]"),
                    json!(format!("{}", -1 - (index as i64 * 100 + core.min(tensor.offsets.len() as i64 - 1)))),
                )
            })
            .collect();
        let mut node = json!({
            "nodeType_": "allocate", "name_": format!("allocate-Tensor{index}_hbm"), "prev_": "", "ldsIdx_": index, "component_": "hbm",
            "isStartAddrSymbolic_": 1, "layoutDimOrder_": tensor.order, "maxDimSizes_": tensor.pages, "indirectAllocType_": "no_indirection",
            "startAddressCoreCorelet_": {"dim_prop_func": [], "dim_prop_attr": [], "data_": start},
            "coordinates_": {"coordInfo": {}, "coreIdToWkSlice_": {}},
        });
        if !tensor.gap.is_empty() {
            node["backGapCore_"] = tensor
                .gap
                .iter()
                .map(|(label, gap)| ((*label).to_owned(), json!({"-1": gap.to_string()})))
                .collect::<serde_json::Map<_, _>>()
                .into();
        }
        if let Some((kind, partner)) = tensor.indirect {
            node["indirectAllocType_"] = json!(kind);
            node["relatedIndirectAccessAlloc_"] = json!(format!("allocate-Tensor{partner}_hbm"));
        }
        node
    }

    fn json(&self) -> Value {
        let n_cores = self.num_cores();
        let mut stage = Value::Object(self.sizes("core", true));
        for key in
            ["symbolicDimInfo_", "maxSymbolicVolume_", "coreletSplit_", "rowSplit_", "peSfpSplit_", "paddingSizes_"]
        {
            stage[key] = json!({});
        }
        let bytes = |format: &str| if format == "SEN169_FP16" { 2 } else { 4 };
        let label = |index: usize| format!("Tensor{index}-idx{index}");
        let is_index = |index: &usize| matches!(self.tensors[*index].indirect, Some(("index_tensor", _)));
        let inputs: Vec<String> = (0..self.tensors.len() - 1).filter(|index| !is_index(index)).map(label).collect();
        let indices: Vec<String> = (0..self.tensors.len()).filter(is_index).map(label).collect();
        let constant = |(index, (name, bits)): (usize, &(&str, u32))| {
            let data = json!({"dim_prop_func": [], "dim_prop_attr": [], "data_": {"[0, 0, 0]": [bits]}});
            (index.to_string(), json!({"dataFormat_": "SEN169_FP16", "name_": name, "data_": data}))
        };
        let constants = Value::Object(self.constants.iter().enumerate().map(constant).collect());
        let infos: Vec<Value> = self
            .tensors
            .iter()
            .enumerate()
            .map(|(index, tensor)| {
                json!({
                    "ldsIdx_": index, "dsName_": format!("Tensor{index}"), "dsType_": tensor.class, "scale_": tensor.scale,
                    "wordLength": bytes(tensor.format), "dataFormat_": tensor.format, "memOrg_": {"hbm": {"isPresent": 1}},
                })
            })
            .collect();
        let classes: serde_json::Map<String, Value> = self
            .classes
            .iter()
            .map(|(name, order, stick, size)| {
                ((*name).to_owned(), json!({"layoutDimOrder_": order, "stickDimOrder_": [stick], "stickSize_": [size]}))
            })
            .collect();
        let mask = self.mask.map_or(json!({}), |(label, valid, pad)| json!({label: [[valid, pad]]}));
        let nodes: Vec<Value> =
            self.tensors.iter().enumerate().map(|(index, tensor)| self.node(index, tensor)).collect();
        let mut compute = json!({
            "exUnit": "sfp", "opFuncName": self.function, "attributes_": {"dataFormat_": "SEN169_FP16", "fidelity_": "regular"},
            "location": "Inner", "inputLabeledDs": inputs, "outputLabeledDs": [label(self.tensors.len() - 1)],
        });
        if !indices.is_empty() {
            compute["indirectAccessIndexLabeledDs"] = json!(indices);
        }
        let dsc = json!({
            "numCoresUsed_": n_cores, "numCoreletsUsed_": 1, "coreIdsUsed_": (0..n_cores).collect::<Vec<_>>(), "N_": self.sizes("n", false),
            "coordinateMasking_": mask, "maskingConstId_": 0, "dataStageParam_": {"0": {"ss_": stage, "el_": stage}},
            "primaryDsInfo_": classes, "scheduleTree_": nodes, "labeledDs_": infos,
            "constantInfo_": if self.constants.is_empty() { json!("{}") } else { constants }, "computeOp_": [compute],
        });
        let slices: serde_json::Map<String, Value> =
            self.dims.iter().map(|(label, _, slices)| ((*label).to_owned(), json!(slices))).collect();
        let op = json!({
            "sdscFoldProps_": [], "sdscFolds_": {"dim_prop_func": [], "dim_prop_attr": [], "data_": {}},
            "coreFoldProp_": {"factor_": n_cores, "label_": "core"}, "coreletFoldProp_": {"factor_": 1, "label_": "corelet"},
            "numCoresUsed_": n_cores, "coreIdToDsc_": self.map_cores(|_| json!(0)), "numWkSlicesPerDim_": slices,
            "coreIdToWkSlice_": self.map_cores(|core| self.slots(core)), "coreIdToDscSchedule": self.map_cores(|_| json!([[-1, 0, 0, 0]])),
            "dscs_": [{self.function: dsc}],
        });
        json!({format!("0_{}", self.function): op})
    }

    /// Returns the text of a bundle with this op alone.
    fn text(&self) -> String {
        let (mut body, mut operands, mut ids) = (String::new(), Vec::new(), Vec::new());
        for (index, tensor) in self.tensors.iter().enumerate() {
            body += &format!(
                "%arg_{index} = sdscbundle.input_arg_extract value from %arg_{index}_base_addr : !sdscbundle.input_arg<index> -> index\n"
            );
            for (core, offset) in tensor.offsets.iter().enumerate() {
                body += &format!(
                    "%o_{index}_{core} = arith.constant {offset} : index\n%a_{index}_{core} = arith.addi %arg_{index}, %o_{index}_{core} : index\n"
                );
                operands.push(format!("%a_{index}_{core}"));
                ids.push((-1 - (index as i64 * 100 + core as i64)).to_string());
            }
        }
        let parameters: Vec<String> = (0..self.tensors.len())
            .map(|index| format!("%arg_{index}_base_addr: !sdscbundle.input_arg<index>"))
            .collect();
        format!(
            "module {{\nfunc.func @sdsc_bundle({}) {{\n{body}sdscbundle.sdsc_execute ({}) {{sdsc_filename=\"sdsc_0.json\", \"symbol_ids\"=[{}]}}\nreturn\n}}\n}}\n",
            parameters.join(", "),
            operands.join(", "),
            ids.join(", ")
        )
    }
}

/// A kernel argument: shape, device size, stride map, format.
type KernelArgument<'a> = (&'a [i64], &'a [i64], &'a [i64]);

/// Runs an op on seeded inputs; returns the inputs and the result. `given` replaces the values of an argument.
fn run(
    op: &SimulatedOp,
    args: &[KernelArgument<'_>],
    given: &[(usize, Vec<f64>)],
) -> Result<(Vec<Vec<f64>>, Vec<f64>), SimError> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("b")).unwrap();
    std::fs::write(dir.path().join("b/bundle.mlir"), op.text()).unwrap();
    std::fs::write(dir.path().join("b/sdsc_0.json"), op.json().to_string()).unwrap();
    let tensor = |(index, (shape, device_size, stride_map)): (usize, &KernelArgument<'_>)| Tensor {
        name: format!("arg{index}"),
        shape: shape.to_vec(),
        element_type: if op.tensors[index].format == "SENUINT32" { "i32" } else { "f32" }.to_owned(),
        format: op.tensors[index].format.to_owned(),
        device_size: device_size.to_vec(),
        stride_map: stride_map.to_vec(),
        bytes: device_size[..device_size.len() - 1].iter().product::<i64>() * 128,
        ..Tensor::default()
    };
    let tensors: Vec<Tensor> = args.iter().enumerate().map(tensor).collect();
    let (result, arguments) = tensors.split_last().unwrap();
    let launches = vec![LaunchEntry {
        bundle: "b".to_owned(),
        arguments: tensors.iter().map(|tensor| tensor.name.clone()).collect(),
        pool_bytes: 0,
        ..LaunchEntry::default()
    }];
    let program = Program {
        name: "p".to_owned(),
        arguments: arguments.to_vec(),
        results: vec![result.clone()],
        launches,
        ..Program::default()
    };
    let simulation = Simulation::with_program(program, dir.path(), &Target::spyre())?;
    let mut inputs: BTreeMap<String, HostArray> = BTreeMap::new();
    for (index, tensor) in tensors
        .iter()
        .enumerate()
        .filter(|(index, _)| *index + 1 < tensors.len() || given.iter().any(|(at, _)| at == index))
    {
        let mut array = draw_seeded_array(tensor, 1)?;
        if tensor.format == "SENUINT32" {
            array.elements = ArrayElements::I32(vec![0; array.elements.len()]);
        }
        for at in 0..array.elements.len() {
            let value = given
                .iter()
                .find(|(given, _)| *given == index)
                .map_or_else(|| array.elements.get(at), |(_, values)| values[at]);
            let bits = referee::number::dl16_from_host(value as f32);
            array.elements.set(at, if tensor.format == "SENUINT32" { value } else { dl16_to_f64(bits) });
        }
        inputs.insert(tensor.name.clone(), array);
    }
    let outcome = simulation.run(&inputs, &RunOptions::default())?;
    counted::check_counted(&simulation, &inputs, &outcome);
    let values = |array: &HostArray| (0..array.elements.len()).map(|at| array.elements.get(at)).collect::<Vec<_>>();
    Ok((inputs.values().map(values).collect(), values(&outcome.results[0].1)))
}

const ONE_CLASS: &[(&str, &[&str], &str, i64)] = &[("OUTPUT", &["mb", "out"], "out", 64)];

fn reduction(function: &'static str, constants: &'static [(&'static str, u32)]) -> SimulatedOp {
    let result = TensorSpec { scale: &[1, -2], offsets: &[0, 8 * 128], ..PLAIN };
    let input = TensorSpec { offsets: &[0, 8 * 128], ..PLAIN };
    SimulatedOp {
        function,
        dims: &[("mb", 16, 2), ("out", 128, 1)],
        classes: ONE_CLASS,
        tensors: vec![input, result],
        mask: Some(("out", 100, 28)),
        constants,
    }
}

const ROWS: KernelArgument<'static> = (&[16, 100], &[2, 16, 64], &[64, 100, 1]);
const COLUMN: KernelArgument<'static> = (&[16], &[1, 16, 64], &[-1, 1, -1]);

#[test]
fn executes_masked_reductions() {
    let (inputs, found) = run(&reduction("max", &[("samv-maskvalue", 0xfe00)]), &[ROWS, COLUMN], &[]).unwrap();
    let expected: Vec<f64> = inputs[0].chunks(100).map(|row| row.iter().copied().fold(f64::MIN, f64::max)).collect();
    assert_eq!(found, expected);
    let (inputs, found) = run(&reduction("min", &[("samv-maskvalue", 0x7e00)]), &[ROWS, COLUMN], &[]).unwrap();
    let expected: Vec<f64> = inputs[0].chunks(100).map(|row| row.iter().copied().fold(f64::MAX, f64::min)).collect();
    assert_eq!(found, expected);
    // 0.01 in DL16; maskingConstId_ 0 names the factor, as torch-spyre of August 2026 prints it.
    let bits = referee::number::dl16_from_f32(0.01);
    let constants: &'static [(&str, u32)] =
        Box::leak(Box::new([("scaling_factor", u32::from(bits)), ("samv-maskvalue", 0)]));
    let (inputs, found) = run(&reduction("mean", constants), &[ROWS, COLUMN], &[]).unwrap();
    for (row, found) in inputs[0].chunks(100).zip(found) {
        let mean = row.iter().sum::<f64>() / 100.0;
        assert!((mean - found).abs() < 0.002, "{found}, expected {mean}");
    }
    let unmasked = SimulatedOp { mask: None, ..reduction("max", &[]) };
    assert!(run(&unmasked, &[ROWS, COLUMN], &[]).unwrap().1.iter().all(|value| value.is_nan()));
    assert_eq!(
        run(&reduction("mean", &[("samv-maskvalue", 0)]), &[ROWS, COLUMN], &[]).unwrap_err().rule(),
        "malformed"
    );
    assert_eq!(run(&reduction("max", &[]), &[ROWS, COLUMN], &[]).unwrap_err().rule(), "malformed");
}

/// A reduction whose reduced dimension is split: several cores share the address of the result.
#[test]
fn executes_split_reductions() {
    let input = TensorSpec { offsets: &[0, 1024], ..PLAIN };
    let result = TensorSpec { order: &["out", "mb"], scale: &[-1, 1], ..PLAIN };
    for (function, start) in [("sumnonstick", 0.0), ("maxnonstick", f64::MIN), ("prodnonstick", 1.0)] {
        let tensors = vec![input.clone(), result.clone()];
        let op = SimulatedOp {
            function,
            dims: &[("mb", 16, 2), ("out", 64, 1)],
            classes: ONE_CLASS,
            tensors,
            mask: None,
            constants: &[],
        };
        let args: [KernelArgument<'_>; 2] =
            [(&[16, 64], &[1, 16, 64], &[64, 64, 1]), (&[64], &[1, 1, 64], &[-1, 64, 1])];
        let (inputs, found) = run(&op, &args, &[]).unwrap();
        for column in 0..64 {
            let values = (0..16).map(|row| inputs[0][row * 64 + column]);
            let expected = values.fold(start, |sum, value| match function {
                "sumnonstick" => sum + value,
                "maxnonstick" => sum.max(value),
                _ => sum * value,
            });
            assert!(
                (expected - found[column]).abs() <= expected.abs() / 512.0 + 1e-2,
                "{function} {column}: {} {expected}",
                found[column]
            );
        }
    }
}

/// Both stick dimensions are padded; each tensor lacks the padding of the other one's stick dimension.
#[test]
fn restickifies_unaligned_sizes() {
    let input = TensorSpec { class: "OUTPUT", order: &["out", "mb"], gap: &[("out", 28)], ..PLAIN };
    let result = TensorSpec { class: "KERNEL", gap: &[("mb", 42)], ..PLAIN };
    let classes: &[(&str, &[&str], &str, i64)] =
        &[("OUTPUT", &["out", "mb"], "mb", 64), ("KERNEL", &["mb", "out"], "out", 64)];
    let op = SimulatedOp {
        function: "ReStickifyOpHBM",
        dims: &[("mb", 192, 1), ("out", 128, 1)],
        classes,
        tensors: vec![input, result],
        mask: None,
        constants: &[],
    };
    let args: [KernelArgument<'_>; 2] =
        [(&[100, 150], &[3, 100, 64], &[64, 150, 1]), (&[150, 100], &[2, 150, 64], &[64, 100, 1])];
    let (inputs, found) = run(&op, &args, &[]).unwrap();
    let expected: Vec<f64> = (0..15000).map(|at| inputs[0][at % 100 * 150 + at / 100]).collect();
    assert_eq!(found, expected);
    let forgotten =
        SimulatedOp { tensors: vec![TensorSpec { gap: &[], ..op.tensors[0].clone() }, op.tensors[1].clone()], ..op };
    assert_eq!(run(&forgotten, &args, &[]).unwrap_err().rule(), "out-of-bounds");
}

fn to_row_indices(index: &[f64]) -> Vec<usize> {
    index.iter().map(|row| *row as usize).collect()
}

/// Returns a tensor of indices along `mb` into the rows of a tensor of the op, by its position.
fn index_tensor(of: usize) -> TensorSpec {
    TensorSpec {
        class: "KERNEL_IDX",
        order: &["mb"],
        scale: &[1],
        pages: &[-1],
        format: "SENUINT32",
        indirect: Some(("index_tensor", of)),
        ..PLAIN
    }
}

/// Two dimensions of indices into a table ("torch-spyre facts, H": maxDimSizes_ [1, 6, -1] for (mb, x, out)).
#[test]
fn gathers_by_matrix_of_indices() {
    let index = TensorSpec {
        class: "KERNEL_IDX",
        order: &["mb", "x"],
        format: "SENUINT32",
        indirect: Some(("index_tensor", 1)),
        ..PLAIN
    };
    let table = TensorSpec {
        order: &["out", "mb", "x"],
        scale: &[1, 1, 1],
        pages: &[-1, 1, 6],
        indirect: Some(("value_tensor", 0)),
        ..PLAIN
    };
    let result = TensorSpec { order: &["out", "mb", "x"], scale: &[1, 1, 1], pages: &[-1, -1, -1], ..PLAIN };
    let classes: &[(&str, &[&str], &str, i64)] =
        &[("KERNEL_IDX", &["mb", "x"], "x", 32), ("OUTPUT", &["out", "mb", "x"], "out", 64)];
    let dims = &[("mb", 3, 1), ("x", 192, 1), ("out", 256, 1)];
    let op = SimulatedOp {
        function: "identity",
        dims,
        classes,
        tensors: vec![index, table, result],
        mask: None,
        constants: &[],
    };
    let args: [KernelArgument<'_>; 3] = [
        (&[3, 192], &[6, 3, 32], &[32, 192, 1]),
        (&[128, 256], &[128, 4, 64], &[256, 64, 1]),
        (&[3, 192, 256], &[192, 3, 4, 64], &[256, 49152, 64, 1]),
    ];
    let chosen: Vec<f64> = (0..576).map(|at| f64::from(at * 37 % 128)).collect();
    let (inputs, found) = run(&op, &args, &[(0, chosen.clone())]).unwrap();
    let expected: Vec<f64> =
        to_row_indices(&chosen).iter().flat_map(|row| inputs[1][row * 256..][..256].to_vec()).collect();
    assert_eq!(found, expected);
}

/// If a dimension outside of the rows of a table is one stick, all rows are contiguous. With more sticks the position
/// of the second one is unknown.
#[test]
fn accepts_rows_inside_table_of_one_stick() {
    let op = |dims, classes| {
        let index = index_tensor(1);
        let table = TensorSpec { pages: &[1, -1], indirect: Some(("value_tensor", 0)), ..PLAIN };
        let result = TensorSpec { order: &["out", "mb"], ..PLAIN };
        SimulatedOp {
            function: "identity",
            dims,
            classes,
            tensors: vec![index, table, result],
            mask: None,
            constants: &[],
        }
    };
    let classes: &[(&str, &[&str], &str, i64)] =
        &[("KERNEL_IDX", &["mb"], "mb", 32), ("OUTPUT", &["mb", "out"], "out", 64)];
    let chosen: Vec<f64> = (0..32).map(|at| f64::from(at * 37 % 50)).collect();
    let args: [KernelArgument<'_>; 3] =
        [(&[32], &[1, 32], &[32, 1]), (&[50, 64], &[1, 50, 64], &[64, 64, 1]), (&[32, 64], &[32, 1, 64], &[64, 64, 1])];
    let (inputs, found) = run(&op(&[("mb", 32, 1), ("out", 64, 1)], classes), &args, &[(0, chosen.clone())]).unwrap();
    let expected: Vec<f64> =
        to_row_indices(&chosen).iter().flat_map(|row| inputs[1][row * 64..][..64].to_vec()).collect();
    assert_eq!(found, expected);
    let wide: [KernelArgument<'_>; 3] = [
        (&[32], &[1, 32], &[32, 1]),
        (&[50, 128], &[2, 50, 64], &[64, 128, 1]),
        (&[32, 128], &[32, 2, 64], &[128, 64, 1]),
    ];
    let rejected = run(&op(&[("mb", 32, 1), ("out", 128, 1)], classes), &wide, &[(0, chosen)]).unwrap_err();
    assert_eq!(rejected.rule(), "not-simulated");
}

#[test]
fn scatters_to_named_rows() {
    let index = index_tensor(2);
    let values = TensorSpec { order: &["out", "mb"], ..PLAIN };
    let table = TensorSpec { order: &["out", "mb"], pages: &[-1, 1], indirect: Some(("value_tensor", 0)), ..PLAIN };
    let classes: &[(&str, &[&str], &str, i64)] =
        &[("KERNEL_IDX", &["mb"], "mb", 32), ("OUTPUT", &["out", "mb"], "out", 64)];
    let op = SimulatedOp {
        function: "identity",
        dims: &[("mb", 4, 1), ("out", 128, 1)],
        classes,
        tensors: vec![index, values, table],
        mask: None,
        constants: &[],
    };
    let args: [KernelArgument<'_>; 3] = [
        (&[4], &[1, 1, 32], &[32, -1, 1]),
        (&[4, 128], &[4, 2, 64], &[128, 64, 1]),
        (&[10, 128], &[10, 2, 64], &[128, 64, 1]),
    ];
    let chosen = vec![7.0, 0.0, 3.0, 9.0];
    let (inputs, found) = run(&op, &args, &[(0, chosen.clone()), (2, vec![-5.0; 1280])]).unwrap();
    let mut expected = vec![-5.0; 1280];
    for (at, row) in to_row_indices(&chosen).into_iter().enumerate() {
        expected[row * 128..][..128].copy_from_slice(&inputs[1][at * 128..][..128]);
    }
    assert_eq!(found, expected);
    assert_eq!(run(&op, &args, &[(0, vec![10.0; 4]), (2, vec![0.0; 1280])]).unwrap_err().rule(), "index-out-of-bounds");
}

#[test]
fn selects_by_where() {
    let dims = &[("mb", 2, 1), ("out", 64, 1)];
    let op = SimulatedOp {
        function: "where3",
        dims,
        classes: ONE_CLASS,
        tensors: vec![PLAIN; 4],
        mask: None,
        constants: &[],
    };
    let arg: KernelArgument<'_> = (&[2, 64], &[1, 2, 64], &[64, 64, 1]);
    let condition: Vec<f64> = (0..128).map(|at| f64::from(at % 3 == 0)).collect();
    let (inputs, found) = run(&op, &[arg; 4], &[(0, condition.clone())]).unwrap();
    let expected: Vec<f64> = (0..128).map(|at| inputs[if condition[at] != 0.0 { 1 } else { 2 }][at]).collect();
    assert_eq!(found, expected);
}

/// The reference emitter clones an operand that a tiled matmul broadcasts over a dimension of neither tensor: it
/// repeats the same copy, also on several cores.
#[test]
fn repeats_copy_along_dimension_of_no_tensor() {
    let tensor = TensorSpec { order: &["mb", "out", "x"], scale: &[1, 1, -1], pages: &[-1, -1, -1], ..PLAIN };
    let classes: &[(&str, &[&str], &str, i64)] = &[("OUTPUT", &["mb", "out", "x"], "out", 64)];
    let arg: KernelArgument<'_> = (&[8, 64], &[1, 8, 64], &[64, 64, 1]);
    for slices in [1, 2] {
        let dims: &'static [(&str, i64, i64)] = Box::leak(Box::new([("x", 4, slices), ("mb", 8, 1), ("out", 64, 1)]));
        let op = SimulatedOp {
            function: "identity",
            dims,
            classes,
            tensors: vec![tensor.clone(); 2],
            mask: None,
            constants: &[],
        };
        let (inputs, found) = run(&op, &[arg; 2], &[]).unwrap();
        assert_eq!(found, inputs[0]);
        // A dimension of only one of them would be reduced, which a copy cannot do.
        let wide = TensorSpec { scale: &[1, 1, 1], ..tensor.clone() };
        let wide_arg: KernelArgument<'_> = (&[4, 8, 64], &[4, 1, 8, 64], &[512, 64, 64, 1]);
        let op = SimulatedOp { tensors: vec![wide, tensor.clone()], ..op };
        assert_eq!(run(&op, &[wide_arg, arg], &[]).unwrap_err().rule(), "malformed");
    }
}

/// Two cores with overlapping reads and writes: core 0 writes the bytes that core 1 reads.
#[test]
fn finds_read_of_bytes_that_another_core_writes() {
    let op = SimulatedOp {
        function: "identity",
        dims: &[("mb", 8, 2), ("out", 64, 1)],
        classes: ONE_CLASS,
        tensors: vec![TensorSpec { offsets: &[0, 512], ..PLAIN }, TensorSpec { offsets: &[512, 1024], ..PLAIN }],
        mask: None,
        constants: &[],
    };
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("b")).unwrap();
    std::fs::write(dir.path().join("b/bundle.mlir"), op.text()).unwrap();
    std::fs::write(dir.path().join("b/sdsc_0.json"), op.json().to_string()).unwrap();
    let (name, shape, device_size, stride_map) = ("a".to_owned(), vec![16, 64], vec![1, 16, 64], vec![64, 64, 1]);
    let tensor = Tensor {
        name,
        shape,
        element_type: "f32".to_owned(),
        format: "SEN169_FP16".to_owned(),
        device_size,
        stride_map,
        bytes: 2048,
        ..Tensor::default()
    };
    let launches = vec![LaunchEntry {
        bundle: "b".to_owned(),
        arguments: vec!["a".to_owned(); 2],
        pool_bytes: 0,
        ..LaunchEntry::default()
    }];
    let program = Program {
        name: "p".to_owned(),
        arguments: vec![tensor.clone()],
        results: vec![tensor.clone()],
        launches,
        ..Program::default()
    };
    let simulation = Simulation::with_program(program, dir.path(), &Target::spyre()).unwrap();
    let inputs = BTreeMap::from([("a".to_owned(), draw_seeded_array(&tensor, 1).unwrap())]);
    assert_eq!(simulation.run(&inputs, &RunOptions::default()).unwrap_err().rule(), "read-conflict");
}
