/** Applies the safe fixes of the text in front, a file or all cells of a notebook. */
import { type CodeAction, commands, Range, type TextDocument, window, workspace } from 'vscode';

const KIND = 'source.fixAll.deviceLens';
const NOTEBOOK_KIND = `notebook.${KIND}`;

/** How often the fixes are asked for: an answer about a text that has changed since comes without edits. */
const ATTEMPTS = 3;

/**
 * Asks the providers themselves. `editor.action.codeAction` would do, but the editor drops what it was told to apply
 * when the caret or a squiggle moves before the answer is there.
 */
export async function fixAll(): Promise<void> {
  const document = window.activeTextEditor?.document;
  if (document === undefined) {
    return;
  }
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const action = await askForFixes(document);
    if (action === undefined) {
      void window.showInformationMessage('Device Lens: nothing here can be fixed safely.');
      return;
    }
    if (action.edit !== undefined && (await workspace.applyEdit(action.edit))) {
      return;
    }
  }
  void window.showInformationMessage('Device Lens: the text has changed meanwhile; try again.');
}

/** The server offers one action of a kind, with the safe fixes of the whole file; its edits are made for the one asked. */
async function askForFixes(document: TextDocument): Promise<CodeAction | undefined> {
  const [action] =
    (await commands.executeCommand<CodeAction[] | undefined>(
      'vscode.executeCodeActionProvider',
      document.uri,
      new Range(0, 0, document.lineCount, 0),
      document.uri.scheme === 'vscode-notebook-cell' ? NOTEBOOK_KIND : KIND,
      1,
    )) ?? [];
  return action;
}
