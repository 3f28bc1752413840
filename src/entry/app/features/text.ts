import type { Meter } from "../../../money/billing/meter/meter.ts";
import type { OpenStreams } from "../../../services/calls/stream_relay.ts";
import type { DatedCatalog } from "../../../vendors/catalog/catalog.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { createMediaInliner } from "../../../platform/net/media_inliner.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import { createStateOwnership } from "../../../services/ownership/state_ownership.ts";
import type { AttemptSlots } from "../../../vendors/routing/attempt_slots.ts";
import type { CircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { KeptValues } from "../../../services/texts/memory/bounded_memory.ts";
import { itemMemoryOver } from "../../../services/texts/memory/item_memory.ts";
import { MissingTokenCounters } from "../../../services/texts/plan/missing_token_counters.ts";
import { PrefixMemory } from "../../../services/texts/memory/prefix_memory.ts";
import { type KeptReasoning, reasoningMemoryOver } from "../../../services/texts/memory/reasoning_memory.ts";
import { TextService } from "../../../services/texts/request/text_service.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";

/** Options of {@linkcode createTextService}: the shared parts, or their stand-ins in a thread. */
export interface TextServiceOptions {
  readonly catalog: DatedCatalog;
  /** By name. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly breaker: CircuitBreaker;
  /** Limits the attempts at providers. */
  readonly slots: AttemptSlots;
  readonly meter: Meter;
  readonly store: Store;
  readonly egress: EgressPolicy;
  readonly openStreams: OpenStreams;
  /** Reasoning of earlier replies, by tool call. */
  readonly reasoning: KeptValues<KeptReasoning>;
  /** Output items that later requests can refer to. */
  readonly items: KeptValues<string>;
  readonly clock: Clock;
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Builds the service behind the text endpoints, on the main thread and in threads for large requests alike. */
export function createTextService(
  { egress, openStreams, reasoning, items, store, clock, log, ...shared }: TextServiceOptions,
): TextService {
  return new TextService({
    ...shared,
    store,
    clock,
    log,
    openStreams: openStreams,
    reasoning: reasoningMemoryOver(reasoning),
    prefixes: new PrefixMemory(clock),
    items: itemMemoryOver(items),
    vendorState: createStateOwnership({ store, log }),
    mediaInliner: createMediaInliner(egress),
    missingTokenCounters: new MissingTokenCounters(clock),
  });
}
