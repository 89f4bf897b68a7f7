// The device map of a training script: opened, read, clicked, walked through by keyboard, kept up to date.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EditorServer } from './lib/editorServer.mjs';
import { EditorPage } from './lib/page.mjs';

const TRAINING = `import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(10, 2).to(device)
data = TensorDataset(torch.randn(640, 10), torch.zeros(640, dtype=torch.int64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, target in DataLoader(data, batch_size=64, drop_last=True):
    inputs = inputs.to(device)
    target = target.to(device)
    loss = nn.functional.cross_entropy(model(inputs), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
`;

const PLAIN = `print("nothing to see")
`;

let server;

before(async () => {
  server = await EditorServer.start({
    extensions: [process.env.DEVICE_LENS_PACKAGE],
    workspace: { 'train.py': TRAINING, 'plain.py': PLAIN },
    settings: { 'security.workspace.trust.startupPrompt': 'never' },
    trust: false,
  });
});

after(() => server?.stop());

/** Opens the map once the extension is there: a palette that opens before lacks the command. */
async function openMap(page) {
  await page.status('Device Lens');
  await page.command('Device Lens: Show Device Map');
  await page.tab('Device map: ');
}

test('values and transfers are drawn, and a click or a key leads to the line', () =>
  EditorPage.use(server, { file: 'train.py', line: 1 }, async (page) => {
    await openMap(page);
    const moved = page.webview.locator('g.node', { hasText: 'inputs' }).filter({ hasText: 'cuda' });
    await moved.waitFor();
    const transfer = page.webview.locator('g.edge.transfer', { hasText: '2.56 kB' });
    assert.match(
      await transfer.getAttribute('aria-label'),
      /^transfer from inputs to inputs, cpu → cuda.*, line 10$/,
    );
    await page.webview.locator('.remark', { hasText: 'Each iteration moves 3.07 kB' }).waitFor();
    await page.webview.locator('.note', { hasText: 'The workspace is not trusted' }).waitFor();
    await page.screenshot('device-map-dark');
    await transfer.click();
    await page.cursorIn(10);
    const wait = page.webview.locator('g.edge.wait');
    await wait.focus();
    await wait.press('Enter');
    await page.cursorIn(16);
  }));

test('the map follows the text and another part of it', () =>
  EditorPage.use(server, { file: 'train.py', line: 11 }, async (page) => {
    await openMap(page);
    const transfers = page.webview.locator('g.edge.transfer');
    await transfers.nth(1).waitFor();
    await page.click('target = target.to(device)', 'target');
    await page.press('Home', 'Shift+End', 'Backspace');
    await page.type('target.to(device)');
    await page.webview.locator('.problem', { hasText: 'line 11' }).waitFor();
    await page.webview.locator('g.node', { hasText: 'result thrown away' }).waitFor();
    await page.webview.locator('select').selectOption({ label: "the file's main flow" });
    await page.webview.locator('.remark', { hasText: 'This part' }).waitFor();
  }));

test('a file without tensors says so', () =>
  EditorPage.use(server, { file: 'plain.py' }, async (page) => {
    await openMap(page);
    const remark = page.webview.locator('.remark');
    await remark.filter({ hasText: 'No tensors, modules or transfers are known' }).waitFor();
  }));

test('a reloaded window has its map again', () =>
  EditorPage.use(server, { file: 'train.py', line: 1 }, async (page) => {
    await openMap(page);
    const transfer = page.webview.locator('g.edge.transfer', { hasText: '2.56 kB' });
    await transfer.waitFor();
    await page.reload();
    await page.tab('Device map: train.py');
    await transfer.waitFor();
    await transfer.click();
    await page.cursorIn(10);
  }));
