// Shows in the terminal what an editor would show for some Python files: findings, their fixes, hover texts.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyEdits, diffLines, editsFor } from './edits.mjs';
import { bold, cyan, dim, green, red, renderMarkdown, SEVERITIES, underline } from './terminal.mjs';

const SKIPPED_FOLDERS = new Set(['node_modules', '__pycache__', 'venv', 'env', 'build', 'dist']);

/** The Python files at or below `target`, in order. */
export function pythonFiles(target) {
  if (statSync(target).isFile()) {
    return [target];
  }
  const entries = readdirSync(target, { withFileTypes: true });
  entries.sort(
    (a, b) => Number(a.isDirectory()) - Number(b.isDirectory()) || (a.name < b.name ? -1 : 1),
  );
  return entries.flatMap((entry) => {
    const at = path.join(target, entry.name);
    if (entry.isDirectory()) {
      const skipped = entry.name.startsWith('.') || SKIPPED_FOLDERS.has(entry.name);
      return skipped ? [] : pythonFiles(at);
    }
    return entry.isFile() && entry.name.endsWith('.py') ? [at] : [];
  });
}

/** Prints everything about `files`; returns how many findings there were, by severity's name. */
export async function showFindings(server, files, print) {
  const counts = {};
  const documents = [];
  for (const file of files) {
    documents.push(await server.open(file));
  }
  for (const document of documents) {
    const findings = await server.diagnostics(document);
    for (const { severity = 1 } of findings) {
      const { name } = SEVERITIES[severity];
      counts[name] = (counts[name] ?? 0) + 1;
    }
    if (findings.length > 0) {
      await showFile(server, document, findings, print);
    }
  }
  return counts;
}

async function showFile(server, document, findings, print) {
  print('');
  print(underline(bold(relative(document.file))));
  const ordered = [...findings].sort((a, b) => compare(a.range.start, b.range.start));
  const hovered = new Set();
  for (const finding of ordered) {
    print('');
    showFinding(document, finding, print);
    showFixes(document, await server.quickFixes(document, finding), print);
    await showHover(server, document, finding, hovered, print);
  }
}

function compare(a, b) {
  return a.line - b.line || a.character - b.character;
}

function showFinding(document, { range, severity = 1, code, message, relatedInformation }, print) {
  const { name, paint } = SEVERITIES[severity];
  print(`  ${paint(bold(name))} ${bold(String(code))} ${dim(place(document.file, range.start))}`);
  print(`  ${message.split('\n').join('\n  ')}`);
  showSource(document.text, range, paint, print);
  for (const { location, message: why } of relatedInformation ?? []) {
    print(`    ${dim('↳')} ${dim(origin(document.file, location))}  ${why}`);
  }
}

/** The line of the finding, with the place underlined. */
function showSource(text, { start, end }, paint, print) {
  const source = text.split(/\r\n|\r|\n/)[start.line] ?? '';
  const last = end.line === start.line ? end.character : source.length;
  const number = String(start.line + 1).padStart(5);
  const blank = source.slice(0, start.character).replace(/[^\t]/g, ' ');
  print(`  ${dim(`${number} │`)} ${source}`);
  print(`  ${dim('      │')} ${blank}${paint('~'.repeat(Math.max(1, last - start.character)))}`);
}

function showFixes(document, actions, print) {
  for (const action of actions) {
    const edits = editsFor(action.edit, document.uri);
    // That any finding can be ignored on its line need not be shown for each.
    if (edits.length === 0 || action.title.startsWith('Ignore ')) {
      continue;
    }
    const mark = action.isPreferred ? green('✔ fix') : dim('· offer');
    print(`    ${mark}  ${action.title}`);
    for (const row of diffLines(document.text, applyEdits(document.text, edits))) {
      print(row === null ? `      ${dim('⋮')}` : `      ${diffRow(row)}`);
    }
  }
}

function diffRow({ mark, line, text }) {
  const row = `${String(line).padStart(4)} ${mark} ${text}`;
  return mark === '-' ? red(row) : mark === '+' ? green(row) : dim(row);
}

/** What the pointer would show on the finding; the same text is not shown twice in a file. */
async function showHover(server, document, { range }, hovered, print) {
  for (const position of pointedAt(document.text, range)) {
    const hover = await server.hover(document, position);
    if (hover !== undefined && !hovered.has(hover.text)) {
      hovered.add(hover.text);
      print(`    ${cyan('☞ hover')}`);
      for (const line of renderMarkdown(hover.text)) {
        print(`      ${dim('│')} ${line}`);
      }
    }
  }
}

/** Where a user would point: at the start of the finding, and at the method that it calls, or its last name. */
function pointedAt(text, { start, end }) {
  const source = text.split(/\r\n|\r|\n/)[start.line] ?? '';
  const last = end.line === start.line ? end.character : source.length;
  const finding = source.slice(start.character, last);
  const methods = [...finding.matchAll(/(?<=\.)\w+(?=\()/g)];
  const names = [...finding.matchAll(/[A-Za-z_]\w*/g)];
  const character = start.character + ((methods.at(-1) ?? names.at(-1))?.index ?? 0);
  return [start, { line: start.line, character }];
}

/** Where a related location is; in the same file its line says it. */
function origin(file, { uri, range }) {
  const other = fileURLToPath(uri);
  return other === file ? `line ${range.start.line + 1}` : place(other, range.start);
}

function place(file, { line, character }) {
  return `${relative(file)}:${line + 1}:${character + 1}`;
}

function relative(file) {
  const below = path.relative(process.cwd(), file);
  return below.startsWith('..') ? file : below.split(path.sep).join('/');
}
