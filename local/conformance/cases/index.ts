/** All cases, in the order of their sections. */
import type { Case } from "../case.js";
import { actions } from "./actions.js";
import { commitTimestamps } from "./commitTimestamps.js";
import { components } from "./components.js";
import { files } from "./files.js";
import { http } from "./http.js";
import { httpActions } from "./httpActions.js";
import { limits } from "./limits.js";
import { nesting } from "./nesting.js";
import { readSets } from "./readSets.js";
import { retention } from "./retention.js";
import { runtime } from "./runtime.js";
import { scheduler } from "./scheduler.js";
import { sync } from "./sync.js";
import { syncRequests } from "./syncRequests.js";
import { users } from "./users.js";
import { transactions } from "./transactions.js";
import { values } from "./values.js";

export const CASES: readonly Case[] = [
  ...transactions,
  ...readSets,
  ...nesting,
  ...commitTimestamps,
  ...retention,
  ...limits,
  ...scheduler,
  ...components,
  ...runtime,
  ...values,
  ...actions,
  ...http,
  ...httpActions,
  ...files,
  ...users,
  ...sync,
  ...syncRequests,
];
