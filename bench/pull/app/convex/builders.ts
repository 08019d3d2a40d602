/** The builders, typed by this app's schema, and the parts that all alternatives share. */
import type { ComponentApi } from "convex-conveyor/_generated/component.js";
import {
  anyApi,
  componentsGeneric,
  internalMutationGeneric,
  mutationGeneric,
  queryGeneric,
  type DataModelFromSchemaDefinition,
  type FunctionReference,
  type GenericMutationCtx,
  type MutationBuilder,
  type QueryBuilder,
} from "convex/server";
import { v, type Infer } from "convex/values";
import type schema from "./schema.js";

type DataModel = DataModelFromSchemaDefinition<typeof schema>;
export type MutationCtx = GenericMutationCtx<DataModel>;

export const mutation: MutationBuilder<DataModel, "public"> = mutationGeneric;
export const internalMutation: MutationBuilder<DataModel, "internal"> = internalMutationGeneric;
export const query: QueryBuilder<DataModel, "public"> = queryGeneric;

/** One job: its number, how long it takes, and something to carry. */
export const vWork = v.object({ n: v.number(), ms: v.number(), pad: v.optional(v.string()) });
export type Work = Infer<typeof vWork>;

/** How long a worker with a job may be silent before the job is free again: the same for all. */
export const LEASE_MS = 60_000;

export const app = anyApi as unknown as {
  farm: { giveUp: FunctionReference<"mutation", "internal", { job: string }, null> };
};

export const components = componentsGeneric() as unknown as {
  conveyor: ComponentApi<"conveyor">;
};

/** The ways in, the same for each alternative: one job a mutation, or many in one. */
export function entries(insert: {
  one: (ctx: MutationCtx, work: Work) => Promise<unknown>;
  /** Defaults to one after the other. */
  all?: (ctx: MutationCtx, works: Work[]) => Promise<unknown>;
}) {
  const { one } = insert;
  const each = async (ctx: MutationCtx, works: Work[]): Promise<void> => {
    for (const work of works) await one(ctx, work);
  };
  const all = insert.all ?? each;
  return {
    enqueue: mutation({
      args: vWork.fields,
      handler: async (ctx, work) => {
        await one(ctx, work);
        console.log(`enqueued ${work.n}`);
        return null;
      },
    }),
    enqueueAll: mutation({
      args: { works: v.array(vWork) },
      handler: async (ctx, { works }) => {
        await all(ctx, works);
        console.log(`enqueued ${works[0]?.n}..${works.at(-1)?.n}`);
        return null;
      },
    }),
  };
}
