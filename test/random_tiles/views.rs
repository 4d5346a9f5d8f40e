//! Ops that show a value under other indices.

use crate::{
    array::Array,
    build::{Axis, Builder, Dim, STICK, Value, list, type_of},
    generate::{Step, TiledOp},
    write::Op,
};

impl Builder {
    fn view(&mut self, operand: usize, axes: Vec<Axis>, is_known: Vec<bool>, array: Array, text: String) {
        let result = self.values.len();
        self.values.push(Value { axes, array, is_known });
        let op = Op { operands: vec![operand], result, text };
        self.ops.push(TiledOp { op, is_view: true, is_matmul: false, dims: vec![], last: vec![] });
    }

    pub(crate) fn transpose(&mut self, operand: usize, step: &Step) {
        let Value { axes, array, is_known } = &self.values[operand];
        if axes.len() < 2 {
            return;
        }
        let mut order: Vec<usize> = (0..axes.len()).collect();
        let first = step.axis.index(axes.len() - 1);
        order.swap(first, first + 1 + step.order.index(axes.len() - 1 - first));
        let (result, array) = (self.values.len(), array.permuted(&order));
        let (from, to) = (self.values[operand].type_text(), type_of(&array.shape));
        let text = format!(
            "%e{result} = tensor.empty() : {to}\n%v{result} = linalg.transpose ins({{0}} : {from}) outs(%e{result} : {to}) permutation = [{}]\n",
            list(&order)
        );
        let (axes, known) = order.iter().map(|&dim| (axes[dim], is_known[dim])).unzip();
        self.view(operand, axes, known, array, text);
    }

    /// Makes one dimension of two.
    pub(crate) fn merge(&mut self, operand: usize, step: &Step) {
        let axes = self.values[operand].axes.clone();
        let pairs: Vec<usize> = (1..axes.len()).filter(|&at| axes[at - 1].is_some() && axes[at].is_some()).collect();
        if pairs.is_empty() {
            return;
        }
        let at = *step.axis.get(&pairs) - 1;
        let parts = [axes[at].unwrap_or(0), axes[at + 1].unwrap_or(0)];
        let size = self.dims[parts[0]].size * self.dims[parts[1]].size;
        let merged = self.dim(Dim { size, name: None, parts: Some(parts) });
        let mut known = self.values[operand].is_known.clone();
        known.remove(at + 1);
        known[at] = false;
        let mut axes = axes;
        axes.remove(at + 1);
        axes[at] = Some(merged);
        self.reshape(operand, axes, known, at, "collapse");
    }

    /// Takes a merged dimension apart, or another one into parts of no name.
    pub(crate) fn split(&mut self, operand: usize, step: &Step) {
        let axes = self.values[operand].axes.clone();
        let candidates: Vec<usize> = (0..axes.len()).filter(|&axis| axes[axis].is_some()).collect();
        if candidates.is_empty() || axes.len() >= 4 {
            return;
        }
        let at = *step.axis.get(&candidates);
        let Dim { size, parts, .. } = self.dims[axes[at].unwrap_or(0)].clone();
        let parts = parts.unwrap_or_else(|| {
            let divisors: Vec<usize> = (1..=size).filter(|divisor| size.is_multiple_of(*divisor)).collect();
            let inner = *step.order.get(&divisors);
            [size / inner, inner].map(|size| self.dim(Dim { size, name: None, parts: None }))
        });
        let mut known = self.values[operand].is_known.clone();
        known[at] = false;
        known.insert(at, false);
        let mut axes = axes;
        axes[at] = Some(parts[1]);
        axes.insert(at, Some(parts[0]));
        self.reshape(operand, axes, known, at, "expand");
    }

    fn reshape(&mut self, operand: usize, axes: Vec<Axis>, is_known: Vec<bool>, at: usize, kind: &str) {
        let (result, shape) = (self.values.len(), self.shape(&axes));
        let array = self.values[operand].array.reshaped(&shape);
        let (from, to) = (self.values[operand].type_text(), type_of(&shape));
        let shorter = shape.len().min(self.values[operand].array.shape.len());
        let group = |dim: usize| match dim.cmp(&at) {
            std::cmp::Ordering::Less => format!("[{dim}]"),
            std::cmp::Ordering::Equal => format!("[{dim}, {}]", dim + 1),
            std::cmp::Ordering::Greater => format!("[{}]", dim + 1),
        };
        let sizes = if kind == "expand" { format!(" output_shape [{}]", list(&shape)) } else { String::new() };
        let text = format!("%v{result} = tensor.{kind}_shape {{0}} [{}]{sizes} : {from} into {to}\n", list((0..shorter).map(group)));
        self.view(operand, axes, is_known, array, text);
    }

    pub(crate) fn slice(&mut self, operand: usize, step: &Step) {
        let Value { axes, array, is_known } = &self.values[operand];
        let axis = step.axis.index(axes.len());
        let size = array.shape[axis];
        if size < 2 {
            return;
        }
        // Of a dimension of sticks whole ones.
        let unit = if size.is_multiple_of(STICK) { STICK.min(size / 2) } else { 1 };
        let offset = step.order.index(size / unit) * unit;
        let length = (1 + step.other.index((size - offset) / unit)) * unit;
        let (result, array) = (self.values.len(), array.sliced(axis, offset, length));
        let mut offsets = vec![0; axes.len()];
        offsets[axis] = offset;
        let (mut axes, mut is_known) = (axes.clone(), is_known.clone());
        let (from, to, ones) = (self.values[operand].type_text(), type_of(&array.shape), list(vec![1; axes.len()]));
        let text =
            format!("%v{result} = tensor.extract_slice {{0}}[{}] [{}] [{ones}] : {from} to {to}\n", list(&offsets), list(&array.shape));
        if length < size {
            axes[axis] = Some(self.dim(Dim { size: length, name: None, parts: None }));
            is_known[axis] = false;
        }
        self.view(operand, axes, is_known, array, text);
    }

    /// The dimension that consists of such parts, or a new one.
    fn dim(&mut self, dim: Dim) -> usize {
        let known = self.dims.iter().position(|known| dim.parts.is_some() && *known == dim);
        known.unwrap_or_else(|| {
            self.dims.push(dim);
            self.dims.len() - 1
        })
    }
}
