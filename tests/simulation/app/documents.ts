/** The functions that the queue over this table calls by name. */
import { recordOf, tables } from "./rows.js";

export const { claimable, take, record: recordRow } = tables.documents;
export const record = recordOf("documents");
