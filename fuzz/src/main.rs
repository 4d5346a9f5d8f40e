//! The targets of `test/hostile`, with mutants that follow what they execute: LLVM's libFuzzer keeps those that reach
//! new code.
//!
//! `cargo xtask fuzz TARGET MINUTES` builds and runs it: `SPYRE_FUZZ_TARGET=TARGET spyre-fuzz CORPUS [OPTION...]`, with
//! libFuzzer's options. The first two bytes of a file of the corpus say which right file it was.

mod hostile;

use hostile::{
    corpus::CorpusFolder,
    mutation,
    targets::{Case, TARGETS, Target},
};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::{
    cell::RefCell,
    env,
    ffi::{CString, c_char, c_int},
    fs,
    path::{Path, PathBuf},
};

/// Bytes in front of a file that say which right one it was.
const HEAD: usize = 2;

thread_local! {
    static FUZZED: RefCell<Option<Fuzzed>> = const { RefCell::new(None) };
}

struct Fuzzed {
    target: &'static Target,
    place: CorpusFolder,
    /// The right files, each behind its head.
    right: Vec<Vec<u8>>,
}

impl Fuzzed {
    fn new() -> Self {
        let name = env::var("SPYRE_FUZZ_TARGET").unwrap_or_default();
        let target = TARGETS.iter().find(|target| target.name == name);
        let target =
            target.unwrap_or_else(|| panic!("SPYRE_FUZZ_TARGET is one of {:?}", TARGETS.map(|target| target.name)));
        let place = CorpusFolder::new();
        let files = |group: usize| {
            let behind_head = move |(of, file): (usize, Vec<u8>)| [&[group as u8, of as u8], file.as_slice()].concat();
            (target.corpus)(&place, group).into_iter().enumerate().map(behind_head)
        };
        let right = (0..(target.n_groups)()).flat_map(files).collect();
        Self { target, place, right }
    }

    fn run(&self, data: &[u8]) {
        let Some((head, mutant)) = data.split_at_checked(HEAD) else { return };
        if !self.right.iter().any(|right| right.starts_with(head)) {
            return;
        }
        let case = Case { group: head[0].into(), of: head[1].into(), mutant: mutant.to_vec() };
        (self.target.run)(&self.place, &case);
        assert!(!spyre_compiler::mlir::tool_found_bug(), "a compiler bug was reported");
        self.place.check_untouched();
    }
}

fn with_fuzzed<T>(run: impl FnOnce(&Fuzzed) -> T) -> T {
    FUZZED.with_borrow_mut(|fuzzed| run(fuzzed.get_or_insert_with(Fuzzed::new)))
}

fuzz_target!(|data: &[u8]| with_fuzzed(|fuzzed| fuzzed.run(data)));

// Half of the mutants know what a word is.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut state = u64::from(seed);
    if size <= HEAD || mutation::below(2, &mut state) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mutant = with_fuzzed(|fuzzed| {
        let other = &fuzzed.right[mutation::below(fuzzed.right.len(), &mut state)];
        mutation::mutant(&data[HEAD..size], &other[HEAD..], &mut state)
    });
    let end = (HEAD + mutant.len()).min(max_size);
    data[HEAD..end].copy_from_slice(&mutant[..end - HEAD]);
    end
});

unsafe extern "C" {
    fn LLVMFuzzerRunDriver(
        n: *mut c_int,
        arguments: *mut *mut *mut c_char,
        run: extern "C" fn(*const u8, usize) -> c_int,
    ) -> c_int;
    safe fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> c_int;
}

extern "C" fn run_one(data: *const u8, size: usize) -> c_int {
    LLVMFuzzerTestOneInput(data, size)
}

/// Writes the right files into the corpus, and fuzzes. MLIR's libraries have a `main` of their own, so libFuzzer's is
/// not linked.
fn main() {
    let corpus = PathBuf::from(env::args().nth(1).expect("the folder of the corpus"));
    fs::create_dir_all(&corpus).expect("a folder");
    spyre_compiler::tool::run_on_large_stack(|| {
        with_fuzzed(|fuzzed| write_right_files(&corpus, fuzzed));
        let arguments: Vec<CString> = env::args().map(|argument| CString::new(argument).expect("no zeros")).collect();
        let mut pointers: Vec<*mut c_char> = arguments.iter().map(|argument| argument.as_ptr().cast_mut()).collect();
        let mut n = c_int::try_from(pointers.len()).expect("a few");
        pointers.push(std::ptr::null_mut());
        let mut start = pointers.as_mut_ptr();
        // SAFETY: the arguments are strings with a zero at the end, with a null behind the last, and outlive the call.
        std::process::exit(unsafe { LLVMFuzzerRunDriver(&raw mut n, &raw mut start, run_one) });
    });
}

fn write_right_files(corpus: &Path, fuzzed: &Fuzzed) {
    for right in &fuzzed.right {
        fs::write(corpus.join(format!("right-{}-{}", right[0], right[1])), right).expect("a file");
    }
}
