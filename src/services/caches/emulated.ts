import type { Conversation } from "../../conversation/neutral/conversation.ts";
import { content } from "../../conversation/codecs/content/mod.ts";
import { withoutSearch } from "../../conversation/parts/request/offered_search.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { idOf, textEndpointsOf } from "../../vendors/upstreams/contract/provider.ts";
import type { CacheParts } from "./cache_parts.ts";
import { cacheFileOf } from "./cached_content.ts";
import { type CacheCreation, type StoredContent, targetOf } from "./cache_creation.ts";
import { writePrefix, type WrittenPrefix } from "./prefix.ts";

/** More than the largest accepted request with all its media downloaded. */
const MAX_CONTENT_BYTES = 200_000_000;

/**
 * Stores a content in the gateway's files and counts its tokens. It is inserted before each request that references it.
 * Content that the provider does not support, and media that it must fetch and cannot, is reported now rather than at
 * the first reference.
 *
 * @throws {GatewayError} `invalid_request` for content that the provider's format cannot express.
 * @throws {UpstreamFailure} If the provider's counter fails.
 */
export async function storeEmulated(parts: CacheParts, making: CacheCreation): Promise<StoredContent> {
  const { id, provider, serving, model, callerSignal, memory } = making;
  const { conversation, droppedFields } = await translateContent(parts, making);
  const { tokens, countedBy } = await parts.countAt(serving, model, { conversation, callerSignal, memory });
  const prefix = writePrefix(conversation);
  const bytes = await parts.files.write(cacheFileOf(id), bytesOf(prefix), { capBytes: MAX_CONTENT_BYTES });
  return {
    home: { kind: "emulated", provider: idOf(provider), headBytes: prefix.head.length },
    tokens,
    countedBy,
    expiresAt: making.expiresAt,
    bytes,
    droppedFields,
  };
}

/** A content in a provider's format. */
export interface TranslatedContent {
  readonly conversation: Conversation;
  /** The fields, in the caller's spelling, that the model does not receive. */
  readonly droppedFields: readonly string[];
}

/**
 * Translates a content into a provider's format, with all media that the format cannot refer to.
 *
 * @throws {GatewayError} As {@linkcode storeEmulated}; `route_error` if the provider does not support text.
 */
export async function translateContent(
  { inlined }: Pick<CacheParts, "inlined">,
  making: CacheCreation,
): Promise<TranslatedContent> {
  const { provider, model, serving } = making;
  const [endpoint] = textEndpointsOf(provider, serving.model);
  if (!endpoint) throw new GatewayError("route_error", `Provider "${provider.name}" does not support text`);
  content.caller.refuseUnknownTypes(making.content);
  const read = withoutSearch(content.caller.read({ ...making.content, model: model.id }));
  const conversation = await inlined(read, provider, making);
  const written = endpoint.format.writeRequest(conversation, targetOf(making)).droppedFields;
  const droppedFields = [...read.unsupportedFields, ...content.caller.droppedFields(making.content, written)];
  return { conversation, droppedFields };
}

async function* bytesOf({ head, pieces }: WrittenPrefix): AsyncGenerator<Uint8Array> {
  yield head;
  yield* pieces;
}
