// The panel of the transfer curve: estimates first, measurements of the project's own PyTorch after a calibration.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EditorPage } from './lib/page.mjs';
import { torchProject } from './lib/torchProject.mjs';

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

const project = torchProject({ 'moved.py': MOVED });
const { skip } = project;

test('the panel shows estimates, calibrates, and leads to a transfer', { skip }, () =>
  EditorPage.use(project.server, { file: 'moved.py' }, async (editor) => {
    const panel = await open(editor);
    await panel.locator('.basis', { hasText: 'Nothing is measured' }).waitFor();
    await panel.locator('.u-legend', { hasText: 'cpu → cuda, pinned (typical)' }).waitFor();
    assert.equal(await panel.locator('.transfer.typical').count(), 4);
    const points = await panel.locator('.transfer').evaluateAll((all) => all.map((b) => b.title));
    assert.ok(points.some((title) => /^Line 6: images\.to\("cuda"\), 38\.5 MB, ≈ /.test(title)));
    assert.equal(
      await panel.locator('.left-out').innerText(),
      '1 transfer of unknown size is not shown.',
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
    project.server.configure({ 'workbench.colorTheme': theme });
    await EditorPage.use(project.server, { file: 'moved.py' }, async (editor) => {
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
