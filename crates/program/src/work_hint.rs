//! Core split that the user requests, and the iteration dimension that its name refers to.

/// Requested slice count over the cores, for a named dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkHint {
    /// Id of the hint; all ops under one hint share it.
    pub id: i64,
    /// The name of the dimension.
    pub dim: String,
    /// Slices, at least 1.
    pub slices: i64,
}

/// Reason why a name does not identify one dimension of an op.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Several dimensions have the name.
    #[error(
        "expected a name of one dimension, found '{name}' of dimensions {first} ('{first_names}') and {second} \
         ('{second_names}'); use another name"
    )]
    Ambiguous {
        /// Name.
        name: String,
        /// First dimension that has it.
        first: usize,
        /// All names of that dimension.
        first_names: String,
        /// Second dimension that has it.
        second: usize,
        /// All names of the second dimension.
        second_names: String,
    },
    /// A slice of the inner name is not contiguous in the dimension.
    #[error("expected the outermost name of iteration dimension {dim} ('{names}'), found inner name '{name}'; use the outermost name")]
    Inner {
        /// The name.
        name: String,
        /// The dimension.
        dim: usize,
        /// All of its names.
        names: String,
    },
}

/// Returns the dimension that a name refers to, if the op has it. `names` has one text per dimension: a name, or several that are
/// flattened into the dimension, outermost first and joined by `*` (empty: unknown). The joined text, or the outermost name
/// alone, refers to the dimension.
///
/// # Errors
/// If several dimensions have the name, or if a dimension has it as an inner name.
pub fn dim_named(name: &str, names: &[String]) -> Result<Option<usize>, NameError> {
    let has = |dim: &usize| names[*dim] == name || names[*dim].split('*').any(|part| part == name);
    let mut found = (0..names.len()).filter(has);
    let Some(dim) = found.next() else { return Ok(None) };
    if let Some(second) = found.next() {
        let (first_names, second_names) = (names[dim].clone(), names[second].clone());
        return Err(NameError::Ambiguous { name: name.to_owned(), first: dim, first_names, second, second_names });
    }
    let is_outermost = names[dim] == name || names[dim].split('*').next() == Some(name);
    if is_outermost { Ok(Some(dim)) } else { Err(NameError::Inner { name: name.to_owned(), dim, names: names[dim].clone() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_name_means_the_dim_that_has_it() {
        let names = names(&["A", "", "C*D", "E"]);
        assert_eq!(dim_named("A", &names), Ok(Some(0)));
        assert_eq!(dim_named("E", &names), Ok(Some(3)));
        assert_eq!(dim_named("F", &names), Ok(None));
    }

    #[test]
    fn the_outer_part_of_a_flattened_dim_means_it_all() {
        let names = names(&["A", "C*D"]);
        assert_eq!([dim_named("C", &names), dim_named("C*D", &names)], [Ok(Some(1)), Ok(Some(1))]);
        let inner = NameError::Inner { name: "D".to_owned(), dim: 1, names: "C*D".to_owned() };
        assert_eq!(dim_named("D", &names), Err(inner));
    }

    #[test]
    fn a_name_of_two_dims_means_neither() {
        assert!(matches!(dim_named("A", &names(&["A", "B", "A"])), Err(NameError::Ambiguous { first: 0, second: 2, .. })));
        assert!(matches!(dim_named("D", &names(&["D", "C*D"])), Err(NameError::Ambiguous { first: 0, second: 1, .. })));
    }
}
