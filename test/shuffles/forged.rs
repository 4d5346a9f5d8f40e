//! Shuffle files with a fault: the format rules and the simulator name it.

use super::{broken_rules, build_packed, corelet_shuffle, divide_addresses, find_geometry, load, run};
use machine::Target;
use referee::{LxImage, RunOptions};
use sdsc_format::model::Sdsc;
use serde_json::{Value, json};
use spyre_compiler::sdsc::{Shuffle, build_shuffle_file};
use std::collections::BTreeMap;

/// Returns the path from the operation to a node: 0 is the source, 1 the destination.
fn node_path(tensor: usize, member: &str) -> String {
    format!("/dscs_/0/shuffle/scheduleTree_/{tensor}/{member}")
}

fn slots_path(tensor: usize) -> String {
    node_path(tensor, "coordinates_/coreIdToWkSlice_")
}

fn fold_path(tensor: usize, label: &str, fold: usize) -> String {
    node_path(tensor, &format!("coordinates_/coordInfo/{label}/folds/dim_prop_attr/{fold}/factor_"))
}

fn step_path(tensor: usize, label: &str, fold: usize) -> String {
    node_path(tensor, &format!("coordinates_/coordInfo/{label}/folds/dim_prop_func/{fold}/Affine/alpha_"))
}

/// Returns the file of a shuffle after `change` of its operation.
fn forge_file(shuffle: &Shuffle, change: impl FnOnce(&mut Value)) -> Sdsc {
    let mut value = serde_json::to_value(build_shuffle_file(shuffle, 0, &Target::spyre()).unwrap()).unwrap();
    change(&mut value["0_shuffle"]);
    serde_json::from_value(value).unwrap()
}

fn set(operation: &mut Value, path: &str, to: Value) {
    *operation.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = to;
}

fn remove(operation: &mut Value, path: &str, key: &str) {
    operation.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(key).unwrap();
}

/// Checks that the first violated rule and the simulator's rejection are as expected.
fn check_rejected(file: &Sdsc, label: &str, rule: &str, rejection: &str) {
    let broken = broken_rules(file);
    assert_eq!(broken.first().map(|(label, _)| *label), Some(label), "{broken:?}");
    assert!(broken[0].1.contains(rule), "{broken:?}");
    let error = load(file).unwrap_err().to_string();
    assert!(error.contains(rejection), "{error}");
}

/// CT-6: a missing corelet fold, and one on another dimension.
#[test]
fn rejects_conformance_test_six() {
    let missing = forge_file(&corelet_shuffle(), |operation| {
        for tensor in 0..2 {
            set(operation, &fold_path(tensor, "out", 1), json!(1));
            set(operation, &step_path(tensor, "out", 1), json!(0));
        }
    });
    let rejection = "no corelet_fold for 2 corelets; the stick dimension 'out' has it";
    let broken: Vec<_> = broken_rules(&missing).into_iter().map(|(label, _)| label).collect();
    assert!(broken.contains(&"sdsc_r152"), "{broken:?}");
    assert!(load(&missing).unwrap_err().to_string().contains(rejection));
    let elsewhere = forge_file(&corelet_shuffle(), |operation| {
        set(operation, &fold_path(1, "out", 1), json!(1));
        set(operation, &step_path(1, "out", 1), json!(0));
        set(operation, &fold_path(1, "mb", 1), json!(2));
        set(operation, &step_path(1, "mb", 1), json!(1));
    });
    let found = broken_rules(&elsewhere);
    assert!(
        found
            .iter()
            .any(|(label, message)| *label == "sdsc_r152" && message.contains("'corelet_fold' of [(\"mb\", 2)]")),
        "{found:?}"
    );
    let error = load(&elsewhere).unwrap_err().to_string();
    assert!(error.contains("corelet_fold of [(\"mb\", 2)]; two corelets share the stick dimension 'out'"), "{error}");
}

/// All members that count corelets agree.
#[test]
fn rejects_unequal_corelet_counts() {
    let start = node_path(1, "startAddressCoreCorelet_/dim_prop_attr/1/factor_");
    for path in ["/coreletFoldProp_/factor_", "/dscs_/0/shuffle/numCoreletsUsed_", &start] {
        let file = forge_file(&corelet_shuffle(), |operation| set(operation, path, json!(1)));
        let broken = broken_rules(&file);
        assert_eq!(broken.iter().map(|(label, _)| *label).collect::<Vec<_>>(), ["sdsc_r152"], "{path}: {broken:?}");
        assert!(broken[0].1.ends_with("1 corelets, where another member has 2; all members agree"), "{broken:?}");
    }
}

/// Only cores that hold a slice need an address.
#[test]
fn accepts_addresses_of_cores_with_slices() {
    let shuffle = build_packed(find_geometry("CT-2"));
    let keep = |operation: &mut Value, num_cores: usize| {
        for tensor in 0..2 {
            for core in num_cores..32 {
                remove(operation, &node_path(tensor, "startAddressCoreCorelet_/data_"), &format!("[{core}, 0, 0]"));
            }
        }
    };
    let file = forge_file(&shuffle, |operation| keep(operation, 8));
    assert_eq!(broken_rules(&file), []);
    assert_eq!(super::moves_every_element(&shuffle, &file), Ok(24_576));
    let missing = broken_rules(&forge_file(&shuffle, |operation| keep(operation, 7)));
    assert!(missing[0].0 == "sdsc_r23" && missing[0].1.ends_with("no address on core 7, which holds a slice"));
}

/// CT-7: the source lacks the last rows of a group.
#[test]
fn rejects_conformance_test_seven() {
    let file = forge_file(&build_packed(find_geometry("CT-2")), |operation| remove(operation, &slots_path(0), "7"));
    check_rejected(
        &file,
        "sdsc_r150",
        "7 of the 8 slices of the source are on a core; every slice must be on a core",
        "no core holds slice 'mb' 1, 'out' 0, 'x' 3 of the source",
    );
}

/// CT-8: an element with two values, as slices that overlap and as a slice on two cores.
#[test]
fn rejects_conformance_test_eight() {
    let overlapping =
        forge_file(&build_packed(find_geometry("CT-2")), |operation| set(operation, &step_path(0, "x", 0), json!(4)));
    check_rejected(
        &overlapping,
        "sdsc_r43",
        "slices of 8 elements are 4 apart",
        "4 slices of 'x' are 4 points apart; 32 points need slices side by side",
    );
    let twice = forge_file(&build_packed(find_geometry("CT-2")), |operation| {
        set(operation, &format!("{}/1/x", slots_path(0)), json!(0))
    });
    check_rejected(
        &twice,
        "sdsc_r150",
        "cores 0 and 1 hold the same slice",
        "cores 0 and 1 both hold slice 'mb' 0, 'out' 0, 'x' 0 of the source",
    );
}

/// Addresses of corelets: one is missing, the members do not list them by corelet, or the halves overlap.
#[test]
fn rejects_faulty_corelet_addresses() {
    let starts = |tensor: usize| node_path(tensor, "startAddressCoreCorelet_");
    let forge = |change: &dyn Fn(&mut Value)| {
        let divided = divide_addresses(&corelet_shuffle(), [&|_| 128, &|_| 512]);
        let mut value = serde_json::to_value(divided).unwrap();
        change(&mut value["0_shuffle"]);
        serde_json::from_value(value).unwrap()
    };
    let missing = forge(&|operation| remove(operation, &format!("{}/data_", starts(0)), "[3, 1, 0]"));
    check_rejected(
        &missing,
        "sdsc_r192",
        "addresses [0] on core 3; its two corelets have 128 bytes each",
        "startAddressCoreCorelet_ of Tensor0 lacks core 3",
    );
    let constant = forge(&|operation| set(operation, &format!("{}/dim_prop_func/1", starts(1)), json!({"Const": {}})));
    check_rejected(
        &constant,
        "sdsc_r192",
        "the key '[0, 1, 0]', where corelets have one address",
        "has the key [0, 1, 0], but is constant over corelets",
    );
    let overlapping = forge(&|operation| set(operation, &format!("{}/data_/[2, 1, 0]", starts(1)), json!("384")));
    let broken: Vec<_> = broken_rules(&overlapping).into_iter().map(|(label, _)| label).collect();
    assert_eq!(broken, ["sdsc_r192"]);
    let lx = RunOptions { lx: vec![LxImage { core: 2, address: 0, bytes: vec![0; 1024] }], ..RunOptions::default() };
    let error = load(&overlapping).unwrap().run(&BTreeMap::new(), &lx).unwrap_err();
    assert!(matches!(error.rule(), "overlap" | "unwritten"), "{error}");
}

#[test]
fn rejects_incomplete_destination() {
    let file = forge_file(&build_packed(find_geometry("CT-1")), |operation| remove(operation, &slots_path(1), "2"));
    check_rejected(
        &file,
        "sdsc_r150",
        "7 of the 8 slices of the destination",
        "no core holds slice 'mb' 0, 'out' 1 of the destination",
    );
}

#[test]
fn rejects_missing_core() {
    let file = forge_file(&build_packed(find_geometry("CT-1")), |operation| {
        let held = operation.pointer_mut(&slots_path(0)).unwrap().as_object_mut().unwrap();
        let slot = held.remove("7").unwrap();
        held.insert("32".to_owned(), slot);
    });
    check_rejected(
        &file,
        "sdsc_r23",
        "core 32 is listed; there are cores 0 to 31",
        "coreIdToWkSlice_ of Tensor0 lists core 32",
    );
}

#[test]
fn rejects_cores_without_completed_sum() {
    let shuffle = Shuffle { is_completed_sum: true, ..build_packed(find_geometry("KT-07b")) };
    let file = forge_file(&shuffle, |operation| set(operation, "/dscs_/0/shuffle/coreIdsUsed_/0", json!(2)));
    let rejection = "core 3 runs description 0, whose coreIdsUsed_ lacks it";
    check_rejected(&file, "sdsc_r23", "or those that hold the source", rejection);
    let miscounted = forge_file(&shuffle, |operation| set(operation, "/dscs_/0/shuffle/numCoresUsed_", json!(9)));
    check_rejected(&miscounted, "sdsc_r22", "9 cores; the op uses 8", "numCoresUsed_ is 8 for 8 entries");
}

#[test]
fn rejects_overlapping_slices() {
    let shuffle = build_packed(find_geometry("CT-1"));
    let file = forge_file(&shuffle, |operation| {
        set(operation, &format!("{}/[3, 0, 0]", node_path(1, "startAddressCoreCorelet_/data_")), json!("128"))
    });
    let broken = broken_rules(&file);
    assert!(
        broken[0].0 == "sdsc_r151"
            && broken[0].1.ends_with("256 bytes from 128, where the source has 256 from 0; they share no byte"),
        "{broken:?}"
    );
    assert_eq!(run(&shuffle, &file, 0, 1).unwrap_err().rule(), "overlap");
}

#[test]
fn rejects_destination_in_hbm() {
    let hbm = forge_file(&build_packed(find_geometry("CT-1")), |operation| {
        set(operation, &node_path(1, "component_"), json!("hbm"));
        set(operation, &node_path(1, "name_"), json!("allocate-Tensor1_hbm"));
        set(
            operation,
            "/dscs_/0/shuffle/labeledDs_/1/memOrg_",
            json!({"hbm": {"isPresent": 1}, "lx": {"isPresent": 1}}),
        );
    });
    let broken = broken_rules(&hbm);
    let rule = "tensor 1 is in 'hbm'; both tensors of a shuffle are in LX";
    assert!(broken.iter().any(|(label, message)| *label == "sdsc_r151" && message.contains(rule)), "{broken:?}");
    let error = load(&hbm).unwrap_err().to_string();
    assert!(error.contains("Tensor1 is in HBM; both tensors of a shuffle are in LX"), "{error}");
}

/// Two slices of the destination are exchanged: they disagree with the op's own slices, which are those of its
/// consumer.
#[test]
fn finds_exchanged_slices_of_destination() {
    let file = forge_file(&build_packed(find_geometry("CT-1")), |operation| {
        set(operation, &format!("{}/2/mb", slots_path(1)), json!(1));
        set(operation, &format!("{}/2/out", slots_path(1)), json!(0));
        set(operation, &format!("{}/1/mb", slots_path(1)), json!(0));
        set(operation, &format!("{}/1/out", slots_path(1)), json!(1));
    });
    let broken = broken_rules(&file);
    assert_eq!(broken.first().map(|(label, _)| *label), Some("sdsc_r81"), "{broken:?}");
    let error = super::moves_every_element(&build_packed(find_geometry("CT-1")), &file).unwrap_err();
    assert!(error.starts_with("core 1, byte"), "{error}");
}
