//! Windows of release 1.0.0: the members of the specification, and results that equal a direct computation.

use super::run::run;
use super::{Profile, find_violations, parse, schema_differences, sdsc_files};
use crate::check_bundle::bundles::{Files, emit_ops, op, operand};
use crate::check_bundle::edits::{json, remove, set, to_pointer};
use referee::{HostArray, draw_seeded_array};
use sdsc_format::program::Program;
use sdsc_format::{Sdsc, to_text};
use serde_json::{Value, json};
use spyre_compiler::bundle::{Coordinate as C, OpSpec, OpWindow, WindowAxis};
use spyre_compiler::sdsc::convert_to_release;

const CHANNELS: i64 = 64;

/// Convolution or average pooling of one image of 64 channels, with the same window along both axes.
#[derive(Clone, Copy, Debug)]
struct Windowed {
    is_pooling: bool,
    /// Input rows and columns.
    sizes: [i64; 2],
    kernel: i64,
    stride: i64,
    padding: i64,
    dilation: i64,
    /// Number of cores along the rows of the result.
    split: i64,
}

impl Windowed {
    fn convolution(sizes: [i64; 2], kernel: i64, stride: i64, padding: i64) -> Self {
        Self { is_pooling: false, sizes, kernel, stride, padding, dilation: 1, split: 1 }
    }

    fn pooling(sizes: [i64; 2], kernel: i64, stride: i64, padding: i64) -> Self {
        Self { is_pooling: true, ..Self::convolution(sizes, kernel, stride, padding) }
    }

    fn outputs(&self) -> [i64; 2] {
        let read = (self.kernel - 1) * self.dilation + 1;
        self.sizes.map(|size| (size + 2 * self.padding - read) / self.stride + 1)
    }

    fn op(&self) -> OpSpec {
        let ([height, width], [rows, columns], kernel) = (self.sizes, self.outputs(), self.kernel);
        let mut op = if self.is_pooling {
            let coordinates = vec![C::constant(0), C::dim(0), C::dim(3), C::dim(1), C::dim(4), C::dim(2)];
            let input = operand(&[1, height, 1, width, 1, CHANNELS], coordinates);
            let output = operand(&[1, rows, columns, CHANNELS], vec![C::constant(0), C::dim(0), C::dim(1), C::dim(2)]);
            let dims = [(rows, self.split), (columns, 1), (CHANNELS, 1), (kernel, 1), (kernel, 1)];
            op("avgpoolfwd", &dims, 0, vec![input, output])
        } else {
            let dims =
                [(1, 1), (CHANNELS, 1), (rows, self.split), (columns, 1), (CHANNELS, 1), (kernel, 1), (kernel, 1)];
            op("conv2d", &dims, 0, self.convolution_operands().to_vec())
        };
        op.is_reduction = true;
        let Self { kernel, stride, padding, dilation, .. } = *self;
        let axis = WindowAxis { kernel, stride, padding, dilation, total_size: None };
        op.window = Some(OpWindow { height: axis, width: axis, pad_type: None });
        op.node_output_ranges = Some([1, CHANNELS, rows, columns]);
        op
    }

    fn convolution_operands(&self) -> [spyre_compiler::bundle::OpSpecOperand; 3] {
        let ([height, width], [rows, columns], kernel) = (self.sizes, self.outputs(), self.kernel);
        let stick = |dim| (C::floordiv(dim, 64), C::modulo(dim, 64));
        let ((first, last), zero) = (stick(4), || C::constant(0));
        let input = operand(
            &[1, height, 1, width, 1, 1, CHANNELS],
            vec![first, C::dim(2), C::dim(5), C::dim(3), C::dim(6), C::dim(0), last],
        );
        let (first, last) = stick(1);
        let weights = operand(
            &[1, 1, 1, kernel, kernel, CHANNELS, CHANNELS],
            vec![first.clone(), zero(), zero(), C::dim(5), C::dim(6), C::dim(4), last.clone()],
        );
        let output = operand(
            &[1, 1, 1, rows, columns, 1, CHANNELS],
            vec![first, zero(), zero(), C::dim(2), C::dim(3), C::dim(0), last],
        );
        [input, weights, output]
    }

    fn program(&self) -> Program {
        let ([height, width], [rows, columns], kernel) = (self.sizes, self.outputs(), self.kernel);
        let tensor = |name: &str, shape: &[i64], device_size: &[i64], stride_map: &[i64]| {
            json!({"name": name, "shape": shape, "element_type": "f16", "format": "SEN169_FP16",
                   "device_size": device_size, "stride_map": stride_map, "bytes": 2 * shape.iter().product::<i64>()})
        };
        let row = |columns: i64| columns * CHANNELS;
        let (arguments, result) = if self.is_pooling {
            let input = tensor(
                "t0",
                &[height, width, CHANNELS],
                &[1, height, 1, width, 1, CHANNELS],
                &[-1, row(width), -1, CHANNELS, -1, 1],
            );
            let shape = [rows, columns, CHANNELS];
            let device_size = [1, rows, columns, CHANNELS];
            (json!([input]), tensor("r", &shape, &device_size, &[-1, row(columns), CHANNELS, 1]))
        } else {
            let input = tensor(
                "t0",
                &[1, height, width, CHANNELS],
                &[1, height, 1, width, 1, 1, CHANNELS],
                &[CHANNELS, row(width), -1, CHANNELS, -1, height * row(width), 1],
            );
            let block = CHANNELS * CHANNELS;
            let weights = tensor(
                "t1",
                &[kernel, kernel, CHANNELS, CHANNELS],
                &[1, 1, 1, kernel, kernel, CHANNELS, CHANNELS],
                &[CHANNELS, -1, -1, kernel * block, block, CHANNELS, 1],
            );
            let result = tensor(
                "r",
                &[1, rows, columns, CHANNELS],
                &[1, 1, 1, rows, columns, 1, CHANNELS],
                &[CHANNELS, -1, -1, row(columns), CHANNELS, rows * row(columns), 1],
            );
            (json!([input, weights]), result)
        };
        let names = if self.is_pooling { json!(["t0", "r"]) } else { json!(["t0", "t1", "r"]) };
        serde_json::from_value(json!({
            "name": "main", "arguments": arguments, "results": [result], "constants": [], "buffers": [],
            "launches": [{"bundle": "bundle_0", "arguments": names}],
        }))
        .unwrap()
    }

    /// Returns the files of torch-spyre's practice.
    fn practice_files(&self) -> Files {
        emit_ops(vec![self.op()])
    }

    fn released_files(&self) -> Files {
        let mut files = self.practice_files();
        let mut sdsc: Sdsc = parse(&files["sdsc_0.json"]).unwrap();
        convert_to_release(&mut sdsc, &self.op()).unwrap();
        files.insert("sdsc_0.json".to_owned(), to_text(&sdsc));
        files
    }

    /// Computes the result directly, in f64.
    fn expected(&self) -> Vec<f64> {
        let program = self.program();
        let inputs: Vec<HostArray> =
            program.arguments.iter().map(|tensor| draw_seeded_array(tensor, 7).unwrap()).collect();
        let ([height, width], [rows, columns], kernel) = (self.sizes, self.outputs(), self.kernel);
        let input = |row: i64, column: i64, channel: i64| {
            let is_inside = (0..height).contains(&row) && (0..width).contains(&column);
            let at = (row * width + column) * CHANNELS + channel;
            if is_inside { inputs[0].elements.get(at as usize) } else { 0.0 }
        };
        let mut expected = Vec::new();
        for position in 0..rows * columns * CHANNELS {
            let (row, column, channel) =
                (position / CHANNELS / columns, position / CHANNELS % columns, position % CHANNELS);
            let mut sum = 0.0;
            for tap in 0..kernel * kernel {
                let along = |start: i64, tap: i64| start * self.stride + tap * self.dilation - self.padding;
                let (row, column) = (along(row, tap / kernel), along(column, tap % kernel));
                if self.is_pooling {
                    // The op has no scale, so `nmap` is 1.
                    sum += input(row, column, channel);
                    continue;
                }
                for from in 0..CHANNELS {
                    let weight = inputs[1].elements.get(((tap * CHANNELS + from) * CHANNELS + channel) as usize);
                    sum += input(row, column, from) * weight;
                }
            }
            expected.push(sum);
        }
        expected
    }

    fn check_results(&self, files: &Files) {
        let results = run(files, Some(&self.program())).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let expected = self.expected();
        let largest = expected.iter().fold(0f64, |largest, value| largest.max(value.abs()));
        for (index, value) in expected.iter().enumerate() {
            let found = results[0].elements.get(index);
            assert!((found - value).abs() <= 0.01 * largest, "{self:?}: element {index} is {found}, not {value}");
        }
    }
}

/// Returns windows of which release 1.0.0 has files.
fn released_windows() -> Vec<Windowed> {
    let (convolution, pooling) = (Windowed::convolution, Windowed::pooling);
    vec![
        convolution([4, 4], 2, 1, 0),
        convolution([4, 5], 3, 2, 0),
        convolution([4, 5], 3, 1, 1),
        convolution([8, 7], 3, 2, 1),
        convolution([5, 6], 3, 3, 2),
        Windowed { dilation: 2, ..convolution([7, 8], 3, 1, 1) },
        Windowed { dilation: 2, ..convolution([9, 6], 2, 2, 0) },
        Windowed { split: 3, ..convolution([4, 4], 2, 1, 0) },
        Windowed { split: 2, ..convolution([4, 4], 3, 1, 1) },
        Windowed { split: 4, ..convolution([4, 6], 3, 1, 1) },
        pooling([6, 6], 2, 2, 0),
        pooling([6, 7], 3, 1, 0),
        pooling([6, 8], 3, 2, 1),
        Windowed { split: 2, ..pooling([6, 5], 3, 1, 1) },
    ]
}

#[test]
fn writes_windows_that_schema_and_rules_accept() {
    for windowed in released_windows() {
        let files = windowed.released_files();
        let differences: Vec<_> = sdsc_files(&files).flat_map(schema_differences).collect();
        assert!(differences.is_empty(), "{windowed:?}: {differences:?}");
        let (labels, found) = find_violations(&files, Profile::Release1_0);
        assert!(labels.is_empty(), "{windowed:?}:{found}");
    }
}

#[test]
fn executes_windows_of_release() {
    for windowed in released_windows() {
        windowed.check_results(&windowed.released_files());
    }
}

#[test]
fn executes_windows_of_practice() {
    for windowed in [
        Windowed::convolution([4, 4], 2, 1, 0),
        Windowed::convolution([4, 5], 3, 1, 1),
        Windowed { split: 2, ..Windowed::convolution([4, 4], 3, 1, 1) },
        Windowed::pooling([6, 6], 2, 2, 0),
        Windowed::pooling([6, 7], 3, 1, 0),
    ] {
        windowed.check_results(&windowed.practice_files());
    }
    let strided = Windowed::convolution([8, 7], 3, 2, 1);
    let error = run(&strided.practice_files(), Some(&strided.program())).unwrap_err().to_string();
    assert!(error.contains("the file does not say how many points the input has"), "{error}");
}

fn member(files: &Files, path: &str) -> Value {
    let file: Value = serde_json::from_slice(&files["sdsc_0.json"]).unwrap();
    file.pointer(&to_pointer(&file, path)).unwrap().clone()
}

#[test]
fn states_padding_and_unneeded_points() {
    let files = Windowed::convolution([8, 8], 3, 2, 1).released_files();
    let window = json!({"padFront_": 1, "padBack_": 0, "unneededPad_": 1, "unneededPadFront_": 0, "unneededPadBack_": 1,
                        "totalSize_": 10, "stride_": 2, "dilation_": 1, "windowDim_": "ki"});
    for stage in ["N_", "dataStageParam_/0/ss_", "dataStageParam_/0/el_"] {
        assert_eq!(member(&files, &format!("dsc/{stage}/paddingSizes_/i")), window, "{stage}");
    }
    assert_eq!(member(&files, "dsc/scheduleTree_/0/padding_/i"), "padded_nozeropad");
    assert_eq!(member(&files, "dsc/scheduleTree_/0/coordinates_/coordInfo/i/padding"), "padded_nozeropad");
    let plain = Windowed::convolution([4, 4], 2, 1, 0).released_files();
    assert_eq!(member(&plain, "dsc/scheduleTree_/0/padding_/i"), "padded_fullspan_wunneeded");
}

#[test]
fn states_windows_of_one_core() {
    let files = Windowed { split: 3, ..Windowed::convolution([4, 4], 2, 1, 0) }.released_files();
    let window = |path: &str| {
        let found = member(&files, &format!("dsc/{path}/paddingSizes_/i"));
        ["padFront_", "padBack_", "totalSize_"].map(|name| found[name].as_i64().unwrap())
    };
    assert_eq!(window("N_"), [0, 0, 4]);
    assert_eq!(window("dataStageParam_/0/ss_"), [-1, -1, 2]);
    assert_eq!(window("dataStageParam_/0/el_"), [-1, -1, 2]);
    assert_eq!(member(&files, "dsc/dataStageParam_/0/ss_/paddingSizes_/j/totalSize_"), 4);
}

#[test]
fn states_presence_in_memory_of_node_only() {
    let files = Windowed::convolution([4, 4], 2, 1, 0).released_files();
    let memory = member(&files, "dsc/labeledDs_/0/memOrg_");
    assert_eq!((&memory["hbm"]["isPresent"], &memory["lx"]), (&json!(1), &json!({"isPresent": 0})));
}

#[test]
fn rejects_slices_that_start_beside_their_windows() {
    let windowed = Windowed { split: 2, ..Windowed::convolution([8, 8], 2, 2, 0) };
    let mut sdsc: Sdsc = parse(&windowed.practice_files()["sdsc_0.json"]).unwrap();
    let error = convert_to_release(&mut sdsc, &windowed.op()).unwrap_err().to_string();
    assert!(error.contains("start 1024 elements apart, but the windows of two cores start 2048"), "{error}");
}

#[test]
fn reads_padding_kinds_of_coordinates() {
    let windowed = Windowed::convolution([4, 4], 2, 1, 0);
    let mut files = windowed.released_files();
    remove(&mut files, "dsc/scheduleTree_/0/padding_");
    windowed.check_results(&files);
}

#[test]
fn rejects_copies_of_sticks() {
    let windowed = Windowed::convolution([4, 4], 2, 1, 0);
    let mut files = windowed.released_files();
    set(&mut files, "dsc/primaryDsInfo_/INPUT/stickRepl_", json!([2]));
    let error = run(&files, Some(&windowed.program())).unwrap_err().to_string();
    assert!(error.contains("sticks with 2 copies (stickRepl_)"), "{error}");
}

#[test]
fn rejects_windows_beyond_input() {
    let windowed = Windowed::convolution([4, 4], 2, 1, 0);
    let mut files = windowed.released_files();
    json(&mut files, "sdsc_0.json", |file| {
        let path = to_pointer(file, "dsc/N_/paddingSizes_/i/totalSize_");
        *file.pointer_mut(&path).unwrap() = json!(3);
    });
    let error = run(&files, Some(&windowed.program())).unwrap_err().to_string();
    assert!(error.contains("the windows along 'i' read 4 points of 3"), "{error}");
}
