//! Model of Granite blocks in linalg on tensors: RMS norm, attention with grouped queries and rotary embedding, SwiGLU,
//! residuals.
//!
//! The text repeats torch-mlir's export of one block (`shared/inputs/torch-mlir/granite_block_f16.mlir`), op by op,
//! once per layer: f16 values with f32 regions, weights transposed at their uses, an unused arg-max next to the maximum
//! of softmax. Sums and matmuls have f32 results. Equal initial values are shared within a layer, as after `--cse`. All
//! weights, the rotary tables and the mask are arguments.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Write},
};

/// Size of a model. The batch size is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Granite {
    /// The number of blocks.
    pub(crate) layers: usize,
    /// Number of tokens.
    pub(crate) sequence: usize,
    /// Number of cached tokens that precede them. Their keys and values are arguments.
    pub(crate) cached: usize,
    /// Hidden size: elements of a token.
    pub(crate) hidden: usize,
    /// Number of query heads.
    pub(crate) heads: usize,
    /// Number of key and value heads; each serves `heads / kv_heads` query heads.
    pub(crate) kv_heads: usize,
    /// Elements of a head; even.
    pub(crate) head_size: usize,
    /// Elements between the two halves of SwiGLU.
    pub(crate) mlp: usize,
}

impl Granite {
    /// Returns the shapes of Granite 3.x 2B with 512 tokens. `shared/inputs/torch-mlir/hf_granite2b_40layer_f16.mlir`
    /// has 40 layers of these shapes.
    pub(crate) const fn of_2b(layers: usize) -> Self {
        Self { layers, sequence: 512, cached: 0, hidden: 2048, heads: 32, kv_heads: 8, head_size: 64, mlp: 8192 }
    }

    /// Returns the shapes of Granite 3.x 8B.
    pub(crate) const fn of_8b(layers: usize, sequence: usize) -> Self {
        Self { layers, sequence, cached: 0, hidden: 4096, heads: 32, kv_heads: 8, head_size: 128, mlp: 12800 }
    }

    /// Returns the module: `main(x, [norm 1, norm 2, Wq, Wk, Wv, Wo, Wgate, Wup, Wdown] per layer, cos, sin, mask)`.
    /// `main` returns the output of the last layer for the input `x`, both of shape `[1, sequence, hidden]`. Weights
    /// are `[out, in]`. With cached tokens, the keys and values of each layer, `[1, kv heads, cached, head size]`,
    /// follow the mask.
    pub(crate) fn module(&self) -> String {
        let mut writer =
            ModuleWriter { model: *self, text: String::new(), num_values: 0, initial: BTreeMap::new(), caches: None };
        let arguments = self.arguments();
        let argument = |index: usize| NamedTensor {
            name: format!("%arg{index}"),
            shape: arguments[index].clone(),
            element: "f16",
        };
        let num_weights = Self::NUM_LAYER_ARGUMENTS * self.layers;
        let [cos, sin, mask] = [1, 2, 3].map(|index| argument(num_weights + index));
        let mut x = argument(0);
        for layer in 0..self.layers {
            let weights: Vec<NamedTensor> = (0..Self::NUM_LAYER_ARGUMENTS)
                .map(|index| argument(1 + Self::NUM_LAYER_ARGUMENTS * layer + index))
                .collect();
            writer.initial.clear();
            let first = num_weights + 4 + 2 * layer;
            writer.caches = (self.cached > 0).then(|| [first, first + 1].map(argument));
            x = writer.block(&x, &weights, [&cos, &sin, &mask]);
        }
        let parameters: Vec<String> =
            (0..arguments.len()).map(argument).map(|value| format!("{value}: {}", value.type_text())).collect();
        let (parameters, of, constants) = (parameters.join(", "), x.type_text(), self.constants());
        let body = writer.text;
        format!(
            "{MAPS}module {{\n  func.func @main({parameters}) -> {of} {{\n{constants}{body}    return {x} : {of}\n  }}\n}}\n"
        )
    }

    fn constants(&self) -> String {
        let width = format!("{}.0 : f32", self.hidden);
        let constants = [
            ("two", "2 : i64"),
            ("first", "0 : i64"),
            ("zero", "0.0 : f32"),
            ("lowest", "0xFF800000 : f32"),
            ("one", "1.0 : f32"),
            ("residual", "0.22 : f64"),
            ("epsilon", "1.0e-05 : f64"),
            ("width", width.as_str()),
            ("scale", "0.0078125 : f16"),
        ];
        constants.map(|(name, value)| format!("    %{name} = arith.constant {value}\n")).concat()
    }

    const NUM_LAYER_ARGUMENTS: usize = 9;

    /// Returns the shapes of the arguments, all f16.
    pub(crate) fn arguments(&self) -> Vec<Vec<usize>> {
        let (hidden, queries, keys) = (self.hidden, self.heads * self.head_size, self.kv_heads * self.head_size);
        let layer: [Vec<usize>; Self::NUM_LAYER_ARGUMENTS] = [
            vec![hidden],
            vec![hidden],
            vec![queries, hidden],
            vec![keys, hidden],
            vec![keys, hidden],
            vec![hidden, queries],
            vec![self.mlp, hidden],
            vec![self.mlp, hidden],
            vec![hidden, self.mlp],
        ];
        let mut shapes = vec![vec![1, self.sequence, hidden]];
        shapes.extend((0..self.layers).flat_map(|_| layer.clone()));
        let table = vec![self.sequence, self.head_size];
        shapes.extend([table.clone(), table, vec![self.sequence, self.cached + self.sequence]]);
        let cache = vec![1, self.kv_heads, self.cached, self.head_size];
        shapes.extend(std::iter::repeat_n(cache, if self.cached > 0 { 2 * self.layers } else { 0 }));
        shapes
    }
}

const MAPS: &str = "\
#all2 = affine_map<(d0, d1) -> (d0, d1)>
#all3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row3 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#last3 = affine_map<(d0, d1, d2) -> (d2)>
#all4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#first4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#table4 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#all5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#group5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
";

/// A tensor and its name.
#[derive(Clone, Debug)]
struct NamedTensor {
    name: String,
    shape: Vec<usize>,
    element: &'static str,
}

impl NamedTensor {
    /// Returns the type as text.
    fn type_text(&self) -> String {
        tensor(&self.shape, self.element)
    }

    /// Returns the identity map of all dimensions.
    fn identity_map(&self) -> &'static str {
        ["", "", "#all2", "#all3", "#all4", "#all5"][self.shape.len()]
    }
}

impl Display for NamedTensor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

fn tensor(shape: &[usize], element: &str) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{element}>")
}

/// Formats a reassociation such as `[[0, 1], [2]]`; `counts` has the number of dimensions of each group.
fn format_groups(counts: &[usize]) -> String {
    let mut next = 0;
    let group = |count: &usize| {
        next += count;
        format!("{:?}", (next - count..next).collect::<Vec<_>>())
    };
    format!("[{}]", counts.iter().map(group).collect::<Vec<_>>().join(", "))
}

struct ModuleWriter {
    model: Granite,
    text: String,
    num_values: usize,
    /// Results of the `tensor.empty` and `linalg.fill` ops that are already written, by the text of the op.
    initial: BTreeMap<String, NamedTensor>,
    /// Cached keys and values of the layer that is written next.
    caches: Option<[NamedTensor; 2]>,
}

impl ModuleWriter {
    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "    {line}");
    }

    /// Writes `%v0 = op : type`.
    fn value(&mut self, shape: &[usize], element: &'static str, op: impl Display) -> NamedTensor {
        let value = NamedTensor { name: format!("%v{}", self.num_values), shape: shape.to_vec(), element };
        self.num_values += 1;
        self.line(format!("{value} = {op}"));
        value
    }

    /// Writes a value once, and reuses it for equal ops.
    fn shared_value(&mut self, shape: &[usize], element: &'static str, op: String) -> NamedTensor {
        if let Some(known) = self.initial.get(&op) {
            return known.clone();
        }
        let value = self.value(shape, element, &op);
        self.initial.insert(op, value.clone());
        value
    }

    fn empty(&mut self, shape: &[usize], element: &'static str) -> NamedTensor {
        self.shared_value(shape, element, format!("tensor.empty() : {}", tensor(shape, element)))
    }

    fn fill(&mut self, shape: &[usize], element: &'static str, with: &str) -> NamedTensor {
        let (empty, of) = (self.empty(shape, element), tensor(shape, element));
        self.shared_value(shape, element, format!("linalg.fill ins({with} : {element}) outs({empty} : {of}) -> {of}"))
    }

    /// Writes an op without a reduction. Each input has its map; `body` computes `%r` from `%a`, `%b`, one line per op.
    fn map(
        &mut self,
        inputs: &[(&NamedTensor, &str)],
        shape: &[usize],
        element: &'static str,
        body: &[&str],
    ) -> NamedTensor {
        let init = self.empty(shape, element);
        let iterators = vec!["parallel"; shape.len()];
        self.generic(inputs, (&init, init.identity_map()), &iterators, body)
    }

    fn generic(
        &mut self,
        inputs: &[(&NamedTensor, &str)],
        init: (&NamedTensor, &str),
        iterators: &[&str],
        body: &[&str],
    ) -> NamedTensor {
        let list = |words: Vec<String>| words.join(", ");
        let maps = list(inputs.iter().chain([&init]).map(|(_, map)| (*map).to_owned()).collect());
        let names = list(inputs.iter().map(|(value, _)| value.name.clone()).collect());
        let types = list(inputs.iter().map(|(value, _)| value.type_text()).collect());
        let elements = inputs.iter().zip(["%a", "%b"]).map(|((value, _), name)| format!("{name}: {}, ", value.element));
        let block: String = elements.collect();
        let (init, element) = (init.0, init.0.element);
        let op = format!(
            "linalg.generic {{indexing_maps = [{maps}], iterator_types = {iterators:?}}} ins({names} : {types}) outs({init} : {}) {{",
            init.type_text()
        );
        let result = self.value(&init.shape, element, op);
        self.line(format!("^bb0({block}%out: {element}):"));
        for op in body {
            self.line(format!("  {op}"));
        }
        // A broadcast has an empty body.
        let yielded = if body.is_empty() { "%a" } else { "%r" };
        self.line(format!("  linalg.yield {yielded} : {element}"));
        self.line(format!("}} -> {}", init.type_text()));
        result
    }

    /// Writes an elementwise op on one value.
    fn elementwise(&mut self, input: &NamedTensor, element: &'static str, body: &[&str]) -> NamedTensor {
        self.map(&[(input, input.identity_map())], &input.shape, element, body)
    }

    fn extend_to_f32(&mut self, input: &NamedTensor) -> NamedTensor {
        self.elementwise(input, "f32", &["%r = arith.extf %a : f16 to f32"])
    }

    fn truncate_to_f16(&mut self, input: &NamedTensor) -> NamedTensor {
        self.elementwise(input, "f16", &["%r = arith.truncf %a : f32 to f16"])
    }

    /// Writes an elementwise op on two values of one shape.
    fn binary(&mut self, left: &NamedTensor, right: &NamedTensor, op: &str) -> NamedTensor {
        self.broadcast_binary(left, (right, right.identity_map()), op)
    }

    /// Writes an elementwise op on a value and a broadcast operand.
    fn broadcast_binary(&mut self, left: &NamedTensor, right: (&NamedTensor, &str), op: &str) -> NamedTensor {
        let element = left.element;
        self.map(
            &[(left, left.identity_map()), right],
            &left.shape,
            element,
            &[&format!("%r = {op} %a, %b : {element}")],
        )
    }

    /// Writes the sum along the last dimension, which remains with size 1.
    fn row_sum(&mut self, input: &NamedTensor, map: &str) -> NamedTensor {
        let (mut shape, mut iterators) = (input.shape.clone(), vec!["parallel"; input.shape.len()]);
        if let (Some(size), Some(iterator)) = (shape.last_mut(), iterators.last_mut()) {
            (*size, *iterator) = (1, "reduction");
        }
        let init = self.fill(&shape, "f32", "%zero");
        self.generic(&[(input, input.identity_map())], (&init, map), &iterators, &["%r = arith.addf %a, %out : f32"])
    }

    fn transpose(&mut self, input: &NamedTensor, permutation: &[usize]) -> NamedTensor {
        let shape: Vec<usize> = permutation.iter().map(|dim| input.shape[*dim]).collect();
        let (init, from) = (self.empty(&shape, input.element), input.type_text());
        let op = format!(
            "linalg.transpose ins({input} : {from}) outs({init} : {}) permutation = {permutation:?}",
            init.type_text()
        );
        self.value(&shape, input.element, op)
    }

    /// Merges groups of adjacent dimensions; `counts` has the number of dimensions of each group.
    fn collapse(&mut self, input: &NamedTensor, counts: &[usize]) -> NamedTensor {
        let mut sizes = input.shape.iter();
        let shape: Vec<usize> = counts.iter().map(|count| sizes.by_ref().take(*count).product()).collect();
        let into = tensor(&shape, input.element);
        self.value(
            &shape,
            input.element,
            format!("tensor.collapse_shape {input} {} : {} into {into}", format_groups(counts), input.type_text()),
        )
    }

    fn expand(&mut self, input: &NamedTensor, counts: &[usize], shape: &[usize]) -> NamedTensor {
        let into = tensor(shape, input.element);
        let op = format!(
            "tensor.expand_shape {input} {} output_shape {shape:?} : {} into {into}",
            format_groups(counts),
            input.type_text()
        );
        self.value(shape, input.element, op)
    }

    /// Writes a matmul or batch matmul, rounded to f16.
    fn matmul(&mut self, left: &NamedTensor, right: &NamedTensor) -> NamedTensor {
        let rank = left.shape.len();
        let name = if rank == 3 { "linalg.batch_matmul" } else { "linalg.matmul" };
        let shape = [&left.shape[..rank - 1], &right.shape[rank - 1..]].concat();
        let init = self.fill(&shape, "f32", "%zero");
        let (of, types) = (init.type_text(), format!("{}, {}", left.type_text(), right.type_text()));
        let sum =
            self.value(&shape, "f32", format!("{name} ins({left}, {right} : {types}) outs({init} : {of}) -> {of}"));
        self.truncate_to_f16(&sum)
    }

    /// Writes the matmul of `input`, `[sequence, in]`, with the weights, `[out, in]`.
    fn linear(&mut self, input: &NamedTensor, weights: &NamedTensor) -> NamedTensor {
        let weights = self.transpose(weights, &[1, 0]);
        self.matmul(input, &weights)
    }
}

/// Layers of a block.
impl ModuleWriter {
    fn block(&mut self, x: &NamedTensor, weights: &[NamedTensor], [cos, sin, mask]: [&NamedTensor; 3]) -> NamedTensor {
        let normed = self.rms_norm(x, &weights[0]);
        let attended = self.attention(&normed, &weights[2..6], [cos, sin, mask]);
        let x = self.residual(x, &attended);
        let normed = self.rms_norm(&x, &weights[1]);
        let fed = self.swiglu(&normed, &weights[6..9]);
        self.residual(&x, &fed)
    }

    fn rms_norm(&mut self, x: &NamedTensor, weight: &NamedTensor) -> NamedTensor {
        let wide = self.extend_to_f32(x);
        let squares = self.elementwise(&wide, "f32", &["%r = math.fpowi %a, %two : f32, i64"]);
        let sum = self.row_sum(&squares, "#row3");
        let mean = self.elementwise(&sum, "f32", &["%r = arith.divf %a, %width : f32"]);
        let mean = self.elementwise(
            &mean,
            "f32",
            &["%e = arith.truncf %epsilon : f64 to f32", "%r = arith.addf %a, %e : f32"],
        );
        let factor = self.elementwise(&mean, "f32", &["%r = math.rsqrt %a : f32"]);
        let scaled = self.broadcast_binary(&wide, (&factor, "#row3"), "arith.mulf");
        let scaled = self.truncate_to_f16(&scaled);
        self.map(&[(weight, "#last3"), (&scaled, "#all3")], &scaled.shape, "f16", &["%r = arith.mulf %a, %b : f16"])
    }

    fn residual(&mut self, x: &NamedTensor, update: &NamedTensor) -> NamedTensor {
        let update = self.expand(update, &[2, 1], &x.shape);
        let update = self.elementwise(
            &update,
            "f16",
            &["%f = arith.truncf %residual : f64 to f16", "%r = arith.mulf %a, %f : f16"],
        );
        self.binary(x, &update, "arith.addf")
    }

    /// Writes a projection, reshaped to `[1, heads, sequence, head size]`.
    fn heads(&mut self, input: &NamedTensor, weights: &NamedTensor, n_heads: usize) -> NamedTensor {
        let rows = self.linear(input, weights);
        let shape = [1, self.model.sequence, n_heads, self.model.head_size];
        let split = self.expand(&rows, &[2, 2], &shape);
        self.transpose(&split, &[0, 2, 1, 3])
    }

    fn attention(
        &mut self,
        x: &NamedTensor,
        weights: &[NamedTensor],
        [cos, sin, mask]: [&NamedTensor; 3],
    ) -> NamedTensor {
        let Granite { heads, kv_heads, .. } = self.model;
        // As in torch-mlir's export, the first transpose precedes the reshape of the input.
        let transposed = self.transpose(&weights[0], &[1, 0]);
        let rows = self.collapse(x, &[2, 1]);
        let queries = self.matmul(&rows, &transposed);
        let queries = self.expand(&queries, &[2, 2], &[1, self.model.sequence, heads, self.model.head_size]);
        let queries = self.transpose(&queries, &[0, 2, 1, 3]);
        let keys = self.heads(&rows, &weights[1], kv_heads);
        let values = self.heads(&rows, &weights[2], kv_heads);
        let queries = self.rotate(&queries, cos, sin);
        let keys = self.rotate(&keys, cos, sin);
        let (keys, values) = match self.caches.take() {
            Some([cached_keys, cached_values]) => {
                (self.append_rows(&cached_keys, &keys), self.append_rows(&cached_values, &values))
            }
            None => (keys, values),
        };
        let keys = self.repeat_heads(&keys);
        let keys = self.collapse(&keys, &[1, 2, 1, 1]);
        let values = self.repeat_heads(&values);
        let keys = self.transpose(&keys, &[0, 1, 3, 2]);
        let queries = self.collapse(&queries, &[2, 1, 1]);
        let keys = self.collapse(&keys, &[2, 1, 1]);
        let scores = self.matmul(&queries, &keys);
        let weighted = self.softmax(&scores, mask);
        let weighted = self.collapse(&weighted, &[2, 1, 1]);
        let values = self.collapse(&values, &[3, 1, 1]);
        let mixed = self.matmul(&weighted, &values);
        self.merge_heads(&mixed, &weights[3])
    }

    /// Appends new rows to the cached ones.
    fn append_rows(&mut self, cached: &NamedTensor, new: &NamedTensor) -> NamedTensor {
        let shape = [cached.shape[0], cached.shape[1], cached.shape[2] + new.shape[2], cached.shape[3]];
        let types = format!("({}, {}) -> {}", cached.type_text(), new.type_text(), tensor(&shape, "f16"));
        self.value(&shape, "f16", format!("tensor.concat dim(2) {cached}, {new} : {types}"))
    }

    /// Writes the rotary embedding: each half of a head is rotated by the other half.
    fn rotate(&mut self, x: &NamedTensor, cos: &NamedTensor, sin: &NamedTensor) -> NamedTensor {
        let half = self.model.head_size / 2;
        let straight = self.broadcast_binary(x, (cos, "#table4"), "arith.mulf");
        let [first, second] = [0, half].map(|offset| self.slice(x, offset, half));
        let turned = self.elementwise(&second, "f16", &["%r = arith.negf %a : f16"]);
        let types = format!("({}, {}) -> {}", turned.type_text(), first.type_text(), x.type_text());
        let turned = self.value(&x.shape, "f16", format!("tensor.concat dim(3) {turned}, {first} : {types}"));
        let turned = self.broadcast_binary(&turned, (sin, "#table4"), "arith.mulf");
        self.binary(&straight, &turned, "arith.addf")
    }

    /// Writes a slice of the last of four dimensions.
    fn slice(&mut self, x: &NamedTensor, offset: usize, size: usize) -> NamedTensor {
        let shape = [x.shape[0], x.shape[1], x.shape[2], size];
        let types = format!("{} to {}", x.type_text(), tensor(&shape, x.element));
        self.value(
            &shape,
            x.element,
            format!("tensor.extract_slice {x}[0, 0, 0, {offset}] {shape:?} [1, 1, 1, 1] : {types}"),
        )
    }

    /// Repeats each head for every query head that it serves: `[1, kv heads, group, sequence, head size]`.
    fn repeat_heads(&mut self, x: &NamedTensor) -> NamedTensor {
        let Granite { sequence, cached, heads, kv_heads, head_size, .. } = self.model;
        self.map(&[(x, "#group5")], &[1, kv_heads, heads / kv_heads, cached + sequence, head_size], "f16", &[])
    }

    /// Writes the scaling and masking of scores, `[heads, sequence, cached + sequence]`, and a softmax along the last
    /// dimension. The result is `[1, heads, ...]`.
    fn softmax(&mut self, scores: &NamedTensor, mask: &NamedTensor) -> NamedTensor {
        let Granite { sequence, cached, heads, .. } = self.model;
        let scores = self.expand(scores, &[2, 1, 1], &[1, heads, sequence, cached + sequence]);
        let scores = self.elementwise(&scores, "f16", &["%r = arith.mulf %a, %scale : f16"]);
        let scores = self.broadcast_binary(&scores, (mask, "#table4"), "arith.addf");
        let wide = self.extend_to_f32(&scores);
        let largest = self.row_maximum(&wide);
        let shifted = self.broadcast_binary(&wide, (&largest, "#row4"), "arith.subf");
        let powers = self.elementwise(&shifted, "f32", &["%r = math.exp %a : f32"]);
        let sum = self.row_sum(&powers, "#row4");
        let shares = self.broadcast_binary(&powers, (&sum, "#row4"), "arith.divf");
        self.truncate_to_f16(&shares)
    }

    /// Writes the maximum along the last dimension, and its index, as PyTorch's `max` does.
    fn row_maximum(&mut self, x: &NamedTensor) -> NamedTensor {
        let shape = &x.shape[..3];
        let index = self.fill(shape, "i64", "%first");
        let init = self.fill(shape, "f32", "%lowest");
        let (from, maximum_type, index_type) = (x.type_text(), init.type_text(), index.type_text());
        let iterators = ["parallel", "parallel", "parallel", "reduction"];
        let name = format!("%v{}", self.num_values);
        self.num_values += 1;
        self.line(format!(
            "{name}:2 = linalg.generic {{indexing_maps = [#all4, #first4, #first4], iterator_types = {iterators:?}}} ins({x} : {from}) \
             outs({init}, {index} : {maximum_type}, {index_type}) {{"
        ));
        self.line(
            "^bb0(%a: f32, %out: f32, %at: i64):
      %i = linalg.index 3 : index
      %j = arith.index_cast %i : index to i64
      %r = arith.maximumf %a, %out : f32
      %more = arith.cmpf ogt, %a, %out : f32
      %k = arith.select %more, %j, %at : i64
      linalg.yield %r, %k : f32, i64",
        );
        self.line(format!("}} -> ({maximum_type}, {index_type})"));
        let maximum = NamedTensor { name: format!("{name}#0"), ..init };
        let shape = [&maximum.shape[..], &[1]].concat();
        self.expand(&maximum, &[1, 1, 2], &shape)
    }

    /// Merges `[heads, sequence, head size]` to rows, and writes their matmul with the weights.
    fn merge_heads(&mut self, x: &NamedTensor, weights: &NamedTensor) -> NamedTensor {
        let Granite { sequence, heads, head_size, .. } = self.model;
        let x = self.expand(x, &[2, 1, 1], &[1, heads, sequence, head_size]);
        let x = self.transpose(&x, &[0, 2, 1, 3]);
        let weights = self.transpose(weights, &[1, 0]);
        let x = self.collapse(&x, &[2, 2]);
        self.matmul(&x, &weights)
    }

    fn swiglu(&mut self, x: &NamedTensor, weights: &[NamedTensor]) -> NamedTensor {
        let shape = [1, self.model.sequence, self.model.mlp];
        let gate_weights = self.transpose(&weights[0], &[1, 0]);
        let rows = self.collapse(x, &[2, 1]);
        let gate = self.matmul(&rows, &gate_weights);
        let gate = self.expand(&gate, &[2, 1], &shape);
        let gate = self.extend_to_f32(&gate);
        let sigmoid = [
            "%n = arith.negf %a : f32",
            "%e = math.exp %n : f32",
            "%d = arith.addf %e, %one : f32",
            "%r = arith.divf %one, %d : f32",
        ];
        let opened = self.elementwise(&gate, "f32", &sigmoid);
        let gate = self.binary(&gate, &opened, "arith.mulf");
        let gate = self.truncate_to_f16(&gate);
        let up = self.linear(&rows, &weights[1]);
        let up = self.expand(&up, &[2, 1], &shape);
        let product = self.binary(&gate, &up, "arith.mulf");
        let weights = self.transpose(&weights[2], &[1, 0]);
        let rows = self.collapse(&product, &[2, 1]);
        self.matmul(&rows, &weights)
    }
}
