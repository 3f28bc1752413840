import { converse, readCount, writeCountRequest } from "../../../conversation/codecs/converse/mod.ts";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import type { TextEndpoint } from "../contract/upstream.ts";
import type { EventMessage } from "./event_messages.ts";
import { eventResponse } from "./event_response.ts";
import { exceptionIn } from "./exception.ts";
import { countedPathNameOf, isAnthropic, pathNameOf } from "./model_name.ts";
import { readRefusal } from "./refusal.ts";

/**
 * All models at Bedrock except Anthropic's, in one format. Sources: Amazon Bedrock API reference, "Converse",
 * "ConverseStream" and "CountTokens".
 */
export const converseEndpoint: TextEndpoint = {
  format: converse.upstream,
  passThrough: null,
  serves: (model) => !isAnthropic(model),
  path: (model, stream) => `/model/${pathNameOf(model)}/${stream ? "converse-stream" : "converse"}`,
  // Sources are bytes, or objects in buckets of the gateway's account.
  mustInline: ({ source }) => source.kind === "url",
  readError: readRefusal,
  asEvents: (response, onHeldBytes) => eventResponse(response, converseFrameOf, onHeldBytes),
  counter: {
    path: (model) => `/model/${countedPathNameOf(model)}/count-tokens`,
    write: writeCountRequest,
    readCount,
  },
};

const decoder = new TextDecoder();

function converseFrameOf(message: EventMessage): Frame | null {
  const exception = exceptionIn(message);
  if (exception !== null) return { event: exception.name, data: JSON.stringify({ message: exception.message }) };
  const name = message.headers.get(":event-type") ?? "";
  return /^[A-Za-z]{1,64}$/.test(name) ? { event: name, data: decoder.decode(message.payload) } : null;
}
