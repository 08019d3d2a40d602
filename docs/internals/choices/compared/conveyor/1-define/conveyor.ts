import { Conveyor } from "convex-conveyor";
import { components } from "./_generated/api";

export const conveyor = new Conveyor(components.conveyor);
