/** The callers' own work before they enqueue. */
export { alone, deletePages, ownWork, writePages } from "../../../ownWork.js";
