/**
 * The last word of a session: that it is over, so that no job is left to it for the minute and a half in which a silent one
 * counts as live. Said once; a worker that stops waits for it briefly. A worker whose deployment does not answer, or
 * lacks that function, has stopped all the same.
 */
import { atMost, type Clock } from "./clock.js";
import { GOODBYE_MS } from "./limits.js";
import type { Transport } from "./transport.js";

export async function sayGoodbye(
  { clock, transport }: { clock: Clock; transport: Pick<Transport, "heartbeat"> },
  callSeq: number,
): Promise<void> {
  const ended = transport.heartbeat([], { leaving: callSeq }).then(
    () => {},
    () => {},
  );
  await atMost(clock, GOODBYE_MS, ended);
}
