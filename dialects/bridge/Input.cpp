//===- Input.cpp - which files are parsed ---------------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Input.h"
#include "Bytecode.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Reads a stream until its end; null, with a message, on an error or if it is too long. A pipe without a writer is at
/// its end: reading does not wait for a writer.
static std::unique_ptr<llvm::MemoryBuffer> readStream(int stream, StringRef name, std::string &message) {
  SmallVector<char, 0> text;
  constexpr size_t step = size_t(1) << 16;
  while (true) {
    size_t length = text.size();
    text.resize_for_overwrite(length + step);
    ssize_t count = ::read(stream, text.data() + length, step);
    text.truncate(length + std::max<ssize_t>(count, 0));
    if (count == 0)
      return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(text), name, /*RequiresNullTerminator=*/true);
    if (text.size() > spyre::maxPipedBytes) {
      message = "is larger than the limit of " + std::to_string(spyre::maxPipedBytes) + " bytes for a pipe";
      return nullptr;
    }
    if (count < 0 && errno == EAGAIN) {
      pollfd ready{stream, POLLIN, 0};
      ::poll(&ready, 1, /*timeout=*/-1);
    } else if (count < 0 && errno != EINTR) {
      message = std::strerror(errno);
      return nullptr;
    }
  }
}

std::unique_ptr<llvm::MemoryBuffer> spyre::openInput(StringRef path, std::string &message) {
  if (path == "-")
    return readStream(STDIN_FILENO, "<stdin>", message);
  std::string terminated = path.str();
  // Opening a pipe would block until it has a writer, and opening a device may have side effects.
  struct stat found;
  int file = -1;
  if (::stat(terminated.c_str(), &found) == 0) {
    if (!S_ISREG(found.st_mode) && !S_ISFIFO(found.st_mode)) {
      message = S_ISDIR(found.st_mode) ? "is a directory, not a file" : "is a device or a socket, not a file";
      return nullptr;
    }
    file = ::open(terminated.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  }
  if (file < 0 || ::fstat(file, &found) != 0) {
    message = std::strerror(errno);
    return nullptr;
  }
  llvm::scope_exit close([file] { ::close(file); });
  if (!S_ISREG(found.st_mode))
    return readStream(file, path, message);
  if (static_cast<uint64_t>(found.st_size) > maxInputBytes) {
    message = "is larger than the limit of " + std::to_string(maxInputBytes) + " bytes";
    return nullptr;
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getOpenFile(file, path, found.st_size);
  if (!buffer) {
    message = buffer.getError().message();
    return nullptr;
  }
  return std::move(*buffer);
}

//===----------------------------------------------------------------------===//
// Nesting
//===----------------------------------------------------------------------===//

namespace {

/// Scans the text of a module once and computes its nesting depth. Recognizes the required part of the syntax:
/// comments, strings,
/// brackets, operators of affine expressions, and aliases.
class NestingScan {
public:
  explicit NestingScan(StringRef text) : text(text) {}

  /// Returns the first offset at which the nesting exceeds the limit; none if it never does.
  std::optional<size_t> tooDeep() {
    while (at < text.size()) {
      size_t start = at;
      step();
      if (depth > spyre::maxNesting)
        return start;
    }
    return std::nullopt;
  }

private:
  /// Open bracket, and the number of levels that operators inside it have added.
  struct Open {
    char bracket;
    unsigned operators;
  };

  void step() {
    char letter = text[at];
    hasContent |= !StringRef(" \t\r\n").contains(letter);
    if (text.substr(at).starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else if (letter == '"')
      skipString();
    else if (letter == '#' || letter == '!')
      alias();
    else if (llvm::isAlpha(letter) || letter == '_')
      word();
    else
      sign(letter);
  }

  void skipString() {
    // A string ends on its line; the parser reports an unterminated one.
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      at += text[at] == '\\';
    at = std::min(at + 1, text.size());
  }

  StringRef takeName() {
    size_t start = at;
    while (at < text.size() && (llvm::isAlnum(text[at]) || text[at] == '_' || text[at] == '.' || text[at] == '$'))
      ++at;
    return text.slice(start, at);
  }

  /// Scans an alias: a definition if it precedes `=` outside of all brackets, otherwise a use of a definition.
  void alias() {
    size_t start = at++;
    takeName();
    StringRef name = text.slice(start, at);
    if (open.empty() && text.substr(at).ltrim(" \t\r\n").starts_with("=")) {
      endDefinition();
      at = text.find('=', at) + 1;
      defined = name;
      hasContent = false;
      return;
    }
    unsigned inside = depth + depths.lookup(name);
    deepest = std::max(deepest, inside);
    // The nesting depth counts as if the alias were expanded.
    if (inside > spyre::maxNesting)
      depth = inside;
  }

  void endDefinition() {
    if (!defined.empty())
      depths[defined] = deepest + 1;
    defined = StringRef();
    deepest = depth;
  }

  /// Returns whether the end of this line ends a definition: the next line may continue it with a bracket, also after
  /// comments.
  bool definitionEnds() const {
    StringRef next = text.substr(at).ltrim(" \t\r\n").take_front(1);
    return open.empty() && hasContent && (next.empty() || !StringRef("<=({[-/").contains(next));
  }

  void word() {
    StringRef name = takeName();
    if (name == "mod" || name == "floordiv" || name == "ceildiv")
      addOperator();
  }

  void addOperator() {
    // Outside of brackets there are no expressions.
    if (!open.empty())
      ++open.back().operators, ++depth;
    deepest = std::max(deepest, depth);
  }

  void dropOperators() {
    if (!open.empty())
      depth -= std::exchange(open.back().operators, 0);
  }

  void sign(char letter) {
    StringRef rest = text.substr(at++);
    if (rest.starts_with("->")) {
      ++at;
      dropOperators();
    } else if (letter == '<' ? !rest.starts_with("<=") : StringRef("({[").contains(letter)) {
      open.push_back({letter, 0});
      deepest = std::max(deepest, ++depth);
    } else if (letter == '>') {
      if (!open.empty() && open.back().bracket == '<')
        close();
    } else if (StringRef(")}]").contains(letter)) {
      char opening = letter == ')' ? '(' : letter == '}' ? '{' : '[';
      // A `<` of a comparison is not a bracket: it is closed with the enclosing bracket.
      while (!open.empty() && open.back().bracket == '<' && opening != '<')
        close();
      if (!open.empty() && open.back().bracket == opening)
        close();
    } else if (letter == ',' || letter == ':' || letter == '=') {
      dropOperators();
    } else if (letter == '+' || letter == '-' || letter == '*') {
      addOperator();
    } else if (letter == '\n' && !defined.empty() && definitionEnds()) {
      endDefinition();
    }
  }

  void close() {
    depth -= open.back().operators + 1;
    open.pop_back();
  }

  StringRef text;
  size_t at = 0;
  unsigned depth = 0;
  SmallVector<Open> open;
  /// Maximum depth in the current definition.
  unsigned deepest = 0;
  /// Alias that is being defined, and whether anything follows its `=` yet.
  StringRef defined;
  bool hasContent = false;
  llvm::StringMap<unsigned> depths;
};

} // namespace

LogicalResult spyre::checkInput(llvm::MemoryBufferRef buffer, MLIRContext *context) {
  if (isBytecode(buffer))
    return refuseNewerBytecode(buffer, context);
  StringRef text = buffer.getBuffer();
  auto errorAt = [&](size_t offset) {
    StringRef before = text.take_front(offset);
    size_t lineStart = before.rfind('\n') == StringRef::npos ? 0 : before.rfind('\n') + 1;
    return emitError(FileLineColLoc::get(context, buffer.getBufferIdentifier(), before.count('\n') + 1, offset - lineStart + 1));
  };
  // MLIR's lexer skips zero bytes; a file of zeros would take it a long time.
  if (size_t zero = text.find('\0'); zero != StringRef::npos)
    return errorAt(zero) << "[SPY0101] expected MLIR text or bytecode, found a zero byte; export the model to MLIR first";
  if (std::optional<size_t> place = NestingScan(text).tooDeep())
    return errorAt(*place) << "[SPY0102] expected at most " << maxNesting << " nested brackets, operators and aliases, found more; flatten the input";
  return success();
}

//===----------------------------------------------------------------------===//
// Signals caused by an input
//
// For tools only: they own their process, and guard in one thread at a time.
//===----------------------------------------------------------------------===//

static constexpr int guardedSignals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
static struct sigaction usualActions[std::size(guardedSignals)];
/// Message printed on a signal; null while no code is guarded.
static const char *guardMessage = nullptr;

/// Signal handler; calls async-signal-safe functions only.
static void leave(int) {
  if (const char *message = guardMessage)
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, message, ::strlen(message));
  ::_exit(1);
}

static void guard(const char *message) {
  if (std::exchange(guardMessage, message))
    return;
  struct sigaction action = {};
  action.sa_handler = leave;
  // The signal may be a stack overflow.
  action.sa_flags = SA_ONSTACK;
  for (auto [signal, usual] : llvm::zip(guardedSignals, usualActions))
    ::sigaction(signal, &action, &usual);
}

static void endGuard() {
  if (!std::exchange(guardMessage, nullptr))
    return;
  for (auto [signal, usual] : llvm::zip(guardedSignals, usualActions))
    ::sigaction(signal, &usual, nullptr);
}

void spyre::guardParser() {
  guard("error: MLIR's parser crashed on this file; its messages are above\n");
}

void spyre::endParserGuard() { endGuard(); }

void spyre::guardReference() {
  guard("error: the reference program ended by a signal: it reads outside of a tensor, divides an integer by 0, or runs out of memory\n");
}

void spyre::endReferenceGuard() { endGuard(); }
