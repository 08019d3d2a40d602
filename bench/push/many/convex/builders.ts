/** The builders, typed by this app's schema, and the app's functions and components by their names. */
import type { WorkpoolComponent } from "@convex-dev/workpool";
import type { ComponentApi } from "convex-conveyor/_generated/component.js";
import {
  anyApi,
  componentsGeneric,
  internalActionGeneric,
  internalMutationGeneric,
  mutationGeneric,
  type ActionBuilder,
  type DataModelFromSchemaDefinition,
  type FunctionReference,
  type GenericMutationCtx,
  type MutationBuilder,
} from "convex/server";
import { v, type Infer } from "convex/values";
import type schema from "./schema.js";

type DataModel = DataModelFromSchemaDefinition<typeof schema>;
export type MutationCtx = GenericMutationCtx<DataModel>;

export const mutation: MutationBuilder<DataModel, "public"> = mutationGeneric;
export const internalMutation: MutationBuilder<DataModel, "internal"> = internalMutationGeneric;
export const internalAction: ActionBuilder<DataModel, "internal"> = internalActionGeneric;

/** One job: its number, and how long it takes. */
export const vWork = v.object({ n: v.number(), ms: v.number() });
export type Work = Infer<typeof vWork>;
/** The kind of the job: an action, or a mutation. */
export type Kind = "act" | "book";

interface App {
  jobs: {
    act: FunctionReference<"action", "internal", Work, null>;
    book: FunctionReference<"mutation", "internal", Work, null>;
    save: FunctionReference<"mutation", "internal", { n: number }, null>;
    told: FunctionReference<"mutation", "internal", any, null>;
  };
  plain: {
    run: FunctionReference<"action", "internal", Work & { task: string }, null>;
    ended: FunctionReference<"mutation", "internal", Work & { task: string }, null>;
    booked: FunctionReference<"mutation", "internal", Work & { task: string }, null>;
  };
}
export const app = anyApi as unknown as App;

/** Besides Conveyor the workpools, by number: `workpool7`. */
export const components = componentsGeneric() as unknown as {
  conveyor: ComponentApi<"conveyor">;
} & Record<string, WorkpoolComponent>;

/** How many queues there are, and how many jobs may run at once in each, where that is bounded. */
export const queues = Number(process.env.QUEUES ?? 1);
export const parallelism = Number(process.env.PARALLELISM ?? 10);
/** Whether the action of a job calls a mutation of the app. */
export const saves = process.env.SAVES !== undefined;
/**
 * The function that patches the counter in addition to the app: the handler of a job that is a mutation, or each job's
 * callback.
 */
export const counts = process.env.COUNTS as "handler" | "callback" | undefined;
