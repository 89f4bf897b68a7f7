import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectOfChange, readSettings, resolveVariables } from '../../client/src/settings';

const VARIABLES = {
  workspaceFolder: '/work/my project',
  environment: { TOOLS: '/opt/tools' },
  home: '/home/ada',
};

function configuration(values: Record<string, unknown>) {
  return { get: <T>(key: string) => values[key] as T | undefined };
}

test('variables in a command are replaced', () => {
  const resolved = (text: string) => resolveVariables(text, VARIABLES);
  assert.equal(
    resolved('${workspaceFolder}/.venv/bin/python'),
    '/work/my project/.venv/bin/python',
  );
  assert.equal(resolved('~/python'), '/home/ada/python');
  assert.equal(resolved('${userHome}/python'), '/home/ada/python');
  assert.equal(resolved('${env:TOOLS}/python'), '/opt/tools/python');
  assert.equal(resolved('${env:MISSING}python'), 'python');
  assert.equal(resolved('${unknown}/python~'), '${unknown}/python~');
});

test('a folder with a dollar sign in its name is taken as it is', () => {
  const variables = { ...VARIABLES, workspaceFolder: '/a$&b', home: '/c$1' };
  assert.equal(resolveVariables('${workspaceFolder}/x', variables), '/a$&b/x');
  assert.equal(resolveVariables('~/x', variables), '/c$1/x');
});

test('commands are lists of text; anything else counts as not set', () => {
  const settings = readSettings(
    configuration({ interpreter: ['~/py', '-3', 7, ''], projectInterpreter: '/usr/bin/python3' }),
    VARIABLES,
  );
  assert.deepEqual(settings, { interpreter: ['/home/ada/py', '-3'], projectInterpreter: [] });
  assert.deepEqual(readSettings(configuration({}), VARIABLES).interpreter, []);
});

test('only what the running server cannot take over restarts it', () => {
  const effect = (changed: string) =>
    effectOfChange((section) => changed === section || changed.startsWith(`${section}.`));
  assert.equal(effect('deviceLens.interpreter'), 'restart');
  assert.equal(effect('deviceLens.projectInterpreter'), 'environment');
  assert.equal(effect('deviceLens.severity'), 'none');
  assert.equal(effect('editor.fontSize'), 'none');
});
