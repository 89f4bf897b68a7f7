/**
 * The panel that shows what transfers cost: time against bytes, with those of the active file as points. The server
 * knows, the page draws; the panel follows the active editor.
 */
import { commands, Disposable, type TextEditor, type Uri, type WebviewPanel, window } from 'vscode';
import { Newest } from '../queue';
import type { Server } from '../server';
import { SECTION } from '../settings';
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
import type { Asked, Shown, TransferCurve } from './transferCurveModel';

/** The part of the server that the panel needs. */
export type CurveServer = Pick<
  Server,
  'running' | 'starting' | 'onDidChangeRunning' | 'onDidAnalyse' | 'onDidMeasure'
>;

const VIEW_TYPE = `${SECTION}.transferCurve`;

const LOADING = 'The costs of transfers are being looked up…';
const FAILED = 'The curve could not be made. The log of Device Lens says why.';

export class TransferCurvePanel implements Disposable {
  private panel: Panel<Shown, Asked> | undefined;
  /** The document whose transfers are shown. */
  private target: Target | undefined;
  private readonly asking = new Newest();
  private readonly subscriptions: Disposable;

  constructor(
    private readonly extensionUri: Uri,
    private readonly server: CurveServer,
  ) {
    this.subscriptions = Disposable.from(
      window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
      window.registerWebviewPanelSerializer(VIEW_TYPE, {
        deserializeWebviewPanel: async (panel, memory) => this.restore(panel, memory),
      }),
      server.onDidChangeRunning(() => void this.refresh()),
      server.onDidMeasure(() => void this.refresh()),
      server.onDidAnalyse((uris) => {
        if (this.target !== undefined && uris.includes(this.target.id)) {
          void this.refresh();
        }
      }),
    );
  }

  /** Shows the curves, with the transfers of the active document if that is Python: the command. */
  async show(): Promise<void> {
    this.aim(window.activeTextEditor);
    if (this.panel === undefined) {
      this.open();
      return;
    }
    this.panel.reveal();
    await this.refresh();
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.panel?.dispose();
  }

  private open(restored?: WebviewPanel): void {
    const kind: PanelKind<Asked> = {
      viewType: VIEW_TYPE,
      bundle: 'transferCurve',
      title: 'Transfer curve',
      onReady: () => this.refresh(),
      onAsk: (asked) => this.answer(asked),
      onClose: () => {
        this.panel = undefined;
        this.target = undefined;
      },
      memory: () => memoryOf(this.target),
    };
    this.panel = new Panel(this.extensionUri, kind, restored);
    this.panel.show({ message: this.server.starting ? STARTING : LOADING });
  }

  /** Fills the panel of a reloaded window again; closes it where another is open by now. */
  private restore(panel: WebviewPanel, memory: unknown): void {
    if (this.panel !== undefined) {
      panel.dispose();
      return;
    }
    this.target = targetIn(memory);
    this.aim(window.activeTextEditor);
    this.open(panel);
  }

  /** Another Python document is active: the picture is about that from now on. */
  private follow(editor: TextEditor | undefined): void {
    const before = this.target?.id;
    if (this.panel !== undefined && this.aim(editor) !== before) {
      void this.refresh();
    }
  }

  private aim(editor: TextEditor | undefined): string | undefined {
    if (editor?.document.languageId === 'python') {
      const { uri } = editor.document;
      this.target = { uri, id: uri.toString(), column: editor.viewColumn };
    }
    return this.target?.id;
  }

  private async answer(asked: Asked): Promise<void> {
    const client = this.server.running;
    if ('calibrate' in asked) {
      await commands.executeCommand(`${SECTION}.calibrate`);
    } else if (client !== undefined) {
      await reveal(client, asked.reveal, this.target?.column);
    }
  }

  /** Asks for the picture anew. An answer that another question overtook is not shown. */
  private async refresh(): Promise<void> {
    if (this.panel?.visible !== true) {
      return;
    }
    const shown = await this.asking.answer(() => this.ask());
    if (shown !== undefined) {
      this.panel?.show(shown);
    }
  }

  private async ask(): Promise<Shown | undefined> {
    const client = this.server.running;
    if (client === undefined) {
      return { message: this.server.starting ? STARTING : NOT_RUNNING };
    }
    if (this.target !== undefined && !(await opened(this.target.uri))) {
      this.target = undefined; // the machine alone is left to be shown
    }
    const uri =
      this.target === undefined ? null : client.code2ProtocolConverter.asUri(this.target.uri);
    if (this.target !== undefined && uri !== null) {
      this.target = { ...this.target, id: uri };
    }
    try {
      const method = `${SECTION}/transferCurve`;
      const curve = await client.sendRequest<TransferCurve | null>(method, { uri });
      return curve === null ? { message: FAILED } : { curve, file: this.file };
    } catch (error) {
      return isStale(error) ? undefined : { message: FAILED };
    }
  }

  /** The name of the file that the transfers are of. */
  private get file(): string {
    const path = this.target?.uri.path ?? '';
    return path.slice(path.lastIndexOf('/') + 1);
  }
}
