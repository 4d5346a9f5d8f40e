'use strict';
// A client of the Language Server Protocol over the standard streams of a server. It knows nothing of VS Code.

const { spawn } = require('child_process');

const HEADER_END = '\r\n\r\n';

/** Splits a stream into messages. */
class MessageReader {
  constructor(onMessage) {
    this.onMessage = onMessage;
    this.pending = Buffer.alloc(0);
  }

  add(bytes) {
    this.pending = Buffer.concat([this.pending, bytes]);
    for (;;) {
      const end = this.pending.indexOf(HEADER_END);
      if (end < 0) return;
      const length = /content-length: *(\d+)/i.exec(this.pending.toString('ascii', 0, end));
      if (!length) throw new Error('expected a header Content-Length from the language server, found none');
      const start = end + HEADER_END.length;
      const stop = start + Number(length[1]);
      if (this.pending.length < stop) return;
      const message = JSON.parse(this.pending.toString('utf8', start, stop));
      this.pending = this.pending.subarray(stop);
      this.onMessage(message);
    }
  }
}

class LanguageClient {
  /** `onNotification(method, params)` hears what the server says unasked; `onEnd(reason)` hears when it has ended. */
  constructor(server, { onNotification, onEnd, log }) {
    this.waiting = new Map();
    this.nRequests = 0;
    this.hasEnded = false;
    this.process = spawn(server, [], { stdio: ['pipe', 'pipe', 'pipe'] });
    const reader = new MessageReader((message) => this.receive(message, onNotification));
    this.process.stdout.on('data', (bytes) => {
      try {
        reader.add(bytes);
      } catch (error) {
        this.end(error.message, onEnd);
        this.process.kill();
      }
    });
    this.process.stderr.on('data', (bytes) => log(bytes.toString('utf8')));
    this.process.stdin.on('error', () => {});
    this.process.on('error', (error) => this.end(`cannot run '${server}': ${error.message}`, onEnd));
    this.process.on('exit', (code, signal) => this.end(`'${server}' ended with ${signal || code}`, onEnd));
  }

  end(reason, onEnd) {
    if (this.hasEnded) return;
    this.hasEnded = true;
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    onEnd(reason);
  }

  receive(message, onNotification) {
    if (message.method !== undefined) {
      // Unknown requests of the server get an empty answer.
      if (message.id !== undefined) this.send({ id: message.id, result: null });
      else onNotification(message.method, message.params);
      return;
    }
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (!waiting) return;
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  send(message) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}${HEADER_END}${text}`);
  }

  notify(method, params) {
    if (!this.hasEnded) this.send({ method, params });
  }

  request(method, params) {
    if (this.hasEnded) return Promise.reject(new Error('the language server has ended'));
    this.nRequests += 1;
    const id = this.nRequests;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  /** Begins a session, and returns what the server can do. `initializationOptions` are the settings of the server. */
  async initialize(rootUri, initializationOptions) {
    const capabilities = {
      textDocument: {
        hover: { contentFormat: ['markdown', 'plaintext'] },
        publishDiagnostics: { relatedInformation: true },
        completion: { completionItem: { documentationFormat: ['markdown', 'plaintext'] } },
        synchronization: { didSave: true },
        documentSymbol: { hierarchicalDocumentSymbolSupport: true },
      },
    };
    const answer = await this.request('initialize', { processId: process.pid, rootUri, capabilities, initializationOptions });
    this.notify('initialized', {});
    return answer.capabilities;
  }

  /** Asks the server to end. One that does not answer is killed. */
  async stop(patienceMs = 2000) {
    if (this.hasEnded) return;
    const patience = new Promise((resolve) => { setTimeout(resolve, patienceMs).unref(); });
    await Promise.race([this.request('shutdown', null).catch(() => {}), patience]);
    this.notify('exit', null);
    setTimeout(() => this.process.kill(), patienceMs).unref();
  }
}

module.exports = { LanguageClient, MessageReader };
