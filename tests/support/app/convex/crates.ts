import { crates } from "./parcels.js";

export const { claimable, take, record } = crates;
