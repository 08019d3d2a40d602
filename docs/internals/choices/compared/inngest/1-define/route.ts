import { serve } from "inngest/next";
import { inngest } from "./client";
import { send } from "./emails";

export const { GET, POST, PUT } = serve({ client: inngest, functions: [send] });
