/**
 * Runs one job at a time and never more than one ahead: requests that come while a run is under way share the
 * single run that follows it, so ten setting changes in a row restart the server twice at most.
 */
export class SingleFlight {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly job: () => Promise<void>) {}

  /** Settles when a run that began after this call has ended; rejects as that run does. */
  request(): Promise<void> {
    if (this.next !== undefined) {
      return this.next;
    }
    if (this.running === undefined) {
      return this.start();
    }
    this.next = this.running
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.start();
      });
    return this.next;
  }

  private start(): Promise<void> {
    const run = this.job().finally(() => {
      this.running = undefined;
    });
    this.running = run;
    return run;
  }
}
