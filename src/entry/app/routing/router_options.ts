import { CALLER_ENDPOINTS, FILES_ROOT } from "../../../platform/endpoints/callers.ts";
import type { Endpoint } from "../../../platform/endpoints/endpoint.ts";
import { PROTOCOLS } from "../../../platform/endpoints/protocols.ts";
import { renderAdminError } from "../../../protocols/admin/shared/answer.ts";
import { renderContentError } from "../../../protocols/content/error.ts";
import { renderDefaultError } from "../../../protocols/default/error.ts";
import { renderVideoError } from "../../../protocols/default/videos/video_error.ts";
import { renderMessageError } from "../../../protocols/message/error.ts";
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
      `the base address of OpenAI's clients is ${baseUrl()}${PROTOCOLS.default.root} (with /chat/completions, /responses, /embeddings, ` +
      `/images, /audio, /videos, /batches, /files, /uploads, /moderations, /rerank and /models below it), of Anthropic's ${baseUrl()}${PROTOCOLS.message.root} and of Google's ${baseUrl()}${PROTOCOLS.content.root}`,
    message: () =>
      `the base address of Anthropic's clients is ${baseUrl()}${PROTOCOLS.message.root} (with ${
        below(CALLER_ENDPOINTS.createMessage)
      }, ` +
      `${below(CALLER_ENDPOINTS.countMessageTokens)}, ${below(CALLER_ENDPOINTS.createMessageBatch)}, ${
        below(CALLER_ENDPOINTS.createMessageFile)
      } and ${below(CALLER_ENDPOINTS.listMessageModels)} below it)`,
    content: () =>
      `the base address of Google's clients is ${baseUrl()}${PROTOCOLS.content.root} (with /v1beta/models/{model}:generateContent, ` +
      `:streamGenerateContent, :countTokens, :embedContent, :batchEmbedContents and :batchGenerateContent, /v1beta/models, ` +
      `/v1beta/batches, /v1beta/files and /v1beta/cachedContents below it)`,
  };
  return {
    rewriteRules: REWRITE_RULES,
    renderError: renderDefaultError,
    advice: advice.default,
    sections: [
      {
        prefix: PROTOCOLS.message.root,
        renderError: renderMessageError,
        matchesHeaders: isMessageClient,
        advice: advice.message,
      },
      {
        prefix: PROTOCOLS.content.root,
        renderError: renderContentError,
        matchesHeaders: isContentClient,
        advice: advice.content,
      },
      ...hasAdmin ? [{ prefix: PROTOCOLS.admin.root, renderError: renderAdminError }] : [],
      { prefix: CALLER_ENDPOINTS.listVideos.path, renderError: renderVideoError, advice: advice.default },
      { prefix: FILES_ROOT, renderError: renderVideoError },
    ],
  };
}

/** A path below the base address of the message protocol. */
function below({ path }: Pick<Endpoint, "path">): string {
  return path.slice(PROTOCOLS.message.root.length);
}
