//! `spyre-lsp-server`: MLIR's language server with the dialects of the project.

fn main() {
    std::process::exit(spyre_compiler::tool::spyre_lsp_server::main(std::env::args_os()));
}
