/** Starts, stops and restarts the language server, one thing at a time, and tells when it cannot run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  commands,
  type Disposable,
  EventEmitter,
  type ExtensionContext,
  type LogOutputChannel,
  window,
  workspace,
} from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
} from 'vscode-languageclient/node';
import { CrashPolicy } from './crashes';
import { pullOptions } from './diagnostics';
import { PYTHON_DOCUMENTS } from './documents';
import type { Interpreters } from './interpreters';
import { levelOf, type ProcessEnd, StderrTail, whyItEnded } from './logging';
import { explainNothingFound } from './python';
import { Newest, SingleFlight } from './queue';
import { type Launch, locateServer, resolveServer } from './resolve';
import { SECTION } from './settings';
import { type FailureCause, parseStatus, type StatusItem } from './status';

/** How long the server may take to answer `initialize`, in milliseconds. */
const START_TIMEOUT_MS = 60_000;

/** How long to wait for a process whose output has ended, in milliseconds. */
const END_TIMEOUT_MS = 1_000;

/** The commands that a link in a hover may run. */
const LINKED_COMMANDS = ['deviceLens.openRule', 'deviceLens.measure'] as const;

/** Why the server is not running, in words for the user. */
class CannotStart extends Error {
  constructor(
    message: string,
    readonly failure: FailureCause,
  ) {
    super(message);
  }
}

interface Environment {
  readonly trusted: boolean;
  readonly projectInterpreter: readonly string[] | null;
}

export class Server implements Disposable {
  private readonly queue = new SingleFlight(() => this.cycle());
  private readonly refreshing = new Newest();
  private readonly crashes = new CrashPolicy();
  private client: LanguageClient | undefined;
  private launched: Launch | undefined;
  private told: Environment | undefined;
  private disposed = false;
  /** The details that were logged last: each keystroke tells the same of them. */
  private reported: string | undefined;
  private readonly changed = new EventEmitter<void>();
  /** A server runs that did not before, or the attempt to start one has failed. */
  readonly onDidChangeRunning = this.changed.event;
  private readonly analysed = new EventEmitter<readonly string[]>();
  /** Something else is known of documents: their URIs, as the server has them. */
  readonly onDidAnalyse = this.analysed.event;
  private readonly measured = new EventEmitter<void>();
  /** Costs of transfers are others now, or a calibration began or ended. */
  readonly onDidMeasure = this.measured.event;

  constructor(
    private readonly context: ExtensionContext,
    private readonly log: LogOutputChannel,
    private readonly status: StatusItem,
    private readonly interpreters: Interpreters,
  ) {}

  /** The client of the running server. */
  get running(): LanguageClient | undefined {
    return this.client?.isRunning() ? this.client : undefined;
  }

  /** Whether a server is on its way. */
  get starting(): boolean {
    return this.running === undefined && this.status.status.state === 'starting';
  }

  /** What the server was told last of the project's interpreter. */
  get projectInterpreter(): readonly string[] | null {
    return this.told?.projectInterpreter ?? null;
  }

  /** The command line of the server that was started last. */
  get launch(): Launch | undefined {
    return this.launched;
  }

  /** Starts the server anew, whatever went before. Never rejects: the status tells what went wrong. */
  restart(): Promise<void> {
    this.crashes.forget();
    return this.queue.request();
  }

  /** Tells the running server of another project interpreter or trust; starts one where none runs. */
  async refreshEnvironment(): Promise<void> {
    const client = this.running;
    if (client === undefined) {
      await this.queue.request();
      return;
    }
    const environment = await this.refreshing.answer(() => this.environment());
    // A server that was started meanwhile was told at its start.
    if (environment === undefined || client !== this.running) {
      return;
    }
    if (JSON.stringify(environment) !== JSON.stringify(this.told)) {
      this.told = environment;
      this.log.info(`Project interpreter: ${environment.projectInterpreter?.join(' ') ?? 'none'}`);
      await client.sendNotification('deviceLens/environment', environment);
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.offerCommands(false);
    await client?.dispose(2_000).catch((error: unknown) => {
      this.log.warn(`The server did not stop by itself: ${error}`);
    });
  }

  dispose(): Promise<void> {
    this.disposed = true;
    this.changed.dispose();
    this.analysed.dispose();
    this.measured.dispose();
    return this.stop();
  }

  private async cycle(): Promise<void> {
    await this.stop();
    if (this.disposed) {
      return;
    }
    this.status.show({ state: 'starting' });
    try {
      await this.start();
    } catch (error) {
      this.client = undefined;
      const failure = error instanceof CannotStart ? error.failure : 'other';
      this.fail(error instanceof Error ? error.message : String(error), failure);
    }
  }

  private async start(): Promise<void> {
    const launch = await this.resolve();
    this.launched = launch;
    const environment = await this.environment();
    this.told = environment;
    this.log.info(`Starting ${[launch.command, ...launch.args].join(' ')}`);
    const process = new ServerProcess(launch, this.log);
    const options = this.clientOptions(environment, process);
    const client = new LanguageClient(SECTION, 'Device Lens', () => process.spawn(), options);
    client.onNotification('deviceLens/status', (params) => this.onStatus(client, params));
    client.onNotification('deviceLens/analysed', ({ uris }: { uris: string[] }) =>
      this.analysed.fire(uris),
    );
    client.onNotification('deviceLens/measured', () => this.measured.fire());
    const began = Date.now();
    this.client = client;
    await process.guardStart(client.start());
    this.crashes.started();
    this.offerCommands(true);
    const info = client.initializeResult?.serverInfo;
    const name = `${info?.name ?? 'Server'} ${info?.version ?? ''}`.trim();
    this.log.info(`${name} is ready after ${Date.now() - began} ms.`);
    if (this.status.status.state === 'starting') {
      this.status.show({ state: 'ready' });
    }
    this.changed.fire();
  }

  private async resolve(): Promise<Launch> {
    const { extensionPath } = this.context;
    const installation = locateServer(extensionPath, existsSync);
    if (installation.kind === 'missing') {
      const hint = 'In a checkout, run `npm start` once.';
      throw new CannotStart(`The server is not in ${extensionPath}. ${hint}`, 'other');
    }
    if (installation.kind === 'checkout') {
      return resolveServer(installation, [], extensionPath);
    }
    const { found, rejected } = await this.interpreters.forServer();
    for (const { command, reason } of rejected) {
      this.log.info(`Not used: ${command.join(' ')} ${reason}`);
    }
    if (found === undefined) {
      throw new CannotStart(explainNothingFound(rejected), 'no-interpreter');
    }
    this.log.info(`Python ${found.version.join('.')} at ${found.executable}, from ${found.origin}`);
    return resolveServer(installation, found.command, extensionPath);
  }

  private async environment(): Promise<Environment> {
    const project = await this.interpreters.forProject();
    return { trusted: workspace.isTrusted, projectInterpreter: project?.command ?? null };
  }

  private clientOptions(environment: Environment, process: ServerProcess): LanguageClientOptions {
    return {
      documentSelector: PYTHON_DOCUMENTS,
      outputChannel: this.log,
      traceOutputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: { ...environment, ownCommands: true },
      initializationFailedHandler: () => false,
      markdown: { isTrusted: { enabledCommands: LINKED_COMMANDS }, supportThemeIcons: true },
      diagnosticPullOptions: pullOptions(),
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          void this.onClosed(process);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  /** The commands that the server runs are in the palette while it does. */
  private offerCommands(running: boolean): void {
    void commands.executeCommand('setContext', `${SECTION}.running`, running);
  }

  private onStatus(client: LanguageClient, params: unknown): void {
    const status = parseStatus(params);
    if (status !== undefined && client === this.client) {
      this.status.show(status);
      if (status.details !== undefined && status.details !== this.reported) {
        this.reported = status.details;
        this.log.info(`${status.message}: ${status.details}`);
      }
    }
  }

  private async onClosed(process: ServerProcess): Promise<void> {
    // A server that ends before it answered `initialize` is reported by `cycle`.
    if (!process.ready || this.disposed) {
      return;
    }
    this.client = undefined;
    this.offerCommands(false);
    const again = this.crashes.shouldRestart();
    const reason = await process.whyItEnded();
    if (again) {
      this.log.error(`The server ended unexpectedly (${reason}) and is started again.`);
      void this.queue.request();
      return;
    }
    this.fail(`The server ended unexpectedly: ${reason}`, 'crash');
  }

  /** One message, with a way on; the status item keeps saying it. */
  private fail(message: string, cause: FailureCause): void {
    this.log.error(message);
    const summary = message.split('\n')[0] ?? message;
    this.status.show({ state: 'failed', message: summary }, cause);
    this.changed.fire();
    const actions =
      cause === 'no-interpreter' ? ['Choose a Python', 'Show Logs'] : ['Restart', 'Show Logs'];
    void window.showErrorMessage(`Device Lens: ${summary}`, ...actions).then((chosen) => {
      switch (chosen) {
        case 'Show Logs':
          return this.log.show();
        case 'Restart':
          return this.restart();
        case 'Choose a Python':
          return commands.executeCommand(`${SECTION}.chooseInterpreter`);
        default:
          return undefined;
      }
    });
  }
}

/** One process of the server, with what is needed to say why it ended. */
class ServerProcess {
  private child: ChildProcess | undefined;
  private ended: Promise<ProcessEnd> | undefined;
  private readonly tail = new StderrTail();
  /** The server answered `initialize`. */
  ready = false;

  constructor(
    private readonly launch: Launch,
    private readonly log: LogOutputChannel,
  ) {}

  async spawn(): Promise<ChildProcess> {
    const { command, args, cwd } = this.launch;
    const child = spawn(command, args, { cwd, stdio: 'pipe', windowsHide: true });
    this.child = child;
    child.on('error', (error) => this.tail.push(error.message));
    this.ended = new Promise((resolve) => {
      child.on('exit', (code, signal) => resolve({ code, signal }));
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.tail.push(line);
      this.log[levelOf(line)](`[server] ${line}`);
    });
    return child;
  }

  /** Waits for the start, and ends the process when it takes too long: the client alone would wait for ever. */
  async guardStart(start: Promise<void>): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.child?.kill();
    }, START_TIMEOUT_MS);
    try {
      await start;
      this.ready = true;
    } catch (error) {
      const reason = late
        ? `no answer in ${START_TIMEOUT_MS / 1000} s`
        : await this.whyItEnded(error instanceof Error ? error.message : undefined);
      throw new CannotStart(`The server did not start: ${reason}`, 'other');
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for the end of the process, which comes a moment after that of its output. */
  async whyItEnded(otherwise?: string): Promise<string> {
    const end = await Promise.race([this.ended, sleep(END_TIMEOUT_MS)]);
    const unknown = otherwise ?? 'it does not answer';
    return end === undefined ? (this.tail.lastLine() ?? unknown) : whyItEnded(end, this.tail);
  }
}
