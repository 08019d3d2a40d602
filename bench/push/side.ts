/** Jobs that Convex itself runs. */
import type { Case } from "../cases.js";
import type { Side } from "../sides.js";
import { benchApp, queuesApp } from "./variant.js";

/** As many workpools as most cases have queues. */
const MOUNTS = 30;

export const push: Side = {
  bundle(constants, name, { queues, mounts = MOUNTS }) {
    if (queues === undefined) return benchApp(constants);
    return queuesApp(constants, name === "workpool" ? mounts : 0);
  },
  variables: ({ work, cancelAfterMs, queues, timeoutMs }, parallelism = 10) => ({
    PARALLELISM: String(parallelism),
    ...(work.failing === undefined ? {} : { RETRIES: "yes" }),
    ...(cancelAfterMs === undefined ? {} : { CANCELS: "yes" }),
    ...(queues === undefined ? {} : { QUEUES: String(queues) }),
    ...(work.saves === true ? { SAVES: "yes" } : {}),
    ...(work.counts === undefined ? {} : { COUNTS: work.counts }),
    ...(timeoutMs === undefined ? {} : { TIMEOUT_MS: String(timeoutMs) }),
  }),
  entries(module, { work, queues }: Case) {
    if (queues !== undefined) return { one: `${module}:enqueue`, all: `${module}:enqueue` };
    return { one: `${module}:${work.kind}`, all: `${module}:${work.kind}All` };
  },
};
