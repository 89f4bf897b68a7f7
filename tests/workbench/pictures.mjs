// `npm run pictures [-- KIND …]`: takes the pictures of the README, the documentation and the walkthrough in the real editor,
// from the example project; of the kinds that are named at the end of this file, or all. Open them and judge, light and dark.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { ROOT } from '../../scripts/lib/process.mjs';
import { PACKAGE } from '../../scripts/lib/vsix.mjs';
import { EditorServer } from './lib/editorServer.mjs';
import { EditorPage } from './lib/page.mjs';

const TARGET = path.join(ROOT, 'images', 'walkthrough');
const THEMES = { dark: 'Default Dark Modern', light: 'Default Light Modern' };

/** The part of the window that a picture shows, in CSS pixels. */
const FRAME = { x: 0, y: 36, width: 860, height: 390 };

/** The size of the window in which the device map is pictured. */
const MAP_WINDOW = { width: 1200, height: 830 };

/** The lower right of the window, with the status bar. */
const CORNER = { x: 210, y: 460, width: 650, height: 100 };

/** The settings themselves, without what the editor has around them. */
const SETTINGS = { x: 226, y: 138, width: 634, height: 252 };

/** What the editor calls the extension. */
const EXTENSION = 'device-lens.torch-device-lens';

function exampleFiles() {
  const folder = path.join(ROOT, 'examples');
  const names = readdirSync(folder).filter((name) => name.endsWith('.py'));
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
  );
}

async function take(page, name, clip = FRAME) {
  // Hovers and menus fade in.
  await page.page.waitForTimeout(500);
  const whole = await page.page.screenshot({ clip });
  // Few colours do for a window, and make a third of the bytes: the package has to stay small.
  const few = { palette: true, colours: 256, dither: 0, effort: 10, compressionLevel: 9 };
  await sharp(whole)
    .png(few)
    .toFile(path.join(TARGET, `${name}.png`));
}

/** A finding, what a copy costs, and the menu that mends it. */
async function editing(server, theme) {
  await EditorPage.use(server, { file: 'train.py', line: 36 }, async (page) => {
    await page.squiggle('warning');
    await page.hover('images.to(device)', 'to', 'discarded-transfer');
    await take(page, `finding-${theme}`);
    await page.leave();
    await page.hover('noise.to(device)', 'to', 'transfer-in-loop');
    await take(page, `hover-${theme}`);
    await page.leave();
    await page.click('noise.to(device)', 'to');
    await page.leave();
    await page.openQuickFixes('Hoist above the loop');
    await take(page, `fix-${theme}`);
  });
}

/** The map of the training loop, which takes the right half of a window that is as high as it. */
async function map(server, theme) {
  await EditorPage.use(server, { file: 'train.py', line: 23 }, async (page) => {
    await page.page.setViewportSize(MAP_WINDOW);
    await page.squiggle('warning');
    await page.command('Device Lens: Show Device Map');
    await page.webview.locator('g.node', { hasText: 'loss.item()' }).waitFor();
    await take(page, `map-${theme}`, { x: 603, y: FRAME.y, width: 597, height: 772 });
  });
}

/** The settings, as far as they turn things down. */
async function quiet(server, theme) {
  await EditorPage.use(server, { file: 'train.py', line: 36 }, async (page) => {
    await page.squiggle('warning');
    await page.command('Preferences: Open Settings (UI)');
    await page.page.locator('.settings-editor .suggest-input-container').waitFor();
    await page.type(`@ext:${EXTENSION} hint`);
    const found = page.page.locator('.settings-editor .setting-item-contents');
    await found.filter({ hasText: 'what a transfer costs' }).first().waitFor();
    await take(page, `quiet-${theme}`, SETTINGS);
  });
}

/** The language status where the project's Python has no PyTorch: the reason, and what to do about it. */
async function status(server, theme) {
  await EditorPage.use(server, { file: 'train.py', line: 36 }, async (page) => {
    await page.squiggle('warning');
    await page.hover('noise.to(device)', 'to', '38.5 MB');
    await page.status('no PyTorch to measure with');
    // What has grown while it was shown is not where it belongs: shown again, it is.
    await page.leave();
    await page.page.waitForTimeout(1000);
    await page.status('no PyTorch to measure with');
    await take(page, `status-${theme}`, CORNER);
  });
}

/** A folder for the front of the PATH with a Python that sees no packages, so that its name alone is in the picture. */
function bareFolder() {
  const ask = ['-c', 'import sys; print(sys.executable)'];
  const real = execFileSync('python3', ask, { encoding: 'utf8' }).trim();
  const folder = mkdtempSync(path.join(tmpdir(), 'device-lens-bare-'));
  writeFileSync(path.join(folder, 'python3'), `#!/bin/sh\nexec "${real}" -S "$@"\n`, {
    mode: 0o755,
  });
  return folder;
}

async function withServer(options, scenarios) {
  const server = await EditorServer.start({
    extensions: [PACKAGE],
    settings: { 'editor.stickyScroll.enabled': false, 'editor.fontSize': 12 },
    workspace: exampleFiles(),
    ...options,
  });
  try {
    for (const [name, theme] of Object.entries(THEMES)) {
      server.configure({ 'workbench.colorTheme': theme });
      for (const scenario of scenarios) {
        await scenario(server, name);
      }
    }
  } finally {
    await server.stop();
  }
}

const KINDS = { editing, map, quiet, status };
const named = process.argv.slice(2);
const unknown = named.find((name) => !Object.hasOwn(KINDS, name));
if (unknown !== undefined) {
  console.error(`There are no pictures '${unknown}': ${Object.keys(KINDS).join(', ')}.`);
  process.exit(2);
}
const wanted = Object.values(KINDS).filter(({ name }) => !named.length || named.includes(name));

mkdirSync(TARGET, { recursive: true });
const others = wanted.filter((kind) => kind !== status);
if (others.length > 0) {
  // What this machine can measure is nobody's business but its own.
  await withServer({ machine: { 'deviceLens.benchmark.trigger': 'off' } }, others);
}
if (wanted.includes(status)) {
  const folder = bareFolder();
  try {
    await withServer(
      {
        machine: { 'deviceLens.projectInterpreter': ['python3'] },
        environment: { PATH: `${folder}${path.delimiter}${process.env.PATH}` },
      },
      [status],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
