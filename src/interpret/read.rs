//! Converts IR to plain values; the only file of the interpreter that depends on MLIR.

use super::eval_program::{
    ConstantLiteral, EvalBlock, EvalFunction, EvalLoop, EvalOp, EvalOpKind, EvalTensor, ValueId,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect,
    mlir::{
        self, BlockExt, Module, Op, OpExt, RawElements, ScalarType, TensorType, Type, Value, ValueLike, ValueMap,
        float_value, floats, integer, integers, map_of, map_results, raw_elements, string,
    },
};
use machine::ElementType;

/// Unsupported or incomplete op, with the reason.
pub type UninterpretableOp<'c> = (Op<'c>, String);

/// Reads every function with a body. The contents of constants live as long as the session, independently of the
/// module.
///
/// # Errors
/// See [`UninterpretableOp`].
pub fn read_functions<'m, 'c>(module: &'m Module<'c>) -> Result<Vec<EvalFunction<'c>>, UninterpretableOp<'m>> {
    let session = module.session();
    let functions = module.op().body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some());
    functions
        .map(|function| read_with_elements(function, &|attribute| raw_elements(session.retain_attribute(attribute)?)))
        .collect()
}

/// Reads a function of `spyre` ops, after any phase up to `lx`.
///
/// # Errors
/// See [`UninterpretableOp`].
pub fn read_function(function: Op<'_>) -> Result<EvalFunction<'_>, UninterpretableOp<'_>> {
    read_with_elements(function, &raw_elements)
}

fn read_with_elements<'m, 'c>(
    function: Op<'m>,
    content: ElementsLookup<'_, 'm, 'c>,
) -> Result<EvalFunction<'c>, UninterpretableOp<'m>> {
    let mut reader = FunctionReader { values: Vec::new(), ids: ValueMap::default(), content };
    let body = function.body().ok_or_else(|| (function, "has no body".to_owned()))?;
    let body = reader.read_block(function, body)?;
    let range = |argument: usize| {
        mlir::argument_attribute(function, argument, attr::SPYRE_RANGE).and_then(integers)?.try_into().ok()
    };
    let ranges = (0..body.arguments.len()).map(range).collect();
    Ok(EvalFunction { name: function.text_attr("sym_name").to_owned(), ranges, values: reader.values, body })
}

/// Function that returns the elements of a constant's attribute; `None` if they cannot be read.
type ElementsLookup<'r, 'm, 'c> = &'r dyn Fn(mlir::Attribute<'m>) -> Option<RawElements<'c>>;

struct FunctionReader<'r, 'm, 'c> {
    values: Vec<EvalTensor>,
    ids: ValueMap<ValueId>,
    content: ElementsLookup<'r, 'm, 'c>,
}

impl<'m, 'c> FunctionReader<'_, 'm, 'c> {
    fn read_block(&mut self, around: Op<'m>, block: mlir::Block<'m>) -> Result<EvalBlock<'c>, UninterpretableOp<'m>> {
        let arguments =
            block.args().into_iter().map(|argument| self.define(around, argument)).collect::<Result<_, _>>()?;
        self.read_block_ops(around, block, arguments)
    }

    fn read_block_ops(
        &mut self,
        around: Op<'m>,
        block: mlir::Block<'m>,
        arguments: Vec<ValueId>,
    ) -> Result<EvalBlock<'c>, UninterpretableOp<'m>> {
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
        let ops: Vec<Vec<_>> = ops.into_iter().map(|op| self.read_operations(op)).collect::<Result<_, _>>()?;
        let ops = ops.into_iter().flatten().collect();
        Ok(EvalBlock { arguments, ops, yields: self.resolve_operands(terminator)? })
    }

    fn define(&mut self, at: Op<'m>, value: Value<'m>) -> Result<ValueId, UninterpretableOp<'m>> {
        let tensor = read_tensor(value)
            .ok_or_else(|| (at, format!("cannot be interpreted: has a value of {}", value.r#type())))?;
        let id = self.values.len();
        self.values.push(tensor);
        self.ids.insert(value, id);
        Ok(id)
    }

    fn resolve_operands(&self, op: Op<'m>) -> Result<Vec<ValueId>, UninterpretableOp<'m>> {
        let id = |value| {
            self.ids
                .get(value)
                .copied()
                .ok_or_else(|| (op, "cannot be interpreted: reads an undefined value".to_owned()))
        };
        op.inputs().into_iter().map(id).collect()
    }

    /// Reads an op. Returns two operations for a gather with a function, and one for any other op.
    fn read_operations(&mut self, op: Op<'m>) -> Result<Vec<EvalOp<'c>>, UninterpretableOp<'m>> {
        let mut operation = self.read_operation(op)?;
        let function = op.attr(attr::FUNCTION).and_then(string).filter(|_| op.is(spyre::GATHER));
        let ([output], Some(function)) = (operation.outputs.as_slice(), function) else { return Ok(vec![operation]) };
        let (output, chosen) = (*output, self.values.len());
        self.values.push(self.values[output].clone());
        operation.outputs = vec![chosen];
        let kind = EvalOpKind::Pointwise { function: function.to_owned(), constants: Vec::new() };
        Ok(vec![operation, EvalOp { kind, inputs: vec![chosen], outputs: vec![output] }])
    }

    fn read_operation(&mut self, op: Op<'m>) -> Result<EvalOp<'c>, UninterpretableOp<'m>> {
        let inputs = self.resolve_operands(op)?;
        let kind = self.read_kind(op)?;
        let outputs = op.outputs().into_iter().map(|output| self.define(op, output)).collect::<Result<_, _>>()?;
        Ok(EvalOp { kind, inputs, outputs })
    }

    fn read_kind(&mut self, op: Op<'m>) -> Result<EvalOpKind<'c>, UninterpretableOp<'m>> {
        let lacking =
            |name: &str| (op, format!("cannot be interpreted: attribute '{name}' is missing or has the wrong kind"));
        let positions =
            |name: &str| op.attr(name).and_then(integers).and_then(as_positions).ok_or_else(|| lacking(name));
        let function = || op.text_attr(attr::FUNCTION).to_owned();
        let constants = || op.attr(attr::CONSTANTS).and_then(floats).unwrap_or_default();
        Ok(match op.full_name() {
            spyre::CONSTANT => {
                EvalOpKind::Constant(read_literal(op, self.content).ok_or_else(|| lacking(attr::VALUE))?)
            }
            spyre::FILL => {
                EvalOpKind::Fill(op.attr(attr::VALUE).and_then(read_number).ok_or_else(|| lacking(attr::VALUE))?)
            }
            spyre::POINTWISE => EvalOpKind::Pointwise { function: function(), constants: constants() },
            spyre::REDUCE => {
                EvalOpKind::Reduce { function: function(), constants: constants(), dims: positions(attr::REDUCED)? }
            }
            spyre::MATMUL => EvalOpKind::Matmul,
            spyre::GATHER => EvalOpKind::Gather {
                dim: op.attr(attr::DIM).and_then(integer).and_then(as_position).ok_or_else(|| lacking(attr::DIM))?,
            },
            spyre::COPY | spyre::RESTICKIFY => EvalOpKind::Copy,
            spyre::EMPTY => EvalOpKind::Empty,
            spyre::INSERT => EvalOpKind::Insert { offsets: positions(attr::OFFSETS)? },
            spyre::VIEW => EvalOpKind::View(
                op.attr(attr::MAP).and_then(map_of).map(map_results).ok_or_else(|| lacking(attr::MAP))?,
            ),
            spyre::HINT => EvalOpKind::Scope(self.read_body(op)?),
            spyre::KERNEL => EvalOpKind::Scope(self.read_kernel_body(op)?),
            spyre::LOOP => EvalOpKind::Loop(EvalLoop {
                count: op
                    .attr(attr::COUNT)
                    .and_then(integer)
                    .and_then(as_position)
                    .ok_or_else(|| lacking(attr::COUNT))?,
                read: read_operand_dims(op).ok_or_else(|| lacking("tiled_dims"))?,
                given: op
                    .body_ops()
                    .last()
                    .and_then(|terminator| read_operand_dims(*terminator))
                    .ok_or_else(|| lacking("tiled_dims"))?,
                body: self.read_body(op)?,
            }),
            other => {
                return Err((op, format!("cannot be interpreted: expected a 'spyre' op on tensors, found '{other}'")));
            }
        })
    }

    /// Reads the body of a kernel; its arguments alias the kernel's inputs.
    fn read_kernel_body(&mut self, op: Op<'m>) -> Result<EvalBlock<'c>, UninterpretableOp<'m>> {
        let body = op.body().ok_or_else(|| (op, "has no body".to_owned()))?;
        for (argument, input) in body.args().into_iter().zip(self.resolve_operands(op)?) {
            self.ids.insert(argument, input);
        }
        self.read_block_ops(op, body, Vec::new())
    }

    fn read_body(&mut self, op: Op<'m>) -> Result<EvalBlock<'c>, UninterpretableOp<'m>> {
        let body = op.body().ok_or_else(|| (op, "has no body".to_owned()))?;
        self.read_block(op, body)
    }
}

fn as_position(number: i64) -> Option<usize> {
    usize::try_from(number).ok()
}

fn as_positions(numbers: Vec<i64>) -> Option<Vec<usize>> {
    numbers.into_iter().map(as_position).collect()
}

/// Returns the tiled dimension of each operand; `None` for loop-carried operands.
fn read_operand_dims(op: Op<'_>) -> Option<Vec<Option<usize>>> {
    let tiled = op.attr(attr::TILED_DIMS).and_then(integers).and_then(as_positions)?;
    let mut dims: Vec<Option<usize>> = tiled.into_iter().map(Some).collect();
    dims.resize(op.inputs().len(), None);
    Some(dims)
}

#[expect(clippy::cast_precision_loss, reason = "the number that fills a tensor is one of its format")]
fn read_number(attribute: mlir::Attribute<'_>) -> Option<f64> {
    float_value(attribute).or_else(|| integer(attribute).map(|number| number as f64))
}

fn read_literal<'m, 'c>(constant: Op<'m>, content: ElementsLookup<'_, 'm, 'c>) -> Option<ConstantLiteral<'c>> {
    let tensor = TensorType::from_type(constant.output().r#type())?;
    // Without rounding, the semantics of a program uses its exact numbers.
    let (raw, element) = match constant.attr(dialect::EXACT_ATTR).and_then(content) {
        Some(exact) => (exact, ElementType::F64),
        None => (constant.attr(attr::VALUE).and_then(content)?, read_element_type(tensor.element)?),
    };
    let literal = ConstantLiteral { bytes: raw.bytes, is_splat: raw.is_splat, element };
    let length = as_positions(tensor.shape)?.into_iter().product();
    literal.has_length(length).then_some(literal)
}

fn read_tensor(value: Value<'_>) -> Option<EvalTensor> {
    let tensor = TensorType::from_type(value.r#type())?;
    Some(EvalTensor { shape: as_positions(tensor.shape)?, element: read_element_type(tensor.element)? })
}

/// Returns the element type; `None` for a type that no tensor of this project has.
fn read_element_type(r#type: Type<'_>) -> Option<ElementType> {
    ScalarType::from_type(r#type).element_type().filter(|element| *element != ElementType::Index)
}
