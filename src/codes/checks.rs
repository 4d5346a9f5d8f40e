//! Message codes of validation, plans and certificates.

super::codes! {
    "Validation, plans and certificates", 1300..=1399;

    1300 VALIDATION_IMPOSSIBLE "the program cannot be validated":
        "The message gives the reason. `--validate=off` compiles without validation."
        see "docs/concepts/trust.md";

    1301 VALIDATION_SKIPPED "the result is not compared with the input program":
        "The input program cannot be executed, for the reason in the message. The emitted files are still compared \
         with the imported program."
        see "docs/concepts/trust.md";

    1302 PASS_NOT_VALIDATED "a pass is not validated":
        "After this pass, the program has no reference to compare with, for the reason in the message."
        see "docs/concepts/trust.md";

    1320 PLAN_READ "a plan file cannot be used":
        "The plan file is not valid JSON of this version, or it belongs to another program or machine. Remove the \
         option; the search then chooses a plan."
        see "docs/concepts/search.md";

    1321 PLAN_COMPARE "the plans cannot be compared":
        "`--compare` requires two plans of the same program. Write them with `--write-plan`.";

    1330 CERTIFICATE "a certificate is not valid":
        "A step of the certificate does not prove the bound. Write the certificate again with `spyre-compile \
         --certificate`."
        see "docs/reference/certificates.md";

    1340 TUNE_CACHE "the tuning cache cannot be used":
        "The message names the cache entry. Remove the entry, or use another cache directory."
        see "docs/reference/tuning.md";

    1341 TUNE_NOTHING "the tuner found nothing to choose":
        "The program has no tunable parameter, or no candidate is valid."
        see "docs/reference/tuning.md";

    1342 TUNE_COST "the modeled cost differs from the cost in the cache":
        "Another version of the compiler or of the cost model wrote the cache entry. Tune again without the cache."
        see "docs/reference/tuning.md";
}
