//! Random ops of every family that the emitter supports.

use machine::DeviceFormat::{self, IeeeFp32, IeeeInt32, Sen143Fp8, Sen169Fp16};
use proptest::prelude::*;
use spyre_compiler::bundle::{
    Allocation, BundleItem, Coordinate, ElementArrangement, IterationDim, NamedConstant, OpSpec, OpSpecOperand,
    OpWindow, OwnedDim, Ownership, SymbolicDim, WindowAxis,
};

/// Returns a tensor with the dimensions `order` of a space, outermost first, and a stick along one of them.
fn tensor(format: DeviceFormat, space: &[i64], order: &[usize], stick: Option<usize>) -> OpSpecOperand {
    let per_stick = format.elements_per_stick();
    let block = |dim: usize| (Coordinate::floordiv(dim, per_stick), (space[dim] + per_stick - 1) / per_stick);
    let axis = |dim: &usize| if Some(*dim) == stick { block(*dim) } else { (Coordinate::dim(*dim), space[*dim]) };
    let (mut coordinates, mut device_size): (Vec<_>, Vec<_>) = order.iter().map(axis).unzip();
    if stick.is_none() || order.len() == 1 {
        coordinates.insert(0, Coordinate::constant(0));
        device_size.insert(0, 1);
    }
    coordinates.push(stick.map_or(Coordinate::constant(0), |dim| Coordinate::modulo(dim, per_stick)));
    device_size.push(per_stick);
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

/// Returns the op, with each tensor in an argument of its own.
fn op(function: &str, is_reduction: bool, space: &[i64], splits: &[i64], mut operands: Vec<OpSpecOperand>) -> OpSpec {
    for (operand, argument) in operands.iter_mut().zip(0..) {
        operand.allocation = Allocation::Hbm { argument, offset_bytes: 0 };
    }
    operands.last_mut().unwrap().is_input = false;
    let mut iteration_space: Vec<_> =
        space.iter().zip(splits).map(|(range, split)| IterationDim::new(*range, *split)).collect();
    if function == "exp" {
        // The cores in a permuted order: the last dimension is the fastest.
        let mut cores = 1;
        for dim in iteration_space.iter_mut().rev() {
            dim.divisor = Some(if dim.split > 1 { cores } else { 1 });
            cores *= dim.split;
        }
    }
    OpSpec { function: function.to_owned(), is_reduction, iteration_space, operands, ..OpSpec::default() }
}

/// Makes the tensor a slice of a larger one: `more` positions along a device dimension, beginning at `start`.
fn slice(operand: &mut OpSpecOperand, position: usize, more: i64, start: i64) {
    operand.device_size[position] += more;
    operand.coordinates[position].offset = start.min(more);
}

/// Generates sizes and splits of a space. Slices along the last dimension consist of complete sticks, unless there is
/// only one.
fn space(n: usize, per_stick: i64) -> impl Strategy<Value = (Vec<i64>, Vec<i64>)> {
    let outer = prop::collection::vec((1..6_i64, 0..3_u32), n - 1);
    let last = prop_oneof![
        (1..4_i64, 0..2_u32).prop_map(move |(sticks, split)| (sticks * per_stick, split)),
        (1..200_i64).prop_map(|size| (size, 9))
    ];
    (outer, last).prop_map(|(mut dims, last)| {
        dims.push(last);
        let split = |split: u32| if split == 9 { 1 } else { 1 << split };
        let mut cores = 1;
        let splits: Vec<_> = dims
            .iter()
            .map(|(_, bits)| split(*bits))
            .map(|split| {
                let split = if cores * split > 32 { 1 } else { split };
                cores *= split;
                split
            })
            .collect();
        (dims.iter().zip(&splits).map(|((size, _), split)| size * split).collect(), splits)
    })
}

fn format() -> impl Strategy<Value = DeviceFormat> {
    prop_oneof![Just(Sen169Fp16), Just(IeeeFp32)]
}

/// Generates a pointwise op on tensors of any dimension order; inputs may be broadcast, sparse or slices of larger
/// tensors.
fn pointwise() -> impl Strategy<Value = OpSpec> {
    let sized =
        (1..5_usize, format()).prop_flat_map(|(n, format)| (Just(format), space(n, format.elements_per_stick())));
    let names = prop_oneof![Just("add"), Just("exp"), Just("identity"), Just("softplus")];
    let slices = prop::collection::vec((0..4_usize, 0..4_i64, 0..4_i64), 3);
    (sized, names, prop::collection::vec(0..32_usize, 3), slices, any::<bool>()).prop_map(
        |((format, (ranges, splits)), name, lacks, slices, has_result_stick)| {
            let n = ranges.len();
            let stick = n - 1;
            let input = |lack: usize| {
                let order: Vec<_> = (0..n).rev().filter(|dim| lack & 1 << dim == 0).collect();
                tensor(format, &ranges, &order, order.contains(&stick).then_some(stick))
            };
            let all: Vec<_> = (0..n).rev().collect();
            let result = tensor(format, &ranges, &all, has_result_stick.then_some(stick));
            let mut operands = if has_result_stick {
                vec![input(lacks[0] & lacks[1]), input(lacks[2]), result]
            } else {
                vec![input(1 << stick), result]
            };
            for (operand, (position, more, start)) in operands.iter_mut().zip(slices) {
                if position + 1 < operand.device_size.len() && operand.coordinates[position].moving_dim().is_some() {
                    slice(operand, position, more, start);
                }
            }
            let mut op = op(name, false, &ranges, &splits, operands);
            if name == "softplus" {
                op.constants = vec![
                    NamedConstant { name: "softplusBeta".to_owned(), value: 0.3 },
                    NamedConstant { name: "softplusThresh".to_owned(), value: -20.0 },
                ];
            }
            op
        },
    )
}

/// Generates a reduction along the stick dimension or another one, of an input whose stick may be incomplete.
fn reduction() -> impl Strategy<Value = OpSpec> {
    let sized =
        (2..4_usize, format()).prop_flat_map(|(n, format)| (Just(format), space(n, format.elements_per_stick())));
    let names = prop_oneof![Just("sum"), Just("max"), Just("min"), Just("mean"), Just("exx2")];
    (sized, names, any::<bool>()).prop_map(|((format, (mut ranges, mut splits)), name, along)| {
        let n = ranges.len();
        let stick = if along { n - 1 } else { 0 };
        if !along {
            ranges.swap(0, n - 1);
            splits.swap(0, n - 1);
        }
        splits[n - 1] = 1;
        let input: Vec<_> = (0..n).rev().collect();
        let output: Vec<_> = (0..n - 1).rev().collect();
        let result = tensor(format, &ranges, &output, (!along).then_some(stick));
        let mut op = op(name, true, &ranges, &splits, vec![tensor(format, &ranges, &input, Some(stick)), result]);
        if name == "mean" {
            op.constants = vec![NamedConstant { name: "scaling_factor".to_owned(), value: 1.0 / 3.0 }];
        }
        op
    })
}

fn matmul() -> impl Strategy<Value = OpSpec> {
    let dims = (0..3_usize, 1..5_i64, 0..3_u32, 1..300_i64, 1..4_i64, 0..2_u32, 1..200_i64);
    (dims, any::<bool>(), any::<bool>()).prop_map(
        |((num_batch, m, m_bits, n, k, k_bits, loose_k), is_fp8, is_exact)| {
            let mut space = vec![2; num_batch];
            let k = if is_exact { (k * 128) << k_bits } else { loose_k };
            space.extend([m << m_bits, n, k]);
            let (row, column, inner) = (num_batch, num_batch + 1, num_batch + 2);
            let mut splits = vec![1; num_batch];
            splits.extend([1 << m_bits, 1, if is_exact { 1 << k_bits } else { 1 }]);
            let order = |last: [usize; 2]| (0..num_batch).rev().chain(last).collect::<Vec<_>>();
            let format = if is_fp8 { Sen143Fp8 } else { Sen169Fp16 };
            let left = tensor(format, &space, &order([inner, row]), Some(inner));
            let mut right = tensor(format, &space, &order([column, inner]), Some(column));
            if is_fp8 {
                right.arrangement = ElementArrangement::Qfp8Wt;
            }
            let result = tensor(Sen169Fp16, &space, &order([column, row]), Some(column));
            op(if is_fp8 { "batchmatmulfp8" } else { "batchmatmul" }, true, &space, &splits, vec![left, right, result])
        },
    )
}

/// Generates a restickify of a slice of a larger tensor, of sizes that need not be multiples of a stick.
fn restickify() -> impl Strategy<Value = OpSpec> {
    (1..300_i64, 1..300_i64, 0..3_u32, prop_oneof![Just(0), 1..80_i64], 0..80_i64, any::<bool>()).prop_map(
        |(rows, columns, bits, more, start, is_three)| {
            let rows = if rows > 150 { rows / 64 * 64 } else { rows };
            let split = if rows % (64 << bits) == 0 { 1 << bits } else { 1 };
            let (mut space, mut splits) = (vec![rows, columns], vec![split, 1]);
            let mut orders = [vec![0, 1], vec![1, 0]];
            if is_three {
                space.insert(0, 4);
                splits.insert(0, 2);
                orders = [vec![1, 2, 0], vec![0, 2, 1]];
            }
            let (row, column) = (space.len() - 2, space.len() - 1);
            let mut from = tensor(Sen169Fp16, &space, &orders[0], Some(row));
            let to = tensor(Sen169Fp16, &space, &orders[1], Some(column));
            slice(&mut from, 1, more, start);
            op("ReStickifyOpHBM", false, &space, &splits, vec![from, to])
        },
    )
}

fn relayout() -> impl Strategy<Value = OpSpec> {
    let ownership = |first: usize| {
        prop_oneof![
            Just(Some(Ownership { dims: vec![OwnedDim { dim: first, slices: 8, divisor: 1 }] })),
            Just(Some(Ownership {
                dims: vec![OwnedDim { dim: 0, slices: 4, divisor: 2 }, OwnedDim { dim: 1, slices: 2, divisor: 1 }]
            })),
            Just(None),
        ]
    };
    (ownership(0), ownership(1), 0..4_i64).prop_filter_map("one ownership", |(from, to, rows)| {
        let space = [64, 8 * 64];
        let lx = |ownership: &Option<Ownership>, offset_bytes| {
            let dense = tensor(Sen169Fp16, &space, &[1, 0], Some(1));
            OpSpecOperand { allocation: Allocation::Lx { offset_bytes }, ownership: ownership.clone(), ..dense }
        };
        let operands = vec![lx(&from, 0), lx(&to, 1024)];
        let mut copy = op("identity", false, &space, &[8 >> rows, 1 << rows], operands.clone());
        copy.operands.iter_mut().zip(operands).for_each(|(to, from)| to.allocation = from.allocation);
        (from != to).then_some(copy)
    })
}

/// Generates a copy through indices: a gather, or a scatter if the result is the table.
fn indirect() -> impl Strategy<Value = OpSpec> {
    (1..100_i64, 1..3_i64, 1..4_i64, 0..5_usize, any::<bool>(), 1..600_i64).prop_map(
        |(n, blocks, m, kind, scatters, table_rows)| {
            let (space, index_order, index_stick): (Vec<i64>, Vec<usize>, Option<usize>) = match kind {
                0 => (vec![n, blocks * 64], vec![0], Some(0)),
                1 => (vec![n, blocks * 64], vec![0], None),
                2 => (vec![blocks * 64], vec![], None),
                3 => (vec![m, n, blocks * 64], vec![1, 0], Some(1)),
                _ => (vec![m, n, blocks * 64], vec![1, 0], None),
            };
            let stick = space.len() - 1;
            let mut index = tensor(IeeeInt32, &space, &index_order, index_stick);
            index.name = Some("t".to_owned());
            if index_order.is_empty() {
                index.device_size.insert(0, 1);
                index.coordinates.insert(0, Coordinate::constant(0));
            }
            let mut table = tensor(Sen169Fp16, &space, &[stick], Some(stick));
            table.coordinates[0] = Coordinate::indirect("t");
            table.device_size[0] = table_rows;
            let order: Vec<_> = (0..space.len()).rev().collect();
            let plain = tensor(Sen169Fp16, &space, &order, Some(stick));
            let operands = if scatters { vec![index, plain, table] } else { vec![index, table, plain] };
            op("identity", false, &space, &vec![1; space.len()], operands)
        },
    )
}

fn conversion() -> impl Strategy<Value = OpSpec> {
    (1..3_usize, 1..300_i64, 1..9_i64, 0..4_usize).prop_map(|(n, columns, rows, kind)| {
        let space = if n == 1 { vec![columns] } else { vec![rows * 2, columns] };
        let splits = if n == 1 { vec![1] } else { vec![2, 1] };
        let (function, from, to) = [
            ("dl16tofp32", Sen169Fp16, IeeeFp32),
            ("fp32todl16", IeeeFp32, Sen169Fp16),
            ("fp8todl16", Sen143Fp8, Sen169Fp16),
            ("qfp8ch", Sen169Fp16, Sen143Fp8),
        ][kind];
        let order: Vec<_> = (0..n).rev().collect();
        let operands = [from, to].map(|format| tensor(format, &space, &order, Some(n - 1)));
        op(function, false, &space, &splits, operands.to_vec())
    })
}

fn special() -> impl Strategy<Value = OpSpec> {
    (0..4_usize, 1..9_i64, 1..4_i64).prop_map(|(kind, rows, blocks)| {
        let space = [rows * 2, blocks * 64];
        let dense = || tensor(Sen169Fp16, &space, &[1, 0], Some(1));
        let sparse = || tensor(Sen169Fp16, &space, &[0], None);
        match kind {
            0 => {
                let mut scale = op("layernormscale", false, &space[..1], &[2], vec![sparse(), sparse()]);
                scale.constants = vec![NamedConstant { name: "eps".to_owned(), value: 1e-5 }];
                scale
            }
            1 => op(
                "layernormnorm",
                false,
                &space,
                &[2, 1],
                vec![dense(), sparse(), sparse(), tensor(Sen169Fp16, &space, &[1], Some(1)), dense()],
            ),
            2 => op("topkvalue", true, &[64, rows * 2, 4], &[1, 1, 1], {
                let space = [64, rows * 2, 4];
                vec![tensor(Sen169Fp16, &space, &[1, 0], Some(0)), tensor(Sen169Fp16, &space, &[2, 0], Some(0))]
            }),
            _ => op("topkindex", true, &[64, rows * 2], &[1, 1], {
                let space = [64, rows * 2];
                vec![tensor(Sen169Fp16, &space, &[1, 0], Some(0)), tensor(Sen169Fp16, &space, &[0], Some(0))]
            }),
        }
    })
}

fn axis(kernel: i64, stride: i64, padding: i64) -> WindowAxis {
    WindowAxis { kernel, stride, padding, dilation: 1, total_size: None }
}

/// Returns the size of an input, without padding, whose windows have `size` positions along `axis`.
fn input(size: i64, axis: WindowAxis) -> i64 {
    (size - 1) * axis.stride + axis.kernel - 2 * axis.padding
}

/// Sizes of a windowed op: ranges `[N, C, H, W]`, and channels, height and width of its input.
struct WindowedSizes {
    ranges: [i64; 4],
    inputs: [i64; 3],
    kernel: i64,
    cores: i64,
    /// Whether windows are adjacent and the input is laid out window by window.
    is_blocked: bool,
}

/// Generates a pooling, a direct or a depthwise convolution, with split heights.
fn windowed() -> impl Strategy<Value = OpSpec> {
    let window = (1..4_i64, 1..3_i64, 0..2_i64);
    let sizes = (1..4_i64, 1..3_i64, 1..3_i64, 2..4_i64, 0..3_i64, 1..3_i64);
    (0..4_usize, window, sizes).prop_map(
        |(kind, (kernel, stride, padding), (per_core, cores, batch, width, channels, inputs))| {
            let is_blocked = kind == 3;
            let mut shape =
                if is_blocked { axis(kernel, kernel, 0) } else { axis(kernel, stride, padding.min(kernel / 2)) };
            let is_pool = matches!(kind, 0 | 3);
            let channels = if is_pool { channels } else { channels.max(1) };
            let height = per_core * cores + cores;
            let (h, w) = (input(height, shape), input(width, shape));
            let ranges = [batch, (channels * 64).max(1), height, width];
            let sizes = WindowedSizes { ranges, inputs: [inputs * 64, h, w], kernel, cores, is_blocked };
            let mut op = match kind {
                1 => convolution(&sizes),
                2 => depthwise(&sizes),
                _ => pool(&sizes),
            };
            let total = |size: i64| (kind == 2).then_some(size + 2 * shape.padding);
            let height_axis = WindowAxis { total_size: total(h), ..shape };
            shape.total_size = total(w);
            op.window = Some(OpWindow { height: height_axis, width: shape, pad_type: None });
            op.node_output_ranges = Some(if kind == 2 { [1, sizes.ranges[1], height, width] } else { sizes.ranges });
            op
        },
    )
}

fn convolution(sizes: &WindowedSizes) -> OpSpec {
    let ([batch, channels, height, width], [inputs, h, w], kernel) = (sizes.ranges, sizes.inputs, sizes.kernel);
    let space = [batch, channels, height, width, inputs, kernel, kernel];
    let blocks = |dim: usize| (Coordinate::floordiv(dim, 64), space[dim] / 64);
    let at = |dim: usize, size: i64| (Coordinate::dim(dim), size);
    let unit = (Coordinate::constant(0), 1);
    let from = vec![blocks(4), at(2, h), at(5, 1), at(3, w), at(6, 1), at(0, batch)];
    let weight = vec![blocks(1), unit.clone(), at(5, kernel), at(6, kernel), at(4, inputs)];
    let to = vec![blocks(1), unit, at(2, height), at(3, width), at(0, batch)];
    let operands = [(from, 4), (weight, 1), (to, 1)].map(|(axes, stick)| windowed_tensor(axes, Some(stick))).to_vec();
    op("conv2d", true, &space, &[1, 1, sizes.cores, 1, 1, 1, 1], operands)
}

fn depthwise(sizes: &WindowedSizes) -> OpSpec {
    let ([_, channels, height, width], [_, h, w], kernel) = (sizes.ranges, sizes.inputs, sizes.kernel);
    let blocks = (Coordinate::floordiv(0, 64), channels / 64);
    let axes = |dim: usize, sizes: [i64; 2]| {
        windowed_tensor(
            vec![blocks.clone(), (Coordinate::dim(dim), sizes[0]), (Coordinate::dim(dim + 1), sizes[1])],
            Some(0),
        )
    };
    let operands = vec![axes(1, [h, w]), axes(3, [kernel, kernel]), axes(1, [height, width])];
    op("depthwiseconv2dnative", true, &[channels, height, width, kernel, kernel], &[1, sizes.cores, 1, 1, 1], operands)
}

fn pool(windowed: &WindowedSizes) -> OpSpec {
    let ([batch, channels, height, width], [_, h, w], kernel) = (windowed.ranges, windowed.inputs, windowed.kernel);
    let sizes = [(batch, 1), (height, windowed.cores), (width, 1), (channels, 1)];
    let kept: Vec<_> = sizes.into_iter().filter(|(size, _)| *size != 1).collect();
    let position = |at: usize| (sizes[at].0 != 1).then(|| sizes[..at].iter().filter(|(size, _)| *size != 1).count());
    let n = kept.len();
    let axis =
        |at: usize, size: i64| position(at).map_or((Coordinate::constant(0), size), |dim| (Coordinate::dim(dim), size));
    let stick = position(3);
    let blocks = stick.map_or((Coordinate::constant(0), 1), |dim| (Coordinate::floordiv(dim, 64), channels / 64));
    let (h, w, points) = if windowed.is_blocked { (height, width, kernel) } else { (h, w, 1) };
    let from = vec![
        blocks.clone(),
        axis(1, h),
        (Coordinate::dim(n), points),
        axis(2, w),
        (Coordinate::dim(n + 1), points),
        axis(0, batch),
    ];
    let to = vec![blocks, axis(1, height), axis(2, width), axis(0, batch)];
    let operands = [from, to].map(|axes| windowed_tensor(axes, stick)).to_vec();
    let space: Vec<_> = kept.iter().map(|(size, _)| *size).chain([kernel, kernel]).collect();
    let splits: Vec<_> = kept.iter().map(|(_, split)| *split).chain([1, 1]).collect();
    let mut pool = op("avgpoolfwd", true, &space, &splits, operands);
    pool.constants = vec![NamedConstant { name: "scaling_factor".to_owned(), value: 0.25 }];
    pool
}

fn windowed_tensor(axes: Vec<(Coordinate, i64)>, stick: Option<usize>) -> OpSpecOperand {
    let mut operand = tensor(Sen169Fp16, &[64; 7], &[0], None);
    let (coordinates, sizes): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
    let lane = stick.map_or(Coordinate::constant(0), |dim| Coordinate::modulo(dim, 64));
    operand.coordinates = coordinates.into_iter().chain([lane]).collect();
    operand.device_size = sizes.into_iter().chain([64]).collect();
    operand
}

fn symbolic() -> impl Strategy<Value = OpSpec> {
    (1..5_i64, 0..3_u32, 1..4_i64).prop_map(|(rows, bits, blocks)| {
        let space = [(rows * 64) << bits, blocks * 64];
        let dense = || tensor(Sen169Fp16, &space, &[1, 0], Some(1));
        let mut add = op("add", false, &space, &[1 << bits, 1], vec![dense(), dense(), dense()]);
        add.iteration_space[0].symbolic =
            Some(SymbolicDim { symbol: format!("s{rows}_{bits}"), max: space[0], granularity: 32 });
        add
    })
}

/// Generates any op, with each tensor at the start of an argument.
pub(crate) fn any_op() -> impl Strategy<Value = OpSpec> {
    prop_oneof![
        4 => pointwise(),
        2 => reduction(),
        2 => matmul(),
        2 => restickify(),
        1 => relayout(),
        2 => indirect(),
        1 => conversion(),
        1 => special(),
        3 => windowed(),
        1 => symbolic(),
    ]
}

/// Memory of a tensor, bytes before it, position of an added unit dimension, and two dimensions that are swapped.
type TensorChanges = (usize, i64, Option<usize>, Option<(usize, usize)>);

/// Changes of the tensors of an op.
#[derive(Clone, Debug)]
pub(crate) struct OperandChanges {
    tensors: Vec<TensorChanges>,
    /// Sticks by which the tensors of each memory advance in one iteration of each loop.
    advances: Vec<Vec<i64>>,
}

/// Generates locations, movements in loops, and unusual device shapes if `is_strange`.
pub(crate) fn changes(is_strange: bool) -> impl Strategy<Value = OperandChanges> {
    let strange = |some| if is_strange { prop::option::weighted(0.25, some).boxed() } else { Just(None).boxed() };
    let swap =
        if is_strange { prop::option::weighted(0.25, (0..4_usize, 0..4_usize)).boxed() } else { Just(None).boxed() };
    let bytes = prop_oneof![Just(0), 0..1000_i64].prop_map(|sticks| sticks * 128);
    let tensors = prop::collection::vec((0..7_usize, bytes, strange(0..4_usize), swap), 6);
    let advances = (0..3_usize).prop_flat_map(|loops| prop::collection::vec(prop::collection::vec(0..3_i64, loops), 7));
    (tensors, advances).prop_map(|(tensors, advances)| OperandChanges { tensors, advances })
}

/// Returns the op within its loops.
pub(crate) fn placed(mut op: OpSpec, changes: &OperandChanges, is_baked: bool) -> BundleItem {
    for (operand, (memory, bytes, unit, swap)) in op.operands.iter_mut().zip(&changes.tensors) {
        let n = operand.coordinates.len() - 1;
        if let Some((one, other)) = swap {
            operand.coordinates.swap(one % n, other % n);
            operand.device_size.swap(one % n, other % n);
        }
        if let Some(place) = unit {
            operand.coordinates.insert(place % (n + 1), Coordinate::constant(0));
            operand.device_size.insert(place % (n + 1), 1);
        }
        if operand.allocation.is_lx() {
            continue;
        }
        let offset_bytes = *bytes;
        operand.allocation = match memory {
            0 if operand.name.is_none() => Allocation::Lx { offset_bytes },
            1 => Allocation::Pool { offset_bytes },
            memory => Allocation::Hbm { argument: u32::try_from(memory % 4).unwrap(), offset_bytes },
        };
        let key =
            if operand.allocation.is_lx() || is_baked { None } else { Some(if *memory == 1 { 4 } else { memory % 4 }) };
        let sticks = key.map_or(&[][..], |key| &changes.advances[key]);
        operand.tile_advance = sticks.iter().map(|sticks| sticks * operand.format.elements_per_stick()).collect();
    }
    let loops = changes.advances[0].iter().filter(|_| !is_baked);
    loops.fold(BundleItem::Op(Box::new(op)), |item, _| BundleItem::Loop { count: 3, symbol: None, body: vec![item] })
}
