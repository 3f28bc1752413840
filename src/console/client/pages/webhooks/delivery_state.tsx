import { Badge, type Tone } from "../../components/badge.tsx";
import type { Delivery } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const TONES: Readonly<Record<Delivery["state"], Tone>> = { pending: "plain", delivered: "good", exhausted: "bad" };

/** The state of a delivery. */
export function DeliveryState({ state }: Pick<Delivery, "state">) {
  return <Badge tone={TONES[state]}>{TEXTS.webhooks.states[state]}</Badge>;
}
