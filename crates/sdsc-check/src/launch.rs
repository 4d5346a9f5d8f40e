//! Evaluates the values of `bundle.mlir` in one walk over its statements, and collects problems, which the rules
//! report.
//!
//! The importer of bundles uses these values too; the referee evaluates `bundle.mlir` independently.

#[cfg(test)]
mod tests;

use sdsc_format::bundle_text::{
    BundleText, Execute, ForLoop, Ident, LinearMap, MapRef, Param, ParamField, ParamType, Position, Stmt, StmtKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// Base to which the linear form of a value is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueBase {
    /// Address of a kernel argument, which the launch passes, by its number.
    Argument(usize),
    /// Start of an allocated pool, by its number.
    Pool(usize),
    /// Symbolic size, which the launch passes, by its number.
    Parameter(usize),
}

/// Value of an index: a base, a constant, and a linear combination of the iteration numbers of loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinearForm {
    /// Base of the value; zero if `None`.
    pub base: Option<ValueBase>,
    /// Constant term.
    pub constant: i64,
    /// Numbers of loops, each with the coefficient of the iteration number of the loop.
    pub terms: Vec<(usize, i64)>,
}

impl LinearForm {
    const fn from_constant(constant: i64) -> Self {
        Self { base: None, constant, terms: Vec::new() }
    }

    const fn from_base(base: ValueBase) -> Self {
        Self { base: Some(base), constant: 0, terms: Vec::new() }
    }

    /// Returns the number if it is a constant.
    #[must_use]
    pub const fn as_constant(&self) -> Option<i64> {
        if self.base.is_none() && self.terms.is_empty() { Some(self.constant) } else { None }
    }
}

/// Binding of a name.
#[derive(Clone, Debug)]
enum NameBinding {
    /// Parameter that must be extracted before use.
    Unread(usize),
    /// Evaluated number.
    Number(LinearForm),
    /// Value whose definition breaks a rule.
    Unknown,
}

/// Kind of a problem; determines the violated rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchProblemKind {
    /// A name is undefined, or defined twice.
    Definition,
    /// The kind of a value does not match its use.
    Kind,
    /// A number is not a base with a byte offset.
    Form,
    /// A pool has no address.
    Pool,
    /// A loop has no constant bounds, or no positive step.
    Loop,
    /// A loop does not count from 0 by 1, or has no iteration.
    LoopForm,
    /// A loop is bounded by a symbolic size.
    SizedLoop,
    /// A parameter is extracted inside a loop.
    ExtractInLoop,
    /// A symbol of a map is defined inside a loop.
    VaryingSymbol,
}

/// Problem in the text of a bundle.
#[derive(Clone, Debug)]
pub struct LaunchProblem {
    /// Kind of the problem.
    pub kind: LaunchProblemKind,
    /// Location in the text.
    pub at: Position,
    /// Description of the problem.
    pub message: String,
}

/// Execute, with the evaluated values of its operands.
#[derive(Clone, Debug)]
pub struct ExecuteView<'a> {
    /// Location in the text.
    pub at: Position,
    /// Statement.
    pub execute: &'a Execute<&'a str>,
    /// Value of each operand; `None` if a problem prevents its evaluation.
    pub values: Vec<Option<LinearForm>>,
}

impl ExecuteView<'_> {
    /// Returns the ids of the execute's symbols; empty if it lists none.
    #[must_use]
    pub fn symbol_ids(&self) -> &[i64] {
        self.execute.symbol_ids.as_deref().unwrap_or_default()
    }
}

/// Pool that the function allocates.
#[derive(Clone, Copy, Debug)]
pub struct LaunchPool {
    /// Location of the allocation.
    pub at: Position,
    /// Size in bytes.
    pub bytes: i64,
}

/// Values, loops, pools and executes of a bundle's function.
#[derive(Clone, Debug, Default)]
pub struct LaunchValues<'a> {
    /// Executes, in the order of the text.
    pub executes: Vec<ExecuteView<'a>>,
    /// Iteration count of each loop, if known; the maximum for a loop that a symbolic size bounds. Loops are numbered in
    /// the order of the text.
    pub loops: Vec<Option<i64>>,
    /// Parameter that bounds each loop, and the step; `None` for constant loops.
    pub loop_sizes: Vec<Option<(usize, i64)>>,
    /// Granularity that each parameter declares.
    pub granularities: Vec<Option<i64>>,
    /// Allocated pools, in the order of the text.
    pub pools: Vec<LaunchPool>,
    /// Kernel arguments that are read as addresses.
    pub arguments: BTreeSet<usize>,
    /// Problems, in the order of the text.
    pub problems: Vec<LaunchProblem>,
}

impl<'a> LaunchValues<'a> {
    /// Evaluates the values of a text.
    #[must_use]
    pub fn evaluate(text: &'a BundleText<&'a str>) -> Self {
        let mut evaluator = LaunchEvaluator {
            text,
            maps: BTreeMap::new(),
            values: BTreeMap::new(),
            local: Vec::new(),
            outer: BTreeSet::new(),
            depth: 0,
            launch: Self::default(),
        };
        evaluator.define_maps();
        for (index, param) in text.params.iter().enumerate() {
            evaluator.launch.granularities.push(param.kind.granularity());
            let value = match param.kind {
                // A plain parameter is an address that needs no extraction.
                ParamType::Index => {
                    let argument = find_argument_number(text, index);
                    evaluator.launch.arguments.insert(argument);
                    NameBinding::Number(LinearForm::from_base(ValueBase::Argument(argument)))
                }
                ParamType::InputArg { .. } => NameBinding::Unread(index),
            };
            evaluator.define(param.name, value);
        }
        evaluator.visit_statements(&text.body, true);
        evaluator.launch
    }
}

/// State of the walk over the statements.
struct LaunchEvaluator<'a> {
    text: &'a BundleText<&'a str>,
    maps: BTreeMap<&'a str, &'a LinearMap>,
    values: BTreeMap<&'a str, NameBinding>,
    /// Names that the innermost open loop has defined.
    local: Vec<&'a str>,
    /// Names that are defined outside all loops.
    outer: BTreeSet<&'a str>,
    /// Number of open loops.
    depth: usize,
    launch: LaunchValues<'a>,
}

impl<'a> LaunchEvaluator<'a> {
    fn push_problem(&mut self, kind: LaunchProblemKind, at: Position, message: impl Into<String>) {
        self.launch.problems.push(LaunchProblem { kind, at, message: message.into() });
    }

    fn define_maps(&mut self) {
        for (name, map) in &self.text.maps {
            if self.maps.insert(name.name, map).is_some() {
                self.push_problem(
                    LaunchProblemKind::Definition,
                    name.at,
                    format!("the map '#{}' is defined twice; a name has one definition", name.name),
                );
            }
        }
    }

    /// Binds a name to a value; reports a name that is defined already.
    fn define(&mut self, name: Ident<&'a str>, value: NameBinding) {
        if self.values.insert(name.name, value).is_some() {
            self.push_problem(
                LaunchProblemKind::Definition,
                name.at,
                format!("'%{}' is defined twice; a value has one definition", name.name),
            );
        } else {
            self.local.push(name.name);
            if self.depth == 0 {
                self.outer.insert(name.name);
            }
        }
    }

    /// Returns the number that a name stands for.
    fn resolve_number(&mut self, name: Ident<&'a str>) -> Option<LinearForm> {
        match self.values.get(name.name) {
            Some(NameBinding::Number(form)) => return Some(form.clone()),
            Some(NameBinding::Unknown) => {}
            Some(NameBinding::Unread(_)) => {
                let message = format!(
                    "'%{}' is an unread parameter; 'input_arg_extract' must read it before it is used",
                    name.name
                );
                self.push_problem(LaunchProblemKind::Kind, name.at, message);
            }
            None => {
                let message = format!("'%{}' is not defined here; a value is defined before it is used", name.name);
                self.push_problem(LaunchProblemKind::Definition, name.at, message);
            }
        }
        None
    }

    fn resolve_numbers(&mut self, names: &[Ident<&'a str>]) -> Option<Vec<LinearForm>> {
        let values: Vec<_> = names.iter().map(|name| self.resolve_number(*name)).collect();
        values.into_iter().collect()
    }

    fn visit_statements(&mut self, body: &'a [Stmt<&'a str>], is_outermost: bool) {
        for statement in body {
            match &statement.kind {
                StmtKind::Allocate { result, bytes } => self.allocate(*result, *bytes, is_outermost),
                StmtKind::Extract { result, field, parameter, parameter_type } => {
                    if !is_outermost {
                        let message = "a parameter is extracted in a loop; it is extracted once, outside every loop";
                        self.push_problem(LaunchProblemKind::ExtractInLoop, statement.at, message);
                    }
                    self.check_parameter_type(*parameter, *parameter_type);
                    self.extract(*result, *field, *parameter);
                }
                StmtKind::Constant { result, value } => {
                    self.define(*result, NameBinding::Number(LinearForm::from_constant(*value)))
                }
                StmtKind::Add { result, operands } => {
                    let values = self.resolve_numbers(operands);
                    let parts = values.map(|values| values.into_iter().map(|value| (1, value)).collect());
                    self.define_sum(*result, statement.at, 0, parts);
                }
                StmtKind::Apply { result, map, dims, symbols } => {
                    self.apply_map(*result, statement.at, map, dims, symbols)
                }
                StmtKind::Execute(execute) => {
                    let values = execute.operands.iter().map(|operand| self.resolve_number(*operand)).collect();
                    self.launch.executes.push(ExecuteView { at: statement.at, execute, values });
                }
                StmtKind::For(for_loop) => self.visit_loop(statement.at, for_loop),
            }
        }
    }

    fn allocate(&mut self, result: Ident<&'a str>, bytes: i64, is_outermost: bool) {
        let pool = self.launch.pools.len();
        self.launch.pools.push(LaunchPool { at: result.at, bytes });
        if !is_outermost {
            self.push_problem(
                LaunchProblemKind::Pool,
                result.at,
                "a pool is allocated in a loop; it must be allocated once, outside every loop",
            );
        }
        self.define(result, NameBinding::Number(LinearForm::from_base(ValueBase::Pool(pool))));
    }

    /// Checks that an extraction states the type with which the function declares the parameter.
    fn check_parameter_type(&mut self, parameter: Ident<&'a str>, stated: ParamType) {
        let Some(NameBinding::Unread(index)) = self.values.get(parameter.name) else { return };
        let declared = self.text.params[*index].kind;
        if declared != stated {
            let message = format!("'%{}' is extracted as '{stated}'; its type is '{declared}'", parameter.name);
            self.push_problem(LaunchProblemKind::Kind, parameter.at, message);
        }
    }

    fn extract(&mut self, result: Ident<&'a str>, field: ParamField, parameter: Ident<&'a str>) {
        let value = match self.values.get(parameter.name) {
            Some(NameBinding::Unread(index)) => self.evaluate_field(*index, field, parameter),
            Some(NameBinding::Number(_)) => {
                let message = format!(
                    "'%{}' is a number; 'input_arg_extract' reads only parameters of type 'input_arg'",
                    parameter.name
                );
                self.push_problem(LaunchProblemKind::Kind, parameter.at, message);
                NameBinding::Unknown
            }
            Some(NameBinding::Unknown) => NameBinding::Unknown,
            None => {
                let message =
                    format!("'%{}' is not defined here; a value is defined before it is used", parameter.name);
                self.push_problem(LaunchProblemKind::Definition, parameter.at, message);
                NameBinding::Unknown
            }
        };
        self.define(result, value);
    }

    fn evaluate_field(&mut self, index: usize, field: ParamField, parameter: Ident<&'a str>) -> NameBinding {
        let ParamType::InputArg { granularity, max } = self.text.params[index].kind else {
            return NameBinding::Unknown;
        };
        let bound = match field {
            ParamField::Value => {
                let base = if self.text.params[index].kind.is_size() {
                    ValueBase::Parameter(index)
                } else {
                    ValueBase::Argument(find_argument_number(self.text, index))
                };
                if let ValueBase::Argument(argument) = base {
                    self.launch.arguments.insert(argument);
                }
                return NameBinding::Number(LinearForm::from_base(base));
            }
            ParamField::Granularity => granularity,
            ParamField::Max => max,
        };
        bound.map_or_else(
            || {
                let message = format!(
                    "'%{}' has no such bound; the type of a parameter must declare each bound that is read",
                    parameter.name
                );
                self.push_problem(LaunchProblemKind::Kind, parameter.at, message);
                NameBinding::Unknown
            },
            |bound| NameBinding::Number(LinearForm::from_constant(bound)),
        )
    }

    fn apply_map(
        &mut self,
        result: Ident<&'a str>,
        at: Position,
        map: &'a MapRef<&'a str>,
        dims: &[Ident<&'a str>],
        symbols: &[Ident<&'a str>],
    ) {
        let values = (self.resolve_numbers(dims), self.resolve_numbers(symbols));
        let is_varying =
            |symbol: &&Ident<&str>| !self.outer.contains(symbol.name) && self.values.contains_key(symbol.name);
        let varying: Vec<_> = symbols.iter().filter(is_varying).copied().collect();
        for symbol in varying {
            let message =
                format!("'%{}' is defined in a loop; a symbol of a map is defined outside all loops", symbol.name);
            self.push_problem(LaunchProblemKind::VaryingSymbol, symbol.at, message);
        }
        let map = match map {
            MapRef::Inline(map) => Some(map),
            MapRef::Named(name) => {
                let known = self.maps.get(name.name).copied();
                if known.is_none() {
                    self.push_problem(
                        LaunchProblemKind::Definition,
                        name.at,
                        format!("the map '#{}' is not defined", name.name),
                    );
                }
                known
            }
        };
        let Some(map) = map else { return self.define(result, NameBinding::Unknown) };
        if (map.dims.len(), map.symbols.len()) != (dims.len(), symbols.len()) {
            let (wanted, found) = (map.dims.len() + map.symbols.len(), dims.len() + symbols.len());
            let message = format!("the map is given {found} values; it takes {wanted}, each in its own list");
            self.push_problem(LaunchProblemKind::Kind, at, message);
            return self.define(result, NameBinding::Unknown);
        }
        let parts = match values {
            (Some(dims), Some(symbols)) => {
                let factors = map.dims.iter().chain(&map.symbols).copied();
                Some(factors.zip(dims.into_iter().chain(symbols)).collect())
            }
            (Some(_) | None, None) | (None, Some(_)) => None,
        };
        self.define_sum(result, at, map.constant, parts);
    }

    /// Defines a value as a weighted sum plus a constant. At most one term may be an address.
    fn define_sum(
        &mut self,
        result: Ident<&'a str>,
        at: Position,
        constant: i64,
        parts: Option<Vec<(i64, LinearForm)>>,
    ) {
        let Some(parts) = parts else { return self.define(result, NameBinding::Unknown) };
        let value = match sum_terms(constant, &parts) {
            Ok(form) => NameBinding::Number(form),
            Err(message) => {
                self.push_problem(LaunchProblemKind::Form, at, message);
                NameBinding::Unknown
            }
        };
        self.define(result, value);
    }

    fn visit_loop(&mut self, at: Position, for_loop: &'a ForLoop<&'a str>) {
        let bounds = [for_loop.lower, for_loop.upper, for_loop.step].map(|bound| self.resolve_number(bound));
        let index = self.launch.loops.len();
        let range = match bounds {
            [Some(lower), Some(upper), Some(step)] => match upper.base {
                Some(ValueBase::Parameter(size)) => self.sized_range(at, &lower, (&upper, size), &step),
                _ => self.constant_range(at, &lower, &upper, &step),
            },
            _ => None,
        };
        let (first, step) = range.map_or((0, 1), |range| (range.first, range.step));
        self.launch.loops.push(range.map(|range| range.count));
        self.launch.loop_sizes.push(range.and_then(|range| Some((range.size?, range.step))));
        let outer = std::mem::take(&mut self.local);
        self.depth += 1;
        self.define(
            for_loop.counter,
            NameBinding::Number(LinearForm { base: None, constant: first, terms: vec![(index, step)] }),
        );
        self.visit_statements(&for_loop.body, false);
        self.depth -= 1;
        // Names that a loop defines are not visible after it.
        for name in std::mem::replace(&mut self.local, outer) {
            self.values.remove(name);
        }
    }

    /// Returns the range of a loop from 0 to a symbolic size, which its step divides.
    fn sized_range(
        &mut self,
        at: Position,
        lower: &LinearForm,
        (upper, size): (&LinearForm, usize),
        step: &LinearForm,
    ) -> Option<LoopRange> {
        let ParamType::InputArg { granularity, max } = self.text.params[size].kind else { return None };
        let (granularity, name) = (granularity.unwrap_or(1), self.text.params[size].name.name);
        self.push_problem(
            LaunchProblemKind::SizedLoop,
            at,
            format!("the loop runs up to '%{name}', which is known at launch only; loop bounds are constants"),
        );
        let is_plain = upper.constant == 0 && upper.terms.is_empty() && lower.as_constant() == Some(0);
        let step = step.as_constant().filter(|step| is_plain && *step > 0 && granularity % step == 0);
        let (Some(step), Some(max)) = (step, max) else {
            let message = format!(
                "the loop runs up to '%{name}', a multiple of {granularity}; it counts from 0 by a constant that divides \
                 {granularity}, to a size with a maximum"
            );
            self.push_problem(LaunchProblemKind::Loop, at, message);
            return None;
        };
        Some(LoopRange { count: max / step, first: 0, step, size: Some(size) })
    }

    /// Returns the range of a loop with constant bounds.
    fn constant_range(
        &mut self,
        at: Position,
        lower: &LinearForm,
        upper: &LinearForm,
        step: &LinearForm,
    ) -> Option<LoopRange> {
        let (Some(lower), Some(upper), Some(step)) = (lower.as_constant(), upper.as_constant(), step.as_constant())
        else {
            self.push_problem(
                LaunchProblemKind::Loop,
                at,
                "a bound of the loop is no constant; loop bounds are constants",
            );
            return None;
        };
        if step < 1 {
            self.push_problem(LaunchProblemKind::Loop, at, format!("the loop counts by {step}; a step is positive"));
            return None;
        }
        if (lower, step) != (0, 1) {
            self.push_problem(
                LaunchProblemKind::LoopForm,
                at,
                format!("the loop counts from {lower} by {step}; loops count from 0 by 1"),
            );
        } else if upper < 1 {
            self.push_problem(
                LaunchProblemKind::LoopForm,
                at,
                format!("the loop runs {upper} times; it must run at least once"),
            );
        }
        let distance = upper.checked_sub(lower).filter(|distance| *distance > 0)?;
        let count = distance / step + i64::from(distance % step != 0);
        Some(LoopRange { count, first: lower, step, size: None })
    }
}

/// Values of the counter of a loop.
#[derive(Clone, Copy)]
struct LoopRange {
    /// Number of values; the maximum if a symbolic size bounds the loop.
    count: i64,
    first: i64,
    step: i64,
    /// Number of the parameter that bounds the loop, if its size is symbolic.
    size: Option<usize>,
}

/// Returns the number of the kernel argument of a parameter. It is the number in the name of the parameter, if the name
/// is as the reference emitter writes it. Otherwise it is the position among the parameters, since names carry no
/// meaning for the back end.
fn find_argument_number(text: &BundleText<&str>, index: usize) -> usize {
    let number = |param: &Param<&str>| param.name.name.strip_prefix("arg_")?.strip_suffix("_base_addr")?.parse().ok();
    number(&text.params[index]).unwrap_or(index)
}

/// Returns a constant plus a weighted sum of linear forms.
fn sum_terms(constant: i64, parts: &[(i64, LinearForm)]) -> Result<LinearForm, String> {
    let mut total = LinearForm::from_constant(constant);
    for (factor, part) in parts {
        match (part.base, total.base, *factor) {
            (None, _, _) | (Some(_), _, 0) => {}
            (Some(base), None, 1) => total.base = Some(base),
            (Some(_), None, factor) => {
                return Err(format!("an address is multiplied by {factor}; it can only be added to"));
            }
            (Some(_), Some(_), _) => {
                return Err("two addresses are added; an address is one base and a number of bytes".to_owned());
            }
        }
        let scaled = |value: i64| value.checked_mul(*factor).ok_or_else(overflow_message);
        total.constant = total.constant.checked_add(scaled(part.constant)?).ok_or_else(overflow_message)?;
        for (level, stride) in &part.terms {
            let stride = scaled(*stride)?;
            match total.terms.iter_mut().find(|(known, _)| known == level) {
                Some((_, known)) => *known = known.checked_add(stride).ok_or_else(overflow_message)?,
                None => total.terms.push((*level, stride)),
            }
        }
    }
    total.terms.retain(|(_, stride)| *stride != 0);
    Ok(total)
}

fn overflow_message() -> String {
    "an address has more than 64 bits".to_owned()
}
