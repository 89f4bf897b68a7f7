/** Decides whether a server that ended unasked is started again. */

/** A server that lived for less than this after its start is not worth a second start, in milliseconds. */
export const MINIMUM_LIFE_MS = 30_000;

/** The span in which crashes are counted together, in milliseconds. */
export const CRASH_WINDOW_MS = 10 * 60_000;

/** Crashes in the window after which the user decides. */
export const CRASH_LIMIT = 3;

export class CrashPolicy {
  private startedAt: number | undefined;
  private crashes: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** The server answered `initialize`. */
  started(): void {
    this.startedAt = this.now();
  }

  /** The user asked for a restart: what was before no longer counts. */
  forget(): void {
    this.crashes = [];
  }

  /** The server ended unasked. True: start it again; false: say so and wait for the user. */
  shouldRestart(): boolean {
    const now = this.now();
    const life = this.startedAt === undefined ? 0 : now - this.startedAt;
    this.startedAt = undefined;
    this.crashes = [...this.crashes.filter((time) => now - time < CRASH_WINDOW_MS), now];
    return life >= MINIMUM_LIFE_MS && this.crashes.length < CRASH_LIMIT;
  }
}
