import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { encodeSse } from "../../encoders.ts";
import type { SimulatedEndpoint } from "../../generate.ts";
import { searchTextParts } from "../../web_search.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { cachedAt } from "./openai_cache.ts";
import { neverReasons } from "../default_reasoning.ts";
import { failureMessage } from "./openai_messages.ts";

/** Whether a model shows its reasoning as `reasoning_content`, as vendors with a similar format do. */
export function isReasoner(model: string): boolean {
  return model.includes("reasoner");
}

/** `POST /v1/chat/completions`. Source: Chat Completions reference. */
export const chatEndpoint: SimulatedEndpoint = {
  vendor: "openai",
  format: chat.caller,
  cachedAt,
  startsWithUsage: false,
  neverReasons,
  newReplyId: ({ vendors }) => `chatcmpl-${vendors.nextId()}`,
  newCallId: ({ vendors }) => `call_${vendors.nextId()}`,
  partsOf({ reasoning, parts: spoken, stop, search: found }, { model }) {
    // The format has the sources of a text, but no search.
    const parts = [...searchTextParts(found, "chat").filter(({ kind }) => kind === "text"), ...spoken];
    // OpenAI hides reasoning and counts its tokens.
    const shown = reasoning !== null && !reasoning.redacted && isReasoner(model);
    return { parts: shown ? [{ kind: "reasoning", text: reasoning.text }, ...parts] : parts, stop };
  },
  reportsUsage: (body) => isObject(body.stream_options) && body.stream_options.include_usage === true,
  withoutUsage: (body) => body,
  defaultMessage: failureMessage,
  failureFrames: () => {
    const error = { message: failureMessage(500), type: "server_error", param: null, code: null };
    return [{ event: null, data: JSON.stringify({ error }) }];
  },
  encoder: encodeSse,
  headersOf: ({ requestId }) => ({ "x-request-id": requestId }),
  streamType: "text/event-stream; charset=utf-8",
};
