//! Help pages of the tools: `-h` and `--help` show the most used options, `--help-all` shows all of them under
//! headings.

use super::reporter::{EXIT_CODES, MESSAGES, VERSION};
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;

/// Note of the tools with options that take lists of pairs.
#[cfg(feature = "mlir")]
pub(super) const LISTS_NOTE: &str = "NAME=VALUE options can be repeated and take comma-separated lists.";

const HELP_ALL_OPTION: &str = "--help-all";

/// Completes a command line: adds `--help`, `--help-all` and `--version`, and hides all options but `most_used`
/// (argument ids) from the short page.
///
/// If `command` has a long text after its options, the text becomes a note of the full page.
pub(super) fn with_help(command: Command, most_used: &[&str]) -> Command {
    debug_assert!(
        most_used.iter().all(|id| command.get_arguments().any(|argument| argument.get_id() == id)),
        "{most_used:?}"
    );
    let is_viewed = |argument: &Arg| argument.is_positional() || most_used.iter().any(|id| argument.get_id() == id);
    let flag = |name: &'static str, text: &'static str, action: ArgAction| {
        Arg::new(name).long(name).help(text).action(action).help_heading(MESSAGES)
    };
    let note = command.get_after_long_help().map_or_else(String::new, |note| format!("{note}\n"));
    command
        .mut_args(|argument| {
            let (is_hidden, has_values) = (!is_viewed(&argument), argument.get_action().takes_values());
            argument.hide_short_help(is_hidden).hide_possible_values(has_values)
        })
        .version(VERSION)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(flag("help", "Print the most used options", ArgAction::HelpShort).short('h'))
        .arg(flag("help-all", "Print all options", ArgAction::HelpShort))
        .arg(flag("version", "Print version", ArgAction::Version).short('V'))
        // Disables wrapping: all texts fit a line.
        .term_width(0)
        .after_help(format!("Use '{HELP_ALL_OPTION}' for all options.\n{EXIT_CODES}"))
        .after_long_help(format!("{note}{EXIT_CODES}"))
}

/// Returns the page with all options.
pub(super) fn render_full_page(command: &Command) -> String {
    let note = command.get_after_long_help().cloned().unwrap_or_default();
    command.clone().mut_args(|argument| argument.hide_short_help(false)).after_help(note).render_help().to_string()
}

/// Returns whether a command line requests help on all options.
pub(super) fn requests_full_help(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == HELP_ALL_OPTION)
}

/// Option of an MLIR driver, which LLVM's library parses: name, name of the value (empty: none), text, heading.
#[cfg(feature = "mlir")]
pub(super) type DriverOption = (&'static str, &'static str, &'static str, &'static str);

/// Returns the argument that documents an option of an MLIR driver.
#[cfg(feature = "mlir")]
pub(super) fn driver_option(&(name, value, text, heading): &DriverOption) -> Arg {
    let option = Arg::new(name).long(name).help(text).help_heading(heading);
    if value.is_empty() { option.action(ArgAction::SetTrue) } else { option.value_name(value).require_equals(true) }
}

/// Handles `--version`, `--help` and `--help-all` of an MLIR driver. Returns the words that are left for the driver to
/// parse; `None` if the request is complete.
#[cfg(feature = "mlir")]
pub(super) fn handle_driver_help(mut command: Command, words: Vec<String>) -> Option<Vec<String>> {
    let asks = |names: &[&str]| words.iter().skip(1).any(|word| names.contains(&word.as_str()));
    let name = command.get_name().to_owned();
    let (page, rest) = if asks(&["--version", "-version"]) {
        (format!("{name} {VERSION}\n"), None)
    } else if asks(&[HELP_ALL_OPTION, "-help-all"]) {
        // LLVM's library prints the remaining options, followed by the exit codes.
        let page = render_full_page(&command).replace(&format!("\n{EXIT_CODES}"), "");
        (
            format!("{}\n\nOptions and passes of MLIR and LLVM:\n\n", page.trim_end()),
            Some(vec![name, "--help".to_owned()]),
        )
    } else if asks(&["--help", "-help", "-h"]) {
        (command.render_help().to_string(), None)
    } else {
        return Some(words);
    };
    // If the page cannot be printed, no output is left to report the error.
    let _ = super::print_text(&page);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        let option = |name: &'static str| Arg::new(name).long(name).help("Does something").help_heading("Things");
        with_help(
            Command::new("tool").arg(option("often")).arg(option("rarely")).after_long_help("A note."),
            &["often"],
        )
    }

    #[test]
    fn shows_most_used_options_on_short_page() {
        let page = command().render_help().to_string();
        assert!(page.contains("--often") && !page.contains("--rarely") && !page.contains("A note."), "{page}");
        assert!(page.ends_with(&format!("Use '--help-all' for all options.\n{EXIT_CODES}\n")), "{page}");
    }

    #[test]
    fn shows_all_options_and_note_on_full_page() {
        let page = render_full_page(&command());
        assert!(
            page.contains("Things:\n      --often") && page.contains("--rarely") && page.contains("--help-all"),
            "{page}"
        );
        assert!(page.ends_with(&format!("A note.\n{EXIT_CODES}\n")), "{page}");
    }

    #[test]
    fn ignores_words_after_double_dash() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(
            requests_full_help(&words("tool --help-all"))
                && !requests_full_help(&words("tool --help -- other --help-all"))
        );
    }

    #[cfg(feature = "mlir")]
    #[test]
    fn leaves_other_words_to_the_driver() {
        let left = |text: &str| handle_driver_help(command(), text.split(' ').map(str::to_owned).collect());
        assert_eq!(left("tool --often file").map(|words| words.len()), Some(3));
        assert_eq!(left("tool file --help-all"), Some(vec!["tool".to_owned(), "--help".to_owned()]));
        assert_eq!((left("tool -h"), left("tool --version")), (None, None));
    }
}
