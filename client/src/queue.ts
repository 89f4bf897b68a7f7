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

/** Tells the answer to the newest question from those to questions that were asked before it. */
export class Newest {
  private asked = 0;

  /** What `question` gives; `undefined` where another was asked meanwhile, which is answered of what is true by now. */
  async answer<T>(question: () => Promise<T>): Promise<T | undefined> {
    this.asked += 1;
    const number = this.asked;
    const found = await question();
    return number === this.asked ? found : undefined;
  }
}
