/**
 * Late work: an answer has said that the deployment's repairs are late, and the process has them done beside its own calls. One
 * series of calls at a time; each call ends the leases of a few sessions, and says whether more are left.
 */

/** So many calls in a row, at most. */
const TENDS_MAX = 16;

export class Tending {
  private isOn = false;

  constructor(private readonly call: () => Promise<{ isLate?: boolean }>) {}

  /** Does nothing while a series runs. A call that fails ends it: an answer that comes later says so again. */
  async run(): Promise<void> {
    if (this.isOn) return;
    this.isOn = true;
    try {
      for (let calls = 0; calls < TENDS_MAX; calls += 1)
        if ((await this.call()).isLate !== true) break;
    } catch {
      // A conflicting call has done it, or does it.
    }
    this.isOn = false;
  }
}
