import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { EventEmitter, Uri } from 'vscode';
import { type CurveServer, TransferCurvePanel } from '../../client/src/panels/transferCurve';
import { bytesText, timeText } from '../../client/webviews/transferCurve/units';
import {
  activeEditors,
  executed,
  FakePanel,
  missing,
  panels,
  serializers,
  window,
} from './fakeVscode';

/** A server that answers with the address that it was asked about, when the test lets it. */
class Answering {
  readonly asked: unknown[] = [];
  readonly analysed = new EventEmitter<readonly string[]>();
  readonly measured = new EventEmitter<void>();
  readonly onDidAnalyse = this.analysed.event;
  readonly onDidMeasure = this.measured.event;
  readonly changed = new EventEmitter<void>();
  readonly onDidChangeRunning = this.changed.event;
  readonly starting = false;
  answer: (uri: unknown) => unknown = (uri) => ({ uri });
  readonly running = {
    code2ProtocolConverter: { asUri: String },
    protocol2CodeConverter: { asUri: Uri.parse, asRange: (range: unknown) => range },
    sendRequest: async (method: string, { uri }: { uri: unknown }) => {
      assert.equal(method, 'deviceLens/transferCurve');
      this.asked.push(uri);
      return this.answer(uri);
    },
  };
}

let server: Answering;
let panel: TransferCurvePanel;

beforeEach(() => {
  panels.length = 0;
  executed.length = 0;
  missing.clear();
  window.activeTextEditor = undefined;
  window.visibleTextEditors = [];
  panel?.dispose();
  server = new Answering();
  panel = new TransferCurvePanel(Uri.parse('file:///extension'), server as unknown as CurveServer);
});

function editorOf(uri: string, languageId = 'python') {
  return { document: { uri: Uri.parse(uri), languageId }, viewColumn: 2 };
}

/** Shows the panel for an editor, with its page loaded. */
async function shown(editor?: unknown): Promise<FakePanel> {
  window.activeTextEditor = editor;
  await panel.show();
  const [found] = panels;
  assert.ok(found);
  found.said.fire({ type: 'ready' });
  await settled();
  return found;
}

/** Lets all that is under way go on until it waits. */
function settled() {
  return new Promise((resolve) => setImmediate(resolve));
}

test('the transfers are those of the active Python document', async () => {
  const page = await shown(editorOf('file:///a/train.py'));
  assert.deepEqual(server.asked, ['file:///a/train.py']);
  assert.deepEqual(page.posted.at(-1), {
    type: 'show',
    shown: { curve: { uri: 'file:///a/train.py' }, file: 'train.py' },
    memory: { uri: 'file:///a/train.py', column: 2 },
  });
});

test('without a Python document the machine alone is shown', async () => {
  await shown(editorOf('file:///a/notes.md', 'markdown'));
  assert.deepEqual(server.asked, [null]);
});

test('the panel follows the active editor, and stays with its file while the panel is active', async () => {
  await shown(editorOf('file:///a.py'));
  for (const editor of [
    undefined,
    editorOf('file:///b.py'),
    editorOf('file:///c.md', 'markdown'),
  ]) {
    activeEditors.fire(editor);
    await settled();
  }
  assert.deepEqual(server.asked, ['file:///a.py', 'file:///b.py']);
});

test('news of its file and of measurements bring another picture', async () => {
  const page = await shown(editorOf('file:///a.py'));
  server.analysed.fire(['file:///other.py']);
  server.analysed.fire(['file:///a.py']);
  server.measured.fire();
  await settled();
  assert.equal(server.asked.length, 3);
  page.visible = false;
  server.measured.fire();
  await settled();
  assert.equal(server.asked.length, 3, 'a hidden panel asks when it is seen again');
});

test('an answer that a newer question overtook is not shown', async () => {
  const page = await shown(editorOf('file:///a.py'));
  const late: ((answer: unknown) => void)[] = [];
  server.answer = () => new Promise((resolve) => late.push(resolve));
  server.measured.fire();
  server.measured.fire();
  await settled();
  late[1]?.({ uri: 'newer' });
  late[0]?.({ uri: 'older' });
  await settled();
  assert.deepEqual(page.posted.at(-1), {
    type: 'show',
    shown: { curve: { uri: 'newer' }, file: 'a.py' },
    memory: { uri: 'file:///a.py', column: 2 },
  });
});

test('a text that changed keeps the picture, a failure and a stopped server are sentences', async () => {
  const page = await shown(editorOf('file:///a.py'));
  const before = page.posted.length;
  server.answer = () => {
    throw Object.assign(new Error('the text has changed'), { code: -32801 });
  };
  server.measured.fire();
  await settled();
  assert.equal(page.posted.length, before);
  server.answer = () => null;
  server.measured.fire();
  await settled();
  assert.match(JSON.stringify(page.posted.at(-1)), /could not be made/);
  Object.assign(server, { running: undefined });
  server.measured.fire();
  await settled();
  assert.match(JSON.stringify(page.posted.at(-1)), /is not running/);
});

test('a point leads to its line, and the button calibrates', async () => {
  const page = await shown(editorOf('file:///a.py'));
  const range = { start: { line: 3, character: 8 }, end: { line: 3, character: 20 } };
  page.said.fire({ type: 'ask', asked: { reveal: { uri: 'file:///a.py', range } } });
  page.said.fire({ type: 'ask', asked: { calibrate: true } });
  await settled();
  const [opened, calibrated] = executed;
  assert.equal(opened?.[0], 'vscode.open');
  assert.equal(String(opened?.[1]), 'file:///a.py');
  assert.deepEqual(opened?.[2], { selection: range, viewColumn: 2 });
  assert.deepEqual(calibrated, ['deviceLens.calibrate']);
});

test('a closed panel asks for nothing, and the command opens another', async () => {
  const page = await shown(editorOf('file:///a.py'));
  page.dispose();
  server.measured.fire();
  activeEditors.fire(editorOf('file:///b.py'));
  await settled();
  assert.equal(server.asked.length, 1);
  await panel.show();
  assert.equal(panels.length, 2);
});

test('numbers on axes are short', () => {
  assert.deepEqual([1, 512, 1000, 1e6, 38_535_168, 1e9].map(bytesText), [
    '1 B',
    '512 B',
    '1 kB',
    '1 MB',
    '38.5 MB',
    '1 GB',
  ]);
  assert.deepEqual([0.25, 1, 10, 250.4, 3120, 1e6].map(timeText), [
    '250 ns',
    '1 µs',
    '10 µs',
    '250 µs',
    '3.1 ms',
    '1 s',
  ]);
});

/** A panel that a reloaded window has kept, with its page loaded. */
async function reloaded(memory: unknown): Promise<FakePanel> {
  const found = new FakePanel('deviceLens.transferCurve', 'Transfer curve', {
    enableScripts: false,
    localResourceRoots: [],
  });
  await serializers.get('deviceLens.transferCurve')?.deserializeWebviewPanel(found, memory);
  found.said.fire({ type: 'ready' });
  await settled();
  return found;
}

test('a reloaded window has its curve again, of the file that it was about', async () => {
  const page = await reloaded({ uri: 'file:///a/train.py', column: 1 });
  assert.deepEqual(server.asked, ['file:///a/train.py']);
  assert.match(JSON.stringify(page.posted.at(-1)), /"file":"train.py"/);
});

test('without its file, or without a memory, the machine alone is shown', async () => {
  missing.add('file:///gone.py');
  const page = await reloaded({ uri: 'file:///gone.py' });
  page.dispose();
  await reloaded(undefined);
  assert.deepEqual(server.asked, [null, null]);
});

test('a second curve is closed', async () => {
  await shown(editorOf('file:///a.py'));
  let closed = 0;
  const second = new FakePanel('deviceLens.transferCurve', '', {
    enableScripts: true,
    localResourceRoots: [],
  });
  second.closed.event(() => {
    closed += 1;
  });
  await serializers.get('deviceLens.transferCurve')?.deserializeWebviewPanel(second, {});
  assert.equal(closed, 1);
});
