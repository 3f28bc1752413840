import type { ComponentChildren } from "preact";

/** The meaning of a badge. */
export type Tone = "good" | "warn" | "bad" | "plain";

/** A short state. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** The HTTP status of a response. */
export function StatusBadge({ status }: { readonly status: number }) {
  const tone = status >= 500 ? "bad" : status >= 400 ? "warn" : "good";
  return <Badge tone={tone}>{status}</Badge>;
}
