//! Small programs.
