//! Fields without a meaning: a change of one changes nothing that anybody computes.

/// A field that may be anything.
pub(crate) struct Free {
    /// The field, as the table names it; `*` at its end stands for all below.
    pub(crate) field: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) source: &'static str,
}

pub(crate) const FREE: &[Free] = &[
    Free { field: "debug_handle_*", reason: "says where an op comes from; the back end ignores it", source: "schema, section 6" },
    Free { field: "program.json name", reason: "the name of the function, for messages", source: "project, `program.json`" },
];

/// Whether a field is on the list.
pub(crate) fn is_free(field: &str) -> bool {
    FREE.iter().any(|free| free.field.strip_suffix('*').map_or(free.field == field, |start| field.starts_with(start)))
}
