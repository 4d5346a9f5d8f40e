use super::*;

const LOOP: &str = r#"#map_0 = affine_map<(d0, d1)[s0] -> (s0 + 512*d0 + 64*d1)>
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %n: !sdscbundle.input_arg<index, granularity=64, max_value=1024>) {
		%pool = sdscbundle.device_mem_allocate 4096 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%c0 = arith.constant 0 : index
		%c1 = arith.constant 1 : index
		%b = arith.constant 4 : index
		%sum = arith.addi %arg_0, %b : index
		scf.for %i_0 = %c0 to %b step %c1 {
			%addr_0 = affine.apply #map_0(%i_0, %c1)[%sum]
			sdscbundle.sdsc_execute (%addr_0, %pool) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
		}
		sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json", symbol_ids=[]}
		return
	}
}
"#;

#[test]
fn parses_bundle() {
    let bundle = parse(LOOP).unwrap();
    assert_eq!(bundle.pool_sizes(), [4096]);
    assert_eq!(bundle.executed_files(), ["sdsc_0.json", "sdsc_1.json"]);
    assert_eq!(bundle.parameters[1].size, Some(SizeBounds { granularity: 64, max: 1024 }));
    let Some(Statement::For { body, .. }) =
        bundle.body.iter().find(|statement| matches!(statement, Statement::For { .. }))
    else {
        panic!("no loop");
    };
    let Statement::Define { expression: Expression::Apply { map, .. }, .. } = &body[0] else { panic!("no apply") };
    assert_eq!(evaluate_map(map, &[2, 1, 100]), Some(100 + 1024 + 64));
    assert_eq!(evaluate_map(map, &[1, i64::MAX, 0]), None);
}

#[test]
fn reports_location_of_error() {
    for (from, to, place) in [
        ("[%sum]", "[%nobody]", (11, "'%nobody' is not defined")),
        ("scf.for", "scf.while", (10, "expected a statement, found 'scf.while'")),
        ("[-1, -2]", "[-1]", (12, "2 operands but 1 symbols")),
        ("%c1 = arith", "%c0 = arith", (7, "'%c0' is no name of a new value")),
        ("4096 bytes", "4096", (4, "expected 'bytes', found ':'")),
        ("arith.addi", "arith.muli", (9, "a bundle has no operation 'arith.muli'")),
        ("4096", "40960000000000000000", (4, "the number 40960000000000000000 has more than 64 bits")),
        (", max_value=1024", "", (3, "the size '%n' has a granularity and no 'max_value', which it needs")),
        ("extract value", "extract max_value", (5, "the type of '%arg_0_base_addr' declares no 'max_value'")),
        ("#map_0(%i_0, %c1)", "#map_1(%i_0, %c1)", (11, "'#map_1' is not defined")),
        ("#map_0(%i_0, %c1)", "#map_0(%i_0)", (11, "the map takes 2 dimensions and 1 symbols")),
        ("module {", "#map_0 = affine_map<() -> (1)> module {", (2, "'#map_0' is defined twice")),
        ("512*d0", "d0 floordiv 2", (1, "a map divides; it must be linear")),
    ] {
        let error = parse(&LOOP.replacen(from, to, 1)).unwrap_err();
        assert_eq!((error.at.line, error.message.as_str()), place);
        assert!(error.at.column > 0);
    }
}

#[test]
fn accepts_any_function_name() {
    assert_eq!(parse(&LOOP.replacen("@sdsc_bundle", "@f", 1)), parse(LOOP));
}

#[test]
fn treats_plain_parameter_as_address() {
    let text = LOOP.replacen("%n: !sdscbundle.input_arg<index, granularity=64, max_value=1024>", "%n: index", 1);
    let bundle = parse(&text.replacen("(%addr_0, %pool)", "(%addr_0, %n)", 1)).unwrap();
    assert_eq!(bundle.parameters[1], Parameter { name: "n".to_owned(), size: None });
}

#[test]
fn evaluates_declared_bounds_to_constants() {
    let extract = |field: &str| {
        let of = "%n : !sdscbundle.input_arg<index, granularity=64, max_value=1024> -> index";
        let text = LOOP.replacen("%c0 =", &format!("%x = sdscbundle.input_arg_extract {field} from {of}\n%c0 ="), 1);
        let body = parse(&text).unwrap().body;
        body.into_iter().find_map(|statement| match statement {
            Statement::Define { expression: Expression::Constant(number), .. } => Some(number),
            _ => None,
        })
    };
    assert_eq!((extract("granularity"), extract("max_value")), (Some(64), Some(1024)));
}

#[test]
fn rejects_iterator_after_its_loop() {
    let text = LOOP.replace("sdsc_execute ()", "sdsc_execute (%i_0)").replace("symbol_ids=[]", "symbol_ids=[-3]");
    assert_eq!(parse(&text).unwrap_err().message, "'%i_0' is not defined");
}

#[test]
fn rejects_hostile_texts_with_message() {
    let deep = format!("#m = affine_map<() -> ({}1{})>", "(".repeat(100_000), ")".repeat(100_000));
    assert!(parse(&deep).unwrap_err().message.contains("an expression is nested too deeply"));
    let loops = LOOP.replace("scf.for", &"scf.for %q = %c0 to %b step %c1 {\n".repeat(200));
    assert!(parse(&loops).is_err());
    for length in 0..LOOP.len() - 2 {
        assert!(parse(&LOOP[..length]).is_err(), "{length}");
    }
}
