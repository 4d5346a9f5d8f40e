//! Invariants of the files of every bundle: the equalities of "SuperDSC schema, section 10", and the absence of panics.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use machine::DeviceFormat;
use program::layout::CoordinateTerm;
use proptest::prelude::*;
use sdsc_format::model;
use spyre_compiler::launch::symbols::MemoryMap;
use spyre_compiler::launch::{Execute, Stmt};
use spyre_compiler::sdsc;
use spyre_compiler::{
    bundle::{
        Allocation, Bundle, BundleItem, Coordinate, CoordinateSource, ElementArrangement, IterationDim, OpSpec,
        OpSpecOperand, OpWindow, OwnedDim, Ownership, SymbolicDim, WindowAxis,
    },
    launch::Launch,
};

fn operand(format: DeviceFormat, device_size: Vec<i64>, coordinates: Vec<Coordinate>) -> OpSpecOperand {
    OpSpecOperand {
        is_input: true,
        format,
        arrangement: ElementArrangement::Standard,
        device_size,
        coordinates,
        allocation: Allocation::Hbm { argument: 0, offset_bytes: 0 },
        tile_advance: vec![],
        name: None,
        ownership: None,
    }
}

/// Returns a matrix whose stick is along dimension `column`; sparse without it.
fn matrix(format: DeviceFormat, rows: (usize, i64), columns: Option<(usize, i64)>) -> OpSpecOperand {
    let stick = format.elements_per_stick();
    let row = Coordinate::dim(rows.0);
    match columns {
        Some((dim, size)) => {
            let coordinates = vec![Coordinate::floordiv(dim, stick), row, Coordinate::modulo(dim, stick)];
            operand(format, vec![(size + stick - 1) / stick, rows.1, stick], coordinates)
        }
        None => operand(format, vec![1, rows.1, stick], vec![Coordinate::constant(0), row, Coordinate::constant(0)]),
    }
}

fn finish(function: &str, is_reduction: bool, dims: &[(i64, i64)], mut operands: Vec<OpSpecOperand>) -> OpSpec {
    for (operand, argument) in operands.iter_mut().zip(0..) {
        operand.allocation = Allocation::Hbm { argument, offset_bytes: 0 };
    }
    if let Some(last) = operands.last_mut() {
        last.is_input = false;
    }
    let iteration_space = dims.iter().map(|(range, split)| IterationDim::new(*range, *split)).collect();
    OpSpec { function: function.to_owned(), is_reduction, iteration_space, operands, ..OpSpec::default() }
}

/// Generates ops as the compiler emits them: every slice has complete sticks.
fn good_op() -> impl Strategy<Value = OpSpec> {
    let sizes = (1..5_i64, 0..3_u32, 1..4_i64, 0..2_u32, 1..4_i64, 0..2_u32);
    (sizes, 0..5_usize, prop_oneof![Just(DeviceFormat::Sen169Fp16), Just(DeviceFormat::IeeeFp32)]).prop_map(
        |(sizes, kind, format)| {
            let (rows, row_split, columns, column_split, depth, depth_split) = sizes;
            let (row_split, column_split, depth_split) = (1 << row_split, 1 << column_split, 1 << depth_split);
            let stick = format.elements_per_stick();
            let (m, n, k) = (rows * row_split, columns * column_split * stick, depth * depth_split * stick);
            let two = [(m, row_split), (n, column_split)];
            let dense = || matrix(format, (0, m), Some((1, n)));
            match kind {
                0 => finish("add", false, &two, vec![dense(), dense(), dense()]),
                1 => finish("sub", false, &two, vec![dense(), matrix(format, (0, m), None), dense()]),
                2 => finish("sum", true, &[(m, row_split), (n, 1)], vec![dense(), matrix(format, (0, m), None)]),
                3 => {
                    let transposed = matrix(format, (1, n), Some((0, k)));
                    let target = matrix(format, (0, k), Some((1, n)));
                    finish("ReStickifyOpHBM", false, &[(k, depth_split), (n, column_split)], vec![transposed, target])
                }
                _ => {
                    let left = matrix(format, (0, m), Some((2, k)));
                    let right = matrix(format, (2, k), Some((1, n)));
                    let dims = [(m, row_split), (n, column_split), (k, depth_split)];
                    finish("batchmatmul", true, &dims, vec![left, right, dense()])
                }
            }
        },
    )
}

fn executes(body: &[Stmt]) -> Vec<&Execute> {
    body.iter()
        .flat_map(|statement| match statement {
            Stmt::Execute(execute) => vec![execute],
            Stmt::For { body, .. } => executes(body),
            _ => vec![],
        })
        .collect()
}

fn check_equalities(operation: &model::Operation, name: &str) {
    let dsc = &operation.dscs[0];
    let cores = operation.n_cores;
    let counts = [
        operation.core_fold.factor,
        dsc.value.n_cores,
        dsc.value.core_ids.len() as i64,
        operation.core_to_dsc.iter().count() as i64,
        operation.core_to_slice.iter().count() as i64,
        operation.core_to_schedule.iter().count() as i64,
        operation.slices.iter().map(|(_, slices)| slices).product(),
    ];
    assert!(counts.iter().all(|count| *count == cores), "{counts:?}");
    assert_eq!(name.split_once('_').unwrap().1, dsc.name);
    assert_eq!(dsc.value.compute[0].function, dsc.name);
    let stages = &dsc.value.stages.core;
    assert_eq!(stages.steady, stages.end);
    for (dim, slices) in operation.slices.iter() {
        assert_eq!(stages.steady.sizes.get(dim).unwrap() * slices, dsc.value.space.sizes.get(dim).unwrap());
    }
    for (node, tensor) in dsc.value.nodes.iter().zip(&dsc.value.tensors) {
        check_tensor(&dsc.value, node, tensor, cores);
    }
}

fn check_tensor(dsc: &model::Dsc, node: &model::AllocateNode, tensor: &model::TensorInfo, cores: i64) {
    let class = dsc.classes.get(&tensor.class).unwrap();
    let n = class.order.len();
    assert_eq!(
        [node.order.len(), node.page_sizes.len(), tensor.scales.len(), node.coordinates.dims.iter().count()],
        [n; 4]
    );
    assert!(node.order.iter().all(|label| class.order.contains(label)));
    assert_eq!((node.start.data.iter().count() as i64, node.start.folds[0].factor), (cores, cores));
    for ((label, info), scale) in node.coordinates.dims.iter().zip(&tensor.scales) {
        let product: i64 = info.folds.folds.iter().map(|fold| fold.factor).product();
        assert!(*scale != 1 || Some(product) == dsc.space.sizes.get(label), "{label}: {product}");
    }
}

proptest! {
    #[test]
    fn files_satisfy_the_equalities_of_the_format(ops in prop::collection::vec(good_op(), 1..4)) {
        let bundle = Bundle { pool_bytes: 0, items: ops.into_iter().map(|op| BundleItem::Op(Box::new(op))).collect() };
        let launch = Launch::new(&bundle).unwrap();
        let mut last_id = 0;
        for ((index, op), execute) in bundle.ops().into_iter().enumerate().zip(executes(&launch.body)) {
            let sdsc = sdsc::from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap();
            check_equalities(&sdsc.value, &sdsc.name);
            let ids = execute.symbol_ids.as_ref().unwrap();
            prop_assert!(ids.windows(2).all(|pair| pair[0] > pair[1]) && ids.iter().all(|id| *id < last_id));
            last_id = *ids.last().unwrap();
            let nodes = sdsc.value.dscs[0].value.nodes.iter();
            let mut mentioned: Vec<_> = nodes.flat_map(|node| node.start.data.iter().map(|(_, id)| id.0)).collect();
            mentioned.sort_unstable_by(|left, right| right.cmp(left));
            mentioned.dedup();
            prop_assert_eq!(&mentioned, ids);
            let text = sdsc_format::to_text(&sdsc);
            let read: sdsc_format::Sdsc = serde_json::from_slice(&text).unwrap();
            prop_assert_eq!(sdsc_format::to_text(&read), text);
        }
    }

    #[test]
    fn emitter_never_panics_on_ops(op in any_op(), pool_bytes in 0..1_000_000_i64) {
        let _ = sdsc::from_op_spec(&op, 0, -1);
        let map = MemoryMap { segment_bytes: 1 << 34, segments: 7, has_pool: true };
        let _ = sdsc::from_op_spec_baked(&op, 0, &map);
        let looped = BundleItem::Loop { count: 2, symbol: None, body: vec![BundleItem::Op(Box::new(op))] };
        let _ = Launch::new(&Bundle { pool_bytes, items: vec![looped] }).map(|launch| launch.to_string());
    }
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0..5_i64, 2 => Just(64), 2 => 60..200_i64, 1 => any::<i64>(), 1 => Just(1 << 40)]
}

fn size() -> impl Strategy<Value = i64> {
    prop_oneof![12 => 1..5_i64, 2 => Just(64), 2 => 60..200_i64, 1 => number()]
}

fn any_coordinate() -> impl Strategy<Value = Coordinate> {
    let modulo = prop_oneof![Just(None), size().prop_map(Some)];
    let term = prop_oneof![
        2 => Just(None),
        8 => (0..4_usize, modulo.clone(), modulo).prop_map(|(dim, modulo, floordiv)| Some(CoordinateSource::Digits(CoordinateTerm { dim, modulo, floordiv }))),
        1 => Just(Some(CoordinateSource::Indirect("t".to_owned()))),
    ];
    (term, prop_oneof![6 => Just(0), 1 => number()]).prop_map(|(term, offset)| Coordinate { term, offset })
}

fn any_operand() -> impl Strategy<Value = OpSpecOperand> {
    let format = (0..7_usize).prop_map(|index| DeviceFormat::ALL[index]);
    let arrangement = (0..6_usize).prop_map(|index| ElementArrangement::ALL[index]);
    let axes = prop::collection::vec((size(), any_coordinate()), 0..5);
    let allocation = (0..3_u8, 0..9_u32, number()).prop_map(|(kind, argument, offset_bytes)| match kind {
        0 => Allocation::Hbm { argument, offset_bytes },
        1 => Allocation::Pool { offset_bytes },
        _ => Allocation::Lx { offset_bytes },
    });
    let owned = prop::collection::vec((0..4_usize, number(), number()), 0..3);
    let ownership = prop_oneof![5 => Just(None), 1 => owned.prop_map(|dims| {
        Some(Ownership { dims: dims.into_iter().map(|(dim, slices, divisor)| OwnedDim { dim, slices, divisor }).collect() })
    })];
    let name = prop_oneof![4 => Just(None), 1 => Just(Some("t".to_owned()))];
    let advance = prop::collection::vec(number(), 0..2);
    let parts = (format, arrangement, axes, any_coordinate(), allocation, advance, name, ownership);
    parts.prop_map(|(format, arrangement, axes, last, allocation, tile_advance, name, ownership)| {
        let (mut sizes, mut coordinates): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        sizes.push(format.elements_per_stick());
        coordinates.push(last);
        OpSpecOperand { arrangement, allocation, tile_advance, name, ownership, ..operand(format, sizes, coordinates) }
    })
}

fn any_axis() -> impl Strategy<Value = WindowAxis> {
    let parts = (size(), size(), number(), prop_oneof![Just(None), number().prop_map(Some)]);
    parts.prop_map(|(kernel, stride, padding, total_size)| WindowAxis {
        kernel,
        stride,
        padding,
        dilation: 1,
        total_size,
    })
}

fn any_op() -> impl Strategy<Value = OpSpec> {
    const FUNCTIONS: [&str; 13] = [
        "add",
        "exp",
        "sum",
        "identity",
        "batchmatmul",
        "batchmatmulfp8",
        "conv2d",
        "depthwiseconv2dnative",
        "avgpoolfwd",
        "topkvalue",
        "layernormscale",
        "dl16tofp32",
        "ReStickifyOpHBM",
    ];
    let symbolic = prop_oneof![6 => Just(None), 1 => (number(), number()).prop_map(|(max, granularity)| {
        Some(SymbolicDim { symbol: "s".to_owned(), max, granularity })
    })];
    let dim = (size(), 1..3_i64, symbolic)
        .prop_map(|(range, split, symbolic)| IterationDim { symbolic, ..IterationDim::new(range, split) });
    let window = (any_axis(), any_axis()).prop_map(|(height, width)| OpWindow { height, width, pad_type: None });
    let ranges = prop_oneof![1 => Just(None), 3 => prop::array::uniform4(size()).prop_map(Some)];
    let parts = (
        0..FUNCTIONS.len(),
        any::<bool>(),
        prop::collection::vec(dim, 0..7),
        prop::collection::vec(any_operand(), 0..4),
        prop_oneof![Just(None), window.prop_map(Some)],
        ranges,
    );
    parts.prop_map(|(function, is_reduction, iteration_space, operands, window, node_output_ranges)| OpSpec {
        function: FUNCTIONS[function].to_owned(),
        is_reduction,
        iteration_space,
        operands,
        constants: vec![],
        window,
        node_output_ranges,
    })
}
