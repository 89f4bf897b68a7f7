// A small client of the language server, for scripts that show or check it from outside an editor.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import rpc from 'vscode-jsonrpc/node';

/** What this client can do: enough for findings, fixes and hovers, as an editor would ask for them. */
const CAPABILITIES = {
  general: { positionEncodings: ['utf-16'] },
  workspace: {
    configuration: true,
    workspaceFolders: true,
    workspaceEdit: { documentChanges: true },
  },
  textDocument: {
    synchronization: {},
    hover: { contentFormat: ['markdown'] },
    diagnostic: { dynamicRegistration: true, relatedDocumentSupport: true },
    publishDiagnostics: {
      relatedInformation: true,
      codeDescriptionSupport: true,
      dataSupport: true,
    },
    codeAction: {
      codeActionLiteralSupport: {
        codeActionKind: { valueSet: ['quickfix', 'refactor', 'source'] },
      },
      isPreferredSupport: true,
      dataSupport: true,
      resolveSupport: { properties: ['edit'] },
    },
  },
};

export class LanguageServer {
  /** Starts `command` and initialises it for the folder `root`; `options` are those of `spawn`. */
  static async start(command, root, options = {}) {
    const server = new LanguageServer(command, options);
    const began = performance.now();
    const uri = pathToFileURL(root).href;
    const result = await server.request('initialize', {
      processId: process.pid,
      rootUri: uri,
      workspaceFolders: [{ uri, name: path.basename(root) }],
      capabilities: CAPABILITIES,
      initializationOptions: { trusted: false, projectInterpreter: null, ownCommands: true },
    });
    server.info = result.serverInfo ?? { name: 'server' };
    server.capabilities = result.capabilities;
    await server.connection.sendNotification('initialized', {});
    server.startedInMs = performance.now() - began;
    return server;
  }

  constructor([program, ...args], options) {
    this.process = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    this.stderr = '';
    this.process.stderr.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.ended = new Promise((_, reject) => {
      this.process.on('error', reject);
      this.process.on('close', (code) => {
        reject(new Error(`the server ended with status ${code}\n${this.stderr}`));
      });
    });
    this.ended.catch(() => undefined);
    this.process.stdin.on('error', () => undefined);
    this.connection = rpc.createMessageConnection(
      new rpc.StreamMessageReader(this.process.stdout),
      new rpc.StreamMessageWriter(this.process.stdin),
    );
    this.connection.onRequest('workspace/configuration', ({ items }) => items.map(() => null));
    this.connection.onRequest(() => null);
    this.connection.onNotification(() => undefined);
    this.connection.onError(() => undefined);
    this.connection.listen();
  }

  /** Sends a request; rejects when the server ends before it answers. */
  request(method, params) {
    return Promise.race([this.connection.sendRequest(method, params), this.ended]);
  }

  /** Opens a file; the result is handed to the other calls. */
  async open(file) {
    const text = readFileSync(file, 'utf8');
    const uri = pathToFileURL(file).href;
    const document = { uri, languageId: 'python', version: 1, text };
    await this.connection.sendNotification('textDocument/didOpen', { textDocument: document });
    return { file, uri, text };
  }

  async diagnostics({ uri }) {
    const report = await this.request('textDocument/diagnostic', { textDocument: { uri } });
    return report.items;
  }

  /** The quick fixes of one finding, each with its edit. */
  async quickFixes({ uri }, diagnostic) {
    const actions = await this.request('textDocument/codeAction', {
      textDocument: { uri },
      range: diagnostic.range,
      context: { diagnostics: [diagnostic], only: ['quickfix'], triggerKind: 1 },
    });
    return Promise.all((actions ?? []).map((action) => this.resolve(action)));
  }

  async resolve(action) {
    return action.edit || action.data === undefined
      ? action
      : this.request('codeAction/resolve', action);
  }

  /** The Markdown that the server shows for a position. */
  async hover({ uri }, position) {
    const hover = await this.request('textDocument/hover', { textDocument: { uri }, position });
    return hover === null ? undefined : { text: hover.contents.value, range: hover.range };
  }

  async stop() {
    await this.request('shutdown');
    await this.connection.sendNotification('exit');
    this.connection.dispose();
  }
}
