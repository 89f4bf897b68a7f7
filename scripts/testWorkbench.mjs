// Runs the tests in the real editor: VS Code's own server and extension host, driven through a browser.
//
//     node scripts/testWorkbench.mjs [--newest] [NAME.test.mjs …]
//
// `--newest` takes the newest VS Code, with the Node that it wants, in place of the oldest that the tests know.
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { findChromium } from '../tests/workbench/lib/chromium.mjs';
import { ensureEditor, HERE, NEWEST, OLDER } from './lib/editor.mjs';
import { CommandFailed, ROOT, runShown } from './lib/process.mjs';
import { announce } from './lib/setup.mjs';
import { PACKAGE, packExtension, packFolder } from './lib/vsix.mjs';

const STUB = path.join(ROOT, HERE, 'output', 'python-stub.vsix');

async function main() {
  const names = process.argv.slice(2).filter((argument) => argument !== '--newest');
  const edition = process.argv.includes('--newest') ? NEWEST : OLDER;
  if (findChromium() === undefined) {
    const text = 'no Chromium on this machine: the tests in the real editor were not run';
    if (process.env.CI) {
      throw new CommandFailed(text);
    }
    console.log(`SKIPPED: ${text}`);
    return;
  }
  const editor = ensureEditor(edition);
  packExtension();
  mkdirSync(path.dirname(STUB), { recursive: true });
  packFolder(path.join(ROOT, HERE, 'stub'), STUB);
  const tests = readdirSync(path.join(ROOT, HERE))
    .filter((name) => name.endsWith('.test.mjs') && (names.length === 0 || names.includes(name)))
    .map((name) => path.join(ROOT, HERE, name));
  // One after the other: each starts an editor, a browser and a server.
  const flags = ['--test', '--test-reporter=spec', '--test-concurrency=1', '--test-timeout=600000'];
  const environment = {
    ...process.env,
    DEVICE_LENS_PACKAGE: PACKAGE,
    DEVICE_LENS_STUB: STUB,
    DEVICE_LENS_EDITOR: editor,
    DEVICE_LENS_EDITOR_NODE: edition.node,
  };
  const run = (files) => runShown(process.execPath, [...flags, ...files], { env: environment });
  const { status, lines } = await run(tests);
  const failed = tests.filter((file) =>
    lines.some((line) => line.startsWith('test at ') && line.includes(path.basename(file))),
  );
  if (status === 0 || failed.length === 0) {
    process.exitCode = status;
    return;
  }
  // A browser on a busy machine loses a key now and then. What is wrong with the extension fails twice.
  announce(`Running again what failed: ${failed.map((file) => path.basename(file)).join(', ')}`);
  process.exitCode = (await run(failed)).status;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof CommandFailed ? error.message : error);
  process.exitCode = 1;
}
