/** One log for everything: the client, the server's messages, and what the server writes to standard error. */
import { type LogOutputChannel, window } from 'vscode';

export function createLog(): LogOutputChannel {
  return window.createOutputChannel('Device Lens', { log: true });
}

export type Level = 'error' | 'warn' | 'info' | 'debug';

/** The level of a line that the server wrote to standard error; Python's logging puts it somewhere in front. */
export function levelOf(line: string): Level {
  const named = /\b(CRITICAL|ERROR|WARNING|INFO|DEBUG)\b/.exec(line.slice(0, 80))?.[1];
  switch (named) {
    case 'CRITICAL':
    case 'ERROR':
      return 'error';
    case 'WARNING':
      return 'warn';
    case 'DEBUG':
      return 'debug';
    default:
      return line.startsWith('Traceback ') ? 'error' : 'info';
  }
}

/** Keeps the last lines of standard error: they say why a server ended. */
export class StderrTail {
  private readonly lines: string[] = [];

  constructor(private readonly limit = 20) {}

  push(line: string): void {
    this.lines.push(line);
    if (this.lines.length > this.limit) {
      this.lines.shift();
    }
  }

  /** The last line with anything on it, unless it is an entry of the log: of a Python traceback, the exception. */
  lastLine(): string | undefined {
    const line = this.lines.findLast((text) => text.trim() !== '')?.trim();
    return line !== undefined && LOG_ENTRY.test(line) ? undefined : line;
  }
}

const LOG_ENTRY = /^(CRITICAL|ERROR|WARNING|INFO|DEBUG): /;

/** How a process ended, as Node tells it. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Why a server ended, in words; `tail` is what it wrote to standard error. */
export function whyItEnded({ code, signal }: ProcessEnd, tail: StderrTail): string {
  if (signal !== null) {
    return `it was ended by ${signal}`;
  }
  return tail.lastLine() ?? (code === null ? 'it does not answer' : `exit status ${code}`);
}
