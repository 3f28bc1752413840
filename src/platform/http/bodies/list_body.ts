import { ownBufferOf } from "../../lib/bytes/own_buffer.ts";
import type { JsonObject } from "../../lib/json/json_object.ts";
import { hasMoreValuesThan } from "../../lib/json/json_values.ts";
import { type BodyLimits, type BodySource, readBody } from "./body.ts";
import { JSON_CONTAINER_BYTES, JSON_MEMORY_FACTOR, jsonObjectOf, refuseOtherTypes } from "./json_body.ts";
import type { MediaBodyThread } from "./media_body.ts";
import { type ListPath, SentList, takeList } from "./sent_list.ts";

/** How a body with a long list is read. */
export interface ListBodyOptions {
  readonly limits: BodyLimits;
  /** Where the list can be. The first one that there is counts. */
  readonly lists: readonly ListPath[];
  /** Where large bodies are read. */
  readonly thread: MediaBodyThread;
  /** The account that takes turns with others. */
  readonly accountId: string;
}

/** A JSON object whose list was taken out. */
export interface ListBody {
  /** With an empty list in the place of the list. */
  readonly body: JsonObject;
  /** The list; null if there is none. */
  readonly list: SentList | null;
}

/** A body with more values is large, too. */
const MAX_VALUES = 20_000;

/**
 * Reads a request as `readJsonObject` does, without the elements of a list, whose number only the size of a body
 * limits. A large body is parsed in a thread. The elements are parsed one by one, by those who read them.
 *
 * @throws {GatewayError} As `readJsonObject`; `overloaded` if too many large bodies wait.
 */
export async function readListBody(
  source: BodySource,
  { limits, lists, thread: { reader, aboveBytes }, accountId }: ListBodyOptions,
): Promise<ListBody> {
  refuseOtherTypes((source.headers ?? source.request.headers).get("content-type"));
  const { request: { signal }, memory } = source;
  const sent = source.received?.bytes ?? await readBody(source, limits, JSON_MEMORY_FACTOR);
  if (sent.length <= aboveBytes && !await hasMoreValuesThan(sent, MAX_VALUES)) {
    const json = jsonObjectOf(sent, memory);
    const { body, ranges } = takeList(json, lists);
    return { body, list: ranges === null ? null : new SentList(json.bytes, ranges) };
  }
  const { maxValues } = limits;
  const job = {
    members: [],
    isBase64: false,
    buffer: ownBufferOf(sent),
    maxValues,
    weights: { newName: 0 }, // each request may have names of its own, and delays no other caller
    isHashed: false,
    lists,
  };
  const { body, list, containers } = await reader.read(job, { accountId, signal });
  memory.reserve(containers * JSON_CONTAINER_BYTES);
  return { body, list };
}
