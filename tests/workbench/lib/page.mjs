// One browser page with the editor in it: what a user does and sees.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from './chromium.mjs';

const OUTPUT = fileURLToPath(new URL('../output', import.meta.url));
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** How long anything in the editor may take to appear, in milliseconds. */
const PATIENCE_MS = 60_000;

export class EditorPage {
  /**
   * Opens `file`, at a line that counts from 1 where one is given, and runs `scenario` on the page; it is closed whatever happens, and
   * a failure leaves a picture of what was on the screen.
   */
  static async use(server, { file, line }, scenario) {
    const page = await EditorPage.open(server, file, line);
    try {
      await scenario(page);
    } catch (error) {
      await page.screenshot(`failure-${path.parse(file).name}`);
      throw error;
    } finally {
      await page.close();
    }
  }

  static async open(server, file, line) {
    const browser = await chromium.launch({ executablePath: findChromium(), args: FLAGS });
    const context = await browser.newContext({
      viewport: { width: 860, height: 560 },
      deviceScaleFactor: 1.5,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const editor = new EditorPage(browser, page, server);
    await page.goto(server.address(file, line));
    await page.waitForSelector('.monaco-workbench .part.statusbar');
    await page.locator('.editor-instance .view-line').first().waitFor();
    await editor.command('View: Close Primary Side Bar');
    if (line !== undefined) {
      await page.locator('.statusbar-item', { hasText: `Ln ${line}, Col 1` }).waitFor();
    }
    return editor;
  }

  constructor(browser, page, server) {
    this.browser = browser;
    this.page = page;
    this.server = server;
  }

  get lines() {
    return this.page.locator('.editor-instance .monaco-editor .view-line');
  }

  /** A line of code in a cell of a notebook. */
  cellLine(text) {
    return this.page.locator('.notebookOverlay .cell .view-line', { hasText: text }).first();
  }

  /** Waits until something of a severity is underlined: error, warning, info or hint. */
  async squiggle(severity) {
    await this.page.locator(`.squiggly-${severity}`).first().waitFor();
  }

  async noSquiggle(severity) {
    await this.page.locator(`.squiggly-${severity}`).first().waitFor({ state: 'detached' });
  }

  /** The middle of the first appearance of `word` in the line that contains `text`, on the screen. */
  async locate(text, word) {
    const line = this.lines.filter({ hasText: text }).first();
    await line.waitFor();
    const box = await line.evaluate((element, wanted) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const nodes = [];
      let whole = '';
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        nodes.push({ node, from: whole.length });
        whole += node.textContent.replaceAll('\u00a0', ' ');
      }
      const at = whole.indexOf(wanted);
      const { node, from } = nodes.findLast((entry) => entry.from <= at);
      const range = document.createRange();
      range.setStart(node, at - from);
      range.setEnd(node, Math.min(node.length, at - from + wanted.length));
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    }, word);
    return box;
  }

  /** Rests the pointer on a word, and returns what the hover says. */
  async hover(text, word, expected) {
    const { x, y } = await this.locate(text, word);
    await this.page.mouse.move(x - 3, y);
    await this.page.mouse.move(x, y, { steps: 4 });
    return this.shownHover(expected);
  }

  /** Waits for a hover with a text in it, and returns all that it says. */
  async shownHover(expected) {
    const box = this.hoverWith(expected);
    await box.waitFor();
    return plain(await box.innerText());
  }

  /** Whether the hover with a text in it is too high to be seen without scrolling. */
  async hoverScrolls(expected) {
    const content = this.hoverWith(expected).locator('.monaco-hover-content').first();
    return content.evaluate((element) => element.scrollHeight > element.clientHeight + 1);
  }

  hoverWith(expected) {
    return this.page.locator('.monaco-hover:not(.hidden)', { hasText: expected }).first();
  }

  /** Clicks a link of the hover that is shown. */
  async followInHover(text) {
    await this.page.locator('.monaco-hover:not(.hidden) a', { hasText: text }).first().click();
  }

  /** Takes the pointer and its hover away. */
  async leave() {
    await this.page.mouse.move(2, 300);
    await this.page.keyboard.press('Escape');
  }

  async click(text, word) {
    const { x, y } = await this.locate(text, word);
    await this.page.mouse.click(x, y);
  }

  /**
   * Opens the quick fixes at the cursor, again until one with `title` is among them: the menu does not grow once it is
   * open, and the editor may be behind the server.
   */
  async openQuickFixes(title) {
    const menu = this.page.locator('.action-widget:not(.action-list-submenu-panel)');
    const rows = menu.locator('.monaco-list-row.action');
    const wanted = rows.filter({ hasText: title }).first();
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      await this.page.keyboard.press('Control+.');
      try {
        await wanted.waitFor({ timeout: PATIENCE_MS / 6 });
        return { menu, rows };
      } catch (error) {
        if (Date.now() > deadline) {
          throw error;
        }
        await this.page.keyboard.press('Escape');
      }
    }
  }

  /** Chooses a quick fix by keyboard, as users do; returns the titles of all. */
  async quickFix(title, beforeChoosing = async () => undefined) {
    const { menu, rows } = await this.openQuickFixes(title);
    const titles = (await rows.allInnerTexts()).map(plain);
    const focused = await rows.evaluateAll((all) =>
      all.findIndex((row) => row.classList.contains('focused')),
    );
    const wanted = titles.findIndex((entry) => entry.includes(title));
    for (let step = Math.max(0, focused); step < wanted; step += 1) {
      await this.page.keyboard.press('ArrowDown');
    }
    await beforeChoosing();
    await this.page.keyboard.press('Enter');
    await menu.waitFor({ state: 'hidden' });
    return titles;
  }

  async type(text) {
    await this.page.keyboard.type(text, { delay: 15 });
  }

  async press(...keys) {
    for (const key of keys) {
      await this.page.keyboard.press(key);
    }
  }

  /** Saves until the file on disk is no longer `before`: an edit may still be on its way into the text. */
  async save(file, before) {
    const deadline = Date.now() + PATIENCE_MS;
    while (this.server.read(file) === before && Date.now() < deadline) {
      await this.page.keyboard.press('Control+s');
      await this.page.waitForTimeout(200);
    }
    return this.server.read(file);
  }

  /** What is inside the panel of an extension, once it is loaded. */
  get webview() {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  }

  /** Waits until the cursor of the text is in a line, which counts from 1. */
  async cursorIn(line) {
    await this.page.locator('.statusbar-item', { hasText: `Ln ${line}, ` }).waitFor();
  }

  /** Runs a command of the palette by its full title. */
  async command(title) {
    await this.choose('F1', `>${title}`, title);
  }

  /**
   * Opens the quick input by a key, types `text` and takes the row with `title`; again until that row is there, as a quick
   * input that is still closing takes the next one with it. It is gone when this returns.
   */
  async choose(key, text, title) {
    const widget = this.page.locator('.quick-input-widget');
    const row = widget.locator('.monaco-list-row', { hasText: title }).first();
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      await this.page.keyboard.press(key);
      try {
        await widget.locator('input').fill(text, { timeout: PATIENCE_MS / 6 });
        await row.waitFor({ timeout: PATIENCE_MS / 6 });
        break;
      } catch (error) {
        if (Date.now() > deadline) {
          throw error;
        }
        await this.page.keyboard.press('Escape');
      }
    }
    // The key takes the row that has the focus, which comes after the rows.
    await widget.locator('.monaco-list-row.focused', { hasText: title }).first().waitFor();
    await this.page.keyboard.press('Enter');
    await row.waitFor({ state: 'hidden' });
  }

  /** Reloads the window as it is: an address with a file in it would have that open, and nothing else. */
  async reload() {
    await this.page.evaluate(() => {
      const address = new URL(location.href);
      address.searchParams.delete('payload');
      history.replaceState(null, '', address);
    });
    const loaded = this.page.waitForEvent('load');
    await this.command('Developer: Reload Window');
    await loaded;
    await this.page.waitForSelector('.monaco-workbench .part.statusbar');
  }

  /** Opens a file of the workspace in the editor that is made for it. */
  async openByName(file) {
    await this.choose('Control+p', this.server.path(file), file);
    await this.tab(file);
  }

  /** The text that the editor shows, line by line. */
  async text() {
    return (await this.lines.allInnerTexts()).map(plain).join('\n');
  }

  /** The report of the extension, read again until it contains `expected`. */
  async debugInformation(expected = '') {
    return untilIncluded(expected, async () => {
      await this.command('Device Lens: Show Debug Information');
      await this.lines.filter({ hasText: '# Device Lens: debug information' }).first().waitFor();
      const report = await this.text();
      await this.command('View: Revert and Close Editor');
      return report;
    });
  }

  /** What the language status says, read again until `expected` is in it. */
  async status(expected) {
    const popup = this.page.locator('.monaco-hover:not(.hidden)').first();
    return untilIncluded(expected, async () => {
      await this.leave();
      await this.page.locator('[id="status.languageStatus"]').hover();
      await popup.waitFor();
      return plain(await popup.innerText());
    });
  }

  /** Waits for an editor's tab. */
  async tab(label) {
    await this.page.locator('.tabs-container .tab', { hasText: label }).first().waitFor();
  }

  /** The text of the Problems view, once it has `expected` in it and everything is unfolded. */
  async problems(expected) {
    const panel = this.page.locator('.markers-panel-container');
    const row = panel.locator('.monaco-list-row', { hasText: expected }).first();
    await row.waitFor();
    await row.click();
    await this.page.keyboard.press('ArrowRight');
    await panel.locator('.monaco-list-row[aria-level="3"]').first().waitFor();
    return plain(await panel.innerText());
  }

  async toast(text) {
    const toast = this.page.locator('.notification-toast', { hasText: text });
    await toast.waitFor();
    return plain(await toast.innerText());
  }

  async screenshot(name) {
    mkdirSync(OUTPUT, { recursive: true });
    // What fades in is there at once.
    await this.page.screenshot({
      path: path.join(OUTPUT, `${name}.png`),
      animations: 'disabled',
    });
  }

  async close() {
    await this.browser.close();
  }
}

/** Reads until `expected` is in what was read. */
async function untilIncluded(expected, read) {
  const deadline = Date.now() + PATIENCE_MS;
  let text = await read();
  while (!text.includes(expected)) {
    if (Date.now() > deadline) {
      throw new Error(`still without "${expected}":\n${text}`);
    }
    text = await read();
  }
  return text;
}

function plain(text) {
  return text.replaceAll('\u00a0', ' ').replaceAll('\u200b', '');
}
