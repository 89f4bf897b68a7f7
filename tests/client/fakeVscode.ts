/** The part of the editor's API that the tested modules touch, with memory instead of an editor. */
export enum LanguageStatusSeverity {
  Information,
  Warning,
  Error,
}

export enum ConfigurationTarget {
  Global = 1,
  Workspace = 2,
  WorkspaceFolder = 3,
}

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of this.listeners) {
      listener(value);
    }
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export const installedExtensions = new Map<string, unknown>();
export const extensions = { getExtension: (id: string) => installedExtensions.get(id) };

export const registered = new Map<string, (...args: unknown[]) => unknown>();
export const executed: unknown[][] = [];
/** What commands of the server give, by name. */
export const answers = new Map<unknown, unknown>();
export const commands = {
  registerCommand(name: string, run: (...args: unknown[]) => unknown) {
    registered.set(name, run);
    return { dispose: () => registered.delete(name) };
  },
  executeCommand: async (...call: unknown[]) => {
    executed.push(call);
    return answers.get(call[0]);
  },
};

export const Disposable = {
  from: (...all: { dispose(): unknown }[]) => ({
    dispose() {
      for (const each of all) {
        each.dispose();
      }
    },
  }),
};

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  constructor(
    readonly startLine: number,
    readonly startCharacter: number,
    readonly endLine: number,
    readonly endCharacter: number,
  ) {}
}

export class Selection {
  constructor(
    readonly anchor: Position,
    readonly active: Position,
  ) {}
}

export enum ProgressLocation {
  Window = 10,
}

export enum ViewColumn {
  Beside = -2,
  One = 1,
}

/** A panel whose page is the test: it reads what was posted, and says things itself. */
export class FakePanel {
  readonly posted: unknown[] = [];
  readonly said = new EventEmitter<unknown>();
  readonly viewState = new EventEmitter<unknown>();
  readonly closed = new EventEmitter<undefined>();
  readonly webview = {
    html: '',
    options: {} as unknown,
    cspSource: 'https://editor',
    onDidReceiveMessage: this.said.event,
    asWebviewUri: (uri: unknown) => uri,
    postMessage: async (message: unknown) => this.posted.push(message),
  };
  readonly onDidChangeViewState = this.viewState.event;
  readonly onDidDispose = this.closed.event;
  visible = true;
  viewColumn = ViewColumn.One;
  revealed = 0;
  constructor(
    readonly viewType: string,
    public title: string,
    readonly options: { enableScripts: boolean; localResourceRoots: unknown[] },
  ) {}
  reveal() {
    this.revealed += 1;
  }
  dispose() {
    this.closed.fire(undefined);
  }
}

export const panels: FakePanel[] = [];

interface Serializer {
  deserializeWebviewPanel(panel: unknown, memory: unknown): Promise<void>;
}

/** Who fills the panels of a reloaded window again, by their type. */
export const serializers = new Map<string, Serializer>();
export const messages: string[] = [];
export const activeEditors = new EventEmitter<unknown>();
export const window = {
  activeTextEditor: undefined as unknown,
  activeNotebookEditor: undefined as unknown,
  visibleTextEditors: [] as unknown[],
  onDidChangeActiveTextEditor: activeEditors.event,
  withProgress: async <T>(_options: unknown, run: () => Promise<T>) => run(),
  showInformationMessage: async (text: string) => void messages.push(text),
  registerWebviewPanelSerializer(viewType: string, serializer: Serializer) {
    serializers.set(viewType, serializer);
    return { dispose: () => serializers.delete(viewType) };
  },
  createWebviewPanel(
    viewType: string,
    title: string,
    _column: ViewColumn,
    options: FakePanel['options'],
  ) {
    const panel = new FakePanel(viewType, title, options);
    panels.push(panel);
    return panel;
  },
};

/** Values by full key, per target; the defaults are what the manifest says. */
export const settings = {
  defaults: new Map<string, unknown>(),
  [ConfigurationTarget.Global]: new Map<string, unknown>(),
  [ConfigurationTarget.Workspace]: new Map<string, unknown>(),
};

/** The files that are not there, by their address. */
export const missing = new Set<string>();

/** What was put into texts. */
export const applied: unknown[] = [];

export const workspace = {
  applyEdit: async (edit: unknown) => applied.push(edit) > 0,
  textDocuments: [],
  openTextDocument: async (uri: object) => {
    if (missing.has(uri.toString())) {
      throw new Error('no such file');
    }
    return { uri };
  },
  isTrusted: true,
  workspaceFolders: undefined,
  getConfiguration(section: string) {
    const full = (key: string) => `${section}.${key}`;
    const global = settings[ConfigurationTarget.Global];
    const local = settings[ConfigurationTarget.Workspace];
    return {
      get: (key: string) =>
        local.get(full(key)) ?? global.get(full(key)) ?? settings.defaults.get(full(key)),
      inspect: (key: string) => ({
        globalValue: global.get(full(key)),
        workspaceValue: local.get(full(key)),
      }),
      update: async (key: string, value: unknown, target: 1 | 2) =>
        void settings[target].set(full(key), value),
    };
  },
};

export const languages = { createLanguageStatusItem: () => ({ dispose: () => undefined }) };

export const Uri = {
  parse: (text: string) => ({
    scheme: text.split(':')[0],
    path: text.replace(/^\w+:(\/\/)?/, ''),
    toString: () => text,
  }),
  joinPath: (base: object, ...names: string[]) => Uri.parse([base.toString(), ...names].join('/')),
};

export const env = { appName: 'Test', remoteName: undefined };
export const version = '1.0.0';
