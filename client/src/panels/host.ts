/**
 * A webview panel with one page: its script and style come from `dist/webviews`, nothing else can be loaded or run in it.
 *
 * The page is told what to show and keeps nothing: when the editor throws a hidden page away and loads it again, it
 * says `ready` and gets the same once more. Themes need no word either, since pages are drawn with the editor's CSS
 * variables. What the panel is about lies with the editor as the page's state, so that a reloaded window has it again.
 */
import { randomBytes } from 'node:crypto';
import { type Disposable, Uri, ViewColumn, type Webview, type WebviewPanel, window } from 'vscode';
import type { Said, Show } from './protocol';

export interface PanelKind<Asked> {
  /** The name of the panel's type in the editor, such as `deviceLens.deviceMap`. */
  readonly viewType: string;
  /** The name of its bundle: `dist/webviews/NAME.js` and `NAME.css`. */
  readonly bundle: string;
  readonly title: string;
  /** The page is there, for the first time or again: the time to bring up to date what it shows. */
  readonly onReady: () => unknown;
  /** What the user asked for on the page. */
  readonly onAsk: (asked: Asked) => unknown;
  /** The panel was closed, by whomever. */
  readonly onClose: () => unknown;
  /** What the panel is about, in a few words: `restored` gets them back. */
  readonly memory: () => unknown;
}

export class Panel<Shown, Asked> implements Disposable {
  private readonly panel: WebviewPanel;
  private shown: Shown | undefined;
  private ready = false;

  /** `restored`: the panel that the editor has kept over a reload of the window, to be filled again. */
  constructor(
    extensionUri: Uri,
    private readonly kind: PanelKind<Asked>,
    restored?: WebviewPanel,
  ) {
    const bundles = Uri.joinPath(extensionUri, 'dist', 'webviews');
    const options = { enableScripts: true, localResourceRoots: [bundles] };
    this.panel =
      restored ?? window.createWebviewPanel(kind.viewType, kind.title, ViewColumn.Beside, options);
    this.panel.webview.options = options;
    this.panel.webview.onDidReceiveMessage((said: Said<Asked>) => {
      if (said.type === 'ready') {
        this.ready = true;
        this.post();
        kind.onReady();
      } else {
        kind.onAsk(said.asked);
      }
    });
    this.panel.onDidChangeViewState(() => {
      // A hidden page is gone; it says so itself when it is there again.
      this.ready = this.ready && this.panel.visible;
    });
    this.panel.onDidDispose(kind.onClose);
    this.panel.webview.html = pageOf(this.panel.webview, bundles, kind.bundle);
  }

  /** Shows this from now on, as soon as the page is there. */
  show(shown: Shown): void {
    this.shown = shown;
    this.post();
  }

  set title(title: string) {
    this.panel.title = title;
  }

  get visible(): boolean {
    return this.panel.visible;
  }

  /** Brings the panel to the front, where it is. */
  reveal(): void {
    this.panel.reveal(undefined, false);
  }

  dispose(): void {
    this.panel.dispose();
  }

  private post(): void {
    if (this.ready && this.shown !== undefined) {
      const show: Show<Shown> = { type: 'show', shown: this.shown, memory: this.kind.memory() };
      void this.panel.webview.postMessage(show);
    }
  }
}

function pageOf(webview: Webview, bundles: Uri, bundle: string): string {
  const nonce = randomBytes(16).toString('base64');
  const at = (name: string) => webview.asWebviewUri(Uri.joinPath(bundles, name)).toString();
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${at(`${bundle}.css`)}">
</head>
<body>
<main id="root"></main>
<script nonce="${nonce}" src="${at(`${bundle}.js`)}"></script>
</body>
</html>`;
}
