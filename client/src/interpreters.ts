/** Puts the providers of interpreters in their order, for the server and for the project. */
import { type Disposable, EventEmitter, type LogOutputChannel, workspace } from 'vscode';
import {
  ExtensionProvider,
  PYTHON_ENVIRONMENTS,
  PYTHON_EXTENSION,
  SettingProvider,
  type WatchedProvider,
} from './environments';
import {
  type Candidate,
  type EnvironmentProvider,
  FolderProvider,
  findProjectPython,
  findServerPython,
  PathProvider,
  type Search,
} from './python';
import { type ClientSettings, readSettings, SECTION, variablesFor } from './settings';

export class Interpreters implements Disposable {
  private readonly changed = new EventEmitter<void>();
  /** Another environment was selected in some extension. */
  readonly onDidChange = this.changed.event;
  private readonly extensions: readonly WatchedProvider[];

  constructor(log: LogOutputChannel) {
    const scope = () => workspace.workspaceFolders?.[0]?.uri;
    this.extensions = [PYTHON_ENVIRONMENTS, PYTHON_EXTENSION].map(
      (dialect) => new ExtensionProvider(dialect, scope, log),
    );
    for (const provider of this.extensions) {
      provider.onDidChange(() => this.changed.fire());
    }
  }

  forServer(): Promise<Search> {
    const setting = currentSettings().interpreter;
    if (setting.length > 0) {
      // A wrong setting is told to the user: another Python in its place would hide the mistake.
      return findServerPython([new SettingProvider(`${SECTION}.interpreter`, () => setting)]);
    }
    return findServerPython([...this.trusted(), new PathProvider()]);
  }

  /** The project's Python; none in an untrusted workspace, where nothing of the project may run. */
  async forProject(): Promise<Candidate | undefined> {
    if (!workspace.isTrusted) {
      return undefined;
    }
    const folders = workspace.workspaceFolders?.map((folder) => folder.uri.fsPath) ?? [];
    return findProjectPython([
      new SettingProvider(
        `${SECTION}.projectInterpreter`,
        () => currentSettings().projectInterpreter,
      ),
      ...this.trusted(),
      new FolderProvider(folders),
      new PathProvider(),
    ]);
  }

  /** An environment that an extension names may lie in the workspace, and then it may be anything. */
  private trusted(): readonly EnvironmentProvider[] {
    return workspace.isTrusted ? this.extensions : [];
  }

  dispose(): void {
    for (const provider of this.extensions) {
      provider.dispose();
    }
    this.changed.dispose();
  }
}

function currentSettings(): ClientSettings {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  return readSettings(workspace.getConfiguration(SECTION, folder), variablesFor(folder?.fsPath));
}
