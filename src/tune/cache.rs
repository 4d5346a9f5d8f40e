//! Caches: folders of JSON lines.
//!
//! Several processes may read and write a folder concurrently: a line is appended in one write while the file is
//! locked. After a writer that was killed in the middle of a line, the next one begins a new line. Invalid entries are
//! skipped with a warning.

use super::{TuneEntry, TuneKey, TuneParameters};
use crate::codes;
use files::{MAX_TEXT_BYTES, read};
use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// File of a folder that entries are appended to; all files with the suffix below are read.
const FILE_NAME: &str = "tuned.jsonl";

/// Suffix of the files of a cache.
const FILE_SUFFIX: &str = "jsonl";

/// Folders of entries.
#[derive(Clone, Debug, Default)]
pub struct TuneCache {
    /// Folder that entries are appended to.
    pub writable: Option<PathBuf>,
    /// Additional folders that are only read.
    pub read_only: Vec<PathBuf>,
}

/// Entry with its location.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedEntry {
    /// `file:line`.
    pub place: String,
    /// Content of the line.
    pub entry: TuneEntry,
}

/// Result of a cache lookup.
#[derive(Clone, Debug, PartialEq)]
pub enum CacheLookup {
    /// Cached result.
    Hit(Box<LocatedEntry>),
    /// No result, with the reason.
    Miss(String),
}

impl TuneCache {
    /// Returns all entries, those of the writable folder first. Problems of invalid entries are reported to `warn`.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read.
    pub fn read_entries(&self, warn: &mut dyn FnMut(String)) -> Result<Vec<LocatedEntry>, String> {
        let mut entries = Vec::new();
        for folder in self.writable.iter().filter(|folder| folder.exists()).chain(&self.read_only) {
            entries.extend(read_folder(folder, warn)?);
        }
        Ok(entries)
    }
}

/// Returns the entries of a folder, with its files in the order of their names. Problems of invalid entries are
/// reported to `warn`.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub fn read_folder(folder: &Path, warn: &mut dyn FnMut(String)) -> Result<Vec<LocatedEntry>, String> {
    let reject = |error: io::Error| {
        codes::TUNE_CACHE
            .format(format_args!("cannot read the cache '{}': {error}; name a directory of entries", folder.display()))
    };
    let mut paths = Vec::new();
    for found in fs::read_dir(folder).map_err(reject)? {
        paths.extend(
            Some(found.map_err(reject)?.path())
                .filter(|path| path.extension().is_some_and(|ending| ending == FILE_SUFFIX)),
        );
    }
    paths.sort();
    let mut entries = Vec::new();
    for path in paths {
        match read(&path, MAX_TEXT_BYTES) {
            Ok(bytes) => entries.extend(parse_entries(&path, &bytes, warn)),
            Err(error) => warn(codes::TUNE_CACHE.format(format_args!("{}: entry is skipped: {error}", path.display()))),
        }
    }
    Ok(entries)
}

fn parse_entries(path: &Path, bytes: &[u8], warn: &mut dyn FnMut(String)) -> Vec<LocatedEntry> {
    let mut entries = Vec::new();
    for (number, line) in
        bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty())
    {
        let place = format!("{}:{}", path.display(), number + 1);
        let entry = serde_json::from_slice::<TuneEntry>(line)
            .map_err(|error| error.to_string())
            .and_then(|entry| entry.check().map(|()| entry));
        match entry {
            Ok(entry) => entries.push(LocatedEntry { place, entry }),
            Err(message) => warn(codes::TUNE_CACHE.format(format_args!("{place}: entry is skipped: {message}"))),
        }
    }
    entries
}

/// Returns the reason for a miss: the fields in which the nearest entry differs.
fn explain_miss(entries: &[LocatedEntry], key: &TuneKey, terms: &TuneParameters) -> String {
    let Some(nearest) = entries.iter().min_by_key(|placed| key.differences(&placed.entry.key).len()) else {
        return "there are no entries".to_owned();
    };
    let differences = key.differences(&nearest.entry.key);
    let fields: Vec<String> = differences
        .iter()
        .map(|(name, there, here)| format!("'{name}' is '{there}' in the entry and '{here}' in this search"))
        .collect();
    let asked = |terms: &TuneParameters| {
        format!("budget {}, seed {}, within {} and shard {}", terms.budget, terms.seed, terms.within, terms.shard)
    };
    let why = if fields.is_empty() {
        format!("was found with {}; this search has {}", asked(&nearest.entry.terms), asked(terms))
    } else {
        fields.join(", ")
    };
    format!("the nearest entry, {}, differs: {why}", nearest.place)
}

impl LocatedEntry {
    /// Returns whether the entry is for the same ops with other sizes, so that its choices may be good start points.
    #[must_use]
    pub fn is_other_shape_of(&self, key: &TuneKey) -> bool {
        let TuneKey { program: _, shapes: _, space: _, body, layouts: _, machine, model, options, objective, version } =
            &self.entry.key;
        let known = [body, machine, model, options, version];
        self.entry.key.shapes != key.shapes
            && *objective == key.objective
            && known == [&key.body, &key.machine, &key.model, &key.options, &key.version]
    }
}

impl CacheLookup {
    /// Looks up the result of a search with these parameters: the best matching entry, and the first of equal ones.
    #[must_use]
    pub fn find(entries: &[LocatedEntry], key: &TuneKey, terms: &TuneParameters) -> Self {
        let hits = entries.iter().filter(|placed| placed.entry.key == *key && placed.entry.satisfies(terms));
        let best = hits.min_by(|one, other| one.entry.compare(&other.entry));
        best.map_or_else(|| Self::Miss(explain_miss(entries, key, terms)), |hit| Self::Hit(Box::new(hit.clone())))
    }
}

/// Appends entries to a folder, which is created if it does not exist.
///
/// # Errors
/// Returns the I/O error.
pub fn append(folder: &Path, entries: &[TuneEntry]) -> Result<(), String> {
    let mut text = String::new();
    for entry in entries {
        text.push_str(&serde_json::to_string(entry).map_err(|error| error.to_string())?);
        text.push('\n');
    }
    let path = folder.join(FILE_NAME);
    fs::create_dir_all(folder).and_then(|()| append_text(&path, text)).map_err(|error| {
        codes::TUNE_CACHE.format(format_args!("cannot add to the cache '{}': {error}", path.display()))
    })
}

/// Appends lines to a file.
fn append_text(path: &Path, text: String) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    // Closing the file, or the death of the process, releases the lock.
    file.lock()?;
    let length = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
    }
    let begin = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{begin}{text}").as_bytes())?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::super::entry::tests::entry;
    use super::*;
    use crate::tune::TuneStopReason;
    use cost::Objective;
    use std::{process::Command, thread};

    fn read_all(folder: &Path) -> (Vec<TuneEntry>, Vec<String>) {
        let mut warnings = Vec::new();
        let entries = read_folder(folder, &mut |warning| warnings.push(warning)).unwrap();
        (entries.into_iter().map(|placed| placed.entry).collect(), warnings)
    }

    #[test]
    fn reads_appended_entries() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cache");
        let (one, other) = (entry("a", 2.0), entry("b", 3.0));
        append(&place, std::slice::from_ref(&one)).unwrap();
        append(&place, std::slice::from_ref(&other)).unwrap();
        assert_eq!(read_all(&place), (vec![one, other], vec![]));
    }

    #[test]
    fn skips_damaged_lines_with_warning() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), &[entry("a", 2.0)]).unwrap();
        let file = folder.path().join(FILE_NAME);
        let good = fs::read(&file).unwrap();
        let mut hostile: Vec<Vec<u8>> =
            vec![b"\xff\xfe\x00".to_vec(), b"{".to_vec(), b"[1]".to_vec(), b"null".to_vec(), vec![b'['; 4096]];
        hostile.push(String::from_utf8(good.clone()).unwrap().replace("\"us\":2.0", "\"us\":1e999").into_bytes());
        hostile.push(String::from_utf8(good.clone()).unwrap().replace("\"us\":2.0", "\"us\":-1.0").into_bytes());
        hostile.push(String::from_utf8(good.clone()).unwrap().replace("1/1", "9/1").into_bytes());
        hostile.push(String::from_utf8(good.clone()).unwrap().replace("\"seed\"", "\"sead\"").into_bytes());
        hostile.push(good[..good.len() / 2].to_vec());
        let num_hostile = hostile.len();
        let mut bytes: Vec<u8> = hostile.iter().flat_map(|line| [line.trim_ascii_end(), b"\n"].concat()).collect();
        bytes.extend(&good);
        fs::write(&file, bytes).unwrap();
        let (entries, warnings) = read_all(folder.path());
        assert_eq!(entries, [entry("a", 2.0)]);
        assert_eq!(warnings.len(), num_hostile);
        for (number, warning) in warnings.iter().enumerate() {
            assert!(
                warning.starts_with(&format!("[SPY1340] {}:{}: entry is skipped", file.display(), number + 1)),
                "{warning}"
            );
        }
    }

    #[test]
    fn skips_truncated_lines_and_appends_after_them() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), &[entry("a", 2.0)]).unwrap();
        let file = folder.path().join(FILE_NAME);
        let whole = fs::read(&file).unwrap();
        for length in (0..whole.len() - 1).step_by(7) {
            fs::write(&file, &whole[..length]).unwrap();
            append(folder.path(), &[entry("b", 3.0)]).unwrap();
            let (entries, warnings) = read_all(folder.path());
            assert_eq!((entries, warnings.len()), (vec![entry("b", 3.0)], usize::from(length > 0)), "{length} bytes");
        }
    }

    #[test]
    fn keeps_all_lines_of_concurrent_writers() {
        let folder = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for writer in 0..8 {
                let place = folder.path();
                scope.spawn(move || {
                    (0..20).for_each(|line| append(place, &[entry(&format!("{writer}.{line}"), 2.0)]).unwrap())
                });
            }
        });
        let (entries, warnings) = read_all(folder.path());
        assert_eq!((entries.len(), warnings.len()), (160, 0));
    }

    /// Environment variable that makes this program a writer, for the test below.
    const WRITER_VARIABLE: &str = "SPYRE_TUNE_WRITER";

    #[test]
    fn writers_that_are_killed_leave_a_file_that_is_read() {
        let name = "tune::cache::tests::writers_that_are_killed_leave_a_file_that_is_read";
        if let Some(place) = std::env::var_os(WRITER_VARIABLE) {
            let mut line = 0;
            loop {
                append(Path::new(&place), &[entry(&format!("{line}"), 2.0)]).unwrap();
                line += 1;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..10 {
            let writer = || {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command
                    .args([name, "--exact"])
                    .env(WRITER_VARIABLE, folder.path())
                    .stdout(std::process::Stdio::null())
                    .spawn()
                    .unwrap()
            };
            let mut writers = [writer(), writer()];
            thread::sleep(std::time::Duration::from_millis(30));
            for writer in &mut writers {
                writer.kill().unwrap();
                writer.wait().unwrap();
            }
        }
        let (before, warnings) = read_all(folder.path());
        assert!(!before.is_empty());
        assert!(warnings.len() <= 20, "at most the line that each was writing is lost: {warnings:?}");
        append(folder.path(), &[entry("last", 2.0)]).unwrap();
        let (entries, _) = read_all(folder.path());
        assert_eq!(entries.last(), Some(&entry("last", 2.0)));
        assert_eq!(entries.len(), before.len() + 1);
    }

    #[test]
    fn explains_miss_by_differing_fields() {
        let placed = |entry: TuneEntry| LocatedEntry { place: "c:1".to_owned(), entry };
        let (key, terms) = (entry("a", 2.0).key, entry("a", 2.0).terms);
        let missed = |entries: &[LocatedEntry]| match CacheLookup::find(entries, &key, &terms) {
            CacheLookup::Miss(why) => why,
            CacheLookup::Hit(hit) => panic!("{hit:?}"),
        };
        assert_eq!(missed(&[]), "there are no entries");
        let mut far = entry("b", 2.0);
        far.key.version = "0".to_owned();
        let near = entry("c", 2.0);
        let why = missed(&[placed(far), placed(near)]);
        assert_eq!(why, "the nearest entry, c:1, differs: 'program' is 'c' in the entry and 'a' in this search");
        let mut other = entry("a", 2.0);
        (other.answer.stop, other.terms.seed) = (TuneStopReason::Budget, 7);
        assert!(missed(&[placed(other)]).contains("was found with budget 8, seed 7"));
    }

    #[test]
    fn returns_best_result_by_objective() {
        let placed = |us: f64, hbm_bytes: i64, objective| {
            let mut entry = entry("a", us);
            entry.answer.best[0].hbm_bytes = hbm_bytes;
            entry.key.objective = objective;
            LocatedEntry { place: format!("{us}"), entry }
        };
        for (objective, expected) in [(Objective::Time, "2"), (Objective::Bytes, "3")] {
            let entries = [placed(3.0, 1, objective), placed(2.0, 9, objective), placed(2.0, 9, objective)];
            let (key, terms) = (entries[0].entry.key.clone(), entries[0].entry.terms.clone());
            let CacheLookup::Hit(hit) = CacheLookup::find(&entries, &key, &terms) else { panic!("missed") };
            assert_eq!(hit.place, expected);
        }
    }
}
