//! Finds the expressions of a file that can be mutated, and rewrites the file with some of them mutated.

use quote::{ToTokens, quote};
use std::{
    fmt,
    path::{Path, PathBuf},
};
use syn::{
    BinOp, Expr, ExprBinary, ExprMethodCall, ExprRepeat, ImplItemFn, Item, ItemFn, Lit, TypeArray, parse_quote,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

/// Expression that a mutant changes.
#[derive(Clone, Debug)]
pub(crate) struct MutationSite {
    /// Number of the mutant.
    pub(crate) number: usize,
    /// Path from the root of the tree.
    pub(crate) path: PathBuf,
    /// Position among the candidates of the file.
    ordinal: usize,
    line: usize,
    was: String,
    becomes: String,
}

impl MutationSite {
    /// Returns this site with another mutant number.
    pub(crate) fn with_number(&self, number: usize) -> Self {
        Self { number, ..self.clone() }
    }
}

impl fmt::Display for MutationSite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, path, line, was, becomes, .. } = self;
        write!(formatter, "{number}: {}:{line}: `{was}` -> `{becomes}`", path.display())
    }
}

/// Returns every site of a file.
pub(crate) fn find_sites(text: &str, path: &Path) -> Result<Vec<MutationSite>, syn::Error> {
    let mut file = syn::parse_file(text)?;
    let mut finder = SiteVisitor::default();
    finder.visit_file_mut(&mut file);
    let site = |(ordinal, (line, was, becomes))| MutationSite {
        number: 0,
        path: path.to_owned(),
        ordinal,
        line,
        was,
        becomes,
    };
    Ok(finder.found.into_iter().enumerate().map(site).collect())
}

/// Returns the file with a choice in place of each of these expressions.
pub(crate) fn mutate_file(text: &str, sites: &[&MutationSite]) -> Result<String, String> {
    let mut file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut visitor = SiteVisitor {
        chosen: sites.iter().map(|site| (site.ordinal, site.number)).collect(),
        ..SiteVisitor::default()
    };
    visitor.visit_file_mut(&mut file);
    Ok(file.to_token_stream().to_string())
}

#[derive(Default)]
struct SiteVisitor {
    /// Line, original expression, and mutated expression.
    found: Vec<(usize, String, String)>,
    /// Ordinals to replace, with the numbers of their mutants.
    chosen: Vec<(usize, usize)>,
}

impl VisitMut for SiteVisitor {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        let place = mutate_expression(expression).map(|becomes| {
            let ordinal = self.found.len();
            let text = |expression: &Expr| expression.to_token_stream().to_string();
            self.found.push((expression.span().start().line, text(expression), text(&becomes)));
            (ordinal, becomes)
        });
        visit_mut::visit_expr_mut(self, expression);
        let Some((ordinal, becomes)) = place else { return };
        if let Some((_, number)) = self.chosen.iter().find(|(chosen, _)| *chosen == ordinal) {
            let was = expression.clone();
            *expression = parse_quote!((if crate::mutant::is(#number) { #becomes } else { #was }));
        }
    }

    // Neither tests nor compile-time constants are mutated.
    fn visit_item_mut(&mut self, item: &mut Item) {
        let is_test = matches!(item, Item::Mod(module) if module.attrs.iter().any(is_cfg_test));
        if !is_test && !matches!(item, Item::Const(_) | Item::Static(_) | Item::Macro(_)) {
            visit_mut::visit_item_mut(self, item);
        }
    }

    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        if function.sig.constness.is_none() {
            visit_mut::visit_item_fn_mut(self, function);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        if function.sig.constness.is_none() {
            visit_mut::visit_impl_item_fn_mut(self, function);
        }
    }

    fn visit_impl_item_const_mut(&mut self, _: &mut syn::ImplItemConst) {}

    fn visit_expr_const_mut(&mut self, _: &mut syn::ExprConst) {}

    fn visit_type_array_mut(&mut self, _: &mut TypeArray) {}

    fn visit_expr_repeat_mut(&mut self, repeat: &mut ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }
}

fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test")
}

/// Returns the expression that a mutant puts in place of `expression`; `None` unless it is a comparison, an offset or
/// an operand.
fn mutate_expression(expression: &Expr) -> Option<Expr> {
    match expression {
        Expr::Binary(binary) => mutate_binary(binary),
        Expr::MethodCall(call) => mutate_call(call),
        _ => None,
    }
}

fn mutate_binary(binary: &ExprBinary) -> Option<Expr> {
    let ExprBinary { left, op, right, .. } = binary;
    let has_let = |side: &Expr| quote!(#side).to_string().contains("let ");
    Some(match op {
        BinOp::Lt(_) => parse_quote!(#left <= #right),
        BinOp::Le(_) => parse_quote!(#left < #right),
        BinOp::Gt(_) => parse_quote!(#left >= #right),
        BinOp::Ge(_) => parse_quote!(#left > #right),
        BinOp::Eq(_) => parse_quote!(#left != #right),
        BinOp::Ne(_) => parse_quote!(#left == #right),
        BinOp::And(_) if !has_let(left) && !has_let(right) => parse_quote!(#left || #right),
        BinOp::Or(_) => parse_quote!(#left && #right),
        // A constant offset is removed; of two operands one replaces the other.
        BinOp::Add(_) | BinOp::Sub(_) if is_number(right) => (**left).clone(),
        BinOp::Sub(_) if !is_number(left) => parse_quote!(#right - #left),
        BinOp::Div(_) | BinOp::Rem(_) if !is_number(left) => (**left).clone(),
        _ => return None,
    })
}

fn is_number(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_)))
}

fn mutate_call(call: &ExprMethodCall) -> Option<Expr> {
    let other = match call.method.to_string().as_str() {
        "min" => "max",
        "max" => "min",
        "any" => "all",
        "all" => "any",
        "first" => "last",
        "last" => "first",
        "skip" => "take",
        _ => return None,
    };
    // `max` of an iterator takes no operand; its mutant has the same type, so it is a site as well.
    let mut other_call = call.clone();
    other_call.method = syn::Ident::new(other, call.method.span());
    // `take` and `skip` return other types.
    if other == "take" { None } else { Some(Expr::MethodCall(other_call)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_comparisons_offsets_and_operands() {
        let text =
            "fn f(a: usize, b: usize) -> bool { let c = a + 1; c < b && a - b == 0 } const fn g() -> usize { 1 + 1 }";
        let sites = find_sites(text, Path::new("f.rs")).expect("it is Rust");
        let found: Vec<String> = sites.iter().map(|site| format!("{} -> {}", site.was, site.becomes)).collect();
        let expected = [
            "a + 1 -> a",
            "c < b && a - b == 0 -> c < b || a - b == 0",
            "c < b -> c <= b",
            "a - b == 0 -> a - b != 0",
            "a - b -> b - a",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn selects_mutant_at_runtime() {
        let text = "fn f(a: usize) -> bool { a < 2 }";
        let sites = find_sites(text, Path::new("f.rs")).expect("it is Rust");
        let mutated = mutate_file(text, &sites.iter().collect::<Vec<_>>()).expect("it is Rust");
        assert!(mutated.contains("if crate :: mutant :: is (0usize) { a <= 2 } else { a < 2 }"), "{mutated}");
    }
}
