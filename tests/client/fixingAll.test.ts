import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Range, Uri } from 'vscode';
import { fixAll } from '../../client/src/fixingAll';
import { answers, applied, executed, messages, window } from './fakeVscode';

const EDIT = { of: 'the whole file' };

beforeEach(() => {
  executed.length = 0;
  messages.length = 0;
  applied.length = 0;
  answers.clear();
  open('file:///main.py');
});

function open(uri: string) {
  window.activeTextEditor = { document: { uri: Uri.parse(uri), lineCount: 7 } };
}

test('what the server offers for the whole file is applied', async () => {
  answers.set('vscode.executeCodeActionProvider', [{ edit: EDIT }]);
  await fixAll();
  assert.deepEqual(applied, [EDIT]);
  assert.deepEqual(messages, []);
  const [[command, uri, range, kind, resolved]] = executed as [unknown[]];
  assert.equal(command, 'vscode.executeCodeActionProvider');
  assert.equal(String(uri), 'file:///main.py');
  assert.deepEqual(range, new Range(0, 0, 7, 0));
  assert.deepEqual([kind, resolved], ['source.fixAll.deviceLens', 1]);
});

test('a cell asks for the fixes of its notebook', async () => {
  open('vscode-notebook-cell:///analysis.ipynb#a');
  answers.set('vscode.executeCodeActionProvider', [{ edit: EDIT }]);
  await fixAll();
  assert.equal(executed[0]?.[3], 'notebook.source.fixAll.deviceLens');
  assert.deepEqual(applied, [EDIT]);
});

test('where nothing is to be fixed, that is said', async () => {
  for (const nothing of [undefined, []]) {
    answers.set('vscode.executeCodeActionProvider', nothing);
    await fixAll();
  }
  assert.deepEqual(applied, []);
  const sentence = 'Device Lens: nothing here can be fixed safely.';
  assert.deepEqual(messages, [sentence, sentence]);
});

test('an answer about an older text is asked for again, but not forever', async () => {
  answers.set('vscode.executeCodeActionProvider', [{}]);
  await fixAll();
  assert.equal(executed.length, 3);
  assert.deepEqual(applied, []);
  assert.deepEqual(messages, ['Device Lens: the text has changed meanwhile; try again.']);
});

test('without an editor nothing is asked', async () => {
  window.activeTextEditor = undefined;
  await fixAll();
  assert.deepEqual(executed, []);
});
