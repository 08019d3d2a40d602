/** The actions on one worker, each shown before the backend has answered. */
import type { OptimisticLocalStore } from "convex/browser";
import { dashboardCalls, type DashboardApi, type ShownWorker } from "../../shared/index.js";
import { useLabels, useWrite } from "../frame/context.js";
import { usePerform } from "./usePerform.js";

export function useWorkerDeeds({ id, name }: ShownWorker) {
  const perform = usePerform();
  const labels = useLabels().workers;
  const quiet = useWrite<"quietWorker">((store, api) => change(store, api, id, quieted));
  const resume = useWrite<"resumeWorker">((store, api) => change(store, api, id, resumed));
  return {
    quiet: () =>
      perform({
        work: () => quiet({ kind: "quietWorker", id }),
        done: () => labels.quieted(name),
        failed: (reason) => labels.quietFailed(name, reason),
      }),
    resume: () =>
      perform({
        work: () => resume({ kind: "resumeWorker", id }),
        done: () => labels.resumed(name),
        failed: (reason) => labels.resumeFailed(name, reason),
      }),
  };
}

function change(
  store: OptimisticLocalStore,
  api: DashboardApi,
  id: string,
  changed: (worker: ShownWorker) => ShownWorker,
): void {
  const all = dashboardCalls(api).read({ kind: "workers" });
  const workers = store.getQuery(...all);
  if (workers === undefined) return;
  store.setQuery(
    ...all,
    workers.map((worker) => (worker.id === id ? changed(worker) : worker)),
  );
}

const quieted = (worker: ShownWorker): ShownWorker => ({ ...worker, quietBy: "operator" });

function resumed({ quietBy: _, ...worker }: ShownWorker): ShownWorker {
  return worker;
}
