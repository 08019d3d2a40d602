/**
 * Follows the waiting jobs of the worker's queues, and notifies its asking: from a claim's cursor on, where scans find
 * nothing.
 */
import type { Asking } from "./asking.js";
import type { ClaimRequest, HasWorkWatch, Transport } from "./transport.js";

export class Following {
  private watch: HasWorkWatch | undefined;

  constructor(
    private readonly deps: {
      transport: Pick<Transport, "watchHasWork">;
      asking: Asking;
      maxCost: number | undefined;
      answered: () => void;
      failed: (error: unknown) => void;
    },
  ) {}

  start(): void {
    const { transport, asking, answered, failed } = this.deps;
    this.watch = transport.watchHasWork(
      (queue, waiting) => {
        asking.subscriptionAnswered(queue, waiting);
        answered();
      },
      (queue, error) => {
        asking.subscriptionFailed(queue);
        failed(error);
      },
    );
  }

  /** Nothing came of a claim. Its cursor speaks for the subscriptions where it had the whole budget, as they have. */
  cameInVain(request: ClaimRequest | undefined): void {
    if (request === undefined || request.maxCost !== this.deps.maxCost) return;
    const { queues, cursor } = this.deps.asking.toFollow(request);
    for (const queue of queues) this.watch?.goOn(queue, cursor);
  }

  /** It follows nothing, until it starts again. */
  pause(): void {
    this.watch?.end();
    this.watch = undefined;
  }

  get isPaused(): boolean {
    return this.watch === undefined;
  }

  stop(): void {
    this.watch?.end();
  }
}
