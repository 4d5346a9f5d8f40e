//! Files of release 1.0.0 whose folds or windows are not those of the op.

use super::broken::{NODE, RejectedFile, break_base, set_member};
use crate::check_bundle::bundles::Files;
use crate::check_bundle::edits::{json, set, to_pointer};
use serde_json::{Value, json};

/// Sets a member of the windows along `i` of the op and of a core.
fn set_windows(files: &mut Files, member: &str, to: &Value) {
    for sizes in ["N_", "dataStageParam_/0/ss_", "dataStageParam_/0/el_"] {
        set(files, &format!("dsc/{sizes}/paddingSizes_/i/{member}"), to.clone());
    }
}

/// Returns files whose folds or windows are not those of the op.
pub(super) fn broken_folds() -> Vec<RejectedFile> {
    let folds = |dim: &str, member: &str| format!("{NODE}/coordinates_/coordInfo/{dim}/folds/{member}");
    let change = |label, dim: &str, member: &str, to: Value| {
        let path = folds(dim, member);
        break_base(label, "add", move |files| set(files, &path, to))
    };
    let edit = |dim: &'static str, edit: fn(&mut Value)| {
        move |files: &mut Files| {
            json(files, "sdsc_0.json", |file| {
                let path = to_pointer(file, &format!("{NODE}/coordinates_/coordInfo/{dim}"));
                edit(file.pointer_mut(&path).unwrap());
            });
        }
    };
    let remove_fold = |info: &mut Value| {
        info["elemArr"] = json!(1);
        for list in ["dim_prop_func", "dim_prop_attr"] {
            info["folds"][list].as_array_mut().unwrap().remove(3);
        }
        info["folds"]["dim_prop_attr"][3]["factor_"] = json!(256);
    };
    let add_fold = |info: &mut Value| {
        info["elemArr"] = json!(2);
        let function = json!({"Affine": {"alpha_": 1, "beta_": 0}});
        info["folds"]["dim_prop_func"].as_array_mut().unwrap().push(function);
        info["folds"]["dim_prop_attr"].as_array_mut().unwrap().push(json!({"factor_": 1, "label_": "elem_arr_1"}));
    };
    let start = |member: &str| format!("{NODE}/startAddressCoreCorelet_/dim_prop_attr/{member}");
    let time = json!({"factor_": 1, "label_": "time"});
    let (of_cores, of_time) = (start("0/factor_"), start("2/factor_"));
    vec![
        change("sdsc_r158", "mb", "dim_prop_attr/0/label_", json!("foo")),
        change("sdsc_r158", "mb", "dim_prop_func/0", json!({"Map": {}})),
        change("sdsc_r158", "mb", "dim_prop_func/0/Affine/beta_", json!(1)),
        break_base("sdsc_r158", "add", edit("out", remove_fold)),
        break_base("sdsc_r158", "add", edit("mb", add_fold)),
        break_base(
            "sdsc_r158",
            "add",
            edit("out", |info| {
                info["folds"]["dim_prop_func"][3]["Affine"]["alpha_"] = json!(32);
                info["folds"]["dim_prop_attr"][3]["factor_"] = json!(8);
                info["folds"]["dim_prop_attr"][4]["factor_"] = json!(32);
            }),
        ),
        change("sdsc_r159", "mb", "dim_prop_attr/0/factor_", json!(7)),
        change("sdsc_r159", "mb", "dim_prop_attr/3/factor_", json!(5)),
        change("sdsc_r159", "out", "dim_prop_attr/3/factor_", json!(1)),
        change("sdsc_r159", "mb", "dim_prop_func/0/Affine/alpha_", json!(3)),
        change("sdsc_r159", "out", "dim_prop_func/3/Affine/alpha_", json!(32)),
        break_base("sdsc_r160", "add", set_member("op/coreFoldProp_/label_", json!("time"))),
        break_base("sdsc_r160", "add", set_member("op/sdscFoldProps_/0/label_", json!("step"))),
        break_base("sdsc_r160", "add", set_member("op/sdscFolds_/dim_prop_func", json!([]))),
        break_base("sdsc_r160", "add", move |files| set(files, &of_cores, json!(3))),
        break_base("sdsc_r160", "add", move |files| set(files, &of_time, json!(2))),
        break_base("sdsc_r160", "add", set_member("op/sdscFoldProps_", json!([time, time]))),
        break_base("sdsc_r160", "add", set_member("op/sdscFolds_/dim_prop_attr/0/factor_", json!(2))),
        break_base("sdsc_r160", "add", set_member("op/sdscFolds_/data_", json!({"[0]": "1"}))),
        break_base("sdsc_r160", "add", set_member("op/sdscFolds_/data_", json!({"[1]": "1"}))),
        break_base("sdsc_r160", "add", set_member("op/sdscFolds_/dim_prop_func/0/Affine/beta_", json!(1))),
        break_base("sdsc_r160", "clip", set_member("dsc/constantInfo_/1/data_/dim_prop_attr", json!([]))),
        break_base("sdsc_r160", "clip", set_member("dsc/constantInfo_/1/data_/dim_prop_func/1", json!({"Map": {}}))),
        break_base(
            "sdsc_r159",
            "padded sum",
            set_member("dsc/scheduleTree_/1/coordinates_/coordInfo/out/folds/dim_prop_func/4/Affine/alpha_", json!(64)),
        ),
        break_base(
            "sdsc_r159",
            "padded sum",
            set_member("dsc/scheduleTree_/1/coordinates_/coordInfo/out/folds/dim_prop_attr/3/factor_", json!(2)),
        ),
        break_base("sdsc_r164", "pooling", |files| set_windows(files, "windowDim_", &json!("zz"))),
        break_base("sdsc_r164", "add", |files| {
            set(files, "dsc/N_/paddingSizes_", json!({"i": {"totalSize_": 1, "windowDim_": "ki"}}));
        }),
        break_base("sdsc_r165", "pooling", |files| {
            set_windows(files, "unneededPad_", &json!(5));
            set_windows(files, "totalSize_", &json!(13));
        }),
        break_base("sdsc_r165", "pooling", |files| {
            set_windows(files, "unneededPad_", &json!(1));
            set_windows(files, "totalSize_", &json!(9));
            set_windows(files, "unneededPadFront_", &json!(3));
            set_windows(files, "unneededPadBack_", &json!(4));
        }),
        break_base("sdsc_r165", "pooling", |files| {
            set_windows(files, "unneededPad_", &json!(1));
            set_windows(files, "totalSize_", &json!(9));
            set_windows(files, "padBack_", &json!(1));
        }),
        break_base("sdsc_r166", "pooling", |files| {
            for stage in ["ss_", "el_"] {
                set(files, &format!("dsc/dataStageParam_/0/{stage}/paddingSizes_/i/padFront_"), json!(1));
            }
        }),
    ]
}
