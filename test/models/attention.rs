//! Attention in a producer's form: heads split from columns, a batch matmul, a softmax, and heads merged into columns.

/// Shape of an attention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttentionShape {
    pub(crate) batches: usize,
    pub(crate) positions: usize,
    pub(crate) heads: usize,
    pub(crate) head_size: usize,
    /// Whether Q, K and V are slices of one argument.
    pub(crate) is_packed: bool,
}

fn tensor(shape: &[usize]) -> String {
    shape.iter().map(|size| format!("{size}x")).collect::<String>() + "f16"
}

impl AttentionShape {
    /// Returns the module.
    pub(crate) fn module(self) -> String {
        let Self { batches, positions, heads, head_size, .. } = self;
        let (columns, matrices) = (heads * head_size, batches * heads);
        let all = tensor(&[batches, positions, columns]);
        let scores = tensor(&[matrices, positions, positions]);
        let row = tensor(&[matrices, positions]);
        let values = tensor(&[matrices, positions, head_size]);
        let mut text = self.arguments(&all);
        text += "  %zero = arith.constant 0.0 : f16\n  %lowest = arith.constant -65504.0 : f16\n  %scale = arith.constant 0.125 : f16\n";
        for (name, permutation) in [("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])] {
            text += &self.heads(name, permutation);
        }
        let keys = tensor(&[matrices, head_size, positions]);
        text += &format_fill("scores", &scores, "%zero");
        text += &format!(
            "  %scores = linalg.batch_matmul ins(%q_heads, %k_heads : tensor<{values}>, tensor<{keys}>) outs(%scores_start : tensor<{scores}>) -> tensor<{scores}>\n"
        );
        text += &format_reduce("max", "arith.maximumf", "%scores", &scores, &row, "%lowest");
        let shifted = "%0 = arith.subf %a, %b : f16\n%1 = arith.mulf %0, %scale : f16\n%2 = math.exp %1 : f16\nlinalg.yield %2 : f16";
        text += &format_elementwise("powers", shifted, "%scores", "%max", &scores, &row);
        text += &format_reduce("sum", "arith.addf", "%powers", &scores, &row, "%zero");
        text += &format_elementwise(
            "shares",
            "%0 = arith.divf %a, %b : f16\nlinalg.yield %0 : f16",
            "%powers",
            "%sum",
            &scores,
            &row,
        );
        text += &format_fill("seen", &values, "%zero");
        text += &format!(
            "  %seen = linalg.batch_matmul ins(%shares, %v_heads : tensor<{scores}>, tensor<{values}>) outs(%seen_start : tensor<{values}>) -> tensor<{values}>\n"
        );
        text + &self.columns(&values, &all)
    }

    fn arguments(self, all: &str) -> String {
        let columns = self.heads * self.head_size;
        if !self.is_packed {
            return format!(
                "func.func @attention(%q: tensor<{all}>, %k: tensor<{all}>, %v: tensor<{all}>) -> tensor<{all}> {{\n"
            );
        }
        let packed = tensor(&[self.batches, self.positions, 3 * columns]);
        let mut text = format!("func.func @attention(%packed: tensor<{packed}>) -> tensor<{all}> {{\n");
        for (number, name) in ["q", "k", "v"].iter().enumerate() {
            let (offset, sizes) = (number * columns, format!("[{}, {}, {columns}]", self.batches, self.positions));
            text += &format!(
                "  %{name} = tensor.extract_slice %packed[0, 0, {offset}] {sizes} [1, 1, 1] : tensor<{packed}> to tensor<{all}>\n"
            );
        }
        text
    }

    fn heads(self, name: &str, permutation: [usize; 4]) -> String {
        let Self { batches, positions, heads, head_size, .. } = self;
        let split = [batches, positions, heads, head_size];
        let moved = permutation.map(|dim| split[dim]);
        let (from, to) = (tensor(&split), tensor(&moved));
        let (all, one) =
            (tensor(&[batches, positions, heads * head_size]), tensor(&[batches * heads, moved[2], moved[3]]));
        format!(
            "  %{name}_split = tensor.expand_shape %{name} [[0], [1], [2, 3]] output_shape {split:?} : tensor<{all}> into tensor<{from}>\n\
             \x20 %{name}_empty = tensor.empty() : tensor<{to}>\n\
             \x20 %{name}_moved = linalg.transpose ins(%{name}_split : tensor<{from}>) outs(%{name}_empty : tensor<{to}>) permutation = {permutation:?}\n\
             \x20 %{name}_heads = tensor.collapse_shape %{name}_moved [[0, 1], [2], [3]] : tensor<{to}> into tensor<{one}>\n"
        )
    }

    fn columns(self, values: &str, all: &str) -> String {
        let Self { batches, positions, heads, head_size, .. } = self;
        let split = [batches, heads, positions, head_size];
        let (from, to) = (tensor(&split), tensor(&[batches, positions, heads, head_size]));
        format!(
            "  %split = tensor.expand_shape %seen [[0, 1], [2], [3]] output_shape {split:?} : tensor<{values}> into tensor<{from}>\n\
             \x20 %empty = tensor.empty() : tensor<{to}>\n\
             \x20 %moved = linalg.transpose ins(%split : tensor<{from}>) outs(%empty : tensor<{to}>) permutation = [0, 2, 1, 3]\n\
             \x20 %result = tensor.collapse_shape %moved [[0], [1], [2, 3]] : tensor<{to}> into tensor<{all}>\n\
             \x20 return %result : tensor<{all}>\n}}\n"
        )
    }
}

fn format_fill(name: &str, shape: &str, number: &str) -> String {
    format!(
        "  %{name}_empty = tensor.empty() : tensor<{shape}>\n\
         \x20 %{name}_start = linalg.fill ins({number} : f16) outs(%{name}_empty : tensor<{shape}>) -> tensor<{shape}>\n"
    )
}

fn format_reduce(name: &str, op: &str, input: &str, from: &str, to: &str, start: &str) -> String {
    let fill = format_fill(name, to, start);
    format!(
        "{fill}  %{name} = linalg.reduce {{ {op} }} ins({input} : tensor<{from}>) outs(%{name}_start : tensor<{to}>) dimensions = [2]\n"
    )
}

/// Formats an op on a matrix and one number per row.
fn format_elementwise(name: &str, body: &str, matrix: &str, column: &str, shape: &str, column_shape: &str) -> String {
    let (all, row) = ("affine_map<(d0, d1, d2) -> (d0, d1, d2)>", "affine_map<(d0, d1, d2) -> (d0, d1)>");
    format!(
        "  %{name}_empty = tensor.empty() : tensor<{shape}>\n  %{name} = linalg.generic {{indexing_maps = [{all}, {row}, {all}], \
         iterator_types = [\"parallel\", \"parallel\", \"parallel\"]}}\n    ins({matrix}, {column} : tensor<{shape}>, tensor<{column_shape}>) \
         outs(%{name}_empty : tensor<{shape}>) {{\n  ^bb0(%a: f16, %b: f16, %c: f16):\n{body}\n  }} -> tensor<{shape}>\n"
    )
}
