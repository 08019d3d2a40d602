/** An app's texts in the place of the dashboard's own. Pure. */
import { DEFAULT_LABELS } from "./labels.js";

/** All texts of the dashboard, in groups. */
export type Labels = typeof DEFAULT_LABELS;

/** The texts that an app replaces: any groups, and any texts of a group. */
export type LabelOverrides = { readonly [Group in keyof Labels]?: Partial<Labels[Group]> };

/** The defaults with an app's texts in their place. */
export function labelsWith(overrides: LabelOverrides = {}): Labels {
  const given = overrides as Readonly<Record<string, object | undefined>>;
  const groups = Object.entries(DEFAULT_LABELS).map(([group, defaults]) => {
    const replaced = Object.entries(given[group] ?? {}).filter(([, text]) => text !== undefined);
    return [group, { ...defaults, ...Object.fromEntries(replaced) }];
  });
  return Object.fromEntries(groups) as Labels;
}
