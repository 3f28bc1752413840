import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../catalog/model.ts";
import type { Form } from "../conversation/seal.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";

/**
 * The model of a request for text.
 *
 * @param form The caller's: image models of the multimodal series talk the content form too. Source: SPEC
 * "POST /v1/images/generations", rule 5.
 * @throws {GatewayError} `model_not_found`; `invalid_request` naming the endpoint that serves the model.
 */
export function textModel(catalog: Catalog, name: string, form: Form): Model {
  const model = catalog.find(name);
  if (model === null) {
    throw new GatewayError("model_not_found", `Cannot find the model "${shown(name)}"`, { field: "model" });
  }
  const talks = model.text || (form === "content" && model.image?.series === "multimodal");
  if (!talks) {
    const path = model.video ? "/v1/videos" : "/v1/images/generations";
    throw invalidField("model", `"${model.id}" does not talk text; it is served by ${path}`);
  }
  return model;
}

function shown(name: string): string {
  return name.replace(/[^\x21-\x7e]/g, "?").slice(0, 128);
}
