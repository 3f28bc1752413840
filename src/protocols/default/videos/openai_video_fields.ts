import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isSentMedia } from "../../../platform/lib/media/sent_media.ts";

/**
 * Converts the fields of OpenAI's video API in a create request: `seconds` to `duration`, and `input_reference` to the
 * first frame. Other fields are unchanged. Source: OpenAI API reference, "Create video".
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function withOpenaiFields({ seconds, input_reference, ...body }: JsonObject): JsonObject {
  return { ...body, ...durationIn(seconds, body), ...framesIn(input_reference, body) };
}

function durationIn(seconds: unknown, { duration }: JsonObject): JsonObject {
  if (isMissing(seconds)) return {};
  const isWhole = typeof seconds === "number" ? Number.isInteger(seconds) : /^[0-9]{1,4}$/.test(String(seconds));
  if (!isWhole) throw invalidField("seconds", "expected whole seconds");
  if (!isMissing(duration) && duration !== Number(seconds)) {
    throw invalidField("seconds", "expected it to be the same as duration, or one of the two");
  }
  return { duration: Number(seconds) };
}

function framesIn(reference: unknown, { frame_images, input_references }: JsonObject): JsonObject {
  if (isMissing(reference)) return {};
  if (!isEmpty(frame_images) || !isEmpty(input_references)) {
    throw invalidField("input_reference", "expected it without frame_images and input_references");
  }
  const { image_url, file_id }: JsonObject = typeof reference === "object" && !isSentMedia(reference)
    ? { ...reference }
    : { image_url: reference };
  if (!isMissing(file_id)) {
    throw invalidField(
      "input_reference.file_id",
      "the gateway does not store callers' files; send image_url or a file",
    );
  }
  if (!isSentMedia(image_url)) {
    throw invalidField("input_reference", "expected a file, or an object with image_url");
  }
  return { frame_images: [{ type: "image_url", image_url: { url: image_url }, frame_type: "first_frame" }] };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isEmpty(value: unknown): boolean {
  return isMissing(value) || (Array.isArray(value) && value.length === 0);
}
