import { percent, table } from "../markdown.ts";
import type { Share } from "../profile.ts";
import type { LoadProfile } from "../profiling.ts";
import { PROFILES_BEFORE } from "./before.ts";

/** Where the gateway's main thread spends its time under each profiled load, now and before. */
export function profileTexts(profiles: readonly LoadProfile[]): string[] {
  if (profiles.length === 0) return [];
  return [
    "## Where the time goes",
    "From CPU profiles of the gateway's main thread. Time outside JavaScript is waiting, Deno's own code, or the " +
    "kernel.",
    ...profiles.flatMap(({ id, title, spent }) => {
      const before = PROFILES_BEFORE[id];
      return [
        `### ${title}`,
        `Outside JavaScript: ${percent(spent.outside)} of the time. The shares below are of the rest.`,
        ...(before === undefined ? [] : [shareTable("Before: in the function itself", before)]),
        shareTable("In the function itself", spent.self),
        shareTable("With its callees, up to where it waits", spent.inclusive),
      ];
    }),
  ];
}

function shareTable(title: string, shares: readonly Share[]): string {
  return table([title, "share"], shares.map(({ label, share }) => [`\`${label}\``, percent(share)]));
}
