import { anthropic, createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI, google } from "@ai-sdk/google";
import { createOpenAI, openai } from "@ai-sdk/openai";
import {
  AISDKError,
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import {
  type Answer,
  type CallOptions,
  type Client,
  schemaOf,
  StreamFailureEvent,
  type Target,
  type TurnInput,
} from "./client.ts";

/** `ai` with `@ai-sdk/openai`, whose models use responses by default. */
export const toolkitResponses = toolkitClient(
  "ai, @ai-sdk/openai",
  ({ address, key, model }) => {
    return createOpenAI({ baseURL: `${address}/v1`, apiKey: key })(model);
  },
  { openai: { reasoningEffort: "low", reasoningSummary: "auto", forceReasoning: true, store: false } },
  {
    web_search: openai.tools.webSearch(),
  },
);

/** `ai` with `@ai-sdk/openai`, `.chat()`. */
export const toolkitChat = toolkitClient(
  "ai, @ai-sdk/openai .chat()",
  ({ address, key, model }) => {
    return createOpenAI({ baseURL: `${address}/v1`, apiKey: key }).chat(model);
  },
  { openai: { reasoningEffort: "low", forceReasoning: true } },
  null,
);

/** `ai` with `@ai-sdk/anthropic`. */
export const toolkitMessages = toolkitClient(
  "ai, @ai-sdk/anthropic",
  ({ address, key, model }) => {
    return createAnthropic({ baseURL: `${address}/msgcompat/v1`, apiKey: key })(model);
  },
  { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
  { web_search: anthropic.tools.webSearch_20250305() },
);

/** `ai` with `@ai-sdk/google`. */
export const toolkitContent = toolkitClient(
  "ai, @ai-sdk/google",
  ({ address, key, model }) => {
    return createGoogleGenerativeAI({ baseURL: `${address}/gencompat/v1beta`, apiKey: key })(model);
  },
  { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } },
  { google_search: google.tools.googleSearch({}) },
);

type ThinkingOptions = NonNullable<Parameters<typeof generateText>[0]["providerOptions"]>;

type Tools = NonNullable<Parameters<typeof generateText>[0]["tools"]>;

/** @param search The vendor's search in the client's types; null where the client does not support it. */
function toolkitClient(
  name: string,
  modelOf: (target: Target) => LanguageModel,
  thinking: ThinkingOptions,
  search: Tools | null,
): Client {
  return {
    name,
    stops: { end: "stop", tools: "tool-calls" },
    offersSearch: search !== null,
    async runTools(target, wish) {
      const { name, description } = wish.tool;
      const execute = (input: unknown) => Promise.resolve(wish.run(input));
      const offered = tool({ description, inputSchema: jsonSchema(schemaOf(wish.tool)), execute });
      const { text } = await generateText({
        model: modelOf(target),
        prompt: wish.text,
        tools: { [name]: offered },
        stopWhen: stepCountIs(5),
        maxRetries: 0,
      });
      return text;
    },
    runThread: null,
    open(target) {
      const messages: ModelMessage[] = [];
      return {
        async send(said, asking = {}) {
          messages.push(messageOf(said));
          const model = modelOf({ ...target, model: asking.model ?? target.model });
          const request = { model, messages: [...messages], maxRetries: 0, ...settingsOf(asking, thinking, search) };
          const shown = asking.stream ? await streamed(request, asking) : await generateText(request);
          const { messages: replied } = await shown.response;
          messages.push(...replied);
          return await answerOf(shown);
        },
      };
    },
    errorOf(thrown) {
      const isOwn = AISDKError.isInstance(thrown) || thrown instanceof StreamFailureEvent;
      const status = APICallError.isInstance(thrown) ? thrown.statusCode ?? null : null;
      return { isOwn, status, message: (thrown as Error).message };
    },
  };
}

function messageOf(said: TurnInput): ModelMessage {
  if (said.kind === "tools") {
    return {
      role: "tool",
      content: said.answers.map(({ call, text }) => ({
        type: "tool-result",
        toolCallId: call.id,
        toolName: call.name,
        output: { type: "text", value: text },
      })),
    };
  }
  if (said.png === undefined) return { role: "user", content: said.text };
  return {
    role: "user",
    content: [
      { type: "text", text: said.text },
      { type: "file", data: said.png, mediaType: "image/png" },
    ],
  };
}

function settingsOf(
  { tools = [], schema, thinks, signal, maxTokens: most, searches }: CallOptions,
  thinking: ThinkingOptions,
  search: Tools | null,
) {
  const offered = tools.map((each): [name: string, tool: Tools[string]] => [
    each.name,
    { description: each.description, inputSchema: jsonSchema(schemaOf(each)) },
  ]);
  return {
    ...(offered.length > 0 && { tools: Object.fromEntries(offered) }),
    ...(searches && search && { tools: search }),
    ...(most !== undefined && { maxOutputTokens: most }),
    ...(schema && { output: Output.object({ schema: jsonSchema(schema) }) }),
    ...(thinks && { providerOptions: thinking }),
    ...(signal && { abortSignal: signal }),
  };
}

async function streamed(request: Parameters<typeof streamText>[0], { onText }: CallOptions) {
  const result = streamText({ ...request, onError() {} });
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") onText?.(part.text);
    if (part.type === "abort") throw request.abortSignal?.reason;
    if (part.type === "error") {
      throw part.error instanceof Error ? part.error : new StreamFailureEvent(saidIn(part.error));
    }
  }
  return result;
}

/** A failure inside a stream has the vendor's own value. */
function saidIn(error: unknown): string {
  return typeof error === "string" ? error : JSON.stringify(error);
}

/** The parts of a result, as values or, for a stream, as promises. */
interface Shown {
  readonly text: PromiseLike<string> | string;
  readonly reasoningText: PromiseLike<string | undefined> | string | undefined;
  readonly toolCalls: PromiseLike<readonly ShownCall[]> | readonly ShownCall[];
  readonly sources: PromiseLike<readonly ShownSource[]> | readonly ShownSource[];
  readonly finishReason: PromiseLike<string> | string;
  readonly usage: PromiseLike<LanguageModelUsage> | LanguageModelUsage;
}

interface ShownSource {
  readonly type: string;
  readonly url?: string;
}

interface ShownCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

async function answerOf(shown: Shown): Promise<Answer> {
  const { inputTokenDetails: details, inputTokens, outputTokens } = await shown.usage;
  const cacheRead = details.cacheReadTokens ?? 0;
  const cacheWrite = details.cacheWriteTokens ?? 0;
  return {
    text: await shown.text,
    thoughts: await shown.reasoningText ?? "",
    calls: (await shown.toolCalls).map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      name: toolName,
      input,
    })),
    cited: (await shown.sources).map(({ url }) => url ?? ""),
    stop: await shown.finishReason,
    tokens: {
      fresh: (inputTokens ?? 0) - cacheRead - cacheWrite,
      cacheRead,
      cacheWrite,
      output: outputTokens ?? 0,
    },
  };
}
