//! Help pages of the tools. `-h` and `--help` show the most used options, and `--help-all` shows all options.

use super::reporter::{EXIT_CODES, MESSAGES, VERSION};
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;

/// Note at the end of the full help page, for tools with options that take lists of `NAME=VALUE` pairs.
#[cfg(feature = "mlir")]
pub(super) const LISTS_NOTE: &str = "NAME=VALUE options can be repeated and take comma-separated lists.";

const HELP_ALL_OPTION: &str = "--help-all";

/// Adds `--help`, `--help-all` and `--version` to a command. Hides all options except `most_used` (argument ids) on the
/// short page.
///
/// The full page ends with the `after_long_help` text of `command`, if any.
pub(super) fn add_help_options(command: Command, most_used: &[&str]) -> Command {
    debug_assert!(
        most_used.iter().all(|id| command.get_arguments().any(|argument| argument.get_id() == id)),
        "{most_used:?}"
    );
    let is_on_short_page =
        |argument: &Arg| argument.is_positional() || most_used.iter().any(|id| argument.get_id() == id);
    let flag = |name: &'static str, text: &'static str, action: ArgAction| {
        Arg::new(name).long(name).help(text).action(action).help_heading(MESSAGES)
    };
    let note = command.get_after_long_help().map_or_else(String::new, |note| format!("{note}\n"));
    command
        .mut_args(|argument| {
            let (is_hidden, has_values) = (!is_on_short_page(&argument), argument.get_action().takes_values());
            argument.hide_short_help(is_hidden).hide_possible_values(has_values)
        })
        .version(VERSION)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(flag("help", "Print the most used options", ArgAction::HelpShort).short('h'))
        .arg(flag("help-all", "Print all options", ArgAction::HelpShort))
        .arg(flag("version", "Print version", ArgAction::Version).short('V'))
        // Disables line wrapping, because all texts fit into one line.
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
pub(super) fn requests_full_help(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|word| *word != "--").any(|word| word == HELP_ALL_OPTION)
}

/// Option of an MLIR driver, which LLVM's command-line library parses: name, value name (empty for a flag), help text,
/// heading.
#[cfg(feature = "mlir")]
pub(super) type DriverOption = (&'static str, &'static str, &'static str, &'static str);

/// Builds the argument that documents an option of an MLIR driver on the help pages.
#[cfg(feature = "mlir")]
pub(super) fn build_driver_argument(&(name, value, text, heading): &DriverOption) -> Arg {
    let option = Arg::new(name).long(name).help(text).help_heading(heading);
    if value.is_empty() { option.action(ArgAction::SetTrue) } else { option.value_name(value).require_equals(true) }
}

/// Handles `--version`, `--help` and `--help-all` of an MLIR driver. Returns the arguments that the driver must parse;
/// `None` if the request is complete.
#[cfg(feature = "mlir")]
pub(super) fn handle_driver_help(mut command: Command, arguments: Vec<String>) -> Option<Vec<String>> {
    let requests_any = |names: &[&str]| arguments.iter().skip(1).any(|word| names.contains(&word.as_str()));
    let name = command.get_name().to_owned();
    let (page, rest) = if requests_any(&["--version", "-version"]) {
        (format!("{name} {VERSION}\n"), None)
    } else if requests_any(&[HELP_ALL_OPTION, "-help-all"]) {
        // LLVM's command-line library prints the remaining options and the exit codes after this page.
        let page = render_full_page(&command).replace(&format!("\n{EXIT_CODES}"), "");
        (
            format!("{}\n\nOptions and passes of MLIR and LLVM:\n\n", page.trim_end()),
            Some(vec![name, "--help".to_owned()]),
        )
    } else if requests_any(&["--help", "-help", "-h"]) {
        (command.render_help().to_string(), None)
    } else {
        return Some(arguments);
    };
    // The error is ignored, because a tool that cannot print has no output for the error message.
    let _ = super::print_text(&page);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_command() -> Command {
        let option = |name: &'static str| Arg::new(name).long(name).help("Does something").help_heading("Things");
        add_help_options(
            Command::new("tool").arg(option("often")).arg(option("rarely")).after_long_help("A note."),
            &["often"],
        )
    }

    #[test]
    fn shows_most_used_options_on_short_page() {
        let page = build_command().render_help().to_string();
        assert!(page.contains("--often") && !page.contains("--rarely") && !page.contains("A note."), "{page}");
        assert!(page.ends_with(&format!("Use '--help-all' for all options.\n{EXIT_CODES}\n")), "{page}");
    }

    #[test]
    fn shows_all_options_and_note_on_full_page() {
        let page = render_full_page(&build_command());
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
        let remaining_arguments =
            |text: &str| handle_driver_help(build_command(), text.split(' ').map(str::to_owned).collect());
        assert_eq!(remaining_arguments("tool --often file").map(|words| words.len()), Some(3));
        assert_eq!(remaining_arguments("tool file --help-all"), Some(vec!["tool".to_owned(), "--help".to_owned()]));
        assert_eq!((remaining_arguments("tool -h"), remaining_arguments("tool --version")), (None, None));
    }
}
