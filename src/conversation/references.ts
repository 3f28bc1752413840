import type { JsonObject } from "../lib/json_object.ts";
import type { ContextReference, ReferenceKind } from "./context_reference.ts";
import { refuseOtherCase } from "./letter_case.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import { type RequestMember, walkRequest } from "./request_walk.ts";
import { isAbsent, isObject } from "./wire_value.ts";

/**
 * Every reference of a request, at any depth, in the order in which they stand. Reads either spelling of the content
 * format. Ids that are not text are given as their JSON, so that none is missed.
 * Source: Responses, Chat Completions, Messages and Gemini API references; ModelArk and MiniMax for their addresses.
 *
 * @param grammar That of the body's wire format.
 * @param body The parsed request, checked or not.
 * @throws {GatewayError} `invalid_request` for a name that differs from a checked one in case alone; the names of the
 * content format are read exactly by protobuf.
 */
export function referencesIn(grammar: RequestGrammar, body: JsonObject): readonly ContextReference[] {
  const found: ContextReference[] = [];
  walkRequest(grammar, body, (member) => {
    if (!grammar.namesAreExact) refuseOtherCase(member);
    for (const [kind, id, step] of referencesOf(grammar, member)) {
      found.push({ kind, id, field: member.path() + step });
    }
  });
  found.push(...grammar.ownReferences(body));
  const cache = cacheInExtraBody(body);
  return cache === null ? found : [...found, cache];
}

type Found = readonly [kind: ReferenceKind, id: string, step: string];

const NONE: readonly Found[] = [];

/** Keys that hold ids wherever they stand, by their camel case spelling. */
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
  if (isAbsent(value) || value === "" || !isTelling(name)) return NONE;
  const kind = ID_KEYS.get(name);
  // Elements of an array are visited one by one.
  if (kind !== undefined) return Array.isArray(value) ? oddIdsIn(kind, value) : [[kind, idOf(value), ""]];
  switch (name) {
    case "conversation":
      return depth === 0 ? namedBy("conversation", value) : NONE;
    case "prompt":
      return depth === 0 && grammar.namesPrompts && isObject(value) ? idIn("prompt", value) : NONE;
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

/**
 * Keys of members that name nothing, by far the most: remembered, as this is asked for every member of every request.
 */
const SILENT = new Set<string>();
const MAX_SILENT_KEYS = 2_000;

function isTelling(name: string): boolean {
  if (SILENT.has(name)) return false;
  const telling = ID_KEYS.has(name) || NAMING_KEYS.has(name) || ADDRESS_KEY.test(name);
  if (!telling && name.length <= 64 && SILENT.size < MAX_SILENT_KEYS) SILENT.add(name);
  return telling;
}

/** Keys that hold an id or an object with one, in some places. */
const NAMING_KEYS: ReadonlySet<string> = new Set(["conversation", "prompt", "container", "skillId", "voice", "audio"]);

/** Elements of a list of ids that are not text, which no vendor documents and one may read all the same. */
function oddIdsIn(kind: ReferenceKind, list: readonly unknown[]): readonly Found[] {
  return list.flatMap((value, index): Found[] =>
    typeof value === "string" || isAbsent(value) ? [] : [[kind, idOf(value), `[${index}]`]]
  );
}

/** An id as text; one that is no text as its JSON. */
export function idOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** An id as text, or the `id` of an object; an object without one names nothing. */
function namedBy(kind: ReferenceKind, value: unknown): readonly Found[] {
  return isObject(value) ? idIn(kind, value) : [[kind, idOf(value), ""]];
}

function idIn(kind: ReferenceKind, value: JsonObject): readonly Found[] {
  return isAbsent(value.id) || value.id === "" ? NONE : [[kind, idOf(value.id), ".id"]];
}

/** Keys under which formats and their dialects have addresses of media. */
const ADDRESS_KEY =
  /(url|uri|image|video|audio)s?$|^(file|document|media|fileData|src|source|href|link|path|mask|frame|reference)s?$/i;

/**
 * What an address leads to; null where the bytes themselves stand there.
 *
 * @param name The member's key in camel case.
 */
function kindOfAddress(name: string, value: string): ReferenceKind | null {
  const text = value.length > 4096 ? value.slice(0, 4096).trim() : value.trim();
  if (/^data:/i.test(text)) return null;
  const scheme = /^([a-z][a-z0-9+._-]*):/i.exec(text)?.[1]?.toLowerCase();
  // The content form also takes the bare name of an uploaded file.
  if (scheme === undefined) return name === "fileUri" ? "file" : null;
  if (scheme === "http" || scheme === "https") return isVendorsFile(text) ? "file" : "address";
  if (!/^[a-z][a-z0-9+._-]*:\/\//i.test(text) && name !== "fileUri") return null;
  return BUCKET_SCHEMES.has(scheme) ? "bucket" : "asset";
}

const BUCKET_SCHEMES: ReadonlySet<string> = new Set(
  "gs s3 s3a s3n r2 oss tos cos obs azblob az wasb wasbs abfs abfss".split(" "),
);

/** Whether an address leads to a file that was uploaded to the vendor, which reads it with the operator's key. */
function isVendorsFile(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/\.$/, "");
  return host.endsWith(".googleapis.com") && host !== "storage.googleapis.com";
}

/** The gateway's own key; what stands there is resolved by the gateway. */
function cacheInExtraBody({ extra_body: extra }: JsonObject): ContextReference | null {
  if (!isObject(extra) || typeof extra.cached_content !== "string" || extra.cached_content === "") return null;
  return { kind: "cached_content", id: extra.cached_content, field: "extra_body.cached_content" };
}
