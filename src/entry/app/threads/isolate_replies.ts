import type { Config } from "../../../config/config.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { BoundedMemory, type KeptValues } from "../../../services/texts/memory/bounded_memory.ts";
import type { KeptReasoning } from "../../../services/texts/memory/reasoning_memory.ts";
import { nearMemory } from "../../../threads/state/near_memory.ts";
import type { RemoteState } from "../../../threads/state/remote_state.ts";
import { withStoredReplies } from "./thread_replies.ts";

/** The dependencies of {@linkcode openIsolateReplies}. */
export interface IsolateRepliesParts {
  readonly config: Pick<Config, "store">;
  readonly state: Pick<RemoteState, "reasoning" | "items" | "store">;
  readonly clock: Clock;
}

/** What an isolate keeps of replies, for later requests. */
export interface IsolateReplies {
  /** By tool call. */
  readonly reasoning: KeptValues<KeptReasoning>;
  /** Output items, by their ids. */
  readonly items: KeptValues<string>;
  /** Removes what the thread itself keeps of an account. */
  forget(accountId: string): void;
}

/** Opens what an isolate keeps of replies: in its thread and in the main thread, which other processes may share. */
export async function openIsolateReplies({ config, state, clock }: IsolateRepliesParts): Promise<IsolateReplies> {
  const { store } = state;
  const ownReasoning = new BoundedMemory<KeptReasoning>(clock);
  const ownItems = new BoundedMemory<string>(clock);
  return {
    reasoning: await withStoredReplies(
      nearMemory(ownReasoning, state.reasoning as KeptValues<KeptReasoning>),
      { kind: "reasoning", config, store, clock, near: ownReasoning },
    ),
    items: await withStoredReplies(
      nearMemory(ownItems, state.items),
      { kind: "item", config, store, clock, near: ownItems },
    ),
    forget(accountId) {
      ownReasoning.removeAccount(accountId);
      ownItems.removeAccount(accountId);
    },
  };
}
