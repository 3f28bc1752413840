import * as z from "zod";
import { boolean, wholeNumber } from "../lib/settings.ts";
import { EFFORTS } from "./conversation.ts";
import { FACT_NAMES } from "./fact_names.ts";
import type { ProviderFacts } from "./known_models.ts";
import type { ModelFacts } from "./model_facts.ts";

const MAX_TOKENS = 1_000_000_000;
const MAX_PATTERNS = 200;
const PATTERN_EXPECTATION = 'the vendor\'s name of a model, in which * stands for any text, such as "gpt-9*"';

const efforts = z.array(z.enum(EFFORTS)).min(1, "a list of at least one effort");
const conflict = z.enum(["always", "without_reasoning", "never"]);

/** The schema of each fact. Its name in the configuration is the name of the field in snake case. */
const FIELDS: { readonly [field in keyof ModelFacts]: z.ZodType<NonNullable<ModelFacts[field]>> } = {
  canReason: boolean(),
  efforts,
  defaultEffort: z.enum(EFFORTS),
  chatEfforts: efforts,
  chatTools: conflict,
  hasChatStop: boolean(),
  hasChatMaxTokens: boolean(),
  hasChatCompletionLimit: boolean(),
  hasChatSchemas: boolean(),
  hasCompatibleChat: boolean(),
  reasoningHistory: z.enum(["tool_turns", "none"]),
  reasoningControl: z.enum(["effort", "budget"]),
  budget: z.strictObject({
    min: wholeNumber(0, MAX_TOKENS, "tokens"),
    max: wholeNumber(0, MAX_TOKENS, "tokens"),
  }),
  samplingSupport: z.enum(["always", "one", "without_reasoning", "never"]),
  hasPenalties: boolean(),
  hasThinkingBudgets: boolean(),
  thinkingOff: z.enum(["disabled", "between_tools", "never"]),
  offEfforts: efforts,
  forcedCalls: conflict,
  hasSystemTurns: boolean(),
  hasInstructionsInInput: boolean(),
  canPrefill: boolean(),
  hasOutputSchemas: boolean(),
  hasOutputSchemasWithTools: boolean(),
  hasThinkingDisplay: boolean(),
  hasMediaInToolResults: boolean(),
  hasExplicitCaches: boolean(),
  minCacheTokens: wholeNumber(1, MAX_TOKENS, "tokens"),
  hasCacheBreakpoints: boolean(),
  hopTokens: z.strictObject({
    streamed: wholeNumber(1, MAX_TOKENS, "tokens"),
    whole: wholeNumber(1, MAX_TOKENS, "tokens"),
  }),
  hasSchemaReferences: boolean(),
};

const written = z.strictObject(
  Object.fromEntries(
    Object.entries(FIELDS).map(([field, schema]) => [FACT_NAMES.get(field as keyof ModelFacts), schema.optional()]),
  ),
);

/** `models[].facts`: what an operator states about a model. Names are those of `ModelFacts` in snake case. */
export const factsSchema: z.ZodType<Partial<ModelFacts>> = written.transform(factsOf);

const pattern = z.string(PATTERN_EXPECTATION).regex(/^[^\s*]{1,128}\*?$|^\*$/, PATTERN_EXPECTATION);

/** `providers.<name>.facts`: facts by patterns of the vendor's names. */
export const providerFactsSchema: z.ZodType<ProviderFacts> = z.record(pattern, factsSchema)
  .refine((facts) => Object.keys(facts).length <= MAX_PATTERNS, `at most ${MAX_PATTERNS} patterns`);

function factsOf(stated: Readonly<Record<string, unknown>>): Partial<ModelFacts> {
  const found = [...FACT_NAMES].filter(([, name]) => stated[name] !== undefined);
  return Object.fromEntries(found.map(([field, name]) => [field, stated[name]]));
}
