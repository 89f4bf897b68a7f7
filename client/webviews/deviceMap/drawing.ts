/** Draws a map: boxes with text, arrows with labels, each with a click and a key to its line. */
import type { DeviceMap, Location, MapEdge, MapNode } from '../../src/panels/deviceMapModel';
import { type Arrow, type Box, curve, type Point, place, type Size } from './layout';
import { ruler, svg } from './svg';
import { deviceClass, hearEdge, hearNode, linesOf, markOf } from './words';

const LINE = 16;
const PADDING = 10;
const NARROWEST = 84;
/** What the round ends of a box take from its lines, on each side. */
const ROUND = 8;
const LABEL: Size = { width: 12, height: 20 };

type Go = (location: Location | null) => void;

/** The picture in its natural size. */
export function drawMap(map: DeviceMap, go: Go): SVGSVGElement {
  const style = getComputedStyle(document.body);
  const family = style.getPropertyValue('--vscode-editor-font-family') || 'monospace';
  const bold = ruler(`600 13px ${family}`);
  const plain = ruler(`12px ${style.fontFamily}`);
  const sizes = new Map(
    map.nodes.map((node) => {
      const { device, detail } = linesOf(node);
      const widest = Math.max(bold(node.label), plain(device) + 16, plain(detail));
      const lines = 1 + Number(device !== '') + Number(detail !== '');
      const padding = PADDING + (isRound(node) ? ROUND : 0);
      const size = { width: Math.max(NARROWEST, widest + 2 * padding), height: lines * LINE + 14 };
      return [node.id, size] as const;
    }),
  );
  const links = map.edges.map((edge) => ({
    source: edge.source,
    target: edge.target,
    label: edge.label ? { ...LABEL, width: plain(edge.label) + LABEL.width } : undefined,
  }));
  const picture = place(sizes, links);
  const nodes = new Map(map.nodes.map((node) => [node.id, node]));
  const arrows = map.edges.map((edge, index) => ({
    edge,
    arrow: picture.arrows[index] as Arrow,
    size: links[index]?.label,
  }));
  const lines = arrows.map(({ edge, arrow }) => drawLine(edge, arrow));
  const labels = arrows.flatMap(({ edge, arrow, size }) =>
    arrow.label && size ? [drawLabel(edge, nodes, arrow.label, size, go)] : [],
  );
  const boxes = map.nodes.map((node) => drawNode(node, picture.boxes.get(node.id) as Box, go));
  const view = `0 0 ${picture.width.toFixed(0)} ${picture.height.toFixed(0)}`;
  const attributes = { viewBox: view, role: 'group', 'aria-label': 'Device map' };
  return svg('svg', attributes, markers(), ...lines, ...labels, ...boxes);
}

/** Where values come from and where the host takes them is round; a module has corners. */
function isRound({ kind }: MapNode): boolean {
  return kind === 'host' || kind === 'dataloader';
}

function markers(): SVGDefsElement {
  const heads = (['flow', 'transfer', 'wait'] as const).map((kind) =>
    svg(
      'marker',
      {
        id: `head-${kind}`,
        viewBox: '0 0 10 10',
        refX: 9,
        refY: 5,
        markerWidth: 9,
        markerHeight: 9,
        markerUnits: 'userSpaceOnUse',
        orient: 'auto',
      },
      svg('path', { d: 'M0,0 L10,5 L0,10 z', class: `head ${kind}` }),
    ),
  );
  return svg('defs', {}, ...heads);
}

function drawLine(edge: MapEdge, { points }: Arrow): SVGPathElement {
  const attributes = {
    d: curve(points),
    class: `arrow ${edge.kind}`,
    'marker-end': `url(#head-${edge.kind})`,
  };
  return svg('path', attributes);
}

function drawLabel(
  edge: MapEdge,
  nodes: ReadonlyMap<number, MapNode>,
  middle: Point,
  { width, height }: Size,
  go: Go,
): SVGGElement {
  const heard = hearEdge(
    edge,
    nodes.get(edge.source) as MapNode,
    nodes.get(edge.target) as MapNode,
  );
  const box = { x: -width / 2, y: -height / 2, width, height, rx: height / 2 };
  const group = button(
    `edge ${edge.kind}`,
    `edge-${edge.source}-${edge.target}-${edge.label}`,
    heard,
    edge.location,
    go,
  );
  group.setAttribute('transform', `translate(${middle.x},${middle.y})`);
  group.append(
    svg('rect', box),
    svg('text', { class: 'cost', 'text-anchor': 'middle', y: 4 }, edge.label),
  );
  addMark(group, edge, { x: width / 2, y: -height / 2 });
  return group;
}

function drawNode(node: MapNode, { x, y, width, height }: Box, go: Go): SVGGElement {
  const round = isRound(node) ? height / 2 : node.kind === 'module' ? 0 : 6;
  const group = button(
    `node ${deviceClass(node)}`,
    `node-${node.id}`,
    hearNode(node),
    node.location,
    go,
  );
  group.setAttribute('transform', `translate(${x - width / 2},${y - height / 2})`);
  group.append(svg('rect', { width, height, rx: round }));
  if (node.kind === 'module') {
    group.append(svg('path', { class: 'bar', d: `M0,0 V${height}` }));
  }
  const { device, detail } = linesOf(node);
  const texts = [
    { text: node.label, style: 'name' },
    { text: device, style: 'device' },
    { text: detail, style: 'detail' },
  ].filter(({ text }) => text !== '');
  for (const [index, { text, style }] of texts.entries()) {
    const at = { class: style, 'text-anchor': 'middle', x: width / 2, y: 19 + index * LINE };
    group.append(svg('text', at, text));
  }
  addMark(group, node, { x: width, y: 0 });
  return group;
}

/** A sign at a corner. What it stands for is in the text that is heard, and in the list below. */
function addMark(
  group: SVGGElement,
  { problems }: Pick<MapNode, 'problems'>,
  { x, y }: Point,
): void {
  const mark = markOf(problems);
  if (mark !== undefined) {
    group.append(
      svg('circle', { class: `mark ${mark.style}`, cx: x - 2, cy: y + 2, r: 8 }),
      svg('text', { class: 'sign', 'text-anchor': 'middle', x: x - 2, y: y + 6 }, mark.sign),
    );
  }
}

function button(
  style: string,
  key: string,
  heard: string,
  location: Location | null,
  go: Go,
): SVGGElement {
  const attributes = {
    class: style,
    'data-key': key,
    role: 'button',
    tabindex: 0,
    'aria-label': heard,
  };
  const group = svg('g', attributes, svg('title', {}, heard.replaceAll(', ', '\n')));
  group.addEventListener('click', () => go(location));
  group.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      go(location);
    }
  });
  return group;
}
