/** The panel with the device map of one document. The server makes the map, the page draws it. */
import { Disposable, type Uri, type WebviewPanel, window } from 'vscode';
import { Newest } from '../queue';
import type { Server } from '../server';
import type { Asked, DeviceMap, Shown } from './deviceMapModel';
import { Panel, type PanelKind } from './host';
import {
  isStale,
  memoryOf,
  NOT_RUNNING,
  opened,
  reveal,
  STARTING,
  type Target,
  targetIn,
} from './places';

/** The part of the server that the panel needs. */
export type MapServer = Pick<
  Server,
  'running' | 'starting' | 'onDidChangeRunning' | 'onDidAnalyse'
>;

const VIEW_TYPE = 'deviceLens.deviceMap';

const NOT_PYTHON = 'Open a Python file or a notebook to see its device map.';
const GONE = 'The file is not there any more.';
const ANALYSING = 'The file is being analysed…';
const FAILED = 'The map could not be made. The log of Device Lens says why.';

export class DeviceMapPanel implements Disposable {
  private panel: Panel<Shown, Asked> | undefined;
  private target: Target | undefined;
  private part: string | null = null;
  private readonly asking = new Newest();
  private readonly subscriptions: Disposable;

  constructor(
    private readonly extensionUri: Uri,
    private readonly server: MapServer,
  ) {
    const refresh = () => {
      if (this.panel?.visible) {
        void this.refresh();
      }
    };
    this.subscriptions = Disposable.from(
      window.registerWebviewPanelSerializer(VIEW_TYPE, {
        deserializeWebviewPanel: (panel, memory) => this.restore(panel, memory),
      }),
      server.onDidChangeRunning(refresh),
      server.onDidAnalyse((uris) => {
        if (this.target !== undefined && uris.includes(this.target.id)) {
          refresh();
        }
      }),
    );
  }

  /** Shows the map of the active document: the command. */
  async show(): Promise<void> {
    const active = activeDocument();
    if (active === undefined) {
      void window.showInformationMessage(NOT_PYTHON);
      return;
    }
    const { uri, column } = active;
    if (this.target?.id !== uri.toString()) {
      this.part = null;
      this.panel?.show({ message: ANALYSING });
    }
    this.target = { uri, id: uri.toString(), column };
    const title = `Device map: ${uri.path.slice(uri.path.lastIndexOf('/') + 1)}`;
    if (this.panel === undefined) {
      this.open(title);
      return;
    }
    this.panel.title = title;
    this.panel.reveal();
    await this.refresh();
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.panel?.dispose();
  }

  private open(title: string, restored?: WebviewPanel): void {
    const kind: PanelKind<Asked> = {
      viewType: VIEW_TYPE,
      bundle: 'deviceMap',
      title,
      onReady: () => this.refresh(),
      onAsk: (asked) => this.answer(asked),
      onClose: () => {
        this.panel = undefined;
        this.target = undefined;
      },
      memory: () => ({ ...memoryOf(this.target), part: this.part }),
    };
    this.panel = new Panel(this.extensionUri, kind, restored);
    this.panel.show({ message: this.server.starting ? STARTING : ANALYSING });
  }

  /** Fills the panel of a reloaded window again; closes it where its file is gone, or another map is open by now. */
  private async restore(panel: WebviewPanel, memory: unknown): Promise<void> {
    const target = targetIn(memory);
    if (target === undefined || !(await opened(target.uri)) || this.panel !== undefined) {
      panel.dispose();
      return;
    }
    this.target = target;
    const { part } = memory as { part?: unknown };
    this.part = typeof part === 'string' ? part : null;
    this.open(panel.title, panel);
  }

  private async answer(asked: Asked): Promise<void> {
    const client = this.server.running;
    if ('part' in asked) {
      this.part = asked.part;
      await this.refresh();
    } else if (client !== undefined) {
      await reveal(client, asked.reveal, this.target?.column);
    }
  }

  /** Asks for the map anew. An answer that another question overtook is not shown. */
  private async refresh(): Promise<void> {
    const shown = await this.asking.answer(() => this.ask());
    if (shown !== undefined) {
      this.panel?.show(shown);
    }
  }

  private async ask(): Promise<Shown | undefined> {
    const client = this.server.running;
    if (client === undefined || this.target === undefined) {
      return { message: this.server.starting ? STARTING : NOT_RUNNING };
    }
    if (!(await opened(this.target.uri))) {
      return { message: GONE };
    }
    const textDocument = { uri: client.code2ProtocolConverter.asUri(this.target.uri) };
    this.target = { ...this.target, id: textDocument.uri };
    try {
      const params = { textDocument, part: this.part };
      const map = await client.sendRequest<DeviceMap | null>('deviceLens/deviceMap', params);
      if (map === null) {
        return { message: FAILED };
      }
      // While the user types, the part stays the one that is shown.
      this.part = map.part ?? this.part;
      return { map };
    } catch (error) {
      return isStale(error) ? undefined : { message: FAILED };
    }
  }
}

/** The Python document that is being edited; of a notebook without a focused cell, its first. */
function activeDocument(): Pick<Target, 'uri' | 'column'> | undefined {
  const editor = window.activeTextEditor;
  if (editor?.document.languageId === 'python') {
    return { uri: editor.document.uri, column: editor.viewColumn };
  }
  const book = window.activeNotebookEditor;
  const cell = book?.notebook.getCells().find(({ document }) => document.languageId === 'python');
  return cell && { uri: cell.document.uri, column: book?.viewColumn };
}
