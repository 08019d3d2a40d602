import { describe, expect, test } from "vitest";
import { Fifo } from "./fifo.js";

/** Calls that end on demand, and a record of their starts and answers. */
function calls() {
  const queue = new Fifo();
  const seen: string[] = [];
  const ends = new Map<string, () => void>();
  const call = (name: string, isRead: boolean) => {
    const answer = queue.run(
      () => {
        seen.push(`${name} begins`);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      },
      { isRead },
    );
    void answer.then(
      () => seen.push(`${name} ends`),
      () => seen.push(`${name} fails`),
    );
  };
  const end = async (name: string) => {
    ends.get(name)!();
    await rest();
  };
  return { queue, seen, call, end };
}

const rest = () => new Promise((resolve) => setImmediate(resolve));

describe("calls that a function makes together", () => {
  test("run one after the other, in their order", async () => {
    const { seen, call, end } = calls();
    call("write", false);
    call("read", true);
    call("nested", false);
    await rest();
    expect(seen).toEqual(["write begins"]);
    await end("write");
    await end("read");
    expect(seen).toEqual([
      "write begins",
      "write ends",
      "read begins",
      "read ends",
      "nested begins",
    ]);
  });

  test("run together where they are reads, and are answered together", async () => {
    const { seen, call, end } = calls();
    for (const name of ["a", "b"]) call(name, true);
    call("write", false);
    call("c", true);
    await rest();
    await end("b");
    expect(seen).toEqual(["a begins", "b begins"]);
    await end("a");
    expect(seen.slice(2)).toEqual(["a ends", "b ends", "write begins"]);
  });

  test("are sixteen at most", async () => {
    const { seen, call, end } = calls();
    for (let i = 1; i <= 17; i++) call(`${i}`, true);
    await rest();
    expect(seen).toHaveLength(16);
    for (let i = 1; i <= 16; i++) await end(`${i}`);
    expect(seen.at(-1)).toBe("17 begins");
  });

  test("one that fails fails no other", async () => {
    const queue = new Fifo();
    const answers = await Promise.allSettled([
      queue.run(() => Promise.reject(new Error("no")), { isRead: true }),
      queue.run(() => Promise.resolve(1), { isRead: true }),
      queue.run(() => Promise.resolve(2)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  });

  test("have not begun when the queue is closed: they fail; it rests when the running ones have ended", async () => {
    const { queue, seen, call, end } = calls();
    call("a", false);
    call("b", true);
    await rest();
    queue.close(new Error("over"));
    let isIdle = false;
    void queue.idle().then(() => (isIdle = true));
    await rest();
    expect(isIdle).toBe(false);
    await end("a");
    await rest();
    expect([seen, isIdle]).toEqual([["a begins", "a ends", "b fails"], true]);
  });
});
