import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locateServer, resolveServer } from '../../client/src/resolve';

const EXTENSION = '/ext/Ünïcode folder';

function disk(...files: string[]) {
  const there = new Set(files.map((file) => `${EXTENSION}/${file}`));
  return (file: string) => there.has(file);
}

test('a packed extension brings its server, run by the Python that was found', () => {
  const installation = locateServer(EXTENSION, disk('bundled/launch.py'), 'linux');
  assert.ok(installation.kind === 'bundled');
  const launch = resolveServer(installation, ['py', '-3'], EXTENSION);
  assert.equal(launch.command, 'py');
  assert.equal(launch.args[0], '-3');
  assert.ok(launch.args.includes('-I'), 'nothing of the user may shadow a library');
  assert.ok(launch.args.includes('-S'), 'nor may the site-packages of that Python');
  assert.deepEqual(launch.args.slice(-3), [`${EXTENSION}/bundled/launch.py`, 'serve', '--stdio']);
  assert.equal(launch.cwd, EXTENSION);
});

test('a checkout runs its own source, even where a packed server lies beside it', () => {
  const files = ['.venv/bin/python', 'server/pyproject.toml', 'bundled/launch.py'];
  const installation = locateServer(EXTENSION, disk(...files), 'linux');
  assert.ok(installation.kind === 'checkout');
  const launch = resolveServer(installation, [], EXTENSION);
  assert.equal(launch.command, `${EXTENSION}/.venv/bin/python`);
  assert.deepEqual(launch.args.slice(-4), ['-m', 'device_lens', 'serve', '--stdio']);
});

test('a checkout that is not set up has no server', () => {
  assert.equal(locateServer(EXTENSION, disk('server/pyproject.toml'), 'linux').kind, 'missing');
});

test('a bundled server without an interpreter is a mistake of the caller', () => {
  assert.throws(() => resolveServer({ kind: 'bundled', launcher: 'x' }, [], EXTENSION));
});
