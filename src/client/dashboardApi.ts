/**
 * The public functions of the dashboard: for pages of people who look after all queues of an app. Each asks the app's
 * resolver before it reads or changes anything. An id from the internet may name a job of another queue than the one that
 * the resolver was asked about: such a job counts as none.
 */
import type { GenericDataModel } from "convex/server";
import type { ComponentApi } from "./componentApi.js";
import { actionFunctions } from "./dashboardActions.js";
import { jobFunctions } from "./dashboardJobs.js";
import type { GivenResolver } from "./dashboardLeave.js";
import type { DashboardFunctions, DashboardResolver } from "./dashboardTypes.js";
import { viewFunctions } from "./dashboardViews.js";

/** Builds what {@link Conveyor.dashboardApi} returns. */
export function dashboardFunctions<DataModel extends GenericDataModel>(
  component: ComponentApi,
  given: DashboardResolver<DataModel>,
): DashboardFunctions {
  // Untyped code may leave out anything, also all of it: then nobody may see or do anything.
  const resolver: GivenResolver = given;
  return {
    ...viewFunctions(component, resolver),
    ...jobFunctions(component, resolver),
    ...actionFunctions(component, resolver),
  };
}
