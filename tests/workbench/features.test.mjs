// What else the extension puts into the editor: fix all, hints and their switch, rule pages, problems, notebooks.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EditorServer } from './lib/editorServer.mjs';
import { EditorPage } from './lib/page.mjs';

const TWICE = `import torch

device = torch.device("cuda")
images = torch.randn(64, 3, 224, 224)
labels = torch.randn(64)
images.to(device)  # the pictures
labels.to(device)
`;

const HINTED = `import torch

images = torch.randn(64, 3, 224, 224)
moved = images.to("cuda")
`;

const SAVED = `import torch

images = torch.randn(64, 3, 224, 224)

moved = images.cuda()
`;

const MISMATCH = `import torch

left = torch.ones(3, device="cuda")
right = torch.ones(3, device="cpu")
print(left + right)
`;

/** A notebook whose second cell loses what the first has made. */
const NOTEBOOK = JSON.stringify({
  cells: [
    ['%matplotlib inline\n', 'import torch\n', 'weights = torch.ones(10)'],
    ['weights.to("cuda")'],
  ].map((source) => ({
    cell_type: 'code',
    execution_count: null,
    metadata: {},
    outputs: [],
    source,
  })),
  metadata: { language_info: { name: 'python' } },
  nbformat: 4,
  nbformat_minor: 5,
});

let server;

before(async () => {
  server = await EditorServer.start({
    extensions: [process.env.DEVICE_LENS_PACKAGE],
    // Whether this machine can measure is another matter: measuring.test.mjs.
    machine: { 'deviceLens.benchmark.trigger': 'off' },
    workspace: {
      'twice.py': TWICE,
      'hinted.py': HINTED,
      'saved.py': SAVED,
      'mismatch.py': MISMATCH,
      'explained.py': TWICE,
      'analysis.ipynb': NOTEBOOK,
    },
  });
});

after(() => server?.stop());

test('one command mends all that is safe to mend', () =>
  EditorPage.use(server, { file: 'twice.py' }, async (page) => {
    await page.squiggle('warning');
    await page.command('Device Lens: Fix All Safe Findings in File');
    await page.noSquiggle('warning');
    const expected = TWICE.replace('images.to', 'images = images.to').replace(
      'labels.to',
      'labels = labels.to',
    );
    assert.equal(await page.save('twice.py', TWICE), expected);
  }));

test('the cost of a transfer is shown beside it, until it is switched off', () =>
  EditorPage.use(server, { file: 'hinted.py' }, async (page) => {
    const hint = page.lines.filter({ hasText: '38.5 MB' });
    await hint.waitFor();
    await page.screenshot('hint-dark');
    await page.command('Device Lens: Toggle Transfer Cost Hints');
    await hint.waitFor({ state: 'detached' });
    await page.command('Device Lens: Toggle Transfer Cost Hints');
    await hint.waitFor();
  }));

test('findings wait for the save where the user wants it so', async () => {
  server.configure({ 'deviceLens.run': 'onSave' });
  try {
    await EditorPage.use(server, { file: 'saved.py', line: 4 }, async (page) => {
      await page.lines.filter({ hasText: '38.5 MB' }).waitFor();
      await page.type('images.to("cuda")');
      // The costs of what is typed are there: the text was analysed.
      const typed = page.lines.filter({ hasText: 'images.to("cuda")' });
      await typed.filter({ hasText: '38.5 MB' }).waitFor();
      assert.equal(await page.page.locator('.squiggly-warning').count(), 0);
      await page.save('saved.py', SAVED);
      await page.squiggle('warning');
    });
  } finally {
    server.configure({ 'deviceLens.run': 'onType' });
  }
});

test('the page of a rule opens as a rendered page', () =>
  EditorPage.use(server, { file: 'explained.py' }, async (page) => {
    await page.squiggle('warning');
    await page.click('images.to(device)', 'to');
    await page.quickFix('Explain discarded-transfer');
    await page.tab('Preview discarded-transfer.md');
  }));

test('the name of a rule in a hover leads to its page', () =>
  EditorPage.use(server, { file: 'explained.py' }, async (page) => {
    await page.squiggle('warning');
    await page.hover('images.to(device)', 'to', 'discarded-transfer');
    await page.followInHover('discarded-transfer');
    await page.tab('discarded-transfer.md');
  }));

test('a mismatch tells where both sides come from', () =>
  EditorPage.use(server, { file: 'mismatch.py' }, async (page) => {
    await page.squiggle('error');
    await page.press('Control+Shift+M');
    const problems = await page.problems('device-mismatch');
    assert.match(problems, /\bLn 3\b/, 'where the left side was made');
    assert.match(problems, /\bLn 4\b/, 'where the right side was made');
    await page.screenshot('problems-dark');
  }));

test('the status item tells how the server is, with a way to its log', () =>
  EditorPage.use(server, { file: 'hinted.py' }, async (page) => {
    await page.lines.filter({ hasText: '38.5 MB' }).waitFor();
    const status = await page.status('ready');
    assert.match(status, /Device Lens/);
    assert.match(status, /Show Logs/);
    await page.screenshot('status-dark');
  }));

test('a notebook is analysed across its cells, magics included', () =>
  EditorPage.use(server, { file: 'hinted.py' }, async (page) => {
    await page.openByName('analysis.ipynb');
    await page.squiggle('warning');
    await page.screenshot('notebook-dark');
    await page.cellLine('weights.to("cuda")').click();
    await page.command('Device Lens: Fix All Safe Findings in File');
    await page.cellLine('weights = weights.to("cuda")').waitFor();
    await page.noSquiggle('warning');
  }));
