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
#[non_exhaustive]
pub enum DimNameError {
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
    /// A slice of an inner name is not contiguous in the dimension.
    #[error(
        "expected the outermost name of iteration dimension {dim} ('{names}'), found inner name '{name}'; use the outermost name"
    )]
    Inner {
        /// The name.
        name: String,
        /// The dimension.
        dim: usize,
        /// All of its names.
        names: String,
    },
}

/// Returns the dimension that a name refers to, if the op has it. `names` has one text per dimension: a name, or
/// several that are flattened into the dimension, outermost first and joined by `*` (empty: unknown). The joined text,
/// or the outermost name alone, refers to the dimension.
///
/// # Errors
/// If several dimensions have the name, or if a dimension has it as an inner name.
pub fn find_named_dim(name: &str, names: &[String]) -> Result<Option<usize>, DimNameError> {
    let has = |dim: &usize| names[*dim] == name || names[*dim].split('*').any(|part| part == name);
    let mut found = (0..names.len()).filter(has);
    let Some(dim) = found.next() else { return Ok(None) };
    if let Some(second) = found.next() {
        let (first_names, second_names) = (names[dim].clone(), names[second].clone());
        return Err(DimNameError::Ambiguous { name: name.to_owned(), first: dim, first_names, second, second_names });
    }
    let is_outermost = names[dim] == name || names[dim].split('*').next() == Some(name);
    if is_outermost {
        Ok(Some(dim))
    } else {
        Err(DimNameError::Inner { name: name.to_owned(), dim, names: names[dim].clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn finds_dim_with_the_name() {
        let names = to_names(&["A", "", "C*D", "E"]);
        assert_eq!(find_named_dim("A", &names), Ok(Some(0)));
        assert_eq!(find_named_dim("E", &names), Ok(Some(3)));
        assert_eq!(find_named_dim("F", &names), Ok(None));
    }

    #[test]
    fn finds_flattened_dim_by_its_outer_name() {
        let names = to_names(&["A", "C*D"]);
        assert_eq!([find_named_dim("C", &names), find_named_dim("C*D", &names)], [Ok(Some(1)), Ok(Some(1))]);
        let inner = DimNameError::Inner { name: "D".to_owned(), dim: 1, names: "C*D".to_owned() };
        assert_eq!(find_named_dim("D", &names), Err(inner));
    }

    #[test]
    fn rejects_name_of_two_dims() {
        assert!(matches!(
            find_named_dim("A", &to_names(&["A", "B", "A"])),
            Err(DimNameError::Ambiguous { first: 0, second: 2, .. })
        ));
        assert!(matches!(
            find_named_dim("D", &to_names(&["D", "C*D"])),
            Err(DimNameError::Ambiguous { first: 0, second: 1, .. })
        ));
    }
}
