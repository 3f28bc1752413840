import { addText, measureTexts, type TextMeasure } from "../calls/text_measure.ts";
import { capableModels } from "../../vendors/catalog/capable_models.ts";
import type { CapabilitySections } from "../../vendors/catalog/sections/capability_schemas.ts";
import type { Catalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { isObject } from "../../conversation/neutral/wire_value.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { readBodyPin } from "../../vendors/routing/pin.ts";
import type { ModerationOrder } from "../../vendors/upstreams/contract/moderation_upstream.ts";

/** A model that moderates. */
export type ModerationModel = Model & Required<Pick<CapabilitySections, "moderation">>;

/** A request for moderation. */
export interface ModerationRequest extends Omit<ModerationOrder, "model"> {
  /** The model, then the fallbacks that are tried if all of its providers fail. */
  readonly models: readonly ModerationModel[];
  /** The model as the caller named it. */
  readonly modelName: string;
  readonly measure: TextMeasure;
  readonly bodyPin: string | null;
  /** The fields that no vendor is sent. */
  readonly droppedFields: readonly string[];
}

const READ: ReadonlySet<string> = new Set(["model", "input", "extra_body"]);

/**
 * Reads the body of `POST /v1/moderations`. Without a model, the first of the catalog that moderates is used. Source:
 * docs/api/moderations.md#request.
 *
 * @throws {GatewayError} `invalid_request`, naming the field; `model_not_found`.
 */
export function readModerationRequest(body: { readonly [key: string]: unknown }, catalog: Catalog): ModerationRequest {
  const modelName = modelNameOf(body.model, catalog);
  const models = capableModels(catalog, modelName, { isCapable: isModerationModel, does: "moderate" });
  const { maxInputs } = models[0].moderation;
  const read = readInput(body.input, maxInputs);
  return {
    models: models.filter(({ moderation }) => read.measure.inputs <= moderation.maxInputs),
    modelName,
    ...read,
    bodyPin: readBodyPin(body),
    droppedFields: Object.keys(body).filter((name) => !READ.has(name)),
  };
}

function modelNameOf(model: unknown, catalog: Catalog): string {
  if (model !== undefined && model !== null) return typeof model === "string" ? model : "";
  return catalog.models.find(isModerationModel)?.id ?? "";
}

function isModerationModel(model: Model): model is ModerationModel {
  return model.moderation !== undefined;
}

function readInput(input: unknown, maxInputs: number): Pick<ModerationRequest, "input" | "count" | "measure"> {
  if (typeof input === "string") return { input, count: 1, measure: measureTexts([input]) };
  if (!Array.isArray(input) || input.length === 0) {
    throw invalidField("input", "expected text, a list of texts, or a list of parts");
  }
  if (input.length > maxInputs) {
    throw invalidField("input", `expected at most ${maxInputs} inputs, got ${input.length}`);
  }
  if (input.every((each) => typeof each === "string")) {
    return { input, count: input.length, measure: measureTexts(input) };
  }
  const parts = input.map((part, nth) => checkedPart(`input[${nth}]`, part));
  const measure = measureTexts([]);
  for (const part of parts) {
    measure.inputs++;
    if (typeof part.text === "string") addText(measure, part.text);
    else measure.media++;
  }
  return { input: parts, count: 1, measure };
}

/** Source: OpenAI API reference, "Create moderation", `input`. */
function checkedPart(field: string, part: unknown): JsonObject {
  if (isObject(part)) {
    const { type, text, image_url } = part;
    if (type === "text" && typeof text === "string") return { type, text };
    if (type === "image_url" && isObject(image_url) && typeof image_url.url === "string") {
      return { type, image_url: { url: image_url.url } };
    }
  }
  throw invalidField(field, "expected a part of type text with text, or of type image_url with image_url.url");
}
