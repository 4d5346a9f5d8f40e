//! Input files of the commands of the table.

use std::{fs, path::Path, sync::OnceLock};
use tempfile::TempDir;

/// Files as text.
const TEXTS: &[(&str, &str)] = &[
    (
        "two.mlir",
        "func.func @two(%x: tensor<1024x4096xf16>, %y: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %e = tensor.empty() : tensor<1024x4096xf16>
  %0 = linalg.add ins(%x, %y : tensor<1024x4096xf16>, tensor<1024x4096xf16>) outs(%e : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %1 = linalg.exp ins(%0 : tensor<1024x4096xf16>) outs(%e : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %1 : tensor<1024x4096xf16>
}
",
    ),
    (
        "small.mlir",
        "func.func @small(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %e = tensor.empty() : tensor<4x64xf16>
  %0 = linalg.exp ins(%x : tensor<4x64xf16>) outs(%e : tensor<4x64xf16>) -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
",
    ),
    ("unknown-key.json", "{\"coers\": 3}\n"),
    ("word.json", "{\"cores\": \"all\"}\n"),
    ("comma.json", "{\"cores\": 4,\n}\n"),
    ("list.json", "[4]\n"),
    ("syntax.mlir", "func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {\n  retrun %x : tensor<4x64xf16>\n}\n"),
    (
        "stablehlo.mlir",
        "func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %0 = stablehlo.add %x, %x : tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
",
    ),
    (
        "torch.mlir",
        "func.func @f(%x: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
  return %x : !torch.vtensor<[4,64],f16>
}
",
    ),
    (
        "tosa.mlir",
        "func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %0 = tosa.exp %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
",
    ),
    (
        "f64.mlir",
        "func.func @f(%x: tensor<64x64xf64>) -> tensor<64x64xf64> {
  %e = tensor.empty() : tensor<64x64xf64>
  %0 = linalg.exp ins(%x : tensor<64x64xf64>) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
  return %0 : tensor<64x64xf64>
}
",
    ),
    (
        "integers.mlir",
        "func.func @f(%x: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %e = tensor.empty() : tensor<64x64xi32>
  %0 = linalg.add ins(%x, %x : tensor<64x64xi32>, tensor<64x64xi32>) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}
",
    ),
    ("dynamic.mlir", "func.func @f(%x: tensor<?x64xf16>) -> tensor<?x64xf16> {\n  return %x : tensor<?x64xf16>\n}\n"),
    ("memref.mlir", "func.func @f(%x: memref<4x64xf16>) {\n  return\n}\n"),
    (
        "trips.mlir",
        "func.func @f(%x: tensor<64x64xf16>, %n: tensor<i32>) -> tensor<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %number = tensor.extract %n[] : tensor<i32>
  %end = arith.index_cast %number : i32 to index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<64x64xf16>) {
    %e = tensor.empty() : tensor<64x64xf16>
    %0 = linalg.exp ins(%a : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
    scf.yield %0 : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}
",
    ),
    (
        "python.mlir",
        "func.func @f(%x: memref<4x64xf16>) {
  return
} loc(\"more.py\":6:4)
",
    ),
    ("module.mlir", "module {}\n"),
    ("empty.mlir", ""),
    (
        "functions.mlir",
        "func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {\n  return %x : tensor<4x64xf16>\n}\n\
         func.func @g(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {\n  return %x : tensor<4x64xf16>\n}\n",
    ),
    (
        "large.mlir",
        "func.func @f(%x: tensor<4000000000x4000000000xf16>) -> tensor<4000000000x4000000000xf16> {
  return %x : tensor<4000000000x4000000000xf16>
}
",
    ),
    ("lives.csv", "id,lower,upper,size\na,5,2,3\n"),
    ("buffers.csv", "id,lower,upper,size\na,0,2,3\nb,1,3,4\n"),
];

/// Returns a NumPy file: a header and zeros.
pub(crate) fn npy(element: &str, order: &str, shape: &str, num_bytes: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': '{element}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + num_bytes, 0);
    bytes
}

/// Creates a folder with all inputs; a command may change it.
pub(crate) struct InputFolder(TempDir);

impl InputFolder {
    pub(crate) fn new() -> Self {
        static MADE: OnceLock<InputFolder> = OnceLock::new();
        MADE.get_or_init(Self::create).copy()
    }

    /// Returns a folder with the same files.
    pub(crate) fn copy(&self) -> Self {
        let copy = tempfile::tempdir().unwrap();
        for (name, content) in crate::errors::read_contents(self.folder()) {
            let path = copy.path().join(&name);
            if name.ends_with('/') { fs::create_dir(path).unwrap() } else { fs::write(path, content).unwrap() }
        }
        Self(copy)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    fn create() -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        let write = |name: &str, content: &[u8]| fs::write(made.folder().join(name), content).unwrap();
        TEXTS.iter().for_each(|(name, text)| write(name, text.as_bytes()));
        for (name, element, order, shape, num_bytes) in [
            ("f32.npy", "<f4", "False", "(4, 64)", 1024),
            ("narrow.npy", "<f2", "False", "(4, 32)", 256),
            ("fortran.npy", "<f2", "True", "(4, 64)", 512),
            ("cut.npy", "<f2", "False", "(4, 64)", 100),
        ] {
            write(name, &npy(element, order, shape, num_bytes));
        }
        write("arrays.npz", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        for command in [
            "spyre-compile small.mlir -o small && spyre-compile small.mlir -o broken && echo '{' > broken/bundle_0/sdsc_0.json",
            "spyre-plan buffers.csv --capacity 10 -o plan.json && sed 's/\"a\": 4/\"a\": 8/' plan.json > wrong.json",
            "spyre-opt small.mlir --emit-bytecode -o newer.mlirbc && sed -i 's/MLIR22/MLIR24/; 1s/^\\(ML.R\\)./\\1\\x1f/' newer.mlirbc",
        ] {
            let said = crate::errors::run_command(command, made.folder());
            assert_eq!(said.code, Some(0), "{command}: {}", said.text);
        }
        made
    }
}

/// Text above the rows of the page.
pub(crate) const PAGE_HEAD: &str = "# Messages for common mistakes

This page shows the messages for common mistakes. Each names the location, the value found, the rule and what to do; the
tool exits with 1 and leaves no output. Cases that are accepted today, although they were errors once, show the result.
The input files of the commands are listed [at the end](#files).

`BLESS=errors cargo test --test compiler -- errors::` runs every command in a new folder and writes this page.
";

/// Returns the files of the commands, for the end of the page.
pub(crate) fn page_end() -> String {
    let files: String = TEXTS.iter().map(|(name, text)| format!("\n`{name}`:\n\n```\n{text}```\n")).collect();
    format!(
        "\n## Files\n\n`small` and `broken` are bundles of `small.mlir`, the second with a cut `sdsc_0.json`; `plan.json` is a plan of\n`buffers.csv`, \
         and `wrong.json` the same with another address; `newer.mlirbc` is bytecode of another MLIR; `arrays.npz`\nis an empty archive.\n{files}"
    )
}
