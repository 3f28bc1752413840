import { chat } from "../../conversation/codecs/chat/mod.ts";
import { encodeSse } from "../encoders.ts";
import type { Voice } from "../generate.ts";
import { foundText } from "../web_search.ts";
import { isObject } from "../../conversation/wire_value.ts";
import { failureMessage } from "./openai_words.ts";

/** Whether a model shows its reasoning as `reasoning_content`, as vendors with a similar format do. */
export function isReasoner(model: string): boolean {
  return model.includes("reasoner");
}

/** `POST /v1/chat/completions`. Source: Chat Completions reference. */
export const chatVoice: Voice = {
  vendor: "openai",
  format: chat.caller,
  cachesByMarks: false,
  startsWithUsage: false,
  newReplyId: ({ world }) => `chatcmpl-${world.nextId()}`,
  newCallId: ({ world }) => `call_${world.nextId()}`,
  partsOf({ thoughts, parts: spoken, stop, finding }, { model }) {
    // The format has the sources of a text, but no search.
    const parts = [...foundText(finding, "chat").filter(({ kind }) => kind === "text"), ...spoken];
    // OpenAI hides reasoning and counts its tokens.
    const shown = thoughts !== null && !thoughts.redacted && isReasoner(model);
    return { parts: shown ? [{ kind: "reasoning", text: thoughts.text }, ...parts] : parts, stop };
  },
  tellsUsage: (body) => isObject(body.stream_options) && body.stream_options.include_usage === true,
  withoutUsage: (body) => body,
  usualMessage: failureMessage,
  failureFrames: () => {
    const error = { message: failureMessage(500), type: "server_error", param: null, code: null };
    return [{ event: null, data: JSON.stringify({ error }) }];
  },
  encoder: encodeSse,
  headersOf: ({ requestId }) => ({ "x-request-id": requestId }),
  streamType: "text/event-stream; charset=utf-8",
};
