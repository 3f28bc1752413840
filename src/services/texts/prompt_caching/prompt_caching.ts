import { createHash } from "node:crypto";
import type { Model } from "../../../vendors/catalog/model.ts";
import type { Conversation } from "../../../conversation/neutral/conversation.ts";
import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextEndpoint } from "../../../vendors/upstreams/contract/upstream.ts";
import type { TextAttempt, TextRequest } from "../plan/attempt.ts";
import { factsAt } from "../plan/served_endpoints.ts";
import type { PrefixDigest } from "../memory/prefix_hash.ts";
import type { PrefixMemory, PrefixScope } from "../memory/prefix_memory.ts";
import { CHARACTERS_PER_TOKEN, hasOwnMarks, plannedMarks } from "./planned_marks.ts";
import { prefixesOf, type PromptPrefixes } from "./prompt_prefixes.ts";

/** What a vendor is told about the prefixes of a request. */
export interface PlannedCaching {
  /** The conversation with its marks, and with the key in the field of the format. */
  readonly conversation: Conversation;
  /** Header fields with the key, for a vendor that reads it there. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the marks of the gateway are, for people: `tools`, `system`, `turn 3`. */
  readonly marks: readonly string[];
  /** Whether the gateway's own key is sent. */
  readonly hasKey: boolean;
}

/** The attempt that a request is written for. */
export type CachingAttempt = Pick<TextAttempt, "request" | "model" | "provider" | "candidate" | "endpoint">;

/** How long Anthropic and Bedrock keep a prefix without a request for more. Sources: their guides "Prompt caching". */
const LIFETIME_MS = 300_000;
/** The shortest prefix that vendors cache whose models have no fact about it. */
const DEFAULT_MIN_TOKENS = 1_024;
/** The default of `prefer_warm`. */
const WARM_MS = 300_000;

/** By the scan of the body, which each request has its own of. */
const known = new WeakMap<TextRequest["scan"], PromptPrefixes>();

function prefixesIn(request: TextRequest): PromptPrefixes {
  const found = known.get(request.scan);
  if (found !== undefined) return found;
  const prefixes = prefixesOf(request);
  known.set(request.scan, prefixes);
  return prefixes;
}

/** Plans the marks and the key of a request that is translated for a vendor. */
export function planCaching(
  conversation: Conversation,
  attempt: CachingAttempt,
  { prefixes: memory }: { readonly prefixes: PrefixMemory },
): PlannedCaching {
  const { request, model, provider, candidate, endpoint } = attempt;
  const { header, inBody } = keyPlacesOf(endpoint, provider);
  const own = withKey(conversation, conversation.cacheKey, header);
  if (isOff(request, model) || provider.isUncached === true || request.cache) return own;
  const facts = factsAt({ provider, model, name: candidate.model });
  const places = endpoint.format.cachePlaces({ model: candidate.model, facts, quirks: provider.quirks });
  const takesKey = conversation.cacheKey === null && (inBody || header !== null);
  if ((places === null && !takesKey) || !isLong(request, places?.minTokens ?? minTokensOf(facts))) return own;
  if (!takesKey && hasOwnMarks(conversation)) return own;
  const prefixes = prefixesIn(request);
  const keyed = takesKey
    ? withKey(conversation, keyOf(request.accountId, prefixes, endpoint.cacheKeyIn !== undefined), header)
    : own;
  if (places === null) return { ...keyed, hasKey: takesKey };
  const { tools, head, ends } = prefixes;
  const scope = scopeOf(request, model);
  const isSeen = (prefix: PrefixDigest | null | undefined) => {
    const seen = prefix ? memory.find(scope, prefix) : null;
    return seen !== null && seen.provider === candidate.provider && seen.ageMs <= LIFETIME_MS;
  };
  const marked = plannedMarks(keyed.conversation, {
    places,
    seen: { tools: isSeen(tools), head: isSeen(head), whole: isSeen(ends.at(-1)) },
    tokens: { tools: prefixes.toolBytes / CHARACTERS_PER_TOKEN, head: prefixes.headBytes / CHARACTERS_PER_TOKEN },
  });
  return { ...keyed, conversation: marked.conversation, marks: marked.places, hasKey: takesKey };
}

/** Notes that a provider has read a request's prompt. Has no effect for a request whose prefixes were not asked for. */
export function notePrompt(
  { request, model, candidate }: Pick<TextAttempt, "request" | "model" | "candidate">,
  { prefixes: memory }: { readonly prefixes: PrefixMemory },
): void {
  const prefixes = known.get(request.scan);
  if (prefixes === undefined) return;
  const { tools, head, ends } = prefixes;
  const seen = [tools, head, ends.at(-1)].filter((prefix) => prefix !== null && prefix !== undefined);
  memory.note(scopeOf(request, model), seen, candidate.provider);
}

/**
 * Returns the provider that has read a conversation last, by its id, if its vendor may still have it in its cache: null
 * for the first turn, which is split by weight, and where `prefer_warm` is off.
 */
export function warmProvider(
  request: TextRequest,
  model: Model,
  candidates: readonly Candidate[],
  { prefixes: memory, providers }: {
    readonly prefixes: PrefixMemory;
    readonly providers: ReadonlyMap<string, Provider>;
  },
): string | null {
  const [first] = candidates;
  if (first === undefined || candidates.length === 1 || request.cache || isOff(request, model)) return null;
  const warmMs = warmMsOf(model);
  if (warmMs === 0) return null;
  const provider = providers.get(first.provider);
  const minTokens = provider === undefined
    ? DEFAULT_MIN_TOKENS
    : minTokensOf(factsAt({ provider, model, name: first.model }));
  if (!isLong(request, minTokens)) return null;
  const { ends, isContinued } = prefixesIn(request);
  if (!isContinued) return null;
  const scope = scopeOf(request, model);
  for (const end of ends.toReversed()) {
    const seen = memory.find(scope, end);
    if (seen !== null) return seen.ageMs <= warmMs ? seen.provider : null;
  }
  return null;
}

/** By default only where all weights are 1: an operator that sets others wants them for each request. */
function warmMsOf({ preferWarmMs, serves }: Model): number {
  if (preferWarmMs !== undefined) return preferWarmMs;
  const isOwnWeight = ({ weight }: { readonly weight: number }) => weight !== 1;
  return serves.some((each) => isOwnWeight(each) || each.credentials?.some(isOwnWeight)) ? 0 : WARM_MS;
}

function isOff({ isUncached }: TextRequest, { promptCaching }: Model): boolean {
  return isUncached === true || promptCaching === "off";
}

function minTokensOf({ minCacheTokens }: ModelFacts): number {
  return minCacheTokens ?? DEFAULT_MIN_TOKENS;
}

function isLong({ bytes }: TextRequest, minTokens: number): boolean {
  return bytes.length >= minTokens * CHARACTERS_PER_TOKEN;
}

function scopeOf({ accountId }: TextRequest, { id }: Model): PrefixScope {
  return { accountId, model: id };
}

function keyPlacesOf({ format, cacheKeyIn }: TextEndpoint, { quirks }: Provider) {
  const header = typeof cacheKeyIn === "object" ? cacheKeyIn.header : null;
  const isOpenAi = !quirks.has("no_prompt_cache_key") && format.cacheHint(quirks) === "key";
  return { header, inBody: header === null && (cacheKeyIn === "body" || isOpenAi) };
}

function withKey(conversation: Conversation, cacheKey: string | null, header: string | null): PlannedCaching {
  const isInHeader = header !== null && cacheKey !== null && /^[\x21-\x7e]{1,128}$/.test(cacheKey);
  return {
    conversation: isInHeader
      ? { ...conversation, cacheKey: null }
      : conversation.cacheKey === cacheKey
      ? conversation
      : { ...conversation, cacheKey },
    headers: isInHeader ? { [header]: cacheKey } : {},
    marks: [],
    hasKey: false,
  };
}

/**
 * The same for all turns of a conversation, at all threads and gateways; where the vendor has enough of them in common,
 * for all conversations of an account with these tools and instructions.
 */
function keyOf(
  accountId: string,
  { head, headBytes, ends: [first] }: PromptPrefixes,
  isOfConversation: boolean,
): string {
  const isShared = !isOfConversation && headBytes >= DEFAULT_MIN_TOKENS * CHARACTERS_PER_TOKEN;
  const { high, low } = (isShared ? head : first) ?? head ?? NO_PREFIX;
  return createHash("sha256").update(`${accountId} ${high} ${low}`).digest("base64url").slice(0, KEY_CHARACTERS);
}

const NO_PREFIX: PrefixDigest = { high: 0, low: 0 };
const KEY_CHARACTERS = 32;
