/** The exports of the app's modules, by name. */
import { anyApi, type ApiFromModules } from "convex/server";
import type * as conveyor from "../app/convex/conveyor.js";
import type * as farm from "../app/convex/farm.js";
import type * as many from "../app/convex/many.js";
import type * as ring from "../app/convex/ring.js";

export const api = anyApi as unknown as ApiFromModules<{
  conveyor: typeof conveyor;
  farm: typeof farm;
  many: typeof many;
  ring: typeof ring;
}>;
