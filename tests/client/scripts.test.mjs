import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyEdits, diffLines, editsFor } from '../../scripts/lib/edits.mjs';
import { licencesOf } from '../../scripts/lib/licences.mjs';
import { renderMarkdown } from '../../scripts/lib/terminal.mjs';

function edit(line, from, to, newText, endLine = line) {
  const range = { start: { line, character: from }, end: { line: endLine, character: to } };
  return { range, newText };
}

test('edits are applied to the text as it was before all of them', () => {
  const text = 'for x in xs:\n    w = w.to(d)\n    use(w)\n';
  const hoisted = applyEdits(text, [edit(1, 0, 0, '', 2), edit(0, 0, 0, 'w = w.to(d)\n')]);
  assert.equal(hoisted, 'w = w.to(d)\nfor x in xs:\n    use(w)\n');
});

test('insertions at one place keep their order, and a place after the end is the end', () => {
  assert.equal(
    applyEdits('a', [edit(0, 1, 1, 'b'), edit(0, 1, 1, 'c'), edit(9, 0, 0, 'd')]),
    'abcd',
  );
});

test('characters count in UTF-16 units, and all line ends count', () => {
  assert.equal(
    applyEdits('😀 x\r\ny\rz', [edit(0, 3, 4, '1'), edit(1, 0, 1, '2'), edit(2, 0, 1, '3')]),
    '😀 1\r\n2\r3',
  );
});

test('a diff shows what changed with a line around it', () => {
  const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven';
  const after = 'one\nTWO\nthree\nfour\nfive\nsix\nseven\neight';
  assert.deepEqual(
    diffLines(before, after).map((row) =>
      row === null ? '…' : `${row.line}${row.mark}${row.text}`,
    ),
    ['1 one', '2-two', '2+TWO', '3 three', '…', '7 seven', '8+eight'],
  );
});

test('a moved line is removed in one place and added in the other', () => {
  assert.deepEqual(
    diffLines('a\nloop\n  move\n  use', 'a\nmove\nloop\n  use', 0)
      .filter((row) => row !== null)
      .map(({ mark, text }) => mark + text),
    ['+move', '-  move'],
  );
});

test('the edits of one document are found in both forms of a workspace edit', () => {
  const one = edit(0, 0, 0, 'x');
  assert.deepEqual(editsFor({ changes: { 'file:///a': [one], 'file:///b': [] } }, 'file:///a'), [
    one,
  ]);
  const documentChanges = [{ textDocument: { uri: 'file:///a', version: 1 }, edits: [one] }];
  assert.deepEqual(editsFor({ documentChanges }, 'file:///a'), [one]);
  assert.deepEqual(editsFor(undefined, 'file:///a'), []);
});

test('Markdown of a hover becomes plain lines without links to commands', () => {
  const markdown =
    '**`x`** is on `cuda:0`\n\n| bytes | time |\n| --- | --- |\n| 4 MB | 0.3 ms |\n\n---\n' +
    '[Measure](command:deviceLens.measure?%5B1%5D) [page](file:///rule.md)\n';
  assert.deepEqual(renderMarkdown(markdown), [
    'x is on cuda:0',
    '',
    'bytes  time',
    '4 MB  0.3 ms',
    '',
    'page',
  ]);
});

test('a bundled library takes its licence along', () => {
  const inputs = { 'client/src/extension.ts': {}, 'node_modules/uplot/dist/uPlot.esm.js': {} };
  const text = licencesOf('.', [{ inputs }]);
  assert.match(text, /^uplot \d+\.\d+\.\d+\n/);
  assert.match(text, /Permission is hereby granted/);
});
