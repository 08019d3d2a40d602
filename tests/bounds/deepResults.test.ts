/** A result as deep as it may be is stored wherever a result is: in its job's row, and in the row of a callback that is owed. */
import { expect, test } from "vitest";
import { PAYLOAD_MAX_DEPTH } from "../../src/shared/index.js";
import { Line, mutation } from "../interleavings/line.js";
import { Transactions } from "../interleavings/transactions.js";
import { deploymentOf } from "../races/deployment.js";

const deployment = await deploymentOf([]);

test("an onComplete that throws is owed a result of all levels that a result may have, and told it later", async () => {
  const line = new Line(new Transactions(deployment));
  await line.open();
  await line.app("fail");
  const [id] = await line.enqueue();
  const caller = { token: line.token, sessionKey: "w" };
  await line.do(
    mutation("lib:claim", { ...caller, callSeq: 1, name: "w", queues: [line.queue], max: 1 }),
  );
  let result: unknown = 1;
  for (let level = 0; level < PAYLOAD_MAX_DEPTH; level += 1) result = [result];
  const outcome = { kind: "succeeded", result };
  const finished = [{ id, attempt: 1, outcome }];
  const { answers } = await line.do<{ answers: object[] }>(
    mutation("lib:complete", { ...caller, callSeq: 2, finished }),
  );
  expect(answers).toMatchObject([{ id, answer: "ok" }]);
  await line.app("mend");
  await line.pass(10_000);
  expect(line.rows("told", "")).toMatchObject([{ id, status: "succeeded", result }]);
});
