//! Correct files of every kind, the seeds of the mutants.

use crate::hostile::npy;
use sdsc_format::program::{LaunchEntry, Program as Description, Tensor};
use spyre_compiler::{
    mlir::Module,
    pipeline::{CompileOptions, Phase},
};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

/// Seed program: its file, and its compiler options.
pub(crate) struct Program {
    file: &'static str,
    /// Dimension names of its arguments, if scopes use names.
    dims: &'static [&'static str],
    addresses: &'static str,
    loops: &'static str,
}

pub(crate) const PROGRAMS: [Program; 7] = [
    Program { file: "layers.mlir", dims: &[], addresses: "symbolic", loops: "keep" },
    Program { file: "tiles.mlir", dims: &["0=A:B", "1=A:B"], addresses: "symbolic", loops: "keep" },
    Program { file: "rows.mlir", dims: &[], addresses: "symbolic", loops: "keep" },
    Program { file: "launches.mlir", dims: &[], addresses: "baked", loops: "keep" },
    Program { file: "constants.mlir", dims: &[], addresses: "symbolic", loops: "keep" },
    Program { file: "carried.mlir", dims: &[], addresses: "symbolic", loops: "unroll" },
    Program { file: "left.mlir", dims: &[], addresses: "symbolic", loops: "keep" },
];

impl Program {
    pub(crate) fn text(&self) -> Vec<u8> {
        input(self.file)
    }

    pub(crate) fn options(&self) -> CompileOptions {
        CompileOptions {
            dims: self.dims.iter().map(|dims| dims.parse().unwrap()).collect(),
            addresses: self.addresses.parse().unwrap(),
            loops: self.loops.parse().unwrap(),
            compile_to: Phase::Emit,
            ..CompileOptions::default()
        }
    }
}

pub(crate) fn input(name: &str) -> Vec<u8> {
    fs::read(Path::new(crate::hostile::ROOT).join("test/hostile/Inputs").join(name)).unwrap()
}

/// File of a bundle: its path in its folder, and its contents.
pub(crate) type NamedFile = (String, Vec<u8>);

/// Folder in which a file is written. It contains an output directory in a subfolder, whose siblings must remain
/// unchanged.
pub(crate) struct CorpusFolder {
    folder: tempfile::TempDir,
    /// Correct bundles that are already here.
    bundles: RefCell<BTreeMap<PathBuf, Rc<Vec<NamedFile>>>>,
}

impl CorpusFolder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("beside/within")).unwrap();
        fs::write(folder.path().join("beside/own"), "mine").unwrap();
        Self { folder, bundles: RefCell::default() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("beside/within").join(name)
    }

    /// Expects no files outside of the output folder, and no temporary files.
    pub(crate) fn check_untouched(&self) {
        assert_eq!(names_in(self.folder.path()), ["beside"], "a file was written outside");
        assert_eq!(names_in(&self.folder.path().join("beside")), ["own", "within"], "a file was written outside");
        assert_eq!(fs::read_to_string(self.folder.path().join("beside/own")).unwrap(), "mine");
        let temporary = names_in(&self.path("")).into_iter().find(|name| name.starts_with('.'));
        assert_eq!(temporary, None, "a temporary folder is left");
    }

    /// Returns the output directory of a bundle.
    pub(crate) fn out(&self) -> String {
        self.path("out").to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns a program after each phase.
    pub(crate) fn pages(&self, program: usize) -> Vec<Vec<u8>> {
        let program = &PROGRAMS[program];
        let mut pages = Vec::new();
        let is_done = with_module(self, &program.text(), |mut module| {
            Phase::ALL.into_iter().take_while(|phase| *phase < Phase::Emit).all(|phase| {
                let is_done = module.run_pipeline(&program.options().pipeline([phase], ""));
                pages.push(format!("{}\n", module.op()).into_bytes());
                is_done
            })
        });
        assert!(is_done, "{}", program.file);
        pages
    }

    /// Returns the folder with a compiled program, and its files.
    pub(crate) fn bundle(&self, program: usize) -> (PathBuf, Rc<Vec<NamedFile>>) {
        let program = &PROGRAMS[program];
        let folder = self.path("right").join(program.file);
        let files = self.files_of(&folder, || {
            fs::create_dir_all(self.path("right")).unwrap();
            let passes = program.options().pipeline(Phase::ALL, folder.to_str().unwrap());
            assert!(with_module(self, &program.text(), |mut module| module.run_pipeline(&passes)), "{}", program.file);
        });
        (folder, files)
    }

    /// Returns the folder with a copy of a golden bundle, and its files.
    pub(crate) fn golden(&self, from: &Path) -> (PathBuf, Rc<Vec<NamedFile>>) {
        let folder = self.path("golden").join(from.file_name().unwrap());
        let files = self.files_of(&folder, || {
            fs::create_dir_all(&folder).unwrap();
            for name in names_in(from).iter().filter(|name| *name != "case.json") {
                fs::copy(from.join(name), folder.join(name)).unwrap();
            }
        });
        (folder, files)
    }

    fn files_of(&self, folder: &Path, make: impl FnOnce()) -> Rc<Vec<NamedFile>> {
        if let Some(known) = self.bundles.borrow().get(folder) {
            return known.clone();
        }
        make();
        let files = Rc::new(files_below(folder, ""));
        self.bundles.borrow_mut().insert(folder.to_owned(), files.clone());
        files
    }

    pub(crate) fn arrays(&self) -> Vec<Vec<u8>> {
        use referee::{ArrayElements, HostArray};
        let shape = vec![2, 3];
        let arrays = [ArrayElements::F16(vec![1; 6]), ArrayElements::F32(vec![1.0; 6]), ArrayElements::I64(vec![1; 6])];
        let named = |(number, elements): (usize, ArrayElements)| {
            (format!("a{number}"), HostArray { shape: shape.clone(), elements })
        };
        let arrays: Vec<(String, HostArray)> = arrays.into_iter().enumerate().map(named).collect();
        npy::write_results(&self.path("arrays"), &arrays).unwrap();
        arrays.iter().map(|(name, _)| fs::read(self.path("arrays").join(format!("{name}.npy"))).unwrap()).collect()
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn files_below(folder: &Path, front: &str) -> Vec<NamedFile> {
    let mut files = Vec::new();
    for name in names_in(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            files.extend(files_below(&path, &format!("{front}{name}/")));
        } else {
            files.push((format!("{front}{name}"), fs::read(path).unwrap()));
        }
    }
    files
}

/// Parses a text as a module and calls `run`; returns whether both succeeded.
pub(crate) fn with_module(place: &CorpusFolder, text: &[u8], run: impl FnOnce(Module<'_>) -> bool) -> bool {
    let path = place.write("given.mlir", text);
    let session = spyre_compiler::pipeline::create_session();
    // The process is used for this case alone, as by a tool.
    session.mark_as_tool();
    let Ok(source) = session.open_source(&path) else { return false };
    source.parse().is_some_and(run)
}

/// Returns the program for the execution of a golden bundle, from its `case.json`: every argument is an input and a
/// result of its device size.
pub(crate) fn golden_program(folder: &Path) -> Description {
    let json: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("case.json")).unwrap()).unwrap();
    let tensor = |arg: &serde_json::Value| {
        let device_size: Vec<i64> =
            arg["device_size"].as_array().unwrap().iter().map(|size| size.as_i64().unwrap()).collect();
        let num_elements: i64 = device_size.iter().product();
        Tensor {
            name: format!("arg{}", arg["index"]),
            shape: vec![num_elements],
            element_type: if arg["dtype"] == "IEEE_INT32" { "i32" } else { "f32" }.to_owned(),
            format: arg["dtype"].as_str().unwrap().to_owned(),
            bytes: num_elements * 128 / device_size.last().unwrap(),
            stride_map: (0..device_size.len()).map(|dim| device_size[dim + 1..].iter().product()).collect(),
            device_size,
            ..Tensor::default()
        }
    };
    let arguments: Vec<Tensor> = json["args"].as_array().unwrap().iter().map(tensor).collect();
    let bundle = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let names = arguments.iter().map(|tensor| tensor.name.clone()).collect();
    let launches = vec![LaunchEntry { bundle: bundle.clone(), arguments: names, ..LaunchEntry::default() }];
    Description { name: bundle, results: arguments.clone(), arguments, launches, ..Description::default() }
}
