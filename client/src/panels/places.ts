/** What panels have in common that show something of a document. */
import { commands, type Uri, ViewColumn, window } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

/** A place as the server names it. */
export interface Place {
  readonly uri: string;
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
}

/** The document that a panel is about. */
export interface Target {
  readonly uri: Uri;
  /** The document as the server knows it. */
  readonly id: string;
  /** Where it was when the panel turned to it. */
  readonly column: ViewColumn | undefined;
}

/** `ContentModified` of the language server protocol: the text changed, and news will follow. */
const CONTENT_MODIFIED = -32801;

/** Whether a question was overtaken by a change of the text. */
export function isStale(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === CONTENT_MODIFIED;
}

/** Goes to a place in the text: where that is visible, else in `column`. */
export async function reveal(
  client: Pick<LanguageClient, 'protocol2CodeConverter'>,
  { uri, range }: Place,
  column: ViewColumn | undefined,
): Promise<void> {
  const found = client.protocol2CodeConverter.asUri(uri);
  const visible = window.visibleTextEditors.find(
    (editor) => editor.document.uri.toString() === found.toString(),
  );
  await commands.executeCommand('vscode.open', found, {
    selection: client.protocol2CodeConverter.asRange(range),
    viewColumn: visible?.viewColumn ?? column ?? ViewColumn.One,
  });
}
