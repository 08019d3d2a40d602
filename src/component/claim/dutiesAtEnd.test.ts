/** The duty of a worker of a large fleet whose call ends its job: with a claim in the same call, and without one. */
import { expect, test } from "vitest";
import { RANKED_SESSIONS_MAX } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { FULL } from "../rows/duties.js";
import { newWorld, succeeded } from "../setup.test.js";
import { Member, PEERS } from "./fleets.test.js";

/** On call, and not as one that is full. */
const HAS_ROOM = { peers: true, standbySince: undefined };

/** One of two on call in a fleet that is just large, with the fleet's only job. */
async function working() {
  const world = await newWorld({ shards: 1 });
  for (let i = 0; i < RANKED_SESSIONS_MAX; i += 1) await new Member(world, `other${i}`).claims();
  const last = new Member(world, "last");
  for (const member of [last, new Member(world, "beside")])
    expect(await member.claims()).toMatchObject({ kind: "onCall" });
  await world.enqueue();
  expect(await last.claims()).toMatchObject({ kind: "onCall" });
  const rowOf = async () => (await world.all("sessions")).find(({ name }) => name === last.name)!;
  return { world, last, rowOf };
}

test("with a claim, it is what the claim gives, and the worker is told", async () => {
  const { world, last, rowOf } = await working();
  expect(await rowOf()).toMatchObject({ peers: `${(await world.all("tokens"))[0]!._id}:${PEERS}` });
  const [job] = last.jobs;
  const claim = { queues: [world.queue], max: 1, woken: true, onCall: { peers: PEERS } };
  const { duty } = await world.t.mutation(api.lib.complete, {
    ...{ token: world.token, sessionKey: `session-${last.name}`, callSeq: last.n + 1 },
    ...{ finished: [succeeded(job!)], claim },
  });
  expect(duty).toMatchObject({ kind: "onCall" });
  const { peers, standbySince } = await rowOf();
  expect({ peers: peers !== undefined, standbySince }).toEqual(HAS_ROOM);
});

test("without a claim, a worker that was full is on call again", async () => {
  const { last, rowOf } = await working();
  expect(await rowOf()).toMatchObject({ standbySince: FULL });
  await last.completes();
  const { peers, standbySince } = await rowOf();
  expect({ peers: peers !== undefined, standbySince }).toEqual(HAS_ROOM);
});
