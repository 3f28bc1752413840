import type { Form } from "../conversation/seal.ts";
import { invalidField } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { CacheParts } from "./cache_parts.ts";
import { cacheFileOf, cacheNotFound } from "./cached_content.ts";
import { type OpenPrefix, readPrefix } from "./prefix.ts";
import { ownCache } from "./read.ts";
import { bareModelName } from "./request.ts";

/** A cached content that a turn builds on, found and permitted. */
export type CacheReference = NativeReference | EmulatedReference;

interface Reference {
  readonly id: string;
  /** The body field that named it, for errors. */
  readonly field: string;
  /** The catalog's id. */
  readonly model: string;
  /** Where it belongs. */
  readonly provider: string;
  /** How many tokens it holds. */
  readonly tokens: number;
}

/** One that its provider has, and nobody else. */
export interface NativeReference extends Reference {
  readonly kind: "native";
  /** The vendor's name of it. */
  readonly upstreamName: string;
}

/** One whose content the gateway has. */
export interface EmulatedReference extends Reference {
  readonly kind: "emulated";
  /** @throws {GatewayError} `not_found` once its end has come. */
  open(): Promise<OpenPrefix>;
}

/** A reference as it stands in a request. */
export interface NamedCache {
  /** `cachedContents/<id>`, or whatever the caller wrote there. */
  readonly name: string;
  /** In the caller's spelling. */
  readonly field: string;
  readonly keyId: string;
  /** The model that the request names. */
  readonly model: string;
  readonly form: Form;
  readonly body: JsonObject;
}

/**
 * Finds the cache that a request names. Source: SPEC "Cached contents", "Authentication" rule 3.
 *
 * @throws {GatewayError} `not_found`, `permission_denied`; `invalid_request` for another model than the cache's, and for
 * instructions or tools beside it; `model_not_found`.
 */
export async function resolveReference(parts: CacheParts, named: NamedCache): Promise<CacheReference> {
  const { name, field, keyId, form, body } = named;
  const { value: cache } = await ownCache(parts.store, keyId, name, field);
  if (parts.modelOf(bareModelName(named.model)).id !== cache.model) {
    throw invalidField(field, `it is bound to the model "${cache.model}", and the request names another`);
  }
  refuseOwnSettings(form, body);
  const { id, model, home, tokens } = cache;
  const common = { id, field, model, tokens, provider: home.provider };
  if (home.kind === "native") return { kind: "native", upstreamName: home.upstreamName ?? "", ...common };
  return { kind: "emulated", open: () => open(parts, id, home.headBytes, field), ...common };
}

async function open({ files }: CacheParts, id: string, headBytes: number, field: string): Promise<OpenPrefix> {
  const file = await files.find(cacheFileOf(id));
  if (file === null) throw cacheNotFound(field);
  return await readPrefix(file, headBytes);
}

/** What a cache holds for itself, so that a request beside it may not. Source: Gemini API reference, "Caching". */
const OWN_SETTINGS: Readonly<Record<Form, readonly string[]>> = {
  content: ["systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config"],
  chat: ["tools", "tool_choice", "functions", "function_call"],
  responses: ["instructions", "tools", "tool_choice"],
  messages: ["system", "tools", "tool_choice"],
};

function refuseOwnSettings(form: Form, body: JsonObject): void {
  for (const field of OWN_SETTINGS[form]) if (!isNothing(body[field])) throw besideCache(field);
  const list = form === "chat" ? "messages" : "input";
  const said = form === "chat" || form === "responses" ? body[list] : null;
  if (!Array.isArray(said)) return;
  const at = said.findIndex((item) => item?.role === "system" || item?.role === "developer");
  if (at !== -1) throw besideCache(`${list}[${at}]`);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function besideCache(field: string): Error {
  return invalidField(field, "expected none beside a cached content, which holds instructions and tools of its own");
}

/**
 * The cache that a request of another protocol than content names, in `extra_body.cached_content`; null when it names none.
 *
 * @param model As the request names it.
 * @throws {GatewayError} `invalid_request` when it is no text.
 */
export function cacheInExtraBody(body: JsonObject, form: Form, model: string): Omit<NamedCache, "keyId"> | null {
  const { extra_body: extra } = body;
  if (typeof extra !== "object" || extra === null || !("cached_content" in extra)) return null;
  const { cached_content: name } = extra;
  if (name === null || name === undefined) return null;
  const field = "extra_body.cached_content";
  if (typeof name !== "string" || name === "") throw invalidField(field, "expected the name of a cached content");
  return { name, field, model, form, body };
}
