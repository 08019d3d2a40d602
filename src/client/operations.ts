/**
 * Internal functions for operators, built for an app that calls them itself: from its own functions, its crons, or its own
 * administration behind its own checks. Without any of them, `npx convex run --component conveyor operate:pauseQueue …` does the
 * same. Internal, since each reaches every queue.
 */
import {
  internalMutationGeneric,
  internalQueryGeneric,
  type FunctionArgs,
  type FunctionReturnType,
  type RegisteredMutation,
  type RegisteredQuery,
} from "convex/server";
import { CHANGE_ARGS, LOOK_ARGS } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";

type Operate = ComponentApi["operate"];
type OfTokens = `${string}Token${string}`;
type ChangeName = Exclude<keyof typeof CHANGE_ARGS, OfTokens>;
type LookName = Exclude<keyof typeof LOOK_ARGS, OfTokens>;
/** Declaring a queue and marking a token are for the package's own calls. */
type Args<Name extends keyof Operate> = Omit<FunctionArgs<Operate[Name]>, "declared">;
type Returns<Name extends keyof Operate> = Promise<FunctionReturnType<Operate[Name]>>;

/** Internal functions for operators, to be exported by a module of the app: any of the functions. */
export type OperationFunctions = {
  [Name in ChangeName]: RegisteredMutation<"internal", Args<Name>, Returns<Name>>;
} & { [Name in LookName]: RegisteredQuery<"internal", Args<Name>, Returns<Name>> };

/** Builds the functions of {@link Conveyor.operations}. */
export function operationFunctions({ operate }: ComponentApi): OperationFunctions {
  const changes = namesOf(CHANGE_ARGS).map((name) => [
    name,
    internalMutationGeneric({
      args: CHANGE_ARGS[name],
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runMutation(operate[name], args as never)),
    }),
  ]);
  const looks = namesOf(LOOK_ARGS).map((name) => [
    name,
    internalQueryGeneric({
      args: LOOK_ARGS[name],
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runQuery(operate[name], args as never)),
    }),
  ]);
  return Object.fromEntries([...changes, ...looks]) as OperationFunctions;
}

/** Of tokens there is `tokenApi`. */
function namesOf<Of extends object>(args: Of): Exclude<keyof Of & string, OfTokens>[] {
  return Object.keys(args).filter((name) => !name.includes("Token")) as never;
}
