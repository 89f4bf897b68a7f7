/** When the client asks the server for diagnostics: on every change, or only when a file is saved. */
import { type TextDocument, workspace } from 'vscode';
import { DiagnosticPullMode, type DiagnosticPullOptions } from 'vscode-languageclient/node';
import { SECTION } from './settings';

export function pullOptions(): DiagnosticPullOptions {
  return { onChange: true, onSave: true, filter: isFilteredOut };
}

function isFilteredOut(document: TextDocument, mode: DiagnosticPullMode): boolean {
  const run = workspace.getConfiguration(SECTION, document.uri).get<string>('run');
  return mode === DiagnosticPullMode.onType && run === 'onSave' && !document.isUntitled;
}
