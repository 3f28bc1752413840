import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import { type Call, jsonResponse } from "../../call.ts";
import { readInlineImage } from "../../pictures/data_uri.ts";
import type { DecodedImage } from "../../pictures/file.ts";
import { draftOf, followDirectives, simulateImage } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { tokensOf } from "../../tokens.ts";

const IMAGE_SIZES: Readonly<Record<string, readonly [side: number, tokens: number]>> = {
  "512": [512, 747],
  "1K": [1024, 1120],
  "2K": [2048, 1680],
  "4K": [4096, 2520],
};
const RATIOS = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];
const GIVEN_IMAGE_TOKENS = 258;
/** Width and height are multiples of this. */
const GRAIN = 16;

/** Whether a request asks for a picture and nothing else. */
export function wantsImage(body: JsonObject): boolean {
  const config = body.generationConfig;
  return isObject(config) && listOf(config.responseModalities).includes("IMAGE");
}

/**
 * Makes a picture: a draft in the reasoning, then a signed JPEG, as the vendor's image models do. A refusal has a
 * success status. Source: Gemini API reference, "Image generation".
 */
export async function makeImage(call: Call, body: JsonObject, model: string): Promise<Response> {
  const { prompt, references } = await readContents(body);
  const { width, height, tokens } = sizeOf(body);
  const directives = await followDirectives(
    call,
    prompt,
    "google",
    () => "The model is overloaded. Please try again later.",
  );
  if (directives instanceof Response) return directives;
  const promptTokens = tokensOf(prompt) + GIVEN_IMAGE_TOKENS * references.length;
  const usage = (made: number) => ({
    promptTokenCount: promptTokens,
    candidatesTokenCount: made,
    totalTokenCount: promptTokens + made,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: tokensOf(prompt) },
      ...(references.length > 0 ? [{ modality: "IMAGE", tokenCount: GIVEN_IMAGE_TOKENS * references.length }] : []),
    ],
  });
  const answer = (candidate: JsonObject, made: number) =>
    jsonResponse({
      candidates: [{ index: 0, ...candidate }],
      ...(directives.noUsage ? {} : { usageMetadata: usage(made) }),
      modelVersion: model,
      responseId: call.requestId,
    });
  if (directives.refuses) {
    return answer({ finishReason: "IMAGE_SAFETY", finishMessage: "Unable to show the generated image." }, 0);
  }
  const order = { prompt: directives.text, width, height, isTransparent: false, references, change: null };
  const made = await simulateImage({ ...order, format: "jpeg" });
  const draft = { mimeType: "image/jpeg", data: await draftOf(made, "jpeg") };
  const parts = [
    { thought: true, inlineData: draft },
    { inlineData: { mimeType: "image/jpeg", data: made.base64 }, thoughtSignature: btoa(`signature of ${model}`) },
  ];
  return answer({ content: { role: "model", parts }, finishReason: "STOP" }, tokens);
}

async function readContents(body: JsonObject): Promise<{ prompt: string; references: DecodedImage[] }> {
  const texts: string[] = [];
  const references: DecodedImage[] = [];
  for (const content of listOf(body.contents).filter(isObject)) {
    for (const part of listOf(content.parts).filter(isObject)) {
      if (typeof part.text === "string") texts.push(part.text);
      const inline = part.inlineData ?? part.inline_data;
      if (!isObject(inline)) continue;
      const picture = await readInlineImage(inline.data);
      if (picture === null) {
        throw new SimulatedError(400, "Unable to process input image. Please retry or report in the forum.");
      }
      references.push(picture);
    }
  }
  return { prompt: texts.join("\n"), references };
}

function sizeOf(body: JsonObject): { width: number; height: number; tokens: number } {
  const config = isObject(body.generationConfig) ? body.generationConfig.imageConfig : null;
  const { aspectRatio = "1:1", imageSize = "1K" } = isObject(config) ? config : {};
  const size = IMAGE_SIZES[String(imageSize)];
  if (!size || !RATIOS.includes(String(aspectRatio))) {
    throw new SimulatedError(400, "Request contains an invalid argument.");
  }
  const [across, down] = String(aspectRatio).split(":");
  const ratio = Number(across) / Number(down);
  const side = (factor: number) => Math.round(size[0] * Math.sqrt(factor) / GRAIN) * GRAIN;
  return { width: side(ratio), height: side(1 / ratio), tokens: size[1] };
}
