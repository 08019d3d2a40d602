/**
 * A worker as one would first write it: each call has a new number, none is repeated, no lease is renewed, and SIGTERM
 * ends it at once. The negative control of the conformance script.
 */
const { CONVEX_URL, CONVEYOR_TOKEN, CONVEYOR_MODULE, CONVEYOR_QUEUE, CONVEYOR_CONCURRENCY } =
  process.env;

let n = 0;
const running = new Set();

for (;;) {
  const max = Number(CONVEYOR_CONCURRENCY) - running.size;
  const reply =
    max > 0 ? await call("claim", { name: "naive", queues: [CONVEYOR_QUEUE], max }) : null;
  for (const job of reply?.jobs ?? []) {
    const work = run(job).finally(() => running.delete(work));
    running.add(work);
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}

async function call(name, args) {
  n += 1;
  const body = { path: `${CONVEYOR_MODULE}:${name}`, format: "json" };
  const all = { token: CONVEYOR_TOKEN, sessionKey: "naive", callSeq: n, ...args };
  try {
    const response = await fetch(`${CONVEX_URL}/api/mutation`, {
      method: "POST",
      body: JSON.stringify({ ...body, args: all }),
    });
    return (await response.json()).value;
  } catch {
    return null;
  }
}

async function run({ id, attempt, payload }) {
  const tell = async (what) =>
    await fetch(`${payload.url}/${what}?job=${id}&attempt=${attempt}`, { method: "POST" });
  await tell("begun");
  await new Promise((resolve) => setTimeout(resolve, payload.ms ?? 0));
  await tell("ended");
  const outcome = payload.message
    ? { kind: "failed", error: payload.message }
    : { kind: "succeeded", result: payload.value ?? null };
  await call("complete", { finished: [{ id, attempt, queue: CONVEYOR_QUEUE, outcome }] });
}
