import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import {
  type Candidate,
  type EnvironmentProvider,
  explainNothingFound,
  FolderProvider,
  findProjectPython,
  findServerPython,
  isAtLeast,
  PathProvider,
  type Probe,
  probeInterpreter,
  pythonOf,
  type Version,
} from '../../client/src/python';

function provider(name: string, ...commands: string[][]): EnvironmentProvider {
  const candidates: Candidate[] = commands.map((command) => ({ command, origin: name }));
  return { name, candidates: async () => candidates };
}

function probing(versions: Record<string, Version>): Probe & { asked: string[] } {
  const asked: string[] = [];
  const probe = async (command: readonly string[]) => {
    const name = command.join(' ');
    asked.push(name);
    const version = versions[name];
    if (version === undefined) {
      throw new Error(`spawn ${name} ENOENT`);
    }
    return { executable: `/real/${name}`, version };
  };
  return Object.assign(probe, { asked });
}

test('the first interpreter that is new enough runs the server', async () => {
  const probe = probing({ old: [3, 9, 18], good: [3, 10, 0], newer: [3, 14, 1] });
  const search = await findServerPython(
    [
      provider('the Python extension', ['old']),
      provider('the PATH', ['missing'], ['good'], ['newer']),
    ],
    probe,
  );
  assert.equal(search.found?.executable, '/real/good');
  assert.deepEqual(probe.asked, ['old', 'missing', 'good']);
  assert.deepEqual(
    search.rejected.map(({ origin, reason }) => [origin, reason]),
    [
      ['the Python extension', 'is Python 3.9.18, 3.10 or newer is needed'],
      ['the PATH', 'does not run: spawn missing ENOENT'],
    ],
  );
});

test('the same command is tried once', async () => {
  const probe = probing({});
  await findServerPython([provider('a', ['py', '-3']), provider('b', ['py', '-3'], ['py'])], probe);
  assert.deepEqual(probe.asked, ['py -3', 'py']);
});

test('when nothing fits, the user reads what was tried and why it did not do', async () => {
  const probe = probing({ '/usr/bin/python3': [3, 8, 10] });
  const onPath = provider('the PATH', ['/usr/bin/python3'], ['python']);
  const { found, rejected } = await findServerPython([onPath], probe);
  assert.equal(found, undefined);
  assert.equal(
    explainNothingFound(rejected),
    'No Python 3.10 or newer was found to run the server.\n' +
      '/usr/bin/python3, from the PATH, is Python 3.8.10, 3.10 or newer is needed.\n' +
      'python, from the PATH, does not run: spawn python ENOENT.',
  );
});

test('a single candidate, such as a setting, is named in the first line', async () => {
  const setting = provider('the setting deviceLens.interpreter', ['/opt/snake']);
  const { rejected } = await findServerPython([setting], probing({}));
  assert.equal(
    explainNothingFound(rejected),
    'No Python 3.10 or newer was found: /opt/snake, from the setting deviceLens.interpreter, ' +
      'does not run: spawn /opt/snake ENOENT.',
  );
});

test("the project's interpreter may be of any age and is not run", async () => {
  const found = await findProjectPython([provider('a'), provider('b', ['/old/python2'], ['x'])]);
  assert.deepEqual(found?.command, ['/old/python2']);
  assert.equal(await findProjectPython([provider('a')]), undefined);
});

test('versions are compared number by number', () => {
  assert.ok(isAtLeast([3, 10, 0], [3, 10, 0]));
  assert.ok(isAtLeast([4, 0, 0], [3, 10, 0]));
  assert.ok(!isAtLeast([3, 9, 99], [3, 10, 0]));
});

test('a real Python tells its version, and other programs are turned down', async () => {
  const python = (await new PathProvider().candidates())[0];
  assert.ok(python, 'a Python is on the PATH of whoever runs the tests');
  const { version, executable } = await probeInterpreter(python.command);
  assert.equal(version[0], 3);
  assert.ok(path.isAbsolute(executable));
  await assert.rejects(probeInterpreter([process.execPath]));
  await assert.rejects(probeInterpreter(['no-such-program']), /ENOENT/);
  await assert.rejects(probeInterpreter([]), /empty/);
});

test('the PATH is searched name by name, and relative folders are left out', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'device-lens-'));
  for (const name of ['python3.12', 'python3']) {
    writeFileSync(path.join(folder, name), '#!/bin/sh\n');
    chmodSync(path.join(folder, name), 0o755);
  }
  writeFileSync(path.join(folder, 'python'), 'not executable', { mode: 0o644 });
  const PATH = ['.', 'bin', folder].join(path.delimiter);
  const found = await new PathProvider({ PATH }, 'linux').candidates();
  assert.deepEqual(
    found.map(({ command }) => command),
    [[path.join(folder, 'python3')], [path.join(folder, 'python3.12')]],
  );
});

test('a virtual environment in a folder is found by its usual names', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'device-lens-'));
  const python = pythonOf(path.join(folder, 'venv'), 'linux');
  mkdirSync(path.dirname(python), { recursive: true });
  writeFileSync(python, '#!/bin/sh\n', { mode: 0o755 });
  const found = await new FolderProvider([folder], 'linux').candidates();
  assert.deepEqual(
    found.map(({ command }) => command),
    [[python]],
  );
});
