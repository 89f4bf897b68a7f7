import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { EventEmitter, type TextEditor, Uri, window } from 'vscode';
import { DeviceMapPanel, type MapServer } from '../../client/src/panels/deviceMap';
import type { DeviceMap, MapNode } from '../../client/src/panels/deviceMapModel';
import { curve, place } from '../../client/webviews/deviceMap/layout';
import { deviceClass, hearNode, legendOf, markOf } from '../../client/webviews/deviceMap/words';
import { executed, FakePanel, messages, missing, panels, serializers } from './fakeVscode';

const EMPTY: DeviceMap = { parts: [], part: 'a', nodes: [], edges: [], remark: '', notes: [] };
const RANGE = { start: { line: 2, character: 0 }, end: { line: 2, character: 5 } };
const NODE: MapNode = {
  id: 0,
  label: 'images',
  kind: 'tensor',
  place: 'accelerator',
  colour: 0,
  device: 'cuda:0',
  detail: 'float32 [8]',
  condition: 'torch.cuda.is_available()',
  location: { uri: 'file:///train.py', range: RANGE },
  problems: [{ rule: 'transfer-in-loop', severity: 'information', message: 'Again and again.' }],
};

let analysed: EventEmitter<readonly string[]>;
let requests: { textDocument: { uri: string }; part: string | null }[];
let answer: () => Promise<DeviceMap | null>;
let client: object | undefined;
let started: EventEmitter<void>;
let starting: boolean;
let map: DeviceMapPanel;

beforeEach(() => {
  missing.clear();
  started = new EventEmitter<void>();
  starting = false;
  panels.length = 0;
  messages.length = 0;
  executed.length = 0;
  requests = [];
  answer = async () => EMPTY;
  analysed = new EventEmitter<readonly string[]>();
  client = {
    code2ProtocolConverter: { asUri: String },
    protocol2CodeConverter: { asUri: Uri.parse, asRange: (range: unknown) => range },
    sendRequest: (_method: string, asked: (typeof requests)[0]) => {
      requests.push(asked);
      return answer();
    },
  };
  const server = {
    onDidAnalyse: analysed.event,
    onDidChangeRunning: started.event,
    get starting() {
      return starting;
    },
    get running() {
      return client;
    },
  };
  map = new DeviceMapPanel(Uri.parse('file:///extension'), server as unknown as MapServer);
  edit('file:///train.py', 'python');
});

function edit(uri: string, languageId: string): void {
  const document = { uri: Uri.parse(uri), languageId };
  const editor = { document, viewColumn: 1 } as unknown as TextEditor;
  Object.assign(window, { activeTextEditor: editor, visibleTextEditors: [editor] });
}

/** Opens the map, and its page with it. */
async function open(): Promise<FakePanel> {
  await map.show();
  const panel = panels[0] as FakePanel;
  panel.said.fire({ type: 'ready' });
  await settled();
  return panel;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const last = (panel: FakePanel) => (panel.posted.at(-1) as { shown: unknown }).shown;

test('the map of the active file is asked for and shown', async () => {
  const panel = await open();
  assert.equal(panel.title, 'Device map: train.py');
  assert.deepEqual(requests, [{ textDocument: { uri: 'file:///train.py' }, part: null }]);
  assert.deepEqual(
    panel.posted.map((message) => (message as { shown: unknown }).shown),
    [{ message: 'The file is being analysed…' }, { map: EMPTY }],
  );
});

test('a new analysis of that file, and no other, brings a new map of the same part', async () => {
  const panel = await open();
  analysed.fire(['file:///other.py']);
  assert.equal(requests.length, 1);
  analysed.fire(['file:///other.py', 'file:///train.py']);
  await settled();
  assert.deepEqual(requests[1], { textDocument: { uri: 'file:///train.py' }, part: 'a' });
  panel.visible = false;
  analysed.fire(['file:///train.py']);
  assert.equal(requests.length, 2, 'a hidden map waits until it is looked at');
});

test('another file takes the panel over, with a part of its own', async () => {
  const panel = await open();
  edit('file:///folder/other.py', 'python');
  await map.show();
  assert.equal(panels.length, 1);
  assert.equal(panel.title, 'Device map: other.py');
  assert.equal(panel.revealed, 1);
  assert.equal(requests.at(-1)?.part, null);
});

test('a part that the user chooses is asked for', async () => {
  const panel = await open();
  panel.said.fire({ type: 'ask', asked: { part: 'train:loop#1' } });
  await settled();
  assert.equal(requests.at(-1)?.part, 'train:loop#1');
});

test('a click opens the place in the column of the text', async () => {
  const panel = await open();
  panel.said.fire({ type: 'ask', asked: { reveal: NODE.location } });
  await settled();
  const [command, uri, options] = executed.at(-1) ?? [];
  assert.equal(command, 'vscode.open');
  assert.equal(String(uri), 'file:///train.py');
  assert.deepEqual(options, { selection: RANGE, viewColumn: 1 });
});

test('what keeps a map from being made is said', async () => {
  answer = async () => Promise.reject(new Error('broken'));
  const panel = await open();
  assert.match(JSON.stringify(last(panel)), /The log of Device Lens says why/);
  const count = panel.posted.length;
  answer = async () => Promise.reject(Object.assign(new Error('stale'), { code: -32801 }));
  analysed.fire(['file:///train.py']);
  await settled();
  assert.equal(panel.posted.length, count, 'a text that changed will be analysed again');
  client = undefined;
  await map.show();
  assert.match(JSON.stringify(last(panel)), /Device Lens is not running/);
});

test('an answer that another question overtook is not shown', async () => {
  const panel = await open();
  let finish: (map: DeviceMap) => void = () => assert.fail('nothing was asked');
  answer = () =>
    new Promise((resolve) => {
      finish = resolve;
    });
  analysed.fire(['file:///train.py']);
  await settled();
  answer = async () => ({ ...EMPTY, remark: 'newer' });
  analysed.fire(['file:///train.py']);
  await settled();
  finish({ ...EMPTY, remark: 'older' });
  await settled();
  assert.deepEqual(last(panel), { map: { ...EMPTY, remark: 'newer' } });
});

test('a closed map is opened anew, and a file of another language has none', async () => {
  (await open()).dispose();
  analysed.fire(['file:///train.py']);
  assert.equal(requests.length, 1);
  edit('file:///notes.md', 'markdown');
  await map.show();
  assert.deepEqual(messages, ['Open a Python file or a notebook to see its device map.']);
  edit('file:///train.py', 'python');
  await map.show();
  assert.equal(panels.length, 2);
});

/** A panel that a reloaded window has kept, with what its page was told last to remember. */
async function reloaded(memory: unknown): Promise<FakePanel & { gone: boolean }> {
  const panel = Object.assign(
    new FakePanel('deviceLens.deviceMap', 'Device map: train.py', {
      enableScripts: false,
      localResourceRoots: [],
    }),
    { gone: false },
  );
  panel.closed.event(() => {
    panel.gone = true;
  });
  await serializers.get('deviceLens.deviceMap')?.deserializeWebviewPanel(panel, memory);
  panel.said.fire({ type: 'ready' });
  await settled();
  return panel;
}

test('a reloaded window has its map again, once the server is there', async () => {
  const before = await open();
  const { memory } = before.posted.at(-1) as { memory: unknown };
  before.dispose();
  requests = [];
  const again = client;
  [client, starting] = [undefined, true];
  const panel = await reloaded(JSON.parse(JSON.stringify(memory)));
  assert.match(panel.webview.html, /webviews\/deviceMap\.js/);
  assert.deepEqual(Object.keys(panel.webview.options as object), [
    'enableScripts',
    'localResourceRoots',
  ]);
  assert.deepEqual(last(panel), { message: 'Device Lens is starting…' });
  [client, starting] = [again, false];
  started.fire();
  await settled();
  assert.deepEqual(requests, [{ textDocument: { uri: 'file:///train.py' }, part: 'a' }]);
  assert.deepEqual(last(panel), { map: EMPTY });
  assert.equal(panel.gone, false);
});

test('a map whose start failed says so', async () => {
  [client, starting] = [undefined, true];
  const panel = await open();
  starting = false;
  started.fire();
  await settled();
  assert.match(JSON.stringify(last(panel)), /Device Lens is not running/);
});

test('a map that cannot come back is closed, not left empty', async () => {
  for (const memory of [undefined, null, 7, {}, { uri: 7 }, { uri: 'no address' }]) {
    assert.equal((await reloaded(memory)).gone, true, JSON.stringify(memory));
  }
  missing.add('file:///gone.py');
  assert.equal((await reloaded({ uri: 'file:///gone.py' })).gone, true);
  assert.equal((await reloaded({ uri: 'untitled:Untitled-1' })).gone, true);
  await open();
  assert.equal((await reloaded({ uri: 'file:///train.py' })).gone, true, 'one is open by now');
});

test('a file that was deleted has no map', async () => {
  const panel = await open();
  missing.add('file:///train.py');
  analysed.fire(['file:///train.py']);
  await settled();
  assert.deepEqual(last(panel), { message: 'The file is not there any more.' });
});

test('boxes do not overlap, and arrows go from one to the next with room for their labels', () => {
  const size = { width: 100, height: 50 };
  const sizes = new Map([0, 1, 2].map((id) => [id, size]));
  const label = { width: 60, height: 20 };
  const links = [
    { source: 0, target: 1, label },
    { source: 0, target: 1, label: undefined },
    { source: 1, target: 2, label: undefined },
  ];
  const picture = place(sizes, links);
  const [first, second, third] = [0, 1, 2].map((id) => picture.boxes.get(id));
  assert.ok(first && second && third);
  assert.ok(first.y + size.height / 2 + label.height < second.y - size.height / 2);
  assert.ok(second.y + size.height / 2 < third.y - size.height / 2);
  assert.equal(picture.arrows.length, 3);
  assert.ok(picture.arrows[0]?.label && !picture.arrows[1]?.label);
  assert.ok(picture.width >= size.width && picture.height >= 3 * size.height);
  assert.match(curve(picture.arrows[2]?.points ?? []), /^M[\d.]+,[\d.]+ .*[\d.]+,[\d.]+$/);
  assert.equal(curve([]), '');
});

test('a device is told in words, and each has its entry in the legend', () => {
  assert.equal(
    hearNode(NODE),
    'images, on cuda:0, if torch.cuda.is_available(), float32 [8], line 3, information: Again and again.',
  );
  const loader: MapNode = { ...NODE, kind: 'dataloader', place: 'none', device: '', problems: [] };
  const other: MapNode = { ...NODE, device: 'cuda:1', colour: 5 };
  assert.deepEqual(legendOf([loader, NODE, NODE, other]), [
    { device: 'cuda:0', style: 'accelerator-0' },
    { device: 'cuda:1', style: 'accelerator-1' },
  ]);
  assert.equal(deviceClass(loader), 'none');
  assert.deepEqual(markOf(NODE.problems), { sign: 'i', style: 'mark-information' });
  assert.equal(markOf([]), undefined);
});
