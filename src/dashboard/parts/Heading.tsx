/** A heading at the level that fits the page around the dashboard. */
import { createElement, type ReactNode } from "react";
import { useFrame } from "../frame/context.js";

export function Heading({
  under = 0,
  id,
  className,
  children,
}: {
  /** How far below the main heading. */
  under?: 0 | 1 | 2;
  id?: string;
  className?: string;
  children: ReactNode;
}) {
  const level = Math.min(6, useFrame().headingLevel + under);
  const attributes = { id, className: `cv-heading cv-heading-${under} ${className ?? ""}` };
  // A new page moves the focus to its main heading.
  const focusable = under === 0 ? { tabIndex: -1 } : {};
  return createElement(`h${level}`, { ...attributes, ...focusable }, children);
}
