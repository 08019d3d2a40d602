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

const isNestedQuery = (operation: string, args: string) =>
  operation === "1.0/runUdf" && /uery$/.test((JSON.parse(args) as { udfType: string }).udfType);

/** Of one mock: its calls come through a property of the global object. */
const guards = new WeakSet<Syscalls>();

export function refuseWritesBesideNested(): void {
  const holder = globalThis as unknown as { Convex: Syscalls };
  const mock = holder.Convex;
  if (guards.has(mock)) return;
  /** By the mock of a world. */
  const nested = new WeakMap<object, Map<Promise<string>, string>>();
  const guard: Syscalls = {
    get syscall() {
      return mock.syscall;
    },
    get jsSyscall() {
      return mock.jsSyscall;
    },
    get asyncSyscall() {
      const below = mock.asyncSyscall;
      const queries = nested.get(below) ?? new Map<Promise<string>, string>();
      nested.set(below, queries);
      const guarded: Syscalls["asyncSyscall"] = async (operation, args) => {
        if (queries.size > 0 && WRITES.has(operation)) {
          const [query] = queries.values();
          // The mock takes no error of a transaction before its nested calls are over.
          await Promise.allSettled(queries.keys());
          throw new Error(`${operation} is called beside a nested query: ${query}`);
        }
        const call = below(operation, args);
        if (!isNestedQuery(operation, args)) return await call;
        queries.set(call, args);
        return await call.finally(() => queries.delete(call));
      };
      return guarded;
    },
  };
  guards.add(guard);
  holder.Convex = guard;
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
