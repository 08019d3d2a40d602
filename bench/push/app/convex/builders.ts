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

/** One job: its number, how long it takes, something to carry, and how many of 100 attempts fail. */
export const vWork = v.object({
  n: v.number(),
  ms: v.number(),
  pad: v.optional(v.string()),
  failing: v.optional(v.number()),
});
export type Work = Infer<typeof vWork>;
/** The kind of the job: an action, or a mutation. */
export type Kind = "act" | "book";

type Task = Work & { task: string; attempt?: number };
interface App {
  lanes: { run: FunctionReference<"action", "internal", any, null> };
  work: {
    act: FunctionReference<"action", "internal", Work, null>;
    book: FunctionReference<"mutation", "internal", Work, null>;
  };
  tasks: {
    act: FunctionReference<"action", "internal", Task, null>;
    book: FunctionReference<"mutation", "internal", Task, null>;
    ended: FunctionReference<
      "mutation",
      "internal",
      Task & { status: "succeeded" | "failed" },
      null
    >;
  };
}
export const app = anyApi as unknown as App;

export const components = componentsGeneric() as unknown as {
  conveyor: ComponentApi<"conveyor">;
  workpool: WorkpoolComponent;
};

/** How many jobs may run at once, for alternatives with a bound: set by the measurement. */
export const parallelism = Number(process.env.PARALLELISM ?? 10);

/** The retry rule of failed attempts, where any fail: the same for all. */
export const retry = { maxAttempts: 5, initialBackoffMs: 250, base: 2 };
export const retries = process.env.RETRIES !== undefined;
/** Whether a cancel may come: an alternative that has to keep something for that does. */
export const cancels = process.env.CANCELS !== undefined;
