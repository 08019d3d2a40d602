import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({ log: defineTable({ text: v.string() }) });
