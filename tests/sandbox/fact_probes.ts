import { EFFORTS } from "../../src/conversation/neutral/conversation.ts";
import type { ModelFacts } from "../../src/conversation/facts/model_facts.ts";
import type { FormName } from "./support.ts";

/** A request that asks a model for one thing, and whether its facts say that the vendor refuses it. */
export interface Probe {
  readonly form: FormName;
  readonly what: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly isRefused: boolean;
  /** A part of the refusal, which names the field. */
  readonly words: string;
}

/** Returns what a fact means at the formats that have it. */
type Probes = (facts: ModelFacts) => readonly Probe[];

const CHAT_TOOL = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } };
const TOOL = { name: "f", input_schema: { type: "object", properties: {} } };
const DECLARATION = { functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] };
const HI = { role: "user", content: "hi" };

function probe(
  form: FormName,
  what: string,
  fields: Record<string, unknown>,
  isRefused: boolean,
  words: string,
): Probe {
  return { form, what, fields, isRefused, words };
}

function takesSampling({ samplingSupport, defaultEffort }: ModelFacts): boolean {
  return samplingSupport !== "never" && (samplingSupport !== "without_reasoning" || defaultEffort === "none");
}

function thinking(level: Record<string, unknown>): Record<string, unknown> {
  return { generationConfig: { thinkingConfig: level } };
}

/** What the simulated OpenAI has to refuse, by the fact that says so. */
export const OPENAI_PROBES: Partial<Record<keyof ModelFacts, Probes>> = {
  canReason: ({ canReason }) =>
    [
      probe("chat", "an effort", { reasoning_effort: "high" }, canReason === false, '"param":"reasoning_effort"'),
    ].filter(({ isRefused }) => isRefused),
  efforts: ({ canReason, efforts }) =>
    canReason !== true || efforts === null ? [] : EFFORTS.map((effort) =>
      probe(
        "responses",
        `the effort ${effort}`,
        { reasoning: { effort } },
        !efforts.includes(effort),
        '"param":"reasoning.effort","code":"unsupported_value"',
      )
    ),
  chatEfforts: ({ canReason, efforts, chatEfforts }) =>
    canReason !== true || efforts === null ? [] : EFFORTS.map((effort) =>
      probe(
        "chat",
        `the effort ${effort} in chat`,
        { reasoning_effort: effort },
        !efforts.includes(effort) || chatEfforts?.includes(effort) === false,
        '"param":"reasoning_effort","code":"unsupported_value"',
      )
    ),
  chatTools: ({ canReason, chatTools, defaultEffort }) => [
    probe(
      "chat",
      "function tools",
      { tools: [CHAT_TOOL] },
      canReason === true && (chatTools === "never" || (chatTools === "without_reasoning" && defaultEffort !== "none")),
      '"type":"invalid_request_error","param":"reasoning_effort","code":null',
    ),
  ],
  defaultEffort: ({ canReason, chatTools, efforts }) =>
    canReason !== true || !efforts?.includes("high") ? [] : [
      probe(
        "chat",
        "function tools with an effort",
        { tools: [CHAT_TOOL], reasoning_effort: "high" },
        chatTools !== "always",
        "use /v1/responses",
      ),
    ],
  hasChatStop: (facts) => [
    probe(
      "chat",
      "stop",
      { stop: ["x"] },
      facts.canReason === true && facts.hasChatStop === false && facts.defaultEffort !== "none",
      '"param":"stop","code":"unsupported_parameter"',
    ),
  ],
  hasCacheBreakpoints: ({ hasCacheBreakpoints }) =>
    (["chat", "responses"] as const).map((form) =>
      probe(
        form,
        `options of the cache in ${form}`,
        { prompt_cache_options: { mode: "implicit" } },
        hasCacheBreakpoints === false,
        '"param":"prompt_cache_options","code":"unsupported_parameter"',
      )
    ),
  hasToolSearch: ({ hasToolSearch }) => [
    probe(
      "responses",
      "a search for tools",
      { tools: [{ type: "tool_search" }] },
      hasToolSearch === false,
      '"param":"tools[0]","code":"unsupported_parameter"',
    ),
    probe(
      "responses",
      "a deferred tool",
      { tools: [{ type: "function", name: "f", parameters: null, defer_loading: true }] },
      hasToolSearch === false,
      '"param":"tools[0].defer_loading","code":"unsupported_parameter"',
    ),
  ],
  hasAddedToolChoice: ({ hasAddedToolChoice }) => [
    probe(
      "responses",
      "a choice of a tool of the input",
      {
        input: [{ role: "user", content: "a" }, {
          type: "additional_tools",
          role: "developer",
          tools: [{ type: "function", name: "f", parameters: null }],
        }],
        tool_choice: { type: "function", name: "f" },
      },
      hasAddedToolChoice === false,
      "Tool choice 'f' not found in 'tools' parameter.",
    ),
  ],
  hasChatMaxTokens: ({ canReason, hasChatMaxTokens }) => [
    probe(
      "chat",
      "max_tokens",
      { max_tokens: 50 },
      canReason === true && hasChatMaxTokens === false,
      '"param":"max_tokens","code":"unsupported_parameter"',
    ),
  ],
  samplingSupport: (facts) => [
    probe("chat", "temperature", { temperature: 0.4 }, !takesSampling(facts), '"param":"temperature"'),
    probe("chat", "a penalty", { presence_penalty: 1 }, !takesSampling(facts), '"param":"presence_penalty"'),
    ...(facts.canReason === true
      ? [probe("responses", "top_p", { top_p: 0.4 }, !takesSampling(facts), '"param":"top_p"')]
      : []),
  ],
};

/** What the simulated Anthropic has to refuse, by the fact that says so. */
export const ANTHROPIC_PROBES: Partial<Record<keyof ModelFacts, Probes>> = {
  canReason: ({ canReason }) =>
    canReason !== false ? [] : [
      probe(
        "messages",
        "thinking",
        { thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 },
        true,
        "thinking",
      ),
    ],
  reasoningControl: ({ canReason, reasoningControl }) =>
    canReason !== true ? [] : [
      probe(
        "messages",
        "adaptive thinking",
        { thinking: { type: "adaptive" } },
        reasoningControl === "budget",
        "adaptive thinking is not supported on this model",
      ),
    ],
  efforts: ({ canReason, efforts }) =>
    canReason === null ? [] : EFFORTS.filter((effort) => effort !== "none").map((effort) =>
      probe(
        "messages",
        `the effort ${effort}`,
        { output_config: { effort } },
        efforts?.includes(effort) !== true,
        "This model does not support",
      )
    ),
  samplingSupport: ({ samplingSupport }) =>
    ["temperature", "top_p", "top_k"].map((name) =>
      probe(
        "messages",
        name,
        { [name]: 1 },
        samplingSupport === "never",
        `\`${name}\` is deprecated for this model.`,
      )
    ),
  hasThinkingBudgets: ({ canReason, hasThinkingBudgets }) =>
    canReason !== true ? [] : [
      probe(
        "messages",
        "a budget",
        { thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 },
        hasThinkingBudgets === false,
        '\\"thinking.type.enabled\\" is not supported for this model.',
      ),
    ],
  thinkingOff: ({ canReason, thinkingOff }) =>
    canReason !== true ? [] : ["disabled", "between_tools"].map((type) =>
      probe(
        "messages",
        `thinking ${type}`,
        { thinking: { type } },
        thinkingOff !== type,
        `\\"thinking.type.${type}\\" is not supported for this model.`,
      )
    ),
  offEfforts: ({ efforts, offEfforts, thinkingOff }) =>
    thinkingOff === null || thinkingOff === "never"
      ? []
      : (efforts ?? []).filter((each) => each !== "none").map((effort) =>
        probe(
          "messages",
          `the effort ${effort} without thinking`,
          { thinking: { type: thinkingOff }, output_config: { effort } },
          offEfforts?.includes(effort) === false,
          `is not supported with effort level '${effort}'`,
        )
      ),
  forcedCalls: ({ canReason, forcedCalls, reasoningControl }) =>
    canReason === null ? [] : [
      probe(
        "messages",
        "a forced call",
        { tools: [TOOL], tool_choice: { type: "any" } },
        forcedCalls === "never",
        'tool_choice: type \\"tool\\" and \\"any\\" are not supported for this model.',
      ),
      ...(reasoningControl !== "effort" ? [] : [
        probe(
          "messages",
          "a forced call with thinking",
          { tools: [TOOL], tool_choice: { type: "tool", name: "f" }, thinking: { type: "adaptive" } },
          forcedCalls !== "always",
          forcedCalls === "never" ? "tool_choice" : "Thinking may not be enabled when tool_choice forces tool use.",
        ),
      ]),
    ],
  hasSystemTurns: ({ hasSystemTurns }) => [
    probe(
      "messages",
      "a system turn",
      { messages: [HI, { role: "system", content: "x" }, HI] },
      hasSystemTurns === false,
      "role 'system' is not supported on this model",
    ),
  ],
  canPrefill: ({ canPrefill }) => [
    probe(
      "messages",
      "a last turn of the assistant",
      { messages: [HI, { role: "assistant", content: "x" }] },
      canPrefill === false,
      "This model does not support assistant message prefill.",
    ),
  ],
  hasOutputSchemas: ({ canReason, hasOutputSchemas }) =>
    canReason === null ? [] : [
      probe(
        "messages",
        "a schema",
        { output_config: { format: { type: "json_schema", schema: { type: "object", additionalProperties: false } } } },
        hasOutputSchemas === false,
        "does not support output format.",
      ),
    ],
  hasThinkingDisplay: ({ canReason, hasThinkingDisplay, hasThinkingBudgets }) =>
    canReason !== true ? [] : [
      probe(
        "messages",
        "a display of thinking",
        hasThinkingBudgets === true
          ? { thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" }, max_tokens: 2000 }
          : { thinking: { type: "adaptive", display: "omitted" } },
        hasThinkingDisplay === false,
        "display: Extra inputs are not permitted",
      ),
    ],
};

/** What the simulated Google has to refuse, by the fact that says so. */
export const GOOGLE_PROBES: Partial<Record<keyof ModelFacts, Probes>> = {
  hasExplicitCaches: ({ hasExplicitCaches }) =>
    hasExplicitCaches !== false ? [] : [
      probe(
        "content",
        "a cached content",
        { cachedContent: "cachedContents/a" },
        true,
        "Explicit caching is not supported",
      ),
    ],
  hopTokens: ({ hopTokens }) => [
    probe(
      "content",
      "a token to go on",
      { continuationToken: btoa('{"start":0}') },
      hopTokens === null,
      "Continuation is not supported",
    ),
  ],
  canReason: ({ canReason }) =>
    [
      probe("content", "thinking", thinking({ thinkingLevel: "HIGH" }), true, "Thinking is not enabled"),
    ].filter(() => canReason === false),
  reasoningControl: ({ reasoningControl }) =>
    [
      probe("content", "a level", thinking({ thinkingLevel: "LOW" }), true, "Thinking level is not supported"),
    ].filter(() => reasoningControl === "budget"),
  efforts: ({ reasoningControl, efforts }) =>
    reasoningControl !== "effort" || efforts === null ? [] : EFFORTS.map((effort) =>
      probe(
        "content",
        `the level ${effort}`,
        thinking({ thinkingLevel: effort.toUpperCase() }),
        !efforts.includes(effort),
        `Thinking level ${effort.toUpperCase()} is not supported for this model.`,
      )
    ),
  budget: ({ budget, efforts }) =>
    budget === null ? [] : [
      probe("content", "the largest budget", thinking({ thinkingBudget: budget.max }), false, ""),
      probe("content", "a larger budget", thinking({ thinkingBudget: budget.max + 1 }), true, "thinking budget"),
      probe("content", "no budget", thinking({ thinkingBudget: 0 }), !efforts?.includes("none"), "Budget 0 is invalid"),
    ],
  hasPenalties: ({ hasPenalties }) => [
    probe(
      "content",
      "a penalty",
      { generationConfig: { presencePenalty: 0.5 } },
      hasPenalties === false,
      "Penalty is not enabled",
    ),
  ],
  hasOutputSchemasWithTools: ({ hasOutputSchemasWithTools }) => [
    probe(
      "content",
      "a schema beside functions",
      { tools: [DECLARATION], generationConfig: { responseMimeType: "application/json" } },
      hasOutputSchemasWithTools === false,
      "is unsupported",
    ),
  ],
  hasMediaInToolResults: ({ hasMediaInToolResults }) => [
    probe(
      "content",
      "media in a result",
      {
        contents: [
          { role: "user", parts: [{ text: "hi" }] },
          {
            role: "model",
            parts: [{ functionCall: { name: "f", args: {} }, thoughtSignature: "skip_thought_signature_validator" }],
          },
          {
            role: "user",
            parts: [{
              functionResponse: {
                name: "f",
                response: {},
                parts: [{ inlineData: { mimeType: "image/png", data: "aGk=" } }],
              },
            }],
          },
        ],
      },
      hasMediaInToolResults === false,
      "not supported for this model",
    ),
  ],
};
