/**
 * What a worker says of itself, sent along with calls that it makes anyhow: with the first one, and with the next one after
 * a change. A call that is not answered has said nothing; and the deployment forgets a session that is silent for long.
 */
import type { WorkerFacts } from "../shared/index.js";

export class Description {
  private known = "";

  constructor(private readonly facts: (() => WorkerFacts) | undefined) {}

  /** Makes a call with it, if there is anything new to say. */
  async with<Reply>(call: (about: { about?: WorkerFacts }) => Promise<Reply>): Promise<Reply> {
    const about = this.facts?.();
    const text = JSON.stringify(about) ?? "";
    if (about === undefined || text === this.known) return await call({});
    const reply = await call({ about });
    this.known = text;
    return reply;
  }

  /** The deployment has forgotten it: it goes with the next call again. */
  forgotten(): void {
    this.known = "";
  }
}
