import { Badge, type Tone } from "../../components/badge.tsx";
import { TEXTS } from "../../texts.ts";

const TONES: Readonly<Record<string, Tone>> = {
  completed: "good",
  failed: "bad",
  expired: "bad",
  cancelled: "warn",
};

/** The status of a video task. */
export function VideoStatus({ status }: { readonly status: string }) {
  const names: Readonly<Record<string, string>> = TEXTS.videos.statuses;
  return <Badge tone={TONES[status] ?? "plain"}>{names[status] ?? status}</Badge>;
}
