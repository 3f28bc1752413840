import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Sandbox } from "../../src/sandbox/mod.ts";
import { inSandbox } from "./support.ts";

/** A request and what the vendor answers; null for a request that it takes. */
type Row = readonly [rule: string, models: string, fields: Record<string, unknown>, answer: Answer | null];

interface Answer {
  /** Default: 400. */
  readonly status?: number;
  /** The field that the answer names, where the vendor's format has a place for it. */
  readonly param?: string;
  /** A part of the message. */
  readonly words: string;
}

const FUNCTION = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } };
const WITH_TOOLS = { tools: [FUNCTION] };
const FORCED = { ...WITH_TOOLS, tool_choice: "required" };
const HI = { role: "user", content: "hi" };
const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const LOOP = [HI, { role: "assistant", content: null, tool_calls: [CALL] }, {
  role: "tool",
  tool_call_id: "call_1",
  content: "ok",
}];
const TOOLS_REFUSED: Answer = {
  param: "reasoning_effort",
  words: "Function tools with reasoning_effort are not supported for",
};
const EFFORT_REFUSED: Answer = { param: "reasoning_effort", words: "Supported values are:" };
const SCHEMA_FORMAT = { type: "json_schema", json_schema: { name: "a", schema: { type: "object", properties: {} } } };

/**
 * What each vendor's chat completions answer, independent of the facts of the source. Models are separated by spaces.
 * Sources: OpenAI, guide Using GPT-6 and model page of GPT-6.2 Sol; reports with the vendors' answers.
 */
const CHAT: Readonly<Record<string, readonly Row[]>> = {
  openai: [
    [
      "tools",
      "gpt-5.5 gpt-5.6-sol gpt-5.6-terra gpt-6-sol gpt-6-luna gpt-6-astra gpt-6.1-sol gpt-6.2-sol",
      WITH_TOOLS,
      TOOLS_REFUSED,
    ],
    ["tools", "gpt-5.4 gpt-5.2 gpt-5 o3 gpt-4.1", WITH_TOOLS, null],
    ["tools with an effort", "gpt-5.4 gpt-5.4-mini gpt-5.5", { ...WITH_TOOLS, reasoning_effort: "low" }, TOOLS_REFUSED],
    ["tools without reasoning", "gpt-5.4 gpt-5.5 gpt-5.6-sol gpt-6-sol gpt-6.1-terra", {
      ...WITH_TOOLS,
      reasoning_effort: "none",
    }, null],
    [
      "effort none",
      "gpt-6-astra gpt-6.1-sol gpt-6.2-astra gpt-6.2-sol o3 gpt-5",
      { reasoning_effort: "none" },
      EFFORT_REFUSED,
    ],
    [
      "chat",
      "gpt-5-pro gpt-5.5-pro gpt-5.3-codex gpt-5-codex",
      {},
      { status: 404, param: "model", words: "only supported in v1/responses and not in v1/chat/completions" },
    ],
    [
      "a mark of another vendor",
      "gpt-4.1 gpt-5.6-terra",
      { messages: [{ role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] }] },
      { param: "messages[0].content[0].cache_control", words: "Unknown parameter" },
    ],
    [
      "a mark",
      "gpt-4.1 gpt-5.4",
      {
        messages: [{
          role: "user",
          content: [{ type: "text", text: "hi", prompt_cache_breakpoint: { mode: "explicit" } }],
        }],
      },
      { param: "messages[0].content[0].prompt_cache_breakpoint", words: "is not supported with this model" },
    ],
    ["effort minimal", "gpt-5.1 gpt-5.4 gpt-5.6-sol gpt-6-sol", { reasoning_effort: "minimal" }, EFFORT_REFUSED],
    ["effort minimal", "gpt-5 gpt-5-mini", { reasoning_effort: "minimal" }, null],
    ["effort max", "gpt-5.4 gpt-5.6-sol gpt-6-sol gpt-6.2-sol", { reasoning_effort: "max" }, EFFORT_REFUSED],
    ["sampling", "gpt-5 o3 gpt-5.5 gpt-6-sol gpt-6.2-sol", { temperature: 0.2 }, {
      param: "temperature",
      words: "temperature",
    }],
    ["logprobs", "gpt-5.5 gpt-6.2-sol", { logprobs: true }, {
      param: "logprobs",
      words: "is not supported with this model",
    }],
    ["sampling without reasoning", "gpt-5.4 gpt-5.1", { temperature: 0.2 }, null],
    ["sampling without reasoning", "gpt-6-sol", { temperature: 0.2, reasoning_effort: "none" }, null],
    ["max_tokens", "gpt-5 o3 gpt-5.4 gpt-6.2-sol", { max_tokens: 50 }, {
      param: "max_tokens",
      words: "Use 'max_completion_tokens'",
    }],
    ["stop", "gpt-5 o3 gpt-5.5 gpt-6.2-sol", { stop: ["x"] }, {
      param: "stop",
      words: "is not supported with this model",
    }],
  ],
  deepseek: [
    ["a forced call", "deepseek-flash deepseek-v4-pro", FORCED, {
      words: "Thinking mode does not support this tool_choice",
    }],
    ["a forced call without thinking", "deepseek-v4-pro", { ...FORCED, thinking: { type: "disabled" } }, null],
    ["a tool turn without reasoning", "deepseek-flash deepseek-v4-pro", { ...WITH_TOOLS, messages: LOOP }, {
      words: "must be passed back to the API",
    }],
    ["a schema", "deepseek-v4-pro", { response_format: SCHEMA_FORMAT }, {
      words: "This response_format type is unavailable now",
    }],
  ],
  moonshot: [
    ["effort none", "kimi-k3 kimi-k3.1-pro", { reasoning_effort: "none" }, {
      param: "reasoning_effort",
      words: "none",
    }],
    ["a forced call", "kimi-k3", FORCED, { param: "tool_choice", words: "required" }],
    ["a temperature", "kimi-k3", { temperature: 0.2 }, {
      param: "temperature",
      words: "only 1 is allowed for this model",
    }],
  ],
  zai: [
    ["no thinking", "glm-5.3", { thinking: { type: "disabled" } }, { words: "please use low, high, or max" }],
    ["an effort", "glm-5.3", { reasoning_effort: "medium" }, { words: "please use low, high, or max" }],
    ["no thinking", "glm-4.7", { thinking: { type: "disabled" } }, null],
  ],
  groq: [
    ["an effort", "openai/gpt-oss-120b", { reasoning_effort: "none" }, {
      param: "reasoning_effort",
      words: "`low`, `medium`",
    }],
    ["an effort", "qwen/qwen3.8-27b", { reasoning_effort: "high" }, {
      param: "reasoning_effort",
      words: "`none`, `default`",
    }],
    ["logprobs", "openai/gpt-oss-120b", { logprobs: true }, { words: "property 'logprobs' is unsupported" }],
    ["a name", "openai/gpt-oss-120b", { messages: [{ role: "user", name: "u", content: "hi" }] }, {
      words: "property 'name' is unsupported",
    }],
  ],
  mistral: [
    ["an unknown field", "mistral-large-4", { max_completion_tokens: 5 }, {
      status: 422,
      words: "Extra inputs are not permitted",
    }],
    ["an id", "mistral-large-4", { ...WITH_TOOLS, messages: LOOP }, { words: "with a length of 9" }],
    ["an empty turn", "mistral-large-4", { messages: [HI, { role: "assistant", content: "" }, HI] }, {
      words: "content or tool_calls",
    }],
  ],
  cohere: [
    ["an empty turn", "command-a-03-2025", { messages: [HI, { role: "assistant", content: "" }, HI] }, {
      words: "assistant message",
    }],
  ],
  xai: [
    ["effort none", "grok-4.5 grok-4.6 grok-4.7", { reasoning_effort: "none" }, {
      words: "does not support reasoning effort none",
    }],
    ["effort none", "grok-4.3", { reasoning_effort: "none" }, null],
    ["stop", "grok-4.7", { stop: ["x"] }, { words: "Argument not supported on this model: stop" }],
    ["a penalty", "grok-4.7", { presence_penalty: 1 }, { words: "presencePenalty" }],
  ],
};

for (const [vendor, rows] of Object.entries(CHAT)) {
  Deno.test(`the simulated ${vendor} answers chat completions as the vendor does`, () =>
    inSandbox(async ({ sandbox }) => {
      const address = `${baseOf(sandbox, vendor)}/chat/completions`;
      for (const [rule, models, fields, answer] of rows) {
        for (const model of models.split(" ")) {
          const body = { model, messages: [HI], ...fields };
          await check(address, { authorization: "Bearer k" }, body, `${rule} at ${model}`, answer);
        }
      }
    }));
}

function baseOf({ baseUrls }: Sandbox, vendor: string): string {
  const found = Object.entries(baseUrls).find(([name]) => name === vendor);
  if (found === undefined) throw new Error(`The sandbox has no ${vendor}`);
  return found[1];
}

async function check(
  address: string,
  headers: Record<string, string>,
  body: unknown,
  what: string,
  answer: Answer | null,
): Promise<void> {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assertEquals(response.status, answer === null ? 200 : answer.status ?? 400, `${what}: ${text}`);
  if (answer === null) return;
  assertStringIncludes(text, JSON.stringify(answer.words).slice(1, -1), what);
  if (answer.param !== undefined) assertEquals(JSON.parse(text).error.param, answer.param, what);
}

const BUDGET = { thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 };
const TOOL = { name: "f", input_schema: { type: "object", properties: {} } };
const ANY = { tools: [TOOL], tool_choice: { type: "any" } };
const OFF = (type: string, effort?: string) => ({ thinking: { type }, ...(effort && { output_config: { effort } }) });

/** Sources: Anthropic, migration guides and "Versions"; reports with the vendor's answers. */
const MESSAGES: readonly Row[] = [
  [
    "sampling",
    "claude-fable-5 claude-mythos-5 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-sonnet-5-5 claude-haiku-5-5",
    { temperature: 1 },
    {
      words: "`temperature` is deprecated for this model.",
    },
  ],
  ["both settings", "claude-opus-4-6 claude-sonnet-4-5 claude-haiku-4-5", { temperature: 1, top_p: 0.5 }, {
    words: "cannot both be specified",
  }],
  ["sampling", "claude-sonnet-4-6 claude-haiku-4-5", { temperature: 0.3 }, null],
  [
    "a budget",
    "claude-fable-5-2 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-sonnet-5 claude-haiku-5-5",
    BUDGET,
    {
      words: 'Use "thinking.type.adaptive" and "output_config.effort"',
    },
  ],
  ["a budget", "claude-opus-4-6 claude-sonnet-4-6 claude-haiku-4-5", BUDGET, null],
  ["no thinking", "claude-fable-5 claude-fable-5-2 claude-mythos-5 claude-opus-5-5", OFF("disabled"), {
    words: '"thinking.type.disabled" is not supported for this model.',
  }],
  ["no thinking", "claude-fable-5 claude-opus-5-5", OFF("between_tools"), { words: "thinking.type.between_tools" }],
  ["no thinking", "claude-sonnet-5-5", OFF("disabled"), { words: "thinking.type.between_tools" }],
  ["no thinking", "claude-sonnet-5-5", OFF("between_tools"), null],
  ["no thinking", "claude-opus-5 claude-sonnet-5 claude-haiku-5-5 claude-opus-4-8", OFF("disabled"), null],
  ["no thinking at the highest effort", "claude-opus-5 claude-haiku-5-5", OFF("disabled", "max"), {
    words: "effort level 'max'",
  }],
  ["no thinking at the highest effort", "claude-sonnet-5-5", OFF("between_tools", "xhigh"), {
    words: "effort level 'xhigh'",
  }],
  ["thinking without a type", "claude-sonnet-5-5 claude-haiku-5-5", { thinking: {} }, { words: "thinking" }],
  ["a forced call", "claude-fable-5-1 claude-fable-5-2 claude-opus-5-5 claude-sonnet-5-5", ANY, {
    words: 'tool_choice: type "tool" and "any" are not supported for this model.',
  }],
  ["a forced call", "claude-haiku-5-5 claude-opus-5 claude-sonnet-5 claude-haiku-4-5", ANY, null],
  ["a forced call with a budget", "claude-haiku-4-5", { ...ANY, ...BUDGET }, { words: "Thinking may not be enabled" }],
  ["an effort", "claude-opus-4-6 claude-sonnet-4-6", { output_config: { effort: "xhigh" } }, {
    words: "effort level 'xhigh'",
  }],
  ["an effort", "claude-opus-4-6 claude-opus-4-8", { output_config: { effort: "max" } }, null],
  ["a last turn", "claude-opus-4-6 claude-sonnet-5-5 claude-fable-5", {
    messages: [HI, { role: "assistant", content: "x" }],
  }, {
    words: "does not support assistant message prefill",
  }],
  ["a last turn", "claude-haiku-4-5", { messages: [HI, { role: "assistant", content: "x" }] }, null],
  ["a system turn", "claude-opus-4-7 claude-sonnet-4-6 claude-haiku-4-5", {
    messages: [HI, { role: "system", content: "x" }, HI],
  }, {
    words: "role 'system' is not supported on this model",
  }],
  ["a system turn", "claude-fable-5 claude-opus-4-8 claude-opus-5 claude-sonnet-5-5 claude-haiku-5-5 claude-sonnet-5", {
    messages: [HI, { role: "system", content: "x" }, HI],
  }, null],
  ["five marks", "claude-opus-5", {
    system: [1, 2, 3, 4, 5].map((at) => ({ type: "text", text: `${at}`, cache_control: { type: "ephemeral" } })),
  }, { words: "A maximum of 4 blocks with cache_control" }],
  ["an empty text", "claude-opus-5", { messages: [{ role: "user", content: [{ type: "text", text: "" }] }] }, {
    words: "non-empty",
  }],
];

Deno.test("the simulated Anthropic answers messages as the vendor does", () =>
  inSandbox(async ({ sandbox }) => {
    const address = `${sandbox.baseUrls.anthropic}/v1/messages`;
    const headers = { "x-api-key": "k", "anthropic-version": "2023-06-01" };
    for (const [rule, models, fields, answer] of MESSAGES) {
      for (const model of models.split(" ")) {
        await check(
          address,
          headers,
          { model, max_tokens: 100, messages: [HI], ...fields },
          `${rule} at ${model}`,
          answer,
        );
      }
    }
  }));

const THINKING = (config: Record<string, unknown>) => ({ generationConfig: { thinkingConfig: config } });
const DECLARED = { functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] };

/** Sources: Gemini API reference; reports with the vendor's answers. */
const CONTENT: readonly Row[] = [
  [
    "the lowest level",
    "gemini-3.1-pro-preview gemini-3.7-flash gemini-3.8-flash gemini-4-argon gemini-4-carbon",
    THINKING({ thinkingLevel: "MINIMAL" }),
    {
      words: "Thinking level MINIMAL is not supported for this model.",
    },
  ],
  ["the lowest level", "gemini-3.6-flash gemini-3.5-flash-lite", THINKING({ thinkingLevel: "MINIMAL" }), null],
  ["the highest level", "gemini-3.8-flash gemini-4-argon", THINKING({ thinkingLevel: "XHIGH" }), {
    words: "Thinking level XHIGH",
  }],
  ["the highest level", "gemini-4-neon gemini-4-hydrogen", THINKING({ thinkingLevel: "XHIGH" }), null],
  ["no budget", "gemini-2.5-pro gemini-3.1-pro-preview", THINKING({ thinkingBudget: 0 }), {
    words: "Budget 0 is invalid.",
  }],
  ["no budget", "gemini-2.5-flash", THINKING({ thinkingBudget: 0 }), null],
  ["both", "gemini-3.8-flash", THINKING({ thinkingBudget: 500, thinkingLevel: "LOW" }), {
    words: "only one of thinking budget",
  }],
  ["a penalty", "gemini-2.5-flash gemini-3.8-flash gemini-4-argon", { generationConfig: { frequencyPenalty: 0.5 } }, {
    words: "Penalty is not enabled",
  }],
  ["sampling", "gemini-3.8-flash gemini-4-argon", { generationConfig: { temperature: 0.5, topP: 0.5 } }, null],
  ["several candidates", "gemini-3.8-flash gemini-4-argon", { generationConfig: { candidateCount: 2 } }, {
    words: "Multiple candidates",
  }],
  ["functions beside a schema", "gemini-2.5-flash", {
    tools: [DECLARED],
    generationConfig: { responseMimeType: "application/json" },
  }, {
    words: "Function calling with a response mime type",
  }],
  ["a configuration of calls", "gemini-3.8-flash", { toolConfig: { functionCallingConfig: { mode: "ANY" } } }, {
    words: "Function calling config is set without function_declarations",
  }],
  ["one name twice", "gemini-3.8-flash", { tools: [DECLARED, DECLARED] }, { words: "Duplicate function declaration" }],
  ["functions beside a search", "gemini-2.5-flash", { tools: [DECLARED, { googleSearch: {} }] }, {
    words: "unsupported",
  }],
];

Deno.test("the simulated Google answers generateContent as the vendor does", () =>
  inSandbox(async ({ sandbox }) => {
    for (const [rule, models, fields, answer] of CONTENT) {
      for (const model of models.split(" ")) {
        const address = `${sandbox.baseUrls.google}/v1beta/models/${model}:generateContent`;
        const body = { contents: [{ role: "user", parts: [{ text: "hi" }] }], ...fields };
        await check(address, { "x-goog-api-key": "k" }, body, `${rule} at ${model}`, answer);
      }
    }
    const caches = `${sandbox.baseUrls.google}/v1beta/cachedContents`;
    const cached = { model: "models/gemini-4-argon", contents: [{ role: "user", parts: [{ text: "x" }] }] };
    await check(caches, { "x-goog-api-key": "k" }, cached, "a cache of Gemini 4", { words: "Explicit caching" });
  }));
