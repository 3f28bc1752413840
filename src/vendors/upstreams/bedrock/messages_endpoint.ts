import { Buffer } from "node:buffer";
import { messages, passThroughTo, writeCountRequest } from "../../../conversation/codecs/messages/mod.ts";
import { readCount } from "../../../conversation/codecs/converse/mod.ts";
import type { PassThrough } from "../../../conversation/contract/pass_through.ts";
import type { Quirks } from "../../../conversation/contract/quirks.ts";
import type { UpstreamFormat } from "../../../conversation/contract/upstream_format.ts";
import { isAbsent } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { MovedFields, TextEndpoint } from "../contract/upstream.ts";
import { messagesFrameOf } from "./messages_frames.ts";
import { eventResponse } from "./event_response.ts";
import { countedPathNameOf, isAnthropic, pathNameOf } from "./model_name.ts";
import { readRefusal } from "./refusal.ts";

const VERSION = { anthropic_version: "bedrock-2023-05-31" };
/** Members of a request that Bedrock has in the path or in a header field, or does not have. */
const REMOVED = ["model", "stream", "service_tier"];
const WITHOUT_TIERS: Quirks = new Set(["no_service_tier"]);

const format: UpstreamFormat = {
  ...messages.upstream,
  writeRequest(conversation, target) {
    const quirks = target.quirks.union(WITHOUT_TIERS);
    const written = messages.upstream.writeRequest(conversation, { ...target, quirks });
    const { model: _inPath, stream: _inPathToo, ...body } = written.body;
    return { ...written, body: { ...VERSION, ...body } };
  },
  supportsTier: () => false,
};

const passing = passThroughTo(() => ({ set: VERSION, remove: REMOVED }));

const passThrough: PassThrough = {
  ...passing,
  prepare(request) {
    const prepared = passing.prepare(request);
    if (isAbsent(request.body.service_tier)) return prepared;
    return { ...prepared, droppedFields: [...prepared.droppedFields, "service_tier"] };
  },
};

/**
 * Anthropic's models at Bedrock: the Messages API, with the model and the kind of the reply in the path, and the
 * version in the body. Source: Amazon Bedrock User Guide, "Anthropic Claude Messages API"; Anthropic's Bedrock SDK.
 */
export const messagesEndpoint: TextEndpoint = {
  format,
  passThrough,
  serves: isAnthropic,
  path: (model, stream) => `/model/${pathNameOf(model)}/${stream ? "invoke-with-response-stream" : "invoke"}`,
  // Sources by address are not supported there.
  mustInline: ({ source }) => source.kind === "url",
  canPass: (outlineText) => !/"type"\s*:\s*"url"/.test(outlineText),
  readError: readRefusal,
  asEvents: (response, onHeldBytes) => eventResponse(response, messagesFrameOf, onHeldBytes),
  fieldsInBody,
  counter: {
    path: (model) => `/model/${countedPathNameOf(model)}/count-tokens`,
    write(conversation, target) {
      const { body, droppedFields } = writeCountRequest(conversation, target);
      return { body: { input: { invokeModel: { body: encoded(body) } } }, droppedFields };
    },
    readCount,
  },
};

/** The body of the counted request as the vendor receives it in JSON. The limit is required, and does not count. */
function encoded({ model: _inPath, ...counted }: JsonObject): string {
  return Buffer.from(JSON.stringify({ ...VERSION, max_tokens: 1, ...counted })).toString("base64");
}

/**
 * Features of Anthropic's API that Bedrock rejects a request for are left out. Source: Amazon Bedrock User Guide,
 * "Anthropic Claude Messages API", `anthropic_beta`.
 */
const BETAS = new RegExp(
  "^(?:computer-use|token-efficient-tools|interleaved-thinking|output-128k|dev-full-thinking|context-1m" +
    "|context-management|effort|tool-search-tool|tool-examples|fine-grained-tool-streaming)-\\d{4}-\\d{2}-\\d{2}$",
);

function fieldsInBody(fields: Readonly<Record<string, string>>): MovedFields {
  const sent = (fields["anthropic-beta"] ?? "").split(",").map((flag) => flag.trim()).filter((flag) => flag !== "");
  const known = sent.filter((flag) => BETAS.test(flag));
  return {
    members: known.length > 0 ? { anthropic_beta: known } : {},
    droppedFields: known.length < sent.length ? ["anthropic-beta"] : [],
  };
}
