//! Matmuls of 8-bit and 4-bit operands, whose weights are in sticks of several rows, compared with plain computations.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::check_bundle::bundles::{Files, emit_ops, op, operand};
use crate::check_bundle::edits::{json, to_pointer};
use machine::{DeviceFormat, Target};
use referee::number::{dl16_from_f32, dl16_to_f32};
use referee::{ArrayElements, HostArray, RunOptions, SimError, Simulation};
use sdsc_check::{Profile, check_files_with_profile};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use serde_json::{Value, json};
use spyre_compiler::bundle::{Coordinate as C, ElementArrangement, OpSpecOperand};

/// Matmul `[batch, rows, contracted]` by `[batch, contracted, columns]`.
#[derive(Clone, Copy, Debug)]
struct Product {
    format: DeviceFormat,
    /// Sizes of the batch, the rows, the columns and the contracted dimension.
    sizes: [i64; 4],
    /// Slices of these dimensions.
    splits: [i64; 4],
    /// Whether `program.json` states the positions of the weights, and not torch-spyre's device size `[N / 128, K,
    /// 128]`.
    states_blocks: bool,
}

impl Product {
    const fn new(format: DeviceFormat, sizes: [i64; 4], splits: [i64; 4]) -> Self {
        Self { format, sizes, splits, states_blocks: true }
    }

    fn function(&self) -> &'static str {
        match self.format {
            DeviceFormat::SenInt4 => "batchmatmulint4",
            DeviceFormat::SenInt8 => "batchmatmulint8",
            _ => "batchmatmulfp8",
        }
    }

    fn element_type(&self) -> &'static str {
        match self.format {
            DeviceFormat::SenInt4 | DeviceFormat::SenInt8 => "i8",
            DeviceFormat::Sen152Fp8 => "f8E5M2",
            _ => "f8E4M3FN",
        }
    }

    /// Builds the files: the emitter writes fp8 with a multiple of 128 columns, and its files are changed to the other
    /// formats and to 64 columns.
    fn build_files(&self) -> Files {
        let [batch, rows, num_columns, contracted] = self.sizes;
        let columns = num_columns.max(128);
        let narrow = |operand: OpSpecOperand, arrangement| OpSpecOperand {
            format: DeviceFormat::Sen143Fp8,
            arrangement,
            ..operand
        };
        let along = |dim: usize, size: i64, per_stick: i64| {
            if size > per_stick {
                (size / per_stick, C::floordiv(dim, per_stick), C::modulo(dim, per_stick))
            } else {
                (1, C::constant(0), C::dim(dim))
            }
        };
        let (first, outer, inner) = along(3, contracted, 128);
        let left = operand(&[batch, first, rows, 128], vec![C::dim(0), outer, C::dim(1), inner]);
        let (first, outer, inner) = along(2, columns, 128);
        let right = operand(&[batch, first, contracted, 128], vec![C::dim(0), outer, C::dim(3), inner]);
        let (first, outer, inner) = along(2, columns, 64);
        let result = operand(&[batch, first, rows, 64], vec![C::dim(0), outer, C::dim(1), inner]);
        let operands =
            vec![narrow(left, ElementArrangement::Standard), narrow(right, ElementArrangement::Qfp8Wt), result];
        let dims: Vec<(i64, i64)> = [batch, rows, columns, contracted].into_iter().zip(self.splits).collect();
        let mut product = op("batchmatmulfp8", &dims, 0, operands);
        product.is_reduction = true;
        let mut files = emit_ops(vec![product]);
        for bytes in files.values_mut() {
            let text = String::from_utf8(std::mem::take(bytes)).unwrap();
            let text = text.replace("batchmatmulfp8", self.function()).replace("SEN143_FP8", self.format.name());
            *bytes = text.into_bytes();
        }
        if self.format == DeviceFormat::SenInt4 {
            pack_operands(&mut files);
        }
        if num_columns == 64 {
            halve_columns(&mut files);
        }
        files
    }

    fn tensor(&self, name: &str, format: DeviceFormat, shape: [i64; 3], layout: Vec<(i64, i64)>) -> Tensor {
        let (device_size, stride_map): (Vec<i64>, Vec<i64>) = layout.into_iter().unzip();
        Tensor {
            name: name.to_owned(),
            shape: shape.to_vec(),
            element_type: if format == self.format { self.element_type() } else { "f32" }.to_owned(),
            format: format.name().to_owned(),
            bytes: format.packed_bytes(device_size.iter().product()).unwrap(),
            device_size,
            stride_map,
            ..Tensor::default()
        }
    }

    fn build_program(&self) -> Program {
        let [b, m, n, k] = self.sizes;
        let is_packed = self.format == DeviceFormat::SenInt4;
        let left = if is_packed {
            vec![(b, m * k), (k / 128, 128), (m / 2, 2 * k), (16, 8), (2, k), (8, 1)]
        } else {
            vec![(b, m * k), (k / 128, 128), (m, k), (128, 1)]
        };
        let right = match (is_packed, self.states_blocks) {
            (true, _) => vec![(b, k * n), (n / 64, 64), (k / 4, 4 * n), (4, n), (64, 1)],
            (false, true) => vec![(b, k * n), (n / 64, 64), (k / 2, 2 * n), (2, n), (64, 1)],
            (false, false) => vec![(b, k * n), (n / 128, 128), (k, n), (128, 1)],
        };
        let result = vec![(b, m * n), (n / 64, 64), (m, n), (64, 1)];
        Program {
            name: "p".to_owned(),
            arguments: vec![
                self.tensor("x", self.format, [b, m, k], left),
                self.tensor("w", self.format, [b, k, n], right),
            ],
            results: vec![self.tensor("y", DeviceFormat::Sen169Fp16, [b, m, n], result)],
            launches: vec![LaunchEntry {
                bundle: "b".to_owned(),
                arguments: ["x", "w", "y"].map(str::to_owned).to_vec(),
                ..LaunchEntry::default()
            }],
            ..Program::default()
        }
    }

    fn load(&self, files: &Files) -> Result<Simulation, SimError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("b")).unwrap();
        files.iter().for_each(|(name, bytes)| std::fs::write(dir.path().join("b").join(name), bytes).unwrap());
        Simulation::with_program(self.build_program(), dir.path(), &Target::spyre())
    }

    /// Draws the elements of an operand: all values of the integer formats, numbers up to 2 of the others.
    fn draw(&self, seed: u64, length: i64) -> ArrayElements {
        let mut state = seed;
        let bytes = (0..length).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        });
        match self.format {
            DeviceFormat::SenInt4 => ArrayElements::I8(bytes.map(|byte| (byte as i8) >> 4).collect()),
            DeviceFormat::SenInt8 => ArrayElements::I8(bytes.map(|byte| byte as i8).collect()),
            DeviceFormat::Sen152Fp8 => ArrayElements::F8E5M2(bytes.map(|byte| byte & 0xbf).collect()),
            _ => ArrayElements::F8E4M3Fn(bytes.map(|byte| byte & 0xbf).collect()),
        }
    }

    /// Executes the files, and compares every element of the result with the sum of products.
    fn check_results(&self, files: &Files) {
        let [b, m, n, k] = self.sizes;
        let simulation = self.load(files).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let (x, w) = (self.draw(1, b * m * k), self.draw(2, b * k * n));
        let array =
            |shape: [i64; 3], elements: &ArrayElements| HostArray { shape: shape.to_vec(), elements: elements.clone() };
        let inputs = [("x".to_owned(), array([b, m, k], &x)), ("w".to_owned(), array([b, k, n], &w))].into();
        let outcome =
            simulation.run(&inputs, &RunOptions::default()).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let found = &outcome.results[0].1.elements;
        for at in 0..b * m * n {
            let (batch, row, column) = (at / (m * n), at / n % m, at % n);
            let left = |l: i64| x.get(((batch * m + row) * k + l) as usize);
            let right = |l: i64| w.get(((batch * k + l) * n + column) as usize);
            let products = (0..k).map(|l| left(l) * right(l));
            let (sum, magnitude): (f64, f64) =
                products.fold((0.0, 0.0), |(sum, all), product| (sum + product, all + product.abs()));
            let found = found.get(at as usize);
            if self.element_type() == "i8" {
                assert_eq!(found, f64::from(dl16_to_f32(dl16_from_f32(sum as f32))), "{self:?}: element {at}");
            } else {
                let bound = sum.abs() / 1024.0 + magnitude * k as f64 / f64::from(1 << 24) + 1e-6;
                assert!((found - sum).abs() <= bound, "{self:?}: element {at} is {found}, not {sum}");
            }
        }
    }

    /// Returns the violations of a profile in the files with their `program.json`.
    fn find_violations(&self, files: &Files, profile: Profile) -> Vec<String> {
        let mut all: Files = files.iter().map(|(name, bytes)| (format!("b/{name}"), bytes.clone())).collect();
        all.insert("program.json".to_owned(), serde_json::to_vec(&self.build_program()).unwrap());
        let contents = all.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        let found = check_files_with_profile(contents, &Target::spyre(), profile).unwrap();
        found.into_iter().map(|violation| violation.to_string()).collect()
    }
}

/// Changes the operands of a matmul to 4-bit integers: other sticks, and half of the bytes.
fn pack_operands(files: &mut Files) {
    json(files, "sdsc_0.json", |file| {
        for (class, dims, sizes) in
            [("INPUT", json!(["in", "mb", "in"]), json!([16, 2, 8])), ("KERNEL", json!(["in", "out"]), json!([4, 64]))]
        {
            let path = to_pointer(file, &format!("dsc/primaryDsInfo_/{class}"));
            let class = file.pointer_mut(&path).unwrap();
            (class["stickDimOrder_"], class["stickSize_"]) = (dims, sizes);
        }
        for tensor in 0..2 {
            let path = to_pointer(file, &format!("dsc/labeledDs_/{tensor}"));
            file.pointer_mut(&path).unwrap()["wordLength"] = json!(0.5);
        }
    });
    let text = String::from_utf8(files.remove("bundle.mlir").unwrap()).unwrap();
    let halve = |line: &str| match line.split_once(" = arith.constant ") {
        Some((name, number)) if name.contains("%arg_0_core_offset") || name.contains("%arg_1_core_offset") => {
            let (bytes, rest) = number.split_once(' ').unwrap();
            format!("{name} = arith.constant {} {rest}\n", bytes.parse::<i64>().unwrap() / 2)
        }
        _ => format!("{line}\n"),
    };
    files.insert("bundle.mlir".to_owned(), text.lines().map(halve).collect::<String>().into_bytes());
}

/// Changes a matmul with 128 columns, which are not split, to 64 columns.
fn halve_columns(files: &mut Files) {
    json(files, "sdsc_0.json", |file| {
        let mut set = |path: &str, to: i64| {
            let path = to_pointer(file, &format!("dsc/{path}"));
            *file.pointer_mut(&path).unwrap() = json!(to);
        };
        set("N_/out_", 64);
        ["ss_", "el_"].into_iter().for_each(|stage| set(&format!("dataStageParam_/0/{stage}/out_"), 64));
        let folds = |tensor: usize| format!("scheduleTree_/{tensor}/coordinates_/coordInfo/out/folds");
        [1, 2].into_iter().for_each(|tensor| set(&format!("{}/dim_prop_func/0/Affine/alpha_", folds(tensor)), 64));
        set(&format!("{}/dim_prop_func/3/Affine/alpha_", folds(1)), 8);
        set(&format!("{}/dim_prop_attr/3/factor_", folds(2)), 1);
    });
}

const FORMATS: [DeviceFormat; 3] = [DeviceFormat::SenInt4, DeviceFormat::SenInt8, DeviceFormat::Sen143Fp8];

/// Sizes and slices of the products.
const CASES: [([i64; 4], [i64; 4]); 7] = [
    ([1, 8, 128, 256], [1, 1, 1, 1]),
    ([1, 8, 64, 256], [1, 2, 1, 1]),
    ([1, 8, 128, 256], [1, 1, 2, 1]),
    ([1, 8, 256, 512], [1, 1, 4, 2]),
    ([1, 4, 128, 512], [1, 2, 1, 4]),
    ([2, 4, 128, 256], [2, 1, 2, 1]),
    ([3, 6, 256, 128], [3, 3, 2, 1]),
];

#[test]
fn multiplies_narrow_operands() {
    for format in FORMATS {
        for (sizes, splits) in CASES {
            let product = Product::new(format, sizes, splits);
            let files = product.build_files();
            assert_eq!(product.find_violations(&files, Profile::default()), Vec::<String>::new(), "{product:?}");
            product.check_results(&files);
        }
    }
}

#[test]
fn multiplies_five_two_floats() {
    let product = Product::new(DeviceFormat::Sen152Fp8, [1, 8, 128, 256], [1, 2, 2, 1]);
    let files = product.build_files();
    product.check_results(&files);
    let found = product.find_violations(&files, Profile::default());
    assert!(found.iter().all(|violation| violation.contains("sdsc_r190")) && found.len() == 2, "{found:?}");
}

/// The device size of torch-spyre counts the sticks of the weights.
#[test]
fn reads_weights_with_rows_of_128_columns() {
    for (format, sizes, splits) in [
        (DeviceFormat::SenInt8, [1, 8, 128, 256], [1, 1, 2, 1]),
        (DeviceFormat::Sen143Fp8, [2, 4, 256, 256], [1, 2, 2, 2]),
    ] {
        let product = Product { states_blocks: false, ..Product::new(format, sizes, splits) };
        let files = product.build_files();
        assert_eq!(product.find_violations(&files, Profile::default()), Vec::<String>::new());
        product.check_results(&files);
    }
}

/// Files with another stick shape, format or word length break one rule each.
#[test]
fn rejects_other_sticks_and_formats() {
    let break_file = |format, change: &dyn Fn(&mut Value)| {
        let product = Product::new(format, [1, 8, 128, 256], [1, 1, 1, 1]);
        let mut files = product.build_files();
        json(&mut files, "sdsc_0.json", |file| {
            let path = to_pointer(file, "dsc/primaryDsInfo_");
            change(file.pointer_mut(path.strip_suffix("/primaryDsInfo_").unwrap()).unwrap());
        });
        let contents = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        let found = check_files_with_profile(contents, &Target::spyre(), Profile::default()).unwrap();
        let mut labels: Vec<&str> = found.iter().map(|violation| violation.label).collect();
        labels.dedup();
        (labels, product.load(&files).err().map(|error| error.rule()))
    };
    let set_stick = |class: &'static str, dims: Value, sizes: Value| {
        move |dsc: &mut Value| {
            let class = &mut dsc["primaryDsInfo_"][class];
            (class["stickDimOrder_"], class["stickSize_"]) = (dims.clone(), sizes.clone());
        }
    };
    let (int4, int8) = (DeviceFormat::SenInt4, DeviceFormat::SenInt8);
    let swapped = set_stick("KERNEL", json!(["out", "in"]), json!([64, 2]));
    assert_eq!(break_file(int8, &swapped).0, ["sdsc_r191"]);
    let plain = set_stick("KERNEL", json!(["out"]), json!([128]));
    assert_eq!(break_file(DeviceFormat::Sen143Fp8, &plain).0, ["sdsc_r42", "sdsc_r191"]);
    let two_rows = set_stick("KERNEL", json!(["in", "out"]), json!([2, 128]));
    assert_eq!(break_file(int4, &two_rows).0, ["sdsc_r191"]);
    let pairs = set_stick("INPUT", json!(["in", "mb", "in"]), json!([32, 2, 4]));
    assert_eq!(break_file(int4, &pairs).0, ["sdsc_r191"]);
    let short = set_stick("INPUT", json!(["in", "mb", "in"]), json!([8, 2, 8]));
    assert_eq!(break_file(int4, &short), (vec!["sdsc_r39", "sdsc_r191"], Some("malformed")));
    let wide = |dsc: &mut Value| dsc["labeledDs_"][1]["wordLength"] = json!(1);
    assert_eq!(break_file(int4, &wide), (vec!["sdsc_r38", "sdsc_r39"], Some("malformed")));
    let mixed = |dsc: &mut Value| dsc["labeledDs_"][1]["dataFormat_"] = json!("SEN143_FP8");
    assert_eq!(break_file(int8, &mixed).0, ["sdsc_r190"]);
    let narrow_result = |dsc: &mut Value| {
        dsc["labeledDs_"][2]["dataFormat_"] = json!("SENINT4");
        dsc["labeledDs_"][2]["wordLength"] = json!(0.5);
    };
    assert_eq!(break_file(int4, &narrow_result).0, ["sdsc_r39", "sdsc_r190"]);
}

/// A slice ends at a block: with three rows or 32 columns a core would share blocks with another one.
#[test]
fn rejects_slices_inside_of_blocks() {
    for (format, sizes, splits) in [
        (DeviceFormat::SenInt8, [1, 8, 128, 256], [1, 1, 4, 1]),
        (DeviceFormat::SenInt4, [1, 6, 128, 256], [1, 2, 1, 1]),
    ] {
        let product = Product::new(format, sizes, splits);
        let files = product.build_files();
        let found = product.find_violations(&files, Profile::default());
        assert!(found.iter().any(|violation| violation.contains("sdsc_r31")), "{found:?}");
        assert_eq!(product.load(&files).err().map(|error| error.rule()), Some("malformed"), "{product:?}");
    }
}
