import type { PassThrough } from "../../../conversation/contract/pass_through.ts";
import type { Quirks } from "../../../conversation/contract/quirks.ts";
import type { RequestTarget, UpstreamFormat } from "../../../conversation/contract/upstream_format.ts";
import type { WriteResult } from "../../../conversation/neutral/write_result.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Conversation, MediaPart } from "../../../conversation/neutral/conversation.ts";
import type { Authorize, Credentials, Rejection } from "../call/authorization.ts";
import type { Capabilities, CapabilityParts } from "./capabilities.ts";
import type { EndpointSettings } from "./endpoint_settings.ts";
import type { ModelListing } from "./model_listing.ts";
import type { Outbound, OutboundCall, OutboundResponse } from "../call/outbound_call.ts";

/** A vendor's text endpoint with one wire format. */
export interface TextEndpoint {
  /** The format of requests, responses, streams and errors. */
  readonly format: UpstreamFormat;
  /** Passes requests and responses of the same format through; null if they must always be rewritten. */
  readonly passThrough: PassThrough | null;
  /**
   * Whether the endpoint serves a model, for vendors whose models have different formats. Default: every model.
   *
   * @param model The vendor's name of the model.
   */
  serves?(model: string): boolean;
  /**
   * Whether the endpoint serves only models that refuse requests at the vendor's other endpoint, because the vendor may
   * not have it for others. Default: false.
   */
  readonly isReserve?: boolean;
  /**
   * Returns the path below the provider's base URL, with query.
   *
   * @param model The vendor's name of the model.
   */
  path(model: string, stream: boolean): string;
  /**
   * Whether the vendor does not accept the media as it is, so that the gateway must download it and send it inline.
   */
  mustInline(part: MediaPart): boolean;
  /** The vendor's token counter for this format; null if there is none. */
  readonly counter: TokenCounter | null;
  /** Reads an error of the vendor. Default: as the format's error body. */
  readonly readError?: OutboundCall["readError"];
  /**
   * Returns a streamed response as server-sent events, for vendors with another framing. Default: it has them.
   *
   * @param onHeldBytes Called with the number of bytes of an unfinished frame; an exception ends the reading.
   */
  readonly asEvents?: (response: OutboundResponse, onHeldBytes: (bytes: number) => void) => OutboundResponse;
  /**
   * Returns what the vendor reads in the body in place of header fields of the caller. Default: the fields are sent.
   *
   * @param fields The caller's values of the format's `forwardedHeaders`.
   */
  readonly fieldsInBody?: (fields: Readonly<Record<string, string>>) => MovedFields;
  /**
   * The header field of the version of the vendor's interface, in lower case, if a request that passes through
   * unchanged may keep the caller's. Default: the provider sets the version.
   */
  readonly versionField?: string;
  /**
   * Where another vendor than OpenAI reads which requests share a prefix: in a header field of this name, or in the
   * field of the format (`body`). Default: as the format and the provider's quirks have it.
   */
  readonly cacheKeyIn?: "body" | { readonly header: string };
  /**
   * Whether a request of the endpoint's format can pass through. Default: it can.
   *
   * @param outlineText The JSON text of the body without long texts.
   * @param quirks Of the provider.
   */
  readonly canPass?: (outlineText: string, quirks: Quirks) => boolean;
}

/** Header fields that a vendor reads in the body. */
export interface MovedFields {
  /** The members of the body that replace them. */
  readonly members: JsonObject;
  /** The names of fields that the vendor does not support as they were sent. */
  readonly droppedFields: readonly string[];
}

/** A vendor's own token counter. */
export interface TokenCounter {
  /** Returns the path below the provider's base URL. `model` is the vendor's name of the model. */
  path(model: string): string;
  /** Builds the request to count. Its dropped fields do not change the count. */
  write(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject>;
  /**
   * Reads the number of tokens.
   *
   * @throws {TypeError} If the response contains no count.
   */
  readCount(reply: unknown): number;
}

/**
 * The adapter of one vendor kind. It names codecs, paths and headers. It does not depend on callers, billing or the
 * store.
 */
export interface UpstreamKind {
  /** Authorizes requests. */
  readonly authorize: Authorize;
  /**
   * Whether a request is authorized again and sent once more after the vendor rejected its authorization. Default: it
   * is not.
   */
  readonly retriesRejected?: (rejection: Rejection, credentials: Credentials) => boolean;
  /** Header fields that the vendor requires, by names in lower case. Default: none. */
  readonly requiredHeaders?: Readonly<Record<string, string>>;
  /** The text endpoints, preferred first for a caller of another format; empty if there are none. */
  text(settings: EndpointSettings): readonly TextEndpoint[];
  /** Creates what the vendor has besides text. */
  capabilities(parts: CapabilityParts): Capabilities;
  /** Tests the credential without cost; absent if the vendor has no such request. */
  readonly probe?: CredentialProbe;
  /** The test that an operator starts, for kinds without a probe that proves the credential. Default: the probe. */
  readonly check?: CredentialProbe;
  /** The model list; absent if there is none. */
  readonly models?: ModelListing;
}

/**
 * Sends a free request that requires a valid credential. Resolves if the vendor accepts the credential. Rejects with
 * the `UpstreamFailure` otherwise, of kind `auth` if the vendor rejects the credential.
 */
export type CredentialProbe = (outbound: Outbound, signal: AbortSignal) => Promise<void>;
