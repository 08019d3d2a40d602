/** The scheduler has no room. */
export { occupy, rest } from "../../../occupying.js";
