import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { EventEmitter, type LogOutputChannel, workspace } from 'vscode';
import { Interpreters } from '../../client/src/interpreters';
import { installedExtensions, settings } from './fakeVscode';

const log = { warn: () => undefined } as unknown as LogOutputChannel;
const editor = workspace as { isTrusted: boolean };
let selected: EventEmitter<unknown>;

beforeEach(() => {
  editor.isTrusted = true;
  settings.defaults.clear();
  installedExtensions.clear();
  selected = new EventEmitter();
});

/** Has the Python extension name an interpreter. */
function select(executable: string) {
  const environments = {
    getActiveEnvironmentPath: () => ({ path: executable }),
    resolveEnvironment: async () => ({ executable: { uri: { fsPath: executable } } }),
    onDidChangeActiveEnvironmentPath: selected.event,
  };
  installedExtensions.set('ms-python.python', { isActive: true, exports: { environments } });
}

test("the project's Python is the setting's, else the one that is selected", async () => {
  select('/selected/python');
  const interpreters = new Interpreters(log);
  assert.deepEqual((await interpreters.forProject())?.command, ['/selected/python']);
  settings.defaults.set('deviceLens.projectInterpreter', ['conda', 'run', 'python']);
  assert.deepEqual(await interpreters.forProject(), {
    command: ['conda', 'run', 'python'],
    origin: 'the setting deviceLens.projectInterpreter',
  });
});

test('in an untrusted workspace the project has none, and no extension is asked for one', async () => {
  select('/selected/python');
  editor.isTrusted = false;
  const interpreters = new Interpreters(log);
  assert.equal(await interpreters.forProject(), undefined);
  const { found, rejected } = await interpreters.forServer();
  assert.ok([found, ...rejected].every((each) => each?.origin !== 'the Python extension'));
});

test('a wrong setting is told, and nothing takes its place', async () => {
  settings.defaults.set('deviceLens.interpreter', ['/no/such/python']);
  const { found, rejected } = await new Interpreters(log).forServer();
  assert.equal(found, undefined);
  assert.deepEqual(
    rejected.map(({ command, origin }) => [command, origin]),
    [[['/no/such/python'], 'the setting deviceLens.interpreter']],
  );
});

test('another selection is passed on, until nobody listens', async () => {
  select('/selected/python');
  const interpreters = new Interpreters(log);
  let changes = 0;
  interpreters.onDidChange(() => {
    changes += 1;
  });
  await interpreters.forProject();
  selected.fire(undefined);
  assert.equal(changes, 1);
  interpreters.dispose();
  selected.fire(undefined);
  assert.equal(changes, 1);
});
