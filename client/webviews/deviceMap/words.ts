/** What a map says to those who hear it, and what its signs stand for. */
import type { MapEdge, MapNode, Problem } from '../../src/panels/deviceMapModel';

/** The class of a device, which gives it its colour and line: accelerators repeat after the fourth. */
export function deviceClass({ place, colour }: Pick<MapNode, 'place' | 'colour'>): string {
  return place === 'accelerator' ? `accelerator-${colour % 4}` : place;
}

/** One entry for each device of the map, in the order in which they appear. */
export function legendOf(nodes: readonly MapNode[]): { device: string; style: string }[] {
  const found = new Map<string, string>();
  for (const node of nodes) {
    if (node.device !== '' && !found.has(node.device)) {
      found.set(node.device, deviceClass(node));
    }
  }
  return [...found].map(([device, style]) => ({ device, style }));
}

const KINDS: Record<MapNode['kind'], string> = {
  tensor: '',
  module: 'module',
  dataloader: 'data loader',
  container: 'container',
  host: '',
};

/** The lines of a node below its name: its device, then what it is. */
export function linesOf(node: MapNode): { device: string; detail: string } {
  const detail = [KINDS[node.kind], node.detail].filter(Boolean).join(' · ');
  return { device: node.device, detail };
}

export function hearNode(node: MapNode): string {
  const { device, detail } = linesOf(node);
  const condition = node.condition === null ? '' : `if ${node.condition}`;
  const parts = [
    node.label,
    device && `on ${device}`,
    condition,
    detail,
    lineOf(node),
    ...saidOf(node.problems),
  ];
  return parts.filter(Boolean).join(', ');
}

export function hearEdge(edge: MapEdge, source: MapNode, target: MapNode): string {
  const what = edge.kind === 'transfer' ? 'transfer' : edge.kind === 'wait' ? 'wait' : 'flow';
  const route = `${what} from ${source.label} to ${target.label}`;
  return [route, edge.detail, lineOf(edge), ...saidOf(edge.problems)].filter(Boolean).join(', ');
}

export function lineOf({ location }: Pick<MapNode, 'location'>): string {
  return location === null ? '' : `line ${location.range.start.line + 1}`;
}

function saidOf(problems: readonly Problem[]): string[] {
  return problems.map(({ severity, message }) => `${severity}: ${message}`);
}

/** The sign of the loudest problem, which comes first. */
export function markOf(problems: readonly Problem[]): { sign: string; style: string } | undefined {
  const [loudest] = problems;
  if (loudest === undefined) {
    return undefined;
  }
  const loud = loudest.severity === 'error' || loudest.severity === 'warning';
  return { sign: loud ? '!' : 'i', style: `mark-${loudest.severity}` };
}
