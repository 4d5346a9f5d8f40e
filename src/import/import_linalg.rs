//! `spyre-import-linalg`: turns `linalg` on tensors into `spyre` ops.
//!
//! Reads one function of `linalg.generic`, fills, reshapes and constants; writes `spyre` ops in its place. Every value of the old program
//! is either a tensor of the new one or a known number; f32 values between f16 values are f16 tensors (`precision=device`). The `spyre`
//! ops that are already there stay and read the new tensors.

use super::{Precision, import_generic::import_generic, reshape::reshape_map, views::Shown};
use crate::{
    dialect::view,
    mlir::{
        Attribute, Block, BlockExt, Op, OpExt, Options, Pass, Reported, TensorType, Value, ValueExt, ValueLike, ValueMap, error_at,
        float_value, insert_before, integer, map_from_exprs, splat_value,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-import-linalg", run };

fn run<'c>(module: Op<'c>, options: &Options) -> Result<(), Reported> {
    let precision: Precision = options.text("precision").parse().map_err(|message: String| error_at(module, message).report())?;
    let mut functions = module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some());
    let Some(function) = functions.next() else { return Ok(()) };
    if let Some(second) = functions.next() {
        return Err(error_at(second, "is a second function with a body: only one is supported yet").note(function, "the first").report());
    }
    import_function(function, precision)
}

fn import_function(function: Op<'_>, precision: Precision) -> Result<(), Reported> {
    let Some(body) = function.body() else { return Ok(()) };
    if function.nested().into_iter().skip(1).all(|op| is_spyre(op) || op.is("func.return")) {
        return Ok(());
    }
    let mut importer = Importer { values: ValueMap::default(), precision, replaced: Vec::new() };
    for argument in body.args() {
        if TensorType::of(argument.r#type()).is_none() {
            let message = format!("has an argument of {}: only tensors of static shape are supported", argument.r#type());
            return Err(error_at(function, message).report());
        }
        importer.values.insert(argument, Imported::Tensor(argument));
    }
    importer.import_block(body)?;
    for op in importer.replaced.into_iter().rev() {
        op.erase();
    }
    Ok(())
}

/// What a value of the old program is in the new one. A value that is neither is a tensor that nothing has written, or a constant tensor
/// of several numbers.
#[derive(Clone, Copy)]
pub(super) enum Imported<'c> {
    /// A tensor; f16 where the old value was an f32 island.
    Tensor(Value<'c>),
    /// The same number everywhere.
    Number(f64),
}

pub(super) struct Importer<'c> {
    pub(super) values: ValueMap<Imported<'c>>,
    pub(super) precision: Precision,
    /// The operations that are not needed any more, in order.
    replaced: Vec<Op<'c>>,
}

impl<'c> Importer<'c> {
    /// Scopes and loops may hold `linalg` too.
    fn import_block(&mut self, block: Block<'c>) -> Result<(), Reported> {
        for op in block.ops() {
            if is_spyre(op) || op.is("func.return") {
                self.use_imported(op)?;
                let body = op.body();
                for value in body.map(BlockExt::args).unwrap_or_default().into_iter().chain(op.outputs()) {
                    self.values.insert(value, Imported::Tensor(value));
                }
                body.map_or(Ok(()), |body| self.import_block(body))?;
            } else {
                self.import(op)?;
                self.replaced.push(op);
            }
        }
        Ok(())
    }

    fn import(&mut self, op: Op<'c>) -> Result<(), Reported> {
        match op.full_name() {
            // Only a shape, until something writes it.
            "tensor.empty" => {}
            "arith.constant" => {
                let value = op.attr("value");
                self.note_number(op, value.and_then(|value| number_of(value).or_else(|| splat_value(value).and_then(number_of))));
            }
            "linalg.fill" => {
                let number = self.values.get(op.inputs()[0]).and_then(Imported::number);
                self.note_number(op, number);
            }
            "linalg.generic" => {
                for (value, imported) in import_generic(self, op)? {
                    self.values.insert(value, imported);
                }
            }
            _ if is_reshape(op) => self.import_reshape(op)?,
            _ if op.outputs().iter().all(|result| result.users().is_empty()) && op.outputs().len() == 1 => {}
            // An op without a body, such as linalg.softmax, has no general form.
            name if name.starts_with("linalg.") && op.body().is_some() => {
                return Err(error_at(op, "is a named op: run linalg-generalize-named-ops first").report());
            }
            _ => return Err(error_at(op, "has no device function yet").report()),
        }
        Ok(())
    }

    fn note_number(&mut self, op: Op<'c>, number: Option<f64>) {
        if let Some(number) = number {
            self.values.insert(op.output(), Imported::Number(number));
        }
    }

    /// Makes an operation that stays read the new tensors.
    fn use_imported(&self, op: Op<'c>) -> Result<(), Reported> {
        let verb = if op.is("func.return") { "returns" } else { "reads" };
        for (index, value) in op.inputs().into_iter().enumerate() {
            let tensor = self.tensor(op, value)?;
            let (old, new) = (value.r#type(), tensor.r#type());
            if old != new {
                let message = format!("{verb} {old}, which was computed as {new}: this conversion is not supported yet");
                return Err(error_at(op, message).report());
            }
            op.set_input(index, tensor);
        }
        Ok(())
    }

    /// The tensor that a value has become.
    pub(super) fn tensor(&self, user: Op<'c>, value: Value<'c>) -> Result<Value<'c>, Reported> {
        let message = match self.values.get(value) {
            Some(Imported::Tensor(tensor)) => return Ok(*tensor),
            Some(Imported::Number(number)) => format!("uses the constant {number}: constant tensors are not supported yet"),
            None if unreshaped(value).def().is_some_and(|op| op.is("arith.constant")) => {
                "uses a constant tensor of several numbers: constant tensors are not supported yet".to_owned()
            }
            None => "reads a tensor that nothing has written".to_owned(),
        };
        Err(error_at(user, message).report())
    }

    /// A reshape shows the same elements under other indices. A reshape of a reshape is one of the first tensor, so that what is undone
    /// leaves no arithmetic.
    fn import_reshape(&mut self, op: Op<'c>) -> Result<(), Reported> {
        let (source, output) = (unreshaped(op.output()), op.output());
        let is_used = output.users().into_iter().any(|user| !is_reshape(user));
        let Some(&imported) = self.values.get(source).filter(|_| is_used) else { return Ok(()) };
        let (Imported::Tensor(tensor), Some(to)) = (imported, TensorType::of(output.r#type())) else {
            self.values.insert(output, imported);
            return Ok(());
        };
        refuse_empty(op, &to)?;
        let from = shape_of(tensor);
        let shown =
            if from == to.shape { tensor } else { show(op, tensor, Shown { exprs: reshape_map(&from, &to.shape), shape: to.shape }) };
        self.values.insert(output, Imported::Tensor(shown));
        Ok(())
    }
}

impl Imported<'_> {
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }
}

fn is_spyre(op: Op<'_>) -> bool {
    op.full_name().starts_with("spyre.")
}

fn is_reshape(op: Op<'_>) -> bool {
    op.is("tensor.expand_shape") || op.is("tensor.collapse_shape")
}

/// The value that reshapes have made `value` of.
fn unreshaped(mut value: Value<'_>) -> Value<'_> {
    while let Some(reshape) = value.def().filter(|op| is_reshape(*op)) {
        value = reshape.inputs()[0];
    }
    value
}

/// The number in an attribute; integers only occur in computations that nobody uses, such as an argmax.
pub(super) fn number_of(attribute: Attribute<'_>) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "an index that large is no constant of a program")]
    float_value(attribute).or_else(|| integer(attribute).map(|number| number as f64))
}

pub(super) fn refuse_empty<'c>(op: Op<'c>, tensor: &TensorType<'c>) -> Result<(), Reported> {
    if tensor.shape.contains(&0) {
        let message = format!("has a dimension of size 0: {} is empty, which is not supported", tensor.build());
        return Err(error_at(op, message).report());
    }
    Ok(())
}

/// The shape of an imported tensor.
pub(super) fn shape_of(tensor: Value<'_>) -> Vec<i64> {
    TensorType::of(tensor.r#type()).map(|tensor| tensor.shape).unwrap_or_default()
}

/// The tensor under other indices, by a view unless they are its own.
pub(super) fn show<'c>(before: Op<'c>, tensor: Value<'c>, shown: Shown) -> Value<'c> {
    let Some(from) = TensorType::of(tensor.r#type()) else { return tensor };
    let map = map_from_exprs(before.ctx(), shown.shape.len(), 0, &shown.exprs);
    let output = from.with_shape(shown.shape).build();
    if map.is_identity() && tensor.r#type() == output {
        return tensor;
    }
    insert_before(before, view(before.ctx(), before.loc(), tensor, map, output)).output()
}
