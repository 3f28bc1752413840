import type { Config } from "../../../config/config.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { KeptValues } from "../../../services/texts/memory/bounded_memory.ts";
import type { ReplyKind } from "../../../services/texts/memory/records.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const storedRepliesModule = new Late(() => import("../../../services/texts/memory/stored_replies.ts"));

/** What {@linkcode withStoredReplies} needs. */
export interface ThreadRepliesParts<V> {
  readonly kind: ReplyKind;
  readonly config: Pick<Config, "store">;
  readonly store: Pick<Store, "get" | "scan" | "commit">;
  readonly clock: Clock;
  /** Where values are read to; it belongs to the thread. */
  readonly near: KeptValues<V>;
}

/** What is kept of replies in a thread, which also reads what other processes have stored, if there can be any. */
export async function withStoredReplies<V>(
  kept: KeptValues<V>,
  { config, near, ...parts }: ThreadRepliesParts<V>,
): Promise<KeptValues<V>> {
  if (storeAddressOf(config.store).engine !== "postgres") return kept;
  const { ReplyReader } = await storedRepliesModule.load();
  const reader = new ReplyReader(parts, near);
  return {
    get isEmpty() {
      return kept.isEmpty;
    },
    put: (key, value, characters) => kept.put(key, value, characters),
    find: (key) => near.find(key) ?? kept.find(key),
    load: (keys) => reader.load(keys),
  };
}
