/** The page of the device map: what can be chosen above the picture, what it leaves out below. */
import type { Asked, DeviceMap, Location, Shown } from '../../src/panels/deviceMapModel';
import { openPage, type Page } from '../page';
import { drawMap } from './drawing';
import './style.css';
import { html } from './svg';
import { legendOf, lineOf } from './words';

/** How small a picture may become to fit, and the steps of the zoom. */
const SMALLEST = 0.7;
const STEP = 1.2;
const RANGE = { least: 0.3, most: 3 };

/** The zoom that the user chose; `undefined`: as it fits. */
let zoom: number | undefined;

openPage<Shown, Asked>((shown, page) => {
  const focused = document.activeElement?.getAttribute('data-key');
  const scrolled = { left: window.scrollX, top: window.scrollY };
  page.root.replaceChildren(
    ...('map' in shown ? contentOf(shown.map, page) : [said(shown.message)]),
  );
  if (focused) {
    page.root.querySelector<SVGElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }
  window.scrollTo(scrolled);
});

function contentOf(map: DeviceMap, page: Page<Asked>): HTMLElement[] {
  const head = html('header', {}, ...chooserOf(map, page), said(map.remark));
  if (map.nodes.length === 0) {
    return [head, ...notesOf(map)];
  }
  const go = (location: Location | null) => {
    if (location !== null) {
      page.ask({ reveal: location });
    }
  };
  const picture = drawMap(map, go);
  const frame = html('div', { class: 'frame' }, picture);
  head.append(html('div', { class: 'tools' }, legend(map), zoomOf(picture)));
  return [head, frame, ...problemsOf(map, go), ...notesOf(map)];
}

function said(text: string): HTMLElement {
  return html('p', { class: 'remark', role: 'status' }, text);
}

function chooserOf(map: DeviceMap, page: Page<Asked>): HTMLElement[] {
  if (map.parts.length === 0) {
    return [];
  }
  const options = map.parts.map(({ id, title }) => html('option', { value: id }, title));
  const chooser = html(
    'select',
    { 'data-key': 'part', 'aria-label': 'Part of the file' },
    ...options,
  );
  chooser.value = map.part ?? '';
  chooser.addEventListener('change', () => page.ask({ part: chooser.value }));
  return [chooser];
}

function legend(map: DeviceMap): HTMLElement {
  const entries = legendOf(map.nodes).map(({ device, style }) =>
    html('li', {}, html('span', { class: `swatch ${style}` }), device),
  );
  const arrows = [
    { kind: 'transfer', text: 'transfer' },
    { kind: 'wait', text: 'wait for the device' },
  ].filter(({ kind }) => map.edges.some((edge) => edge.kind === kind));
  const lines = arrows.map(({ kind, text }) =>
    html('li', {}, html('span', { class: `line ${kind}` }), text),
  );
  return html('ul', { class: 'legend', 'aria-label': 'Legend' }, ...entries, ...lines);
}

function zoomOf(picture: SVGSVGElement): HTMLElement {
  const natural = picture.viewBox.baseVal.width;
  const fitting = () => Math.min(1, Math.max(SMALLEST, (document.body.clientWidth - 40) / natural));
  const apply = () => {
    picture.setAttribute('width', String(Math.round(natural * (zoom ?? fitting()))));
  };
  const set = (wanted: number | undefined) => {
    zoom = wanted && Math.min(RANGE.most, Math.max(RANGE.least, wanted));
    apply();
  };
  const button = (text: string, name: string, press: () => void) => {
    const made = html(
      'button',
      { type: 'button', title: name, 'aria-label': name, 'data-key': name },
      text,
    );
    made.addEventListener('click', press);
    return made;
  };
  window.onresize = apply;
  apply();
  return html(
    'div',
    { class: 'zoom' },
    button('−', 'Zoom out', () => set((zoom ?? fitting()) / STEP)),
    button('+', 'Zoom in', () => set((zoom ?? fitting()) * STEP)),
    button('Fit', 'Fit the width', () => set(undefined)),
  );
}

/** Every mark of the picture in words, each said once for a line; it leads there. */
function problemsOf(map: DeviceMap, go: (location: Location | null) => void): HTMLElement[] {
  const entries = new Map<string, HTMLElement>();
  for (const item of [...map.nodes, ...map.edges]) {
    for (const { message, severity } of item.problems) {
      const text = `${lineOf(item)}: ${message}`;
      const attributes = { type: 'button', class: 'problem', 'data-key': `problem-${text}` };
      const button = html('button', attributes, ...coded(text));
      button.addEventListener('click', () => go(item.location));
      entries.set(text, html('li', { class: `mark-${severity}` }, button));
    }
  }
  if (entries.size === 0) {
    return [];
  }
  return [html('h2', {}, 'Problems'), html('ul', { class: 'problems' }, ...entries.values())];
}

/** A message, with what stands between backticks as code, and options of a command line in one piece. */
function coded(text: string): (Node | string)[] {
  return text
    .split('`')
    .flatMap((part, index) => (index % 2 ? html('code', {}, ...unbroken(part)) : unbroken(part)));
}

/** A line may else end behind any dash of an option. */
function unbroken(text: string): (Node | string)[] {
  return text
    .split(/(--[\w-]+)/)
    .map((part, index) => (index % 2 ? html('span', { class: 'option' }, part) : part));
}

function notesOf(map: DeviceMap): HTMLElement[] {
  return map.notes.map((note) => html('p', { class: 'note' }, ...coded(note)));
}
