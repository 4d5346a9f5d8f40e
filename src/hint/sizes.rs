//! Sizes of named dimensions: declared, or implied by the tensors that have them.

use std::{collections::BTreeMap, fmt};
use thiserror::Error;

/// Program argument, with the names of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedArgument {
    /// Index of the argument.
    pub number: usize,
    /// Names in storage order, outermost first; empty for unnamed factors.
    pub names: Vec<String>,
    /// Sizes of the tensor's dimensions, each at least 1. There may be more or fewer of them than names.
    pub shape: Vec<i64>,
}

/// Source of a known size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeSource {
    Declaration,
    Argument(usize),
}

/// Size of every name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedDimSizes {
    known: BTreeMap<String, (i64, SizeSource)>,
}

/// Mismatch between names and their argument.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// The product of the sizes differs from the element count.
    #[error(
        "expected names whose sizes have the product {elements} for argument {argument} (shape {shape}), found {names} with the product \
         {product}; {}",
        twice(names)
    )]
    Product {
        /// The argument.
        argument: usize,
        /// The names with their sizes.
        names: String,
        /// Product of the sizes.
        product: i64,
        /// The sizes of the tensor's dimensions.
        shape: String,
        /// Element count of the tensor.
        elements: i64,
    },
    /// The element count is not divisible by the product of the known sizes.
    #[error(
        "expected sizes whose product divides the {elements} elements of argument {argument} (shape {shape}), found {names} with the \
         product {product}; correct the declared sizes"
    )]
    Quotient {
        /// The argument.
        argument: usize,
        /// The names with their sizes.
        names: String,
        /// Product of the known sizes.
        product: i64,
        /// The sizes of the tensor's dimensions.
        shape: String,
        /// Element count of the tensor.
        elements: i64,
    },
    /// More than one size is not known.
    #[error(
        "expected at most one name without a size for argument {argument} (shape {shape}), found {names}; declare sizes as NAME@SIZE"
    )]
    Unknown {
        /// The argument.
        argument: usize,
        /// The names with their sizes.
        names: String,
        /// The sizes of the tensor's dimensions.
        shape: String,
    },
}

impl NamedDimSizes {
    /// Determines the size of every name: first from declarations, then from arguments with one name per dimension,
    /// then, until a fixed point, for names that are the only unknown of an argument. A tensor that contradicts a
    /// declaration dimension by dimension can still have names that regroup its elements (torch-spyre facts, I: the
    /// product of the names' sizes is the element count of the tensor).
    ///
    /// # Errors
    /// Returns the first argument whose sizes do not multiply to its element count, or whose sizes remain unknown.
    pub fn solve(arguments: &[NamedArgument], declared: &BTreeMap<String, i64>) -> Result<Self, SizeError> {
        let known = declared.iter().map(|(name, &size)| (name.clone(), (size, SizeSource::Declaration))).collect();
        let mut sizes = Self { known };
        for argument in arguments {
            if argument.names.len() == argument.shape.len() && !sizes.contradicts(argument, declared) {
                let dims = argument.names.iter().zip(&argument.shape).filter(|(name, _)| !name.is_empty());
                dims.for_each(|(name, &size)| sizes.record(name, size, argument));
            }
        }
        while sizes.infer_by_division(arguments)? {}
        arguments.iter().try_for_each(|argument| sizes.sizes_of(argument).map(|_| ()))?;
        Ok(sizes)
    }

    /// Returns the size of every name, by name.
    pub fn iter_sizes(&self) -> impl Iterator<Item = (&str, i64)> {
        self.known.iter().map(|(name, (size, _))| (name.as_str(), *size))
    }

    /// Returns the sizes of an argument's names, whose product is its element count.
    ///
    /// # Errors
    /// If the product differs, or if a size is unknown.
    pub fn sizes_of(&self, argument: &NamedArgument) -> Result<Vec<i64>, SizeError> {
        let (elements, product) = (argument.num_elements(), self.known_product(argument));
        let (number, names, shape) = (argument.number, self.format_names(argument), format_shape(&argument.shape));
        if self.is_one_to_one(argument) {
            return Ok(argument.shape.clone());
        }
        let num_unknown = argument.names.iter().filter(|name| !self.known.contains_key(*name)).count();
        match num_unknown {
            0 if product == elements => {}
            0 => return Err(SizeError::Product { argument: number, names, product, shape, elements }),
            1 if elements % product == 0 => {}
            1 => return Err(SizeError::Quotient { argument: number, names, product, shape, elements }),
            _ => return Err(SizeError::Unknown { argument: number, names, shape }),
        }
        let size = |name: &String| self.known.get(name).map_or(elements / product, |(size, _)| *size);
        Ok(argument.names.iter().map(size).collect())
    }

    /// Performs one round of divisions; returns whether it determined a size.
    fn infer_by_division(&mut self, arguments: &[NamedArgument]) -> Result<bool, SizeError> {
        let mut is_progress = false;
        for argument in arguments {
            let mut unknown = argument.names.iter().enumerate().filter(|(_, name)| !self.known.contains_key(*name));
            if let (Some((position, name)), None) = (unknown.next(), unknown.next())
                && !name.is_empty()
            {
                let size = self.sizes_of(argument)?[position];
                self.record(name, size, argument);
                is_progress = true;
            }
        }
        Ok(is_progress)
    }

    fn record(&mut self, name: &str, size: i64, argument: &NamedArgument) {
        self.known.entry(name.to_owned()).or_insert((size, SizeSource::Argument(argument.number)));
    }

    /// Returns whether a declared size differs from that of the dimension that has the name.
    fn contradicts(&self, argument: &NamedArgument, declared: &BTreeMap<String, i64>) -> bool {
        argument
            .names
            .iter()
            .zip(&argument.shape)
            .any(|(name, size)| declared.get(name).is_some_and(|declared| declared != size))
    }

    /// Returns whether each dimension is unnamed, or has one name of the same size.
    fn is_one_to_one(&self, argument: &NamedArgument) -> bool {
        let fits = |(name, size): (&String, &i64)| {
            name.is_empty() || self.known.get(name).is_some_and(|(known, _)| known == size)
        };
        argument.names.len() == argument.shape.len() && argument.names.iter().zip(&argument.shape).all(fits)
    }

    /// Returns the product of the known sizes of an argument's names, at least 1.
    fn known_product(&self, argument: &NamedArgument) -> i64 {
        let sizes = argument.names.iter().filter_map(|name| self.known.get(name));
        sizes.fold(1, |product: i64, (size, _)| product.saturating_mul(*size))
    }

    /// Formats names with sizes: `'M' = 64 (declared), 'K' = ?`.
    fn format_names(&self, argument: &NamedArgument) -> String {
        let name = |name: &String| match self.known.get(name) {
            Some((size, SizeSource::Argument(number))) if *number == argument.number => format!("'{name}' = {size}"),
            Some((size, from)) => format!("'{name}' = {size} ({from})"),
            None => format!("'{name}' = ?"),
        };
        argument.names.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

impl NamedArgument {
    fn num_elements(&self) -> i64 {
        self.shape.iter().fold(1, |product: i64, size| product.saturating_mul(*size))
    }
}

impl fmt::Display for SizeSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declaration => formatter.write_str("declared"),
            Self::Argument(number) => write!(formatter, "by argument {number}"),
        }
    }
}

/// Returns advice if a name occurs twice, which is rarely intended.
fn twice(names: &str) -> String {
    let mut seen = Vec::new();
    for name in names.split(", ").filter_map(|part| part.split(' ').next()) {
        if seen.contains(&name) {
            return format!("{name} occurs twice, give each dimension its own name");
        }
        seen.push(name);
    }
    "correct the names or their sizes".to_owned()
}

/// Formats a shape: `8x64`.
pub(super) fn format_shape(shape: &[i64]) -> String {
    shape.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_argument(number: usize, names: &[&str], shape: &[i64]) -> NamedArgument {
        NamedArgument { number, names: names.iter().map(|&name| name.to_owned()).collect(), shape: shape.to_vec() }
    }

    fn solve(arguments: &[NamedArgument], declared: &[(&str, i64)]) -> Result<NamedDimSizes, SizeError> {
        NamedDimSizes::solve(arguments, &declared.iter().map(|&(name, size)| (name.to_owned(), size)).collect())
    }

    fn error_message(arguments: &[NamedArgument], declared: &[(&str, i64)]) -> String {
        solve(arguments, declared).unwrap_err().to_string()
    }

    #[test]
    fn infers_sizes_from_declarations_dimensions_and_quotients() {
        // The chain is resolved for any order of the arguments.
        let arguments = [
            make_argument(0, &["A", "B", "C"], &[24]),
            make_argument(1, &["B", "D"], &[15]),
            make_argument(2, &["D"], &[5]),
        ];
        let sizes = solve(&arguments, &[("A", 2)]).unwrap();
        assert_eq!(sizes.iter_sizes().collect::<Vec<_>>(), [("A", 2), ("B", 3), ("C", 4), ("D", 5)]);
        assert_eq!(sizes.sizes_of(&arguments[0]), Ok(vec![2, 3, 4]));
    }

    #[test]
    fn regroups_dimensions_by_declared_sizes() {
        let regrouped = make_argument(0, &["X", "Y"], &[6, 4]);
        assert_eq!(solve(std::slice::from_ref(&regrouped), &[("X", 4)]).unwrap().sizes_of(&regrouped), Ok(vec![4, 6]));
    }

    #[test]
    fn infers_sizes_of_unnamed_dimensions() {
        let arguments = [make_argument(0, &["", "N", ""], &[8, 64, 2]), make_argument(1, &["N", ""], &[128])];
        let sizes = solve(&arguments, &[]).unwrap();
        assert_eq!(arguments.map(|argument| sizes.sizes_of(&argument).unwrap()), [vec![8, 64, 2], vec![64, 2]]);
        assert_eq!(sizes.iter_sizes().collect::<Vec<_>>(), [("N", 64)]);
    }

    #[test]
    fn rejects_mismatched_names_with_all_sizes() {
        assert_eq!(
            error_message(&[make_argument(0, &["A", "B"], &[8, 64]), make_argument(3, &["A"], &[16])], &[]),
            "expected names whose sizes have the product 16 for argument 3 (shape 16), found 'A' = 8 (by argument 0) with the product 8; \
             correct the names or their sizes"
        );
        assert_eq!(
            error_message(&[make_argument(0, &["M", "K"], &[100])], &[("M", 8)]),
            "expected sizes whose product divides the 100 elements of argument 0 (shape 100), found 'M' = 8 (declared), 'K' = ? with the \
             product 8; correct the declared sizes"
        );
        assert_eq!(
            error_message(&[make_argument(0, &["M", "K"], &[4, 4, 4])], &[]),
            "expected at most one name without a size for argument 0 (shape 4x4x4), found 'M' = ?, 'K' = ?; declare sizes as NAME@SIZE"
        );
    }

    #[test]
    fn rejects_sizes_that_overflow_64_bits() {
        assert!(
            error_message(&[make_argument(0, &["A", "B"], &[16])], &[("A", i64::MAX), ("B", 16)])
                .contains(&format!("with the product {}", i64::MAX))
        );
    }
}
