import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { EventEmitter, type LogOutputChannel } from 'vscode';
import {
  ExtensionProvider,
  PYTHON_ENVIRONMENTS,
  PYTHON_EXTENSION,
  SettingProvider,
} from '../../client/src/environments';
import { installedExtensions } from './fakeVscode';

const warnings: string[] = [];
const log = { warn: (text: string) => void warnings.push(text) } as unknown as LogOutputChannel;

function pythonProvider() {
  return new ExtensionProvider(PYTHON_EXTENSION, () => undefined, log);
}

function pythonApi(executable: string | undefined) {
  const changed = new EventEmitter<unknown>();
  const api = {
    environments: {
      getActiveEnvironmentPath: () => ({ id: 'x', path: '/env' }),
      resolveEnvironment: async () => ({
        executable: { uri: executable === undefined ? undefined : { fsPath: executable } },
      }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
  return { api, changed };
}

beforeEach(() => {
  installedExtensions.clear();
  warnings.length = 0;
});

test('an extension that is not installed knows nothing', async () => {
  assert.deepEqual(await pythonProvider().candidates(), []);
});

test('the Python extension is started if need be and names the active environment', async () => {
  const { api } = pythonApi('/env/bin/python');
  let started = 0;
  const activate = async () => {
    started += 1;
    return api;
  };
  installedExtensions.set('ms-python.python', { isActive: false, activate });
  assert.deepEqual(await pythonProvider().candidates(), [
    { command: ['/env/bin/python'], origin: 'the Python extension' },
  ]);
  assert.equal(started, 1);
});

test('a Conda environment without a Python is no candidate', async () => {
  const { api } = pythonApi(undefined);
  installedExtensions.set('ms-python.python', { isActive: true, exports: api });
  assert.deepEqual(await pythonProvider().candidates(), []);
});

test('an extension that fails is noted and passed over', async () => {
  const activate = async () => {
    throw new Error('broken');
  };
  installedExtensions.set('ms-python.python', { isActive: false, activate });
  assert.deepEqual(await pythonProvider().candidates(), []);
  assert.match(warnings.join(), /the Python extension could not be asked: Error: broken/);
});

test('an extension that exports nothing is passed over', async () => {
  installedExtensions.set('ms-python.vscode-python-envs', { isActive: true, exports: undefined });
  const provider = new ExtensionProvider(PYTHON_ENVIRONMENTS, () => undefined, log);
  assert.deepEqual(await provider.candidates(), []);
  assert.deepEqual(warnings, []);
});

test('Python Environments may name a command with arguments', async () => {
  const run = { executable: '/opt/pixi', args: ['run', 'python'] };
  const exports = { getEnvironment: async () => ({ execInfo: { run } }) };
  installedExtensions.set('ms-python.vscode-python-envs', { isActive: true, exports });
  const provider = new ExtensionProvider(PYTHON_ENVIRONMENTS, () => undefined, log);
  assert.deepEqual(await provider.candidates(), [
    { command: ['/opt/pixi', 'run', 'python'], origin: 'Python Environments' },
  ]);
});

test('another selection is passed on, once for each, until disposed', async () => {
  const { api, changed } = pythonApi('/env/bin/python');
  installedExtensions.set('ms-python.python', { isActive: true, exports: api });
  const provider = pythonProvider();
  let heard = 0;
  provider.onDidChange(() => {
    heard += 1;
  });
  await provider.candidates();
  await provider.candidates();
  changed.fire({});
  assert.equal(heard, 1);
  provider.dispose();
  changed.fire({});
  assert.equal(heard, 1);
});

test('a setting that is empty names no candidate', async () => {
  assert.deepEqual(await new SettingProvider('deviceLens.interpreter', () => []).candidates(), []);
  const set = new SettingProvider('deviceLens.interpreter', () => ['/usr/bin/python3']);
  assert.deepEqual(await set.candidates(), [
    { command: ['/usr/bin/python3'], origin: 'the setting deviceLens.interpreter' },
  ]);
});
