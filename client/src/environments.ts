/**
 * What the editor and its extensions know of interpreters.
 *
 * The Python Environments and the Python extension are asked softly: they may be missing, disabled, slow to start or
 * broken, and none of that may keep this extension from working.
 */
import {
  type Disposable,
  type Event,
  EventEmitter,
  type Extension,
  extensions,
  type LogOutputChannel,
  type Uri,
} from 'vscode';
import type { Candidate, EnvironmentProvider } from './python';

/** How long another extension may take to start or to answer, in milliseconds. */
const PATIENCE_MS = 5_000;

/** A provider that also tells when its answer may have changed. */
export interface WatchedProvider extends EnvironmentProvider, Disposable {
  readonly onDidChange: Event<void>;
}

/** A setting that names a command line. */
export class SettingProvider implements EnvironmentProvider {
  constructor(
    readonly name: string,
    private readonly command: () => readonly string[],
  ) {}

  async candidates(): Promise<readonly Candidate[]> {
    const command = this.command();
    return command.length === 0 ? [] : [{ command, origin: `the setting ${this.name}` }];
  }
}

/** How one extension answers two questions; the shapes are those of its public interface. */
interface Dialect {
  readonly extensionId: string;
  readonly name: string;
  active(api: unknown, scope: Uri | undefined): Promise<readonly string[] | undefined>;
  onChange(api: unknown): Event<unknown> | undefined;
}

/** `ms-python.vscode-python-envs`. It exports nothing where its use is switched off. */
export const PYTHON_ENVIRONMENTS: Dialect = {
  extensionId: 'ms-python.vscode-python-envs',
  name: 'Python Environments',
  async active(api, scope) {
    const run = (await (api as EnvironmentsApi).getEnvironment?.(scope))?.execInfo?.run;
    return run?.executable ? [run.executable, ...(run.args ?? [])] : undefined;
  },
  onChange: (api) => (api as EnvironmentsApi).onDidChangeEnvironment,
};

interface EnvironmentsApi {
  getEnvironment?(
    scope: Uri | undefined,
  ): Promise<{ execInfo?: { run?: { executable?: string; args?: string[] } } } | undefined>;
  onDidChangeEnvironment?: Event<unknown>;
}

/** `ms-python.python`. A Conda environment without a Python in it has no executable. */
export const PYTHON_EXTENSION: Dialect = {
  extensionId: 'ms-python.python',
  name: 'the Python extension',
  async active(api, scope) {
    const { environments } = api as PythonApi;
    const path = environments?.getActiveEnvironmentPath?.(scope);
    const resolved = path && (await environments?.resolveEnvironment?.(path));
    const executable = resolved?.executable?.uri?.fsPath;
    return executable ? [executable] : undefined;
  },
  onChange: (api) => (api as PythonApi).environments?.onDidChangeActiveEnvironmentPath,
};

interface PythonApi {
  environments?: {
    getActiveEnvironmentPath?(scope: Uri | undefined): { path: string } | undefined;
    resolveEnvironment?(path: {
      path: string;
    }): Promise<{ executable?: { uri?: Uri | undefined } } | undefined>;
    onDidChangeActiveEnvironmentPath?: Event<unknown>;
  };
}

/** Asks one extension for the environment that is selected in it. */
export class ExtensionProvider implements WatchedProvider {
  readonly name: string;
  private readonly changed = new EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private subscription: Disposable | undefined;
  private watched: unknown;

  constructor(
    private readonly dialect: Dialect,
    private readonly scope: () => Uri | undefined,
    private readonly log: LogOutputChannel,
  ) {
    this.name = dialect.name;
  }

  async candidates(): Promise<readonly Candidate[]> {
    const extension = extensions.getExtension(this.dialect.extensionId);
    if (extension === undefined) {
      return [];
    }
    try {
      const command = await withPatience(this.ask(extension));
      return command === undefined ? [] : [{ command, origin: this.name }];
    } catch (error) {
      this.log.warn(`${this.name} could not be asked: ${error}`);
      return [];
    }
  }

  private async ask(extension: Extension<unknown>): Promise<readonly string[] | undefined> {
    const api = extension.isActive ? extension.exports : await extension.activate();
    if (api === undefined || api === null) {
      return undefined;
    }
    this.watch(api);
    return this.dialect.active(api, this.scope());
  }

  private watch(api: unknown): void {
    if (api !== this.watched) {
      this.watched = api;
      this.subscription?.dispose();
      this.subscription = this.dialect.onChange(api)?.(() => this.changed.fire());
    }
  }

  dispose(): void {
    this.subscription?.dispose();
    this.changed.dispose();
  }
}

function withPatience<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer in ${PATIENCE_MS / 1000} s`)),
      PATIENCE_MS,
    );
  });
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
}
