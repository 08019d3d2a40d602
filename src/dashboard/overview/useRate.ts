/** A rate per minute as time passes. */
import { useState } from "react";
import { useNow } from "../frame/clock.js";

/** The time that a rate covers: after it, each of its jobs is further back. */
const RATE_MS = 5 * 60_000;

/** The rate of an answer; 0 where none has come since for as long: of a queue that stands still, no new one is sent. */
export function useRate(answer: object, perMinute: number): number {
  const now = useNow();
  const [last, setLast] = useState({ answer, at: now });
  if (last.answer !== answer) setLast({ answer, at: now });
  return last.answer === answer && now - last.at >= RATE_MS ? 0 : perMinute;
}
