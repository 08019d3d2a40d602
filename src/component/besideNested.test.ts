/**
 * Nothing is written while a nested query of the same transaction is under way: the official mock would wait for ever, and its
 * test with it. Here it is refused at once, by name.
 */
import { expect, test } from "vitest";
import { internal } from "./_generated/api.js";
import { newWorld } from "./setup.test.js";

interface Syscalls {
  syscall: unknown;
  jsSyscall: unknown;
  asyncSyscall: (operation: string, args: string) => Promise<string>;
}

const WRITES = new Set(["1.0/insert", "1.0/shallowMerge", "1.0/replace", "1.0/remove"]);

/** By the mock of a world, whose calls come through a property of the global object. */
const guarded = new WeakMap<object, Syscalls["asyncSyscall"]>();
/** On the global object, since files of tests that share a thread have this module's state for themselves. */
const GUARD = Symbol.for("besideNested");

export function refuseWritesBesideNested(): void {
  const holder = globalThis as unknown as { Convex: Syscalls };
  const mock = holder.Convex;
  if (GUARD in mock) return;
  holder.Convex = {
    ...{ [GUARD]: true },
    get syscall() {
      return mock.syscall;
    },
    get jsSyscall() {
      return mock.jsSyscall;
    },
    get asyncSyscall() {
      const below = mock.asyncSyscall;
      const known = guarded.get(below) ?? guardOf(below);
      guarded.set(below, known);
      return known;
    },
  };
}

function guardOf(call: Syscalls["asyncSyscall"]): Syscalls["asyncSyscall"] {
  const queries = new Map<Promise<string>, string>();
  const refuse = async (operation: string): Promise<never> => {
    const [query] = queries.values();
    // The mock takes no error of a transaction before its nested calls are over.
    await Promise.allSettled(queries.keys());
    throw new Error(`${operation} is called beside a nested query: ${query}`);
  };
  return (operation, args) => {
    if (queries.size > 0 && WRITES.has(operation)) return refuse(operation);
    const answer = call(operation, args);
    if (operation !== "1.0/runUdf" || !/"udfType":"\w*uery"/i.test(args)) return answer;
    queries.set(answer, args);
    return answer.finally(() => queries.delete(answer));
  };
}

test.each([true, false])(
  "a write beside a nested query is refused (snapshot: %s)",
  async (isStale) => {
    const world = await newWorld();
    await world.worker("w").claim();
    const [session] = await world.all("sessions");
    const both = (isAfter: boolean) =>
      world.t.run(async (ctx) => {
        const query = ctx.runQuery(
          internal.push.wake.oldestWaiting,
          { queue: "tiles" },
          {
            useStaleSnapshot: isStale,
          },
        );
        if (isAfter) await query;
        await Promise.all([query, ctx.db.patch("sessions", session!._id, { name: "new" })]);
      });
    await both(true);
    await expect(both(false)).rejects.toThrow("1.0/shallowMerge is called beside a nested query");
  },
);
