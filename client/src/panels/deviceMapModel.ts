/** The device map as the server sends it; `docs/device-map.md` tells what the words mean. */

import type { Place } from './places';

export type Location = Place;

export interface Problem {
  readonly rule: string;
  readonly severity: 'error' | 'warning' | 'information' | 'hint';
  readonly message: string;
}

export interface MapNode {
  readonly id: number;
  readonly label: string;
  readonly kind: 'tensor' | 'module' | 'dataloader' | 'container' | 'host';
  readonly place: 'host' | 'accelerator' | 'symbol' | 'unknown' | 'none';
  readonly colour: number;
  readonly device: string;
  readonly detail: string;
  readonly condition: string | null;
  readonly location: Location | null;
  readonly problems: readonly Problem[];
}

export interface MapEdge {
  readonly source: number;
  readonly target: number;
  readonly kind: 'flow' | 'transfer' | 'wait';
  readonly label: string;
  readonly detail: string;
  readonly location: Location | null;
  readonly problems: readonly Problem[];
}

export interface DeviceMap {
  readonly parts: readonly { readonly id: string; readonly title: string }[];
  readonly part: string | null;
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
  readonly remark: string;
  readonly notes: readonly string[];
}

/** What the page shows: a map, or a sentence why there is none. */
export type Shown = { readonly map: DeviceMap } | { readonly message: string };

/** What the user asks for on the page: another part of the file, or the text behind something. */
export type Asked = { readonly part: string } | { readonly reveal: Location };
