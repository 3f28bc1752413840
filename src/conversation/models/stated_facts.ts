import * as z from "zod";
import type { SnakeCase } from "../../platform/lib/settings/camel_case.ts";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { boolean, wholeNumber } from "../../platform/lib/settings/settings.ts";
import { EFFORTS } from "../neutral/conversation.ts";
import type { ProviderFacts } from "./known_models.ts";
import type { ModelFacts } from "../facts/model_facts.ts";

const MAX_TOKENS = 1_000_000_000;
const MAX_PATTERNS = 200;
const PATTERN_EXPECTATION = 'the vendor\'s name of a model, in which * stands for any text, such as "gpt-9*"';

const efforts = z.array(z.enum(EFFORTS)).min(1, "a list of at least one effort");
const conflict = z.enum(["always", "without_reasoning", "never"]);

/** The schema of a fact. What is not stated is left out. */
function fact<Type extends z.ZodType>(type: Type, text: string, example?: unknown): z.ZodOptional<Type> {
  const otherwise = "the built-in [facts](providers.md#facts)";
  return setting(type.optional(), { text, otherwise, ...example !== undefined && { example } });
}

/** A number of tokens above zero. */
const count = () => wholeNumber(1, MAX_TOKENS, "tokens");

/** `models[].facts`: what an operator states about a model. Names are those of `ModelFacts` in snake case. */
export const factsSchema: z.ZodType<Partial<ModelFacts>> = section(
  {
    can_reason: fact(boolean(), "Whether it can reason", true),
    efforts: fact(efforts, "The efforts that it accepts, weakest first", ["low", "medium", "high"]),
    default_effort: fact(z.enum(EFFORTS), "The effort that applies when a request names none", "medium"),
    has_chat: fact(boolean(), "Whether chat completions serves it; otherwise requests go to `/responses`", false),
    chat_efforts: fact(efforts, "The efforts that chat completions accepts, where they are fewer", ["low", "high"]),
    chat_tools: fact(
      conflict,
      "When chat completions accepts function tools; otherwise requests go to `/responses`",
      "without_reasoning",
    ),
    has_chat_stop: fact(boolean(), "Whether chat completions accepts `stop`", false),
    has_chat_max_tokens: fact(boolean(), "Whether chat completions accepts `max_tokens`", false),
    has_chat_completion_limit: fact(boolean(), "Whether chat completions honors `max_completion_tokens`", false),
    has_chat_schemas: fact(boolean(), "Whether chat completions enforces a JSON schema on the output", false),
    has_compatible_chat: fact(
      boolean(),
      "Whether these facts also hold for requests that pass through to compatible vendors",
      true,
    ),
    reasoning_history: fact(
      z.enum(["tool_turns", "none"]),
      "The reasoning of earlier turns that chat completions requires",
      "tool_turns",
    ),
    reasoning_control: fact(
      z.enum(["effort", "budget"]),
      "Whether reasoning is controlled by an effort or by a budget",
      "effort",
    ),
    budget: section({
      min: setting(wholeNumber(0, MAX_TOKENS, "tokens"), { text: "The smallest reasoning budget", example: 128 }),
      max: setting(wholeNumber(0, MAX_TOKENS, "tokens"), { text: "The largest reasoning budget", example: 32768 }),
    }).optional(),
    sampling_support: fact(
      z.enum(["always", "one", "without_reasoning", "never"]),
      "When it accepts `temperature` and `top_p`; `one`: not both together",
      "never",
    ),
    has_penalties: fact(boolean(), "Whether it accepts penalties", false),
    has_thinking_budgets: fact(boolean(), "Whether the messages format accepts a budget of thinking", false),
    thinking_off: fact(
      z.enum(["disabled", "between_tools", "never"]),
      "The type of `thinking` that switches thinking off",
      "never",
    ),
    off_efforts: fact(efforts, "The efforts that it accepts while thinking is off", ["low", "medium", "high"]),
    forced_calls: fact(conflict, "When a request may force a tool call", "never"),
    has_system_turns: fact(boolean(), "Whether it accepts system messages after the first turn", false),
    has_instructions_in_input: fact(
      boolean(),
      "Whether system text stands first in the input of `/responses`, not in `instructions`",
      true,
    ),
    can_prefill: fact(boolean(), "Whether it continues a last message of the assistant", false),
    has_output_schemas: fact(boolean(), "Whether it enforces a JSON schema on its output", true),
    has_output_schemas_with_tools: fact(boolean(), "The same while tools are offered", true),
    has_thinking_display: fact(boolean(), "Whether a request chooses if thinking is returned", true),
    has_media_in_tool_results: fact(boolean(), "Whether it accepts media in the result of a tool", true),
    has_explicit_caches: fact(boolean(), "Whether it uses contents that its vendor stores", false),
    min_cache_tokens: fact(count(), "The shortest prefix that its vendor caches, in tokens", 1024),
    has_cache_breakpoints: fact(boolean(), "Whether its vendor caches at breakpoints in a request", true),
    has_tool_search: fact(boolean(), "Whether `/responses` takes `tool_search` and deferred tools", false),
    has_added_tool_choice: fact(
      boolean(),
      "Whether `tool_choice` may name a tool that only the input declares (`additional_tools`)",
      false,
    ),
    hop_tokens: section({
      streamed: setting(count(), {
        text: "The most output tokens of one streamed request, for a model that goes on in further requests",
        example: 65536,
      }),
      whole: setting(count(), { text: "The same of a request that is not streamed", example: 32768 }),
    }).optional(),
    has_schema_references: fact(boolean(), "Whether it reads `$ref` in schemas; else definitions are inlined", false),
  } satisfies FactFields,
);

/** A field for every fact. */
type FactFields = { readonly [Field in keyof ModelFacts as SnakeCase<Field>]: z.ZodType };

const pattern = z.string(PATTERN_EXPECTATION).regex(/^[^\s*]{1,128}\*?$|^\*$/, PATTERN_EXPECTATION);

/** `providers.<name>.facts`: facts by patterns of the vendor's names. */
export const providerFactsSchema: z.ZodType<ProviderFacts> = z.record(pattern, factsSchema)
  .refine((facts) => Object.keys(facts).length <= MAX_PATTERNS, `at most ${MAX_PATTERNS} patterns`);
