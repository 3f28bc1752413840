import type { Model } from "../catalog/model.ts";
import type { Form } from "../conversation/seal.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { TextTurn } from "./attempt.ts";

/** Where each format has what the model is to read. */
const INPUTS: Readonly<Record<Form, string>> = {
  chat: "messages",
  responses: "input",
  messages: "messages",
  content: "contents",
};

/** How many images a request gives; not counted, and 0, where the model has no price for one. */
export function inputImagesOf(
  { body, codec }: Pick<TextTurn, "body" | "codec">,
  { tariff, tiers }: Pick<Model, "tariff" | "tiers">,
): number {
  const isPriced = [tariff, ...Object.values(tiers)].some(({ per_input_image }) => per_input_image > 0n);
  return isPriced ? countIn(body[INPUTS[codec.name]], codec.name) : 0;
}

function countIn(input: unknown, form: Form): number {
  let count = 0;
  const pending: unknown[] = [input];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) pending.push(item);
    } else if (isImage(value as JsonObject, form)) count++;
    // The arguments of a call may look like anything.
    else if ((value as JsonObject).type !== "tool_use" && !("functionCall" in value)) {
      for (const item of Object.values(value)) pending.push(item);
    }
  }
  return count;
}

function isImage(part: JsonObject, form: Form): boolean {
  switch (form) {
    case "chat":
      return part.type === "image_url";
    case "responses":
      return part.type === "input_image";
    case "messages":
      return part.type === "image";
    case "content":
      return isImageData(part.inlineData ?? part.inline_data) || isImageData(part.fileData ?? part.file_data);
  }
}

function isImageData(data: unknown): boolean {
  if (typeof data !== "object" || data === null) return false;
  const { mimeType, mime_type } = data as JsonObject;
  const type = mimeType ?? mime_type;
  return typeof type === "string" && type.toLowerCase().startsWith("image/");
}
