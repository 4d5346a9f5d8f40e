#![doc = include_str!("README.md")]

pub mod affine;
pub mod assignment;

pub mod import;
pub mod layout;

pub mod hint;

pub mod tile;

pub mod work;

pub mod cost;
pub mod lx;

pub mod joint;

pub mod search;

pub mod bundle;
pub mod traffic;

pub mod launch;

pub mod sdsc;

pub mod dialect;
pub mod mlir;

pub mod interpret;

pub mod reference;

pub mod gate;
pub mod phase;
pub mod validate;

pub mod compile;
pub mod explain;
pub mod pipeline;
pub mod plugin;
pub mod report;
pub mod tool;
pub mod translate;
