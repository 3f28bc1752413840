import type { Catalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { ImageRequest } from "./request/image_request.ts";

/**
 * The request for its model, then for the fallbacks of that name. A fallback that cannot serve the request is left out:
 * another series, an unsupported size or quality, or unsupported references.
 *
 * @param read Reads the request as if it named another model.
 */
export async function withFallbacks(
  first: ImageRequest,
  catalog: Catalog,
  read: (model: Model) => MaybePromise<ImageRequest>,
): Promise<readonly ImageRequest[]> {
  const requests = [first];
  for (const model of catalog.named(first.modelName)?.fallbacks ?? []) {
    try {
      const { modelName, references } = first;
      const request = await read(model);
      if (references.length === 0 || request.references.length > 0) {
        requests.push({ ...request, modelName, references });
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  }
  return requests;
}
