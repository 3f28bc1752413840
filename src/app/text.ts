import type { Meter } from "../billing/meter.ts";
import type { OpenStreams } from "../calls/stream_relay.ts";
import type { DatedCatalog } from "../catalog/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { createMediaInliner } from "../net/media_inliner.ts";
import type { EgressPolicy } from "../net/target.ts";
import { createStateOwnership } from "../ownership/state_ownership.ts";
import type { AttemptSlots } from "../routing/attempt_slots.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";
import type { Store } from "../store/store.ts";
import type { KeptValues } from "../texts/bounded_memory.ts";
import { itemMemoryOver } from "../texts/item_memory.ts";
import { MissingTokenCounters } from "../texts/missing_token_counters.ts";
import { PrefixMemory } from "../texts/prompt_caching/prefix_memory.ts";
import { type KeptReasoning, reasoningMemoryOver } from "../texts/reasoning_memory.ts";
import { TextService } from "../texts/text_service.ts";
import type { Provider } from "../upstreams/provider.ts";

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
