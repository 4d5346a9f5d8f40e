//! Pass of stage `joint`.

pub(crate) mod divide_jointly;
