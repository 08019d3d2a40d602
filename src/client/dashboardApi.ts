/**
 * The public functions of the dashboard: for pages of people who look after all queues of an app. Each asks the app's
 * `authorize` before it reads or changes anything. An id from the internet may name a job of another queue than the one that
 * `authorize` was asked about: such a job counts as none.
 */
import type { GenericDataModel } from "convex/server";
import type { ComponentApi } from "./componentApi.js";
import { actionFunctions } from "./dashboardActions.js";
import { jobFunctions } from "./dashboardJobs.js";
import type { GivenOptions } from "./dashboardLeave.js";
import type { DashboardFunctions, DashboardApiOptions } from "./dashboardTypes.js";
import { viewFunctions } from "./dashboardViews.js";

/** Builds what {@link Conveyor.dashboardApi} returns. */
export function dashboardFunctions<DataModel extends GenericDataModel>(
  component: ComponentApi,
  given: DashboardApiOptions<DataModel>,
): DashboardFunctions {
  // Untyped code may leave out anything, also all of it: then every call is refused.
  const options: GivenOptions = given;
  return {
    ...viewFunctions(component, options),
    ...jobFunctions(component, options),
    ...actionFunctions(component, options),
  };
}
