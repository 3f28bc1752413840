import type { JsonEdit } from "../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { hasQuoted } from "../../../platform/lib/text/word_search.ts";
import type { CacheMark } from "../../neutral/conversation.ts";
import type { PassThroughRequest } from "../../contract/pass_through.ts";
import type { CachePlaces, FactTarget } from "../../contract/upstream_format.ts";
import { isObject, listOf } from "../../neutral/wire_value.ts";
import { type BodyEdits, NO_EDITS } from "./body_edits.ts";

/**
 * The marks of OpenAI's formats, `prompt_cache_breakpoint`, for models that cache at them. Source: Chat Completions and
 * Responses API references, `prompt_cache_options`.
 */

/** Whether a model's vendor takes breakpoints. Of compatible vendors only those that take a key of the cache do. */
function takesBreakpoints({ facts, quirks }: FactTarget): boolean {
  return facts.hasCacheBreakpoints === true && !quirks.has("no_prompt_cache_key");
}

/** Where a request can have breakpoints; null for models without them. */
export function breakpointPlaces(target: FactTarget, instructions: boolean): CachePlaces | null {
  if (!takesBreakpoints(target)) return null;
  return { minTokens: target.facts.minCacheTokens ?? MIN_TOKENS, tools: false, instructions, results: true };
}

const MIN_TOKENS = 1_024;

/**
 * Writes the mark of a text, a picture or a document, as a field to spread; empty without one.
 *
 * @param droppedFields Receives `cache_control` if the model has no breakpoints.
 */
export function writeBreakpoint(
  cache: CacheMark | undefined,
  target: FactTarget,
  droppedFields: Set<string>,
): { readonly prompt_cache_breakpoint?: JsonObject } {
  if (cache === undefined) return {};
  if (takesBreakpoints(target)) return BREAKPOINT;
  droppedFields.add("cache_control");
  return {};
}

/** Without a lifetime, that of the request applies. */
const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };

/** An object that can have a cache mark, and its path. */
interface Markable {
  readonly path: JsonEdit["path"];
  readonly owner: JsonObject;
  /** Whether it is a part of a content, which takes a breakpoint. */
  readonly isPart: boolean;
}

/** The members of a request that have content, and the members of each of its objects with parts. */
export interface ContentPlaces {
  readonly list: "messages" | "input";
  readonly parts: readonly string[];
}

/**
 * Edits the cache marks of a request in a format of OpenAI that passes to OpenAI itself. Relays and other vendors take
 * `cache_control`, which OpenAI refuses: "Unknown parameter: 'input[0].content[0].cache_control'". It becomes a
 * breakpoint for models that have these, and models without them get neither. Source: Responses API reference,
 * `prompt_cache_options`; BerriAI/litellm#28431.
 */
export function openAiMarkEdits(request: PassThroughRequest, places: ContentPlaces): BodyEdits {
  const { body, outlineText, quirks, facts } = request;
  if (quirks.has("union_schemas")) return NO_EDITS;
  const isRefused = facts.hasCacheBreakpoints === false;
  const hasControls = hasQuoted(outlineText, 'cache_control"');
  const hasBreakpoints = isRefused && hasQuoted(outlineText, "prompt_cache_");
  if (!hasControls && !hasBreakpoints) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  if (isRefused && body.prompt_cache_options !== undefined) {
    edits.push({ path: ["prompt_cache_options"], value: undefined });
    droppedFields.add("prompt_cache_options");
  }
  for (const { path, owner, isPart } of markablesIn(body, places)) {
    const { cache_control: control, prompt_cache_breakpoint: breakpoint } = owner;
    if (breakpoint !== undefined && isRefused) {
      edits.push({ path: [...path, "prompt_cache_breakpoint"], value: undefined });
      droppedFields.add("cache_control");
    }
    if (control === undefined) continue;
    const becomesBreakpoint = isPart && isObject(control) && breakpoint === undefined && takesBreakpoints(request);
    edits.push({
      path: [...path, "cache_control"],
      ...(becomesBreakpoint ? { name: "prompt_cache_breakpoint", value: { mode: "explicit" } } : { value: undefined }),
    });
    if (!becomesBreakpoint && isObject(control)) droppedFields.add("cache_control");
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [...droppedFields] };
}

function* markablesIn(body: JsonObject, { list, parts }: ContentPlaces): Generator<Markable> {
  for (const [index, owner] of listOf(body.tools).entries()) {
    if (isObject(owner)) yield { path: ["tools", index], owner, isPart: false };
  }
  for (const [index, owner] of listOf(body[list]).entries()) {
    if (!isObject(owner)) continue;
    yield { path: [list, index], owner, isPart: false };
    for (const name of parts) {
      for (const [at, part] of listOf(owner[name]).entries()) {
        if (isObject(part)) yield { path: [list, index, name, at], owner: part, isPart: true };
      }
    }
  }
}
