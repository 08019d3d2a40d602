/** How many workpools are mounted. The measurement writes another number into a copy of this app. */
export const MOUNTS = 0;
