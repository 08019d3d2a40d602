/** Jobs that Convex itself runs. */
import type { Case } from "../cases.js";
import type { Side } from "../sides.js";
import { benchApp } from "./variant.js";

export const push: Side = {
  bundle: benchApp,
  variables: ({ work, cancelAfterMs }, parallelism = 10) => ({
    PARALLELISM: String(parallelism),
    ...(work.failing === undefined ? {} : { RETRIES: "yes" }),
    ...(cancelAfterMs === undefined ? {} : { CANCELS: "yes" }),
  }),
  entries: (module, { work }: Case) => ({
    one: `${module}:${work.kind}`,
    all: `${module}:${work.kind}All`,
  }),
};
