import type { Model } from "../../../vendors/catalog/model.ts";
import { MESSAGE_FORMAT } from "../../../conversation/codecs/messages/shared/format_name.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { contentModelRoutes } from "../../../protocols/content/models.ts";
import { defaultModelRoutes } from "../../../protocols/default/models.ts";
import { videoModelRoutes } from "../../../protocols/default/videos/video_models.ts";
import type { MessageService } from "../../../protocols/message/capabilities.ts";
import { messageModelRoutes } from "../../../protocols/message/models.ts";
import { canSearch } from "../../../services/texts/plan/hosted_search.ts";
import type { TextService } from "../../../services/texts/request/text_service.ts";
import { textEndpointsOf } from "../../../vendors/upstreams/contract/provider.ts";
import { type AuthenticateParts, createAuthenticate } from "../../../money/billing/authenticate.ts";
import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import { capturedBodyBytes } from "../../../config/sections/captured_bodies.ts";
import type { CatalogFor } from "../../../vendors/catalog/listing.ts";
import { permittedCatalog } from "../../../vendors/catalog/permitted_catalog.ts";
import type { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { chain } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Services } from "../opening/services.ts";

/** What {@linkcode catalogRoutes} needs. */
export interface CatalogRouteParts extends Pick<Services, "catalog" | "keys" | "clock"> {
  readonly config: Pick<Services["config"], "requestLog">;
  readonly meter: NonNullable<AuthenticateParts["meter"]>;
  /** Counts the wrong keys of requests for catalogs alone. */
  readonly publicWrongKeys: Pick<WrongKeys, "note" | "isSlowed">;
}

/** The lists of models in all protocols. Every thread that serves has them. */
export function catalogRoutes(parts: CatalogRouteParts, texts: TextService): Route[] {
  const { catalog } = parts;
  const catalogFor = callerCatalog(parts);
  return [
    ...videoModelRoutes(catalog, catalogFor),
    ...defaultModelRoutes(catalog, catalogFor),
    ...messageModelRoutes(catalog, (model) => messageServiceOf(model, texts), catalogFor),
    ...contentModelRoutes(catalog, catalogFor),
  ];
}

/** What the message protocol says about how a model is served. */
function messageServiceOf(model: Model, turns: TextService): MessageService {
  return { passes: passesMessages(model, turns), searches: searchesFor(model, turns) };
}

/** Whether a provider of the model may search the web for requests that are translated. */
function searchesFor(model: Model, { parts }: TextService): boolean {
  if (!model.architecture.outputModalities.includes("text")) return false;
  return model.serves.some(({ provider: id, model: name }) => {
    const provider = parts.providers.get(id);
    return provider !== undefined &&
      textEndpointsOf(provider, name).some((endpoint) => canSearch({ model, provider, endpoint, name }));
  });
}

/** Whether every provider of the model speaks the message protocol. */
function passesMessages({ serves }: Model, { parts }: TextService): boolean {
  return serves.every(({ provider: id, model }) => {
    const provider = parts.providers.get(id);
    return provider !== undefined &&
      textEndpointsOf(provider, model).some(({ format }) => format.name === MESSAGE_FORMAT);
  });
}

/**
 * Returns the catalog for the caller of a request. The catalogs are public, so a request without a valid key gets the
 * whole one, and at once. After some wrong keys of a client, its keys are not looked at for a time: the answers would
 * else show which of many guesses is a key with limits.
 */
function callerCatalog(
  { catalog, keys, meter, clock, config, publicWrongKeys }: CatalogRouteParts,
): CatalogFor {
  const wrongKeys: Pick<WrongKeys, "refuse"> = {
    refuse(address, error) {
      publicWrongKeys.note(address);
      return Promise.reject(error);
    },
  };
  const authenticate = createAuthenticate({
    ring: keys,
    wrongKeys,
    meter,
    clock,
    captureBytes: capturedBodyBytes(config.requestLog),
  });
  return (inbound) => {
    const whole = catalog.at(inbound.receivedAt);
    const permitted = ({ limits }: Credential) => permittedCatalog(whole, limits);
    const publicOrThrow = (error: unknown) => {
      if (error instanceof GatewayError && error.status === 401) return whole;
      throw error;
    };
    if (publicWrongKeys.isSlowed(inbound.remote)) return whole;
    try {
      return chain(authenticate(inbound), permitted, publicOrThrow);
    } catch (error) {
      return publicOrThrow(error);
    }
  };
}
