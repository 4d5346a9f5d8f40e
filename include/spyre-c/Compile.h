/*===- Compile.h - the compiler as a C library ------------------*- C -*-===*\
|*                                                                          *|
|* Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.  *|
|*                                                                          *|
\*===----------------------------------------------------------------------===*/

/* The library has an MLIR of its own inside. What goes in and out is text, so it may be used beside another MLIR of any version.
   Texts end with a zero and are UTF-8. Functions may be called from any thread, several at a time. */

#ifndef SPYRE_C_COMPILE_H
#define SPYRE_C_COMPILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An option of `spyre-compile` without its dashes, such as "lx-planner" and "exact". Lists have commas: "tiles" and "A=2,B=4". */
typedef struct {
  const char *name;
  const char *value;
} SpyreOption;

/* 0 error, 1 warning, 2 remark, 3 note: a note belongs to the last message that is none. */
typedef struct {
  int severity;
  const char *message;
  /* The file, or null where there is no place. */
  const char *file;
  /* From 1; 0 where the file as a whole is meant. */
  int64_t line;
  int64_t column;
} SpyreMessage;

/* Is told of a message, which is valid during the call; `data` is what was given with the handler. */
typedef void (*SpyreMessageHandler)(const SpyreMessage *message, void *data);

/* The version of the library, with the MLIR that it has; lives as long as the library. */
const char *spyreVersion(void);

/* Compiles `program`, a module as MLIR text, which messages call by `name`. With the option "compile-to" and a phase before "emit",
   `output` is null and `result` becomes the IR behind that phase; else `output` is the bundle directory to write, and `result` becomes the
   report in JSON.

   The option "validate" is "auto", which it is by default, "on" or "off": before files are written they are executed beside the imported
   program, as "validation" of the report says. The library does not run the program as written, for which `spyre-compile` starts a process.

   Gives 0 on success, 1 on a mistake in what was given, 2 on a bug of the library, as the tools do; `result` is null but for 0, and is freed by
   `spyreFreeText`. What there is to say goes to `handler`, which may be null, in this thread and before the call returns. */
int spyreCompile(const char *program, const char *name, const char *output, const SpyreOption *options, intptr_t n_options,
                 SpyreMessageHandler handler, void *data, char **result);

/* Frees a result; null is nothing to free. */
void spyreFreeText(char *text);

#ifdef __cplusplus
}
#endif

#endif /* SPYRE_C_COMPILE_H */
