//! peak
