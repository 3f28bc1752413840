import { appendAll } from "../../platform/lib/collections/append_all.ts";
import { isDataUri } from "../../platform/lib/media/data_uri.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { ContextReference, ReferenceKind } from "./context_reference.ts";
import { type HostedTool, noteHostedTools } from "./hosted_tools.ts";
import { rejectOtherCase } from "./letter_case.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import { type RequestMember, walkRequest } from "./request_walk.ts";
import { isAbsent, isObject } from "../neutral/wire_value.ts";

/**
 * All references in a request, at any depth, in order. Accepts both spellings of the content format. Ids that are not
 * text are returned as JSON, so that none is missed.
 * Source: Responses, Chat Completions, Messages and Gemini API references; ModelArk and MiniMax for their addresses.
 *
 * @param grammar The grammar of the body's wire format.
 * @param body The parsed request, checked or not. Its long texts may be omitted.
 * @param wholeText Returns the text that a string of `body` represents. Default: the same.
 * @throws {GatewayError} `invalid_request` for a name that differs from a checked one only in letter case. Protobuf
 * matches names of the content format exactly, so they are not checked.
 */
export function referencesIn(
  grammar: RequestGrammar,
  body: JsonObject,
  wholeText?: (text: string) => string,
): readonly ContextReference[] {
  const found: ContextReference[] = [];
  walkRequest(grammar, body, (member) => noteReferences(grammar, member, found));
  noteOthers({ grammar, body, wholeText }, found);
  return found;
}

/** A request in which something is searched. Arguments as of {@linkcode referencesIn}. */
export interface SearchedRequest {
  /** Of the wire format of the body. */
  readonly grammar: RequestGrammar;
  /** The parsed request. */
  readonly body: JsonObject;
  /** Returns the text that a string of the body represents. */
  readonly wholeText?: ((text: string) => string) | undefined;
}

/**
 * What {@linkcode referencesIn} returns, and the hosted tools that a request offers, at any depth, in order. Every
 * request needs both, so they are found in one walk. Throws as `referencesIn`.
 */
export function stateAndToolsIn(
  request: SearchedRequest,
): { readonly references: readonly ContextReference[]; readonly tools: readonly HostedTool[] } {
  const { grammar, body } = request;
  const references: ContextReference[] = [];
  const tools: HostedTool[] = [];
  walkRequest(grammar, body, (member) => {
    noteReferences(grammar, member, references);
    noteHostedTools(grammar, member, tools);
  });
  noteOthers(request, references);
  return { references, tools };
}

function noteReferences(grammar: RequestGrammar, member: RequestMember, found: ContextReference[]): void {
  if (!grammar.hasExactNames) rejectOtherCase(member);
  for (const [kind, id, step] of referencesOf(grammar, member)) {
    found.push({ kind, id, field: member.path() + step });
  }
}

/** Adds the references that are not found member by member. */
function noteOthers({ grammar, body, wholeText = (text) => text }: SearchedRequest, found: ContextReference[]): void {
  appendAll(found, grammar.ownReferences(body, wholeText));
  const cache = cacheInExtraBody(body);
  if (cache !== null) found.push(cache);
}

type Found = readonly [kind: ReferenceKind, id: string, step: string];

const NONE: readonly Found[] = [];

/** Keys that hold ids at any position, in camel case. */
const ID_KEYS: ReadonlyMap<string, ReferenceKind> = new Map<string, ReferenceKind>([
  ["previousResponseId", "response"],
  ["fileId", "file"],
  ["fileIds", "file"],
  ["vectorStoreId", "vector_store"],
  ["vectorStoreIds", "vector_store"],
  ["collectionIds", "vector_store"],
  ["fileSearchStoreNames", "vector_store"],
  ["containerId", "container"],
  ["cachedContent", "cached_content"],
  ["approvalRequestId", "item"],
]);

function referencesOf(grammar: RequestGrammar, member: RequestMember): readonly Found[] {
  const { name, value, owner, depth } = member;
  if (isAbsent(value) || value === "" || !mayHoldReference(name)) return NONE;
  const kind = ID_KEYS.get(name);
  // Text elements of an array are visited one by one.
  if (kind !== undefined) return Array.isArray(value) ? nonTextIdsIn(kind, value) : [[kind, idOf(value), ""]];
  switch (name) {
    case "conversation":
      return depth === 0 ? namedBy("conversation", value) : NONE;
    case "prompt":
      return depth === 0 && grammar.hasStoredPrompts && isObject(value) ? idIn("prompt", value) : NONE;
    case "container":
      return namedBy("container", value);
    case "skillId":
      return owner.type === "anthropic" ? NONE : [["skill", idOf(value), ""]];
    case "voice":
      return isObject(value) ? idIn("voice", value) : NONE;
    case "audio":
      if (isObject(value) && !isAbsent(value.id)) return idIn("audio", value);
  }
  if (typeof value !== "string" || name === "serverUrl" || !ADDRESS_KEY.test(name)) return NONE;
  if (owner.type === "search_result") return NONE; // a label
  const addressed = kindOfAddress(name, value);
  return addressed === null ? NONE : [[addressed, value, ""]];
}

/** Keys that hold no reference, cached because every member of every request is checked. */
const KEYS_WITHOUT_REFERENCE = new Set<string>();
const MAX_CACHED_KEYS = 2_000;

function mayHoldReference(name: string): boolean {
  if (KEYS_WITHOUT_REFERENCE.has(name)) return false;
  const mayHold = ID_KEYS.has(name) || POSSIBLE_ID_KEYS.has(name) || ADDRESS_KEY.test(name);
  if (!mayHold && name.length <= 64 && KEYS_WITHOUT_REFERENCE.size < MAX_CACHED_KEYS) KEYS_WITHOUT_REFERENCE.add(name);
  return mayHold;
}

/** Keys that hold an id, or an object with one, only in some positions. */
const POSSIBLE_ID_KEYS: ReadonlySet<string> = new Set([
  "conversation",
  "prompt",
  "container",
  "skillId",
  "voice",
  "audio",
]);

/** Elements of a list of ids that are not text. No vendor documents them, but one may accept them. */
function nonTextIdsIn(kind: ReferenceKind, list: readonly unknown[]): readonly Found[] {
  return list.flatMap((value, index): Found[] =>
    typeof value === "string" || isAbsent(value) ? [] : [[kind, idOf(value), `[${index}]`]]
  );
}

/** An id as text; any other value as its JSON. */
export function idOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** An id as text, or the `id` of an object; empty for an object without one. */
function namedBy(kind: ReferenceKind, value: unknown): readonly Found[] {
  return isObject(value) ? idIn(kind, value) : [[kind, idOf(value), ""]];
}

function idIn(kind: ReferenceKind, value: JsonObject): readonly Found[] {
  return isAbsent(value.id) || value.id === "" ? NONE : [[kind, idOf(value.id), ".id"]];
}

/** Keys of media addresses in the formats and their dialects. */
const ADDRESS_KEY =
  /(url|uri|image|video|audio)s?$|^(file|document|media|fileData|src|source|href|link|path|mask|frame|reference)s?$/i;

/**
 * The kind of reference of an address; null for inline data.
 *
 * @param name The member's key in camel case.
 */
function kindOfAddress(name: string, value: string): ReferenceKind | null {
  const text = value.length > 4096 ? value.slice(0, 4096).trim() : value.trim();
  if (isDataUri(text)) return null;
  const scheme = /^([a-z][a-z0-9+._-]*):/i.exec(text)?.[1]?.toLowerCase();
  // The content format also accepts the plain name of an uploaded file.
  if (scheme === undefined) return name === "fileUri" ? "file" : null;
  if (scheme === "http" || scheme === "https") return isVendorsFile(text) ? "file" : "address";
  if (!/^[a-z][a-z0-9+._-]*:\/\//i.test(text) && name !== "fileUri") return null;
  return BUCKET_SCHEMES.has(scheme) ? "bucket" : "asset";
}

const BUCKET_SCHEMES: ReadonlySet<string> = new Set(
  "gs s3 s3a s3n r2 oss tos cos obs azblob az wasb wasbs abfs abfss".split(" "),
);

/** Whether an address names a file uploaded to the vendor, which reads it with the operator's key. */
function isVendorsFile(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/\.$/, "");
  return host.endsWith(".googleapis.com") && host !== "storage.googleapis.com";
}

/** The gateway's own field for a cached content, resolved by the gateway. */
function cacheInExtraBody({ extra_body: extra }: JsonObject): ContextReference | null {
  if (!isObject(extra) || typeof extra.cached_content !== "string" || extra.cached_content === "") return null;
  return { kind: "cached_content", id: extra.cached_content, field: "extra_body.cached_content" };
}
