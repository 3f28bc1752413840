import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../catalog/model.ts";
import type { CallerFormat } from "../conversation/caller_format.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";

/**
 * The model of a request for text.
 *
 * @param format The caller's.
 * @throws {GatewayError} `model_not_found`; `invalid_request` naming the endpoint that serves the model.
 */
export function textModel(catalog: Catalog, name: string, format: Pick<CallerFormat, "servesImageModels">): Model {
  const model = catalog.find(name);
  if (model === null) {
    throw new GatewayError("model_not_found", `Cannot find the model "${shown(name)}"`, { field: "model" });
  }
  const talks = model.text || (format.servesImageModels && model.image?.series === "multimodal");
  if (!talks) {
    const path = model.video ? "/v1/videos" : "/v1/images/generations";
    throw invalidField("model", `"${model.id}" does not talk text; it is served by ${path}`);
  }
  return model;
}

function shown(name: string): string {
  return name.replace(/[^\x21-\x7e]/g, "?").slice(0, 128);
}
