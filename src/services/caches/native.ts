import { Buffer } from "node:buffer";
import { content, withAcceptedSchemas } from "../../conversation/codecs/content/mod.ts";
import { WRAPPED_SIGNATURE_PREFIX } from "../../conversation/neutral/reasoning_signature.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { CacheUpstream } from "../../vendors/upstreams/contract/cache_upstream.ts";
import { idOf } from "../../vendors/upstreams/contract/provider.ts";
import { type CacheCreation, type StoredContent, targetOf } from "./cache_creation.ts";

/**
 * Stores a content at a vendor with caches, with the same expiry. Schemas that the vendor refuses are changed as in a
 * request; everything else is as sent.
 *
 * @throws {UpstreamFailure}
 */
export async function storeNative(upstream: CacheUpstream, making: CacheCreation): Promise<StoredContent> {
  const { id, provider, serving, callerSignal } = making;
  const accepted = withAcceptedSchemas(contentFor(making), targetOf(making));
  const { name, tokens, expiresAt } = await upstream.create({
    mark: id,
    model: serving.model,
    content: accepted.content,
    expiresAt: making.expiresAt,
    callerSignal,
  });
  return {
    home: { kind: "native", provider: idOf(provider), upstreamName: name },
    tokens,
    countedBy: provider.name,
    expiresAt: Math.min(expiresAt ?? making.expiresAt, making.expiresAt),
    bytes: 0,
    droppedFields: content.caller.droppedFields(making.content, accepted.droppedFields),
  };
}

/**
 * The content as sent, unless it contains a signature that was wrapped for the caller, which no vendor may receive.
 */
function contentFor(making: CacheCreation): JsonObject {
  const { content: sent, model } = making;
  if (!Buffer.from(JSON.stringify(sent)).includes(`"${WRAPPED_SIGNATURE_PREFIX}`)) return sent;
  const { generationConfig: _config, ...kept } = content.upstream.writeRequest(
    content.caller.read({ ...sent, model: model.id }),
    // Web search in the cache was authorised when it was created.
    { ...targetOf(making), hasWebSearch: true },
  ).body;
  return kept;
}
