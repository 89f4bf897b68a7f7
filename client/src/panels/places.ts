/** What panels have in common that show something of a document. */
import { commands, Uri, ViewColumn, window, workspace } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

/** A place as the server names it. */
export interface Place {
  readonly uri: string;
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
}

/** What a panel says while there is no server to ask. */
export const STARTING = 'Device Lens is starting…';
export const NOT_RUNNING = 'Device Lens is not running. The {} in the status bar says why.';

/** The document that a panel is about. */
export interface Target {
  readonly uri: Uri;
  /** The document as the server knows it. */
  readonly id: string;
  /** Where it was when the panel turned to it. */
  readonly column: ViewColumn | undefined;
}

/** A target as the editor keeps it with a page; `targetIn` reads it again. */
export function memoryOf(target: Target | undefined): Record<string, unknown> {
  return target === undefined ? {} : { uri: target.uri.toString(), column: target.column };
}

/** The target in what an editor has kept; it may have kept anything. */
export function targetIn(memory: unknown): Target | undefined {
  if (typeof memory !== 'object' || memory === null || !('uri' in memory)) {
    return undefined;
  }
  if (typeof memory.uri !== 'string' || !/^[a-z][\w+.-]+:/i.test(memory.uri)) {
    return undefined;
  }
  const uri = Uri.parse(memory.uri);
  const column =
    'column' in memory && typeof memory.column === 'number' ? memory.column : undefined;
  return { uri, id: uri.toString(), column };
}

/** Lets the server know a document that no editor shows, such as one behind another tab; whether there is one. */
export async function opened(uri: Uri): Promise<boolean> {
  if (workspace.textDocuments.some((document) => document.uri.toString() === uri.toString())) {
    return true;
  }
  if (uri.scheme === 'untitled') {
    return false; // to open it would make another
  }
  try {
    await workspace.openTextDocument(uri);
    return true;
  } catch {
    return false;
  }
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
