/** Colours of the editor's theme for what is drawn on a canvas, which knows no CSS variables. */
import type { Curve } from '../../src/panels/transferCurveModel';

export interface Theme {
  readonly foreground: string;
  readonly grid: string;
  readonly font: string;
  readonly curve: (curve: Curve) => string;
}

/** Orange comes last: some dark themes have it close to black. */
const CYCLE = ['blue', 'yellow', 'green', 'purple', 'red', 'orange'] as const;

export function readTheme(curves: readonly Curve[]): Theme {
  const style = getComputedStyle(document.body);
  const colour = (name: string, otherwise: string) =>
    style.getPropertyValue(`--vscode-${name}`).trim() || otherwise;
  const foreground = colour('foreground', style.color);
  // Copies in host memory are no transfer, and have no colour.
  const coloured = curves.filter(({ direction }) => direction !== 'host-to-host');
  return {
    foreground,
    // Behind the curves, not before them.
    grid: `color-mix(in srgb, ${colour('charts-lines', foreground)} 30%, transparent)`,
    font: `12px ${style.fontFamily}`,
    curve: (curve) => {
      const index = coloured.indexOf(curve);
      const name = CYCLE[index % CYCLE.length];
      return index < 0 ? foreground : colour(`charts-${name}`, foreground);
    },
  };
}

/** Calls `changed` when the editor has another theme. */
export function watchTheme(changed: () => void): void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
}
