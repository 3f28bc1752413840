import { responses } from "../../../conversation/codecs/responses/mod.ts";
import { isAbsent, isObject, listOf, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Call } from "../../call.ts";
import type { GenerationRequest, SimulatedEndpoint } from "../../generate.ts";
import { issueSignature } from "../../signatures.ts";
import type { SimulatedVendors } from "../../simulated_vendors.ts";
import { responsesEndpoint } from "./openai_responses.ts";

/** What the vendor stores of all callers. Beyond this number of each, the oldest are removed. */
interface Stored {
  /** The whole conversation up to the end of a response, by key and id of the response. */
  readonly conversations: Map<string, readonly unknown[]>;
  /** Items of responses, by key and id of the item. */
  readonly items: Map<string, JsonObject>;
}

const MAX_STORED = 1_000;
const storedOf = new WeakMap<SimulatedVendors, Stored>();

/** A request with what it names by id, and the endpoint that stores its response. */
export interface ResolvedRequest {
  readonly body: JsonObject;
  readonly endpoint: SimulatedEndpoint;
}

/**
 * Replaces what a request names by id with what the vendor stored: the earlier response, and items. Ids that the key
 * did not store stay as they are, and are refused by the rules. The response is stored unless `store` is false.
 * Source: Responses API reference, `store`, `previous_response_id`, "Item reference".
 */
export function resolved(body: JsonObject, call: Call): ResolvedRequest {
  const stored = storedBy(call.vendors);
  const whole = withItems(withPrevious(body, stored, call), stored, call);
  return { body: whole, endpoint: body.store === false ? responsesEndpoint : storingEndpoint(stored) };
}

function storedBy(vendors: SimulatedVendors): Stored {
  const known = storedOf.get(vendors);
  if (known !== undefined) return known;
  const stored: Stored = { conversations: new Map(), items: new Map() };
  storedOf.set(vendors, stored);
  return stored;
}

/** Every key is its own organization. */
function nameOf(id: unknown, { headers }: Call): string {
  return `${headers.get("authorization")} ${id}`;
}

function withPrevious(body: JsonObject, { conversations }: Stored, call: Call): JsonObject {
  const { previous_response_id: id, ...rest } = body;
  const earlier = isAbsent(id) ? undefined : conversations.get(nameOf(id, call));
  return earlier === undefined ? body : { ...rest, input: [...earlier, ...itemsOf(body.input)] };
}

function withItems(body: JsonObject, { items }: Stored, call: Call): JsonObject {
  if (!Array.isArray(body.input)) return body;
  return { ...body, input: body.input.map((item) => isNamed(item) ? items.get(nameOf(item.id, call)) ?? item : item) };
}

/** Whether an item is only a name: a reference, or reasoning without its content. */
function isNamed(item: unknown): item is JsonObject {
  if (!isObject(item) || isAbsent(item.id)) return false;
  const isBare = isAbsent(item.type) && isAbsent(item.role);
  return isBare || item.type === "item_reference" || (item.type === "reasoning" && isAbsent(item.encrypted_content));
}

function itemsOf(input: unknown): readonly unknown[] {
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : listOf(input);
}

/** Stores the conversation and the items of the reply. Their ids follow from the request's id. */
function storingEndpoint(stored: Stored): SimulatedEndpoint {
  return {
    ...responsesEndpoint,
    partsOf(plan, request) {
      const said = responsesEndpoint.partsOf(plan, request);
      keep(stored, request, said);
      return said;
    },
  };
}

function keep(stored: Stored, request: GenerationRequest, said: ReturnType<SimulatedEndpoint["partsOf"]>): void {
  const { body, model, call, conversation } = request;
  const reply = { id: "", model, createdAt: 0, ...said, usage: null, unsupportedFields: [] };
  const context = { model, requestId: call.requestId, createdAt: 0, conversation, includeUsage: true };
  const { id, output } = responses.caller.writeReply(reply, context).body;
  const items = objectsOf(output).map((item) => storedItem(item, call));
  add(stored.conversations, nameOf(id, call), [...itemsOf(body.input), ...items]);
  for (const item of items) add(stored.items, nameOf(item.id, call), item);
}

/** The vendor has the content of its reasoning, whether the caller received it or not. */
function storedItem(item: JsonObject, { requestId }: Call): JsonObject {
  if (item.type !== "reasoning" || !isAbsent(item.encrypted_content)) return item;
  return { ...item, encrypted_content: issueSignature("responses", requestId).value };
}

function add<Value>(map: Map<string, Value>, name: string, value: Value): void {
  const [oldest] = map.keys();
  if (map.size >= MAX_STORED && oldest !== undefined) map.delete(oldest);
  map.set(name, value);
}
