#![doc = include_str!("README.md")]

pub mod affine;
pub mod assignment;
pub mod files;

pub mod import;
pub mod layout;

pub mod hint;

pub mod tile;

pub mod work;

pub mod lx;

pub mod joint;

pub mod bundle;

pub mod sdsc;

pub mod cost;

pub mod gate;

pub mod dialect;
pub mod mlir;

pub mod element;
pub mod interpret;
pub mod sim;

pub mod reference;

pub mod compile;
pub mod explain;
pub mod pipeline;
pub mod report;
pub mod tool;
pub mod translate;
pub mod validate;
