// Applies text edits, and shows what they change.

/** The text after `edits`; lines and characters count from 0, characters in UTF-16 units as in LSP. */
export function applyEdits(text, edits) {
  const starts = lineStarts(text);
  const offset = ({ line, character }) =>
    line < starts.length ? starts[line] + character : text.length;
  const ordered = edits
    .map((edit, index) => ({
      ...edit,
      from: offset(edit.range.start),
      to: offset(edit.range.end),
      index,
    }))
    .sort((a, b) => a.from - b.from || a.index - b.index);
  let result = '';
  let at = 0;
  for (const { from, to, newText } of ordered) {
    result += text.slice(at, from) + newText;
    at = to;
  }
  return result + text.slice(at);
}

function lineStarts(text) {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/g)) {
    starts.push(match.index + match[0].length);
  }
  return starts;
}

/** The edits of a workspace edit for one document. */
export function editsFor(edit, uri) {
  const changed = (edit?.documentChanges ?? [])
    .filter((change) => change.textDocument?.uri === uri)
    .flatMap((change) => change.edits);
  return [...(edit?.changes?.[uri] ?? []), ...changed];
}

/**
 * The lines in which two texts differ, with `context` lines around each place. Rows are `{mark, line, text}`: the mark
 * is '-', '+' or ' ', the line counts from 1 in the old text, or in the new one for '+'; `null` parts two places.
 */
export function diffLines(before, after, context = 1) {
  const rows = alignLines(before.split('\n'), after.split('\n'));
  const near = (index) =>
    rows.slice(Math.max(0, index - context), index + context + 1).some(({ mark }) => mark !== ' ');
  const shown = [];
  let last = -1;
  rows.forEach((row, index) => {
    if (near(index)) {
      if (last >= 0 && index > last + 1) {
        shown.push(null);
      }
      shown.push(row);
      last = index;
    }
  });
  return shown;
}

/** Aligns along a longest common subsequence; the equal head and tail, nearly everything, are cut off first. */
function alignLines(old, now) {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) {
    head += 1;
  }
  let tail = 0;
  while (
    tail < Math.min(old.length, now.length) - head &&
    old.at(-1 - tail) === now.at(-1 - tail)
  ) {
    tail += 1;
  }
  const middle = alignMiddle(
    old.slice(head, old.length - tail),
    now.slice(head, now.length - tail),
  );
  return [
    ...old.slice(0, head).map((text, index) => ({ mark: ' ', line: index + 1, text })),
    ...middle.map((row) => ({ ...row, line: row.line + head })),
    ...old.slice(old.length - tail).map((text, index) => ({
      mark: ' ',
      line: old.length - tail + index + 1,
      text,
    })),
  ];
}

function alignMiddle(old, now) {
  const common = commonLengths(old, now);
  const rows = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      rows.push({ mark: ' ', line: i + 1, text: old[i] });
      i += 1;
      j += 1;
    } else if (i < old.length && (j >= now.length || common[i + 1][j] >= common[i][j + 1])) {
      rows.push({ mark: '-', line: i + 1, text: old[i] });
      i += 1;
    } else {
      rows.push({ mark: '+', line: j + 1, text: now[j] });
      j += 1;
    }
  }
  return rows;
}

/** `lengths[i][j]`: how many lines `old[i:]` and `now[j:]` have in common, in order. */
function commonLengths(old, now) {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      lengths[i][j] =
        old[i] === now[j]
          ? lengths[i + 1][j + 1] + 1
          : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}
