//! Random chains of views, compared with plain arithmetic: indices, splits and device coordinates lead to the element
//! that the chain shows.

use super::testing::{TestExpr, d, points, unflatten};
use super::{
    DeviceLayout, DimOrder, HostTensor, IndexError, OperandView, TensorIndex, ViewedOperand, make_readable,
    split_iteration,
};
use machine::DeviceFormat::Sen169Fp16;
use proptest::prelude::*;

/// Change that one view makes to the shape of its operand.
#[derive(Clone, Copy, Debug)]
enum RandomView {
    /// Swaps two dimensions.
    Swap(usize, usize),
    /// Splits a dimension in two; the inner one has this size.
    Split(usize, i64),
    /// Merges a dimension with the next one, of this size.
    Merge(usize, i64),
    /// Slices a dimension: first position, and size.
    Slice(usize, i64, i64),
    /// Inserts a new dimension of this size.
    Broadcast(usize, i64),
}

/// Shape of a buffer, views from the buffer outwards, and the shape after each view (that of the buffer first).
#[derive(Clone, Debug)]
struct ViewChain {
    steps: Vec<RandomView>,
    shapes: Vec<Vec<i64>>,
}

impl RandomView {
    /// Returns a view that fits `shape`, from four numbers. Windows begin at a multiple of their size if `is_aligned`.
    fn from_seed((kind, first, second, third): (u8, usize, usize, usize), shape: &[i64], is_aligned: bool) -> Self {
        let dim = first % shape.len();
        let size = shape[dim];
        let divisors: Vec<i64> = (1..=size).filter(|divisor| size % divisor == 0).collect();
        let divisor = divisors[second % divisors.len()];
        let pick = |number: usize, count: i64| i64::try_from(number).unwrap() % count;
        match kind % 8 {
            0 | 1 => Self::Swap(dim, second % shape.len()),
            2 | 3 => Self::Split(dim, divisor),
            4 | 5 if dim + 1 < shape.len() => Self::Merge(dim, shape[dim + 1]),
            6 if is_aligned => Self::Slice(dim, divisor * pick(third, size / divisor), divisor),
            6 => {
                let window = 1 + pick(second, size);
                Self::Slice(dim, pick(third, size - window + 1), window)
            }
            _ => Self::Broadcast(dim, [1, 2, 4][second % 3]),
        }
    }

    fn result_shape(self, after: &[i64]) -> Vec<i64> {
        let mut shape = after.to_vec();
        match self {
            Self::Swap(dim, other) => shape.swap(dim, other),
            Self::Split(dim, inner) => {
                shape[dim] /= inner;
                shape.insert(dim + 1, inner);
            }
            Self::Merge(dim, inner) => {
                shape[dim] *= inner;
                shape.remove(dim + 1);
            }
            Self::Slice(dim, _, size) => shape[dim] = size,
            Self::Broadcast(dim, size) => shape.insert(dim, size),
        }
        shape
    }

    /// Returns the point of the viewed tensor that a view shows at a point.
    fn source_point(self, viewed: &[i64]) -> Vec<i64> {
        let mut point = viewed.to_vec();
        match self {
            Self::Swap(dim, other) => point.swap(dim, other),
            Self::Split(dim, inner) => point[dim] = point[dim] * inner + point.remove(dim + 1),
            Self::Merge(dim, inner) => {
                point.insert(dim + 1, point[dim] % inner);
                point[dim] /= inner;
            }
            Self::Slice(dim, offset, _) => point[dim] += offset,
            Self::Broadcast(dim, _) => drop(point.remove(dim)),
        }
        point
    }

    /// Returns the view's map: indices into the viewed tensor in terms of the shown dimensions.
    fn source_exprs(self, rank: usize) -> Vec<TestExpr> {
        let mut exprs: Vec<TestExpr> = (0..rank).map(d).collect();
        match self {
            Self::Swap(dim, other) => exprs.swap(dim, other),
            Self::Split(dim, inner) => exprs[dim] = d(dim) * inner + exprs.remove(dim + 1),
            Self::Merge(dim, inner) => {
                exprs.insert(dim + 1, d(dim).modulo(inner));
                exprs[dim] = d(dim).floordiv(inner);
            }
            Self::Slice(dim, offset, _) => exprs[dim] = d(dim) + offset,
            Self::Broadcast(dim, _) => drop(exprs.remove(dim)),
        }
        exprs
    }
}

impl ViewChain {
    fn from_seeds(buffer: Vec<i64>, seeds: Vec<(u8, usize, usize, usize)>, is_aligned: bool) -> Self {
        let (mut steps, mut shapes) = (Vec::new(), vec![buffer]);
        for seed in seeds {
            let after = shapes.last().unwrap();
            let step = RandomView::from_seed(seed, after, is_aligned);
            let shape = step.result_shape(after);
            if shape.iter().product::<i64>() <= 4096 && shape.len() <= 6 {
                steps.push(step);
                shapes.push(shape);
            }
        }
        Self { steps, shapes }
    }

    fn buffer(&self) -> &[i64] {
        &self.shapes[0]
    }

    /// Returns the shape that an op iterates over.
    fn op_shape(&self) -> &[i64] {
        self.shapes.last().unwrap()
    }

    fn buffer_point(&self, viewed: &[i64]) -> Vec<i64> {
        self.steps.iter().rev().fold(viewed.to_vec(), |point, step| step.source_point(&point))
    }

    /// Returns the indices of one view.
    fn step_indices(&self, step: usize) -> Vec<TensorIndex> {
        let viewed = &self.shapes[step + 1];
        self.steps[step]
            .source_exprs(viewed.len())
            .iter()
            .map(|expr| TensorIndex::from_expr(&expr.0, viewed).unwrap())
            .collect()
    }

    /// Returns the buffer's indices, composed from the op inwards.
    fn compose_from_op(&self) -> Result<Vec<TensorIndex>, IndexError> {
        let viewed = self.op_shape();
        (0..self.steps.len()).rev().try_fold(identity_indices(viewed), |indices, step| {
            self.step_indices(step).iter().map(|index| index.compose(&indices, viewed)).collect()
        })
    }

    /// Returns the buffer's indices, composed from the buffer outwards.
    fn compose_from_buffer(&self) -> Result<Vec<TensorIndex>, IndexError> {
        (0..self.steps.len()).try_fold(identity_indices(self.buffer()), |indices, step| {
            let viewed = self.step_indices(step);
            indices.iter().map(|index| index.compose(&viewed, &self.shapes[step + 1])).collect()
        })
    }
}

fn identity_indices(sizes: &[i64]) -> Vec<TensorIndex> {
    (0..sizes.len()).map(|dim| TensorIndex::from_dim(dim, sizes).unwrap()).collect()
}

/// Returns chains over buffers of up to three dimensions with these sizes.
fn chains(sizes: &'static [i64], is_aligned: bool) -> impl Strategy<Value = ViewChain> {
    let buffer = prop::collection::vec(prop::sample::select(sizes), 1..=3);
    let buffer = buffer.prop_filter("small", |sizes| sizes.iter().product::<i64>() <= 4096);
    let seed = (any::<u8>(), 0..60_usize, 0..60_usize, 0..60_usize);
    (buffer, prop::collection::vec(seed, 0..=12))
        .prop_map(move |(buffer, seeds)| ViewChain::from_seeds(buffer, seeds, is_aligned))
}

/// Returns chains with powers of two and aligned windows: every chain is a sum of digits.
fn digit_chains() -> impl Strategy<Value = ViewChain> {
    chains(&[1, 2, 4, 8, 16], true)
}

/// Returns chains whose sizes and windows often make them no sum of digits.
fn rough_chains() -> impl Strategy<Value = ViewChain> {
    chains(&[1, 2, 3, 4, 6, 10, 12], false)
}

/// Returns the row-major position of a point.
fn flatten(point: &[i64], sizes: &[i64]) -> i64 {
    point.iter().zip(sizes).fold(0, |position, (digit, size)| position * size + digit)
}

/// Returns the point in the parts for a point of the iteration.
fn split_point(point: &[i64], parts: &[Vec<i64>]) -> Vec<i64> {
    point.iter().zip(parts).flat_map(|(&position, parts)| unflatten(position, parts)).collect()
}

fn check_indices(chain: &ViewChain, indices: &[TensorIndex]) -> Result<(), TestCaseError> {
    for point in points(chain.op_shape()) {
        let found: Vec<i64> = indices.iter().map(|index| index.evaluate(&point)).collect();
        prop_assert_eq!(found, chain.buffer_point(&point), "at {:?}", point);
    }
    Ok(())
}

/// Splits an op that reads the buffer through the chain and writes a plain result, and checks every point of both
/// operands.
fn check_split(chain: &ViewChain, indices: &[TensorIndex]) -> Result<Result<(), IndexError>, TestCaseError> {
    let (ranges, result) = (chain.op_shape(), identity_indices(chain.op_shape()));
    let views = [OperandView { sizes: chain.buffer(), indices }, OperandView { sizes: ranges, indices: &result }];
    let split = match split_iteration(ranges, &views) {
        Ok(split) => split,
        Err(error) => return Ok(Err(error)),
    };
    for (parts, &range) in split.parts.iter().zip(ranges) {
        prop_assert_eq!(parts.iter().product::<i64>(), range);
        prop_assert!(parts.iter().all(|&part| part > 1) || range == 1);
    }
    for point in points(ranges) {
        let parts = split_point(&point, &split.parts);
        for (view, (operand, expected)) in
            views.iter().zip(split.operands.iter().zip([chain.buffer_point(&point), point.clone()]))
        {
            let factors = operand.factors.concat();
            let digits: Vec<i64> = operand.indices.iter().map(|coordinate| coordinate.evaluate(&parts)).collect();
            prop_assert!(digits.iter().zip(&factors).all(|(digit, size)| (0..*size).contains(digit)));
            prop_assert_eq!(flatten(&digits, &factors), flatten(&expected, view.sizes), "at {:?}", point);
        }
    }
    Ok(Ok(()))
}

proptest! {
    #[test]
    fn chains_of_digits_compose_and_split(chain in digit_chains()) {
        let indices = chain.compose_from_op().unwrap();
        prop_assert_eq!(chain.compose_from_buffer().unwrap(), &indices[..], "views compose in any order");
        check_indices(&chain, &indices)?;
        for (dim, index) in indices.iter().enumerate() {
            let largest = points(chain.op_shape()).map(|point| chain.buffer_point(&point)[dim]).max();
            prop_assert_eq!(Some(index.max_value()), largest);
            prop_assert_eq!(&TensorIndex::from_expr(&index.to_expr(chain.op_shape()).unwrap(), chain.op_shape()).unwrap(), index);
        }
        check_split(&chain, &indices)?.unwrap();
    }

    #[test]
    fn composes_and_splits_correctly(chain in rough_chains()) {
        for indices in [chain.compose_from_op(), chain.compose_from_buffer()].into_iter().flatten() {
            check_indices(&chain, &indices)?;
            // A rejection is valid: windows may split digits.
            let _ = check_split(&chain, &indices)?;
        }
    }

    #[test]
    fn readable_operands_lead_to_the_same_device_element(
        chain in chains(&[1, 2, 4, 8, 64, 128, 256], true),
        turn in 0..3_usize,
        is_sparse in any::<bool>(),
    ) {
        let host = HostTensor::row_major(chain.buffer()).unwrap();
        let mut order: Vec<usize> = (0..host.rank()).collect();
        order.rotate_left(turn % host.rank());
        let order = if is_sparse { DimOrder::sparse(&order) } else { DimOrder::dense(&order) };
        let layout = DeviceLayout::new(&host, Sen169Fp16, &order).unwrap();
        let indices = chain.compose_from_op().unwrap();
        let whole = identity_indices(chain.buffer());
        let unsplit = make_readable(chain.buffer(), &[ViewedOperand { layout: &layout, host: &host, indices: &whole }]).unwrap();
        prop_assert_eq!(&unsplit.operands[0].layout, &layout);
        let read = match make_readable(chain.op_shape(), &[ViewedOperand { layout: &layout, host: &host, indices: &indices }]) {
            Ok(read) => read,
            Err(error) => {
                let is_stick = matches!(error, IndexError::Layout { operand: 0, error: super::LayoutError::CutsStick { .. } });
                prop_assert!(is_stick && !is_sparse, "{error}");
                return Ok(());
            }
        };
        let element = |read: &super::ReadableOp, parts: &[i64]| -> i64 {
            let strides = read.operands[0].layout.device_strides();
            read.operands[0].coordinates.iter().zip(strides).map(|(place, stride)| place.evaluate(parts) * stride).sum()
        };
        for point in points(chain.op_shape()) {
            prop_assert_eq!(element(&read, &split_point(&point, &read.parts)), element(&unsplit, &chain.buffer_point(&point)), "at {:?}", point);
        }
    }
}
