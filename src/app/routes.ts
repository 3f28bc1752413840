import type { CacheEngine } from "./caches.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../catalog/model.ts";
import type { Authenticate } from "../billing/authenticate.ts";
import type { BodyLimits } from "../http/body.ts";
import { GUESSED_ADDRESSES, isContentClient, isMessageClient } from "./rewrite_rules.ts";
import type { Handler, Route } from "../http/inbound.ts";
import { renderAdminError } from "../protocols/admin/answer.ts";
import { renderContentError } from "../protocols/content/error.ts";
import { contentRoutes } from "../protocols/content/generate.ts";
import { contentModelRoutes } from "../protocols/content/models.ts";
import { messages } from "../conversation/codecs/messages/mod.ts";
import { renderDefaultError } from "../protocols/default/error.ts";
import { defaultModelRoutes } from "../protocols/default/models.ts";
import { defaultTextRoutes } from "../protocols/default/texts.ts";
import { videoModelRoute } from "../protocols/default/video_models.ts";
import { renderVideoError } from "../protocols/default/videos.ts";
import { renderMessageError } from "../protocols/message/error.ts";
import { messageRoutes } from "../protocols/message/messages.ts";
import { messageModelRoutes } from "../protocols/message/models.ts";
import type { RouterOptions } from "./router.ts";
import { canSearch } from "../texts/hosted_search.ts";
import type { MessageService } from "../protocols/message/capabilities.ts";
import type { TextService } from "../texts/text_service.ts";

/** What the endpoints are made with. */
export interface RouteParts {
  readonly catalog: Catalog;
  readonly turns: TextService;
  readonly caches: Pick<CacheEngine, "caches" | "routes">;
  readonly images: readonly Route[];
  readonly videos: readonly Route[];
  readonly authenticate: Authenticate;
  readonly textBody: BodyLimits;
  /** Answers `GET /readyz`. */
  readonly readiness: Handler;
  readonly admin: readonly Route[];
}

/**
 * How addresses that no route serves are answered: in the shape of the protocol that the prefix names, or else the
 * client; the default protocol's elsewhere. What is said names the right base address.
 *
 * @param baseUrl Gives what the gateway's own addresses start with.
 */
export function addressOptions(baseUrl: () => string): RouterOptions {
  const advice = {
    default: () =>
      `the base address of OpenAI's clients is ${baseUrl()}/v1 (with /chat/completions, /responses, /models, /images and ` +
      `/videos below it), of Anthropic's ${baseUrl()}/msgcompat and of Google's ${baseUrl()}/gencompat`,
    message: () =>
      `the base address of Anthropic's clients is ${baseUrl()}/msgcompat (with /v1/messages, ` +
      `/v1/messages/count_tokens and /v1/models below it)`,
    content: () =>
      `the base address of Google's clients is ${baseUrl()}/gencompat (with /v1beta/models/{model}:generateContent, ` +
      `:streamGenerateContent and :countTokens, /v1beta/models and /v1beta/cachedContents below it)`,
  };
  return {
    guesses: GUESSED_ADDRESSES,
    renderError: renderDefaultError,
    advice: advice.default,
    sections: [
      { prefix: "/msgcompat", renderError: renderMessageError, isClients: isMessageClient, advice: advice.message },
      { prefix: "/gencompat", renderError: renderContentError, isClients: isContentClient, advice: advice.content },
      { prefix: "/admin", renderError: renderAdminError },
      { prefix: "/v1/videos", renderError: renderVideoError, advice: advice.default },
      { prefix: "/files", renderError: renderVideoError },
    ],
  };
}

/** The address table. */
export function routesOf(
  { catalog, turns, caches, images, videos, authenticate, textBody, readiness, admin }: RouteParts,
): Route[] {
  const textParts = { turns, caches: caches.caches, authenticate, bodyLimits: textBody };
  return [
    ...defaultTextRoutes(textParts),
    ...messageRoutes(textParts),
    ...contentRoutes(textParts),
    ...caches.routes,
    ...images,
    videoModelRoute(catalog, renderVideoError),
    ...videos,
    ...defaultModelRoutes(catalog, renderDefaultError),
    ...messageModelRoutes(catalog, (model) => serviceOf(model, turns), renderMessageError),
    ...contentModelRoutes(catalog, renderContentError),
    ...admin,
    { method: "GET", path: "/healthz", handler: () => new Response("ok\n"), renderError: renderDefaultError },
    { method: "GET", path: "/readyz", handler: readiness, renderError: renderDefaultError },
  ];
}

/** How the providers of a model serve callers of the message protocol. */
function serviceOf(model: Model, turns: TextService): MessageService {
  return { passes: passesMessages(model, turns), searches: searchesFor(model, turns) };
}

/** Whether a provider of the model may search the web for requests that are translated. */
function searchesFor(model: Model, { parts }: TextService): boolean {
  if (!model.architecture.outputModalities.includes("text")) return false;
  return model.serves.some(({ provider: id, model: name }) => {
    const provider = parts.providers.get(id);
    return provider?.text.some((endpoint) => canSearch({ model, provider, endpoint, name })) ?? false;
  });
}

/** Whether every provider of the model speaks the message protocol. */
function passesMessages({ serves }: Model, { parts }: TextService): boolean {
  const speaks = (name: string) => parts.providers.get(name)?.text.some(({ format }) => format === messages.upstream);
  return serves.every(({ provider }) => speaks(provider) === true);
}
