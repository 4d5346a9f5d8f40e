'use strict';
// The extension with a stand-in for the editor's API: session.js SERVER.

const assert = require('assert');
const Module = require('module');

const server = process.argv[2];
const settings = { serverPath: server, compile: true, compileOptions: ['--cores=4'] };
const PROGRAM = `func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %0 = spyre.pointwise exp(%x) : tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
`;

// The parser accepts this program, and the compiler does not.
const REFUSED = `func.func @main(%x: tensor<4x64xf16> {spyre.dims = ["M", "K"]}) -> tensor<4x64xf16> {
  %0 = spyre.hint tiles(M = 3) {
    %1 = spyre.pointwise exp(%x) : tensor<4x64xf16>
    spyre.yield %1 : tensor<4x64xf16>
  }
  return %0 : tensor<4x64xf16>
}
`;

class Value {
  constructor(...parts) {
    this.parts = parts;
  }
}
const providers = {};
const listeners = {};
const shown = new Map();
const errors = [];
const listen = (name) => (listener) => { listeners[name] = listener; };
const provide = (name) => (language, provider) => { providers[name] = provider; };
const uriOf = (text) => ({ toString: () => text });
const vscode = {
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  Range: Value, Location: Value, Hover: Value, MarkdownString: Value, DocumentSymbol: Value, DiagnosticRelatedInformation: Value,
  CompletionItem: Value,
  Diagnostic: class {
    constructor(range, message, severity) {
      Object.assign(this, { range, message, severity });
    }
  },
  Uri: { parse: uriOf, file: (path) => uriOf(`file://${path}`) },
  languages: {
    createDiagnosticCollection: () => ({
      set: (uri, found) => { shown.set(`${uri}`, found); }, delete: (uri) => shown.delete(`${uri}`), clear: () => shown.clear(),
    }),
    registerHoverProvider: provide('hover'),
    registerDefinitionProvider: provide('definition'),
    registerReferenceProvider: provide('references'),
    registerCompletionItemProvider: provide('completion'),
    registerDocumentSymbolProvider: provide('symbols'),
  },
  workspace: {
    workspaceFolders: [],
    textDocuments: [],
    getConfiguration: () => ({ get: (name) => settings[name] }),
    onDidChangeConfiguration: listen('configuration'),
    onDidOpenTextDocument: listen('open'),
    onDidChangeTextDocument: listen('change'),
    onDidSaveTextDocument: listen('save'),
    onDidCloseTextDocument: listen('close'),
  },
  window: {
    createOutputChannel: () => ({ append: () => {}, appendLine: () => {} }),
    showErrorMessage: (text) => errors.push(text),
  },
  commands: { registerCommand: (name, command) => { listeners[name] = command; } },
};
const load = Module._load;
Module._load = (name, ...more) => (name === 'vscode' ? vscode : load(name, ...more));
const { activate, deactivate } = require('../../editors/vscode/extension');

const document = { uri: uriOf('file:///a.mlir'), languageId: 'mlir', version: 1, text: PROGRAM, getText: () => document.text };
const place = (word) => {
  const line = document.text.split('\n').findIndex((text) => text.includes(word));
  return { line, character: document.text.split('\n')[line].indexOf(word) };
};

async function until(condition, what) {
  for (let round = 0; round < 600; round += 1) {
    if (condition()) return;
    await new Promise((done) => { setTimeout(done, 50); });
  }
  throw new Error(`waited in vain for ${what}`);
}

async function main() {
  await activate({ subscriptions: [] });
  assert.deepStrictEqual(errors, []);
  listeners.open(document);
  await until(() => shown.has('file:///a.mlir'), 'the first diagnostics');
  assert.deepStrictEqual(shown.get('file:///a.mlir'), []);

  const hover = await providers.hover.provideHover(document, place('spyre.pointwise'));
  assert.match(JSON.stringify(hover), /Generic Form/, 'what MLIR shows');
  assert.match(JSON.stringify(hover), /Apply an elementwise device function/, 'what the reference page says');
  const [definition] = await providers.definition.provideDefinition(document, place('%0 : tensor'));
  assert.strictEqual(definition.parts[1].parts[0], 1, 'the value is defined in line 1');
  const references = await providers.references.provideReferences(document, place('%0 ='), { includeDeclaration: false });
  assert.ok(references.length >= 1);
  const symbols = await providers.symbols.provideDocumentSymbols(document);
  assert.match(JSON.stringify(symbols), /main/);

  document.version = 2;
  document.text = PROGRAM.replace('exp(%x)', 'exp(%y)');
  listeners.change({ document });
  await until(() => shown.get('file:///a.mlir').length, 'the diagnostics of the change');
  const [wrong] = shown.get('file:///a.mlir');
  assert.match(wrong.message, /undeclared SSA value/);
  assert.deepStrictEqual([wrong.severity, wrong.range.parts[0]], [0, 1]);
  const completions = await providers.completion.provideCompletionItems(document, place('exp(%y'));
  const [gelu] = completions.filter((item) => item.parts[0] === 'gelufwd');
  assert.strictEqual(gelu.insertText, 'gelufwd');
  assert.strictEqual(gelu.detail, 'elementwise, 1 operand');

  document.version = 3;
  document.text = REFUSED;
  listeners.change({ document });
  listeners.save(document);
  await until(() => shown.get('file:///a.mlir').some(({ source }) => source === 'spyre-compile'), 'the diagnostics of the compiler');
  const [refused] = shown.get('file:///a.mlir');
  assert.match(refused.message, /tile count 3 does not divide dimension 'M' of size 4/);
  assert.deepStrictEqual([refused.code, refused.severity, refused.range.parts[0]], ['SPY0501', 0, 2]);
  const names = await providers.completion.provideCompletionItems(document, place('M = 3'));
  const dimensions = names.filter((item) => item.detail === 'dimension').map((item) => item.insertText);
  assert.deepStrictEqual(dimensions, ['K = ', 'M = ']);
  document.version = 4;
  document.text = REFUSED.replace('M = 3', 'M = 2');
  listeners.change({ document });
  await until(() => !shown.get('file:///a.mlir').length, 'the end of the stale diagnostics');
  document.text = PROGRAM.replace('exp(%x)', 'exp(%y)');

  vscode.workspace.textDocuments = [document];
  document.version = 1;
  shown.clear();
  await listeners['spyre.restartServer']();
  await until(() => (shown.get('file:///a.mlir') || []).length, 'the diagnostics of another server');
  listeners.close(document);
  assert.ok(!shown.has('file:///a.mlir'));
  await deactivate();
  console.log('ok');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
