import type { ListedProvider, ProviderHealth } from "../shapes.ts";
import { TEXTS } from "../texts.ts";
import { Badge, type Tone } from "./badge.tsx";

const STATE_TONES: Readonly<Record<ProviderHealth["state"], Tone>> = {
  ready: "good",
  degraded: "warn",
  resting: "bad",
  misconfigured: "bad",
};

const CIRCUIT_TONES: Readonly<Record<ProviderHealth["circuit"], Tone>> = {
  closed: "plain",
  half_open: "warn",
  open: "bad",
};

/** The state of a provider, or of one of its credentials. A provider out of service has only that. */
export function ProviderBadge({ provider: { state, service } }: {
  readonly provider: Pick<ListedProvider, "state" | "service">;
}) {
  if (service?.state === "drain" || service?.state === "off") {
    return <Badge tone="warn">{TEXTS.providers.serviceBadges[service.state]}</Badge>;
  }
  return <Badge tone={STATE_TONES[state]}>{TEXTS.providers.states[state]}</Badge>;
}

/** The state of a circuit. */
export function CircuitBadge({ circuit }: Pick<ProviderHealth, "circuit">) {
  return <Badge tone={CIRCUIT_TONES[circuit]}>{TEXTS.providers.circuits[circuit]}</Badge>;
}
