//! Random programs that repeat values, look at them in other ways, and then reduce, normalise, put together and multiply them.
//!
//! As in `random_programs`, a case is the interpretation of a recipe of plain choices, so that a failing recipe can be made smaller. A step
//! that would make a number inexact, or a value too large, is left out.

use crate::array::Array;
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

/// More elements take the simulator of a debug build too long.
const MOST_ELEMENTS: usize = 20_000;
/// Products of a contraction.
const MOST_PRODUCTS: usize = 200_000;
const MOST_DIMS: usize = 5;

/// Around multiples of a stick of 64.
const SIZES: [usize; 16] = [1, 2, 3, 4, 5, 8, 17, 31, 33, 63, 64, 65, 80, 100, 128, 130];
const FEW: [usize; 5] = [1, 2, 3, 4, 5];

#[derive(Clone, Debug)]
enum Step {
    /// A new dimension, along which nothing changes.
    Broadcast(Index, Index),
    /// Each element several times, or all of them.
    Repeat(Index, Index, bool),
    Collapse(Index),
    Expand(Index, Index),
    Slice(Index, Index, Index),
    Transpose(Index, Index),
    /// With itself, or with an argument.
    Concat(Index, bool),
    Negate,
    /// Along some dimensions: the sum, the largest, the smallest.
    Reduce(u8, u8),
    /// What the largest along some dimensions leaves.
    Center(u8),
    /// Times an argument that has some of the dimensions.
    Scale(u8),
    Product(Product),
}

/// A product with another tensor.
#[derive(Clone, Debug)]
struct Product {
    is_left: bool,
    /// The dimensions of the other operand that an argument has.
    own: u8,
    /// Whether the others are there by a broadcast; else batch dimensions are missing.
    is_spread: bool,
    size: Index,
}

/// The choices behind a case.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    sizes: Vec<(usize, usize)>,
    steps: Vec<Step>,
}

pub(crate) fn recipes() -> impl Strategy<Value = Recipe> {
    let sizes = (0_usize..=4).prop_flat_map(|rank| vec((select(&SIZES[..]), select(&FEW[..])), rank));
    (sizes, vec(step(), 1..7)).prop_map(|(sizes, steps)| Recipe { sizes, steps })
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let product = (any::<bool>(), any::<u8>(), any::<bool>(), index());
    prop_oneof![
        3 => (index(), index()).prop_map(|(at, size)| Step::Broadcast(at, size)),
        3 => (index(), index(), any::<bool>()).prop_map(|(at, size, is_inner)| Step::Repeat(at, size, is_inner)),
        2 => index().prop_map(Step::Collapse),
        2 => (index(), index()).prop_map(|(at, inner)| Step::Expand(at, inner)),
        2 => (index(), index(), index()).prop_map(|(at, offset, size)| Step::Slice(at, offset, size)),
        2 => (index(), index()).prop_map(|(one, two)| Step::Transpose(one, two)),
        1 => (index(), any::<bool>()).prop_map(|(at, is_own)| Step::Concat(at, is_own)),
        1 => Just(Step::Negate),
        3 => (any::<u8>(), any::<u8>()).prop_map(|(dims, kind)| Step::Reduce(dims, kind)),
        2 => any::<u8>().prop_map(Step::Center),
        2 => any::<u8>().prop_map(Step::Scale),
        3 => product.prop_map(|(is_left, own, is_spread, size)| Step::Product(Product { is_left, own, is_spread, size })),
    ]
}

fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

fn type_of(shape: &[usize]) -> String {
    format!("tensor<{}f16>", shape.iter().map(|size| format!("{size}x")).collect::<String>())
}

/// The groups of a reshape that joins dimensions `at` and `at + 1` of the longer shape, of rank `rank + 1`.
fn groups(rank: usize, at: usize) -> String {
    let group = |dim: usize| if dim == at { format!("[{dim}, {}]", dim + 1) } else { format!("[{}]", dim + usize::from(dim > at)) };
    format!("[{}]", list((0..rank).map(group)))
}

/// The dimensions that the bits name; at least one.
fn chosen(bits: u8, rank: usize) -> Vec<usize> {
    let dims: Vec<usize> = (0..rank).filter(|dim| bits >> dim & 1 == 1).collect();
    if dims.is_empty() { vec![usize::from(bits) % rank] } else { dims }
}

type Named = (String, Array);

/// A program, its arguments and its result.
pub(crate) struct Program {
    n_names: usize,
    pub(crate) arguments: Vec<Named>,
    lines: Vec<String>,
    pub(crate) result: Named,
}

impl Recipe {
    pub(crate) fn program(&self) -> Program {
        let mut shape: Vec<usize> = self.sizes.iter().map(|(size, _)| *size).collect();
        for (dim, (_, few)) in self.sizes.iter().enumerate() {
            if shape.iter().product::<usize>() > MOST_ELEMENTS / 4 {
                shape[dim] = *few;
            }
        }
        let first = ("%x".to_owned(), Array::seeded(&shape, 1));
        let mut program = Program { n_names: 0, arguments: vec![first.clone()], lines: vec![], result: first };
        self.steps.iter().for_each(|step| program.step(step));
        program.negate();
        program
    }
}

impl Program {
    pub(crate) fn text(&self) -> String {
        let arguments = list(self.arguments.iter().map(|(name, array)| format!("{name}: {}", type_of(&array.shape))));
        let to = type_of(&self.result.1.shape);
        let lines: String = self.lines.iter().map(|line| format!("  {line}\n")).collect();
        format!("func.func @f({arguments}) -> {to} {{\n{lines}  return {} : {to}\n}}\n", self.result.0)
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("%v{}", self.n_names)
    }

    fn line(&mut self, text: &str) -> String {
        let name = self.name();
        self.lines.push(format!("{name} = {text}"));
        name
    }

    fn argument(&mut self, shape: &[usize]) -> Named {
        let name = format!("%a{}", self.arguments.len());
        let argument = (name, Array::seeded(shape, self.arguments.len() + 1));
        self.arguments.push(argument.clone());
        argument
    }

    fn empty(&mut self, shape: &[usize]) -> String {
        self.line(&format!("tensor.empty() : {}", type_of(shape)))
    }

    fn shape(&self) -> Vec<usize> {
        self.result.1.shape.clone()
    }

    fn step(&mut self, step: &Step) {
        let (shape, rank) = (self.shape(), self.shape().len());
        match step {
            Step::Broadcast(at, size) if rank < MOST_DIMS => {
                let (at, size) = (at.index(rank + 1), *size.get(&FEW));
                self.result = self.broadcast(self.result.clone(), &[(at, size)]);
            }
            Step::Repeat(at, size, is_inner) if (1..MOST_DIMS).contains(&rank) => {
                let (at, size) = (at.index(rank), *size.get(&FEW));
                self.result = self.broadcast(self.result.clone(), &[(at + usize::from(*is_inner), size)]);
                if self.shape().len() > rank {
                    self.collapse(at);
                }
            }
            Step::Collapse(at) if rank > 1 => self.collapse(at.index(rank - 1)),
            Step::Expand(at, inner) if (1..MOST_DIMS).contains(&rank) => self.expand(at.index(rank), inner),
            Step::Slice(at, offset, size) if rank > 0 => {
                let at = at.index(rank);
                let offset = offset.index(shape[at]);
                self.slice(at, offset, 1 + size.index(shape[at] - offset));
            }
            Step::Transpose(one, two) if rank > 1 => self.transpose(one.index(rank), two.index(rank)),
            Step::Concat(at, is_own) if rank > 0 => self.concat(at.index(rank), *is_own),
            Step::Negate => self.negate(),
            Step::Reduce(dims, kind) if rank > 0 => {
                let source = self.result.clone();
                if let Some(reduced) = self.reduce(&source, &chosen(*dims, rank), *kind) {
                    self.result = reduced;
                }
            }
            Step::Center(dims) if rank > 0 => self.center(&chosen(*dims, rank)),
            Step::Scale(dims) if rank > 0 => self.scale(&chosen(*dims, rank)),
            Step::Product(product) if rank > 1 => self.product(product),
            _ => {}
        }
    }

    /// A value with new dimensions, given by their places in the result, ascending, and their sizes; the value itself if that is too large.
    fn broadcast(&mut self, source: Named, new: &[(usize, usize)]) -> Named {
        let (name, array) = source;
        let mut shape = array.shape.clone();
        new.iter().for_each(|&(at, size)| shape.insert(at, size));
        if new.is_empty() || shape.iter().product::<usize>() > MOST_ELEMENTS {
            return (name, array);
        }
        let is_new = |dim: &usize| new.iter().any(|(at, _)| at == dim);
        let old: Vec<usize> = (0..shape.len()).filter(|dim| !is_new(dim)).collect();
        let result = Array::of(&shape, |index| array.at(&old.iter().map(|&dim| index[dim]).collect::<Vec<_>>()));
        let empty = self.empty(&shape);
        let (from, to, dims) = (type_of(&array.shape), type_of(&shape), list(new.iter().map(|(at, _)| at)));
        (self.line(&format!("linalg.broadcast ins({name} : {from}) outs({empty} : {to}) dimensions = [{dims}]")), result)
    }

    fn collapse(&mut self, at: usize) {
        let (name, array) = self.result.clone();
        let mut shape = array.shape.clone();
        shape[at] *= shape.remove(at + 1);
        let text = format!("{} : {} into {}", groups(shape.len(), at), type_of(&array.shape), type_of(&shape));
        self.result = (self.line(&format!("tensor.collapse_shape {name} {text}")), array.reshaped(&shape));
    }

    fn expand(&mut self, at: usize, inner: &Index) {
        let (name, array) = self.result.clone();
        let size = array.shape[at];
        let inner = *inner.get(&(1..=size).filter(|inner| size % inner == 0).collect::<Vec<_>>());
        let mut shape = array.shape.clone();
        shape[at] = size / inner;
        shape.insert(at + 1, inner);
        let (groups, sizes) = (groups(array.shape.len(), at), list(&shape));
        let text = format!("{groups} output_shape [{sizes}] : {} into {}", type_of(&array.shape), type_of(&shape));
        self.result = (self.line(&format!("tensor.expand_shape {name} {text}")), array.reshaped(&shape));
    }

    fn slice(&mut self, at: usize, offset: usize, size: usize) {
        let (name, array) = self.result.clone();
        let mut shape = array.shape.clone();
        shape[at] = size;
        let mut offsets = vec![0; shape.len()];
        offsets[at] = offset;
        let result = Array::of(&shape, |index| array.at(&index.iter().zip(&offsets).map(|(at, offset)| at + offset).collect::<Vec<_>>()));
        let (ones, from, to) = (list(vec![1; shape.len()]), type_of(&array.shape), type_of(&shape));
        let text = format!("tensor.extract_slice {name}[{}] [{}] [{ones}] : {from} to {to}", list(&offsets), list(&shape));
        self.result = (self.line(&text), result);
    }

    fn transpose(&mut self, one: usize, two: usize) {
        let (name, array) = self.result.clone();
        let swapped = |of: &[usize]| {
            let mut of = of.to_vec();
            of.swap(one, two);
            of
        };
        let result = Array::of(&swapped(&array.shape), |index| array.at(&swapped(index)));
        let empty = self.empty(&result.shape);
        let order = list(swapped(&(0..array.shape.len()).collect::<Vec<_>>()));
        let (from, to) = (type_of(&array.shape), type_of(&result.shape));
        self.result = (self.line(&format!("linalg.transpose ins({name} : {from}) outs({empty} : {to}) permutation = [{order}]")), result);
    }

    fn concat(&mut self, at: usize, is_own: bool) {
        let (name, array) = self.result.clone();
        if 2 * array.values.len() > MOST_ELEMENTS {
            return;
        }
        let other = if is_own { self.result.clone() } else { self.argument(&array.shape) };
        let mut shape = array.shape.clone();
        shape[at] *= 2;
        let result = Array::of(&shape, |index| {
            let mut own = index.to_vec();
            own[at] %= array.shape[at];
            if index[at] < array.shape[at] { array.at(&own) } else { other.1.at(&own) }
        });
        let from = type_of(&array.shape);
        let text = format!("tensor.concat dim({at}) {name}, {} : ({from}, {from}) -> {}", other.0, type_of(&shape));
        self.result = (self.line(&text), result);
    }

    fn negate(&mut self) {
        let (name, array) = self.result.clone();
        let empty = self.empty(&array.shape);
        let to = type_of(&array.shape);
        self.result = (self.line(&format!("linalg.negf ins({name} : {to}) outs({empty} : {to}) -> {to}")), array.map(|value| -value));
    }

    /// The sum, the largest or the smallest along some dimensions; none if a sum is too large.
    fn reduce(&mut self, (name, array): &Named, dims: &[usize], kind: u8) -> Option<Named> {
        let (function, start, result) = match kind % 3 {
            0 => ("addf", "0.0", array.fold(dims, 0.0, |sum, value| sum + value)),
            1 => ("maximumf", "0xFC00", array.fold(dims, f32::NEG_INFINITY, f32::max)),
            _ => ("minimumf", "0x7C00", array.fold(dims, f32::INFINITY, f32::min)),
        };
        let is_sum = kind.is_multiple_of(3);
        if is_sum && !array.fold(dims, 0.0, |sum, value| sum + value.abs()).is_exact() {
            return None;
        }
        let empty = self.empty(&result.shape);
        let (from, to) = (type_of(&array.shape), type_of(&result.shape));
        let start = self.line(&format!("arith.constant {start} : f16"));
        let filled = self.line(&format!("linalg.fill ins({start} : f16) outs({empty} : {to}) -> {to}"));
        let dims = list(dims);
        let text = format!("linalg.reduce {{ arith.{function} }} ins({name} : {from}) outs({filled} : {to}) dimensions = [{dims}]");
        Some((self.line(&text), result))
    }

    fn center(&mut self, dims: &[usize]) {
        let source = self.result.clone();
        let Some(largest) = self.reduce(&source, dims, 1) else { return };
        let new: Vec<(usize, usize)> = dims.iter().map(|&dim| (dim, source.1.shape[dim])).collect();
        let wide = self.broadcast(largest, &new);
        self.pointwise("sub", &source, &wide, |one, two| one - two);
    }

    fn scale(&mut self, dims: &[usize]) {
        let source = self.result.clone();
        let shape: Vec<usize> = dims.iter().map(|&dim| source.1.shape[dim]).collect();
        let factor = self.argument(&shape);
        let new = (0..source.1.shape.len()).filter(|dim| !dims.contains(dim)).map(|dim| (dim, source.1.shape[dim]));
        let wide = self.broadcast(factor, &new.collect::<Vec<_>>());
        self.pointwise("mul", &source, &wide, |one, two| one * two);
    }

    fn pointwise(&mut self, function: &str, one: &Named, two: &Named, of: impl Fn(f32, f32) -> f32) {
        let values = one.1.values.iter().zip(&two.1.values).map(|(one, two)| of(*one, *two)).collect();
        let result = Array { shape: one.1.shape.clone(), values };
        if !result.is_exact() {
            return;
        }
        let to = type_of(&result.shape);
        let empty = self.empty(&result.shape);
        let text = format!("linalg.{function} ins({}, {} : {to}, {to}) outs({empty} : {to}) -> {to}", one.0, two.0);
        self.result = (self.line(&text), result);
    }

    /// A matrix product with another operand, which may lack batch dimensions or have dimensions by broadcast only.
    fn product(&mut self, product: &Product) {
        let own = self.result.clone();
        let (batch, rows) = own.1.shape.split_at(own.1.shape.len() - 2);
        let size = *product.size.get(&SIZES);
        let (k, other_rows) = if product.is_left { (rows[1], [rows[1], size]) } else { (rows[0], [size, rows[0]]) };
        let full = [batch, &other_rows].concat();
        let (m, n) = if product.is_left { (rows[0], size) } else { (size, rows[1]) };
        let n_batch: usize = batch.iter().product();
        let most = full.iter().product::<usize>().max(n_batch * m * n);
        if n_batch * m * n * k > MOST_PRODUCTS || most > MOST_ELEMENTS {
            return;
        }
        // What an argument has of the other operand, and which of the dimensions are then there for the product.
        let has = |dim: usize| product.own >> dim & 1 == 1 || (!product.is_spread && dim >= batch.len());
        let kept: Vec<usize> = (0..full.len()).filter(|&dim| has(dim)).collect();
        let argument = self.argument(&kept.iter().map(|&dim| full[dim]).collect::<Vec<_>>());
        let (other, seen) = if product.is_spread {
            let new: Vec<(usize, usize)> = (0..full.len()).filter(|dim| !has(*dim)).map(|dim| (dim, full[dim])).collect();
            (self.broadcast(argument, &new), (0..full.len()).collect())
        } else {
            (argument, kept)
        };
        let (left, right) = if product.is_left { (&own, &other) } else { (&other, &own) };
        let all: Vec<usize> = (0..full.len()).collect();
        let (left_dims, right_dims) = if product.is_left { (&all, &seen) } else { (&seen, &all) };
        self.contract((left, left_dims), (right, right_dims), [m, n, k], batch);
    }

    /// The dimensions of each operand are numbered like those of a full one: batch, then two.
    fn contract(&mut self, left: (&Named, &[usize]), right: (&Named, &[usize]), [m, n, k]: [usize; 3], batch: &[usize]) {
        let (outer, of_n, of_k) = (batch.len(), batch.len() + 1, batch.len() + 2);
        let of_left: Vec<usize> = left.1.iter().map(|&dim| if dim == outer + 1 { of_k } else { dim }).collect();
        let in_right = |&dim: &usize| {
            if dim == outer {
                of_k
            } else if dim == outer + 1 {
                of_n
            } else {
                dim
            }
        };
        let of_right: Vec<usize> = right.1.iter().map(in_right).collect();
        let shape = [batch, &[m, n]].concat();
        let sums = |of: &dyn Fn(f32) -> f32| {
            Array::of(&shape, |index| {
                let mut point = [index, &[0]].concat();
                let mut sum = 0.0;
                for at in 0..k {
                    point[of_k] = at;
                    let pick = |dims: &[usize]| dims.iter().map(|&dim| point[dim]).collect::<Vec<_>>();
                    sum += of(left.0.1.at(&pick(&of_left)) * right.0.1.at(&pick(&of_right)));
                }
                sum
            })
        };
        let result = sums(&|product| product);
        if !sums(&f32::abs).is_exact() {
            return;
        }
        let all = list((0..=of_k).map(|dim| format!("d{dim}")));
        let map = |dims: &[usize]| format!("affine_map<({all}) -> ({})>", list(dims.iter().map(|dim| format!("d{dim}"))));
        let maps = list([map(&of_left), map(&of_right), map(&(0..=of_n).collect::<Vec<_>>())]);
        let kinds = list(vec!["\"parallel\""; of_k]) + ", \"reduction\"";
        let empty = self.empty(&shape);
        let to = type_of(&shape);
        let zero = self.line("arith.constant 0.0 : f16");
        let filled = self.line(&format!("linalg.fill ins({zero} : f16) outs({empty} : {to}) -> {to}"));
        let inputs = format!("{}, {} : {}, {}", left.0.0, right.0.0, type_of(&left.0.1.shape), type_of(&right.0.1.shape));
        let body = "^bb0(%l: f16, %r: f16, %o: f16): %p = arith.mulf %l, %r : f16 %s = arith.addf %o, %p : f16 linalg.yield %s : f16";
        let text = format!(
            "linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({inputs}) outs({filled} : {to}) {{ {body} }} -> {to}"
        );
        self.result = (self.line(&text), result);
    }
}
