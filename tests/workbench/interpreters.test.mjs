// Which Python runs the server: the one the Python extension has selected, one of the PATH, or none, said clearly.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { EditorServer } from './lib/editorServer.mjs';
import { EditorPage } from './lib/page.mjs';

const { DEVICE_LENS_PACKAGE: PACKAGE, DEVICE_LENS_STUB: STUB } = process.env;
const BUG = 'import torch\n\nx = torch.ones(3)\nx.to("cuda")\n';

let folder;

before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'device-lens-python-'));
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** A program of another name that runs the Python of the PATH. */
function pythonNamed(name) {
  const real = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\nexec "${real.trim()}" "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

/** A Python that notes the processes it starts. */
function recordingPython(name) {
  const file = pythonNamed(name);
  const pids = `${file}.pids`;
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('exec', () => `echo $$ >> "${pids}"\nexec`),
  );
  return { file, lastPid: () => Number(readFileSync(pids, 'utf8').trim().split('\n').at(-1)) };
}

async function withEditor(options, scenario) {
  const server = await EditorServer.start({ workspace: { 'bug.py': BUG }, ...options });
  try {
    await EditorPage.use(server, { file: 'bug.py' }, scenario);
  } finally {
    await server.stop();
  }
}

test('the selection in the Python extension runs the server, and another one is followed', async () => {
  const first = pythonNamed('first env/python');
  const second = pythonNamed('second env/python');
  const machine = { 'stub.interpreters': [first, second] };
  await withEditor({ extensions: [STUB, PACKAGE], machine }, async (page) => {
    await page.squiggle('warning');
    const report = await page.debugInformation();
    assert.ok(report.includes(`Server command: ${first} -I`), report);
    assert.ok(report.includes(`Project interpreter: ${first}`), report);
    await page.command('Stub: Select the Other Interpreter');
    const later = await page.debugInformation(`Project interpreter: ${second}`);
    assert.ok(later.includes(`Server command: ${first} -I`), 'the server itself goes on');
  });
});

test('a wrong setting is named, and correcting it is enough', async () => {
  const wrong = path.join(folder, 'no such python');
  const right = pythonNamed('right/python');
  const setting = (python) => JSON.stringify({ 'deviceLens.interpreter': [python] });
  const workspace = { 'bug.py': BUG, '.vscode/settings.json': setting(wrong) };
  await withEditor({ extensions: [PACKAGE], workspace }, async (page) => {
    await page.toast(`${wrong}, from the setting deviceLens.interpreter, does not run`);
    page.server.write('.vscode/settings.json', setting(right));
    await page.squiggle('warning');
    const report = await page.debugInformation();
    assert.ok(report.includes(`Server command: ${right} -I`), report);
  });
});

test('a server that is killed right after its start is not started again by itself', async () => {
  const python = recordingPython('recorded/python');
  const setting = JSON.stringify({ 'deviceLens.interpreter': [python.file] });
  const workspace = { 'bug.py': BUG, '.vscode/settings.json': setting };
  await withEditor({ extensions: [PACKAGE], workspace }, async (page) => {
    await page.squiggle('warning');
    process.kill(python.lastPid(), 'SIGKILL');
    await page.toast('The server ended unexpectedly: it was ended by SIGKILL');
    await page.screenshot('crash-dark');
    await page.noSquiggle('warning');
    await page.command('Device Lens: Restart Server');
    await page.squiggle('warning');
  });
});

test('nothing that an untrusted workspace names is run, and the analysis works', async () => {
  const evil = path.join(folder, 'evil');
  const ran = path.join(folder, 'ran');
  writeFileSync(evil, `#!/bin/sh\ntouch "${ran}"\n`, { mode: 0o755 });
  const names = { 'deviceLens.interpreter': [evil], 'deviceLens.projectInterpreter': [evil] };
  const workspace = { 'bug.py': BUG, '.vscode/settings.json': JSON.stringify(names) };
  const settings = { 'security.workspace.trust.startupPrompt': 'never' };
  await withEditor({ extensions: [PACKAGE], workspace, settings, trust: false }, async (page) => {
    await page.squiggle('warning');
    const report = await page.debugInformation();
    assert.ok(report.includes('Workspace trusted: no'), report);
    assert.ok(report.includes('Project interpreter: none'), report);
    assert.equal(existsSync(ran), false);
  });
});

test('without a Python the editor says so, and offers a way on', async () => {
  const environment = { PATH: folder };
  await withEditor({ extensions: [PACKAGE], environment }, async (page) => {
    const toast = await page.toast('No Python 3.10 or newer was found');
    assert.match(toast, /Choose a Python/);
    await page.screenshot('no-python-dark');
  });
});
