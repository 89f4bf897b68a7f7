import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Parts } from '../../client/src/commands';
import { openRule } from '../../client/src/rulePages';
import { executed, messages } from './fakeVscode';

const asked: unknown[][] = [];

/** The parts with a server that has a page at `href` for each rule. */
function withPages(href: string | null): Parts {
  const running = {
    sendRequest: async (...request: unknown[]) => {
      asked.push(request);
      return href === null ? null : { href };
    },
  };
  return { server: { running } } as unknown as Parts;
}

beforeEach(() => {
  for (const list of [asked, executed, messages]) {
    list.length = 0;
  }
});

test('a page on disk is shown as rendered Markdown, another one where it is', async () => {
  await openRule(withPages('file:///pages/device-mismatch.md'), 'device-mismatch');
  await openRule(withPages('https://docs.example/device-mismatch'), 'device-mismatch');
  assert.deepEqual(
    executed.map(([command, uri]) => [command, String(uri)]),
    [
      ['markdown.showPreview', 'file:///pages/device-mismatch.md'],
      ['vscode.open', 'https://docs.example/device-mismatch'],
    ],
  );
  assert.deepEqual(asked[0], ['deviceLens/rulePage', { rule: 'device-mismatch' }]);
});

test('what is no name of a rule reaches no server', async () => {
  for (const nonsense of ['../../etc/passwd', 'file:///x', 'A', '', '-', 7, undefined, {}]) {
    await openRule(withPages('file:///pages/x.md'), nonsense);
  }
  assert.deepEqual([asked, executed], [[], []]);
  assert.equal(messages.length, 8);
});

test('a rule without a page, or without a server, is said', async () => {
  await openRule(withPages(null), 'no-such-rule');
  await openRule({ server: { running: undefined } } as unknown as Parts, 'device-mismatch');
  assert.deepEqual(messages, [
    'Device Lens knows no rule named no-such-rule.',
    'Device Lens knows no rule named device-mismatch.',
  ]);
});
