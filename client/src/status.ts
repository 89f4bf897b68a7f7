/** The language status item: how the server is, why, and one click to more. */
import { type Disposable, LanguageStatusSeverity, languages } from 'vscode';
import { PYTHON_DOCUMENTS } from './documents';
import { MINIMUM_PYTHON } from './python';

export type ServerState = 'starting' | 'ready' | 'analysing' | 'degraded' | 'failed';

/** What the server tells with `deviceLens/status`; the client adds `starting`. */
export interface ServerStatus {
  readonly state: ServerState;
  /** A few words. */
  readonly message?: string | undefined;
  /** Sentences, for the log. */
  readonly details?: string | undefined;
  /** What the user can do about it, where the server knows of something. */
  readonly remedy?: Remedy | undefined;
}

export type Remedy = 'project-interpreter' | 'trust';

export interface Presentation {
  readonly text: string;
  readonly detail: string;
  readonly severity: LanguageStatusSeverity;
  readonly busy: boolean;
  readonly command: { readonly title: string; readonly command: string };
}

const LOGS = { title: 'Show Logs', command: 'deviceLens.showLogs' };
const RESTART = { title: 'Restart', command: 'deviceLens.restart' };
const INTERPRETER = { title: 'Choose a Python', command: 'deviceLens.chooseInterpreter' };

const REMEDIES: Readonly<Record<Remedy, Presentation['command']>> = {
  'project-interpreter': {
    title: 'Choose Python',
    command: 'deviceLens.chooseProjectInterpreter',
  },
  trust: { title: 'Manage Trust', command: 'workbench.trust.manage' },
};

/** Why there is no server: what the user can do about it differs. */
export type FailureCause = 'no-interpreter' | 'crash' | 'other';

/** Failures in words that fit; the message that tells of them has more. */
const FAILURES: Readonly<Partial<Record<FailureCause, string>>> = {
  'no-interpreter': `no Python ${MINIMUM_PYTHON[0]}.${MINIMUM_PYTHON[1]} or newer`,
  crash: 'it ended unexpectedly',
};

export function present(status: ServerStatus, cause: FailureCause = 'other'): Presentation {
  const detail = shortened(status.message ?? '');
  const action = status.remedy === undefined ? LOGS : REMEDIES[status.remedy];
  switch (status.state) {
    case 'starting':
      return item('Device Lens: starting', detail, LanguageStatusSeverity.Information, LOGS, true);
    case 'analysing':
      return item(
        'Device Lens',
        detail || 'analysing',
        LanguageStatusSeverity.Information,
        LOGS,
        true,
      );
    case 'ready':
      return item('Device Lens', detail || 'ready', LanguageStatusSeverity.Information, action);
    case 'degraded':
      return item('Device Lens: limited', detail, LanguageStatusSeverity.Warning, action);
    case 'failed': {
      const command = cause === 'no-interpreter' ? INTERPRETER : cause === 'crash' ? RESTART : LOGS;
      const reason = FAILURES[cause] ?? detail;
      return item('Device Lens: not running', reason, LanguageStatusSeverity.Error, command);
    }
  }
}

/** The editor shows a line of 500 pixels, and cuts off what does not fit: the end of a reason, and the way on behind it. */
function shortened(reason: string): string {
  return reason.length <= LONGEST ? reason : `${reason.slice(0, LONGEST - 1).trimEnd()}…`;
}

const LONGEST = 32;

function item(
  text: string,
  detail: string,
  severity: LanguageStatusSeverity,
  command: Presentation['command'],
  busy = false,
): Presentation {
  return { text, detail, severity, busy, command };
}

/** Reads a `deviceLens/status` notification; `undefined` when it is not one. */
export function parseStatus(params: unknown): ServerStatus | undefined {
  if (typeof params !== 'object' || params === null) {
    return undefined;
  }
  const { state, message, details, remedy } = params as Record<string, unknown>;
  if (!STATES_OF_SERVER.includes(state as ServerState)) {
    return undefined;
  }
  return {
    state: state as ServerState,
    message: textOf(message),
    details: textOf(details),
    remedy:
      typeof remedy === 'string' && Object.hasOwn(REMEDIES, remedy)
        ? (remedy as Remedy)
        : undefined,
  };
}

const STATES_OF_SERVER: readonly ServerState[] = ['ready', 'analysing', 'degraded', 'failed'];

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export class StatusItem implements Disposable {
  private readonly item = languages.createLanguageStatusItem('deviceLens.status', PYTHON_DOCUMENTS);
  private current: ServerStatus = { state: 'starting' };

  constructor() {
    this.item.name = 'Device Lens';
    this.show(this.current);
  }

  get status(): ServerStatus {
    return this.current;
  }

  show(status: ServerStatus, cause?: FailureCause): void {
    this.current = status;
    const shown = present(status, cause);
    this.item.text = shown.text;
    this.item.detail = shown.detail;
    this.item.severity = shown.severity;
    this.item.busy = shown.busy;
    this.item.command = shown.command;
  }

  dispose(): void {
    this.item.dispose();
  }
}
