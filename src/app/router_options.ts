import { renderAdminError } from "../protocols/admin/answer.ts";
import { renderContentError } from "../protocols/content/error.ts";
import { renderDefaultError } from "../protocols/default/error.ts";
import { renderVideoError } from "../protocols/default/videos.ts";
import { renderMessageError } from "../protocols/message/error.ts";
import { isContentClient, isMessageClient, REWRITE_RULES } from "./rewrite_rules.ts";
import type { RouterOptions } from "./router.ts";

/**
 * Rules for paths that no route serves. The error has the format of the protocol that the path prefix names, else of
 * the client that the headers name, else of the default protocol. Its message names the right base URL.
 *
 * @param baseUrl Gives the gateway's own address without a final slash.
 * @param hasAdmin Whether the admin API is at this address. Otherwise its paths are like all unknown ones.
 */
export function routerOptions(baseUrl: () => string, { hasAdmin }: { readonly hasAdmin: boolean }): RouterOptions {
  const advice = {
    default: () =>
      `the base address of OpenAI's clients is ${baseUrl()}/v1 (with /chat/completions, /responses, /embeddings, ` +
      `/images, /audio, /videos, /moderations, /rerank and /models below it), of Anthropic's ${baseUrl()}/msgcompat and of Google's ${baseUrl()}/gencompat`,
    message: () =>
      `the base address of Anthropic's clients is ${baseUrl()}/msgcompat (with /v1/messages, ` +
      `/v1/messages/count_tokens and /v1/models below it)`,
    content: () =>
      `the base address of Google's clients is ${baseUrl()}/gencompat (with /v1beta/models/{model}:generateContent, ` +
      `:streamGenerateContent, :countTokens, :embedContent and :batchEmbedContents, /v1beta/models and /v1beta/cachedContents below it)`,
  };
  return {
    rewriteRules: REWRITE_RULES,
    renderError: renderDefaultError,
    advice: advice.default,
    sections: [
      {
        prefix: "/msgcompat",
        renderError: renderMessageError,
        matchesHeaders: isMessageClient,
        advice: advice.message,
      },
      {
        prefix: "/gencompat",
        renderError: renderContentError,
        matchesHeaders: isContentClient,
        advice: advice.content,
      },
      ...hasAdmin ? [{ prefix: "/admin", renderError: renderAdminError }] : [],
      { prefix: "/v1/videos", renderError: renderVideoError, advice: advice.default },
      { prefix: "/files", renderError: renderVideoError },
    ],
  };
}
