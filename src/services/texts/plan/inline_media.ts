import type {
  Conversation,
  FilePart,
  ImagePart,
  MediaPart,
  Part,
  Source,
  TextPart,
} from "../../../conversation/neutral/conversation.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import { FairPermits } from "../../../platform/lib/collections/permits.ts";
import type { MediaFetch } from "../../../platform/net/media_inliner.ts";

/** Downloads media that a vendor accepts only inside the request and not as an address. */
export type MediaInliner = (
  url: string,
  fetch: MediaFetch,
) => Promise<{ readonly mediaType: string; readonly data: string }>;

/** The request for which media are downloaded. */
export interface MediaContext {
  /** Accounts for the memory of the media until the request ends. */
  readonly memory: HeldMemory;
  /** Returns the signal that fires when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
}

const MAX_MEDIA = 20;
const MAX_MEDIA_BYTES = 37_500_000;
const MAX_PARALLEL_PER_REQUEST = 4;
const MAX_PARALLEL_PER_ACCOUNT = 16;
/** Bytes of memory per downloaded byte: base64 as a value, JSON text, and the bytes to send. */
const MEDIA_MEMORY_FACTOR = 4;

const permitsOfAccounts = new FairPermits({ each: MAX_PARALLEL_PER_ACCOUNT });

/**
 * Returns the conversation with every medium downloaded that the vendor would not download itself. The maximum is 20
 * media and 37.5 MB together (50 million characters of base64), more than vendors accept in one request. Four downloads
 * run at once. The first failure, or the disconnection of the caller, ends the other downloads.
 *
 * @param mustInline Whether the vendor cannot accept a medium as it is.
 * @throws {GatewayError} `invalid_request` that names the message, if a download fails or there are too many media.
 * `request_too_large` as soon as their total size is known to be too large; `overloaded`.
 */
export async function inlineMedia(
  conversation: Conversation,
  mustInline: (part: MediaPart) => boolean,
  inline: MediaInliner,
  asker: MediaContext,
): Promise<Conversation> {
  const count = conversation.turns.flatMap(({ parts }) => parts.flatMap(mediaOf)).filter(isFetched).length;
  if (count === 0) return conversation;
  if (count > MAX_MEDIA) {
    throw invalidField("url", `expected at most ${MAX_MEDIA} media to download for this model's vendor, got ${count}`);
  }
  const downloads = new Downloads(inline, asker);
  try {
    const turns = await Promise.all(conversation.turns.map(async (message, at) => {
      const parts = await Promise.all(message.parts.map((part) => inlined(part, `message ${at + 1}`)));
      return { ...message, parts };
    }));
    return { ...conversation, turns };
  } catch (error) {
    downloads.abort();
    throw error;
  }

  async function inlined(part: Part, where: string): Promise<Part> {
    if (part.kind === "tool_result") {
      const parts = await Promise.all(part.parts.map((inner) => inlined(inner, where)));
      return { ...part, parts: parts as (TextPart | ImagePart | FilePart)[] };
    }
    if (!("source" in part) || !isFetched(part)) return part;
    return { ...part, source: await downloads.fetch(part.source.url, where) };
  }

  function isFetched(part: MediaPart): part is MediaPart & { readonly source: { readonly kind: "url" } } {
    return part.source.kind === "url" && mustInline(part);
  }
}

/** Whether a conversation has nothing but text, and so nothing to download. */
export function isTextOnly({ turns }: Conversation): boolean {
  return turns.every(({ parts }) => parts.every(({ kind }) => kind === "text"));
}

/** The downloads of one request. Their concurrency, their total bytes and the account's memory are limited. */
class Downloads {
  readonly #permits = new FairPermits({ inAll: MAX_PARALLEL_PER_REQUEST });
  readonly #end = new AbortController();
  readonly #signal: AbortSignal;
  readonly #heldBefore: number;
  #bytes = 0;

  constructor(readonly inline: MediaInliner, readonly asker: MediaContext) {
    this.#signal = AbortSignal.any([asker.callerSignal(), this.#end.signal]);
    this.#heldBefore = asker.memory.held;
  }

  /** Ends the running downloads and releases their memory. */
  abort(): void {
    this.#end.abort();
    this.asker.memory.releaseTo(this.#heldBefore);
  }

  async fetch(url: string, where: string): Promise<Source & { readonly kind: "base64" }> {
    const get = () => permitsOfAccounts.run(this.asker.memory.account, () => this.#fetch(url));
    try {
      return { kind: "base64", ...await this.#permits.run("", get) };
    } catch (cause) {
      if (cause instanceof GatewayError && cause.code !== "invalid_request") throw cause;
      const why = cause instanceof GatewayError ? cause.message : "the download failed";
      throw invalidField("url", `failed to download the medium in ${where} for this model's vendor: ${why}`, { cause });
    }
  }

  async #fetch(url: string) {
    if (this.#signal.aborted) throw new GatewayError("invalid_request", "the request was cancelled");
    try {
      return await this.inline(url, { signal: this.#signal, reserve: (bytes) => this.#reserve(bytes) });
    } catch (error) {
      this.#end.abort(); // before the next download starts
      throw error;
    }
  }

  #reserve(bytes: number): void {
    if (this.#signal.aborted) throw new GatewayError("invalid_request", "the request was cancelled");
    this.#bytes += bytes;
    if (this.#bytes > MAX_MEDIA_BYTES) {
      throw new GatewayError(
        "request_too_large",
        `The media of the request are too large: expected at most ${MAX_MEDIA_BYTES} bytes in total`,
      );
    }
    this.asker.memory.reserve(bytes * MEDIA_MEMORY_FACTOR);
  }
}

function mediaOf(part: Part): readonly MediaPart[] {
  if (part.kind === "tool_result") return part.parts.flatMap(mediaOf);
  return "source" in part ? [part] : [];
}
