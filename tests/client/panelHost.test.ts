import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Uri } from 'vscode';
import { Panel } from '../../client/src/panels/host';
import { type FakePanel, panels } from './fakeVscode';

interface Asked {
  readonly line: number;
}

let asked: Asked[];
let closed: number;
let ready: number;
let panel: Panel<string, Asked>;
let editor: FakePanel;

beforeEach(() => {
  asked = [];
  closed = 0;
  ready = 0;
  panels.length = 0;
  panel = new Panel<string, Asked>(Uri.parse('file:///extension'), {
    viewType: 'deviceLens.test',
    bundle: 'test',
    title: 'A test',
    onReady: () => {
      ready += 1;
    },
    onAsk: (question) => asked.push(question),
    onClose: () => {
      closed += 1;
    },
    memory: () => ({ line: 7 }),
  });
  editor = panels[0] as FakePanel;
});

test('a page may load its bundle and nothing else', () => {
  const { html } = editor.webview;
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? '';
  const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1];
  assert.match(policy, /^default-src 'none'; style-src https:\/\/editor; script-src 'nonce-/);
  assert.deepEqual(
    [...html.matchAll(/<script [^>]*>/g)].map(([tag]) => tag),
    [`<script nonce="${nonce}" src="file:///extension/dist/webviews/test.js">`],
  );
  assert.match(
    html,
    /<link rel="stylesheet" href="file:\/\/\/extension\/dist\/webviews\/test.css">/,
  );
  assert.deepEqual(editor.options.localResourceRoots.map(String), [
    'file:///extension/dist/webviews',
  ]);
});

test('what is to be shown waits for the page, and is shown anew when the page is', () => {
  panel.show('first');
  panel.show('second');
  assert.deepEqual(editor.posted, []);
  editor.said.fire({ type: 'ready' });
  assert.deepEqual(editor.posted, [{ type: 'show', shown: 'second', memory: { line: 7 } }]);

  editor.visible = false;
  editor.viewState.fire(undefined);
  panel.show('third');
  assert.equal(editor.posted.length, 1, 'a hidden page is not there');
  editor.visible = true;
  editor.viewState.fire(undefined);
  editor.said.fire({ type: 'ready' });
  assert.deepEqual(editor.posted.slice(1), [{ type: 'show', shown: 'third', memory: { line: 7 } }]);
  assert.equal(ready, 2);
});

test('what the user asks for and the end of the panel reach their owner', () => {
  editor.said.fire({ type: 'ask', asked: { line: 3 } });
  assert.deepEqual(asked, [{ line: 3 }]);
  panel.dispose();
  assert.equal(closed, 1);
});
