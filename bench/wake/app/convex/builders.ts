/** The builders, typed by this app's schema, and the app's functions by their names. */
import {
  anyApi,
  internalActionGeneric,
  internalMutationGeneric,
  internalQueryGeneric,
  mutationGeneric,
  queryGeneric,
  type ActionBuilder,
  type DataModelFromSchemaDefinition,
  type DocumentByName,
  type GenericDatabaseReader,
  type GenericDatabaseWriter,
  type GenericMutationCtx,
  type MutationBuilder,
  type QueryBuilder,
} from "convex/server";
import type schema from "./schema.js";

type DataModel = DataModelFromSchemaDefinition<typeof schema>;
export type Job = DocumentByName<DataModel, "jobs">;
export type Reader = GenericDatabaseReader<DataModel>;
export type Writer = GenericDatabaseWriter<DataModel>;
export type MutationCtx = GenericMutationCtx<DataModel>;

export const query: QueryBuilder<DataModel, "public"> = queryGeneric;
export const mutation: MutationBuilder<DataModel, "public"> = mutationGeneric;
export const internalQuery: QueryBuilder<DataModel, "internal"> = internalQueryGeneric;
export const internalMutation: MutationBuilder<DataModel, "internal"> = internalMutationGeneric;
export const internalAction: ActionBuilder<DataModel, "internal"> = internalActionGeneric;

/** The app's functions, by file and name. */
export const app = anyApi as unknown as Record<
  "enqueue" | "lane" | "turn" | "wake",
  Record<string, any>
>;
