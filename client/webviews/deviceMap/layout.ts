/** Where the boxes and arrows of a map go. Knows sizes, not what is in them. */
import { Graph, layout } from '@dagrejs/dagre';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box by its middle. */
export type Box = Point & Size;

/** An arrow's corners, from box to box, and the middle of its label where it has one. */
export interface Arrow {
  readonly points: readonly Point[];
  readonly label: Point | undefined;
}

export interface Link {
  readonly source: number;
  readonly target: number;
  /** The size of the label; `undefined` where there is none. */
  readonly label: Size | undefined;
}

export interface Picture extends Size {
  readonly boxes: ReadonlyMap<number, Box>;
  /** In the order of the links. */
  readonly arrows: readonly Arrow[];
}

const MARGIN = 16;

/** Boxes in layers from top to bottom, such that arrows go down and few of them cross. */
export function place(sizes: ReadonlyMap<number, Size>, links: readonly Link[]): Picture {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    rankdir: 'TB',
    nodesep: 22,
    ranksep: 34,
    edgesep: 24,
    marginx: MARGIN,
    marginy: MARGIN,
  });
  for (const [id, size] of sizes) {
    graph.setNode(String(id), { ...size });
  }
  for (const [index, { source, target, label }] of links.entries()) {
    const room = label ? { ...label, labelpos: 'c' as const } : {};
    graph.setEdge(String(source), String(target), { ...room }, String(index));
  }
  layout(graph);
  const boxes = new Map(
    [...sizes.keys()].map((id) => [id, graph.node(String(id)) as Box] as const),
  );
  const arrows = links.map(({ source, target, label }, index) => {
    const { points, x, y } = graph.edge(String(source), String(target), String(index)) as {
      points: Point[];
    } & Point;
    return { points, label: label && { x, y } };
  });
  const { width, height } = graph.graph() as Size;
  return { boxes, arrows, width, height };
}

/** The arrow as a smooth line: a path of SVG through the middles between its corners. */
export function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) {
    return '';
  }
  const parts = [`M${text(first)}`];
  for (const [index, corner] of rest.entries()) {
    const next = rest[index + 1];
    if (next === undefined) {
      parts.push(`L${text(corner)}`);
    } else if (next === last) {
      parts.push(`Q${text(corner)} ${text(last)}`);
      break;
    } else {
      parts.push(
        `Q${text(corner)} ${text({ x: (corner.x + next.x) / 2, y: (corner.y + next.y) / 2 })}`,
      );
    }
  }
  return parts.join(' ');
}

function text({ x, y }: Point): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}
