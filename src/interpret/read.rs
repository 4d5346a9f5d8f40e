//! Converts IR to plain values; the only file of the interpreter that depends on MLIR.

use super::program::{Block, Function, Kind, Literal, Loop, Operation, Tensor, ValueId};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect,
    mlir::{
        self, BlockExt, Module, Op, OpExt, RawElements, ScalarType, TensorType, Type, Value, ValueLike, ValueMap, float_value, floats,
        integer, integers, map_of, map_results, raw_elements, string,
    },
};
use machine::ElementType;

/// Unsupported or incomplete op, with the reason.
pub type Unreadable<'c> = (Op<'c>, String);

/// Reads every function with a body. The contents of constants live as long as the session, independently of the module.
///
/// # Errors
/// See [`Unreadable`].
pub fn read_functions<'m, 'c>(module: &'m Module<'c>) -> Result<Vec<Function<'c>>, Unreadable<'m>> {
    let session = module.session();
    let functions = module.op().body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some());
    functions.map(|function| read(function, &|attribute| raw_elements(session.keep(attribute)?))).collect()
}

/// Reads a function of `spyre` ops, after any phase up to `lx`.
///
/// # Errors
/// See [`Unreadable`].
pub fn read_function(function: Op<'_>) -> Result<Function<'_>, Unreadable<'_>> {
    read(function, &raw_elements)
}

fn read<'m, 'c>(function: Op<'m>, content: Content<'_, 'm, 'c>) -> Result<Function<'c>, Unreadable<'m>> {
    let mut reader = Reader { values: Vec::new(), ids: ValueMap::default(), content };
    let body = function.body().ok_or_else(|| (function, "has no body".to_owned()))?;
    let body = reader.block(function, body)?;
    let range = |argument: usize| mlir::argument_attribute(function, argument, attr::SPYRE_RANGE).and_then(integers)?.try_into().ok();
    let ranges = (0..body.arguments.len()).map(range).collect();
    Ok(Function { name: function.text_attr("sym_name").to_owned(), ranges, values: reader.values, body })
}

/// Function that returns the elements of a constant's attribute, or None if they cannot be read.
type Content<'r, 'm, 'c> = &'r dyn Fn(mlir::Attribute<'m>) -> Option<RawElements<'c>>;

struct Reader<'r, 'm, 'c> {
    values: Vec<Tensor>,
    ids: ValueMap<ValueId>,
    content: Content<'r, 'm, 'c>,
}

impl<'m, 'c> Reader<'_, 'm, 'c> {
    fn block(&mut self, around: Op<'m>, block: mlir::Block<'m>) -> Result<Block<'c>, Unreadable<'m>> {
        let arguments = block.args().into_iter().map(|argument| self.define(around, argument)).collect::<Result<_, _>>()?;
        self.inside(around, block, arguments)
    }

    fn inside(&mut self, around: Op<'m>, block: mlir::Block<'m>, arguments: Vec<ValueId>) -> Result<Block<'c>, Unreadable<'m>> {
        let mut ops = block.ops();
        let terminator = ops.pop().ok_or_else(|| (around, "has an empty body".to_owned()))?;
        if !terminator.is("func.return") && !terminator.is(spyre::YIELD) {
            return Err((
                terminator,
                format!(
                    "cannot be interpreted: expected 'func.return' or 'spyre.yield' at the end of a body, found '{}'",
                    terminator.full_name()
                ),
            ));
        }
        let ops: Vec<Vec<_>> = ops.into_iter().map(|op| self.operations(op)).collect::<Result<_, _>>()?;
        let ops = ops.into_iter().flatten().collect();
        Ok(Block { arguments, ops, yields: self.uses(terminator)? })
    }

    fn define(&mut self, at: Op<'m>, value: Value<'m>) -> Result<ValueId, Unreadable<'m>> {
        let tensor = tensor_of(value).ok_or_else(|| (at, format!("cannot be interpreted: has a value of {}", value.r#type())))?;
        let id = self.values.len();
        self.values.push(tensor);
        self.ids.insert(value, id);
        Ok(id)
    }

    fn uses(&self, op: Op<'m>) -> Result<Vec<ValueId>, Unreadable<'m>> {
        let id = |value| self.ids.get(value).copied().ok_or_else(|| (op, "cannot be interpreted: reads an undefined value".to_owned()));
        op.inputs().into_iter().map(id).collect()
    }

    /// Reads an op. Returns two operations for a gather with a function, and one for any other op.
    fn operations(&mut self, op: Op<'m>) -> Result<Vec<Operation<'c>>, Unreadable<'m>> {
        let mut operation = self.operation(op)?;
        let function = op.attr(attr::FUNCTION).and_then(string).filter(|_| op.is(spyre::GATHER));
        let ([output], Some(function)) = (operation.outputs.as_slice(), function) else { return Ok(vec![operation]) };
        let (output, chosen) = (*output, self.values.len());
        self.values.push(self.values[output].clone());
        operation.outputs = vec![chosen];
        let kind = Kind::Pointwise { function: function.to_owned(), constants: Vec::new() };
        Ok(vec![operation, Operation { kind, inputs: vec![chosen], outputs: vec![output] }])
    }

    fn operation(&mut self, op: Op<'m>) -> Result<Operation<'c>, Unreadable<'m>> {
        let inputs = self.uses(op)?;
        let kind = self.kind(op)?;
        let outputs = op.outputs().into_iter().map(|output| self.define(op, output)).collect::<Result<_, _>>()?;
        Ok(Operation { kind, inputs, outputs })
    }

    fn kind(&mut self, op: Op<'m>) -> Result<Kind<'c>, Unreadable<'m>> {
        let lacking = |name: &str| (op, format!("cannot be interpreted: attribute '{name}' is missing or has the wrong kind"));
        let positions = |name: &str| op.attr(name).and_then(integers).and_then(as_positions).ok_or_else(|| lacking(name));
        let function = || op.text_attr(attr::FUNCTION).to_owned();
        let constants = || op.attr(attr::CONSTANTS).and_then(floats).unwrap_or_default();
        Ok(match op.full_name() {
            spyre::CONSTANT => Kind::Constant(literal_of(op, self.content).ok_or_else(|| lacking(attr::VALUE))?),
            spyre::FILL => Kind::Fill(op.attr(attr::VALUE).and_then(number).ok_or_else(|| lacking(attr::VALUE))?),
            spyre::POINTWISE => Kind::Pointwise { function: function(), constants: constants() },
            spyre::REDUCE => Kind::Reduce { function: function(), constants: constants(), dims: positions(attr::REDUCED)? },
            spyre::MATMUL => Kind::Matmul,
            spyre::GATHER => {
                Kind::Gather { dim: op.attr(attr::DIM).and_then(integer).and_then(as_position).ok_or_else(|| lacking(attr::DIM))? }
            }
            spyre::COPY | spyre::RESTICKIFY => Kind::Copy,
            spyre::EMPTY => Kind::Empty,
            spyre::INSERT => Kind::Insert { offsets: positions(attr::OFFSETS)? },
            spyre::VIEW => Kind::View(op.attr(attr::MAP).and_then(map_of).map(map_results).ok_or_else(|| lacking(attr::MAP))?),
            spyre::HINT => Kind::Scope(self.body(op)?),
            spyre::KERNEL => Kind::Scope(self.kernel_body(op)?),
            spyre::LOOP => Kind::Loop(Loop {
                count: op.attr(attr::COUNT).and_then(integer).and_then(as_position).ok_or_else(|| lacking(attr::COUNT))?,
                read: dims_of(op).ok_or_else(|| lacking("tiled_dims"))?,
                given: op.body_ops().last().and_then(|terminator| dims_of(*terminator)).ok_or_else(|| lacking("tiled_dims"))?,
                body: self.body(op)?,
            }),
            other => return Err((op, format!("cannot be interpreted: expected a 'spyre' op on tensors, found '{other}'"))),
        })
    }

    /// Reads the body of a kernel; its arguments alias the kernel's inputs.
    fn kernel_body(&mut self, op: Op<'m>) -> Result<Block<'c>, Unreadable<'m>> {
        let body = op.body().ok_or_else(|| (op, "has no body".to_owned()))?;
        for (argument, input) in body.args().into_iter().zip(self.uses(op)?) {
            self.ids.insert(argument, input);
        }
        self.inside(op, body, Vec::new())
    }

    fn body(&mut self, op: Op<'m>) -> Result<Block<'c>, Unreadable<'m>> {
        let body = op.body().ok_or_else(|| (op, "has no body".to_owned()))?;
        self.block(op, body)
    }
}

fn as_position(number: i64) -> Option<usize> {
    usize::try_from(number).ok()
}

fn as_positions(numbers: Vec<i64>) -> Option<Vec<usize>> {
    numbers.into_iter().map(as_position).collect()
}

/// Returns the tiled dimension of each operand; `None` for loop-carried operands.
fn dims_of(op: Op<'_>) -> Option<Vec<Option<usize>>> {
    let tiled = op.attr(attr::TILED_DIMS).and_then(integers).and_then(as_positions)?;
    let mut dims: Vec<Option<usize>> = tiled.into_iter().map(Some).collect();
    dims.resize(op.inputs().len(), None);
    Some(dims)
}

#[expect(clippy::cast_precision_loss, reason = "the number that fills a tensor is one of its format")]
fn number(attribute: mlir::Attribute<'_>) -> Option<f64> {
    float_value(attribute).or_else(|| integer(attribute).map(|number| number as f64))
}

fn literal_of<'m, 'c>(constant: Op<'m>, content: Content<'_, 'm, 'c>) -> Option<Literal<'c>> {
    let tensor = TensorType::of(constant.output().r#type())?;
    // Without rounding, the semantics of a program uses its exact numbers.
    let (raw, element) = match constant.attr(dialect::EXACT).and_then(content) {
        Some(exact) => (exact, ElementType::F64),
        None => (constant.attr(attr::VALUE).and_then(content)?, element_of(tensor.element)?),
    };
    let literal = Literal { bytes: raw.bytes, is_splat: raw.is_splat, element };
    let length = as_positions(tensor.shape)?.into_iter().product();
    literal.holds(length).then_some(literal)
}

fn tensor_of(value: Value<'_>) -> Option<Tensor> {
    let tensor = TensorType::of(value.r#type())?;
    Some(Tensor { shape: as_positions(tensor.shape)?, element: element_of(tensor.element)? })
}

/// Returns the element type, or None for a type that no tensor of this project has.
fn element_of(r#type: Type<'_>) -> Option<ElementType> {
    ScalarType::of(r#type).element().filter(|element| *element != ElementType::Index)
}
