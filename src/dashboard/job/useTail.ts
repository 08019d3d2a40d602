/** Keeps a growing box scrolled to its end, unless the reader has scrolled back. */
import { useEffect, useRef } from "react";

/** This near to the end counts as the end. */
const NEAR_PX = 24;

export function useTail<Element extends HTMLElement>(grows: unknown) {
  const box = useRef<Element>(null);
  const follows = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element && follows.current) element.scrollTop = element.scrollHeight;
  }, [grows]);
  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    follows.current = left < NEAR_PX;
  };
  return { ref: box, onScroll };
}
