//! A launch as the text of `bundle.mlir`: names as the reference emitter has them ("SuperDSC schema, section 8").

use super::name::Name;
use super::statements::{AffineMap, Launch, Param, Stmt};
use sdsc_format::bundle_text::{self, BundleText, Execute, FUNCTION, Field, For, Ident, Map, MapRef, ParamType, Position, StmtKind};
use std::fmt;

impl fmt::Display for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        text_of(self).fmt(formatter)
    }
}

fn text_of(launch: &Launch) -> BundleText<String> {
    BundleText {
        maps: launch.maps.iter().enumerate().map(|(number, map)| (map_name(number), map_of(map))).collect(),
        function: ident(FUNCTION),
        params: launch.params.iter().map(|param| bundle_text::Param { name: ident(param.name), kind: type_of(param) }).collect(),
        body: statements(&launch.body),
    }
}

fn ident(name: impl ToString) -> Ident<String> {
    Ident { name: name.to_string(), at: Position::default() }
}

fn idents(names: &[Name]) -> Vec<Ident<String>> {
    names.iter().map(ident).collect()
}

fn map_name(number: usize) -> Ident<String> {
    ident(format_args!("map_{number}"))
}

fn map_of(map: &AffineMap) -> Map {
    Map { dims: map.strides.clone(), symbols: vec![1], constant: 0 }
}

fn type_of(param: &Param) -> ParamType {
    ParamType::InputArg { granularity: param.bounds.map(|bounds| bounds.granularity), max: param.bounds.map(|bounds| bounds.max) }
}

fn statements(body: &[Stmt]) -> Vec<bundle_text::Stmt<String>> {
    body.iter().map(|statement| bundle_text::Stmt { at: Position::default(), kind: kind_of(statement) }).collect()
}

fn kind_of(statement: &Stmt) -> StmtKind<String> {
    match statement {
        Stmt::DeviceMemAllocate { name, bytes } => StmtKind::Allocate { result: ident(name), bytes: *bytes },
        Stmt::InputArgExtract { param } => StmtKind::Extract {
            result: ident(param.value),
            field: Field::Value,
            parameter: ident(param.name),
            parameter_type: type_of(param),
        },
        Stmt::Constant { name, value } => StmtKind::Constant { result: ident(name), value: *value },
        Stmt::AddI { name, lhs, rhs } => StmtKind::Add { result: ident(name), operands: [ident(lhs), ident(rhs)] },
        Stmt::AffineApply { name, map, counters, base } => {
            StmtKind::Apply { result: ident(name), map: MapRef::Named(map_name(*map)), dims: idents(counters), symbols: vec![ident(base)] }
        }
        Stmt::Execute(execute) => StmtKind::Execute(Execute {
            operands: idents(&execute.operands),
            file: execute.filename(),
            symbol_ids: execute.symbol_ids.clone(),
        }),
        Stmt::For { counter, bound, body } => StmtKind::For(For {
            counter: ident(counter),
            lower: ident(Name::Zero),
            upper: ident(bound),
            step: ident(Name::One),
            body: statements(body),
        }),
    }
}
