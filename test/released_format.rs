//! Release 1.0.0 of the format: our files against its JSON Schema, legal files for every member, and broken files for
//! every rule.

#![allow(clippy::unwrap_used, reason = "a test over files")]

#[path = "released_format/broken.rs"]
mod broken;
#[path = "released_format/broken_folds.rs"]
mod broken_folds;
#[path = "released_format/legal.rs"]
mod legal;
#[path = "released_format/legal_structure.rs"]
mod legal_structure;
#[path = "released_format/legal_texts.rs"]
mod legal_texts;
#[path = "released_format/read_back.rs"]
mod read_back;
#[path = "released_format/run.rs"]
mod run;
#[path = "released_format/windows.rs"]
mod windows;

use crate::check_bundle::bundles::{Files, RIGHT, find_valid_bundle};
use crate::check_bundle::edits;
use crate::common;
use jsonschema::Validator;
use machine::Target;
use sdsc_check::{Profile, RELEASE_RULES, check_directory_with_profile, check_files_with_profile};
use sdsc_format::Sdsc;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use strum::VariantArray as _;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test/released_format")
}

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(folder().join("sdscbundle-schema.json")).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
});

/// Returns the violations of the schema: path and message, with `#` for numbers and `<op>` for names of operations.
fn schema_differences(bytes: &[u8]) -> BTreeSet<(String, String)> {
    let file: Value = serde_json::from_slice(bytes).unwrap();
    let difference = |error: jsonschema::ValidationError<'_>| {
        let mut path: Vec<String> = Vec::new();
        for segment in error.instance_path().to_string().split('/').skip(1) {
            let is_name = path.is_empty() || path.ends_with(&["dscs_".to_owned(), "#".to_owned()]);
            let is_dim =
                path.last().is_some_and(|parent| matches!(parent.as_str(), "coordInfo" | "dimToSymbolMapping_"));
            path.push(match segment.parse::<u64>() {
                Ok(_) => "#".to_owned(),
                Err(_) if is_name => "<op>".to_owned(),
                Err(_) if is_dim => "<dim>".to_owned(),
                Err(_) => segment.to_owned(),
            });
        }
        let message = error.to_string();
        let words =
            message.split(' ').map(|word| if word.parse::<i64>().is_ok_and(|number| number < 0) { "#" } else { word });
        (path.join("/"), words.collect::<Vec<_>>().join(" "))
    };
    SCHEMA.iter_errors(&file).map(difference).collect()
}

fn is_sdsc(name: &str) -> bool {
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    file.starts_with("sdsc_") && Path::new(file).extension().is_some_and(|kind| kind == "json")
}

/// Returns the SDSC files of a bundle in memory.
fn sdsc_files(files: &Files) -> impl Iterator<Item = &[u8]> {
    files.iter().filter(|(name, _)| is_sdsc(name)).map(|(_, bytes)| bytes.as_slice())
}

/// Returns the violations of the rules of a profile.
fn find_violations(files: &Files, profile: Profile) -> (Vec<&'static str>, String) {
    let contents = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    let found = check_files_with_profile(contents, &Target::spyre(), profile).unwrap();
    let mut labels: Vec<_> = found.iter().map(|violation| violation.label).collect();
    labels.dedup();
    (labels, found.iter().map(|violation| format!("\n  {violation}")).collect())
}

/// Returns the golden files and the files of our emitter, except the recorded ones with constants of unknown bits.
fn our_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for case in common::golden_cases() {
        for entry in std::fs::read_dir(&case).unwrap() {
            let path = entry.unwrap().path();
            if is_sdsc(&path.display().to_string()) {
                files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    for (name, bundle) in RIGHT.iter() {
        files.extend(sdsc_files(bundle).map(|bytes| ((*name).to_owned(), bytes.to_vec())));
    }
    files
}

#[test]
fn differs_from_schema_only_as_tolerated() {
    let tolerated: Vec<BTreeMap<String, String>> =
        serde_json::from_str(&std::fs::read_to_string(folder().join("tolerated.json")).unwrap()).unwrap();
    assert!(tolerated.iter().all(|entry| !entry["why"].is_empty()));
    let tolerated: BTreeSet<(String, String)> =
        tolerated.into_iter().map(|entry| (entry["at"].clone(), entry["difference"].clone())).collect();
    let files = our_files();
    assert!(files.len() >= 40, "{}", files.len());
    let found: BTreeSet<(String, String)> = files.iter().flat_map(|(_, bytes)| schema_differences(bytes)).collect();
    let new: Vec<_> = found.difference(&tolerated).collect();
    let gone: Vec<_> = tolerated.difference(&found).collect();
    assert!(new.is_empty() && gone.is_empty(), "not in tolerated.json: {new:#?}\nno longer there: {gone:#?}");
}

/// Converts files of torch-spyre's practice to the release.
pub(crate) fn convert_to_release(mut files: Files) -> Files {
    let names: Vec<String> = files.keys().filter(|name| is_sdsc(name)).cloned().collect();
    for name in names {
        edits::json(&mut files, &name, |file| {
            let operation = file.as_object_mut().unwrap().values_mut().next().unwrap();
            for dsc in operation["dscs_"].as_array_mut().unwrap() {
                convert_description(dsc.as_object_mut().unwrap().values_mut().next().unwrap());
            }
        });
    }
    files
}

fn convert_description(dsc: &mut Value) {
    for compute in dsc["computeOp_"].as_array_mut().unwrap() {
        compute.as_object_mut().unwrap().remove("location");
    }
    for tensor in dsc["labeledDs_"].as_array_mut().unwrap() {
        for slot in tensor["memOrg_"].as_object_mut().unwrap().values_mut() {
            slot.as_object_mut().unwrap().remove("dsOffset");
        }
    }
    let sizes = dsc["dataStageParam_"]["0"]["ss_"].clone();
    let (tensors, classes) = (dsc["labeledDs_"].clone(), dsc["primaryDsInfo_"].clone());
    for (index, node) in dsc["scheduleTree_"].as_array_mut().unwrap().iter_mut().enumerate() {
        let tensor = &tensors[index];
        let order = classes[tensor["dsType_"].as_str().unwrap()]["layoutDimOrder_"].as_array().unwrap();
        // A tensor that lacks a dimension has one row or one stick of it.
        let scale = |dim: &str| &tensor["scale_"][order.iter().position(|label| label == dim).unwrap()];
        let size = |dim: &str| if *scale(dim) == 1 { sizes[format!("{dim}_")].as_i64().unwrap() } else { 1 };
        for (dim, info) in node["coordinates_"]["coordInfo"].as_object_mut().unwrap() {
            let folds = info["folds"]["dim_prop_attr"].as_array_mut().unwrap();
            if let [.., sticks, elements] = folds.as_mut_slice()
                && sticks["label_"] == "elem_arr_1"
            {
                let (size, within) = (size(dim), elements["factor_"].as_i64().unwrap());
                let counted = sticks["factor_"].as_i64().unwrap();
                sticks["factor_"] = json!(counted.max(size / within + i64::from(size % within != 0)));
            }
        }
    }
    if let Some(symbols) = dsc.get_mut("dimToSymbolMapping_") {
        for ids in symbols.as_object_mut().unwrap().values_mut() {
            *ids = ids.as_array().unwrap().iter().map(|id| json!(id.to_string())).collect();
        }
        let dims: Vec<String> = symbols.as_object().unwrap().keys().map(|dim| format!("{dim}_")).collect();
        dims.into_iter().for_each(|dim| dsc["N_"][dim] = json!(-1));
    }
}

#[test]
fn accepts_released_files() {
    // The release has symbols for the starts of slices of a symbolic size.
    for (name, files) in RIGHT.iter().filter(|(name, _)| *name != "symbolic") {
        let files = convert_to_release(files.clone());
        let found: Vec<_> = sdsc_files(&files).flat_map(schema_differences).collect();
        assert!(found.is_empty(), "{name}: {found:?}");
        let (labels, viewed) = find_violations(&files, Profile::Release1_0);
        assert!(labels.is_empty(), "{name}:{viewed}");
    }
}

/// The relayout contract leaves members out, and has one address for all cores, or an address per core and corelet.
#[test]
fn accepts_forms_of_shuffle() {
    let node = |tensor: usize, member: &str| format!("dsc/scheduleTree_/{tensor}/{member}");
    let check = |name: &str, edit: &dyn Fn(&mut Files)| {
        let mut files = convert_to_release(find_valid_bundle("relayout"));
        edit(&mut files);
        let found: Vec<_> = sdsc_files(&files).flat_map(schema_differences).collect();
        assert!(found.is_empty(), "{name}: {found:?}");
        let (labels, viewed) = find_violations(&files, Profile::Release1_0);
        assert!(labels.is_empty(), "{name}:{viewed}");
    };
    check("one address", &|files| {
        for (tensor, address) in [(0, "0"), (1, "8192")] {
            edits::set(files, &node(tensor, "startAddressCoreCorelet_/data_"), json!({"[0, 0, 0]": address}));
            edits::set(files, &node(tensor, "startAddressCoreCorelet_/dim_prop_func/0"), json!({"Const": {}}));
        }
    });
    check("keys of cores and corelets", &|files| {
        for (tensor, address) in [(0, "0"), (1, "8192")] {
            let data: Value = (0..4).map(|core| (format!("[{core}, 0]"), json!(address))).collect();
            edits::set(files, &node(tensor, "startAddressCoreCorelet_/data_"), data);
            edits::remove(files, &node(tensor, "prev_"));
            edits::json(files, "sdsc_0.json", |file| {
                for member in ["dim_prop_func", "dim_prop_attr"] {
                    let path = edits::to_pointer(file, &node(tensor, &format!("startAddressCoreCorelet_/{member}")));
                    file.pointer_mut(&path).unwrap().as_array_mut().unwrap().truncate(2);
                }
            });
        }
    });
    check("starts of the cores that hold a slice", &|files| {
        for tensor in 0..2 {
            let cores = node(tensor, "coordinates_/coreIdToWkSlice_");
            edits::set(files, &node(tensor, "startAddressCoreCorelet_/dim_prop_attr/0/factor_"), json!(5));
            assert!(edits::member(files, &cores).as_object().unwrap().len() == 4);
        }
        edits::set(files, "op/coreFoldProp_/factor_", json!(5));
    });
    check("no sizes of a core", &|files| edits::remove(files, "dsc/dataStageParam_"));
    check("no slices of the op", &|files| {
        edits::remove(files, "op/numWkSlicesPerDim_");
        edits::remove(files, "op/coreIdToWkSlice_");
    });
}

#[test]
fn accepts_torch_spyre_files_under_its_profiles() {
    for profile in [Profile::TorchSpyre2026_08, Profile::TorchSpyre2026_09] {
        for case in common::golden_cases() {
            let found = check_directory_with_profile(&case, &Target::spyre(), profile).unwrap();
            assert!(found.iter().all(|one| one.message.starts_with("'?DL16(")), "{}: {found:?}", case.display());
        }
    }
}

#[test]
fn accepts_starts_of_slices_of_symbolic_size() {
    let (labels, viewed) = find_violations(&broken::divided_size(), Profile::Release1_0);
    assert!(labels.is_empty(), "{viewed}");
}

#[test]
fn rejects_files_that_schema_rejects() {
    let broken = broken::all_broken();
    let ours = RIGHT.iter().map(|(_, files)| files);
    let mut num_rejected = 0;
    for files in ours.chain(broken.iter().map(|broken| &broken.files)) {
        let is_rejected = files
            .iter()
            .filter(|(name, _)| is_sdsc(name))
            .any(|(_, bytes)| serde_json::from_slice::<Value>(bytes).is_ok_and(|file| !SCHEMA.is_valid(&file)));
        if is_rejected {
            num_rejected += 1;
            assert!(
                !find_violations(files, Profile::Release1_0).0.is_empty(),
                "{:?}",
                String::from_utf8_lossy(&files["sdsc_0.json"])
            );
        }
    }
    assert!(num_rejected >= 40, "{num_rejected}");
}

#[test]
fn rejects_each_broken_file_by_its_rule() {
    let broken = broken::all_broken();
    assert!(broken.len() >= 60, "{}", broken.len());
    let mut wrong = String::new();
    for (number, broken) in broken.iter().enumerate() {
        let (found, viewed) = find_violations(&broken.files, broken.profile);
        if found.first() != Some(&broken.label) || (found.len() > 1 && !broken.has_consequences) {
            wrong += &format!("\nfile {number}: expected {}, found {found:?}{viewed}", broken.label);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let labels: BTreeSet<&str> =
        broken.iter().filter(|broken| !broken.has_consequences).map(|broken| broken.label).collect();
    let missing: Vec<_> = RELEASE_RULES.iter().map(|rule| rule.label).filter(|label| !labels.contains(label)).collect();
    assert!(missing.is_empty(), "no file breaks just {missing:?}");
}

#[test]
fn covers_every_profile_by_file_that_only_others_reject() {
    let symbols = &RIGHT.iter().find(|(name, _)| *name == "symbolic rows").unwrap().1;
    for &profile in Profile::VARIANTS {
        let is_released = find_violations(&convert_to_release(symbols.clone()), profile).0.is_empty();
        let is_practice = find_violations(symbols, profile).0.is_empty();
        assert_eq!((is_released, is_practice), (profile.is_release(), !profile.is_release()), "{profile}");
    }
}

/// Parses a file without completing it.
fn parse(bytes: &[u8]) -> Result<Sdsc, String> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(bytes))
        .map_err(|error| format!("{}: {error}", error.path()))
}
