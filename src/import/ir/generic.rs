//! `spyre-import-linalg`, state of the import of one `linalg.generic`: its iteration space, its body, and the nodes built for it.

use super::{
    importer::Importer,
    read_body::{read_body, sizes_of},
};
use crate::{
    codes,
    import::{
        Body, Element, NodeId,
        graph::{linear::Linear, views, window::Window},
    },
    mlir::{
        Expr, Location, Op, OpExt, Reported, TensorType, Value, ValueLike, elements, error_at, is_reduction, is_unknown, map_of,
        map_results,
    },
};

/// A `linalg.generic`, split into iteration space and body.
pub(super) struct Generic<'a, 'c> {
    pub(super) importer: &'a mut Importer<'c>,
    pub(super) op: Op<'c>,
    pub(super) n_inputs: usize,
    pub(super) space: Space<'c>,
    /// Operands that are read at indices of several dimensions.
    pub(super) has_windows: Vec<bool>,
    pub(super) body: Body,
    /// The operations of the body, in the order of `body.ops`.
    pub(super) ops: Vec<Op<'c>>,
    /// Nodes of the operands and of the body operations over the iteration space; each is built at its first use.
    pub(super) known_operands: Vec<Option<NodeId>>,
    pub(super) known_ops: Vec<Option<NodeId>>,
}

/// Iteration space of an op, with the index maps of the operands.
#[derive(Clone)]
pub(super) struct Space<'c> {
    /// The inputs, then the outs operands, each with its index map.
    pub(super) operands: Vec<(Value<'c>, Vec<Expr>)>,
    /// Window of the iteration space that is computed.
    pub(super) window: Window,
    pub(super) is_reduction: Vec<bool>,
    /// The dimensions of the op: those of the space, or the index at which the space is fixed.
    pub(super) dims: Vec<Expr>,
}

impl Space<'_> {
    /// Fixes some dimensions of the space at one point, and removes them.
    pub(super) fn at(&self, dims: &[usize], point: &[i64]) -> Self {
        let left: Vec<usize> = (0..self.window.sizes.len()).filter(|dim| !dims.contains(dim)).collect();
        let place = |dim: usize| match dims.iter().position(|&fixed| fixed == dim) {
            Some(position) => Expr::Constant(self.window.origin[dim] + point[position]),
            None => Expr::Dim(left.iter().position(|&other| other == dim).expect("a dimension that is left")),
        };
        let select = |of: &[i64]| left.iter().map(|&dim| of[dim]).collect::<Vec<_>>();
        let sizes = select(&self.window.sizes);
        let moved_index = |expr: &Expr| {
            let moved = expr.with_dims(&place);
            // The index was a sum before and is an offset now.
            let shift = Linear::of(&moved, &sizes).filter(|_| !matches!(moved, Expr::Dim(_)));
            shift.map_or(moved, |shift| shift.expr(Expr::Dim))
        };
        let moved = |map: &[Expr]| map.iter().map(moved_index).collect();
        Self {
            operands: self.operands.iter().map(|(value, map)| (*value, moved(map))).collect(),
            is_reduction: left.iter().map(|&dim| self.is_reduction[dim]).collect(),
            dims: moved(&self.dims),
            window: Window { origin: select(&self.window.origin), sizes },
        }
    }
}

impl<'a, 'c> Generic<'a, 'c> {
    pub(super) fn of(importer: &'a mut Importer<'c>, op: Op<'c>) -> Result<Self, Reported> {
        let maps = op.required("indexing_maps", elements);
        let iterators = op.required("iterator_types", elements);
        let maps = maps.into_iter().filter_map(map_of).map(map_results);
        let operands: Vec<(Value<'c>, Vec<Expr>)> = op.inputs().into_iter().zip(maps).collect();
        let is_reduction = iterators.iter().map(|iterator| is_reduction(*iterator)).collect();
        let n_inputs = operands.len() - op.outputs().len();
        let window = Window::whole(sizes_of(op, &operands, iterators.len())?);
        let (body, ops) = read_body(importer, op, n_inputs)?;
        let (known_operands, known_ops) = (vec![None; operands.len()], vec![None; ops.len()]);
        let has_windows = operands.iter().map(|(_, map)| views::plain_dims(map).is_none()).collect();
        let dims = (0..iterators.len()).map(Expr::Dim).collect();
        let space = Space { operands, window, is_reduction, dims };
        Ok(Self { importer, op, n_inputs, space, has_windows, body, ops, known_operands, known_ops })
    }

    pub(super) fn error(&self, message: impl std::fmt::Display) -> Reported {
        error_at(codes::UNSUPPORTED, self.op, message).report()
    }

    /// Returns the location of a body operation; that of the complete op if a pass has created the body.
    pub(super) fn location(&self, at: Op<'c>) -> Location<'c> {
        if is_unknown(at.loc()) { self.op.loc() } else { at.loc() }
    }

    /// Adds a node that is rejected, at an operation of the body, if it is used.
    pub(super) fn refused(&mut self, at: Op<'c>, message: String) -> NodeId {
        let location = self.location(at);
        let element = at.outputs().first().map_or(Element::F32, |output| self.importer.scalar_element(output.r#type()));
        self.importer.refused(at, location, message, vec![1; self.space.window.sizes.len()], element)
    }

    /// Returns a node for a complete result that is rejected with `message` if it is needed.
    pub(super) fn refused_result(&mut self, result: usize, message: String) -> NodeId {
        let of = self.op.outputs()[result].r#type();
        let (element, shape) = (self.importer.scalar_element(of), TensorType::of(of).map(|tensor| tensor.shape).unwrap_or_default());
        self.importer.refused(self.op, self.op.loc(), message, shape, element)
    }

    pub(super) fn output_map(&self, result: usize) -> &[Expr] {
        &self.space.operands[self.n_inputs + result].1
    }

    /// Clears the cache: nodes that are built for one window are wrong for another.
    pub(super) fn forget(&mut self) {
        self.known_operands.fill(None);
        self.known_ops.fill(None);
    }
}
