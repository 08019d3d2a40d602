/** The component's functions as the app's backend sees them: `components.conveyor`. */
import type { ComponentApi as GeneratedApi } from "../component/_generated/component.js";

/** What `new Conveyor(…)` takes, whatever name the component was mounted under. */
export type ComponentApi = GeneratedApi<string | undefined>;
