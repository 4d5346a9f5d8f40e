//! Settings that the editor sends when it starts the server: `initializationOptions`.

use serde_json::Value;

/// Options of `spyre-compile` that a workspace may set: those that describe the program and the machine. Options that
/// write files are left out, because a workspace may come from anybody.
const ALLOWED_OPTIONS: [&str; 18] = [
    "addresses",
    "bind",
    "cores",
    "dim-size",
    "dims",
    "entry",
    "kernels",
    "knobs",
    "loops",
    "lx-bytes",
    "lx-planner",
    "objective",
    "precision",
    "rounding",
    "sticks",
    "tile-search",
    "tile-steps",
    "tiles",
];

/// Settings of the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EditorSettings {
    /// Whether documents are compiled to obtain diagnostics.
    pub(super) compiles: bool,
    /// Additional command-line words for `spyre-compile`.
    pub(super) compile_options: Vec<String>,
}

impl Default for EditorSettings {
    fn default() -> Self {
        Self { compiles: true, compile_options: Vec::new() }
    }
}

impl EditorSettings {
    /// Parses the parameters of `initialize`. Returns the settings, and a message for each ignored value.
    pub(super) fn from_params(params: &Value) -> (Self, Vec<String>) {
        let options = &params["initializationOptions"];
        let (mut settings, mut rejected) = (Self::default(), Vec::new());
        match &options["compile"] {
            Value::Null => {}
            Value::Bool(compiles) => settings.compiles = *compiles,
            other => rejected
                .push(format!("setting 'compile': expected true or false, found {other}; documents are compiled")),
        }
        match &options["compileOptions"] {
            Value::Null => {}
            Value::Array(words) => {
                for word in words {
                    match word.as_str().filter(|word| is_allowed(word)) {
                        Some(word) => settings.compile_options.push(word.to_owned()),
                        None => rejected.push(rejection_message(word)),
                    }
                }
            }
            other => rejected.push(format!(
                "setting 'compileOptions': expected a list of options, found {other}; give [\"--cores=4\"]"
            )),
        }
        (settings, rejected)
    }
}

/// Returns whether a word is an allowed option with its value.
fn is_allowed(word: &str) -> bool {
    let option = word.strip_prefix("--").and_then(|word| word.split_once('='));
    option.is_some_and(|(name, _)| ALLOWED_OPTIONS.contains(&name))
}

fn rejection_message(word: &Value) -> String {
    format!(
        "setting 'compileOptions': expected --NAME=VALUE with one of {}, found {word}; the option is left out",
        ALLOWED_OPTIONS.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(options: &Value) -> (EditorSettings, Vec<String>) {
        EditorSettings::from_params(&json!({"initializationOptions": options}))
    }

    #[test]
    fn compiles_documents_unless_disabled() {
        assert_eq!(EditorSettings::from_params(&json!({})), (EditorSettings::default(), Vec::new()));
        let (settings, rejected) =
            read(&json!({"compile": false, "compileOptions": ["--cores=4", "--dim-size=s0=64"]}));
        assert_eq!(
            settings,
            EditorSettings {
                compiles: false,
                compile_options: vec!["--cores=4".to_owned(), "--dim-size=s0=64".to_owned()]
            }
        );
        assert!(rejected.is_empty());
    }

    #[test]
    fn allows_only_options_whose_values_name_no_file() {
        let page = include_str!("../../../docs/reference/generated/options.md");
        for name in ALLOWED_OPTIONS {
            let (_, rest) = page.split_once(&format!("--{name} <")).unwrap_or_else(|| panic!("{name}"));
            assert!(!rest.split('>').next().unwrap().contains("FILE"), "{name}");
        }
    }

    #[test]
    fn rejects_options_that_write_files_and_values_of_other_types() {
        let (settings, rejected) =
            read(&json!({"compile": 1, "compileOptions": ["--report=/etc/x.json", "-o", "--entry=f", "--cores", 3]}));
        assert_eq!(settings, EditorSettings { compiles: true, compile_options: vec!["--entry=f".to_owned()] });
        assert_eq!(rejected.len(), 5, "{rejected:?}");
        assert!(
            rejected[1].contains("expected --NAME=VALUE with one of addresses, bind, cores")
                && rejected[1].contains("\"--report=")
        );
        assert!(
            read(&json!({"compileOptions": "--cores=4"})).1[0]
                .contains("expected a list of options, found \"--cores=4\"")
        );
    }
}
