/** The documents that the server looks after: Python files on disk or unsaved, and cells of notebooks. */
export const PYTHON_DOCUMENTS: { scheme: string; language: string }[] = [
  { scheme: 'file', language: 'python' },
  { scheme: 'untitled', language: 'python' },
  { scheme: 'vscode-notebook-cell', language: 'python' },
  { scheme: 'vscode-interactive-input', language: 'python' },
];
