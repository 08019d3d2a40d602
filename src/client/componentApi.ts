/** The component's functions as the app's backend sees them: `components.conveyor`. */
import type { ComponentApi as GeneratedApi } from "../component/_generated/component.js";

/** The argument of `new Conveyor(…)`, for any name under which the component was mounted. */
export type ComponentApi = GeneratedApi<string | undefined>;
