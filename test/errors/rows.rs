//! User errors, with the command that triggers each of them and the required parts of its message.

/// User error: a command and its expected answer.
pub(crate) struct MistakeCase {
    pub(crate) mistake: &'static str,
    pub(crate) command: &'static str,
    pub(crate) answer: ExpectedAnswer,
}

/// Required content of an answer.
pub(crate) enum ExpectedAnswer {
    /// Exit code 1; texts for the location, the value, the rule, and the fix.
    Rejected([&'static str; 4]),
    /// Exit code 0; the command is accepted now, and its output contains this text.
    Accepted(&'static str),
}

pub(crate) const fn expect_error(
    mistake: &'static str,
    command: &'static str,
    points: [&'static str; 4],
) -> MistakeCase {
    MistakeCase { mistake, command, answer: ExpectedAnswer::Rejected(points) }
}

pub(crate) const fn expect_success(mistake: &'static str, command: &'static str, says: &'static str) -> MistakeCase {
    MistakeCase { mistake, command, answer: ExpectedAnswer::Accepted(says) }
}

/// Returns the excerpt of an answer for the page: an error in full, otherwise the lines that contain the expected text.
pub(crate) fn excerpt_answer(row: &MistakeCase, said: &str) -> String {
    match row.answer {
        ExpectedAnswer::Rejected(_) => said.to_owned(),
        ExpectedAnswer::Accepted(words) => {
            said.lines().filter(|line| line.contains(words)).fold(String::new(), |text, line| text + line + "\n")
        }
    }
}

/// All rows, in the order of the audit that collected them.
pub(crate) const ROWS: &[MistakeCase] = &[
    expect_error(
        "Tiles along a name that no dimension has",
        "spyre-compile two.mlir --dims 0=A:B --tiles M=2 -o out",
        ["two.mlir:3:8", "'M'", "no op in the hint scope has a dimension", "known dimensions are 'A' and 'B'"],
    ),
    expect_error(
        "A tile count that does not divide the dimension",
        "spyre-compile two.mlir --dims 0=A:B --tiles A=3 -o out",
        ["two.mlir:3:8", "tile count 3", "does not divide dimension", "nearest divisors are 2 and 4"],
    ),
    expect_error(
        "Tiles of less than a stick",
        "spyre-compile two.mlir --dims 0=A:B --tiles B=128 -o out",
        ["two.mlir:3:8", "32 elements", "must be whole sticks", "at most 64 tiles"],
    ),
    expect_error(
        "A tile count of 0",
        "spyre-compile two.mlir --dims 0=A:B --tiles A=0 -o out",
        ["--tiles", "'A=0'", "a positive number", "expected NAME=COUNT"],
    ),
    expect_error(
        "A named tile count without a value",
        "spyre-compile two.mlir --dims 0=A:B --tiles A=T -o out",
        ["two.mlir:1:1", "'T'", "of dimension 'A' has no value", "--bind T=NUMBER"],
    ),
    expect_error(
        "A binding of an unknown name",
        "spyre-compile two.mlir --dims 0=A:B --tiles A=S --bind S=2,T=4 -o out",
        ["--bind", "'T=4'", "expected the name of a tile count", "remove the binding"],
    ),
    expect_error(
        "Names for a missing argument",
        "spyre-compile two.mlir --dims 5=A:B -o out",
        ["--dims", "argument 5", "its 2 arguments", "are numbered from 0"],
    ),
    expect_error(
        "One name for a matrix",
        "spyre-compile two.mlir --dims 0=A --tiles A=2 -o out",
        ["two.mlir:3:8", "'A' (size 4194304)", "covers several dimensions", "name each dimension"],
    ),
    expect_error(
        "More names than dimensions",
        "spyre-compile two.mlir --dims 0=A:B:C -o out",
        ["two.mlir:1:1", "'A' = ?", "1024x4096", "declare sizes as NAME@SIZE"],
    ),
    expect_error(
        "The same name for two dimensions",
        "spyre-compile two.mlir --dims 0=A:A -o out",
        ["argument 0", "'A' = 1024, 'A' = 1024", "occurs twice", "each dimension its own name"],
    ),
    expect_error(
        "Names with ':' and '=' exchanged",
        "spyre-compile two.mlir --dims 0:A=B -o out",
        ["--dims", "'0:A=B'", "with the number of an argument", "expected ARG=NAME:NAME"],
    ),
    expect_error(
        "Tiles along one name twice",
        "spyre-compile two.mlir --dims 0=A:B --tiles A=2 --tiles A=2 -o out",
        ["--tiles", "'A=2' and 'A=2'", "twice", "use 'A=4'"],
    ),
    expect_success(
        "Many small tiles",
        "spyre-compile two.mlir --dims 0=A:B --tiles B=32 --tiles A=1024 -o out",
        "use fewer tiles",
    ),
    expect_error(
        "A missing input file",
        "spyre-compile smal.mlir -o out",
        ["cannot read", "'smal.mlir'", "No such file", "did you mean 'small.mlir'?"],
    ),
    expect_error(
        "No output directory",
        "spyre-compile small.mlir",
        ["spyre-compile", "output directory", "missing", "add -o DIR"],
    ),
    expect_error(
        "An output path that is another file",
        "spyre-compile small.mlir -o two.mlir",
        ["-o", "'two.mlir'", "expected a new path or an older bundle", "name another path, or remove"],
    ),
    expect_error(
        "An output path in a missing directory",
        "spyre-compile small.mlir -o a/b/c",
        ["-o", "'a/b/c'", "there is no directory 'a/b'", "create it first"],
    ),
    expect_error(
        "A bundle to standard output",
        "spyre-compile small.mlir -o -",
        ["-o:", "'-'", "expected a directory", "--compile-to PHASE"],
    ),
    expect_error(
        "IR written to a directory",
        "spyre-compile small.mlir --compile-to lx -o small",
        ["'small'", "--compile-to lx", "expected a file to write", "name a file"],
    ),
    expect_error(
        "More cores than there are",
        "spyre-compile small.mlir --cores 33 -o out",
        ["--cores", "found 33", "expected 1 to 32 cores", "use at most 32"],
    ),
    expect_error(
        "Zero cores",
        "spyre-compile small.mlir --cores 0 -o out",
        ["--cores", "found 0", "1 to 32", "remove the option to use all"],
    ),
    expect_error(
        "A size with a unit",
        "spyre-compile small.mlir --lx-bytes 1MiB -o out",
        ["--lx-bytes", "'1MiB'", "expected a number", "give 1048576"],
    ),
    expect_error(
        "A negative size",
        "spyre-compile small.mlir --lx-bytes -5 -o out",
        ["--lx-bytes", "-5", "nonnegative", "remove the option"],
    ),
    expect_error(
        "A size that is not a multiple of a stick",
        "spyre-compile small.mlir --lx-bytes 100 -o out",
        ["--lx-bytes", "100", "multiple of 128", "give 128"],
    ),
    expect_error(
        "A misspelled planner",
        "spyre-compile small.mlir --lx-planner exat -o out",
        ["--lx-planner", "'exat'", "possible values", "'exact'"],
    ),
    expect_error(
        "A planner that an option does not support",
        "spyre-compile small.mlir --joint --lx-planner greedy -o out",
        ["--joint", "'greedy'", "requires", "--lx-planner exact"],
    ),
    expect_error(
        "A misspelled option",
        "spyre-compile small.mlir --reprot report.json -o out",
        ["spyre-compile: error", "'--reprot'", "unexpected argument", "a similar argument exists: '--report'"],
    ),
    expect_error(
        "A report in a missing directory",
        "spyre-compile small.mlir --report nowhere/report.json -o out",
        ["--report", "'nowhere/report.json'", "there is no directory 'nowhere'", "create it first"],
    ),
    expect_error(
        "A machine description with an unknown key",
        "spyre-compile small.mlir --target unknown-key.json -o out",
        ["unknown-key.json", "`coers`", "expected one of", "line 1 column 8"],
    ),
    expect_error(
        "A machine description with a word for a number",
        "spyre-compile small.mlir --target word.json -o out",
        [
            "'word.json'",
            "'cores': invalid type: string \"all\"",
            "expected a whole number",
            "give an object of numbers",
        ],
    ),
    expect_error(
        "A machine description that is not JSON",
        "spyre-compile small.mlir --target comma.json -o out",
        ["'comma.json'", "line 2 column 1", "trailing comma", "give an object of numbers"],
    ),
    expect_error(
        "A machine description that is a list",
        "spyre-compile small.mlir --target list.json -o out",
        ["'list.json'", "sequence", "expected a map", "give an object of numbers"],
    ),
    expect_error(
        "A missing machine description",
        "spyre-compile small.mlir --target none.json -o out",
        ["--target", "'none.json'", "No such file", "give a JSON file"],
    ),
    expect_error(
        "A program instead of a plan",
        "spyre-compile small.mlir --plan two.mlir -o out",
        ["--plan", "'two.mlir'", "expected a plan", "write one with --write-plan"],
    ),
    expect_error(
        "A program that does not parse",
        "spyre-compile syntax.mlir -o out",
        ["syntax.mlir:2:3", "'retrun'", "is unknown", "did you mean 'return'?"],
    ),
    expect_error(
        "StableHLO",
        "spyre-compile stablehlo.mlir -o out",
        ["stablehlo.mlir:2:8", "'stablehlo.add'", "unsupported dialect", "stablehlo-opt"],
    ),
    expect_error(
        "The torch dialect",
        "spyre-compile torch.mlir -o out",
        ["torch.mlir:1", "'torch.vtensor'", "unsupported dialect", "linalg-on-tensors"],
    ),
    expect_error(
        "Bytecode of a newer MLIR",
        "spyre-compile newer.mlirbc -o out",
        ["newer.mlirbc", "MLIR24", "expected bytecode of MLIR 22 or older", "save the module as text"],
    ),
    expect_success("f64", "spyre-compile f64.mlir -o out", "files written to out"),
    expect_success("Arithmetic on integers", "spyre-compile integers.mlir -o out", "files written to out"),
    expect_error(
        "A dynamic shape",
        "spyre-compile dynamic.mlir -o out",
        ["dynamic.mlir:1:1", "arg0.0", "is dynamic", "--dim-size arg0.0=N"],
    ),
    expect_success("TOSA", "spyre-compile tosa.mlir -o out", "files written to out"),
    expect_error(
        "A memref",
        "spyre-compile memref.mlir -o out",
        ["memref.mlir:1:1", "memref<4x64xf16>", "expected tensor arguments", "before bufferization"],
    ),
    expect_error(
        "A location in Python",
        "spyre-compile python.mlir -o out",
        ["more.py:6:4", "memref<4x64xf16>", "expected tensor arguments", "before bufferization"],
    ),
    expect_error(
        "A loop with a runtime trip count",
        "spyre-compile trips.mlir -o out",
        ["trips.mlir:6:8", "'scf.for'", "requires a constant trip count", "a constant"],
    ),
    expect_error(
        "Missing plans",
        "spyre-compile --compare none.json none.json",
        ["none.json", "'none.json'", "there is no plan", "--write-plan"],
    ),
    expect_error(
        "A count that is not a number",
        "spyre-compile small.mlir --cores abc -o out",
        ["--cores", "'abc'", "expected a number", "such as"],
    ),
    expect_error(
        "An empty module",
        "spyre-compile module.mlir -o out",
        ["module.mlir:1:1", "the module", "is empty", "give a function of linalg"],
    ),
    expect_error(
        "An empty file",
        "spyre-compile empty.mlir -o out",
        ["empty.mlir: ", "the module", "is empty", "give a function of linalg"],
    ),
    expect_error(
        "Two functions",
        "spyre-compile functions.mlir -o out",
        ["functions.mlir:1:1", "'f' and 'g'", "expected one public function", "--entry NAME"],
    ),
    expect_error(
        "A tensor that is too large",
        "spyre-compile large.mlir -o out",
        ["large.mlir:1:1", "4000000000x4000000000", "fits in 64 bits", "smaller"],
    ),
    expect_error(
        "The directory of one launch",
        "spyre-run small/bundle_0",
        ["small/bundle_0", "program.json", "one launch of the program in 'small'", "spyre-run small"],
    ),
    expect_error(
        "An unknown argument",
        "spyre-run small --input x=f32.npy",
        ["--input", "'x'", "expected an argument of the program", "choose one of arg0"],
    ),
    expect_error(
        "A missing bundle",
        "spyre-run nowhere",
        ["'nowhere'", "'nowhere/program.json'", "expected a bundle directory", "'spyre-compile FILE -o DIR'"],
    ),
    expect_error(
        "Elements of another type",
        "spyre-run small --input arg0=f32.npy",
        ["f32.npy", "float32", "float16", ".astype('float16')"],
    ),
    expect_error(
        "An array in Fortran order",
        "spyre-run small --input arg0=fortran.npy",
        ["fortran.npy", "Fortran order", "expected an array in C order", "numpy.ascontiguousarray"],
    ),
    expect_error(
        "A truncated array",
        "spyre-run small --input arg0=cut.npy",
        ["cut.npy", "cut.npy", "shorter than its header says", "save the array again"],
    ),
    expect_error(
        "A file that is not an array",
        "spyre-run small --input arg0=small.mlir",
        ["small.mlir", "cannot read 'small.mlir'", "expected a .npy file", "numpy.save"],
    ),
    expect_error(
        "A .npy file for several arrays",
        "spyre-run small --inputs fortran.npy",
        ["--inputs", "'fortran.npy'", "expected a .npz or .safetensors file", "numpy.savez"],
    ),
    expect_error(
        "An array of another shape",
        "spyre-run small --input arg0=narrow.npy",
        ["narrow.npy", "[4, 32]", "[4, 64]", "reshape"],
    ),
    expect_error(
        "Several arrays for one argument",
        "spyre-run small --input arg0=arrays.npz",
        ["arrays.npz", ".npz", "expected one array", "--inputs arrays.npz"],
    ),
    expect_error(
        "The module of another program",
        "spyre-run small --check two.mlir",
        ["two.mlir", "found 2", "as many arguments as the bundle", "the module from which the bundle was compiled"],
    ),
    expect_error(
        "A comparison without values",
        "spyre-run small --count --check small.mlir",
        ["--count", "--check", "cannot be used with", "leave one of them out"],
    ),
    expect_error(
        "A truncated file of a bundle",
        "spyre-run broken",
        ["broken/bundle_0/sdsc_0.json", "line 2 column 0", "EOF", "compile the program again"],
    ),
    expect_error(
        "Linalg instead of a bundle",
        "spyre-translate --mlir-to-bundle small.mlir -o out",
        ["small.mlir", "'sdsc_bundle'", "that describes a launch", "'spyre-compile FILE -o DIR'"],
    ),
    expect_error(
        "A live range that ends before it begins",
        "spyre-plan lives.csv --capacity 10",
        ["lives.csv:2", "'a,5,2,3'", "lower below upper", "at least 6"],
    ),
    expect_error(
        "A plan with a wrong address",
        "spyre-plan buffers.csv --capacity 10 --verify wrong.json",
        ["wrong.json", "found 8", "expected 'addresses.a' = 4", "make the plan again"],
    ),
    expect_error(
        "A misspelled pass",
        "spyre-opt small.mlir --spyre-complie",
        ["spyre-opt:", "'--spyre-complie'", "Unknown command line argument", "Did you mean '--spyre-compile'?"],
    ),
    expect_error(
        "A misspelled option of a pass",
        "spyre-opt small.mlir --spyre-compile=core=4",
        ["'spyre-compile'", "'core'", "unknown option", "did you mean 'cores'?"],
    ),
    expect_error(
        "A module pass on functions",
        "spyre-opt small.mlir --pass-pipeline='builtin.module(func.func(spyre-allocate-scratchpad))'",
        ["func.func", "SpyreAllocateScratchpad", "restricted to 'builtin.module'", "did you intend to nest?"],
    ),
    expect_error(
        "A pass without the passes before it",
        "spyre-opt small.mlir --spyre-allocate-scratchpad",
        ["small.mlir:3:8", "'linalg.exp'", "is not a 'spyre' op", "--spyre-import-linalg"],
    ),
];
