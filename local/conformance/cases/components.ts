/** §5: components have tables, environments and schedulers of their own; handles; calls across the border. */
import { expect } from "vitest";
import { until } from "../../until.js";
import { api } from "../app/convex/_generated/api.js";
import type { Read } from "../app/convex/rows.js";
import { newGroup, NO_WIRE, refusal, type Case } from "../case.js";
import type { Target } from "../target.js";
import { post } from "../wire.js";

const all: Read = { op: "read" };

const child = (
  target: Target,
  fn: string,
  args: Record<string, unknown> = {},
  mount: "child" | "second" = "child",
): Promise<any> => target.mutation(api.calls.child, { mount, fn, args });

async function own(target: Target, group: string): Promise<number[]> {
  const [rows] = (await target.query(api.rows.look, { group, ids: [], steps: [all] })) as [
    number[],
  ];
  return rows;
}

export const components: Case[] = [
  {
    id: "5.1.own-tables",
    says: "a table of a component is not the app's of the same name",
    run: async (target) => {
      const group = newGroup();
      await child(target, "add", { group, n: 1 });
      expect(await child(target, "list", { group })).toEqual([1]);
      expect(await own(target, group)).toEqual([]);
    },
  },
  {
    id: "5.1.instances-apart",
    says: "two mounts of one component have tables of their own",
    run: async (target) => {
      const group = newGroup();
      await child(target, "add", { group, n: 1 }, "child");
      await child(target, "add", { group, n: 2 }, "second");
      expect(await child(target, "list", { group }, "child")).toEqual([1]);
      expect(await child(target, "list", { group }, "second")).toEqual([2]);
    },
  },
  {
    id: "5.1.one-transaction",
    says: "a failing app takes back its component's writes",
    run: async (target) => {
      const group = newGroup();
      await refusal(target.mutation(api.calls.acrossAndFail, { group }));
      expect(await own(target, group)).toEqual([]);
      expect(await child(target, "list", { group })).toEqual([]);
    },
  },
  {
    id: "5.1.child-failure-caught",
    says: "a failing component leaves no writes, and its app may go on",
    run: async (target) => {
      const group = newGroup();
      const { message, child: rows } = (await target.mutation(api.calls.childFails, { group })) as {
        message: string;
        child: number[];
      };
      expect(message).toContain("after the insert");
      expect(rows).toEqual([]);
      expect(await own(target, group)).toEqual([1]);
    },
  },
  {
    id: "5.1.internal-hidden",
    says: "an internal function of a component cannot be called by the app",
    run: async (target) => {
      await refusal(child(target, "hidden", { group: newGroup(), n: 1 }));
    },
    convexTest: { differs: "internal functions of a component can be called by the app" },
  },
  {
    id: "5.1.not-for-clients",
    says: "a client cannot call a component's function, by no path",
    convexTest: NO_WIRE,
    run: async (target) => {
      for (const path of ["child/lib:list", "lib:list", "child:lib:list"]) {
        const body = { path, args: [{ group: "g" }] };
        const reply = await post(target.server(), "/api/query", { body });
        expect(reply.body).toMatchObject({ status: "error" });
      }
    },
  },
  {
    id: "5.1.admin-component-path",
    says: "an admin can, with componentPath; other callers are refused",
    convexTest: NO_WIRE,
    run: async (target) => {
      const server = target.server();
      const group = newGroup();
      await child(target, "add", { group, n: 4 });
      const body = { path: "lib:list", componentPath: "child", args: { group }, format: "json" };
      const authorization = `Convex ${server.adminKey}`;
      const asAdmin = await post(server, "/api/function", { body, authorization });
      expect(asAdmin.body).toMatchObject({ status: "success", value: [4] });
      const refused = await post(server, "/api/function", { body });
      expect(refused.status).toBeGreaterThanOrEqual(400);
    },
  },
  {
    id: "5.1.ids-are-strings",
    says: "an id of a component's table comes out as a string that is good there and nowhere else",
    run: async (target) => {
      const group = newGroup();
      const id = (await child(target, "add", { group, n: 3 })) as string;
      expect(await child(target, "get", { id })).toBe(3);
      expect(await child(target, "get", { id }, "second")).toBeNull();
    },
  },
  {
    id: "5.1.no-paginate",
    says: "paginate is refused in a component",
    run: async (target) => {
      expect(await refusal(child(target, "page", { group: newGroup() }))).toContain("paginate");
    },
    convexTest: { differs: "paginate works in components" },
  },
  {
    id: "5.1.env",
    says: "a component's environment has its own variables, and not the app's",
    run: async (target) => {
      expect(await child(target, "env")).toMatchObject({ COLOR: "green" });
      expect(await child(target, "env", {}, "second")).not.toHaveProperty("COLOR");
    },
    convexTest: { differs: "components share the process's environment" },
  },
  {
    id: "5.1.env-urls",
    says: "and the deployment's URL",
    run: async (target) => {
      expect(await child(target, "env")).toHaveProperty("CONVEX_CLOUD_URL");
    },
    convexTest: { differs: "the variable is not set" },
  },
  {
    id: "5.1.same-clock",
    says: "a nested call has its caller's clock",
    run: async (target) => {
      const [outer, inner] = await target.mutation(api.calls.nestedNow, {});
      expect(inner).toBe(outer);
    },
    convexTest: "its clock moves, so whether the two are equal is luck",
  },
  {
    id: "5.1.own-dice",
    says: "each nested call has dice of its own",
    run: async (target) => {
      expect(new Set(await target.query(api.calls.nestedRandom, {})).size).toBe(3);
    },
  },
  {
    id: "5.1.path",
    says: "a component's function knows its path and its component",
    run: async (target) => {
      expect(await child(target, "path", {}, "second")).toMatchObject({
        name: "lib:path",
        componentPath: "second",
      });
    },
  },
  {
    id: "5.1.grandchild",
    says: "a component calls its own children, with a path that names all components around them",
    run: async (target) => {
      expect(await child(target, "inner")).toBe("child/grandchild");
    },
  },
  {
    id: "5.1.actions",
    says: "an action runs a component's action, which runs its mutations and queries",
    run: async (target) => {
      const args = { group: newGroup(), n: 6 };
      expect(await target.action(api.calls.childAction, args)).toEqual([6]);
    },
  },
  {
    id: "5.1.logs-merged",
    says: "a component's log lines are among its caller's",
    convexTest: NO_WIRE,
    run: async (target) => {
      const body = { path: "calls:child", args: [{ mount: "child", fn: "logs", args: {} }] };
      const reply = await post(target.server(), "/api/mutation", { body });
      expect(JSON.stringify(reply.body)).toContain("from the child");
    },
  },
  {
    id: "5.2.stable",
    says: "a function's handle is a string, the same each time",
    run: async (target) => {
      const [first, second, other] = await target.mutation(api.calls.ownHandle, {});
      expect(first).toMatch(/^function:\/\//);
      expect(second).toBe(first);
      expect(other).not.toBe(first);
    },
  },
  {
    id: "5.2.crosses-borders",
    says: "a component that is given a handle may call the app's internal function by it",
    run: async (target) => {
      const group = newGroup();
      const [handle] = (await target.mutation(api.calls.ownHandle, {})) as [string];
      const args = { handle, args: { group, n: 5 } };
      await target.mutation(api.calls.throughChild, args);
      expect(await own(target, group)).toEqual([5, 5]);
    },
  },
  {
    id: "5.2.of-internal",
    says: "and any holder of a handle of a component's internal function may call that",
    run: async (target) => {
      const group = newGroup();
      const handle = (await child(target, "handle")) as string;
      await target.mutation(api.calls.byHandle, { handle, args: { group, n: 8 } });
      expect(await child(target, "list", { group })).toEqual([8]);
    },
  },
  {
    id: "5.2.wrong-handle",
    says: "a string that is no handle is refused",
    run: async (target) => {
      const args = { handle: "function://nothing;x:y", args: {} };
      await refusal(target.mutation(api.calls.byHandle, args));
    },
  },
  {
    id: "4.7.own-scheduler",
    says: "a component schedules its own functions, with ids that are valid in it alone",
    run: async (target) => {
      const group = newGroup();
      const id = (await child(target, "later", { group, n: 2, ms: 0 })) as string;
      await until(
        () => child(target, "list", { group }) as Promise<number[]>,
        (rows) => rows.length === 1,
      );
      await until(
        () => child(target, "laterState", { id }) as Promise<string>,
        (state) => state === "success",
      );
      expect(await child(target, "laterState", { id }, "second")).toBeNull();
    },
  },
  {
    id: "4.7.cancel-in-component",
    says: "a component's mutation cancels a function that it scheduled",
    run: async (target) => {
      const group = newGroup();
      const id = (await child(target, "later", { group, n: 2, ms: 3_600_000 })) as string;
      await child(target, "cancelLater", { id });
      expect(await child(target, "laterState", { id })).toBe("canceled");
    },
  },
  {
    id: "4.7.handle-scheduled",
    says: "a component may schedule the app's function by its handle",
    run: async (target) => {
      const group = newGroup();
      const [handle] = (await target.mutation(api.calls.ownHandle, {})) as [string];
      await child(target, "scheduleHandle", { handle, args: { group, n: 4 } });
      await until(
        () => own(target, group),
        (rows) => rows.length === 2,
      );
    },
  },
];
