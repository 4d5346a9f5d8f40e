//! Codes of messages: validation, plans and certificates.

super::codes! {
    "Validation, plans and certificates", 1300..=1399;

    1300 VALIDATION_IMPOSSIBLE "the program cannot be validated":
        "The message names the reason. `--validate=off` compiles without validation."
        see "docs/concepts/trust.md";

    1301 VALIDATION_SKIPPED "the program is not compared with its source":
        "The reference program cannot be run, for the reason in the message. Phases are still compared with \
         each other."
        see "docs/concepts/trust.md";

    1302 PASS_NOT_VALIDATED "a pass is not validated":
        "No reference is known behind this pass, for the reason in the message."
        see "docs/concepts/trust.md";

    1320 PLAN_READ "a plan file cannot be used":
        "The plan is not JSON of this version, or is for another program or machine. Remove it to let a \
         search write another."
        see "docs/concepts/search.md";

    1321 PLAN_COMPARE "the plans cannot be compared":
        "Two plans of one program are compared. Write plans with `--write-plan`.";

    1330 CERTIFICATE "a certificate is not valid":
        "The checker found a step that does not prove the bound."
        see "docs/reference/certificates.md";

    1340 TUNE_CACHE "the cache of tunings cannot be used":
        "The message names the entry. Remove it, or name another folder."
        see "docs/reference/tuning.md";

    1341 TUNE_NOTHING "the tuner found nothing to choose":
        "The program leaves nothing open, or no candidate is valid."
        see "docs/reference/tuning.md";

    1342 TUNE_COST "the measured cost differs from the recorded cost":
        "The entry was measured by another compiler or model. Tune again without the cache."
        see "docs/reference/tuning.md";
}
