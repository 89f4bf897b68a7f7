// A real VS Code server with its extension host, in a profile of its own that goes away with it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDER = fileURLToPath(
  new URL('../node_modules/code-server/lib/vscode/out/server-main.js', import.meta.url),
);

/** The editor's server and the Node that runs it, where another than the oldest is to be tested. */
const { DEVICE_LENS_EDITOR: MAIN = OLDER, DEVICE_LENS_EDITOR_NODE: NODE = process.execPath } =
  process.env;
const START_TIMEOUT_MS = 60_000;

/** No welcome page, no network, no entries of other features among the quick fixes. */
const QUIET = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'chat.disableAIFeatures': true,
  'chat.commandCenter.enabled': false,
  'window.commandCenter': false,
  'git.enabled': false,
  'editor.minimap.enabled': false,
  'editor.lightbulb.enabled': 'off',
  'editor.occurrencesHighlight': 'off',
  'workbench.activityBar.location': 'hidden',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.layoutControl.enabled': false,
  'workbench.colorTheme': 'Default Dark Modern',
  'breadcrumbs.enabled': false,
  'files.autoSave': 'off',
};

export class EditorServer {
  /**
   * Starts an editor with `extensions` (.vsix files), `settings` of the user and of the `machine`, files of the
   * `workspace` by name, and an `environment` that replaces the process's own. `trust` false: the workspace is untrusted.
   */
  static async start(options) {
    const server = new EditorServer(options);
    await server.run(options);
    return server;
  }

  constructor({ extensions, settings = {}, machine = {}, workspace = {}, trust = true }) {
    this.profile = mkdtempSync(path.join(tmpdir(), 'device-lens-editor-'));
    this.workspace = path.join(this.profile, 'project');
    mkdirSync(this.workspace);
    for (const [name, text] of Object.entries(workspace)) {
      this.write(name, text);
    }
    this.settings = { ...QUIET, 'security.workspace.trust.enabled': !trust, ...settings };
    this.writeSettings('Machine', machine);
    this.configure({});
    for (const extension of extensions) {
      this.command('--install-extension', extension, '--force');
    }
  }

  /** Changes settings of the user; the editor sees it at once. */
  configure(settings) {
    this.settings = { ...this.settings, ...settings };
    this.writeSettings('User', this.settings);
  }

  writeSettings(kind, values) {
    const folder = path.join(this.profile, 'data', kind);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(values));
  }

  /** A file of the workspace. */
  path(name) {
    return path.join(this.workspace, name);
  }

  write(name, text) {
    mkdirSync(path.dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  read(name) {
    return readFileSync(this.path(name), 'utf8');
  }

  get flags() {
    const at = (name) => path.join(this.profile, name);
    return [
      ...['--user-data-dir', at('data'), '--extensions-dir', at('extensions')],
      ...['--server-data-dir', at('server'), '--accept-server-license-terms'],
    ];
  }

  command(...args) {
    const result = spawnSync(NODE, [MAIN, ...this.flags, ...args], {
      encoding: 'utf8',
    });
    if (result.status !== 0) {
      throw new Error(`${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
    }
    return result.stdout;
  }

  async run({ environment = {}, trust = true }) {
    this.port = await freePort();
    const args = ['--host', '127.0.0.1', '--port', String(this.port), '--without-connection-token'];
    // The extension host would else take the variables of a login shell, whatever it is given here.
    args.push('--force-disable-user-env');
    const trusted = trust ? ['--disable-workspace-trust'] : [];
    // A group of its own, so that the file watcher and the language server end with it.
    this.process = spawn(NODE, [MAIN, ...this.flags, ...args, ...trusted], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TMPDIR: this.profile, ...environment },
    });
    this.output = '';
    await new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the editor did not start\n${this.output}`)),
        START_TIMEOUT_MS,
      );
      const read = (text) => {
        this.output += text;
        if (this.output.includes('Extension host agent started')) {
          clearTimeout(timer);
          resolve();
        }
      };
      this.process.stdout.setEncoding('utf8').on('data', read);
      this.process.stderr.setEncoding('utf8').on('data', read);
    });
  }

  /** The address that opens the workspace with `file`, at a line where one is given, which counts from 1. */
  address(file, line) {
    const at = line === undefined ? '' : `:${line}:1`;
    const target = `vscode-remote://127.0.0.1:${this.port}${this.path(file)}${at}`;
    // A place in a file is reached in a text editor alone: a notebook is opened without.
    const mode = line === undefined ? [] : [['gotoLineMode', 'true']];
    const payload = JSON.stringify([...mode, ['openFile', target]]);
    const query = new URLSearchParams({ folder: this.workspace, payload });
    return `http://127.0.0.1:${this.port}/?${query}`;
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once('close', resolve));
    process.kill(-this.process.pid, 'SIGTERM');
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
