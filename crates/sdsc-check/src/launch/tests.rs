//! Tests of the evaluation of `bundle.mlir`.

use super::*;
use sdsc_format::bundle_text::parse;

fn build_function_text(body: &str) -> String {
    format!(
        "#m = affine_map<(d0)[s0] -> (s0 + 128*d0)>
        func.func @f(%arg_3_base_addr: !sdscbundle.input_arg<index>) {{ {body} return }}"
    )
}

const READ: &str =
    "%a = sdscbundle.input_arg_extract value from %arg_3_base_addr : !sdscbundle.input_arg<index> -> index
    %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %n = arith.constant 4 : index ";

#[test]
fn evaluates_operand_to_base_and_bytes() {
    let body = format!(
        "{READ} %b = arith.addi %a, %n : index
        scf.for %i = %c0 to %n step %c1 {{ %x = affine.apply #m(%i)[%b] sdscbundle.sdsc_execute (%x) {{sdsc_filename=\"s\"}} }}"
    );
    let text = build_function_text(&body);
    let text = parse(&text).unwrap();
    let launch = LaunchValues::evaluate(&text);
    assert!(launch.problems.is_empty(), "{:?}", launch.problems);
    let expected = LinearForm { base: Some(ValueBase::Argument(3)), constant: 4, terms: vec![(0, 128)] };
    assert_eq!(launch.executes[0].values, [Some(expected)]);
    assert_eq!(launch.loops, [Some(4)]);
}

fn collect_problems(body: &str) -> Vec<(LaunchProblemKind, String)> {
    let text = build_function_text(&format!("{READ}{body}"));
    let text = parse(&text).unwrap();
    LaunchValues::evaluate(&text).problems.into_iter().map(|problem| (problem.kind, problem.message)).collect()
}

#[test]
fn reports_undefined_value_once() {
    let [(LaunchProblemKind::Definition, message)] =
        &collect_problems("%y = arith.addi %z, %a : index %w = arith.addi %y, %y : index")[..]
    else {
        panic!()
    };
    assert_eq!(message, "'%z' is not defined here; a value is defined before it is used");
    assert!(matches!(collect_problems("%a = arith.constant 1 : index")[..], [(LaunchProblemKind::Definition, _)]));
    assert!(matches!(collect_problems("%x = affine.apply #k(%a)")[..], [(LaunchProblemKind::Definition, _)]));
    assert!(matches!(collect_problems("%x = affine.apply #m(%c0, %c1)")[..], [(LaunchProblemKind::Kind, _)]));
    assert!(matches!(
        collect_problems("%x = arith.addi %arg_3_base_addr, %a : index")[..],
        [(LaunchProblemKind::Kind, _)]
    ));
    let [(LaunchProblemKind::Kind, message)] = &collect_problems(
        "%x = sdscbundle.input_arg_extract value from %arg_3_base_addr : !sdscbundle.input_arg<index, max_value=8> -> index",
    )[..] else {
        panic!()
    };
    assert_eq!(
        message,
        "'%arg_3_base_addr' is extracted as '!sdscbundle.input_arg<index, max_value=8>'; its type is \
         '!sdscbundle.input_arg<index>'"
    );
    assert!(matches!(collect_problems("%x = arith.addi %a, %a : index")[..], [(LaunchProblemKind::Form, _)]));
    assert!(matches!(collect_problems("%x = affine.apply #m(%a)[%c0]")[..], [(LaunchProblemKind::Form, _)]));
    assert!(matches!(collect_problems("scf.for %i = %c0 to %a step %c1 { }")[..], [(LaunchProblemKind::Loop, _)]));
    assert!(matches!(collect_problems("scf.for %i = %c0 to %c0 step %c1 { }")[..], [(LaunchProblemKind::LoopForm, _)]));
    assert!(matches!(collect_problems("scf.for %i = %c1 to %n step %c1 { }")[..], [(LaunchProblemKind::LoopForm, _)]));
    assert!(matches!(collect_problems("scf.for %i = %c0 to %n step %c0 { }")[..], [(LaunchProblemKind::Loop, _)]));
}

#[test]
fn counts_iterations_of_constant_loops() {
    let body =
        format!("{READ}scf.for %i = %c1 to %n step %c1 {{ sdscbundle.sdsc_execute (%i) {{sdsc_filename=\"s\"}} }}");
    let text = build_function_text(&body);
    let text = parse(&text).unwrap();
    let launch = LaunchValues::evaluate(&text);
    assert_eq!(launch.loops, [Some(3)]);
    assert_eq!(launch.executes[0].values, [Some(LinearForm { base: None, constant: 1, terms: vec![(0, 1)] })]);
}

#[test]
fn hides_loop_definitions_after_loop() {
    let twice = "scf.for %i = %c0 to %n step %c1 { %x = arith.constant 1 : index } ".repeat(2);
    assert!(collect_problems(&twice).is_empty());
    assert!(matches!(
        collect_problems(&format!("{twice} %y = arith.addi %x, %a : index"))[..],
        [(LaunchProblemKind::Definition, _)]
    ));
}
