//! A model of Granite blocks as linalg on tensors: RMS norm, attention with grouped queries and rotary embedding, SwiGLU, residuals.
//!
//! The text repeats torch-mlir's export of one block (`shared/inputs/torch-mlir/granite_block_f16.mlir`), op by op, once per layer: f16
//! values with f32 islands, weights transposed at their uses, an unused arg-max next to the maximum of softmax. Sums and products have f32
//! results. Equal initial values are shared within a layer, as after `--cse`. All weights, the rotary tables and the mask are arguments.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Write},
};

/// How large a model is. The batch is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Granite {
    /// The number of blocks.
    pub(crate) layers: usize,
    /// Tokens.
    pub(crate) sequence: usize,
    /// Number of cached tokens that precede them, whose keys and values are arguments.
    pub(crate) cached: usize,
    /// Numbers of a token.
    pub(crate) hidden: usize,
    /// Heads of queries.
    pub(crate) heads: usize,
    /// Heads of keys and values; each serves `heads / kv_heads` heads of queries.
    pub(crate) kv_heads: usize,
    /// Numbers of a head: even.
    pub(crate) head_size: usize,
    /// Numbers between the two halves of SwiGLU.
    pub(crate) mlp: usize,
}

impl Granite {
    /// The shapes of Granite 3.x 2B with 512 tokens (`shared/inputs/torch-mlir/hf_granite2b_40layer_f16.mlir` has 40 such layers).
    pub(crate) const fn of_2b(layers: usize) -> Self {
        Self { layers, sequence: 512, cached: 0, hidden: 2048, heads: 32, kv_heads: 8, head_size: 64, mlp: 8192 }
    }

    /// The shapes of Granite 3.x 8B.
    pub(crate) const fn of_8b(layers: usize, sequence: usize) -> Self {
        Self { layers, sequence, cached: 0, hidden: 4096, heads: 32, kv_heads: 8, head_size: 128, mlp: 12800 }
    }

    /// Returns the module: `main(x, [norm 1, norm 2, Wq, Wk, Wv, Wo, Wgate, Wup, Wdown] per layer, cos, sin, mask)`, which returns the
    /// output of the last layer for the input `x`, both of shape `[1, sequence, hidden]`. Weights are `[out, in]`. With cached tokens, the
    /// keys and values of each layer, `[1, kv heads, cached, head size]`, follow the mask.
    pub(crate) fn module(&self) -> String {
        let mut writer = Writer { model: *self, text: String::new(), n_values: 0, initial: BTreeMap::new(), caches: None };
        let arguments = self.arguments();
        let argument = |index: usize| Value { name: format!("%arg{index}"), shape: arguments[index].clone(), element: "f16" };
        let n_weights = Self::N_LAYER_ARGUMENTS * self.layers;
        let [cos, sin, mask] = [1, 2, 3].map(|index| argument(n_weights + index));
        let mut x = argument(0);
        for layer in 0..self.layers {
            let weights: Vec<Value> =
                (0..Self::N_LAYER_ARGUMENTS).map(|index| argument(1 + Self::N_LAYER_ARGUMENTS * layer + index)).collect();
            writer.initial.clear();
            let first = n_weights + 4 + 2 * layer;
            writer.caches = (self.cached > 0).then(|| [first, first + 1].map(argument));
            x = writer.block(&x, &weights, [&cos, &sin, &mask]);
        }
        let parameters: Vec<String> = (0..arguments.len()).map(argument).map(|value| format!("{value}: {}", value.of())).collect();
        let (parameters, of, constants) = (parameters.join(", "), x.of(), self.constants());
        let body = writer.text;
        format!("{MAPS}module {{\n  func.func @main({parameters}) -> {of} {{\n{constants}{body}    return {x} : {of}\n  }}\n}}\n")
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

    const N_LAYER_ARGUMENTS: usize = 9;

    /// The shapes of the arguments, all f16.
    pub(crate) fn arguments(&self) -> Vec<Vec<usize>> {
        let (hidden, queries, keys) = (self.hidden, self.heads * self.head_size, self.kv_heads * self.head_size);
        let layer: [Vec<usize>; Self::N_LAYER_ARGUMENTS] = [
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
struct Value {
    name: String,
    shape: Vec<usize>,
    element: &'static str,
}

impl Value {
    /// The type.
    fn of(&self) -> String {
        tensor(&self.shape, self.element)
    }

    /// The map of all dimensions.
    fn all(&self) -> &'static str {
        ["", "", "#all2", "#all3", "#all4", "#all5"][self.shape.len()]
    }
}

impl Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

fn tensor(shape: &[usize], element: &str) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{element}>")
}

/// `[[0, 1], [2]]`: how many dimensions belong together.
fn groups(counts: &[usize]) -> String {
    let mut next = 0;
    let group = |count: &usize| {
        next += count;
        format!("{:?}", (next - count..next).collect::<Vec<_>>())
    };
    format!("[{}]", counts.iter().map(group).collect::<Vec<_>>().join(", "))
}

struct Writer {
    model: Granite,
    text: String,
    n_values: usize,
    /// Results of the `tensor.empty` and `linalg.fill` ops that are already written, by the text of the op.
    initial: BTreeMap<String, Value>,
    /// The cached keys and values of the layer that is written next.
    caches: Option<[Value; 2]>,
}

impl Writer {
    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "    {line}");
    }

    /// `%v0 = op : type`.
    fn value(&mut self, shape: &[usize], element: &'static str, op: impl Display) -> Value {
        let value = Value { name: format!("%v{}", self.n_values), shape: shape.to_vec(), element };
        self.n_values += 1;
        self.line(format!("{value} = {op}"));
        value
    }

    /// A value that is written once.
    fn shared(&mut self, shape: &[usize], element: &'static str, op: String) -> Value {
        if let Some(known) = self.initial.get(&op) {
            return known.clone();
        }
        let value = self.value(shape, element, &op);
        self.initial.insert(op, value.clone());
        value
    }

    fn empty(&mut self, shape: &[usize], element: &'static str) -> Value {
        self.shared(shape, element, format!("tensor.empty() : {}", tensor(shape, element)))
    }

    fn filled(&mut self, shape: &[usize], element: &'static str, with: &str) -> Value {
        let (empty, of) = (self.empty(shape, element), tensor(shape, element));
        self.shared(shape, element, format!("linalg.fill ins({with} : {element}) outs({empty} : {of}) -> {of}"))
    }

    /// An op without reduction. Each input has its map; `body` computes `%r` from `%a`, `%b`, one line per op.
    fn map(&mut self, inputs: &[(&Value, &str)], shape: &[usize], element: &'static str, body: &[&str]) -> Value {
        let init = self.empty(shape, element);
        let iterators = vec!["parallel"; shape.len()];
        self.generic(inputs, (&init, init.all()), &iterators, body)
    }

    fn generic(&mut self, inputs: &[(&Value, &str)], init: (&Value, &str), iterators: &[&str], body: &[&str]) -> Value {
        let list = |words: Vec<String>| words.join(", ");
        let maps = list(inputs.iter().chain([&init]).map(|(_, map)| (*map).to_owned()).collect());
        let names = list(inputs.iter().map(|(value, _)| value.name.clone()).collect());
        let types = list(inputs.iter().map(|(value, _)| value.of()).collect());
        let elements = inputs.iter().zip(["%a", "%b"]).map(|((value, _), name)| format!("{name}: {}, ", value.element));
        let block: String = elements.collect();
        let (init, element) = (init.0, init.0.element);
        let op = format!(
            "linalg.generic {{indexing_maps = [{maps}], iterator_types = {iterators:?}}} ins({names} : {types}) outs({init} : {}) {{",
            init.of()
        );
        let result = self.value(&init.shape, element, op);
        self.line(format!("^bb0({block}%out: {element}):"));
        for op in body {
            self.line(format!("  {op}"));
        }
        // A broadcast computes nothing.
        let yielded = if body.is_empty() { "%a" } else { "%r" };
        self.line(format!("  linalg.yield {yielded} : {element}"));
        self.line(format!("}} -> {}", init.of()));
        result
    }

    /// An op on each element by itself.
    fn each(&mut self, input: &Value, element: &'static str, body: &[&str]) -> Value {
        self.map(&[(input, input.all())], &input.shape, element, body)
    }

    fn f32(&mut self, input: &Value) -> Value {
        self.each(input, "f32", &["%r = arith.extf %a : f16 to f32"])
    }

    fn f16(&mut self, input: &Value) -> Value {
        self.each(input, "f16", &["%r = arith.truncf %a : f32 to f16"])
    }

    /// An op on two values of one shape.
    fn both(&mut self, left: &Value, right: &Value, op: &str) -> Value {
        self.with(left, (right, right.all()), op)
    }

    /// An op on a value and a broadcast operand.
    fn with(&mut self, left: &Value, right: (&Value, &str), op: &str) -> Value {
        let element = left.element;
        self.map(&[(left, left.all()), right], &left.shape, element, &[&format!("%r = {op} %a, %b : {element}")])
    }

    /// The sum along the last dimension, which stays with size 1.
    fn row_sum(&mut self, input: &Value, map: &str) -> Value {
        let (mut shape, mut iterators) = (input.shape.clone(), vec!["parallel"; input.shape.len()]);
        if let (Some(size), Some(iterator)) = (shape.last_mut(), iterators.last_mut()) {
            (*size, *iterator) = (1, "reduction");
        }
        let init = self.filled(&shape, "f32", "%zero");
        self.generic(&[(input, input.all())], (&init, map), &iterators, &["%r = arith.addf %a, %out : f32"])
    }

    fn transposed(&mut self, input: &Value, permutation: &[usize]) -> Value {
        let shape: Vec<usize> = permutation.iter().map(|dim| input.shape[*dim]).collect();
        let (init, from) = (self.empty(&shape, input.element), input.of());
        let op = format!("linalg.transpose ins({input} : {from}) outs({init} : {}) permutation = {permutation:?}", init.of());
        self.value(&shape, input.element, op)
    }

    /// Merges groups of neighbouring dimensions; `counts` has the size of each group.
    fn collapsed(&mut self, input: &Value, counts: &[usize]) -> Value {
        let mut sizes = input.shape.iter();
        let shape: Vec<usize> = counts.iter().map(|count| sizes.by_ref().take(*count).product()).collect();
        let into = tensor(&shape, input.element);
        self.value(&shape, input.element, format!("tensor.collapse_shape {input} {} : {} into {into}", groups(counts), input.of()))
    }

    fn expanded(&mut self, input: &Value, counts: &[usize], shape: &[usize]) -> Value {
        let into = tensor(shape, input.element);
        let op = format!("tensor.expand_shape {input} {} output_shape {shape:?} : {} into {into}", groups(counts), input.of());
        self.value(shape, input.element, op)
    }

    /// The product of matrices, or of batches of them, rounded to f16.
    fn product(&mut self, left: &Value, right: &Value) -> Value {
        let rank = left.shape.len();
        let name = if rank == 3 { "linalg.batch_matmul" } else { "linalg.matmul" };
        let shape = [&left.shape[..rank - 1], &right.shape[rank - 1..]].concat();
        let init = self.filled(&shape, "f32", "%zero");
        let (of, types) = (init.of(), format!("{}, {}", left.of(), right.of()));
        let sum = self.value(&shape, "f32", format!("{name} ins({left}, {right} : {types}) outs({init} : {of}) -> {of}"));
        self.f16(&sum)
    }

    /// `input` of `[sequence, in]` times the weights `[out, in]`.
    fn linear(&mut self, input: &Value, weights: &Value) -> Value {
        let weights = self.transposed(weights, &[1, 0]);
        self.product(input, &weights)
    }
}

/// The parts of a block.
impl Writer {
    fn block(&mut self, x: &Value, weights: &[Value], [cos, sin, mask]: [&Value; 3]) -> Value {
        let normed = self.rms_norm(x, &weights[0]);
        let attended = self.attention(&normed, &weights[2..6], [cos, sin, mask]);
        let x = self.residual(x, &attended);
        let normed = self.rms_norm(&x, &weights[1]);
        let fed = self.swiglu(&normed, &weights[6..9]);
        self.residual(&x, &fed)
    }

    fn rms_norm(&mut self, x: &Value, weight: &Value) -> Value {
        let wide = self.f32(x);
        let squares = self.each(&wide, "f32", &["%r = math.fpowi %a, %two : f32, i64"]);
        let sum = self.row_sum(&squares, "#row3");
        let mean = self.each(&sum, "f32", &["%r = arith.divf %a, %width : f32"]);
        let mean = self.each(&mean, "f32", &["%e = arith.truncf %epsilon : f64 to f32", "%r = arith.addf %a, %e : f32"]);
        let factor = self.each(&mean, "f32", &["%r = math.rsqrt %a : f32"]);
        let scaled = self.with(&wide, (&factor, "#row3"), "arith.mulf");
        let scaled = self.f16(&scaled);
        self.map(&[(weight, "#last3"), (&scaled, "#all3")], &scaled.shape, "f16", &["%r = arith.mulf %a, %b : f16"])
    }

    fn residual(&mut self, x: &Value, update: &Value) -> Value {
        let update = self.expanded(update, &[2, 1], &x.shape);
        let update = self.each(&update, "f16", &["%f = arith.truncf %residual : f64 to f16", "%r = arith.mulf %a, %f : f16"]);
        self.both(x, &update, "arith.addf")
    }

    /// A projection as `[1, heads, sequence, head size]`.
    fn heads(&mut self, input: &Value, weights: &Value, n_heads: usize) -> Value {
        let rows = self.linear(input, weights);
        let shape = [1, self.model.sequence, n_heads, self.model.head_size];
        let split = self.expanded(&rows, &[2, 2], &shape);
        self.transposed(&split, &[0, 2, 1, 3])
    }

    fn attention(&mut self, x: &Value, weights: &[Value], [cos, sin, mask]: [&Value; 3]) -> Value {
        let Granite { heads, kv_heads, .. } = self.model;
        // In torch-mlir's order: the first transpose precedes the reshape of the input.
        let transposed = self.transposed(&weights[0], &[1, 0]);
        let rows = self.collapsed(x, &[2, 1]);
        let queries = self.product(&rows, &transposed);
        let queries = self.expanded(&queries, &[2, 2], &[1, self.model.sequence, heads, self.model.head_size]);
        let queries = self.transposed(&queries, &[0, 2, 1, 3]);
        let keys = self.heads(&rows, &weights[1], kv_heads);
        let values = self.heads(&rows, &weights[2], kv_heads);
        let queries = self.rotated(&queries, cos, sin);
        let keys = self.rotated(&keys, cos, sin);
        let (keys, values) = match self.caches.take() {
            Some([cached_keys, cached_values]) => (self.behind(&cached_keys, &keys), self.behind(&cached_values, &values)),
            None => (keys, values),
        };
        let keys = self.repeated(&keys);
        let keys = self.collapsed(&keys, &[1, 2, 1, 1]);
        let values = self.repeated(&values);
        let keys = self.transposed(&keys, &[0, 1, 3, 2]);
        let queries = self.collapsed(&queries, &[2, 1, 1]);
        let keys = self.collapsed(&keys, &[2, 1, 1]);
        let scores = self.product(&queries, &keys);
        let weighted = self.softmax(&scores, mask);
        let weighted = self.collapsed(&weighted, &[2, 1, 1]);
        let values = self.collapsed(&values, &[3, 1, 1]);
        let mixed = self.product(&weighted, &values);
        self.joined(&mixed, &weights[3])
    }

    /// Appends new rows to the cached ones.
    fn behind(&mut self, cached: &Value, new: &Value) -> Value {
        let shape = [cached.shape[0], cached.shape[1], cached.shape[2] + new.shape[2], cached.shape[3]];
        let types = format!("({}, {}) -> {}", cached.of(), new.of(), tensor(&shape, "f16"));
        self.value(&shape, "f16", format!("tensor.concat dim(2) {cached}, {new} : {types}"))
    }

    /// The rotary embedding: each half of a head is turned by the other.
    fn rotated(&mut self, x: &Value, cos: &Value, sin: &Value) -> Value {
        let half = self.model.head_size / 2;
        let straight = self.with(x, (cos, "#table4"), "arith.mulf");
        let [first, second] = [0, half].map(|offset| self.slice(x, offset, half));
        let turned = self.each(&second, "f16", &["%r = arith.negf %a : f16"]);
        let types = format!("({}, {}) -> {}", turned.of(), first.of(), x.of());
        let turned = self.value(&x.shape, "f16", format!("tensor.concat dim(3) {turned}, {first} : {types}"));
        let turned = self.with(&turned, (sin, "#table4"), "arith.mulf");
        self.both(&straight, &turned, "arith.addf")
    }

    /// Some positions of the last dimension of four.
    fn slice(&mut self, x: &Value, offset: usize, size: usize) -> Value {
        let shape = [x.shape[0], x.shape[1], x.shape[2], size];
        let types = format!("{} to {}", x.of(), tensor(&shape, x.element));
        self.value(&shape, x.element, format!("tensor.extract_slice {x}[0, 0, 0, {offset}] {shape:?} [1, 1, 1, 1] : {types}"))
    }

    /// Each head once for every head of queries that it serves: `[1, kv heads, group, sequence, head size]`.
    fn repeated(&mut self, x: &Value) -> Value {
        let Granite { sequence, cached, heads, kv_heads, head_size, .. } = self.model;
        self.map(&[(x, "#group5")], &[1, kv_heads, heads / kv_heads, cached + sequence, head_size], "f16", &[])
    }

    /// Scores of `[heads, sequence, cached + sequence]` scaled and masked, then softmax along the last dimension: `[1, heads, ...]`.
    fn softmax(&mut self, scores: &Value, mask: &Value) -> Value {
        let Granite { sequence, cached, heads, .. } = self.model;
        let scores = self.expanded(scores, &[2, 1, 1], &[1, heads, sequence, cached + sequence]);
        let scores = self.each(&scores, "f16", &["%r = arith.mulf %a, %scale : f16"]);
        let scores = self.with(&scores, (mask, "#table4"), "arith.addf");
        let wide = self.f32(&scores);
        let largest = self.row_maximum(&wide);
        let shifted = self.with(&wide, (&largest, "#row4"), "arith.subf");
        let powers = self.each(&shifted, "f32", &["%r = math.exp %a : f32"]);
        let sum = self.row_sum(&powers, "#row4");
        let shares = self.with(&powers, (&sum, "#row4"), "arith.divf");
        self.f16(&shares)
    }

    /// The maximum along the last dimension, and its index, as in torch's `max`.
    fn row_maximum(&mut self, x: &Value) -> Value {
        let shape = &x.shape[..3];
        let index = self.filled(shape, "i64", "%first");
        let init = self.filled(shape, "f32", "%lowest");
        let (from, maximum_type, index_type) = (x.of(), init.of(), index.of());
        let iterators = ["parallel", "parallel", "parallel", "reduction"];
        let name = format!("%v{}", self.n_values);
        self.n_values += 1;
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
        let maximum = Value { name: format!("{name}#0"), ..init };
        let shape = [&maximum.shape[..], &[1]].concat();
        self.expanded(&maximum, &[1, 1, 2], &shape)
    }

    /// `[heads, sequence, head size]` as rows again, times the weights.
    fn joined(&mut self, x: &Value, weights: &Value) -> Value {
        let Granite { sequence, heads, head_size, .. } = self.model;
        let x = self.expanded(x, &[2, 1, 1], &[1, heads, sequence, head_size]);
        let x = self.transposed(&x, &[0, 2, 1, 3]);
        let weights = self.transposed(weights, &[1, 0]);
        let x = self.collapsed(&x, &[2, 2]);
        self.product(&x, &weights)
    }

    fn swiglu(&mut self, x: &Value, weights: &[Value]) -> Value {
        let shape = [1, self.model.sequence, self.model.mlp];
        let gate_weights = self.transposed(&weights[0], &[1, 0]);
        let rows = self.collapsed(x, &[2, 1]);
        let gate = self.product(&rows, &gate_weights);
        let gate = self.expanded(&gate, &[2, 1], &shape);
        let gate = self.f32(&gate);
        let sigmoid =
            ["%n = arith.negf %a : f32", "%e = math.exp %n : f32", "%d = arith.addf %e, %one : f32", "%r = arith.divf %one, %d : f32"];
        let opened = self.each(&gate, "f32", &sigmoid);
        let gate = self.both(&gate, &opened, "arith.mulf");
        let gate = self.f16(&gate);
        let up = self.linear(&rows, &weights[1]);
        let up = self.expanded(&up, &[2, 1], &shape);
        let product = self.both(&gate, &up, "arith.mulf");
        let weights = self.transposed(&weights[2], &[1, 0]);
        let rows = self.collapsed(&product, &[2, 1]);
        self.product(&rows, &weights)
    }
}
