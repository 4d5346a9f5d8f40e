//! Tests round trips of `bundle.mlir`: printing and parsing a bundle yields the same bundle.

use super::*;
use proptest::prelude::*;

const BUNDLE_TEXT: &str = "#map_0 = affine_map<(d0, d1)[s0] -> (s0 + 16384*d0 + 128*d1)>
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %n: !sdscbundle.input_arg<index, granularity=64, max_value=1024>) {
		%pool = sdscbundle.device_mem_allocate 4096 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%c0 = arith.constant 0 : index
		%sum = arith.addi %arg_0, %c0 : index
		scf.for %i_0 = %c0 to %c4 step %c1 {
			%addr_0 = affine.apply #map_0(%i_0, %i_0)[%sum]
			%addr_1 = affine.apply affine_map<() -> (0)>()
			sdscbundle.sdsc_execute (%addr_0, %pool) {sdsc_filename=\"sdsc_0.json\", \"symbol_ids\"=[-1, -2]}
		}
		sdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_1.json\"}
		return
	}
}
";

#[test]
fn prints_parsed_bundle_unchanged() {
    assert_eq!(parse(BUNDLE_TEXT).unwrap().to_string(), BUNDLE_TEXT);
}

#[test]
fn rejects_every_truncated_text() {
    for length in 0..BUNDLE_TEXT.len() - 2 {
        assert!(parse(&BUNDLE_TEXT[..length]).is_err(), "{length}");
    }
}

fn ident() -> impl Strategy<Value = Ident<String>> {
    prop_oneof!["[a-z_][a-z0-9_]{0,4}", "[0-9]{1,3}"].prop_map(|name| Ident { name, at: Position::default() })
}

fn number() -> impl Strategy<Value = i64> {
    // Excludes `i64::MIN`, whose absolute value is not an `i64`; the parser reads digits before it applies the sign.
    prop_oneof![-3_i64..4, (i64::MIN + 1)..=i64::MAX]
}

fn map() -> impl Strategy<Value = LinearMap> {
    (proptest::collection::vec(number(), 0..3), proptest::collection::vec(number(), 0..3), number())
        .prop_map(|(dims, symbols, constant)| LinearMap { dims, symbols, constant })
}

fn param_type() -> impl Strategy<Value = ParamType> {
    let bound = || proptest::option::of(number());
    prop_oneof![
        Just(ParamType::Index),
        (bound(), bound()).prop_map(|(granularity, max)| ParamType::InputArg { granularity, max })
    ]
}

fn statement() -> impl Strategy<Value = StmtKind<String>> {
    let idents = || proptest::collection::vec(ident(), 0..3);
    let field = prop_oneof![Just(ParamField::Value), Just(ParamField::Granularity), Just(ParamField::Max)];
    let map_ref = prop_oneof![ident().prop_map(MapRef::Named), map().prop_map(MapRef::Inline)];
    let ids = proptest::option::of(proptest::collection::vec(number(), 0..3));
    let simple = prop_oneof![
        (ident(), number()).prop_map(|(result, bytes)| StmtKind::Allocate { result, bytes }),
        (ident(), field, ident(), param_type()).prop_map(|(result, field, parameter, parameter_type)| {
            StmtKind::Extract { result, field, parameter, parameter_type }
        }),
        (ident(), number()).prop_map(|(result, value)| StmtKind::Constant { result, value }),
        (ident(), ident(), ident()).prop_map(|(result, left, right)| StmtKind::Add { result, operands: [left, right] }),
        (ident(), map_ref, idents(), idents()).prop_map(|(result, map, dims, symbols)| StmtKind::Apply {
            result,
            map,
            dims,
            symbols
        }),
        (idents(), "[a-z0-9_./ ]{0,8}", ids).prop_map(|(operands, file, symbol_ids)| StmtKind::Execute(Execute {
            operands,
            file,
            symbol_ids
        })),
    ];
    simple.prop_recursive(3, 12, 3, move |inner| {
        let body = proptest::collection::vec(inner.prop_map(|kind| Stmt { at: Position::default(), kind }), 0..4);
        (ident(), ident(), ident(), ident(), body).prop_map(|(counter, lower, upper, step, body)| {
            StmtKind::For(ForLoop { counter, lower, upper, step, body })
        })
    })
}

fn bundle() -> impl Strategy<Value = BundleText<String>> {
    let params = proptest::collection::vec((ident(), param_type()).prop_map(|(name, kind)| Param { name, kind }), 0..3);
    let body = proptest::collection::vec(statement().prop_map(|kind| Stmt { at: Position::default(), kind }), 0..5);
    (proptest::collection::vec((ident(), map()), 0..3), ident(), params, body)
        .prop_map(|(maps, function, params, body)| BundleText { maps, function, params, body })
}

/// Returns the debug text of a bundle without source positions. It is equal for owned and for borrowed names.
fn debug_without_positions<S: fmt::Debug>(tree: &BundleText<S>) -> String {
    let debug_text = format!("{tree:?}");
    let mut parts = debug_text.split("Position {");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('}').map_or("", |(_, rest)| rest))
}

proptest! {
    #[test]
    fn parses_every_printed_tree(written in bundle()) {
        let text = written.to_string();
        let read = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(debug_without_positions(&read), debug_without_positions(&written));
        prop_assert_eq!(read.to_string(), text);
    }
}
