//===- Input.cpp - reading and checking of input files --------------------===//
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

/// Reads a stream to its end. Returns null and sets `message` on an error, or if the stream is too long. A pipe without
/// a writer is at its end: reading does not wait for a writer.
static std::unique_ptr<llvm::MemoryBuffer> readStream(int stream, StringRef name, std::string &message) {
  SmallVector<char, 0> text;
  constexpr size_t kChunkBytes = size_t(1) << 16;
  while (true) {
    size_t length = text.size();
    text.resize_for_overwrite(length + kChunkBytes);
    ssize_t count = ::read(stream, text.data() + length, kChunkBytes);
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

std::unique_ptr<llvm::MemoryBuffer> spyre::openInput(StringRef path, std::string &message, StringRef name) {
  if (path == "-")
    return readStream(STDIN_FILENO, "<stdin>", message);
  if (name.empty())
    name = path;
  std::string terminated = path.str();
  // Opening a pipe would block until it has a writer, and opening a device may have side effects.
  struct stat status;
  int file = -1;
  if (::stat(terminated.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
      message = S_ISDIR(status.st_mode) ? "is a directory, not a file" : "is a device or a socket, not a file";
      return nullptr;
    }
    file = ::open(terminated.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  }
  if (file < 0 || ::fstat(file, &status) != 0) {
    message = std::strerror(errno);
    return nullptr;
  }
  llvm::scope_exit close([file] { ::close(file); });
  if (!S_ISREG(status.st_mode))
    return readStream(file, name, message);
  if (static_cast<uint64_t>(status.st_size) > maxInputBytes) {
    message = "is larger than the limit of " + std::to_string(maxInputBytes) + " bytes";
    return nullptr;
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getOpenFile(file, name, status.st_size);
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

/// Scanner that computes the nesting depth of a module's text in one pass. Recognizes the relevant part of the syntax:
/// comments, strings, brackets, operators of affine expressions, and aliases.
class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : text(text) {}

  /// Returns the first offset at which the nesting exceeds the limit; none if it never does.
  std::optional<size_t> findExcessiveNesting() {
    while (position < text.size()) {
      size_t start = position;
      scanToken();
      if (depth > spyre::maxNesting)
        return start;
    }
    return std::nullopt;
  }

private:
  /// Open bracket with the number of levels that operators inside it have added.
  struct OpenBracket {
    char bracket;
    unsigned operators;
  };

  void scanToken() {
    char character = text[position];
    hasContent |= !StringRef(" \t\r\n").contains(character);
    if (text.substr(position).starts_with("//"))
      position = std::min(text.find('\n', position), text.size());
    else if (character == '"')
      skipString();
    else if (character == '#' || character == '!')
      scanAlias();
    else if (llvm::isAlpha(character) || character == '_')
      scanWord();
    else
      scanPunctuation(character);
  }

  void skipString() {
    // A string ends on its line; the parser reports an unterminated one.
    for (++position; position < text.size() && text[position] != '"' && text[position] != '\n'; ++position)
      position += text[position] == '\\';
    position = std::min(position + 1, text.size());
  }

  StringRef consumeName() {
    size_t start = position;
    while (position < text.size() &&
           (llvm::isAlnum(text[position]) || text[position] == '_' || text[position] == '.' || text[position] == '$'))
      ++position;
    return text.slice(start, position);
  }

  /// Scans an alias: a definition if it precedes `=` outside of all brackets, otherwise a use of a definition.
  void scanAlias() {
    size_t start = position++;
    consumeName();
    StringRef name = text.slice(start, position);
    if (openBrackets.empty() && text.substr(position).ltrim(" \t\r\n").starts_with("=")) {
      endDefinition();
      position = text.find('=', position) + 1;
      definedAlias = name;
      hasContent = false;
      return;
    }
    unsigned aliasDepth = depth + depths.lookup(name);
    maxDepth = std::max(maxDepth, aliasDepth);
    // The nesting depth counts as if the alias were expanded.
    if (aliasDepth > spyre::maxNesting)
      depth = aliasDepth;
  }

  void endDefinition() {
    if (!definedAlias.empty())
      depths[definedAlias] = maxDepth + 1;
    definedAlias = StringRef();
    maxDepth = depth;
  }

  /// Returns whether the end of this line ends a definition: the next line may continue it with a bracket, also after
  /// comments.
  bool isAtDefinitionEnd() const {
    StringRef next = text.substr(position).ltrim(" \t\r\n").take_front(1);
    return openBrackets.empty() && hasContent && (next.empty() || !StringRef("<=({[-/").contains(next));
  }

  void scanWord() {
    StringRef name = consumeName();
    if (name == "mod" || name == "floordiv" || name == "ceildiv")
      addOperator();
  }

  void addOperator() {
    // Outside of brackets there are no expressions.
    if (!openBrackets.empty())
      ++openBrackets.back().operators, ++depth;
    maxDepth = std::max(maxDepth, depth);
  }

  void dropOperators() {
    if (!openBrackets.empty())
      depth -= std::exchange(openBrackets.back().operators, 0);
  }

  void scanPunctuation(char character) {
    StringRef rest = text.substr(position++);
    if (rest.starts_with("->")) {
      ++position;
      dropOperators();
    } else if (character == '<' ? !rest.starts_with("<=") : StringRef("({[").contains(character)) {
      openBrackets.push_back({character, 0});
      maxDepth = std::max(maxDepth, ++depth);
    } else if (character == '>') {
      if (!openBrackets.empty() && openBrackets.back().bracket == '<')
        closeBracket();
    } else if (StringRef(")}]").contains(character)) {
      char opening = character == ')' ? '(' : character == '}' ? '{' : '[';
      // A `<` of a comparison is not a bracket: it is closed with the enclosing bracket.
      while (!openBrackets.empty() && openBrackets.back().bracket == '<' && opening != '<')
        closeBracket();
      if (!openBrackets.empty() && openBrackets.back().bracket == opening)
        closeBracket();
    } else if (character == ',' || character == ':' || character == '=') {
      dropOperators();
    } else if (character == '+' || character == '-' || character == '*') {
      addOperator();
    } else if (character == '\n' && !definedAlias.empty() && isAtDefinitionEnd()) {
      endDefinition();
    }
  }

  void closeBracket() {
    depth -= openBrackets.back().operators + 1;
    openBrackets.pop_back();
  }

  StringRef text;
  size_t position = 0;
  unsigned depth = 0;
  SmallVector<OpenBracket> openBrackets;
  /// Maximum depth in the current definition.
  unsigned maxDepth = 0;
  /// Alias that is being defined, and whether anything follows its `=` yet.
  StringRef definedAlias;
  bool hasContent = false;
  llvm::StringMap<unsigned> depths;
};

} // namespace

LogicalResult spyre::checkInput(llvm::MemoryBufferRef buffer, MLIRContext *context) {
  if (isBytecode(buffer))
    return rejectNewerBytecode(buffer, context);
  StringRef text = buffer.getBuffer();
  auto emitErrorAt = [&](size_t offset) {
    StringRef before = text.take_front(offset);
    size_t lineStart = before.rfind('\n') == StringRef::npos ? 0 : before.rfind('\n') + 1;
    return emitError(FileLineColLoc::get(context, buffer.getBufferIdentifier(), before.count('\n') + 1, offset - lineStart + 1));
  };
  // MLIR's lexer skips zero bytes; a file of zeros would take it a long time.
  if (size_t zero = text.find('\0'); zero != StringRef::npos)
    return emitErrorAt(zero)
           << "[SPY0101] expected MLIR text or bytecode, found a zero byte; export the model to MLIR first";
  if (std::optional<size_t> offset = NestingScanner(text).findExcessiveNesting())
    return emitErrorAt(*offset) << "[SPY0102] expected at most " << maxNesting
                                << " nested brackets, operators and aliases, found more; flatten the input";
  return success();
}

//===----------------------------------------------------------------------===//
// Signals caused by an input file
//
// For tools only: they own their process, and guard in one thread at a time.
//===----------------------------------------------------------------------===//

static constexpr int guardedSignals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
static struct sigaction savedActions[std::size(guardedSignals)];
/// Message printed on a signal; null while no code is guarded.
static const char *guardMessage = nullptr;

/// Signal handler; calls async-signal-safe functions only.
static void exitOnSignal(int) {
  if (const char *message = guardMessage)
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, message, ::strlen(message));
  ::_exit(1);
}

static void beginGuard(const char *message) {
  if (std::exchange(guardMessage, message))
    return;
  struct sigaction action = {};
  action.sa_handler = exitOnSignal;
  // The signal may be a stack overflow.
  action.sa_flags = SA_ONSTACK;
  for (auto [signal, saved] : llvm::zip(guardedSignals, savedActions))
    ::sigaction(signal, &action, &saved);
}

static void endGuard() {
  if (!std::exchange(guardMessage, nullptr))
    return;
  for (auto [signal, saved] : llvm::zip(guardedSignals, savedActions))
    ::sigaction(signal, &saved, nullptr);
}

void spyre::guardParser() { beginGuard("error: MLIR's parser crashed on this file; its messages are above\n"); }

void spyre::endParserGuard() { endGuard(); }

void spyre::guardReference() {
  beginGuard("error: the reference program ended by a signal: it reads outside of a tensor, divides an integer by 0, "
             "or runs out of memory\n");
}

void spyre::endReferenceGuard() { endGuard(); }
