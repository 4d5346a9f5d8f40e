//! `spyre-import-linalg`, convolutions of few channels: packs the points of a kernel along one dimension into the
//! sticks of K.
//!
//! A matmul sums over K in whole sticks. At one kernel point, an image of 3 channels fills 3 of 64 elements. A kernel
//! of 7 x 7 points thus takes 49 matmuls, each of which reads the image. Matmuls with selection matrices put the 7
//! points along one dimension next to each other, 21 elements of a stick, and 7 matmuls sum over these. A selection
//! sums one element and zeros, so it is exact.

use super::{cast::CastTypes, generic::GenericImporter};
use crate::{
    import::{
        BodyReduction, Combiner, ConstantTensor, InputProduct, NodeElementType, NodeId, NodeKind, ValueGraph,
        graph::{linear_index::LinearIndex, views},
        rules::pairwise::PairwiseReducer,
    },
    mlir::{AffineExpression, ErrorReported},
};

/// Number of elements of a stick of K.
const K_STICK_ELEMENTS: i64 = super::import_windows::PRODUCT_STICK_ELEMENTS;

/// Dimensions of a convolution by role. Dimensions of size 1 are left out.
struct ConvolutionDims {
    /// Dimensions of the image and the result.
    positions: Vec<usize>,
    /// Dimensions of the kernel and the result.
    outputs: Vec<usize>,
    /// Reduced dimensions without windows.
    channels: Vec<usize>,
    /// Window dimension whose points are packed, and the other one.
    packed: usize,
    other: usize,
}

/// Convolution with two window dimensions.
struct Convolution {
    image: NodeId,
    /// Index of each image dimension.
    read: Vec<LinearIndex>,
    kernel: NodeId,
    /// Iteration dimension of each kernel dimension; None for size 1.
    kernel_dims: Vec<Option<usize>>,
    roles: ConvolutionDims,
    element: NodeElementType,
}

impl Convolution {
    /// Returns the image dimension of `position`, if the windows of the other dimension lie along it.
    fn windowed_image_dim(&self, position: usize) -> Option<usize> {
        self.read.iter().position(|index| has_term(index, position) && has_term(index, self.roles.other))
    }
}

impl GenericImporter<'_, '_> {
    /// Builds a convolution with windows along `dims`, with the kernel points of one dimension packed. Returns None if
    /// the reduction is not a convolution with two window dimensions, or if packing takes no fewer matmuls.
    pub(super) fn build_packed_windows(
        &mut self,
        dims: &[usize],
        reduction: &BodyReduction,
        result: usize,
    ) -> Result<Option<NodeId>, ErrorReported> {
        let product = self.body.find_product(reduction.new).filter(|_| reduction.combiner == Combiner::Sum);
        let Some(product) = product else { return Ok(None) };
        let Some(convolution) = self.find_convolution(dims, &product, result)? else { return Ok(None) };
        Ok(self.build_packed_products(&convolution, result).ok().flatten())
    }

    /// Returns the convolution that a product over windows computes, if any.
    fn find_convolution(
        &mut self,
        dims: &[usize],
        product: &InputProduct,
        result: usize,
    ) -> Result<Option<Convolution>, ErrorReported> {
        let sizes = self.space.window.sizes.clone();
        let is_whole = self.space.window.origin.iter().all(|&first| first == 0);
        let is_folded =
            |cast: &usize| CastTypes::from_op(self.ops[*cast]).is_none_or(|cast| self.importer.fold_cast(cast).is_ok());
        let is_windowed = |operand: usize| views::as_plain_dims(&self.space.operands[operand].1).is_none();
        let [first, second] = product.factors;
        let (image, kernel) = if is_windowed(first) { (first, second) } else { (second, first) };
        if !is_whole || !product.casts.iter().all(is_folded) || is_windowed(kernel) {
            return Ok(None);
        }
        let linear = |operand: usize| {
            self.space.operands[operand]
                .1
                .iter()
                .map(|expr| LinearIndex::from_expr(expr, &sizes))
                .collect::<Option<Vec<_>>>()
        };
        let (Some(read), Some(of_kernel)) = (linear(image), linear(kernel)) else { return Ok(None) };
        let kernel_dims: Vec<Option<usize>> =
            of_kernel.iter().map(|index| index.terms.first().map(|&(dim, _)| dim)).collect();
        let Some(roles) = self.find_convolution_dims(dims, &read, &kernel_dims, result) else { return Ok(None) };
        let [image, kernel] = [image, kernel].map(|operand| self.space.operands[operand].0);
        let (image, kernel) = (self.importer.node_of(self.op, image)?, self.importer.node_of(self.op, kernel)?);
        let graph = &self.importer.graph;
        let element = graph.node(image).element;
        let is_computed =
            element.is_float() && graph.node(kernel).element.is_float() && graph.as_constant(image).is_none();
        let is_possible =
            is_computed && graph.as_scalar(kernel).is_none() && graph.find_unsupported(&[image, kernel]).is_none();
        if !is_possible {
            return Ok(None);
        }
        // Rows and columns that are read with a stride are padded once, in the image.
        let of_window = |dim: usize| dim == roles.packed || dim == roles.other;
        let at_first = |index: &LinearIndex| {
            fold_index(
                &index.to_expr(
                    |dim| if of_window(dim) { AffineExpression::Constant(0) } else { AffineExpression::Dim(dim) },
                ),
                &sizes,
            )
        };
        let image = self.importer.graph.pad_to_stride(image, &read.iter().map(at_first).collect::<Vec<_>>(), &sizes);
        Ok(Some(Convolution { image, read, kernel, kernel_dims, roles, element }))
    }

    /// Returns the roles of the dimensions. Returns None if a dimension has another role, as groups do, or if packing
    /// takes no fewer matmuls.
    fn find_convolution_dims(
        &self,
        dims: &[usize],
        read: &[LinearIndex],
        kernel_dims: &[Option<usize>],
        result: usize,
    ) -> Option<ConvolutionDims> {
        let sizes = &self.space.window.sizes;
        let written = views::as_plain_dims(self.output_map(result))?;
        let is_read = |dim: usize| read.iter().any(|index| has_term(index, dim));
        let (mut positions, mut outputs, mut channels) = (Vec::new(), Vec::new(), Vec::new());
        for dim in (0..sizes.len()).filter(|&dim| sizes[dim] > 1) {
            let is_window = dims.contains(&dim);
            match (is_read(dim), kernel_dims.contains(&Some(dim)), written.contains(&dim)) {
                (true, true, false) if is_window => {}
                (true, true, false) => channels.push(dim),
                (true, false, true) if !is_window => positions.push(dim),
                (false, true, true) if !is_window => outputs.push(dim),
                _ => return None,
            }
        }
        // Each window belongs to one image dimension, with one position.
        let is_read_once = |dim: usize| read.iter().filter(|index| has_term(index, dim)).count() <= 1;
        let is_window = |index: &LinearIndex| {
            index.terms.iter().filter(|(dim, _)| dims.contains(dim)).count() <= 1 && index.terms.len() <= 2
        };
        let is_plain = read
            .iter()
            .all(|index| is_window(index) && index.constant >= 0 && index.terms.iter().all(|&(_, factor)| factor > 0));
        let &[first, second] = dims else { return None };
        let (packed, other) = if sizes[first] > sizes[second] { (first, second) } else { (second, first) };
        let (num_packed, num_other) = (sizes[packed], sizes[other]);
        let num_channels = channels.iter().map(|&dim| sizes[dim]).product::<i64>();
        let is_fewer = num_packed + num_other < num_packed * num_other && num_channels * num_packed <= K_STICK_ELEMENTS;
        // The rows of the image along the other window are a dimension of the patches.
        let has_rows = read.iter().all(|index| !has_term(index, other) || index.terms.len() == 2);
        let is_product = !outputs.is_empty() && has_rows && (0..sizes.len()).all(is_read_once);
        (is_plain && is_fewer && is_product).then_some(ConvolutionDims { positions, outputs, channels, packed, other })
    }

    /// Builds the selections, and the matmul at each point of the other window dimension.
    fn build_packed_products(&mut self, convolution: &Convolution, result: usize) -> Result<Option<NodeId>, String> {
        let sizes = self.space.window.sizes.clone();
        let size_of = |dims: &[usize]| dims.iter().map(|&dim| sizes[dim]).collect::<Vec<i64>>();
        let Convolution { kernel, kernel_dims, roles, element, .. } = convolution;
        let patches = self.build_patches(convolution)?;
        let mut sum = PairwiseReducer::new(false);
        for point in 0..sizes[roles.other] {
            let rows = self.view_patches_at(convolution, patches, point);
            // The elements of a patch are the packed points, each with all channels.
            let place = |dim: usize, dims: &[usize]| dims.iter().position(|&own| own == dim);
            let num_channels = roles.channels.len();
            let index = |dim: &Option<usize>| match *dim {
                Some(dim) if dim == roles.packed => AffineExpression::Dim(0),
                Some(dim) if dim == roles.other => AffineExpression::Constant(point),
                Some(dim) => match (place(dim, &roles.channels), place(dim, &roles.outputs)) {
                    (Some(channel), _) => AffineExpression::Dim(1 + channel),
                    (None, output) => output.map_or(AffineExpression::Constant(0), |output| {
                        AffineExpression::Dim(1 + num_channels + output)
                    }),
                },
                None => AffineExpression::Constant(0),
            };
            let of_kernel = [vec![sizes[roles.packed]], size_of(&roles.channels), size_of(&roles.outputs)].concat();
            let graph = &mut self.importer.graph;
            let columns = graph.view(*kernel, kernel_dims.iter().map(index).collect(), &of_kernel);
            let (k, n) =
                (graph.node(rows).shape[roles.positions.len()], size_of(&roles.outputs).iter().product::<i64>());
            let columns = graph.reshape(columns, &[k, n]);
            let product = build_row_product(graph, rows, columns, *element);
            sum.push(product, |left, right| graph.apply("arith.addf", &[left, right], *element))?;
        }
        let graph = &mut self.importer.graph;
        let Some(sum) = sum.finish(|left, right| graph.apply("arith.addf", &[left, right], *element))? else {
            return Ok(None);
        };
        let dims = [roles.positions.clone(), roles.outputs.clone()].concat();
        let viewed = graph.reshape(sum, &size_of(&dims));
        let map = self.space.operands[self.num_inputs + result].1.clone();
        let at = |dim: &usize| {
            map.iter()
                .position(|expr| *expr == AffineExpression::Dim(*dim))
                .map_or(AffineExpression::Constant(0), AffineExpression::Dim)
        };
        let shape: Vec<i64> =
            map.iter().map(|expr| if let AffineExpression::Dim(dim) = expr { sizes[*dim] } else { 1 }).collect();
        Ok(Some(self.importer.graph.view(viewed, dims.iter().map(at).collect(), &shape)))
    }

    /// Returns the sizes of the position dimensions of patches. The dimension along the other window has all rows of
    /// the image.
    fn compute_patch_sizes(&self, convolution: &Convolution) -> Vec<i64> {
        let roles = &convolution.roles;
        let rows_of_image =
            |dim: usize| Some(self.importer.graph.node(convolution.image).shape[convolution.windowed_image_dim(dim)?]);
        roles.positions.iter().map(|&dim| rows_of_image(dim).unwrap_or(self.space.window.sizes[dim])).collect()
    }

    /// Builds the packed kernel points of all rows of the image: `[positions..., packed points and channels]`.
    fn build_patches(&mut self, convolution: &Convolution) -> Result<NodeId, String> {
        let sizes = self.space.window.sizes.clone();
        let Convolution { image, read, roles, element, .. } = convolution;
        let rows = self.compute_patch_sizes(convolution);
        let of_channels: Vec<i64> = roles.channels.iter().map(|&dim| sizes[dim]).collect();
        let num_channels = of_channels.iter().product::<i64>();
        let num_elements = num_channels * sizes[roles.packed];
        let place = |dim: usize| roles.positions.iter().chain(&roles.channels).position(|&own| own == dim);
        // Sums of selections are exact.
        let mut sum = PairwiseReducer::new(true);
        for point in 0..sizes[roles.packed] {
            let index = |index: &LinearIndex| {
                if has_term(index, roles.other) {
                    // All rows of the image, whose windows are read later.
                    let row = index.terms.iter().find(|(dim, _)| *dim != roles.other).and_then(|&(dim, _)| place(dim));
                    return row.map_or(AffineExpression::Constant(0), AffineExpression::Dim);
                }
                index.to_expr(|dim| {
                    if dim == roles.packed {
                        AffineExpression::Constant(point)
                    } else {
                        place(dim).map_or(AffineExpression::Constant(0), AffineExpression::Dim)
                    }
                })
            };
            let shape = [rows.clone(), of_channels.clone()].concat();
            let map: Vec<AffineExpression> = read.iter().map(|own| fold_index(&index(own), &shape)).collect();
            let graph = &mut self.importer.graph;
            let viewed = graph.view_strided(*image, map, &shape);
            let viewed = graph.reshape(viewed, &[rows.clone(), vec![num_channels]].concat());
            let is_selected = |row: i64, column: i64| column == point * num_channels + row;
            let ones: Vec<f64> = (0..num_channels)
                .flat_map(|row| (0..num_elements).map(move |column| f64::from(u8::from(is_selected(row, column)))))
                .collect();
            let selection =
                graph.add_constant(ConstantTensor::from_numbers(&ones), vec![num_channels, num_elements], *element);
            let part = build_row_product(graph, viewed, selection, *element);
            sum.push(part, |left, right| graph.apply("arith.addf", &[left, right], *element))?;
        }
        let graph = &mut self.importer.graph;
        let sum = sum.finish(|left, right| graph.apply("arith.addf", &[left, right], *element))?;
        sum.ok_or_else(|| "expected windows with points, found an empty window".to_owned())
    }

    /// Returns the patches at one point of the other window dimension, as `[positions..., elements]`.
    fn view_patches_at(&mut self, convolution: &Convolution, patches: NodeId, point: i64) -> NodeId {
        let sizes = &self.space.window.sizes;
        let Convolution { read, roles, .. } = convolution;
        let mut shape: Vec<i64> = roles.positions.iter().map(|&dim| sizes[dim]).collect();
        let index = |(position, &dim): (usize, &usize)| match convolution.windowed_image_dim(dim) {
            Some(window) => read[window].to_expr(|own| {
                if own == roles.other { AffineExpression::Constant(point) } else { AffineExpression::Dim(position) }
            }),
            None => AffineExpression::Dim(position),
        };
        let mut map: Vec<AffineExpression> = roles.positions.iter().enumerate().map(index).collect();
        let graph = &mut self.importer.graph;
        let num_elements = graph.node(patches).shape[map.len()];
        map.push(AffineExpression::Dim(map.len()));
        shape.push(num_elements);
        let map = map.iter().map(|expr| fold_index(expr, &shape)).collect();
        graph.view_strided(patches, map, &shape)
    }
}

/// Builds the matmul of `[positions..., K]` and `[K, N]`. Positions along two dimensions are not merged, so that an
/// image is read in its stored shape.
fn build_row_product(graph: &mut ValueGraph, rows: NodeId, columns: NodeId, element: NodeElementType) -> NodeId {
    let (of_rows, of_columns) = (graph.node(rows).shape.clone(), graph.node(columns).shape.clone());
    let (k, positions) = of_rows.split_last().expect("rows have elements");
    let (inner, outer) =
        positions.split_last().map_or((1, 1), |(inner, outer)| (*inner, outer.iter().product::<i64>()));
    let rows = graph.reshape(rows, &[outer, inner, *k]);
    // Constants are not repeated for each row either.
    let shared = vec![AffineExpression::Dim(1), AffineExpression::Dim(2)];
    let columns = graph.add(NodeKind::View(shared), &[columns], vec![outer, *k, of_columns[1]], element);
    let product = graph.build_matmul(rows, columns, vec![outer, inner, of_columns[1]], element);
    graph.reshape(product, &[positions, &of_columns[1..]].concat())
}

fn has_term(index: &LinearIndex, dim: usize) -> bool {
    index.terms.iter().any(|&(own, _)| own == dim)
}

/// Returns an index as a sum of multiples with one constant.
fn fold_index(expr: &AffineExpression, sizes: &[i64]) -> AffineExpression {
    LinearIndex::from_expr(expr, sizes).map_or_else(|| expr.clone(), |linear| linear.to_expr(AffineExpression::Dim))
}
