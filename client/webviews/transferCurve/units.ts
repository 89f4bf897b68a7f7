/** Numbers on axes and in the legend. What is said of the file's own transfers comes in words from the server. */

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
const TIMES: readonly [scale: number, unit: string][] = [
  [1e-3, 'ns'],
  [1, 'µs'],
  [1e3, 'ms'],
  [1e6, 's'],
];

/** `38535168` → `38.5 MB`; prefixes are decimal. */
export function bytesText(bytes: number): string {
  const index = Math.min(Math.max(Math.floor(Math.log10(bytes) / 3), 0), BYTES.length - 1);
  return `${short(bytes / 1000 ** index, 3)} ${BYTES[index]}`;
}

/** Microseconds: `3120` → `3.1 ms`. */
export function timeText(microseconds: number): string {
  const [scale, unit] = TIMES.findLast(([least]) => microseconds >= least) ?? [1e-3, 'ns'];
  return `${short(microseconds / scale, 2)} ${unit}`;
}

function short(value: number, digits: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(digits)));
}
