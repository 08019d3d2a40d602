/** Workers of a large fleet that end their duty beside each other: some worker with room stays on call. */
import { must } from "../../races/world.js";
import { mutation, type Line, type Row } from "../line.js";
import type { Call } from "../transactions.js";
import type { Pair } from "../pair.js";
import type { ClaimReply } from "../worker.js";

/** More than follow their queues without a duty. */
const FLEET = 11;
const onCall = { peers: "alike", room: 1 };

class Members {
  private readonly n = new Map<string, number>();
  constructor(private readonly line: Line) {}

  private caller(sessionKey: string) {
    return { token: this.line.token, sessionKey };
  }

  claims(name: string, job?: string): Call {
    const n = (this.n.get(name) ?? 0) + 1;
    this.n.set(name, n);
    const named = job === undefined ? {} : { named: [job], lookIn: [] };
    return mutation("lib:claim", {
      ...{ ...this.caller(name), callSeq: n, name, queues: [this.line.queue], max: 1, ...named },
      onCall: { peers: onCall.peers },
    });
  }

  completes(name: string, id: string): Call {
    const n = (this.n.get(name) ?? 0) + 1;
    this.n.set(name, n);
    const outcome = { kind: "succeeded", result: 1 };
    return mutation("lib:complete", {
      ...this.caller(name),
      callSeq: n,
      finished: [{ id, attempt: 1, outcome }],
    });
  }

  beats(name: string): Call {
    return mutation("lib:heartbeat", { ...this.caller(name), leases: [], onCall });
  }
}

/** The workers on call with room. */
function ready(line: Line): string[] {
  return line
    .rows("sessions")
    .filter(({ peers, standbySince }) => peers !== undefined && standbySince === undefined)
    .map(({ sessionKey }: Row) => String(sessionKey));
}

/** A fleet with two on call, one that watches, and the rest standing by. */
async function newFleet(line: Line): Promise<{ members: Members; on: string[] }> {
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

/** At an order's end others were called up, or a worker that hears of jobs has room for one. */
function covered(line: Line, calledBefore: unknown): void {
  const [row] = line.rows("callUps");
  must(ready(line).length > 0 || row?.["upTo"] !== calledBefore, "no worker with room is on call");
}

const twoFillUp: Pair = {
  of: "the last two workers on call that fill up",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [one, other] = await line.enqueue(2);
    const before = line.rows("callUps")[0]?.["upTo"];
    return {
      calls: { one: members.claims(on[0]!, one), other: members.claims(on[1]!, other) },
      check(answers, line) {
        const taken = ["one", "other"].map((name) => answers.of<ClaimReply>(name).jobs.length);
        must(taken.join() === "1,1", "a named job was not taken");
        covered(line, before);
      },
    };
  },
  mutants: [
    {
      without: "the real read of the workers on call before one fills up",
      changes: [{ in: "claim/onCall.ts:fillUp", call: "readListeners", gives: "seen.listeners" }],
      finds: /no worker with room is on call/,
    },
  ],
};

const threeStandBy: Pair = {
  of: "three workers on call, each of which is one too many",
  orders: 880,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [job] = await line.enqueue();
    await line.do(members.claims(on[0]!, job));
    const third = line
      .rows("sessions")
      .find(({ peers, standbySince }) => peers !== undefined && Number(standbySince ?? 0) > 2)!;
    await line.do(members.claims(String(third["sessionKey"])));
    await line.do(members.completes(on[0]!, job!));
    const three = ready(line);
    must(three.length === 3, `${three.length} are on call`);
    const before = line.rows("callUps")[0]?.["upTo"];
    return {
      calls: Object.fromEntries(three.map((name) => [name, members.beats(name)])),
      check(_, line) {
        covered(line, before);
      },
    };
  },
  mutants: [
    {
      without: "the witness on call of a worker that stands by",
      changes: [{ in: "claim/onCall.ts:hasWitness", returns: "true" }],
      finds: /no worker with room is on call/,
    },
  ],
};

export const DUTIES: readonly Pair[] = [twoFillUp, threeStandBy];
