/*===- Compile.h - the compiler as a C library ------------------*- C -*-===*\
|*                                                                          *|
|* Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.  *|
|*                                                                          *|
\*===----------------------------------------------------------------------===*/

/* The library contains its own MLIR. Modules cross the boundary as text, so a program may use another MLIR of any
   version. Texts are UTF-8 and end with a zero. Functions may be called from several threads at once.

   The library does not change its process: no signal handlers, no locale, no current directory, no environment, no
   threads that outlive a call. A call frees its memory, except its report. MLIR keeps tables of types for the whole
   process; the first call creates them and later calls do not extend them. The library uses neither MLIR's registry of
   passes nor its command-line options.

   MLIR's parser ends the process by a signal on some damaged texts. Parse untrusted text in a separate process. */

#ifndef SPYRE_C_COMPILE_H
#define SPYRE_C_COMPILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Option of `spyre-compile` without its dashes, such as "lx-planner" and "exact". Elements of a list are separated by
   commas: "tiles" and "A=2,B=4". */
typedef struct {
  const char *name;
  const char *value;
} SpyreOption;

/* Diagnostic. Severity: 0 error, 1 warning, 2 remark, 3 note. A note belongs to the last message that is no note. */
typedef struct {
  int severity;
  const char *message;
  /* File, or null if the position is unknown. */
  const char *file;
  /* From 1; 0 stands for the complete file. */
  int64_t line;
  int64_t column;
} SpyreMessage;

/* Result of a successful compilation. */
typedef struct SpyreReport SpyreReport;

/* Receives a message, which is valid during the call; `data` is the pointer passed along with the handler. */
typedef void (*SpyreMessageHandler)(const SpyreMessage *message, void *data);

/* Returns the version of the library and of its MLIR; the text lives as long as the library. */
const char *spyreVersion(void);

/* Compiles `program`, a module as MLIR text; messages call the module by `name`.

   With the option "compile-to" and a phase before "emit", `output` must be null, and the report has the IR after that
   phase. Otherwise `output` is the bundle directory to write, and the report has the JSON of the compilation.

   The option "validate" is "auto" (default), "on" or "off": the library executes the files and the imported program,
   compares the results, and then writes the files. Unlike `spyre-compile` it does not execute the program as written,
   because that requires a second process.

   Returns 0 on success, 1 if the program or an option is invalid, 2 on a defect of the library, as the tools do.
   `report` must not be null. `*report` becomes the report on success and null otherwise; `spyreReportFree` frees it.
   Diagnostics go to `handler`, which may be null, in the calling thread and before the call returns. */
int spyreCompile(const char *program, const char *name, const char *output, const SpyreOption *options, intptr_t n_options,
                 SpyreMessageHandler handler, void *data, SpyreReport **report);

/* Returns the IR, or null if the compilation wrote files. The text lives as long as the report. */
const char *spyreReportIr(const SpyreReport *report);

/* Returns the report as JSON (docs/reference/schemas/report.json), or null if the compilation wrote no files. The text
   lives as long as the report. */
const char *spyreReportJson(const SpyreReport *report);

/* Returns the bytes that the program reads from HBM and writes to it; 0 if the compilation wrote no files. */
int64_t spyreReportHbmBytes(const SpyreReport *report);

/* Returns the modeled time of all launches in microseconds; 0 if the compilation wrote no files. */
double spyreReportModeledUs(const SpyreReport *report);

/* Frees a report; null is ignored. */
void spyreReportFree(SpyreReport *report);

#ifdef __cplusplus
}
#endif

#endif /* SPYRE_C_COMPILE_H */
