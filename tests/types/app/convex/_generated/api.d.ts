import type { ApiFromModules, FilterApi, FunctionReference } from "convex/server";
import type { ComponentApi } from "convex-conveyor/_generated/component.js";
import type * as emails from "../emails.js";
import type * as jobs from "../jobs.js";
import type * as misfits from "../misfits.js";
import type * as renders from "../renders.js";
import type * as rendersNode from "../rendersNode.js";

declare const fullApi: ApiFromModules<{
  emails: typeof emails;
  jobs: typeof jobs;
  misfits: typeof misfits;
  renders: typeof renders;
  rendersNode: typeof rendersNode;
}>;

export declare const api: FilterApi<typeof fullApi, FunctionReference<any, "public">>;
export declare const internal: FilterApi<typeof fullApi, FunctionReference<any, "internal">>;
export declare const components: { conveyor: ComponentApi<"conveyor"> };
