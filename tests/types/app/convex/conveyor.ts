import { Conveyor } from "convex-conveyor";
import { components } from "./_generated/api";
import type { DataModel } from "./_generated/dataModel";

export const conveyor = new Conveyor<DataModel>(components.conveyor);
