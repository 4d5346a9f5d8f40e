//! Matmuls, and replacements for matmuls that the device does not compute.

use super::{NodeElementType, NodeId, NodeKind, ValueGraph};
use machine::MAX_MATMUL_DIMS_PER_ROLE;
use program::affine::AffineExpression;

impl ValueGraph {
    /// Builds a matmul with leading batch dimensions. Matmuls with one summand per element, and with one result column
    /// (which fills no stick of the device's matmul), are multiplied elementwise instead.
    pub fn build_matmul(&mut self, left: NodeId, right: NodeId, shape: Vec<i64>, element: NodeElementType) -> NodeId {
        let (k, n) = (self.node(left).shape[shape.len() - 1], shape[shape.len() - 1]);
        if k == 1 {
            return self.add_pointwise("mul", &[left, right], element);
        }
        if n > 1 {
            return self.add(NodeKind::Matmul, &[left, right], shape, element);
        }
        let column = shape.len() - 1;
        let mut of_row = self.node(right).shape.clone();
        of_row.swap(column - 1, column);
        let row = self.reshape(right, &of_row);
        let terms = self.add_pointwise("mul", &[left, row], element);
        self.reduce("sum", terms, column)
    }

    /// Builds a matmul whose right factor is the same in all batches as a matmul of a single batch. Does so only if
    /// there are more row dimensions than in the device's matmul.
    pub(in crate::import) fn build_matmul_with_merged_rows(
        &mut self,
        [left, right]: [NodeId; 2],
        shape: &[i64],
        element: NodeElementType,
    ) -> Option<NodeId> {
        let num_batches = shape.len() - 2;
        let NodeKind::View(map) = self.node(right).kind.clone() else { return None };
        let is_repeated = map.iter().all(|expr| expr.dims().iter().all(|&dim| dim >= num_batches));
        let num_row_dims = shape[..=num_batches].iter().filter(|&&size| size > 1).count();
        (is_repeated && num_row_dims > MAX_MATMUL_DIMS_PER_ROLE).then_some(())?;
        let of_one = map.iter().map(|expr| expr.with_dims(&|dim| AffineExpression::Dim(dim - num_batches))).collect();
        let (source, of_right) = (self.node(right).inputs[0], self.node(right).shape[num_batches..].to_vec());
        let matrix = self.view(source, of_one, &of_right);
        let n_rows = shape[..=num_batches].iter().product();
        let rows = self.reshape(left, &[n_rows, of_right[0]]);
        let product = self.add(NodeKind::Matmul, &[rows, matrix], vec![n_rows, of_right[1]], element);
        Some(self.reshape(product, shape))
    }
}
