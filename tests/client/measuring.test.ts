import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Position, Selection, Uri } from 'vscode';
import { measureTransfer } from '../../client/src/measuring';
import { answers, executed, messages, window } from './fakeVscode';

const caret = new Position(3, 5);
let editor: { document: unknown; selection: Selection };

beforeEach(() => {
  executed.length = 0;
  messages.length = 0;
  answers.clear();
  editor = {
    document: { uri: Uri.parse('file:///main.py') },
    selection: new Selection(caret, caret),
  };
  window.activeTextEditor = editor;
});

test('what is at the caret is measured, and its hover is shown', async () => {
  answers.set('deviceLens.measureAt', {
    message: '10 ms',
    position: { line: 3, character: 17 },
  });
  await measureTransfer();
  assert.deepEqual(executed, [
    ['deviceLens.measureAt', 'file:///main.py', { line: 3, character: 5 }],
    ['editor.action.showHover'],
  ]);
  assert.deepEqual(editor.selection.active, new Position(3, 17));
  assert.deepEqual(messages, []);
});

test('where nothing was measured, the reason is said', async () => {
  answers.set('deviceLens.measureAt', { message: 'Nothing here.' });
  await measureTransfer();
  assert.equal(executed.length, 1);
  assert.deepEqual(messages, ['Device Lens: Nothing here.']);
  assert.equal(editor.selection.active, caret);
});

test('without an editor nothing is asked', async () => {
  window.activeTextEditor = undefined;
  await measureTransfer();
  assert.deepEqual(executed, []);
});
