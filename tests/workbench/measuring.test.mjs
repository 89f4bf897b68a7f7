// A hover has a transfer or an operation measured by the project's own PyTorch, and the next hover shows what came out.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { EditorPage } from './lib/page.mjs';
import { torchProject } from './lib/torchProject.mjs';

const MOVED = `import torch

images = torch.randn(64, 3, 224, 224)
moved = images.to("cuda")
`;

const COMPUTED = `import torch

small = torch.randn(3, 3)
product = small @ small
for step in range(100):
    batch = torch.randn(64, 3, 224, 224).to("cuda")
`;

/** How long a measurement may take on a machine that does other things too, in milliseconds. */
const PATIENCE_MS = 90_000;

const project = torchProject({ 'moved.py': MOVED, 'computed.py': COMPUTED });
const { skip } = project;

test('a hover measures, and the next one shows the measurement', { skip }, () =>
  EditorPage.use(project.server, { file: 'moved.py' }, async (page) => {
    await page.lines.filter({ hasText: '38.5 MB' }).waitFor();
    const first = await page.hover('images.to', 'to', '38.5 MB');
    assert.match(first, /≈ .*measuring…/s);
    const shown = await hoverUntil(page, /Measured on |What was measured instead/);
    await page.screenshot('measured-dark');
    if (shown.includes('What was measured instead')) {
      assert.match(shown, /No CUDA device to measure with/);
      assert.match(shown, /a plain copy of 38\.5 MB in host memory takes [\d.]+ .s/);
    } else {
      assert.match(shown, /[\d.]+ .s measured/);
    }
    assert.ok(kept().length > 0, 'the measurement is kept');
    await page.leave();
    await page.command('Device Lens: Clear Measurements');
    await until(() => kept().length === 0, 'what was measured is forgotten');
  }),
);

test('a command measures what is at the caret, and shows its hover', { skip }, () =>
  EditorPage.use(project.server, { file: 'computed.py', line: 4 }, async (page) => {
    await page.lines.filter({ hasText: '38.5 MB' }).waitFor();
    const before = await page.hover('small @', '@', 'float32 [3, 3]');
    assert.match(before, /Stay on the CPU/);
    assert.equal(await page.hoverScrolls('float32 [3, 3]'), false, 'all of it is seen at once');
    await page.leave();
    await page.click('product =', 'product');
    await page.leave(); // the pointer would show a hover of its own
    await page.command('Device Lens: Measure Transfer');
    const shown = await page.shownHover('measured');
    await page.screenshot('operation-dark');
    assert.match(shown, /^cpu · float32 \[3, 3\] · 36 B · [\d.]+ .s measured/);
    assert.match(shown, /Measured on .*\d{4}-\d\d-\d\d/);
    await page.leave();
    await page.hover('batch =', '.to(', 'cpu → cuda');
    await page.screenshot('loop-hover-dark');
  }),
);

/** The files with measurements. */
function kept() {
  return readdirSync(project.cache, { recursive: true }).filter((name) => name.endsWith('.json'));
}

async function until(holds, what) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!holds()) {
    assert.ok(Date.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Hovers again until what is shown matches. */
async function hoverUntil(page, wanted) {
  const deadline = Date.now() + PATIENCE_MS;
  let shown = 'nothing';
  while (Date.now() < deadline) {
    await page.leave();
    shown = await page.hover('images.to', 'to', '38.5 MB');
    if (wanted.test(shown)) {
      return shown;
    }
  }
  assert.fail(`the hover still says: ${shown}`);
}
