/** What callers do before they enqueue. */
export { alone, deletePages, ownWork, writePages } from "../../../ownWork.js";
