// `npm run pictures`: takes the pictures of the README and the walkthrough from the example project, in the real editor.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
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

function exampleFiles() {
  const folder = path.join(ROOT, 'examples');
  const names = readdirSync(folder).filter((name) => name.endsWith('.py'));
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
  );
}

async function take(page, name) {
  // Hovers and menus fade in.
  await page.page.waitForTimeout(500);
  await page.page.screenshot({ path: path.join(TARGET, `${name}.png`), clip: FRAME });
}

async function picturesOf(server, theme) {
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
async function pictureOfMap(server, theme) {
  await EditorPage.use(server, { file: 'train.py', line: 23 }, async (page) => {
    await page.page.setViewportSize(MAP_WINDOW);
    await page.squiggle('warning');
    await page.command('Device Lens: Show Device Map');
    await page.webview.locator('g.node', { hasText: 'loss.item()' }).waitFor();
    await page.page.waitForTimeout(500);
    const clip = { x: 603, y: FRAME.y, width: 597, height: 772 };
    await page.page.screenshot({ path: path.join(TARGET, `map-${theme}.png`), clip });
  });
}

mkdirSync(TARGET, { recursive: true });
const server = await EditorServer.start({
  extensions: [PACKAGE],
  settings: {
    'editor.stickyScroll.enabled': false,
    'editor.fontSize': 12,
    // What this machine can measure is nobody's business but its own.
    'deviceLens.benchmark.trigger': 'off',
  },
  workspace: exampleFiles(),
});
try {
  for (const [name, theme] of Object.entries(THEMES)) {
    server.configure({ 'workbench.colorTheme': theme });
    await picturesOf(server, name);
    await pictureOfMap(server, name);
  }
} finally {
  await server.stop();
}
