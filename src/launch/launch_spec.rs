//! Builds `launch_spec.json` of each launch, from the program and the arguments that its ops write ("launch
//! specification").

use crate::bundle::{Allocation, OpSpec};
use machine::{DeviceFormat, ElementType};
use sdsc_format::OutputFile;
use sdsc_format::launch_spec::{
    ArgDimSize, ArgLayout, ArgRole, ArgSpec, EMITTER_NAME, LAUNCH_SPEC_FILE, LaunchSpec, SizeRange, SymbolKind,
};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use std::collections::BTreeSet;

/// Returns the kernel arguments that an op writes.
pub fn written_arguments(op: &OpSpec) -> impl Iterator<Item = usize> {
    op.operands.iter().filter(|operand| !operand.is_input).filter_map(|operand| match operand.allocation {
        Allocation::Hbm { argument, .. } => usize::try_from(argument).ok(),
        Allocation::Pool { .. } | Allocation::Lx { .. } => None,
    })
}

/// Returns the files of a program. `written` has, for each launch, the kernel arguments that its ops write, or `None`
/// if its addresses are in the files. Launchers reject a kernel of the latter kind, so it has no launch specification.
///
/// # Errors
/// If a launch names an unknown tensor, or a tensor has an unknown type.
pub fn build_launch_spec_files(
    program: &Program,
    written: &[Option<BTreeSet<usize>>],
) -> Result<Vec<OutputFile>, String> {
    let mut defined: BTreeSet<&str> =
        program.arguments.iter().chain(&program.constants).map(|tensor| tensor.name.as_str()).collect();
    let mut files = Vec::new();
    for (number, (launch, written)) in program.launches.iter().zip(written).enumerate() {
        let Some(written) = written else { continue };
        let spec = LaunchSpec {
            version: sdsc_format::FormatVersion,
            kernel_name: format!("{}_{number}", program.name),
            pool_size: 0,
            bundle_symbolic_args: true,
            emitter: Some(EMITTER_NAME.to_owned()),
            symbol_kinds: collect_symbol_kinds(program, launch),
            symbols: launch
                .sizes
                .iter()
                .filter_map(|name| program.size(name))
                .map(|size| (size.name.clone(), SizeRange { min: size.granularity, max: size.maximum }))
                .collect(),
            args: collect_arguments(program, launch, written, &defined)?,
        };
        files.push(OutputFile { path: format!("{}/{LAUNCH_SPEC_FILE}", launch.bundle), content: spec.to_text() });
        defined.extend(written.iter().filter_map(|argument| launch.arguments.get(*argument)).map(String::as_str));
    }
    Ok(files)
}

/// Returns the parameters of the function of `bundle.mlir`: the arguments, then the sizes.
fn collect_symbol_kinds(program: &Program, launch: &LaunchEntry) -> Vec<SymbolKind> {
    let kernel = (0..).take(launch.arguments.len()).map(SymbolKind::kernel);
    let sizes = launch.sizes.iter().filter_map(|name| program.size(name));
    kernel.chain(sizes.map(|size| SymbolKind::dimension(size.name.clone(), size.granularity, size.maximum))).collect()
}

/// Returns the arguments of a launch. `defined` has the names of the tensors with values before the launch.
fn collect_arguments(
    program: &Program,
    launch: &LaunchEntry,
    written: &BTreeSet<usize>,
    defined: &BTreeSet<&str>,
) -> Result<Vec<ArgSpec>, String> {
    let role = |argument: usize, name: &str| match (written.contains(&argument), defined.contains(name)) {
        (false, _) => ArgRole::Input,
        (true, false) => ArgRole::Output,
        (true, true) => ArgRole::InputOutput,
    };
    let spec = |(argument, name): (usize, &String)| {
        let tensor = program.tensors().find(|tensor| tensor.name == *name);
        let tensor = tensor
            .ok_or_else(|| format!("launch '{}' names '{name}', which is no tensor of the program", launch.bundle))?;
        describe_argument(tensor, argument, role(argument, name))
    };
    launch.arguments.iter().enumerate().map(spec).collect()
}

fn describe_argument(tensor: &Tensor, argument: usize, role: ArgRole) -> Result<ArgSpec, String> {
    let reject = |error: &dyn std::fmt::Display| format!("'{}': {error}", tensor.name);
    let element: ElementType = tensor.element_type.parse().map_err(|error| reject(&error))?;
    let format: DeviceFormat = tensor.format.parse().map_err(|error| reject(&error))?;
    let mut shape: Vec<ArgDimSize> = tensor.shape.iter().copied().map(ArgDimSize::Fixed).collect();
    for symbolic in &tensor.symbolic {
        let extent =
            shape.get_mut(symbolic.dim).ok_or_else(|| reject(&format_args!("has no dimension {}", symbolic.dim)))?;
        *extent = ArgDimSize::Symbol(symbolic.size.clone());
    }
    Ok(ArgSpec {
        arg_index: argument as i64,
        role,
        shape,
        dtype: element.launch_type(format).torch_name().to_owned(),
        layout: Some(describe_layout(tensor, format.elements_per_stick())),
    })
}

/// Returns the layout of a tensor: padding of the standard tiling, or the device shape if the tensor is tiled in
/// another way.
fn describe_layout(tensor: &Tensor, stick: i64) -> ArgLayout {
    let (stick_size, no_padding) = (vec![stick], vec![0; tensor.shape.len()]);
    match compute_standard_padding(tensor, stick) {
        Some(padding) => ArgLayout { stick_size, padding, device_size: None, stride_map: None },
        None => ArgLayout {
            stick_size,
            padding: no_padding,
            device_size: Some(tensor.device_size.clone()),
            stride_map: Some(tensor.stride_map.clone()),
        },
    }
}

/// Device dimension of the standard tiling.
struct StandardDim {
    /// Number of the host dimension.
    dim: usize,
    /// Host elements along it per position: the elements of a stick, or 1.
    step: i64,
    /// Number of positions that the host's elements need.
    size: i64,
    /// Host elements that one position moves.
    stride: i64,
}

/// Returns the elements beyond the host's size and the remainder of the last stick, by host dimension. Returns `None`
/// if the tensor does not have the standard tiling (torch-spyre facts, B.2).
fn compute_standard_padding(tensor: &Tensor, stick: i64) -> Option<Vec<i64>> {
    let Tensor { shape, device_size, stride_map, .. } = tensor;
    let mut padding = vec![0; shape.len()];
    let (lanes, outer) = stride_map.split_last()?;
    // A scalar and an array without elements have the size of one stick.
    if shape.is_empty() || shape.contains(&0) {
        return device_size[..outer.len()].iter().all(|size| *size == 1).then_some(padding);
    }
    let dims = compute_standard_dims(shape, stick);
    let is_single_lane = shape.last() == Some(&1);
    if outer.len() != dims.len() || !(is_single_lane || *lanes == 1) {
        return None;
    }
    for ((standard, size), stride) in dims.iter().zip(device_size).zip(outer) {
        if *size < standard.size || (*size > 1 && *stride != standard.stride) {
            return None;
        }
        padding[standard.dim] = (size - standard.size) * standard.step;
    }
    Some(padding)
}

/// Returns the device dimensions of the standard tiling before the lanes of a stick: the inner host dimensions, the
/// sticks of the last one, and the first host dimension.
fn compute_standard_dims(shape: &[i64], stick: i64) -> Vec<StandardDim> {
    let host_stride = |dim: usize| shape[dim + 1..].iter().product::<i64>();
    let whole = |dim: usize| StandardDim { dim, step: 1, size: shape[dim], stride: host_stride(dim) };
    let last = shape.len() - 1;
    let sticks = StandardDim { dim: last, step: stick, size: (shape[last] + stick - 1) / stick, stride: stick };
    (1..last).map(whole).chain([sticks]).chain((last > 0).then(|| whole(0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdsc_format::program::{Size, SymbolicDim};

    fn tensor(name: &str, shape: &[i64], device_size: &[i64], stride_map: &[i64]) -> Tensor {
        let (format, element_type) =
            if device_size.last() == Some(&32) { ("IEEE_INT32", "i64") } else { ("SEN169_FP16", "f16") };
        Tensor {
            name: name.to_owned(),
            shape: shape.to_vec(),
            element_type: element_type.to_owned(),
            format: format.to_owned(),
            device_size: device_size.to_vec(),
            stride_map: stride_map.to_vec(),
            ..Tensor::default()
        }
    }

    fn launch(bundle: &str, arguments: &[&str], sizes: &[&str]) -> LaunchEntry {
        let names = |names: &[&str]| names.iter().copied().map(str::to_owned).collect();
        LaunchEntry {
            bundle: bundle.to_owned(),
            arguments: names(arguments),
            sizes: names(sizes),
            ..LaunchEntry::default()
        }
    }

    fn rows(name: &str) -> Tensor {
        tensor(name, &[3, 200], &[4, 3, 64], &[64, 200, 1])
    }

    #[test]
    fn lists_inputs_and_output_of_sum() {
        let program = Program {
            name: "f".to_owned(),
            arguments: vec![rows("a"), rows("b")],
            results: vec![rows("y")],
            launches: vec![launch("bundle_0", &["a", "b", "y"], &[])],
            ..Program::default()
        };
        let files = build_launch_spec_files(&program, &[Some([2].into())]).unwrap();
        let [file] = files.as_slice() else { panic!("{files:?}") };
        assert_eq!(file.path, "bundle_0/launch_spec.json");
        let found: serde_json::Value = serde_json::from_slice(&file.content).unwrap();
        let argument = |number: i64, role: &str| {
            serde_json::json!({"arg_index": number, "role": role, "shape": [3, 200], "dtype": "float16",
                               "layout": {"stick_size": [64], "padding": [0, 0]}})
        };
        let kind =
            |number: i64| serde_json::json!({"kind": "kernel", "base_sym_idx": -1, "offset": 0, "arg_index": number});
        let expected = serde_json::json!({
            "version": 1, "kernel_name": "f_0", "pool_size": 0, "bundle_symbolic_args": true, "emitter": "sdsc",
            "symbol_kinds": [kind(0), kind(1), kind(2)],
            "args": [argument(0, "input"), argument(1, "input"), argument(2, "output")],
        });
        assert_eq!(found, expected);
        assert_eq!(build_launch_spec_files(&program, &[None]).unwrap(), [], "a kernel with addresses in its files");
        let unknown = Program { results: vec![rows("z")], ..program };
        let rejected = build_launch_spec_files(&unknown, &[Some([2].into())]).unwrap_err();
        assert_eq!(rejected, "launch 'bundle_0' names 'y', which is no tensor of the program");
    }

    #[test]
    fn marks_earlier_results_as_input_output() {
        let program = Program {
            arguments: vec![rows("a")],
            results: vec![rows("y")],
            buffers: vec![rows("t")],
            launches: vec![launch("one", &["a", "t", "y"], &[]), launch("two", &["t", "y"], &[])],
            ..Program::default()
        };
        let files = build_launch_spec_files(&program, &[Some([1, 2].into()), Some([1].into())]).unwrap();
        let roles = |file: &OutputFile| {
            let spec: LaunchSpec = serde_json::from_slice(&file.content).unwrap();
            spec.args.iter().map(|argument| argument.role).collect::<Vec<_>>()
        };
        assert_eq!(roles(&files[0]), [ArgRole::Input, ArgRole::Output, ArgRole::Output]);
        assert_eq!(roles(&files[1]), [ArgRole::Input, ArgRole::InputOutput]);
    }

    #[test]
    fn names_size_in_shapes_and_states_bounds() {
        let mut argument = rows("a");
        argument.symbolic = vec![SymbolicDim { dim: 0, size: "s0".to_owned() }];
        let program = Program {
            arguments: vec![argument],
            sizes: vec![Size { name: "s0".to_owned(), maximum: 3, granularity: 1 }],
            launches: vec![launch("bundle_0", &["a"], &["s0"])],
            ..Program::default()
        };
        let spec: LaunchSpec =
            serde_json::from_slice(&build_launch_spec_files(&program, &[Some([].into())]).unwrap()[0].content).unwrap();
        assert_eq!(spec.args[0].shape, [ArgDimSize::Symbol("s0".to_owned()), ArgDimSize::Fixed(200)]);
        assert_eq!(spec.symbols, [("s0".to_owned(), SizeRange { min: 1, max: 3 })].into());
        assert_eq!(spec.symbol_kinds, [SymbolKind::kernel(0), SymbolKind::dimension("s0".to_owned(), 1, 3)]);
    }

    #[test]
    fn keeps_integer_type_in_integer_format_only() {
        let dtype = |tensor: &Tensor| describe_argument(tensor, 0, ArgRole::Input).unwrap().dtype;
        assert_eq!(dtype(&tensor("i", &[16], &[1, 32], &[32, 1])), "int64");
        assert_eq!(dtype(&Tensor { element_type: "i64".to_owned(), ..rows("i") }), "float16");
        let rejected =
            describe_argument(&Tensor { element_type: "f19".to_owned(), ..rows("i") }, 0, ArgRole::Input).unwrap_err();
        assert_eq!(rejected, "'i': unsupported element type 'f19'");
    }

    #[test]
    fn describes_layout_as_padding_or_device_shape() {
        let padding = |shape: &[i64], device_size: &[i64], stride_map: &[i64]| {
            compute_standard_padding(&tensor("t", shape, device_size, stride_map), *device_size.last().unwrap())
        };
        for (shape, device_size, stride_map, expected) in [
            (&[120][..], &[2, 64][..], &[64, 1][..], &[0][..]),
            (&[512, 240], &[4, 512, 64], &[64, 240, 1], &[0, 0]),
            (&[512, 8, 240], &[8, 4, 512, 64], &[240, 64, 1920, 1], &[0, 0, 0]),
            (&[100, 100], &[2, 128, 64], &[64, 100, 1], &[28, 0]),
            (&[70, 7], &[1, 70, 64], &[-1, 7, 1], &[0, 0]),
            (&[70, 1], &[1, 70, 64], &[-1, 1, -1], &[0, 0]),
            (&[], &[1, 64], &[-1, -1], &[]),
            (&[4, 0, 64], &[1, 64], &[64, 1], &[0, 0, 0]),
        ] {
            assert_eq!(padding(shape, device_size, stride_map).as_deref(), Some(expected), "{shape:?}");
        }
        for (shape, device_size, stride_map) in [
            (&[512, 256][..], &[8, 256, 64][..], &[16384, 1, 256][..]),
            (&[5], &[1, 5, 64], &[-1, 1, -1]),
            (&[200], &[200, 64], &[1, -1]),
            (&[4, 32, 64], &[1, 128, 64], &[64, 64, 1]),
        ] {
            let tensor = tensor("t", shape, device_size, stride_map);
            let layout = describe_layout(&tensor, 64);
            assert_eq!(layout.device_size.as_deref(), Some(device_size), "{shape:?}");
            assert_eq!(layout.stride_map.as_deref(), Some(stride_map), "{shape:?}");
        }
    }
}
