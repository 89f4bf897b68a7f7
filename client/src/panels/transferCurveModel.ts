/** What transfers cost, as the server sends it: bytes and microseconds, and sentences that say what they rest on. */

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Location {
  readonly uri: string;
  readonly range: { readonly start: Position; readonly end: Position };
}

/** Measured on this machine, or estimated for typical hardware that is named. */
export type Source = 'measured' | 'typical';

/** Bytes, and microseconds of the 20th percentile, the median and the 80th percentile. */
export type Point = readonly [bytes: number, low: number, middle: number, high: number];

export interface Curve {
  readonly label: string;
  readonly direction: 'host-to-device' | 'device-to-host' | 'device-to-device' | 'host-to-host';
  readonly memory: 'pageable' | 'pinned' | null;
  readonly source: Source;
  readonly basis: string;
  /** What was measured; none of a typical curve. */
  readonly points: readonly Point[];
  /** The model's time for each of the picture's sizes. */
  readonly times: readonly number[];
}

export interface Transfer extends Location {
  /** The call, on one line. */
  readonly text: string;
  readonly route: string;
  readonly bytes: number;
  readonly bytesText: string;
  readonly time: number;
  readonly timeText: string;
  /** The 20th and the 80th percentile, where this very transfer was measured. */
  readonly spread: readonly [low: number, high: number] | null;
  readonly source: Source;
  readonly basis: string;
  readonly inLoop: boolean;
  /** The place of its curve in the picture's list. */
  readonly curve: number;
}

export interface TransferCurve {
  /** The document that the transfers are of; null: the machine alone. */
  readonly uri: string | null;
  readonly basis: string;
  readonly leftOut: string;
  readonly sizes: readonly number[];
  readonly curves: readonly Curve[];
  readonly transfers: readonly Transfer[];
  readonly calibration: { readonly running: boolean; readonly refusal: string | null };
}

/** What the page shows: a sentence, or the picture with the name of its file. */
export type Shown =
  | { readonly message: string }
  | { readonly curve: TransferCurve; readonly file: string };

/** What the user asks for on the page. */
export type Asked = { readonly reveal: Location } | { readonly calibrate: true };
