/** Measures the transfer or the operation at the caret, and shows its hover. */
import { commands, Position, ProgressLocation, Selection, window } from 'vscode';

/** What the server answers: a sentence, and where a hover tells more. */
interface Measured {
  readonly message: string;
  readonly position?: { readonly line: number; readonly character: number } | null;
}

export async function measureTransfer(): Promise<void> {
  const editor = window.activeTextEditor;
  if (editor === undefined) {
    return;
  }
  const { line, character } = editor.selection.active;
  const measured = await window.withProgress(
    { location: ProgressLocation.Window, title: 'Device Lens: measuring…' },
    async () =>
      commands.executeCommand<Measured | null>(
        'deviceLens.measureAt',
        editor.document.uri.toString(),
        { line, character },
      ),
  );
  if (measured?.position == null) {
    if (measured != null) {
      void window.showInformationMessage(`Device Lens: ${measured.message}`);
    }
    return;
  }
  const spot = new Position(measured.position.line, measured.position.character);
  editor.selection = new Selection(spot, spot);
  await commands.executeCommand('editor.action.showHover');
}
