import { isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import { bodyOf, type Call, isMissingModel } from "../../call.ts";
import { readInlineImage } from "../../pictures/data_uri.ts";
import { followDirectives, simulateImage } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";

const DEFAULT_SIDE = 1_024;
const MAX_REFERENCES = 3;

/** A picture made by Qwen-Image. */
export interface QwenImage {
  /** PNG. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
}

/**
 * Makes a picture from texts and pictures. Source: Model Studio API reference, "Qwen-Image", "Qwen-Image-Edit".
 *
 * @returns The picture, or a response unlike any vendor's if the prompt orders one.
 * @throws {SimulatedError} With the vendor's own message.
 */
export async function makeQwenImage(call: Call): Promise<QwenImage | Response> {
  const body = bodyOf(call, "The request body is not valid JSON.");
  if (isMissingModel(String(body.model))) throw new SimulatedError(404, "Model not exist.", { code: "ModelNotFound" });
  const [message] = isObject(body.input) ? listOf(body.input.messages) : [];
  const parts = (isObject(message) ? listOf(message.content) : []).filter(isObject);
  const prompt = parts.map(({ text }) => typeof text === "string" ? text : "").join(" ").trim();
  if (prompt === "") throw new SimulatedError(400, "input.messages.content.text is required.");
  const images = parts.filter(({ image }) => image !== undefined);
  if (images.length > MAX_REFERENCES) throw new SimulatedError(400, "num_images_per_prompt must be 1 to 3.");
  const references = await Promise.all(images.map(async ({ image }) => {
    const picture = await readInlineImage(image);
    if (picture === null) throw new SimulatedError(400, "An image is not valid.");
    return picture;
  }));
  const { size } = isObject(body.parameters) ? body.parameters : {};
  const [, across, down] = /^(\d+)\*(\d+)$/.exec(String(size ?? `${DEFAULT_SIDE}*${DEFAULT_SIDE}`)) ?? [];
  if (across === undefined) throw new SimulatedError(400, "parameters.size is malformed.");
  const directives = await followDirectives(call, prompt, "alibaba", () => "The service is temporarily unavailable.");
  if (directives instanceof Response) return directives;
  if (directives.refuses) {
    throw new SimulatedError(400, "Input data may contain inappropriate content.", { code: "DataInspectionFailed" });
  }
  const [width, height] = [Number(across), Number(down)];
  const order = { width, height, format: "png" as const, isTransparent: false, references, change: null };
  const made = await simulateImage({ ...order, prompt: directives.text });
  return { bytes: Uint8Array.fromBase64(made.base64), width, height };
}
