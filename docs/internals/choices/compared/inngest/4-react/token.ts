"use server";
import { getClientSubscriptionToken } from "inngest/react";
import { inngest } from "./client";
import { renders } from "./worker";

export const tokenFor = async (scene: string) =>
  await getClientSubscriptionToken(inngest, {
    channel: renders({ scene }),
    topics: ["progress"],
  });
