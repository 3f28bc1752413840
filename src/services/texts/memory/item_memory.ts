import type { Frame } from "../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { KeptValues } from "./bounded_memory.ts";

/**
 * Keeps the output items of translated `responses` replies. Clients may send back an id in place of an item
 * (`item_reference`), as one popular client does by default. A vendor that stores responses resolves the ids itself;
 * for a vendor of another format the gateway must. Items are kept in memory for some hours.
 */
export interface ItemMemory {
  /** Reads the items that a request names and other processes have kept. Null if there are none to read. */
  load(accountId: string, body: JsonObject): Promise<void> | null;
  /** Keeps the items of a whole reply. */
  keepReply(accountId: string, reply: JsonObject): void;
  /** Keeps items that another thread found in a reply: keys, texts, and the characters that they count as. */
  keepValues(values: readonly (readonly [string, string, number])[]): void;
  /** Keeps the item that a frame completes, if there is one. */
  keepFrame(accountId: string, frame: Frame): void;
  /** Returns the account's item with that id, or null if none is kept. */
  find(accountId: string, id: string): JsonObject | null;
  /**
   * Returns the request with every known reference replaced by its item. The others stay, and the codec rejects them.
   */
  resolve(accountId: string, body: JsonObject): JsonObject;
}

const ITEM_DONE = "response.output_item.done";

/** Creates a memory over kept values. Items are stored as JSON text. */
export function itemMemoryOver(memory: KeptValues<string>): ItemMemory {
  function keep(accountId: string, item: unknown): void {
    if (!isObject(item) || typeof item.id !== "string") return;
    const text = JSON.stringify(item);
    memory.put(`${accountId} ${item.id}`, text, text.length);
  }

  function find(accountId: string, id: string): JsonObject | null {
    const text = memory.find(`${accountId} ${id}`);
    return text === null ? null : JSON.parse(text) as JsonObject;
  }

  function resolved(accountId: string, item: unknown): unknown {
    if (!isObject(item) || typeof item.id !== "string") return item;
    // A reference may omit its type, and its only member is then the id.
    const isReference = item.type === "item_reference" || (item.type === undefined && item.role === undefined);
    if (!isReference) return item;
    return find(accountId, item.id) ?? item;
  }

  return {
    load(accountId, body) {
      if (memory.load === undefined || !Array.isArray(body.input)) return null;
      const ids = body.input.flatMap((item) => isObject(item) && typeof item.id === "string" ? [item.id] : []);
      return memory.load(ids.map((id) => `${accountId} ${id}`));
    },
    keepReply(accountId, reply) {
      if (Array.isArray(reply.output)) reply.output.forEach((item) => keep(accountId, item));
    },
    keepValues(values) {
      for (const [key, value, characters] of values) memory.put(key, value, characters);
    },
    keepFrame(accountId, { event, data }) {
      if (event === ITEM_DONE) keep(accountId, (JSON.parse(data) as { item?: unknown }).item);
    },
    find,
    resolve(accountId, body) {
      if (!Array.isArray(body.input)) return body;
      return { ...body, input: body.input.map((item) => resolved(accountId, item)) };
    },
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
