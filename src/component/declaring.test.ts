/** Calls of the component as the app's wrapper makes them, for its tests; and the refusal that the wrapper answers. */
import { expect, test } from "vitest";
import { callDeclaring } from "../client/mounted.js";
import { api } from "./_generated/api.js";
import { newWorld } from "./setup.test.js";

type Mutations = { mutation: (reference: any, args: any) => Promise<any> };

/** Queues that a call finds undeclared are declared, and the call is made again. */
export function declaring<Test extends Mutations>(t: Test): Test {
  const runMutation = t.mutation.bind(t);
  const mutation: Mutations["mutation"] = (reference, args) => {
    const { queue, queues, claim } = args ?? {};
    const declarations = [queue ?? [], queues ?? [], claim?.queues ?? []].flat();
    const call = () => runMutation(reference, args);
    return callDeclaring({ runMutation } as never, api as never, declarations, call);
  };
  return Object.assign(t, { mutation });
}

test("a call of an undeclared queue is refused with nothing written, also where it is nested in another mutation", async () => {
  const world = await newWorld();
  const { queue, token } = world;
  const call = { token, sessionKey: "s", callSeq: 1, name: "w", max: 1 };
  const other = { name: "other", config: queue.config };
  await world.t.mutation(api.lib.declare, { queues: [other] });
  const refused = await world.t.run(async (ctx) => {
    const calls = [
      () => ctx.runMutation(api.lib.enqueue, { queue, jobs: [{ payload: 1 }] }),
      () => ctx.runMutation(api.lib.claim, { ...call, queues: [other, queue] }),
    ];
    const data: unknown[] = [];
    for (const one of calls) data.push(await one().catch((error: any) => error.data));
    return data;
  });
  expect(refused).toMatchObject([
    { code: "queuesUndeclared", queues: ["tiles"] },
    { code: "queuesUndeclared", queues: ["tiles"] },
  ]);
  expect(await world.all("queues")).toMatchObject([{ name: "other" }]);
  expect(await world.all("sessions")).toEqual([]);
  expect(await world.all("jobs")).toEqual([]);
});
