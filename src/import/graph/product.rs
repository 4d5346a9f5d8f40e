//! Matrix products, and replacements for products that the device does not compute.

use super::{Element, Graph, Kind, NodeId};

impl Graph {
    /// Builds a matrix product with leading batch dimensions. Products with one summand per element, and with one result column (which fills
    /// no stick of the device's product), are multiplied elementwise instead.
    pub fn product(&mut self, left: NodeId, right: NodeId, shape: Vec<i64>, element: Element) -> NodeId {
        let (k, n) = (self.node(left).shape[shape.len() - 1], shape[shape.len() - 1]);
        if k == 1 {
            return self.pointwise("mul", &[left, right], element);
        }
        if n > 1 {
            return self.add(Kind::Matmul, &[left, right], shape, element);
        }
        let column = shape.len() - 1;
        let mut of_row = self.node(right).shape.clone();
        of_row.swap(column - 1, column);
        let row = self.reshape(right, &of_row);
        let terms = self.pointwise("mul", &[left, row], element);
        self.reduce("sum", terms, column)
    }
}
