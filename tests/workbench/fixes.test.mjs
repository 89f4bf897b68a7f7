// What the extension is for, as a user meets it: type a bug, see it, read about it, mend it, save.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EditorServer } from './lib/editorServer.mjs';
import { EditorPage } from './lib/page.mjs';

const DISCARDED = `import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
weights = torch.ones(10)
images = torch.randn(64, 3, 32, 32)

print(images.mean())
`;

const LOOP = `import torch
from torch import nn

device = torch.device("cuda")


def main():
    weights = torch.ones(10)
    net = nn.Linear(10, 10).to(device)
    for step in range(100):
        # one weight for each class
        scale = weights.to(device)  # the same each time
        output = net(torch.randn(64, 10, device=device))
        loss = (output * scale).mean()
        loss.backward()
`;

const HOISTED = `import torch
from torch import nn

device = torch.device("cuda")


def main():
    weights = torch.ones(10)
    net = nn.Linear(10, 10).to(device)
    # one weight for each class
    scale = weights.to(device)  # the same each time
    for step in range(100):
        output = net(torch.randn(64, 10, device=device))
        loss = (output * scale).mean()
        loss.backward()
`;

let server;

before(async () => {
  server = await EditorServer.start({
    extensions: [process.env.DEVICE_LENS_PACKAGE],
    settings: { 'workbench.colorTheme': 'Default Dark Modern' },
    workspace: { 'train.py': DISCARDED, 'loop.py': LOOP },
  });
});

after(() => server?.stop());

test('a discarded transfer is typed, seen, explained, fixed by keyboard and saved', () =>
  EditorPage.use(server, { file: 'train.py', line: 6 }, async (page) => {
    await page.type('images.to(device)');
    await page.squiggle('warning');
    const hover = await page.hover('images.to(device)', 'to', 'discarded-transfer');
    assert.match(hover, /Device Lens/);
    await page.screenshot('discarded-hover-dark');
    await page.leave();
    await page.click('images.to(device)', 'to');
    const titles = await page.quickFix('images = images.to(device)', () =>
      page.screenshot('discarded-menu-dark'),
    );
    assert.match(titles[0], /images = images\.to\(device\)/, 'the safe fix comes first');
    await page.noSquiggle('warning');
    const saved = await page.save('train.py', DISCARDED);
    const expected = DISCARDED.replace('32, 32)\n\n', '32, 32)\nimages = images.to(device)\n');
    assert.equal(saved, expected);
  }));

test('a transfer is hoisted out of its loop, and comments and indentation are kept', async () => {
  server.configure({ 'workbench.colorTheme': 'Default Light Modern' });
  await EditorPage.use(server, { file: 'loop.py' }, async (page) => {
    await page.squiggle('info');
    await page.click('scale = weights.to(device)', 'to');
    const titles = await page.quickFix('above the loop', () => page.screenshot('hoist-menu-light'));
    assert.ok(titles.length > 0);
    const saved = await page.save('loop.py', LOOP);
    assert.equal(saved, HOISTED);
    await page.screenshot('hoist-done-light');
  });
});
