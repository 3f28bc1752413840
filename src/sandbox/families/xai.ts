import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { isObject, listOf, parsedOrNull } from "../../conversation/neutral/wire_value.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { bodyOf, type Call, isMissingModel, jsonResponse, type VendorApi } from "../call.ts";
import { readInlineImage } from "../pictures/data_uri.ts";
import type { DecodedImage } from "../pictures/file.ts";
import { followDirectives, simulateImages } from "../pictures/make.ts";
import { SimulatedError } from "../simulated_error.ts";
import { checkXai } from "./chat_vendor_rules.ts";
import { completeAtXai } from "./chat_vendors.ts";
import { openai } from "./openai/openai.ts";

const MAX_REFERENCES = 3;
const FIELDS = ["model", "prompt", "n", "aspect_ratio", "resolution", "quality", "response_format", "user"];
const SIDES: Readonly<Record<string, number>> = { "1k": 1024, "2k": 2048 };
const GRAIN = 16;
/** A tick is 10^-10 USD. */
const TICKS_PER_IMAGE = 600_000_000;

/**
 * xAI: text in OpenAI's format, pictures in its own. Source: xAI API reference, "Image generation", "Image editing".
 */
export const xai: VendorApi = {
  prefix: "/xai",
  handle(call) {
    if (call.method !== "POST" || !call.path.startsWith("/v1/images/")) return answerText(call);
    return makeImages(call, call.path === "/v1/images/edits");
  },
  writeError(error, call) {
    if (!call.path.startsWith("/v1/images/")) return openai.writeError(error, call);
    const { status, message, details } = error;
    const wait: HeadersInit = details.retryAfterSeconds === undefined
      ? {}
      : { "retry-after": String(details.retryAfterSeconds) };
    const usage = details.code === REFUSED ? { usage: { cost_in_usd_ticks: TICKS_PER_IMAGE } } : {};
    return jsonResponse(
      { code: details.code ?? "Client specified an invalid argument", error: message, ...usage },
      wait,
      status,
    );
  },
};

const REFUSED = "content_moderation";

function answerText(call: Call): MaybePromise<Response> {
  const body = call.method === "POST" ? parsedOrNull(call.text) : null;
  const isChat = call.path === "/v1/chat/completions" && isObject(body) && GROK.test(String(body.model));
  if (isChat) return completeAtXai(call);
  if (isObject(body)) checkXai(body, String(body.model));
  return openai.handle(call);
}

/** Other names are those of tests, to which the rules of OpenAI's format apply. */
const GROK = /^grok-/;

async function makeImages(call: Call, changes: boolean): Promise<Response> {
  const body = bodyOf(call, "Failed to parse the request body as JSON.");
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name) && !(changes && /^images?$/.test(name)));
  if (unknown !== undefined) throw new SimulatedError(400, `Argument not supported: ${unknown}`);
  const model = String(body.model ?? "");
  if (isMissingModel(model)) throw new SimulatedError(404, `The model ${model} does not exist.`);
  const prompt = String(body.prompt ?? "");
  const references = changes ? await referencesOf(body) : [];
  const directives = await followDirectives(call, prompt, "xai", () => "Service temporarily unavailable.");
  if (directives instanceof Response) return directives;
  if (directives.refuses) {
    throw new SimulatedError(400, "Generated image rejected by content moderation.", { code: REFUSED });
  }
  const count = Number(body.n ?? 1);
  const order = { ...sizeOf(body), count, isTransparent: false, references, change: null };
  const made = await simulateImages({ ...order, prompt: directives.text, format: "jpeg" });
  return jsonResponse({
    data: made.map(({ base64 }) => ({
      b64_json: base64,
      mime_type: "image/jpeg",
      revised_prompt: "",
      respect_moderation: true,
    })),
    ...(directives.noUsage ? {} : { usage: { cost_in_usd_ticks: TICKS_PER_IMAGE * count } }),
  });
}

async function referencesOf(body: JsonObject): Promise<DecodedImage[]> {
  const values = body.images === undefined ? [body.image] : listOf(body.images);
  if (values.length > MAX_REFERENCES) throw new SimulatedError(400, `At most ${MAX_REFERENCES} images are supported.`);
  return await Promise.all(values.map(async (value) => {
    const picture = isObject(value) ? await readInlineImage(value.url) : null;
    if (picture === null) throw new SimulatedError(400, "Failed to load the image.");
    return picture;
  }));
}

function sizeOf({ aspect_ratio = "1:1", resolution = "1k" }: JsonObject): { width: number; height: number } {
  const [, across, down] = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(String(aspect_ratio)) ?? [];
  const longest = SIDES[String(resolution)];
  if (across === undefined || longest === undefined) {
    throw new SimulatedError(400, "Invalid aspect_ratio or resolution.");
  }
  const side = (factor: number) => Math.round(longest * Math.sqrt(factor) / GRAIN) * GRAIN;
  return { width: side(Number(across) / Number(down)), height: side(Number(down) / Number(across)) };
}
