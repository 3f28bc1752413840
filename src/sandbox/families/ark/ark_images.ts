import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { listOf } from "../../../conversation/neutral/wire_value.ts";
import { bodyOf, type Call, isMissingModel, isRejectedKey, jsonResponse, type VendorApi } from "../../call.ts";
import { readInlineImage } from "../../pictures/data_uri.ts";
import type { DecodedImage, SimulatedImageFormat } from "../../pictures/file.ts";
import { followDirectives, simulateImage } from "../../pictures/make.ts";
import { sidesOf } from "../../pictures/pixels.ts";
import { SimulatedError } from "../../simulated_error.ts";

const MAX_REFERENCES = 14;
const NAMED_SIZES: Readonly<Record<string, string>> = { "1K": "1024x1024", "2K": "2048x2048", "4K": "4096x4096" };
/** The vendor counts one token for every 256 pixels. */
const PIXELS_PER_TOKEN = 256;

/** ByteDance Ark: Seedream pictures. Source: Ark API reference, "Image generation". */
export const arkImages: VendorApi = {
  prefix: "/ark",
  handle(call) {
    checkKey(call.headers.get("authorization"));
    if (call.method === "POST" && call.path === "/api/v3/images/generations") return makeImages(call);
    throw new SimulatedError(404, "The requested resource was not found.", { code: "NotFound" });
  },
  writeError: ({ status, message, details }, call) => {
    const wait: HeadersInit = details.retryAfterSeconds === undefined
      ? {}
      : { "retry-after": String(details.retryAfterSeconds) };
    const code = details.code ?? (status >= 500 ? "InternalServiceError" : "InvalidParameter");
    const error = { code, message: `${message} Request id: ${call.requestId}`, param: details.param ?? "", type: "" };
    return jsonResponse({ error }, wait, status);
  },
};

async function makeImages(call: Call): Promise<Response> {
  const body = bodyOf(call, "The request body is not valid JSON.");
  const model = String(body.model ?? "");
  if (isMissingModel(model)) {
    throw new SimulatedError(404, `The model or endpoint ${model} does not exist.`, {
      code: "InvalidEndpointOrModel.NotFound",
    });
  }
  if (typeof body.prompt !== "string" || body.prompt === "") throw bad("prompt", "The parameter `prompt` is missing.");
  const references = await referencesOf(body.image);
  const size = sizeOf(body.size, model);
  const { width, height } = sidesOf(size);
  const format = formatOf(body, model);
  const directives = await followDirectives(call, body.prompt, "ark", () => "The service is temporarily unavailable.");
  if (directives instanceof Response) return directives;
  if (directives.refuses) {
    throw new SimulatedError(400, "The request failed because the input text may contain sensitive information.", {
      code: "InputTextSensitiveContentDetected",
    });
  }
  const order = { width, height, format, isTransparent: false, references, change: null };
  const made = await simulateImage({ ...order, prompt: directives.text });
  const outputTokens = Math.ceil(width * height / PIXELS_PER_TOKEN);
  return jsonResponse({
    model,
    created: Math.floor(call.vendors.clock.now() / 1000),
    data: [{ b64_json: made.base64, size }],
    usage: directives.noUsage ? null : { generated_images: 1, output_tokens: outputTokens, total_tokens: outputTokens },
  });
}

async function referencesOf(image: unknown): Promise<DecodedImage[]> {
  const values = image === undefined ? [] : typeof image === "string" ? [image] : listOf(image);
  if (values.length > MAX_REFERENCES) throw bad("image", `At most ${MAX_REFERENCES} images can be given.`);
  return await Promise.all(values.map(async (value) => {
    const picture = await readInlineImage(value);
    if (picture === null) throw bad("image", "The parameter `image` is not a valid image.");
    return picture;
  }));
}

/** Each series has a minimum number of pixels. Smaller sizes are rejected, not enlarged. */
function sizeOf(value: unknown, model: string): string {
  const size = NAMED_SIZES[String(value ?? "2K")] ?? String(value);
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  const fewest = /seedream-(4-0|5-0-pro)/.test(model) ? 921_600 : 3_686_400;
  const pixels = Number(width) * Number(height);
  if (pixels >= fewest && pixels <= 4096 * 4096) return size;
  throw bad("size", `The parameter \`size\` is not valid: image size must be at least ${fewest} pixels.`);
}

function formatOf(body: JsonObject, model: string): SimulatedImageFormat {
  if (body.output_format === undefined) return "jpeg";
  if (/seedream-5/.test(model) && (body.output_format === "png" || body.output_format === "jpeg")) {
    return body.output_format;
  }
  throw bad("output_format", "The parameter `output_format` is not supported by the model.");
}

function bad(param: string, message: string): SimulatedError {
  return new SimulatedError(400, message, { code: "InvalidParameter", param });
}

function checkKey(authorization: string | null): void {
  const key = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  if (key !== undefined && !isRejectedKey(key)) return;
  throw new SimulatedError(401, "The API key in the request is missing or invalid.", { code: "AuthenticationError" });
}
