//! Translates between the function of a bundle in the `sdscbundle` dialect and [`Launch`].
//!
//! MLIR does not store the names of SSA values, so the location of each value carries its name. Printed IR omits
//! locations, so an attribute of the function also lists the names, in definition order. A value without a name gets a
//! number.

use crate::dialect::{
    input_arg_bounds, input_arg_type,
    ods::{attr, sdscbundle},
};
use crate::{
    launch::{AddressMap, Execute, Launch, Param, SizeBounds, Stmt, name::ValueName},
    mlir::{
        AffineExpression, Attribute, AttributeList, Block, BlockExt, Context, Location, Op, OpExt, Type, Value,
        ValueExt, ValueLike, ValueMap, append_op, array_attribute, build_op, elements, index_type, integer,
        location_name, map_attribute, map_from_exprs, map_of, map_results, named_location, new_block_with_locations,
        string_array, strings, type_attribute,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// Name that the back end requires of the function.
const FUNCTION_NAME: &str = "sdsc_bundle";

/// Appends the function of a launch to the body of `module`.
pub(crate) fn push_launch<'c>(module: Op<'c>, location: Location<'c>, launch: &Launch) {
    let context = module.ctx();
    let types: Vec<Type<'c>> = launch.params.iter().map(|param| param_type(context, param)).collect();
    let named: Vec<_> = launch
        .params
        .iter()
        .zip(&types)
        .map(|(param, arg_type)| (*arg_type, named_location(location, &param.name.to_string())))
        .collect();
    let function_type = melior::ir::r#type::FunctionType::new(context, &types, &[]);
    let attributes = AttributeList::new(context)
        .with_text(attr::SYM_NAME, FUNCTION_NAME)
        .with_attribute("function_type", type_attribute(function_type.into()));
    let function = append_op(
        module,
        build_op("func.func", location, &[], &[], attributes, vec![new_block_with_locations(&named)]),
    );
    let mut builder = LaunchIrBuilder { context, location, launch, values: BTreeMap::new(), names: Vec::new() };
    for (param, argument) in launch.params.iter().zip(function.body_args()) {
        builder.define_value(param.name, argument);
    }
    builder.build_statements(function, &launch.body);
    function.set_attr(attr::SDSC_NAMES, string_array(context, &builder.names));
    append_op(function, build_op("func.return", location, &[], &[], AttributeList::new(context), vec![]));
}

fn param_type<'c>(context: &'c Context, param: &Param) -> Type<'c> {
    let (granularity, max) = param.bounds.map_or((0, 0), |bounds| (bounds.granularity, bounds.max));
    input_arg_type(context, granularity, max)
}

/// Builder of the function of a launch.
struct LaunchIrBuilder<'a, 'c> {
    context: &'c Context,
    location: Location<'c>,
    launch: &'a Launch,
    values: BTreeMap<ValueName, Value<'c>>,
    /// Names of the values, in the order of their definitions.
    names: Vec<String>,
}

impl<'c> LaunchIrBuilder<'_, 'c> {
    /// Records the SSA value of a name.
    fn define_value(&mut self, name: ValueName, value: Value<'c>) {
        self.values.insert(name, value);
        self.names.push(name.to_string());
    }

    fn build_statements(&mut self, parent: Op<'c>, statements: &[Stmt]) {
        for statement in statements {
            self.build_statement(parent, statement);
        }
    }

    fn build_statement(&mut self, parent: Op<'c>, statement: &Stmt) {
        let attributes = || AttributeList::new(self.context);
        match statement {
            Stmt::DeviceMemAllocate { name, bytes } => {
                self.push_value(
                    parent,
                    *name,
                    sdscbundle::DEVICE_MEM_ALLOCATE,
                    &[],
                    attributes().with_int(attr::BYTES, *bytes),
                );
            }
            Stmt::InputArgExtract { param } => {
                self.push_value(parent, param.value, sdscbundle::INPUT_ARG_EXTRACT, &[param.name], attributes());
            }
            Stmt::Constant { name, value } => {
                self.push_value(parent, *name, "arith.constant", &[], attributes().with_index(attr::VALUE, *value))
            }
            Stmt::AddI { name, lhs, rhs } => self.push_value(parent, *name, "arith.addi", &[*lhs, *rhs], attributes()),
            Stmt::AffineApply { name, map, counters, base } => {
                let operands: Vec<ValueName> = counters.iter().copied().chain([*base]).collect();
                let map = map_attribute(address_map(self.context, &self.launch.maps[*map]));
                self.push_value(parent, *name, "affine.apply", &operands, attributes().with_attribute(attr::MAP, map));
            }
            Stmt::Execute(execute) => self.build_execute(parent, execute),
            Stmt::For { counter, bound, step, body } => self.build_loop(parent, (*counter, *bound, *step), body),
        }
    }

    /// Appends an op with one index result, and records the result as the value of `name`.
    fn push_value(
        &mut self,
        parent: Op<'c>,
        name: ValueName,
        operation: &str,
        operands: &[ValueName],
        attributes: AttributeList<'c>,
    ) {
        let location = named_location(self.location, &name.to_string());
        let operands: Vec<Value<'c>> = operands.iter().map(|operand| self.values[operand]).collect();
        let built = append_op(
            parent,
            build_op(operation, location, &operands, &[index_type(self.context)], attributes, vec![]),
        );
        self.define_value(name, built.output());
    }

    fn build_execute(&self, parent: Op<'c>, execute: &Execute) {
        let operands: Vec<Value<'c>> = execute.operands.iter().map(|operand| self.values[operand]).collect();
        let ids = execute.symbol_ids.as_ref().map(|ids| {
            let ids: Vec<Attribute<'c>> = ids.iter().map(|&id| crate::mlir::i64_attribute(self.context, id)).collect();
            array_attribute(self.context, &ids)
        });
        let attributes = AttributeList::new(self.context)
            .with_text(attr::SDSC_FILENAME, &execute.file_name())
            .with_option(attr::SYMBOL_IDS, ids);
        append_op(parent, build_op(sdscbundle::SDSC_EXECUTE, self.location, &operands, &[], attributes, vec![]));
    }

    fn build_loop(
        &mut self,
        parent: Op<'c>,
        (counter, bound, step): (ValueName, ValueName, ValueName),
        body: &[Stmt],
    ) {
        let operands = [self.values[&ValueName::Zero], self.values[&bound], self.values[&step]];
        let block = new_block_with_locations(&[(
            index_type(self.context),
            named_location(self.location, &counter.to_string()),
        )]);
        let loop_op = append_op(
            parent,
            build_op("scf.for", self.location, &operands, &[], AttributeList::new(self.context), vec![block]),
        );
        if let Some(argument) = loop_op.body().and_then(|block| block.args().first().copied()) {
            self.define_value(counter, argument);
        }
        self.build_statements(loop_op, body);
        append_op(loop_op, build_op("scf.yield", self.location, &[], &[], AttributeList::new(self.context), vec![]));
    }
}

/// Returns the affine map that adds the strided loop counters to the base, which is symbol 0.
fn address_map<'c>(context: &'c Context, map: &AddressMap) -> crate::mlir::AffineMap<'c> {
    let term = |(dim, stride): (usize, &i64)| {
        AffineExpression::Mul(Box::new(AffineExpression::Dim(dim)), Box::new(AffineExpression::Constant(*stride)))
    };
    let sum = map
        .strides
        .iter()
        .enumerate()
        .map(term)
        .fold(AffineExpression::Symbol(0), |sum, term| AffineExpression::Add(Box::new(sum), Box::new(term)));
    map_from_exprs(context, map.strides.len(), 1, &[sum])
}

/// Returns the launch that the function of `module` describes.
///
/// # Errors
/// The operation that `bundle.mlir` cannot contain, and the reason.
pub(crate) fn launch_from_ir<'c>(module: Op<'c>) -> Result<Launch, (Op<'c>, String)> {
    let function =
        module.body_ops().into_iter().find(|op| op.is("func.func") && op.text_attr(attr::SYM_NAME) == FUNCTION_NAME);
    let function = function.ok_or_else(|| {
        (module, format!("has no function '{FUNCTION_NAME}' that describes a launch; compile programs with 'spyre-compile FILE -o DIR'"))
    })?;
    let Some(body) = function.body() else { return Err((function, "has no body".to_owned())) };
    let mut reader = LaunchIrReader {
        launch: Launch::default(),
        names: ValueMap::default(),
        remaining_names: listed_names(function).into_iter(),
        visible: BTreeSet::new(),
        defined: Vec::new(),
        num_unnamed: 0,
    };
    for (position, argument) in body.args().into_iter().enumerate() {
        let number = u32::try_from(position).expect("fewer than 2^32 arguments");
        let name = reader.assign_name(argument, || Some(ValueName::ArgumentBase(number)));
        reader.launch.params.push(Param { name, value: name, bounds: param_bounds(argument.r#type()) });
    }
    reader.launch.body = reader.read_statements(body)?;
    Ok(reader.launch)
}

/// Returns the value names that a function lists; none if their number differs from that of the values.
fn listed_names(function: Op<'_>) -> Vec<&str> {
    let names = function.attr(attr::SDSC_NAMES).and_then(strings).unwrap_or_default();
    let count_defined = |op: Op<'_>| op.outputs().len() + op.body().map_or(0, |body| body.args().len());
    let num_values: usize = function.nested().into_iter().map(count_defined).sum();
    if names.len() == num_values { names } else { Vec::new() }
}

fn param_bounds(param: Type<'_>) -> Option<SizeBounds> {
    input_arg_bounds(param).map(|(granularity, max)| SizeBounds { granularity, max })
}

/// Reader of the function of a launch.
struct LaunchIrReader<'c> {
    launch: Launch,
    /// Name of each value that is defined so far.
    names: ValueMap<ValueName>,
    /// Listed names of the values that are not yet defined.
    remaining_names: std::vec::IntoIter<&'c str>,
    /// Names of the visible values; each is unique.
    visible: BTreeSet<ValueName>,
    /// Names of the visible values, in the order of their definitions.
    defined: Vec<ValueName>,
    num_unnamed: i64,
}

impl LaunchIrReader<'_> {
    /// Returns the name of a value and records it for its users: the name in its location, else the listed name, else
    /// the name that `suggest_name` returns, else a number. Skips names that are taken or inconsistent with the value:
    /// hand-written IR may give one name to two values, or the name of a constant to another value.
    fn assign_name(&mut self, value: Value<'_>, suggest_name: impl FnOnce() -> Option<ValueName>) -> ValueName {
        let listed_name = self.remaining_names.next().and_then(|name| name.parse().ok());
        let attached_name = location_name(value.location()).parse().ok();
        let is_free = |name: &ValueName| !self.visible.contains(name) && is_consistent_name(*name, value);
        let name = [attached_name, listed_name, suggest_name()]
            .into_iter()
            .flatten()
            .find(is_free)
            .unwrap_or_else(|| self.generate_name());
        self.visible.insert(name);
        self.defined.push(name);
        self.names.insert(value, name);
        name
    }

    /// Returns a new name that consists of a number.
    fn generate_name(&mut self) -> ValueName {
        loop {
            self.num_unnamed += 1;
            let name = ValueName::Symbol(self.num_unnamed);
            if !self.visible.contains(&name) {
                return name;
            }
        }
    }

    fn operand_name(&self, op: Op<'_>, index: usize) -> Result<ValueName, String> {
        let value = op.inputs().get(index).copied().ok_or_else(|| format!("has no operand {index}"))?;
        self.names.get(value).copied().ok_or_else(|| "uses a value that 'bundle.mlir' cannot contain".to_owned())
    }

    fn read_statements<'c>(&mut self, block: Block<'c>) -> Result<Vec<Stmt>, (Op<'c>, String)> {
        let mut statements = Vec::new();
        for op in block.ops() {
            match op.full_name() {
                "func.return" | "scf.yield" => {}
                "scf.for" => statements.push(self.read_loop(op)?),
                _ => statements.push(self.read_statement(op).map_err(|message| (op, message))?),
            }
        }
        Ok(statements)
    }

    fn read_loop<'c>(&mut self, op: Op<'c>) -> Result<Stmt, (Op<'c>, String)> {
        let reject = |message: &str| (op, message.to_owned());
        let constant = |index: usize| op.inputs().get(index).and_then(|value| constant_value(*value));
        let is_sized = op.inputs().get(1).is_some_and(|bound| constant_value(*bound).is_none());
        let is_step = |step: i64| step == 1 || is_sized && step > 1;
        if constant(0) != Some(0) || !constant(2).is_some_and(is_step) || op.inputs().len() != 3 {
            return Err(reject("expected a loop from 0 with step 1 and without carried values, found another one"));
        }
        if let Some(missing) = [ValueName::Zero, ValueName::One].into_iter().find(|name| !self.visible.contains(name)) {
            return Err((
                op,
                format!("expected constants with the names %c0 and %c1 before the loop, found no %{missing}"),
            ));
        }
        let bound = self.operand_name(op, 1).map_err(|message| (op, message))?;
        let step = self.operand_name(op, 2).map_err(|message| (op, message))?;
        let Some(body) = op.body() else { return Err(reject("has no body")) };
        let Some(argument) = body.args().first().copied() else { return Err(reject("has no counter")) };
        let num_before = self.defined.len();
        let counter = self.assign_name(argument, || None);
        let statements = self.read_statements(body)?;
        // Values defined in the loop are not visible after it, and later values may have their names.
        for name in self.defined.drain(num_before..) {
            self.visible.remove(&name);
        }
        Ok(Stmt::For { counter, bound, step, body: statements })
    }

    fn read_statement(&mut self, op: Op<'_>) -> Result<Stmt, String> {
        Ok(match op.full_name() {
            sdscbundle::DEVICE_MEM_ALLOCATE => {
                let bytes = op.required_attr("bytes", integer);
                Stmt::DeviceMemAllocate { name: self.assign_name(op.output(), || Some(ValueName::Pool)), bytes }
            }
            sdscbundle::INPUT_ARG_EXTRACT => self.read_extract(op)?,
            "arith.constant" => {
                let value = constant_value(op.output()).ok_or("expected an integer constant")?;
                let name = self.assign_name(op.output(), || match value {
                    0 => Some(ValueName::Zero),
                    1 => Some(ValueName::One),
                    _ => None,
                });
                Stmt::Constant { name, value }
            }
            "arith.addi" => {
                let (lhs, rhs) = (self.operand_name(op, 0)?, self.operand_name(op, 1)?);
                Stmt::AddI { name: self.assign_name(op.output(), || None), lhs, rhs }
            }
            "affine.apply" => self.read_apply(op)?,
            sdscbundle::SDSC_EXECUTE => Stmt::Execute(self.read_execute(op)?),
            other => return Err(format!("is not supported: 'bundle.mlir' has no op '{other}'")),
        })
    }

    fn read_extract(&mut self, op: Op<'_>) -> Result<Stmt, String> {
        let param = self.operand_name(op, 0)?;
        let value = self.assign_name(op.output(), || {
            if let ValueName::ArgumentBase(argument) = param { Some(ValueName::Argument(argument)) } else { None }
        });
        let extracted = self
            .launch
            .params
            .iter_mut()
            .find(|candidate| candidate.name == param)
            .ok_or("extracts a value that is not a parameter")?;
        extracted.value = value;
        Ok(Stmt::InputArgExtract { param: *extracted })
    }

    fn read_apply(&mut self, op: Op<'_>) -> Result<Stmt, String> {
        let map = op.attr(attr::MAP).and_then(map_of).ok_or("has no map")?;
        let mut strides = vec![0; map.dim_count()];
        match map_results(map).as_slice() {
            [sum] if map.symbol_count() == 1 && read_strides(sum, &mut strides) => {}
            _ => {
                return Err(format!(
                    "expected a map that adds multiples of the loop counters to one base, found {map}"
                ));
            }
        }
        let map = AddressMap { strides };
        let map_index = self.launch.maps.iter().position(|known| *known == map).unwrap_or_else(|| {
            self.launch.maps.push(map.clone());
            self.launch.maps.len() - 1
        });
        let counters = (0..map.strides.len()).map(|index| self.operand_name(op, index)).collect::<Result<_, _>>()?;
        let base = self.operand_name(op, map.strides.len())?;
        Ok(Stmt::AffineApply { name: self.assign_name(op.output(), || None), map: map_index, counters, base })
    }

    fn read_execute(&self, op: Op<'_>) -> Result<Execute, String> {
        let file = op.text_attr(attr::SDSC_FILENAME);
        let file_number = file
            .strip_prefix("sdsc_")
            .and_then(|rest| rest.strip_suffix(".json"))
            .and_then(|number| number.parse().ok());
        let number = file_number.ok_or_else(|| format!("expected a file name sdsc_<n>.json, found '{file}'"))?;
        let operands = (0..op.inputs().len()).map(|index| self.operand_name(op, index)).collect::<Result<_, _>>()?;
        let symbol_ids =
            op.attr(attr::SYMBOL_IDS).and_then(elements).map(|ids| ids.into_iter().filter_map(integer).collect());
        Ok(Execute { op: number, operands, symbol_ids })
    }
}

/// Returns the integer that an `arith.constant` defines.
fn constant_value(value: Value<'_>) -> Option<i64> {
    value.def().filter(|def| def.is("arith.constant")).and_then(|def| def.attr(attr::VALUE)).and_then(integer)
}

/// Returns whether a value may have a name. The names `Zero` and `One`, which loops use as start and step, belong to
/// the constants 0 and 1.
fn is_consistent_name(name: ValueName, value: Value<'_>) -> bool {
    match name {
        ValueName::Zero => constant_value(value) == Some(0),
        ValueName::One => constant_value(value) == Some(1),
        _ => true,
    }
}

/// Reads the strides `a` and `b` of `s0 + a * d0 + b * d1`; returns false for any other form of expression.
fn read_strides(expr: &AffineExpression, strides: &mut [i64]) -> bool {
    match expr {
        AffineExpression::Symbol(0) => true,
        AffineExpression::Dim(dim) => add_stride(&mut strides[*dim], 1),
        AffineExpression::Mul(dim, stride) => match (dim.as_ref(), stride.as_ref()) {
            (AffineExpression::Dim(dim), AffineExpression::Constant(stride)) => add_stride(&mut strides[*dim], *stride),
            _ => false,
        },
        AffineExpression::Add(lhs, rhs) => read_strides(lhs, strides) && read_strides(rhs, strides),
        _ => false,
    }
}

/// Adds to a stride; returns false if the sum does not fit in 64 bits.
fn add_stride(stride: &mut i64, addend: i64) -> bool {
    let sum = stride.checked_add(addend);
    *stride = sum.unwrap_or(*stride);
    sum.is_some()
}
