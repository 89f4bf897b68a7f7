import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LanguageStatusSeverity } from 'vscode';
import { levelOf, StderrTail, whyItEnded } from '../../client/src/logging';
import { parseStatus, present, type Remedy, type ServerState } from '../../client/src/status';

test('each state has words, a severity and a way on', () => {
  const severity = (state: ServerState) => present({ state }).severity;
  assert.equal(severity('ready'), LanguageStatusSeverity.Information);
  assert.equal(severity('degraded'), LanguageStatusSeverity.Warning);
  assert.equal(severity('failed'), LanguageStatusSeverity.Error);
  assert.equal(present({ state: 'analysing' }).busy, true);
  assert.equal(present({ state: 'ready' }).busy, false);
});

test('the reason fits into the line of a narrow window, with the way on behind it', () => {
  const shown = present({ state: 'degraded', message: 'a file is too big', details: 'data.py' });
  assert.equal(shown.detail, 'a file is too big');
  const long = present({ state: 'failed', message: 'No Python was found: '.repeat(9) });
  assert.ok(long.detail.length <= 32);
  assert.match(long.detail, /^No Python was found: .*…$/);
  const failed = present({ state: 'failed', message: 'No Python 3.10 or …' }, 'no-interpreter');
  assert.equal(failed.detail, 'no Python 3.10 or newer');
});

test('what the click does depends on what went wrong', () => {
  const command = (cause: 'no-interpreter' | 'crash' | 'other') =>
    present({ state: 'failed' }, cause).command.command;
  assert.equal(command('no-interpreter'), 'deviceLens.chooseInterpreter');
  assert.equal(command('crash'), 'deviceLens.restart');
  assert.equal(command('other'), 'deviceLens.showLogs');
});

test('the click leads to what helps, where the server knows of something', () => {
  const command = (remedy?: Remedy) => present({ state: 'degraded', remedy }).command.command;
  assert.equal(command('project-interpreter'), 'deviceLens.chooseProjectInterpreter');
  assert.equal(command(), 'deviceLens.showLogs');
  const untrusted = present({ state: 'ready', message: 'Nothing is measured.', remedy: 'trust' });
  assert.equal(untrusted.command.command, 'workbench.trust.manage');
});

test('a notification is read, and nonsense is not', () => {
  assert.deepEqual(parseStatus({ state: 'ready', message: '3 files', details: '' }), {
    state: 'ready',
    message: '3 files',
    details: undefined,
    remedy: undefined,
  });
  assert.equal(parseStatus({ state: 'ready', remedy: 'trust' })?.remedy, 'trust');
  assert.equal(parseStatus({ state: 'ready', remedy: 'toString' })?.remedy, undefined);
  for (const nonsense of [null, undefined, 7, {}, { state: 'starting' }, { state: 'on fire' }]) {
    assert.equal(parseStatus(nonsense), undefined);
  }
});

test('lines of standard error keep the level that Python gave them', () => {
  assert.equal(levelOf('2026-01-01 12:00:00 WARNING device_lens: odd'), 'warn');
  assert.equal(levelOf('CRITICAL:root:gone'), 'error');
  assert.equal(levelOf('Traceback (most recent call last):'), 'error');
  assert.equal(levelOf('DEBUG x'), 'debug');
  assert.equal(levelOf('the INFORMATION is an ERRORLESS word'), 'info');
});

test('the last line that says something tells why a server ended', () => {
  const tail = new StderrTail(3);
  assert.equal(tail.lastLine(), undefined);
  for (const line of ['Traceback', '  File', 'ModuleNotFoundError: no pygls', '   ', '']) {
    tail.push(line);
  }
  assert.equal(tail.lastLine(), 'ModuleNotFoundError: no pygls');
});

test('a signal, an exception or the status tells why a server ended, an entry of its log does not', () => {
  const said = (...lines: string[]) => {
    const tail = new StderrTail();
    for (const line of lines) {
      tail.push(line);
    }
    return tail;
  };
  const entry = 'ERROR: the analysis of a.py failed';
  assert.equal(
    whyItEnded({ code: null, signal: 'SIGKILL' }, said(entry)),
    'it was ended by SIGKILL',
  );
  assert.equal(
    whyItEnded({ code: 1, signal: null }, said('Traceback', 'MemoryError: too much')),
    'MemoryError: too much',
  );
  assert.equal(whyItEnded({ code: 3, signal: null }, said(entry)), 'exit status 3');
});
