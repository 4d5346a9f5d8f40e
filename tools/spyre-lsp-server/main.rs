//! `spyre-lsp-server`: MLIR's language server with our dialects, for editors.

fn main() {
    std::process::exit(spyre_compiler::tool::spyre_lsp_server::main(std::env::args_os()));
}
