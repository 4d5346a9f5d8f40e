//! What is done with a mutant: everything that a tool does with a file of its kind.

use crate::npy;
use spyre::{
    files::{MAX_TEXT_BYTES, read_text},
    lx::{Capacity, Instance, Limits, Stays, plan_instance, verify},
    mlir::Session,
    pipeline::{Options, Phase},
    sdsc::check::check_directory,
    sim::{RunOptions, Simulation, seeded},
    target,
    translate::{bundle_to_mlir, opspec_to_mlir},
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// A kind of file.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Right files.
    pub(crate) corpus: fn(&Place) -> Vec<Vec<u8>>,
    /// What a tool does with a mutant of the right file of this number.
    pub(crate) run: fn(&Place, &(usize, Vec<u8>)),
}

pub(crate) const TARGETS: [Target; 8] = [
    Target { name: "directory", corpus: |place| place.bundle_files().into_iter().map(|(_, content)| content).collect(), run: directory },
    Target { name: "ir", corpus: |place| place.pages().into_iter().map(|(_, text)| text.into_bytes()).collect(), run: ir },
    Target { name: "program_text", corpus: |_| PROGRAMS.map(|(name, _)| input(name)).to_vec(), run: program_text },
    Target { name: "instance", corpus: |_| vec![input("instance.csv"), input("instance.json")], run: instance },
    Target { name: "result", corpus: |_| vec![planned().into_bytes()], run: result },
    Target { name: "array", corpus: |place| place.arrays(), run: array },
    Target { name: "op_specs", corpus: |_| vec![input("case.json")], run: op_specs },
    Target { name: "machine", corpus: |_| vec![input("machine.json")], run: machine },
];

/// The programs, and the names of their arguments' dimensions where scopes name some.
const PROGRAMS: [(&str, &str); 3] = [("layers.mlir", ""), ("tiles.mlir", "0=A:B,1=A:B"), ("rows.mlir", "")];

fn input(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("test/hostile/Inputs").join(name)).unwrap()
}

/// A folder in which a file is written, with a directory for output in another folder in it. What is beside them stays as it is.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("beside/within")).unwrap();
        fs::write(folder.path().join("beside/own"), "mine").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("beside/within").join(name)
    }

    /// Nothing leaves the folder that is written to, and nothing temporary stays.
    pub(crate) fn check_untouched(&self) {
        let names = |folder: PathBuf| {
            let mut names: Vec<String> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(self.folder.path().to_owned()), ["beside"], "a file was written outside");
        assert_eq!(names(self.folder.path().join("beside")), ["own", "within"], "a file was written outside");
        assert_eq!(fs::read_to_string(self.folder.path().join("beside/own")).unwrap(), "mine");
        let temporary = names(self.path("")).into_iter().find(|name| name.starts_with('.'));
        assert_eq!(temporary, None, "a temporary folder is left");
    }

    fn write(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The right programs after each phase.
    fn pages(&self) -> Vec<(Phase, String)> {
        let mut pages = Vec::new();
        for (name, dims) in PROGRAMS {
            let session = Session::new();
            let source = session.open(&self.write("program.mlir", &input(name))).unwrap();
            let module = source.parse().unwrap();
            let options = options(dims);
            for phase in Phase::ALL.into_iter().take_while(|phase| *phase < Phase::Emit) {
                assert!(module.run(&options.pipeline([phase], "")), "{name} after {phase}");
                pages.push((phase, format!("{}\n", module.op())));
            }
        }
        pages
    }

    /// The files of the right programs, each with its path below this place.
    fn bundle_files(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for (name, dims) in PROGRAMS {
            let folder = format!("right/{name}");
            if !self.path(&folder).exists() {
                fs::create_dir_all(self.path("right")).unwrap();
                assert!(compiled(&input(name), self, dims, &self.path(&folder)), "{name}");
            }
            let mut folders = vec![folder];
            while let Some(folder) = folders.pop() {
                let mut entries: Vec<_> = fs::read_dir(self.path(&folder)).unwrap().map(Result::unwrap).collect();
                entries.sort_by_key(fs::DirEntry::file_name);
                for entry in entries {
                    let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
                    if entry.file_type().unwrap().is_dir() {
                        folders.push(path);
                    } else {
                        found.push((path, fs::read(entry.path()).unwrap()));
                    }
                }
            }
        }
        found
    }

    fn arrays(&self) -> Vec<Vec<u8>> {
        use spyre::sim::{Elements, HostArray};
        let shape = vec![2, 3];
        let arrays = [Elements::F16(vec![1; 6]), Elements::F32(vec![1.0; 6]), Elements::I64(vec![1; 6])];
        let named = |(number, elements): (usize, Elements)| (format!("a{number}"), HostArray { shape: shape.clone(), elements });
        let arrays: Vec<(String, HostArray)> = arrays.into_iter().enumerate().map(named).collect();
        npy::write_results(&self.path("arrays"), &arrays).unwrap();
        arrays.iter().map(|(name, _)| fs::read(self.path("arrays").join(format!("{name}.npy"))).unwrap()).collect()
    }
}

fn options(dims: &str) -> Options {
    let dims = dims.split(',').filter(|dims| !dims.is_empty()).map(str::to_owned).collect();
    Options { dims, compile_to: Phase::Emit, ..Options::default() }
}

fn compiled(text: &[u8], place: &Place, dims: &str, output: &Path) -> bool {
    let path = place.write("program.mlir", text);
    let session = Session::new();
    let Ok(source) = session.open(&path) else { return false };
    let Some(module) = source.parse() else { return false };
    module.run(&options(dims).pipeline(Phase::ALL, output.to_str().unwrap()))
}

/// Executes, counts, checks and reads back a directory of which one file is a mutant.
fn directory(place: &Place, (number, mutant): &(usize, Vec<u8>)) {
    let files = place.bundle_files();
    let (name, right) = &files[*number];
    place.write(name, mutant);
    let (program, _) = name.strip_prefix("right/").unwrap().split_once('/').unwrap();
    let folder = place.path("right").join(program);
    let limits = RunOptions { max_steps: 1 << 20, max_bytes: 1 << 26, ..RunOptions::default() };
    if let Ok(simulation) = Simulation::load(&folder, &target::Target::spyre()) {
        let tensors = simulation.program().arguments.iter();
        let inputs: BTreeMap<_, _> = tensors.filter_map(|tensor| Some((tensor.name.clone(), seeded(tensor, 1).ok()?))).collect();
        let _ = simulation.count(&inputs, &limits);
        if let Ok(outcome) = simulation.run(&inputs, &limits) {
            npy::write_results(&place.path("results"), &outcome.results).unwrap();
        }
    }
    let _ = check_directory(&folder);
    let session = Session::new();
    if let Ok(text) = bundle_to_mlir(&session, &folder) {
        let _ = emitted(place, text.as_bytes(), "spyre-lower-to-sdscbundle");
    }
    place.write(name, right);
}

/// Runs the phases behind the one that a page is of, and writes.
fn ir(place: &Place, (number, mutant): &(usize, Vec<u8>)) {
    // The last phase writes files, not pages.
    let n_pages = Phase::ALL.len() - 1;
    let (phase, dims) = (Phase::ALL[*number % n_pages], PROGRAMS[*number / n_pages].1);
    let rest = Phase::ALL.into_iter().filter(|later| *later > phase && *later < Phase::Emit);
    let _ = emitted(place, mutant, &format!("spyre-verify-phase{{phase={phase}}},{}", options(dims).pipeline(rest, "")));
}

/// Runs passes and writes, as for IR that somebody else gives; whether it was written.
fn emitted(place: &Place, text: &[u8], passes: &str) -> bool {
    let path = place.write("given.mlir", text);
    let session = Session::new();
    let Ok(source) = session.open(&path) else { return false };
    let Some(module) = source.parse() else { return false };
    let passes = passes.trim_end_matches(',');
    module.run(&format!("{passes},spyre-emit-bundle{{output={}}}", place.path("out").display()))
}

fn program_text(place: &Place, (number, mutant): &(usize, Vec<u8>)) {
    let _ = compiled(mutant, place, PROGRAMS[*number].1, &place.path("out"));
}

/// A plan of an instance, as far as a few steps go.
fn plan_of(text: &str) -> Option<(Instance, String)> {
    let instance = if text.trim_start().starts_with('{') {
        Instance::from_json(text).ok()?
    } else {
        Instance::from_csv(text, Capacity { bytes: 1024, alignment: 1 }).ok()?
    };
    let mut go_on = |_: &spyre::lx::Progress| true;
    let mut limits = Limits { budget: 1000, go_on: &mut go_on };
    let plan = plan_instance(&instance, "exact", Stays::Split, &mut limits).ok()?;
    let heading = spyre::lx::Heading { planner: "exact", seconds: 0.0, peak: None };
    let result = plan.to_json(&instance, &heading).unwrap();
    Some((instance, result))
}

fn planned() -> String {
    plan_of(&String::from_utf8(input("instance.json")).unwrap()).unwrap().1
}

fn instance(place: &Place, (_, mutant): &(usize, Vec<u8>)) {
    let path = place.write("instance", mutant);
    let Ok(text) = read_text(Path::new(&path), MAX_TEXT_BYTES) else { return };
    if let Some((instance, result)) = plan_of(&text) {
        let given = (Some(instance.capacity.bytes), Some(instance.capacity.alignment));
        assert!(verify(&result, &text, given).is_ok(), "a plan that its own verifier refuses");
    }
}

fn result(_: &Place, (_, mutant): &(usize, Vec<u8>)) {
    let instance = String::from_utf8(input("instance.json")).unwrap();
    let _ = verify(&String::from_utf8_lossy(mutant), &instance, (None, None));
    let _ = verify(&planned(), &String::from_utf8_lossy(mutant), (None, None));
}

fn array(place: &Place, (_, mutant): &(usize, Vec<u8>)) {
    let path = place.write("array.npy", mutant);
    for element_type in ["f16", "bf16", "f32", "i32", "i64"] {
        let _ = npy::read(&path, element_type);
    }
}

fn op_specs(place: &Place, (_, mutant): &(usize, Vec<u8>)) {
    let session = Session::new();
    if let Ok(text) = opspec_to_mlir(&session, &String::from_utf8_lossy(mutant)) {
        let _ = emitted(place, text.as_bytes(), "spyre-lower-to-sdscbundle");
    }
}

/// Compiles for a machine that somebody describes.
fn machine(place: &Place, (_, mutant): &(usize, Vec<u8>)) {
    let machine = place.write("machine.json", mutant);
    let path = place.write("program.mlir", &input(PROGRAMS[0].0));
    let session = Session::new();
    let source = session.open(&path).unwrap();
    let module = source.parse().unwrap();
    let options = Options { target: machine, ..options("") };
    let _ = module.run(&options.pipeline(Phase::ALL, place.path("out").to_str().unwrap()));
}
