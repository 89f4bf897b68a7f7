/** The page of the transfer curve. */
import 'uplot/dist/uPlot.min.css';
import type uPlot from 'uplot';
import type { Asked, Shown, Transfer, TransferCurve } from '../../src/panels/transferCurveModel';
import { openPage, type Page } from '../page';
import { drawChart } from './chart';
import './style.css';
import { readTheme, watchTheme } from './theme';

const LEAST_HEIGHT = 240;
const MOST_HEIGHT = 520;

let chart: uPlot | undefined;
let redraw: () => void = () => undefined;

openPage<Shown, Asked>((shown, page) => {
  chart?.destroy();
  chart = undefined;
  redraw = () => undefined;
  if ('message' in shown) {
    page.root.replaceChildren(element('p', shown.message, 'message'));
    return;
  }
  const { curve, file } = shown;
  const plot = element('div', '', 'plot');
  page.root.replaceChildren(head(curve, page), plot, ...transfersOf(curve, file, page));
  redraw = () => {
    chart?.destroy();
    chart = drawChart(plot, curve, {
      theme: readTheme(curve.curves),
      ...sizeOf(plot),
      onChoose: (transfer) => choose(page, transfer),
    });
  };
  redraw();
});

watchTheme(() => redraw());
new ResizeObserver(() => {
  const plot = chart?.root.parentElement;
  if (chart !== undefined && plot) {
    chart.setSize(sizeOf(plot));
  }
}).observe(document.body);

function sizeOf(plot: HTMLElement): { width: number; height: number } {
  const width = Math.max(plot.clientWidth, 200);
  const wanted = Math.min(width * 0.62, window.innerHeight * 0.6);
  return { width, height: Math.round(Math.min(Math.max(wanted, LEAST_HEIGHT), MOST_HEIGHT)) };
}

/** What the picture rests on, and the way to have it measured. */
function head({ basis, calibration }: TransferCurve, page: Page<Asked>): HTMLElement {
  const button = element('button', 'Calibrate this machine', 'calibrate');
  button.addEventListener('click', () => page.ask({ calibrate: true }));
  if (calibration.running) {
    button.textContent = 'Calibrating…';
    button.disabled = true;
  }
  const offer =
    calibration.refusal === null ? button : element('p', plain(calibration.refusal), 'refusal');
  const found = element('header');
  found.append(element('h1', 'What a transfer costs'), element('p', basis, 'basis'), offer);
  return found;
}

function transfersOf(
  { uri, transfers, leftOut }: TransferCurve,
  file: string,
  page: Page<Asked>,
): HTMLElement[] {
  if (uri === null) {
    return [element('p', 'With a Python file open, its transfers are points in this picture.')];
  }
  const found: HTMLElement[] = [element('h2', `Transfers of ${file}`)];
  if (transfers.length === 0) {
    found.push(element('p', 'None has a size and devices that are known.', 'empty'));
  } else {
    found.push(tableOf(transfers, page));
  }
  if (leftOut !== '') {
    found.push(element('p', leftOut, 'left-out'));
  }
  return found;
}

function tableOf(transfers: readonly Transfer[], page: Page<Asked>): HTMLElement {
  const heading = element('tr');
  heading.append(...['Line', 'Transfer', 'From and to', 'Size', 'Time'].map((name) => th(name)));
  const head = element('thead');
  head.append(heading);
  const body = element('tbody');
  for (const transfer of transfers) {
    body.append(rowOf(transfer, page));
  }
  const table = element('table');
  table.append(head, body);
  return table;
}

function rowOf(transfer: Transfer, page: Page<Asked>): HTMLElement {
  const link = element('button', transfer.text, 'link');
  link.addEventListener('click', () => choose(page, transfer));
  const call = element('td', '', 'call');
  call.append(link);
  const each = transfer.inLoop ? `${transfer.timeText} each iteration` : transfer.timeText;
  const time = element('td', each, 'number');
  time.title = transfer.basis;
  const row = element('tr');
  row.append(
    element('td', String(transfer.range.start.line + 1), 'number'),
    call,
    element('td', transfer.route, 'route'),
    element('td', transfer.bytesText, 'number'),
    time,
  );
  return row;
}

function th(name: string): HTMLElement {
  const found = element('th', name);
  found.scope = 'col';
  return found;
}

function choose(page: Page<Asked>, { uri, range }: Transfer): void {
  page.ask({ reveal: { uri, range } });
}

/** A sentence without the marks of code. */
function plain(sentence: string): string {
  return sentence.replaceAll('`', '');
}

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text = '',
  name = '',
): HTMLElementTagNameMap[K] {
  const found = document.createElement(tag);
  found.textContent = text;
  found.className = name;
  return found;
}
