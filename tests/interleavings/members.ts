/** Workers of a large fleet: their calls, their duties, and the condition that each end of an order keeps. */
import { WATCHING } from "../../src/component/rows/duties.js";
import { must } from "../races/world.js";
import { mutation, type Line, type Row } from "./line.js";
import type { Call } from "./transactions.js";

/** More than follow their queues without a duty. */
const FLEET = 11;
const PEERS = "alike";

export class Members {
  private readonly n = new Map<string, number>();
  constructor(private readonly line: Line) {}

  private caller(sessionKey: string) {
    return { token: this.line.token, sessionKey };
  }

  private next(name: string): number {
    const n = (this.n.get(name) ?? 0) + 1;
    this.n.set(name, n);
    return n;
  }

  /** With a job it takes that one, and searches for none. */
  claims(name: string, job?: string): Call {
    const callSeq = this.next(name);
    const named = job === undefined ? {} : { named: [job], lookIn: [] };
    return mutation("lib:claim", {
      ...{ ...this.caller(name), callSeq, name, queues: [this.line.queue], max: 1, ...named },
      onCall: { peers: PEERS },
    });
  }

  completes(name: string, id: string): Call {
    const callSeq = this.next(name);
    const outcome = { kind: "succeeded", result: 1 };
    const finished = [{ id, attempt: 1, outcome }];
    return mutation("lib:complete", { ...this.caller(name), callSeq, finished });
  }

  beats(name: string, onCall: { room?: number; prefers?: string[] } = {}): Call {
    const says = { onCall: { peers: PEERS, room: 1, ...onCall } };
    return mutation("lib:heartbeat", { ...this.caller(name), leases: [], ...says });
  }

  resigns(name: string): Call {
    const callSeq = this.next(name);
    return mutation("lib:leave", { ...this.caller(name), leases: [], callSeq });
  }

  /** The subscription of one that stands by since then: whether it is called up. */
  asksWhetherCalled(worker: string, since: number): Call {
    const args = { token: this.line.token, peers: PEERS, since, worker };
    return { ...mutation("lib:standby", args), kind: "query" };
  }
}

const membersIn = (line: Line) => line.rows("sessions").filter(({ peers }) => peers !== undefined);
const nameOf = ({ sessionKey }: Row) => String(sessionKey);

/** The workers on call with room. */
export function ready(line: Line): string[] {
  return membersIn(line)
    .filter(({ standbySince }) => standbySince === undefined)
    .map(nameOf);
}

/** The worker that watches, and the ones that stand by, the first place first. */
export function standing(line: Line): string[] {
  return membersIn(line)
    .filter(({ standbySince }) => Number(standbySince ?? 0) >= WATCHING)
    .sort((a, b) => Number(a["standbySince"]) - Number(b["standbySince"]))
    .map(nameOf);
}

/** A fleet with two on call, one that watches, and the rest standing by. */
export async function newFleet(line: Line): Promise<{ members: Members; on: string[] }> {
  // With one shard a queue keeps its order, and its jobs are not claimed by name.
  line.declare(line.queue.name, { shards: 2 });
  const members = new Members(line);
  const names = Array.from({ length: FLEET }, (_, i) => `m${i}`);
  for (const name of [...names, ...names]) {
    await line.do(members.claims(name));
    await line.pass(200);
  }
  for (const name of ready(line)) await line.do(members.beats(name));
  const on = ready(line);
  must(on.length === 2, `${on.length} are on call`);
  return { members, on };
}

const calledUpTo = (line: Line): number =>
  Math.max(0, ...line.rows("callUps").map(({ upTo }) => Number(upTo)));

/** At an order's end a worker with room is on call, or one that stands by is called up. */
export function covered(line: Line): void {
  const upTo = calledUpTo(line);
  const places = line.rows("sessions").map(({ standbySince }) => Number(standbySince ?? 0));
  const isCalled = places.some((place) => place > WATCHING && place <= upTo);
  must(ready(line).length > 0 || isCalled, "no worker with room is on call");
}
