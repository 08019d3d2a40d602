/** Stands for `_generated`. */
import {
  actionGeneric,
  anyApi,
  componentsGeneric,
  internalActionGeneric,
  internalMutationGeneric,
  internalQueryGeneric,
  mutationGeneric,
  queryGeneric,
  type DataModelFromSchemaDefinition,
  type ActionBuilder,
  type MutationBuilder,
  type QueryBuilder,
} from "convex/server";
import type { ComponentApi } from "../../../src/client/index.js";
import type schema from "./schema.js";

export type DataModel = DataModelFromSchemaDefinition<typeof schema>;

export const query = queryGeneric as QueryBuilder<DataModel, "public">;
export const internalQuery = internalQueryGeneric as QueryBuilder<DataModel, "internal">;
export const mutation = mutationGeneric as MutationBuilder<DataModel, "public">;
export const internalMutation = internalMutationGeneric as MutationBuilder<DataModel, "internal">;
export const action = actionGeneric as ActionBuilder<DataModel, "public">;
export const internalAction = internalActionGeneric as ActionBuilder<DataModel, "internal">;

export const internal = anyApi as any;
export const conveyorComponent = componentsGeneric()["conveyor"] as unknown as ComponentApi;
/** It is there in few worlds: see `second.ts`. */
export const secondComponent = componentsGeneric()["second"] as unknown as ComponentApi;
