/** Workers of a large fleet that take on or end a duty beside each other: some worker with room stays on call. */
import type { Duty } from "../../../src/shared/index.js";
import type { Line } from "../line.js";
import type { Change } from "../../planted/change.js";
import { covered, newFleet, ready, standing, type Members } from "../members.js";
import { must } from "../../races/world.js";
import type { Mutant, Pair, Meeting } from "../pair.js";
import { Worker, type ClaimReply } from "../worker.js";

interface WithDuty {
  duty?: Duty;
}

const staysCovered: Meeting["check"] = (_, line) => covered(line);

/** Bugs that leave a fleet without a worker that hears of jobs. */
function missed(without: string, change: Change): Mutant {
  return { without, changes: [change], finds: /no worker with room is on call/ };
}

const NO_CALL_UP = missed("the call-up by the last worker on call that fills up", {
  ...{ in: "claim/onCall.ts:fillUp", without: "callUp", with: "RANKED_SESSIONS_MAX" },
});

const twoFillUp: Pair = {
  of: "the last two workers on call that fill up",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [one, other] = await line.enqueue(2);
    return {
      calls: { one: members.claims(on[0]!, one), other: members.claims(on[1]!, other) },
      check(answers, line) {
        const taken = ["one", "other"].map((name) => answers.of<ClaimReply>(name).jobs.length);
        must(taken.join() === "1,1", "a named job was not taken");
        covered(line);
      },
    };
  },
  mutants: [
    missed("the real read of the workers on call before one fills up", {
      ...{ in: "claim/onCall.ts:fillUp", call: "readListeners", gives: "seen.listeners" },
    }),
  ],
};

/** One of two on call came back, after one that stood by had taken its place. */
async function threeOnCall(line: Line): Promise<{ members: Members; three: string[] }> {
  const { members, on } = await newFleet(line);
  const [job] = await line.enqueue();
  await line.do(members.claims(on[0]!, job));
  await line.do(members.claims(standing(line)[1]!));
  await line.do(members.completes(on[0]!, job!));
  const three = ready(line);
  must(three.length === 3, `${three.length} are on call`);
  return { members, three };
}

const threeStandBy: Pair = {
  of: "three workers on call, each of which is one too many",
  orders: 840,
  async setUp(line) {
    const { members, three } = await threeOnCall(line);
    return {
      calls: Object.fromEntries(three.map((name) => [name, members.beats(name)])),
      check: staysCovered,
    };
  },
  mutants: [
    missed("the witness on call of a worker that stands by", {
      ...{ in: "claim/onCall.ts:hasWitness", returns: "true" },
    }),
  ],
};

const threeFillUp: Pair = {
  of: "three workers on call that fill up, each of which sees two more with room",
  orders: 1_056,
  async setUp(line) {
    const { members, three } = await threeOnCall(line);
    const jobs = await line.enqueue(3);
    const calls = three.map((name, i) => [name, members.claims(name, jobs[i])] as const);
    return { calls: Object.fromEntries(calls), check: staysCovered };
  },
  mutants: [
    missed("the witness on call of a worker that fills up", {
      ...{ in: "claim/onCall.ts:fillUp", call: "hasWitness", gives: "true" },
    }),
  ],
};

const fillAndEnd: Pair = {
  of: "one of the last two workers on call that fills up, and a beat of the other that ends its duty",
  orders: 24,
  async setUp(line) {
    const { members, three } = await threeOnCall(line);
    const [one, other] = await line.enqueue(2);
    await line.do(members.claims(three[0]!, one));
    return {
      calls: {
        fill: members.claims(three[1]!, other),
        beat: members.beats(three[2]!, { room: 0 }),
      },
      check: staysCovered,
    };
  },
  mutants: [
    missed("the real read of the workers on call before a beat ends its duty", {
      ...{ in: "claim/onCall.ts:dutyAtBeat", call: "readListeners", gives: "seen.listeners" },
    }),
  ],
};

const fillAndStandBy: Pair = {
  of: "the last worker on call that fills up, and a claim that goes to standby",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [one, other] = await line.enqueue(2);
    await line.do(members.claims(on[1]!, one));
    return {
      calls: { stand: members.claims("new", one), fill: members.claims(on[0]!, other) },
      check: staysCovered,
    };
  },
  mutants: [NO_CALL_UP],
};

const fillAndCalled: Pair = {
  of: "the last worker on call that fills up, and a claim of a worker that stood by",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [first] = standing(line).slice(1);
    const [one, other] = await line.enqueue(3);
    // Until then the third is left to the worker that has its place.
    await line.pass(1_000);
    await line.do(members.claims(on[1]!, one));
    return {
      calls: { fill: members.claims(on[0]!, other), called: members.claims(first!) },
      check: staysCovered,
    };
  },
  mutants: [
    missed("the real read of the first places of a call-up that must reach one", {
      ...{ in: "claim/callUps.ts:callUp", call: "readPlaces", gives: "seen.places" },
    }),
  ],
};

const resignAndClaim: Pair = {
  of: "a worker on call that resigns, and a claim of the other one that leaves a job",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [job] = await line.enqueue(2);
    return {
      calls: { resign: members.resigns(on[0]!), claim: members.claims(on[1]!, job) },
      check: staysCovered,
    };
  },
  mutants: [
    missed("the call-up by a worker that resigns", {
      ...{ in: "claim/onCall.ts:dutyAtEnd", without: "callUp" },
    }),
  ],
};

const resignEnqueueAndClaim: Pair = {
  of: "a worker on call that resigns, an enqueue, and a claim of the other one",
  orders: 408,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    return {
      calls: {
        resign: members.resigns(on[0]!),
        enqueue: line.enqueues(),
        claim: members.claims(on[1]!),
      },
      check: staysCovered,
    };
  },
  mutants: [],
};

const resignAndStandBy: Pair = {
  of: "a worker on call that resigns, and a claim that goes to standby",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [job] = await line.enqueue();
    await line.do(members.claims(on[1]!, job));
    return {
      calls: { resign: members.resigns(on[0]!), stand: members.claims("new") },
      check: staysCovered,
    };
  },
  mutants: [
    missed("the call-up by a worker that resigns", {
      ...{ in: "claim/onCall.ts:dutyAtEnd", without: "callUp" },
    }),
  ],
};

const watchAndBeat: Pair = {
  of: "a claim of the worker that watches, and a beat on call that ends its duty",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [watcher] = standing(line);
    const [job] = await line.enqueue();
    await line.do(members.claims(on[1]!, job));
    return {
      calls: { beat: members.beats(on[0]!, { room: 0 }), watch: members.claims(watcher!) },
      check: staysCovered,
    };
  },
  mutants: [
    missed("the call-up by a beat that ends its duty", {
      ...{ in: "claim/onCall.ts:dutyAtBeat", condition: "lacking > 0", is: false },
    }),
  ],
};

const watchAndFill: Pair = {
  of: "a claim of the worker that watches, and the last worker on call that fills up",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const [watcher] = standing(line);
    const [one, other] = await line.enqueue(2);
    await line.do(members.claims(on[1]!, one));
    return {
      calls: { fill: members.claims(on[0]!, other), watch: members.claims(watcher!) },
      check: staysCovered,
    };
  },
  mutants: [NO_CALL_UP],
};

const nameAndStandBy: Pair = {
  of: "a call-up by name, and a claim of the preferred worker that goes to standby",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const preferred = standing(line).at(-1)!;
    const prefer = { worker: preferred, forMs: 60_000 };
    const id = await line.enqueueOne({ prefer });
    return {
      calls: {
        beat: members.beats(on[0]!, { prefers: [preferred] }),
        stand: members.claims(preferred),
      },
      async check(answers, line) {
        const { jobs, duty } = answers.of<ClaimReply & WithDuty>("stand");
        if (jobs.length > 0 || duty?.kind === "onCall") return;
        must(duty?.kind === "standby", "it does not stand by");
        const isCalled = await line.do(members.asksWhetherCalled(preferred, duty!.since!));
        must(isCalled === true, `job ${id} waits, and its worker is not called up`);
      },
    };
  },
  mutants: [
    {
      without: "the call-up by name",
      changes: [{ in: "claim/onCall.ts:dutyAtBeat", without: "callUpPreferred" }],
      finds: /its worker is not called up/,
    },
  ],
};

const nameInVain: Pair = {
  of: "a call-up by name, and a claim in vain of the worker that it calls, which had been called before",
  orders: 24,
  async setUp(line) {
    const { members, on } = await newFleet(line);
    const preferred = standing(line).at(-1)!;
    await line.do(members.beats(on[0]!, { prefers: [preferred] }));
    return {
      calls: {
        beat: members.beats(on[1]!, { prefers: [preferred] }),
        stand: members.claims(preferred),
      },
      async check(answers, line) {
        const { duty } = answers.of<ClaimReply & WithDuty>("stand");
        must(duty?.kind === "standby", "it does not stand by");
        const asks = () => line.do(members.asksWhetherCalled(preferred, duty!.since!));
        const isCalled = await asks();
        must(answers.isBefore("beat", "stand") || isCalled === true, "the second is not heard");
        const again = await line.do<WithDuty>(members.claims(preferred));
        const { since } = again.duty!;
        const isEndless = await line.do(members.asksWhetherCalled(preferred, since!));
        must(isEndless === false, "it is called up without an end");
      },
    };
  },
  mutants: [
    {
      without: "the place after a call-up by name",
      changes: [{ in: "claim/onCall.ts:seePeers", call: "keyOfName", gives: "peers" }],
      finds: /called up without an end/,
    },
  ],
};

const preferenceEnds: Pair = {
  of: "the ring of the alarm that ends a preference, and a claim of another worker",
  orders: 24,
  async setUp(line) {
    const id = await line.enqueueOne({ prefer: { worker: "gone", forMs: 1_000 } });
    const [alarm] = line.rows("timers").filter(({ kind }) => kind === "expiry");
    await line.pass(Number(alarm!["dueAt"]) - 1 - line.now);
    line.transactions.now += 1;
    const other = new Worker(line, "other");
    return {
      calls: { claim: other.claims() },
      async check(answers, line) {
        if (answers.of<ClaimReply>("claim").jobs.length > 0) return;
        must(line.job(id)["prefer"] === undefined, "the preference goes on");
        must(await line.do<boolean>(line.asks()), "no worker is told of the job");
      },
    };
  },
  mutants: [
    {
      without: "the job's new place where its preference ends",
      changes: [{ in: "startDeadlines.ts:endPreference", condition: "isClaimable", is: false }],
      finds: /^a pending job below a returned cursor/,
    },
  ],
};

export const DUTIES: readonly Pair[] = [
  twoFillUp,
  threeStandBy,
  threeFillUp,
  fillAndEnd,
  fillAndStandBy,
  fillAndCalled,
  resignAndClaim,
  resignEnqueueAndClaim,
  resignAndStandBy,
  watchAndBeat,
  watchAndFill,
  nameAndStandBy,
  nameInVain,
  preferenceEnds,
];
