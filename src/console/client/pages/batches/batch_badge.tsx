import { Badge, type Tone } from "../../components/badge.tsx";
import { TEXTS } from "../../texts.ts";

const TONES: Readonly<Record<string, Tone>> = {
  completed: "good",
  failed: "bad",
  expired: "bad",
  cancelling: "warn",
  cancelled: "warn",
};

/** The status of a batch. */
export function BatchBadge({ status }: { readonly status: string }) {
  const names: Readonly<Record<string, string>> = TEXTS.batches.statuses;
  return <Badge tone={TONES[status] ?? "plain"}>{names[status] ?? status}</Badge>;
}
