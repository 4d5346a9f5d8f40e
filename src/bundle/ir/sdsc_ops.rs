//! `sdsc` ops and attributes from and to the model of a bundle.

use crate::dialect::{
    Enumerated,
    ods::{attr, memory, sdsc},
    sdsc_attribute, sdsc_parameters,
};
use crate::{
    bundle::{
        Allocation, Arrangement, Bundle, Constant, Coordinate, Item, IterationDim, Life, LoopSymbol, Mover, OpSpec, Operand, OwnedDim,
        Ownership, SymbolicDim, Window, WindowAxis,
    },
    mlir::{
        Attribute, Attributes, Context, Expr, Location, Op, OpExt, array, build, elements, float_value, integer, integers, map_attribute,
        map_from_exprs, map_of, map_results, new_block, push, string, string_array, strings, symbol,
    },
};
use program::layout::Term;

impl Enumerated for Arrangement {
    const ALL: &'static [Self] = &Self::ALL;
}

/// The parameters of an `#sdsc` attribute by name.
struct Parameters<'c> {
    entries: Vec<(&'c str, Attribute<'c>)>,
}

impl<'c> Parameters<'c> {
    fn of(attribute: Attribute<'c>) -> Result<Self, String> {
        let entries = sdsc_parameters(attribute).ok_or_else(|| format!("expected an #sdsc attribute, found {attribute}"))?;
        Ok(Self { entries })
    }

    fn get(&self, name: &str) -> Option<Attribute<'c>> {
        self.entries.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Reads a parameter that the attribute's definition requires. Panics if it is missing or has another kind.
    fn required<T>(&self, name: &str, read: impl FnOnce(Attribute<'c>) -> Option<T>) -> T {
        self.get(name).and_then(read).unwrap_or_else(|| panic!("an #sdsc attribute without '{name}'"))
    }

    fn integer(&self, name: &str) -> i64 {
        self.required(name, integer)
    }

    fn enumerated<E: Enumerated>(&self, name: &str) -> E {
        self.required(name, |number| integer(number).and_then(E::of_number))
    }

    fn text(&self, name: &str) -> Option<&'c str> {
        self.get(name).and_then(string)
    }

    fn integers(&self, name: &str) -> Vec<i64> {
        self.get(name).and_then(integers).unwrap_or_default()
    }
}

/// Appends the items of a bundle to the body of `parent`.
pub(crate) fn push_items<'c>(parent: Op<'c>, location: Location<'c>, items: &[Item]) {
    let context = parent.ctx();
    for item in items {
        match item {
            Item::Op(op) => {
                push(parent, op_to_ir(context, location, op, None));
            }
            Item::Loop { count, symbol, body } => {
                let mut attributes = Attributes::new(context).int(attr::COUNT, *count);
                if let Some(LoopSymbol { name, dim }) = symbol {
                    attributes = attributes.text(attr::SYMBOL, name).text(attr::DIM, dim);
                }
                let around = push(parent, build(sdsc::LOOP, location, &[], &[], attributes, vec![new_block(&[], location)]));
                push_items(around, location, body);
            }
        }
    }
}

/// `sdsc.bundle` with the buffers of its kernel arguments.
#[must_use]
pub(crate) fn bundle_to_ir<'c>(
    context: &'c Context,
    location: Location<'c>,
    name: &str,
    bundle: &Bundle,
    buffers: &[String],
) -> melior::ir::Operation<'c> {
    let buffers: Vec<Attribute<'c>> = buffers.iter().map(|buffer| symbol(context, buffer)).collect();
    let attributes = Attributes::new(context)
        .text(attr::SYM_NAME, name)
        .with(attr::BUFFERS, array(context, &buffers))
        .int(attr::POOL_BYTES, bundle.pool_bytes);
    build(sdsc::BUNDLE, location, &[], &[], attributes, vec![new_block(&[], location)])
}

/// Writes the lives of a launch on its `sdsc.bundle`, or on the module that this becomes.
pub(crate) fn set_lives(bundle: Op<'_>, mut lives: Vec<Life>) {
    lives.sort_unstable_by_key(|life| (life.first, life.offset_bytes, *life));
    if !lives.is_empty() {
        let texts: Vec<String> = lives.iter().map(ToString::to_string).collect();
        bundle.set_attr(attr::SDSC_LIVES, string_array(bundle.ctx(), &texts));
    }
}

/// The lives of a launch.
///
/// # Errors
/// The text that is no life.
pub(crate) fn lives_of(bundle: Op<'_>) -> Result<Vec<Life>, String> {
    let texts = bundle
        .attr(attr::SDSC_LIVES)
        .map_or(Some(Vec::new()), strings)
        .ok_or_else(|| format!("'{}' must be a list of strings", attr::SDSC_LIVES))?;
    texts.into_iter().map(str::parse).collect()
}

/// `sdsc.op`; `file` is the name of its SDSC file once the bundle is lowered.
#[must_use]
pub(crate) fn op_to_ir<'c>(context: &'c Context, location: Location<'c>, op: &OpSpec, file: Option<&str>) -> melior::ir::Operation<'c> {
    let n_dims = op.iteration_space.len();
    let dims: Vec<_> = op.iteration_space.iter().enumerate().map(|(position, dim)| dim_attribute(context, position, dim)).collect();
    let tensors = |is_input: bool| {
        let some: Vec<_> = op.operands.iter().filter(|operand| operand.is_input == is_input).collect();
        array(context, &some.into_iter().map(|operand| tensor_attribute(context, operand, n_dims)).collect::<Vec<_>>())
    };
    let mut attributes = Attributes::new(context)
        .text(attr::FUNCTION, &op.function)
        .with_option(attr::REDUCTION, op.is_reduction.then(|| Attribute::unit(context)))
        .with(attr::DIMS, array(context, &dims))
        .with(attr::INS, tensors(true))
        .with(attr::OUTS, tensors(false));
    if !op.constants.is_empty() {
        let constants: Vec<_> = op.constants.iter().map(|constant| constant_attribute(context, constant)).collect();
        attributes = attributes.with(attr::CONSTANTS, array(context, &constants));
    }
    attributes = attributes.with_option(attr::WINDOW, op.window.as_ref().map(|window| window_attribute(context, window)));
    if let Some(ranges) = &op.node_output_ranges {
        attributes = attributes.ints(attr::OUTPUT_RANGES, ranges);
    }
    if let Some(file) = file {
        attributes = attributes.text(attr::FILE, file);
    }
    build(sdsc::OP, location, &[], &[], attributes, vec![])
}

fn dim_attribute<'c>(context: &'c Context, position: usize, dim: &IterationDim) -> Attribute<'c> {
    let name = dim.name.clone().unwrap_or_else(|| format!("c{position}"));
    let granularity = dim.symbolic.as_ref().map_or(1, |symbolic| symbolic.granularity);
    let mut parameters =
        Attributes::new(context).text("name", &name).int("range", dim.range).int("split", dim.split).int("granularity", granularity);
    parameters = parameters.int("divisor", dim.divisor.unwrap_or(0));
    if let Some(symbolic) = &dim.symbolic {
        parameters = parameters.text(attr::SYMBOL, &symbolic.symbol);
    }
    sdsc_attribute("dim", parameters)
}

fn constant_attribute<'c>(context: &'c Context, constant: &Constant) -> Attribute<'c> {
    sdsc_attribute("constant", Attributes::new(context).text("name", &constant.name).float("value", constant.value))
}

fn window_attribute<'c>(context: &'c Context, window: &Window) -> Attribute<'c> {
    let axis = |axis: &WindowAxis| -> Vec<i64> {
        [axis.kernel, axis.stride, axis.padding, axis.dilation].into_iter().chain(axis.total_size).collect()
    };
    let mut parameters = Attributes::new(context).ints("height", &axis(&window.height)).ints("width", &axis(&window.width));
    if let Some(pad_type) = &window.pad_type {
        parameters = parameters.text("pad_type", pad_type);
    }
    sdsc_attribute("window", parameters)
}

fn tensor_attribute<'c>(context: &'c Context, operand: &Operand, n_dims: usize) -> Attribute<'c> {
    let (memory, argument) = match operand.allocation {
        Allocation::Hbm { argument, offset_bytes: _ } => (memory::HBM, i64::from(argument)),
        Allocation::Pool { offset_bytes: _ } => (memory::POOL, -1),
        Allocation::Lx { offset_bytes: _ } => (memory::LX, -1),
    };
    let mut index_tensors: Vec<String> = Vec::new();
    let coordinates: Vec<Expr> = operand.coordinates.iter().map(|coordinate| coordinate_expr(coordinate, &mut index_tensors)).collect();
    let map = map_from_exprs(context, n_dims, index_tensors.len(), &coordinates);
    let mut parameters = Attributes::new(context)
        .int("format", operand.format.number().into())
        .ints("device_size", &operand.device_size)
        .with("coordinates", map_attribute(map))
        .int("memory", memory.into())
        .int("argument", argument)
        .int("offset_bytes", operand.allocation.offset_bytes())
        .int("arrangement", operand.arrangement.number().into());
    if !operand.tile_advance.is_empty() {
        parameters = parameters.ints("advance", &operand.tile_advance);
    }
    if !index_tensors.is_empty() {
        parameters = parameters.with("index_tensors", string_array(context, &index_tensors));
    }
    if let Some(name) = &operand.name {
        parameters = parameters.text("name", name);
    }
    if let Some(ownership) = &operand.ownership {
        let owner = |owned: &OwnedDim| {
            let dim = i64::try_from(owned.dim).expect("fewer than 2^63");
            sdsc_attribute("owner", Attributes::new(context).int(attr::DIM, dim).int("slices", owned.slices).int("divisor", owned.divisor))
        };
        let owners: Vec<_> = ownership.dims.iter().map(owner).collect();
        parameters = parameters.with("owners", array(context, &owners));
    }
    sdsc_attribute("tensor", parameters)
}

/// A coordinate as an affine expression; an index tensor that it reads becomes the next symbol.
fn coordinate_expr(coordinate: &Coordinate, index_tensors: &mut Vec<String>) -> Expr {
    let boxed = |value: i64| Box::new(Expr::Constant(value));
    let term = match &coordinate.term {
        None => return Expr::Constant(coordinate.offset),
        Some(Mover::Digits(Term { dim, modulo, floordiv })) => {
            let digit = match modulo {
                Some(modulo) => Expr::Mod(Box::new(Expr::Dim(*dim)), boxed(*modulo)),
                None => Expr::Dim(*dim),
            };
            match floordiv {
                Some(divisor) => Expr::FloorDiv(Box::new(digit), boxed(*divisor)),
                None => digit,
            }
        }
        Some(Mover::Indirect(name)) => {
            index_tensors.push(name.clone());
            Expr::Symbol(index_tensors.len() - 1)
        }
    };
    if coordinate.offset == 0 { term } else { Expr::Add(Box::new(term), boxed(coordinate.offset)) }
}

/// The bundle that `sdsc.bundle` holds.
///
/// # Errors
/// The op that has no meaning as an op spec, and why.
pub(crate) fn bundle_of<'c>(bundle: Op<'c>) -> Result<Bundle, (Op<'c>, String)> {
    let pool_bytes = bundle.attr(attr::POOL_BYTES).and_then(integer).unwrap_or(0);
    Ok(Bundle { pool_bytes, items: items_of(bundle)? })
}

fn items_of<'c>(parent: Op<'c>) -> Result<Vec<Item>, (Op<'c>, String)> {
    let item = |op: Op<'c>| {
        if op.is(sdsc::LOOP) {
            let count = op.required("count", integer);
            let symbol = op.attr(attr::SYMBOL).and_then(string);
            let symbol = symbol.map(|name| LoopSymbol { name: name.to_owned(), dim: op.text_attr(attr::DIM).to_owned() });
            return Ok(Item::Loop { count, symbol, body: items_of(op)? });
        }
        op_of(op).map(|spec| Item::Op(Box::new(spec))).map_err(|message| (op, message))
    };
    parent.body_ops().into_iter().map(item).collect()
}

/// The op spec that `sdsc.op` is.
///
/// # Errors
/// A message about the attribute that has no meaning.
pub(crate) fn op_of(op: Op<'_>) -> Result<OpSpec, String> {
    if !op.is(sdsc::OP) {
        return Err("is not an op spec; expected 'sdsc.op' or 'sdsc.loop'".to_owned());
    }
    let list = |name: &str| op.attr(name).and_then(elements).unwrap_or_default();
    let mut operands = Vec::new();
    for (name, is_input) in [("ins", true), ("outs", false)] {
        for tensor in list(name) {
            operands.push(operand_of(tensor, is_input)?);
        }
    }
    let ranges = op.attr(attr::OUTPUT_RANGES).and_then(integers);
    let node_output_ranges =
        ranges.map(|ranges| ranges.try_into().map_err(|_| "expected four 'output_ranges': N, C, H and W".to_owned())).transpose()?;
    Ok(OpSpec {
        function: op.text_attr(attr::FUNCTION).to_owned(),
        is_reduction: op.attr(attr::REDUCTION).is_some(),
        iteration_space: list("dims").into_iter().map(dim_of).collect::<Result<_, _>>()?,
        operands,
        constants: list("constants").into_iter().map(constant_of).collect::<Result<_, _>>()?,
        window: op.attr(attr::WINDOW).map(window_of).transpose()?,
        node_output_ranges,
    })
}

fn dim_of(from: Attribute<'_>) -> Result<IterationDim, String> {
    let parameters = Parameters::of(from)?;
    let range = parameters.integer("range");
    let symbolic = parameters.text("symbol").map(|name| SymbolicDim {
        symbol: name.to_owned(),
        max: range,
        granularity: parameters.integer("granularity"),
    });
    let (split, divisor) = (parameters.integer("split"), Some(parameters.integer("divisor")).filter(|divisor| *divisor > 0));
    Ok(IterationDim { name: parameters.text("name").map(str::to_owned), range, split, divisor, symbolic })
}

fn constant_of(from: Attribute<'_>) -> Result<Constant, String> {
    let parameters = Parameters::of(from)?;
    let value = parameters.required("value", float_value);
    Ok(Constant { name: parameters.required("name", string).to_owned(), value })
}

fn window_of(from: Attribute<'_>) -> Result<Window, String> {
    let parameters = Parameters::of(from)?;
    let axis = |name: &str| {
        let numbers = parameters.required(name, integers);
        WindowAxis {
            kernel: numbers[0],
            stride: numbers[1],
            padding: numbers[2],
            dilation: numbers[3],
            total_size: numbers.get(4).copied(),
        }
    };
    Ok(Window { height: axis("height"), width: axis("width"), pad_type: parameters.text("pad_type").map(str::to_owned) })
}

fn operand_of(from: Attribute<'_>, is_input: bool) -> Result<Operand, String> {
    let parameters = Parameters::of(from)?;
    let offset_bytes = parameters.integer("offset_bytes");
    let allocation = match i32::try_from(parameters.integer("memory")).ok() {
        Some(memory::LX) => Allocation::Lx { offset_bytes },
        Some(memory::POOL) => Allocation::Pool { offset_bytes },
        _ => {
            let argument = parameters.integer("argument");
            let argument =
                u32::try_from(argument).map_err(|_| format!("expected a kernel argument from 0 to {}, found {argument}", u32::MAX))?;
            Allocation::Hbm { argument, offset_bytes }
        }
    };
    let index_tensors = parameters.get("index_tensors").and_then(strings).unwrap_or_default();
    let map = parameters.get("coordinates").and_then(map_of).ok_or("a tensor has no coordinates")?;
    let coordinates = map_results(map).iter().map(|expr| coordinate_of(expr, &index_tensors)).collect::<Option<_>>().ok_or_else(|| {
        format!("expected coordinates that are each one dimension, with 'mod' and 'floordiv', plus a constant, found {map}")
    })?;
    Ok(Operand {
        is_input,
        format: parameters.enumerated("format"),
        arrangement: parameters.enumerated("arrangement"),
        device_size: parameters.required("device_size", integers),
        coordinates,
        allocation,
        tile_advance: parameters.integers("advance"),
        name: parameters.text("name").map(str::to_owned),
        ownership: parameters.get("owners").and_then(elements).map(ownership_of).transpose()?,
    })
}

fn ownership_of(owners: Vec<Attribute<'_>>) -> Result<Ownership, String> {
    let owner = |from: Attribute<'_>| {
        let parameters = Parameters::of(from)?;
        let dim = usize::try_from(parameters.integer("dim")).expect("the dimension of an owner is not negative");
        Ok(OwnedDim { dim, slices: parameters.integer("slices"), divisor: parameters.integer("divisor") })
    };
    Ok(Ownership { dims: owners.into_iter().map(owner).collect::<Result<_, String>>()? })
}

/// A coordinate from an affine expression; none for one that is more than a dimension taken apart, plus a number.
fn coordinate_of(expr: &Expr, index_tensors: &[&str]) -> Option<Coordinate> {
    let number = |expr: &Expr| if let Expr::Constant(value) = expr { Some(*value) } else { None };
    let (term, offset) = match expr {
        Expr::Constant(value) => return Some(Coordinate::constant(*value)),
        Expr::Add(term, offset) => (term.as_ref(), number(offset)?),
        other => (other, 0),
    };
    let term = match term {
        Expr::Symbol(position) => Mover::Indirect((*index_tensors.get(*position)?).to_owned()),
        Expr::FloorDiv(digit, divisor) => {
            let (dim, modulo) = digit_of(digit)?;
            Mover::Digits(Term { dim, modulo, floordiv: Some(number(divisor)?) })
        }
        other => {
            let (dim, modulo) = digit_of(other)?;
            Mover::Digits(Term { dim, modulo, floordiv: None })
        }
    };
    Some(Coordinate { term: Some(term), offset })
}

fn digit_of(expr: &Expr) -> Option<(usize, Option<i64>)> {
    match expr {
        Expr::Dim(dim) => Some((*dim, None)),
        Expr::Mod(dim, modulo) => match (dim.as_ref(), modulo.as_ref()) {
            (Expr::Dim(dim), Expr::Constant(modulo)) => Some((*dim, Some(*modulo))),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Arrangement;
    use crate::dialect::ods::arrangement;

    #[test]
    fn ods_has_the_arrangements_in_the_same_order() {
        assert_eq!(Arrangement::ALL.map(Arrangement::name), arrangement::NAMES);
    }
}
