//! Random grouped convolutions, each executed and compared with MLIR's JIT. Strides, dilations, windows and borders
//! differ per dimension; weights may be dilated, channels alone, and convolutions one- or two-dimensional.
//!
//! `SPYRE_CONVOLUTIONS=2000 cargo test --test compiler -- convolutions::` runs 2,000 cases, `SPYRE_CONVOLUTION=17` one.

#![allow(clippy::unwrap_used, reason = "a test over programs")]

use crate::common::tiled::{ExecutionFailure, check_against_jit};
use half::f16;
use referee::{ArrayElements, HostArray};
use spyre_compiler::pipeline::CompileOptions;
use std::{env, fmt::Write as _};

/// Number of random convolutions by default.
const DEFAULT_CASES: u64 = 16;

/// A convolution with two window dimensions.
#[derive(Clone, Debug)]
struct Convolution {
    element: &'static str,
    /// Results along each dimension of the window.
    results: Vec<u64>,
    window: Vec<u64>,
    strides: Vec<u64>,
    dilations: Vec<u64>,
    /// Zeros on both sides of the input.
    border: Vec<u64>,
    /// Stride of the weights in the tensor into which they are written, as in transposed convolutions.
    spread: Vec<u64>,
    batch: u64,
    groups: u64,
    channels: u64,
    filters: u64,
    /// Whether groups and channels are one dimension of the arguments.
    is_flat: bool,
}

/// Random generator; the numbers of a case are determined by its number.
struct ConvolutionRandom(u64);

impl ConvolutionRandom {
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        choices[(self.0 >> 33) as usize % choices.len()]
    }
}

impl Convolution {
    fn from_case_number(number: u64) -> Self {
        let mut draws = ConvolutionRandom(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66);
        let rank = draws.pick(&[1, 2, 2, 2]);
        let mut along = |choices: &[u64]| (0..rank).map(|_| draws.pick(choices)).collect::<Vec<_>>();
        let (results, window, strides) = (along(&[3, 5, 1, 4]), along(&[3, 1, 2, 3]), along(&[1, 1, 2, 3]));
        let (dilations, border, spread) = (along(&[1, 2, 1, 3]), along(&[0, 1, 0, 2]), along(&[1, 2, 1, 1]));
        Self {
            element: draws.pick(&["f32", "f32", "f16"]),
            results,
            window,
            strides,
            dilations,
            border,
            spread,
            batch: draws.pick(&[1, 1, 2]),
            groups: draws.pick(&[2, 3, 8, 1]),
            channels: draws.pick(&[4, 1, 8, 3]),
            filters: draws.pick(&[1, 2, 4]),
            is_flat: draws.pick(&[true, false]),
        }
    }

    fn tensor(&self, sizes: &[u64]) -> String {
        let sizes: String = sizes.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{sizes}{}>", self.element)
    }

    /// Returns the sizes of the window in the tensor with the dilated weights.
    fn dilated_window(&self) -> Vec<u64> {
        self.window.iter().zip(&self.spread).map(|(size, spread)| (size - 1) * spread + 1).collect()
    }

    /// Returns the sizes of the input, including borders.
    fn padded_sizes(&self) -> Vec<u64> {
        let reach = self.dilated_window();
        (0..reach.len())
            .map(|dim| (self.results[dim] - 1) * self.strides[dim] + (reach[dim] - 1) * self.dilations[dim] + 1)
            .collect()
    }

    /// Returns the borders, reduced so that the input is not empty.
    fn clamped_border(&self) -> Vec<u64> {
        self.border.iter().zip(self.padded_sizes()).map(|(border, size)| (*border).min((size - 1) / 2)).collect()
    }

    /// Returns the shapes of the input and of the weights.
    fn arguments(&self) -> [Vec<u64>; 2] {
        let inner = self.padded_sizes().into_iter().zip(self.clamped_border()).map(|(size, border)| size - 2 * border);
        let channels = if self.is_flat { vec![self.groups * self.channels] } else { vec![self.groups, self.channels] };
        let filters = if self.is_flat { vec![self.groups * self.filters] } else { vec![self.groups, self.filters] };
        let input = [self.batch].into_iter().chain(inner).chain(channels).collect();
        [input, self.window.iter().copied().chain([self.channels]).chain(filters).collect()]
    }

    /// Returns the program: a `linalg.generic` multiplies and sums elements of `x` and `w`.
    fn text(&self) -> String {
        let rank = self.window.len();
        let [of_x, of_w] = self.arguments();
        let (groups, channels, filters) = (self.groups, self.channels, self.filters);
        let result: Vec<u64> = [self.batch].iter().chain(&self.results).copied().chain([groups, filters]).collect();
        let mut text = format!(
            "func.func @main(%x: {}, %w: {}) -> {} {{\n  %zero = arith.constant 0.0 : {}\n",
            self.tensor(&of_x),
            self.tensor(&of_w),
            self.tensor(&result),
            self.element
        );
        let mut x = ("%x".to_owned(), of_x);
        if self.clamped_border().iter().any(|border| *border > 0) {
            let after = x.1.len() - rank - 1;
            let border: Vec<u64> = [0].into_iter().chain(self.clamped_border()).chain(vec![0; after]).collect();
            let padded: Vec<u64> = x.1.iter().zip(&border).map(|(size, border)| size + 2 * border).collect();
            let indices: Vec<String> = (0..border.len()).map(|dim| format!("%i{dim}: index")).collect();
            let _ = writeln!(
                text,
                "  %padded = tensor.pad %x low{border:?} high{border:?} {{\n  ^bb0({}):\n    tensor.yield %zero : {}\n  }} : {} to {}",
                indices.join(", "),
                self.element,
                self.tensor(&x.1),
                self.tensor(&padded)
            );
            x = ("%padded".to_owned(), padded);
        }
        let mut w = ("%w".to_owned(), of_w);
        if self.spread.iter().any(|spread| *spread > 1) {
            let spread: Vec<u64> = self.dilated_window().into_iter().chain(w.1[rank..].iter().copied()).collect();
            let strides: Vec<u64> = self.spread.iter().copied().chain(vec![1; w.1.len() - rank]).collect();
            let (of_part, of_spread) = (self.tensor(&w.1), self.tensor(&spread));
            let _ = writeln!(
                text,
                "  %e = tensor.empty() : {of_spread}\n  %f = linalg.fill ins(%zero : {}) outs(%e : {of_spread}) -> {of_spread}\n  \
                 %spread = tensor.insert_slice %w into %f{:?} {:?} {strides:?} : {of_part} into {of_spread}",
                self.element,
                vec![0; strides.len()],
                w.1
            );
            w = ("%spread".to_owned(), spread);
        }
        if self.is_flat {
            for (name, (value, shape), last) in [("xg", &mut x, channels), ("wg", &mut w, filters)] {
                let whole = shape.len() - 1;
                let apart: Vec<u64> = shape[..whole].iter().copied().chain([groups, last]).collect();
                let groups: Vec<String> =
                    (0..whole).map(|dim| format!("[{dim}]")).chain([format!("[{whole}, {}]", whole + 1)]).collect();
                let _ = writeln!(
                    text,
                    "  %{name} = tensor.expand_shape {value} [{}] output_shape {apart:?} : {} into {}",
                    groups.join(", "),
                    self.tensor(shape),
                    self.tensor(&apart)
                );
                (*value, *shape) = (format!("%{name}"), apart);
            }
        }
        text + &self.product(&x, &w, &result)
    }

    /// Writes the contraction. Its dimensions are the batch, results, the group, the filter, the window, and the
    /// channel.
    fn product(&self, x: &(String, Vec<u64>), w: &(String, Vec<u64>), result: &[u64]) -> String {
        let rank = self.window.len();
        let (group, filter, channel) = (rank + 1, rank + 2, 2 * rank + 3);
        let index = |dim: usize| {
            format!("d{} * {} + d{} * {}", dim + 1, self.strides[dim], dim + rank + 3, self.dilations[dim])
        };
        let list = |dims: &[usize]| dims.iter().map(|dim| format!("d{dim}")).collect::<Vec<_>>().join(", ");
        let dims = list(&(0..=channel).collect::<Vec<_>>());
        let windows: Vec<String> = (0..rank).map(index).collect();
        let results: Vec<usize> = (0..=rank).collect();
        let window: Vec<usize> = (rank + 3..channel).collect();
        let maps = [
            format!("d0, {}, d{group}, d{channel}", windows.join(", ")),
            format!("{}, d{channel}, d{group}, d{filter}", list(&window)),
            format!("{}, d{group}, d{filter}", list(&results)),
        ];
        let maps: Vec<String> = maps.iter().map(|map| format!("affine_map<({dims}) -> ({map})>")).collect();
        let iterators: Vec<String> =
            (0..=channel).map(|dim| if dim > filter { "\"reduction\"" } else { "\"parallel\"" }.to_owned()).collect();
        let (of_result, element) = (self.tensor(result), self.element);
        format!(
            "  %empty = tensor.empty() : {of_result}\n  \
             %start = linalg.fill ins(%zero : {element}) outs(%empty : {of_result}) -> {of_result}\n  \
             %y = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} ins({}, {} : {}, {}) outs(%start : {of_result}) {{\n  \
             ^bb0(%a: {element}, %b: {element}, %sum: {element}):\n    %p = arith.mulf %a, %b : {element}\n    \
             %s = arith.addf %sum, %p : {element}\n    linalg.yield %s : {element}\n  }} -> {of_result}\n  return %y : {of_result}\n}}\n",
            maps.join(", "),
            iterators.join(", "),
            x.0,
            w.0,
            self.tensor(&x.1),
            self.tensor(&w.1)
        )
    }

    /// Returns distinct numbers of both signs.
    fn build_inputs(&self) -> Vec<HostArray> {
        let array = |(position, shape): (usize, Vec<u64>)| {
            let length = shape.iter().product::<u64>() as usize;
            let number = |index: usize| ((index * 37 + position * 11) % 199) as f32 / 100.0 - 0.7;
            let numbers = (0..length).map(number);
            let elements = match self.element {
                "f16" => ArrayElements::F16(numbers.map(|number| f16::from_f32(number).to_bits()).collect()),
                _ => ArrayElements::F32(numbers.collect()),
            };
            HostArray { shape: shape.iter().map(|size| *size as i64).collect(), elements }
        };
        self.arguments().into_iter().enumerate().map(array).collect()
    }

    /// Returns a description of the failure, or `None`; a rejection is a failure.
    fn find_failure(&self) -> Option<String> {
        let message = match check_against_jit(&self.text(), &CompileOptions::default(), &self.build_inputs()).err()? {
            ExecutionFailure::Rejected(message) => format!("refused: {message}"),
            ExecutionFailure::Broken(what, message) => format!("{what}: {message}"),
        };
        Some(format!("{message}\n{self:?}\n{}", self.text()))
    }
}

#[test]
fn computes_grouped_convolutions() {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse().unwrap());
    let cases = number("SPYRE_CONVOLUTION")
        .map_or_else(|| 0..number("SPYRE_CONVOLUTIONS").unwrap_or(DEFAULT_CASES), |one| one..one + 1);
    let faults: Vec<String> = cases
        .filter_map(|number| {
            Convolution::from_case_number(number).find_failure().map(|fault| format!("convolution {number}: {fault}"))
        })
        .collect();
    assert!(faults.is_empty(), "{} are wrong:\n{}", faults.len(), faults.join("\n"));
}
