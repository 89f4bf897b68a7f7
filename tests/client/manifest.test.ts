import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { beforeEach, test } from 'node:test';
import { ConfigurationTarget } from 'vscode';
import { type Parts, registerCommands } from '../../client/src/commands';
import { executed, installedExtensions, registered, settings } from './fakeVscode';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const properties: Record<string, { scope?: string; default?: unknown }> =
  manifest.contributes.configuration.properties;

beforeEach(() => {
  registered.clear();
  executed.length = 0;
  for (const [key, { default: value }] of Object.entries(properties)) {
    settings.defaults.set(key, value);
  }
  settings[ConfigurationTarget.Global].clear();
  settings[ConfigurationTarget.Workspace].clear();
  registerCommands({} as Parts);
});

test('each command of the palette is registered', () => {
  const listed = manifest.contributes.commands.map(({ command }: { command: string }) => command);
  assert.ok(listed.length > 0);
  const [measuring, calibrating] = ['measuring', 'calibrating'].map((name) =>
    readFileSync(`server/device_lens/lsp/features/${name}.py`, 'utf8'),
  );
  // The language client registers what the server offers, for as long as it runs.
  const offered = [
    ...`${measuring}${calibrating}`.matchAll(/^[A-Z_]+ = "(deviceLens\.\w+)"/gm),
  ].map(([, name]) => name);
  assert.ok(offered.length > 0);
  for (const command of listed) {
    assert.ok(registered.has(command) || offered.includes(command), command);
  }
});

test('no other extension is required', () => {
  assert.equal(manifest.extensionDependencies, undefined);
  assert.equal(manifest.extensionPack, undefined);
});

test('settings that name or start a program are restricted to trusted workspaces and bound to the machine', () => {
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  for (const key of Object.keys(properties).filter((name) => /interpreter|benchmark/i.test(name))) {
    assert.ok(restricted.includes(key), key);
    assert.equal(properties[key]?.scope, 'machine-overridable', key);
  }
});

test('settings are few and each says what it does', () => {
  const entries = Object.entries(properties);
  assert.ok(entries.length < 25);
  for (const [key, setting] of entries) {
    assert.ok('markdownDescription' in setting, key);
    assert.ok('default' in setting && setting.scope !== undefined, key);
  }
});

test('each setting is read, by the server or by the client', () => {
  const server = readFileSync('server/device_lens/lsp/settings.py', 'utf8');
  const read = [...server.matchAll(/_get\(\s*section, "([^"]+)"/g)].map(([, key]) => key);
  assert.ok(read.length > 0);
  const own = ['interpreter', 'trace.server'];
  assert.deepEqual(
    Object.keys(properties).sort(),
    [...read, ...own].map((key) => `deviceLens.${key}`).sort(),
  );
});

test('all files that the manifest names exist', () => {
  const { grammars, walkthroughs } = manifest.contributes;
  const media = walkthroughs.flatMap(({ steps }: { steps: { media: Record<string, unknown> }[] }) =>
    steps.flatMap((step) => Object.values(step.media).flatMap(pathsIn)),
  );
  const files = [...grammars.map(({ path }: { path: string }) => path), ...media, manifest.icon];
  for (const file of files) {
    assert.ok(existsSync(file), file);
  }
});

/** An image of a step is one path, or one for each theme. */
function pathsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    return /\.(png|svg|md)$/.test(value) ? [value] : [];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(pathsIn) : [];
}

test('a toggle turns the switch over where it is set', async () => {
  const key = 'deviceLens.inlayHints.devices';
  const toggle = registered.get('deviceLens.toggleDeviceHints');
  await toggle?.();
  assert.equal(settings[ConfigurationTarget.Global].get(key), true);
  await toggle?.();
  assert.equal(settings[ConfigurationTarget.Global].get(key), false);
  settings[ConfigurationTarget.Workspace].set(key, false);
  await toggle?.();
  assert.equal(settings[ConfigurationTarget.Workspace].get(key), true);
  assert.equal(settings[ConfigurationTarget.Global].get(key), false);
});

test("the project's Python is chosen in the Python extension, or by the setting that wins over it", async () => {
  const choose = registered.get('deviceLens.chooseProjectInterpreter');
  installedExtensions.clear();
  await choose?.();
  installedExtensions.set('ms-python.python', {});
  await choose?.();
  settings[ConfigurationTarget.Global].set('deviceLens.projectInterpreter', ['python3.9']);
  await choose?.();
  const setting = ['workbench.action.openSettings', 'deviceLens.projectInterpreter'];
  assert.deepEqual(executed, [setting, ['python.setInterpreter'], setting]);
  installedExtensions.clear();
});

test('the editor is told where the extension works, and what it does without trust', () => {
  assert.deepEqual(manifest.extensionKind, ['workspace']);
  const { untrustedWorkspaces, virtualWorkspaces } = manifest.capabilities;
  assert.equal(untrustedWorkspaces.supported, 'limited');
  assert.equal(virtualWorkspaces.supported, false);
  assert.ok(untrustedWorkspaces.description && virtualWorkspaces.description);
});

test('what is about files can be set for each folder, what is about the machine cannot', () => {
  for (const [key, { scope }] of Object.entries(properties)) {
    const expected = /interpreter|benchmark/i.test(key)
      ? 'machine-overridable'
      : key === 'deviceLens.trace.server'
        ? 'window'
        : 'resource';
    assert.equal(scope, expected, key);
  }
});

test('what is noisy is off, and what is shown by default can be switched off', () => {
  const off = ['inlayHints.devices', 'semanticTokens'];
  const on = ['enable', 'hover.enable', 'inlayHints.transfers'];
  for (const [keys, value] of [
    [off, false],
    [on, true],
  ] as const) {
    for (const key of keys) {
      assert.equal(properties[`deviceLens.${key}`]?.default, value, key);
    }
  }
  assert.equal(properties['deviceLens.diagnosticMode']?.default, 'openFilesOnly');
});

test('the walkthrough has three steps, each with words, and with pictures for each theme', () => {
  const [walkthrough, ...others] = manifest.contributes.walkthroughs;
  assert.equal(others.length, 0);
  assert.deepEqual(
    walkthrough.steps.map(({ id }: { id: string }) => id),
    ['see', 'cost', 'quiet'],
  );
  for (const { id, title, description, media } of walkthrough.steps) {
    assert.ok(title && description, id);
    assert.ok(media.altText, id);
    assert.deepEqual(Object.keys(media.image), ['dark', 'light', 'hc', 'hcLight'], id);
  }
});
