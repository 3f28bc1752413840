import { messages } from "../../../conversation/codecs/messages/mod.ts";
import { isAbsent, isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Call } from "../../call.ts";
import type { GenerationRequest, SimulatedEndpoint } from "../../generate.ts";
import { SimulatedError } from "../../simulated_error.ts";
import type { SimulatedVendors } from "../../simulated_vendors.ts";
import { invalidRequest } from "./anthropic_fields.ts";
import { messagesEndpoint } from "./anthropic_messages.ts";

/** A conversation as the vendor stores it under the id of its last reply. */
interface KeptThread {
  readonly system: unknown;
  readonly tools: unknown;
  readonly messages: readonly unknown[];
  isContinued: boolean;
}

/** Beyond this number, the oldest are removed. */
const MAX_THREADS = 1_000;
const BETA = /(^|,)\s*message-threads-2026-08-12\s*(,|$)/;

const threadsOf = new WeakMap<SimulatedVendors, Map<string, KeptThread>>();

/** A request with the stored part of its thread, and the endpoint that stores its reply. */
export interface ThreadedRequest {
  readonly body: JsonObject;
  readonly endpoint: SimulatedEndpoint;
}

/**
 * Returns the whole conversation of a request that may be part of a thread. Source: Messages API reference, "thread";
 * error codes of the official clients.
 *
 * @throws {SimulatedError}
 */
export function threaded(body: JsonObject, call: Call): ThreadedRequest {
  const { thread, ...rest } = body;
  if (isAbsent(thread)) return { body: rest, endpoint: messagesEndpoint };
  if (!BETA.test(call.headers.get("anthropic-beta") ?? "")) {
    throw invalidRequest("thread", "Extra inputs are not permitted");
  }
  const { type, previous_message_id: id } = isObject(thread) ? thread : {};
  if (type === "create") return { body: rest, endpoint: storingEndpoint(call.vendors) };
  if (type !== "continue") {
    throw invalidRequest("thread", `Input tag '${type}' found using 'type' does not match any of the expected tags`);
  }
  if (typeof id !== "string") throw invalidRequest("thread.continue.previous_message_id", "Field required");
  for (const name of ["system", "tools"]) {
    if (!isAbsent(body[name])) throw invalidRequest(name, "must not be set when continuing a thread");
  }
  const kept = threadsOf.get(call.vendors)?.get(id);
  if (kept === undefined) throw refusal(404, "thread_not_found", `No thread found for message ${id}`);
  if (kept.isContinued) throw refusal(400, "thread_already_continued", `Message ${id} was already continued`);
  kept.isContinued = true;
  const { system, tools } = kept;
  const whole: JsonObject = {
    ...rest,
    ...(isAbsent(system) ? {} : { system }),
    ...(isAbsent(tools) ? {} : { tools }),
    messages: [...kept.messages, ...listOf(body.messages)],
  };
  return { body: whole, endpoint: storingEndpoint(call.vendors) };
}

function refusal(status: number, errorCode: string, message: string): SimulatedError {
  return new SimulatedError(status, message, { shown: { error_code: errorCode } });
}

/** Stores the conversation and the reply under the reply's id, which is generated before the reply. */
function storingEndpoint(vendors: SimulatedVendors): SimulatedEndpoint {
  let kept: ((id: string) => void) | null = null;
  return {
    ...messagesEndpoint,
    partsOf(plan, request) {
      const said = messagesEndpoint.partsOf(plan, request);
      kept = (id) => keep(vendors, id, request, said);
      return said;
    },
    newReplyId(call) {
      const id = messagesEndpoint.newReplyId(call);
      kept?.(id);
      return id;
    },
  };
}

function keep(
  vendors: SimulatedVendors,
  id: string,
  request: GenerationRequest,
  said: ReturnType<SimulatedEndpoint["partsOf"]>,
): void {
  const { body, model, call, conversation } = request;
  const reply = { id, model, createdAt: 0, ...said, usage: null, unsupportedFields: [] };
  const context = { model, requestId: call.requestId, createdAt: 0, conversation, includeUsage: true };
  const { content } = messages.caller.writeReply(reply, context).body;
  const threads = threadsOf.get(vendors) ?? new Map<string, KeptThread>();
  threadsOf.set(vendors, threads);
  if (threads.size === MAX_THREADS) threads.delete(threads.keys().next().value!);
  const { system, tools } = body;
  const whole = [...listOf(body.messages), { role: "assistant", content }];
  threads.set(id, { system, tools, messages: whole, isContinued: false });
}
