import type { RequestGrammar } from "../../conversation/contract/request_grammar.ts";
import { type RequestMember, walkRequest } from "../../conversation/contract/request_walk.ts";
import { vendorToolsIn } from "../../conversation/contract/vendor_tools.ts";
import { isAbsent, isObject } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";

/** How much of its prompt a request contains, and what a vendor adds to it. */
export interface CarriedContext {
  /**
   * False if the request refers to context that it does not contain: stored files, responses, conversations and
   * prompts, documents, audio and video, hosted tools. Its size then does not bound its prompt.
   */
  readonly isSizeKnown: boolean;
  /** The number of images in the request. Vendors limit the tokens of each. */
  readonly pictures: number;
  /** The number of images given by a web address. */
  readonly picturesByAddress: number;
  /** The number of base64 characters of the images, which are not text. */
  readonly pictureCharacters: number;
  /** The number of tools that the vendor runs: their results become a further prompt. */
  readonly hostedTools: number;
  /** The lifetimes of the vendor's prompt cache for which parts are marked, besides its shortest. */
  readonly cacheLifetimes: ReadonlySet<CacheLifetime>;
}

/** A lifetime of a vendor's prompt cache that a request chooses. */
export type CacheLifetime = "1h" | "12h" | "24h";

type Found = { -readonly [K in keyof CarriedContext]: CarriedContext[K] };

/** Of almost all requests. */
const NO_LIFETIMES: ReadonlySet<CacheLifetime> = new Set();

/** Top-level members that refer to stored context, in camel case. */
const TOP_REFERENCES: ReadonlySet<string> = new Set([
  "previousResponseId",
  "conversation",
  "container",
  "thread",
]);

/** Top-level members that enable hosted tools. */
const TOP_TOOLS: ReadonlySet<string> = new Set([
  "webSearchOptions",
  "searchParameters",
  "enableSearch",
  "mcpServers",
  "plugins",
]);

/** Members that refer to or contain a file, a document, audio or a video, at any depth. */
const MEDIA: ReadonlySet<string> = new Set([
  ...["fileId", "fileIds", "fileUri", "fileUrl", "fileData", "vectorStoreIds"],
  ...["inputAudio", "audioUrl", "videoUrl"],
]);

/**
 * Finds everything in a request that adds to its prompt.
 *
 * @param isCacheKnown Whether the size of the named cached content is known, so that it is counted separately.
 */
export function carriedContextOf(grammar: RequestGrammar, body: JsonObject, isCacheKnown: boolean): CarriedContext {
  const hostedTools = vendorToolsIn(grammar, body);
  const found: Found = {
    isSizeKnown: hostedTools === 0,
    pictures: 0,
    picturesByAddress: 0,
    pictureCharacters: 0,
    hostedTools,
    cacheLifetimes: NO_LIFETIMES,
  };
  walkRequest(grammar, body, (member) => {
    if (isPresent(member.value)) note(grammar, member, isCacheKnown, found);
  });
  return found;
}

function note(grammar: RequestGrammar, member: RequestMember, isCacheKnown: boolean, found: Found): void {
  const { name, value, owner, depth } = member;
  if (name === "cacheControl" || name === "promptCacheOptions" || name === "promptCacheBreakpoint") {
    addLifetime(isObject(value) ? value.ttl : null, found);
  } else if (name === "promptCacheRetention") addLifetime(value, found);
  else if (name === "imageUrl") addAddress(isObject(value) ? value.url : value, found);
  else if (name === "inlineData") addInline(value, found);
  else if (name === "source" && isObject(value)) addSource(owner.type, value, found);
  else if (depth === 0 && TOP_TOOLS.has(name)) {
    found.hostedTools++;
    found.isSizeKnown = false;
  } else if (namesContext(grammar, member, isCacheKnown)) found.isSizeKnown = false;
}

function namesContext(grammar: RequestGrammar, { name, value, depth }: RequestMember, isCacheKnown: boolean): boolean {
  if (MEDIA.has(name)) return true;
  if (name === "cachedContent") return !isCacheKnown;
  if (name === "type") return value === "item_reference";
  // At the top level it configures the audio output; in a message it refers to that of an earlier response.
  if (name === "audio") return depth > 0 && isObject(value) && isPresent(value.id);
  return depth === 0 &&
    (TOP_REFERENCES.has(name) || (grammar.hasStoredPrompts && name === "prompt" && isObject(value)));
}

function addLifetime(ttl: unknown, found: Found): void {
  if (ttl !== "1h" && ttl !== "12h" && ttl !== "24h") return;
  found.cacheLifetimes = new Set([...found.cacheLifetimes, ttl]);
}

/** An image of the chat or responses format: an address, or a data: URI. */
function addAddress(url: unknown, found: Found): void {
  if (typeof url !== "string") found.isSizeKnown = false;
  else if (/^data:image\//i.test(url)) addPicture(url.length, found);
  else if (/^https?:/i.test(url)) {
    found.picturesByAddress++;
    addPicture(0, found);
  } else found.isSizeKnown = false;
}

/** A blob of the content format. */
function addInline(blob: unknown, found: Found): void {
  const { mimeType, mime_type, data } = isObject(blob) ? blob : {};
  const type = mime_type ?? mimeType;
  if (typeof type !== "string" || typeof data !== "string") found.isSizeKnown = false;
  else if (/^image\//i.test(type)) addPicture(data.length, found);
  else if (!/^text\//i.test(type)) found.isSizeKnown = false;
}

/** The source of an image or document of the messages format. */
function addSource(type: unknown, source: JsonObject, found: Found): void {
  if (source.type === "text" || source.type === "content") return;
  if (type === "image" && source.type === "url") addAddress(source.url, found);
  else if (type === "image" && source.type === "base64" && typeof source.data === "string") {
    addPicture(source.data.length, found);
  } else found.isSizeKnown = false;
}

function addPicture(characters: number, found: Found): void {
  found.pictures++;
  found.pictureCharacters += characters;
}

function isPresent(value: unknown): boolean {
  return !isAbsent(value) && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0);
}
