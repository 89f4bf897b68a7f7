// The panel of the transfer curve: estimates first, measurements of the project's own PyTorch after a calibration.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EditorServer } from './lib/editorServer.mjs';
import { EditorPage } from './lib/page.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PYTHON = process.env.DEVICE_LENS_TORCH_PYTHON ?? path.join(ROOT, '.venv', 'bin', 'python');
const MOVED = `import torch

images = torch.randn(64, 3, 224, 224)
labels = torch.zeros(64, dtype=torch.int64)
for step in range(100):
    batch = images.to("cuda")
    wanted = labels.to("cuda")
    mask = torch.ones(64, 1000, pin_memory=True).to("cuda", non_blocking=True)
    back = batch.cpu()


def padding(count):
    return torch.zeros(count).to("cuda")
`;
const THEMES = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  contrast: 'Default High Contrast',
};

/** How long a calibration may take on a machine that does other things too, in milliseconds. */
const PATIENCE_MS = 300_000;

/** Why nothing can be measured here, or false where PyTorch is at hand. */
function missing() {
  try {
    execFileSync(PYTHON, ['-c', 'import torch'], { stdio: 'ignore' });
    return false;
  } catch {
    const why = existsSync(PYTHON) ? 'has no torch' : 'does not exist';
    return `${PYTHON} ${why}: set DEVICE_LENS_TORCH_PYTHON`;
  }
}

const skip = missing();
let server;
let cache;

before(async () => {
  if (skip) {
    return;
  }
  cache = mkdtempSync(path.join(tmpdir(), 'device-lens-cache-'));
  server = await EditorServer.start({
    extensions: [process.env.DEVICE_LENS_PACKAGE],
    // Not the user's: a remote window takes settings of this scope from its machine alone.
    machine: { 'deviceLens.projectInterpreter': [PYTHON] },
    workspace: { 'moved.py': MOVED },
    environment: { XDG_CACHE_HOME: cache },
  });
});

after(async () => {
  await server?.stop();
  if (cache !== undefined) {
    rmSync(cache, { recursive: true, force: true });
  }
});

test('the panel shows estimates, calibrates, and leads to a transfer', { skip }, () =>
  EditorPage.use(server, { file: 'moved.py' }, async (editor) => {
    const panel = await open(editor);
    await panel.locator('.basis', { hasText: 'Nothing is measured' }).waitFor();
    await panel.locator('.u-legend', { hasText: 'cpu → cuda, pinned (typical)' }).waitFor();
    assert.equal(await panel.locator('.transfer.typical').count(), 4);
    const points = await panel.locator('.transfer').evaluateAll((all) => all.map((b) => b.title));
    assert.ok(points.some((title) => /^Line 6: images\.to\("cuda"\), 38\.5 MB, ≈ /.test(title)));
    assert.equal(
      await panel.locator('.left-out').innerText(),
      '1 transfer is not shown: 1 of unknown size.',
    );
    await editor.screenshot('transfer-curve-typical');

    await panel.locator('.calibrate').click();
    await panel.locator('.calibrate', { hasText: 'Calibrating…' }).waitFor();
    const measured = panel.locator('.u-legend', { hasText: '(measured)' });
    await measured.waitFor({ timeout: PATIENCE_MS });
    assert.match(await panel.locator('.basis').innerText(), /^Measured on /);
    await panel.locator('.calibrate', { hasText: 'Calibrate this machine' }).waitFor();
    assert.match(await editor.toast('Device Lens: Measured'), /Measured \d+ routes? on /);
    await editor.command('Notifications: Clear All Notifications');
    await panel.locator('.transfer[title*="batch.cpu()"]').click();
    await editor.page
      .locator('.statusbar-item', { hasText: 'Ln 9, Col 23 (11 selected)' })
      .waitFor();
  }),
);

for (const [word, theme] of Object.entries(THEMES)) {
  test(`the panel is drawn in the colours of the theme: ${word}`, { skip }, async () => {
    server.configure({ 'workbench.colorTheme': theme });
    await EditorPage.use(server, { file: 'moved.py' }, async (editor) => {
      const panel = await open(editor);
      await panel.locator('.transfer').first().waitFor();
      const [text, behind] = await panel.locator('.basis').evaluate((element) => {
        const style = getComputedStyle(element);
        return [style.color, getComputedStyle(document.documentElement).backgroundColor];
      });
      assert.notEqual(text, behind);
      await editor.screenshot(`transfer-curve-${word}`);
    });
  });
}

/** Runs the command; what is inside the panel. */
async function open(editor) {
  await editor.page.setViewportSize({ width: 1500, height: 900 });
  await editor.lines.filter({ hasText: '38.5 MB' }).first().waitFor();
  await editor.command('Device Lens: Show Transfer Curve');
  return editor.page.frameLocator('iframe.webview.ready').frameLocator('iframe');
}
