/** All workloads and faults. Their order is that in which events of the same time happen. */
import type { Part } from "./part.js";
import { producers } from "./workloads/producers.js";

export const WORKLOADS: readonly Part[] = [producers];
export const FAULTS: readonly Part[] = [];
export const PARTS: readonly Part[] = [...WORKLOADS, ...FAULTS];
