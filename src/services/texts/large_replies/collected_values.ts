import type { KeptValues } from "../memory/bounded_memory.ts";
import type { KeptValue } from "./reply_jobs.ts";

/** Collects what a thread keeps for later requests, to be sent to the memory of the main thread. */
export class CollectedValues<V> implements KeptValues<V> {
  readonly isEmpty = true;
  /** In the order in which they were kept. */
  readonly values: KeptValue<V>[] = [];
  #characters = 0;

  /** @param maxCharacters Of all values together. Later ones are dropped. */
  constructor(private readonly maxCharacters: number) {}

  put(key: string, value: V, characters: number): void {
    if (this.#characters + characters > this.maxCharacters) return;
    this.#characters += characters;
    this.values.push([key, value, characters]);
  }

  find(): null {
    return null;
  }
}
