import OpenAI, { APIError } from "openai";
import { itemAt } from "../../support/items.ts";
import {
  type Answer,
  type CallOptions,
  type Client,
  type ClientConversation,
  schemaOf,
  type TurnInput,
} from "./client.ts";

type Message = OpenAI.ChatCompletionMessageParam;

/** `openai`, `chat.completions`. */
export const openaiChat: Client = {
  name: "openai chat.completions",
  stops: { end: "stop", tools: "tool_calls" },
  offersSearch: true,
  async runTools({ address, key, model }, { text, tool, run }) {
    const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
    const { name, description } = tool;
    const runner = client.chat.completions.runTools({
      model,
      messages: [{ role: "user", content: text }],
      tools: [{
        type: "function",
        function: { name, description, parameters: schemaOf(tool), parse: JSON.parse, function: run },
      }],
    });
    return await runner.finalContent() ?? "";
  },
  runThread: null,
  open({ address, key, model }): ClientConversation {
    const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
    const messages: Message[] = [];
    return {
      async send(said, asking = {}) {
        messages.push(...messagesOf(said));
        const body = { model: asking.model ?? model, messages: [...messages], ...settingsOf(asking) };
        const { completion, thoughts } = asking.stream
          ? await streamed(client, body, asking)
          : wholeOf(await client.chat.completions.create(body, { signal: asking.signal }));
        messages.push(itemAt(completion.choices, 0).message);
        return answerOf(completion, thoughts);
      },
    };
  },
  errorOf(thrown) {
    const isOwn = thrown instanceof APIError;
    return { isOwn, status: isOwn ? thrown.status ?? null : null, message: (thrown as Error).message };
  },
};

function messagesOf(said: TurnInput): Message[] {
  if (said.kind === "tools") {
    return said.answers.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text }));
  }
  if (said.png === undefined) return [{ role: "user", content: said.text }];
  const url = `data:image/png;base64,${said.png}`;
  return [{ role: "user", content: [{ type: "text", text: said.text }, { type: "image_url", image_url: { url } }] }];
}

function settingsOf({ tools, schema, thinks, maxTokens: most, searches }: CallOptions) {
  return {
    ...(tools && {
      tools: tools.map((tool) => ({
        type: "function" as const,
        function: { name: tool.name, description: tool.description, parameters: schemaOf(tool), strict: true },
      })),
    }),
    ...(most !== undefined && { max_completion_tokens: most }),
    ...(searches && { web_search_options: {} }),
    ...(schema && {
      response_format: { type: "json_schema" as const, json_schema: { name: "answer", strict: true, schema } },
    }),
    ...(thinks && { reasoning_effort: "low" as const }),
  };
}

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;

async function streamed(client: OpenAI, body: Body, { onText, signal }: CallOptions) {
  const stream = client.chat.completions.stream({ ...body, stream: true, stream_options: { include_usage: true } }, {
    signal,
  });
  let thoughts = "";
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta;
    if (delta?.content) onText?.(delta.content);
    thoughts += reasoningOf(delta);
  }
  return { completion: await stream.finalChatCompletion() as OpenAI.ChatCompletion, thoughts };
}

function wholeOf(completion: OpenAI.ChatCompletion) {
  return { completion, thoughts: reasoningOf(itemAt(completion.choices, 0).message) };
}

/** A field that the client returns without a type of its own; most vendors of this format return thoughts there. */
function reasoningOf(message: unknown): string {
  return (message as { reasoning_content?: string } | undefined)?.reasoning_content ?? "";
}

function answerOf({ choices, usage }: OpenAI.ChatCompletion, thoughts: string): Answer {
  const { message, finish_reason } = itemAt(choices, 0);
  const cacheRead = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage?.prompt_tokens_details?.cache_write_tokens ?? 0;
  return {
    text: message.content ?? "",
    thoughts,
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === "function"
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
        : []
    ),
    cited: (message.annotations ?? []).map(({ url_citation }) => url_citation.url),
    stop: finish_reason,
    tokens: {
      fresh: (usage?.prompt_tokens ?? 0) - cacheRead - cacheWrite,
      cacheRead,
      cacheWrite,
      output: usage?.completion_tokens ?? 0,
    },
  };
}
