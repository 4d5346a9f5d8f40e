'use strict';
// The extension for VS Code: documents and requests of the editor, given to spyre-lsp-server.

const fs = require('fs');
const os = require('os');
const path = require('path');
const vscode = require('vscode');
const { LanguageClient } = require('./client');
const { resolveServer } = require('./server');

const LANGUAGE = 'mlir';
const SEVERITIES = [vscode.DiagnosticSeverity.Error, vscode.DiagnosticSeverity.Warning, vscode.DiagnosticSeverity.Information,
  vscode.DiagnosticSeverity.Hint];

const isFile = (file) => {
  try {
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
};

/** Returns the path of the server that `cargo xtask install` noted beside the extension. */
function installedServer() {
  const note = path.join(__dirname, 'installed.json');
  return isFile(note) ? JSON.parse(fs.readFileSync(note, 'utf8')).server : '';
}

const toRange = ({ start, end }) => new vscode.Range(start.line, start.character, end.line, end.character);
const toLocation = ({ uri, range }) => new vscode.Location(vscode.Uri.parse(uri), toRange(range));

function toDiagnostic({ range, message, severity, source, code, relatedInformation }) {
  const diagnostic = new vscode.Diagnostic(toRange(range), message, SEVERITIES[(severity || 1) - 1]);
  diagnostic.source = source || 'spyre';
  diagnostic.code = code;
  diagnostic.relatedInformation = (relatedInformation || [])
    .map((related) => new vscode.DiagnosticRelatedInformation(toLocation(related.location), related.message));
  return diagnostic;
}

function toHover(hover) {
  if (!hover) return null;
  const parts = [hover.contents].flat().map((part) => (typeof part === 'string' ? part : part.value));
  return new vscode.Hover(parts.map((part) => new vscode.MarkdownString(part)), hover.range && toRange(hover.range));
}

function toCompletion({ label, kind, detail, documentation, insertText, textEdit }) {
  // The protocol counts kinds from 1, the editor from 0.
  const item = new vscode.CompletionItem(label, kind === undefined ? undefined : kind - 1);
  item.detail = detail;
  item.documentation = documentation && documentation.value ? new vscode.MarkdownString(documentation.value) : documentation;
  item.insertText = textEdit ? textEdit.newText : insertText;
  item.range = textEdit && toRange(textEdit.range);
  return item;
}

function toSymbol({ name, detail, kind, range, selectionRange, children }) {
  const symbol = new vscode.DocumentSymbol(name || '?', detail || '', kind - 1, toRange(range), toRange(selectionRange));
  symbol.children = (children || []).map(toSymbol);
  return symbol;
}

class Session {
  constructor(output) {
    this.output = output;
    this.diagnostics = vscode.languages.createDiagnosticCollection('spyre');
    this.client = null;
  }

  async start() {
    const folders = (vscode.workspace.workspaceFolders || []).map((folder) => folder.uri.fsPath);
    const settings = vscode.workspace.getConfiguration('spyre');
    const setting = settings.get('serverPath');
    const found = resolveServer({ setting, installed: installedServer(), folders, search: process.env.PATH, home: os.homedir(), isFile });
    if (found.error) {
      vscode.window.showErrorMessage(`Spyre: ${found.error}`);
      return;
    }
    this.output.appendLine(`language server: ${found.path}`);
    const client = new LanguageClient(found.path, {
      onNotification: (method, params) => this.hear(method, params),
      onEnd: (reason) => this.output.appendLine(reason),
      log: (text) => this.output.append(text),
    });
    const options = { compile: settings.get('compile'), compileOptions: settings.get('compileOptions') };
    await client.initialize(folders.length ? vscode.Uri.file(folders[0]).toString() : null, options);
    this.client = client;
    vscode.workspace.textDocuments.forEach((document) => this.open(document));
  }

  async stop() {
    const { client } = this;
    this.client = null;
    this.diagnostics.clear();
    if (client) await client.stop();
  }

  hear(method, { uri, diagnostics, message } = {}) {
    if (method === 'textDocument/publishDiagnostics') this.diagnostics.set(vscode.Uri.parse(uri), diagnostics.map(toDiagnostic));
    if (method === 'window/logMessage') this.output.appendLine(message);
  }

  tell(method, document, params) {
    if (this.client && document.languageId === LANGUAGE) this.client.notify(`textDocument/${method}`, params(document.uri.toString()));
  }

  open(document) {
    const { languageId, version } = document;
    this.tell('didOpen', document, (uri) => ({ textDocument: { uri, languageId, version, text: document.getText() } }));
  }

  change(document) {
    const { version } = document;
    this.tell('didChange', document, (uri) => ({ textDocument: { uri, version }, contentChanges: [{ text: document.getText() }] }));
  }

  save(document) {
    this.tell('didSave', document, (uri) => ({ textDocument: { uri } }));
  }

  close(document) {
    this.tell('didClose', document, (uri) => ({ textDocument: { uri } }));
    this.diagnostics.delete(document.uri);
  }

  /** Asks about a place of a document; without a server there is no answer. */
  async ask(method, document, position, more = {}) {
    if (!this.client) return null;
    const at = position ? { position: { line: position.line, character: position.character } } : {};
    return this.client.request(`textDocument/${method}`, { textDocument: { uri: document.uri.toString() }, ...at, ...more });
  }
}

let session = null;

async function activate(context) {
  const output = vscode.window.createOutputChannel('Spyre');
  session = new Session(output);
  const { workspace, languages } = vscode;
  const places = (answer) => [answer || []].flat().map(toLocation);
  const restart = async () => {
    await session.stop();
    await session.start();
  };
  context.subscriptions.push(
    output,
    session.diagnostics,
    vscode.commands.registerCommand('spyre.restartServer', restart),
    workspace.onDidChangeConfiguration((event) => (event.affectsConfiguration('spyre') ? restart() : undefined)),
    workspace.onDidOpenTextDocument((document) => session.open(document)),
    workspace.onDidChangeTextDocument((event) => session.change(event.document)),
    workspace.onDidSaveTextDocument((document) => session.save(document)),
    workspace.onDidCloseTextDocument((document) => session.close(document)),
    languages.registerHoverProvider(LANGUAGE, {
      provideHover: async (document, position) => toHover(await session.ask('hover', document, position)),
    }),
    languages.registerDefinitionProvider(LANGUAGE, {
      provideDefinition: async (document, position) => places(await session.ask('definition', document, position)),
    }),
    languages.registerReferenceProvider(LANGUAGE, {
      provideReferences: async (document, position, { includeDeclaration }) => (
        places(await session.ask('references', document, position, { context: { includeDeclaration } }))),
    }),
    languages.registerCompletionItemProvider(LANGUAGE, {
      provideCompletionItems: async (document, position) => {
        const answer = await session.ask('completion', document, position);
        return ((answer && answer.items) || answer || []).map(toCompletion);
      },
    }, '%', '.', '!', '#', ' ', '"', '(', '{'),
    languages.registerDocumentSymbolProvider(LANGUAGE, {
      provideDocumentSymbols: async (document) => ((await session.ask('documentSymbol', document)) || []).map(toSymbol),
    }),
  );
  await session.start();
}

async function deactivate() {
  if (session) await session.stop();
}

module.exports = { activate, deactivate };
