// How things look in a terminal: colours where it has them, Markdown as plain text.

const colours = process.stdout.isTTY ? !process.env.NO_COLOR : Boolean(process.env.FORCE_COLOR);

function style(open, close) {
  return (text) => (colours ? `\x1b[${open}m${text}\x1b[${close}m` : String(text));
}

export const bold = style(1, 22);
export const dim = style(2, 22);
export const red = style(31, 39);
export const green = style(32, 39);
export const yellow = style(33, 39);
export const blue = style(34, 39);
export const cyan = style(36, 39);
export const underline = style(4, 24);

/** The four severities of LSP, from 1. */
export const SEVERITIES = [
  undefined,
  { name: 'error', paint: red },
  { name: 'warning', paint: yellow },
  { name: 'information', paint: blue },
  { name: 'hint', paint: dim },
];

/** Markdown of a hover, as lines for the terminal. Command links have no meaning there and go. */
export function renderMarkdown(markdown) {
  return markdown
    .replace(/\[[^\]]*\]\(command:[^)]*\)( ?[·|])? ?/g, '')
    .replace(/<!--.*?-->/gs, '')
    .split('\n')
    .filter((line) => !/^\s*(\|?[\s:|-]+\|[\s:|-]*|---+|```\w*)\s*$/.test(line))
    .map(renderLine)
    .filter((line, index, lines) => line !== '' || (lines[index - 1] ?? '') !== '')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
    .split('\n');
}

function renderLine(line) {
  const cells = /^\s*\|(.*)\|\s*$/.exec(line);
  const text = cells
    ? cells[1]
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim())
        .join('  ')
    : line;
  return text
    .replace(/\$\([a-z-]+\)\s*/g, '')
    .replace(/&nbsp;/g, ' ')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\*\*(.+?)\*\*/g, (_, inner) => bold(inner))
    .replace(/`([^`]+)`/g, (_, inner) => cyan(inner))
    .replace(/\\([\\`*_{}[\]()#+.!|<>~-])/g, '$1');
}
