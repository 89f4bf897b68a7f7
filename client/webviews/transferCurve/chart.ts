/** The picture itself: curves with what was measured, on logarithmic axes, and the file's transfers as buttons. */
import uPlot from 'uplot';
import type { Transfer, TransferCurve } from '../../src/panels/transferCurveModel';
import type { Theme } from './theme';
import { bytesText, timeText } from './units';

/** How far beyond what it shows an axis reaches, as a factor. */
const MARGIN = 1.4;

/** Half of an error bar's cap and the radius of a measured point, in CSS pixels. */
const CAP = 3;
const RADIUS = 2.5;

export interface ChartOptions {
  readonly theme: Theme;
  readonly width: number;
  readonly height: number;
  readonly onChoose: (transfer: Transfer) => void;
}

/** Draws the picture into an element, which it fills. */
export function drawChart(parent: HTMLElement, shown: TransferCurve, options: ChartOptions): uPlot {
  const { theme, width, height, onChoose } = options;
  const marks = marksOf(shown, onChoose);
  const chart = new uPlot(
    {
      width,
      height,
      scales: {
        x: { time: false, distr: 3, range: rangeOf(shown.sizes) },
        y: { distr: 3, range: rangeOf(timesOf(shown)) },
      },
      axes: [
        axis(theme, 'bytes moved', bytesText, 40),
        axis(theme, 'time of one transfer', timeText, 64),
      ],
      series: [
        { label: 'Size', value: (_chart, value) => (value === null ? '' : bytesText(value)) },
        ...shown.curves.map((curve) => ({
          label: `${curve.label} (${curve.source})`,
          stroke: theme.curve(curve),
          width: 2,
          ...(curve.source === 'typical' ? { dash: [7, 5] } : {}),
          points: { show: false },
          value: (_chart: uPlot, value: number | null) => (value === null ? '' : timeText(value)),
        })),
      ],
      legend: {
        markers: {
          width: 2,
          dash: (_chart, index) =>
            shown.curves[index - 1]?.source === 'typical' ? 'dashed' : 'solid',
        },
      },
      cursor: { drag: { x: false, y: false }, focus: { prox: 24 } },
      focus: { alpha: 0.35 },
      hooks: {
        draw: [(drawn) => drawPoints(drawn, shown, theme)],
        drawClear: [(drawn) => place(drawn, marks)],
      },
    },
    [[...shown.sizes], ...shown.curves.map(({ times }) => [...times])],
    parent,
  );
  chart.over.append(...marks.map(({ button }) => button));
  makeLegendReachable(chart);
  return chart;
}

interface Mark {
  readonly bytes: number;
  readonly time: number;
  readonly button: HTMLButtonElement;
}

/** One button for all transfers that would lie on one another. */
function marksOf(shown: TransferCurve, onChoose: (transfer: Transfer) => void): Mark[] {
  const found = new Map<string, Mark>();
  for (const transfer of shown.transfers) {
    const { bytes, time, source } = transfer;
    const key = [bytes, time, source].join();
    let mark = found.get(key);
    if (mark === undefined) {
      const button = document.createElement('button');
      button.className = `transfer ${source}`;
      button.addEventListener('click', () => onChoose(transfer));
      mark = { bytes, time, button };
      found.set(key, mark);
    }
    const lines = [mark.button.title, describe(transfer)].filter((line) => line !== '');
    mark.button.title = lines.join('\n');
    mark.button.setAttribute('aria-label', mark.button.title);
  }
  return [...found.values()];
}

/** `Line 4: images.to("cuda"), 38.5 MB, ≈ 6.4 ms`. */
function describe({ range, text, bytesText: size, timeText: time }: Transfer): string {
  return `Line ${range.start.line + 1}: ${text}, ${size}, ${time}`;
}

function place(chart: uPlot, marks: readonly Mark[]): void {
  for (const { bytes, time, button } of marks) {
    button.style.left = `${chart.valToPos(bytes, 'x')}px`;
    button.style.top = `${chart.valToPos(time, 'y')}px`;
  }
}

/** The measured points with their spread. */
function drawPoints(chart: uPlot, shown: TransferCurve, theme: Theme): void {
  const { ctx } = chart;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.lineWidth = ratio;
  ctx.setLineDash([]); // the last curve's own
  for (const [index, curve] of shown.curves.entries()) {
    if (chart.series[index + 1]?.show === false) {
      continue;
    }
    ctx.strokeStyle = ctx.fillStyle = theme.curve(curve);
    for (const [bytes, low, middle, high] of curve.points) {
      const x = chart.valToPos(bytes, 'x', true);
      const [bottom, y, top] = [low, middle, high].map((time) => chart.valToPos(time, 'y', true));
      drawPoint(ctx, x, y ?? 0, [bottom ?? 0, top ?? 0], ratio);
    }
  }
  ctx.restore();
}

function drawPoint(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  ends: readonly number[],
  ratio: number,
): void {
  ctx.beginPath();
  ctx.moveTo(x, ends[0] ?? y);
  ctx.lineTo(x, ends[1] ?? y);
  for (const end of ends) {
    ctx.moveTo(x - CAP * ratio, end);
    ctx.lineTo(x + CAP * ratio, end);
  }
  ctx.stroke();
  ctx.beginPath();
  ctx.arc(x, y, RADIUS * ratio, 0, 2 * Math.PI);
  ctx.fill();
}

function axis(
  theme: Theme,
  label: string,
  text: (value: number) => string,
  size: number,
): uPlot.Axis {
  const line = { stroke: theme.grid, width: 1 };
  return {
    label,
    size,
    labelSize: 22,
    stroke: theme.foreground,
    font: theme.font,
    labelFont: theme.font,
    grid: line,
    ticks: line,
    // Only whole powers of ten have a line and a number: the nine steps between them would be a thicket.
    splits: (_chart, _index, least, most) => powersOfTen(least, most),
    filter: (_chart, splits) => splits,
    values: (_chart, splits) => splits.map(text),
  };
}

function powersOfTen(least: number, most: number): number[] {
  const first = Math.ceil(Math.log10(least));
  const count = Math.floor(Math.log10(most)) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, step) => 10 ** (first + step));
}

function timesOf({ curves, transfers }: TransferCurve): number[] {
  return [
    ...curves.flatMap(({ times, points }) => [
      ...times,
      ...points.flatMap(([, low, , high]) => [low, high]),
    ]),
    ...transfers.map(({ time }) => time),
  ];
}

/** The whole of what there is to show, with a margin. */
function rangeOf(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0);
  const least = positive.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const most = positive.reduce((one, other) => Math.max(one, other), 0);
  return [least / MARGIN, most * MARGIN];
}

/** The library's legend answers to the mouse alone. */
function makeLegendReachable(chart: uPlot): void {
  for (const [index, name] of chart.root.querySelectorAll<HTMLElement>('.u-series th').entries()) {
    if (index === 0) {
      continue;
    }
    name.tabIndex = 0;
    name.setAttribute('role', 'button');
    name.title = 'Show or hide this curve';
    name.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        name.click();
      }
    });
  }
}
