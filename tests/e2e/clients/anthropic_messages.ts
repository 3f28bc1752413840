import Anthropic, { APIError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import {
  type Answer,
  type CallOptions,
  type Client,
  type ClientConversation,
  schemaOf,
  ThreadRefusal,
  type Tokens,
  type TurnInput,
} from "./client.ts";

type Body = Anthropic.MessageCreateParamsNonStreaming;

/** `@anthropic-ai/sdk`, `messages`. */
export const anthropicMessages: Client = {
  name: "@anthropic-ai/sdk messages",
  stops: { end: "end_turn", tools: "tool_use" },
  offersSearch: true,
  async runTools({ address, key, model }, { text, tool, run }) {
    const client = new Anthropic({ baseURL: `${address}/msgcompat`, apiKey: key, maxRetries: 0 });
    const { name, description } = tool;
    const message = await client.beta.messages.toolRunner({
      model,
      max_tokens: 500,
      messages: [{ role: "user", content: text }],
      tools: [betaTool({ name, description, inputSchema: schemaOf(tool), run })],
    }).runUntilDone();
    return message.content.map((block) => block.type === "text" ? block.text : "").join("");
  },
  async runThread({ address, key, model }) {
    const client = new Anthropic({ baseURL: `${address}/msgcompat`, apiKey: key, maxRetries: 0 });
    const thread = client.beta.messages.thread({ model, max_tokens: 100 });
    try {
      await thread.send({ role: "user", content: "one two three" });
    } catch (thrown) {
      if ((thrown as Error).constructor.name !== "ThreadUnsupportedRequestError") throw thrown;
      throw new ThreadRefusal((thrown as Error).message);
    }
    const { usage } = await thread.send({ role: "user", content: "four" });
    return tokensOf(usage);
  },
  open({ address, key, model }): ClientConversation {
    const client = new Anthropic({ baseURL: `${address}/msgcompat`, apiKey: key, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [];
    return {
      async send(said, asking = {}) {
        messages.push({ role: "user", content: contentOf(said) });
        const settings = settingsOf(asking);
        const body: Body = { model: asking.model ?? model, max_tokens: 2048, messages: [...messages], ...settings };
        const message = asking.stream
          ? await streamed(client, body, asking)
          : await client.messages.create(body, { signal: asking.signal });
        messages.push({ role: "assistant", content: message.content as Anthropic.ContentBlockParam[] });
        return answerOf(message);
      },
    };
  },
  errorOf(thrown) {
    const isOwn = thrown instanceof APIError;
    return { isOwn, status: isOwn ? thrown.status ?? null : null, message: (thrown as Error).message };
  },
};

function contentOf(said: TurnInput): Anthropic.ContentBlockParam[] {
  if (said.kind === "tools") {
    return said.answers.map(({ call, text }) => ({ type: "tool_result", tool_use_id: call.id, content: text }));
  }
  const text = { type: "text" as const, text: said.text };
  if (said.png === undefined) return [text];
  return [{ type: "image", source: { type: "base64", media_type: "image/png", data: said.png } }, text];
}

function settingsOf({ tools, schema, thinks, maxTokens: most, searches }: CallOptions) {
  return {
    ...(tools && {
      tools: tools.map((tool) => ({
        name: tool.name,
        description: tool.description,
        input_schema: schemaOf(tool),
      })),
    }),
    ...(most !== undefined && { max_tokens: most }),
    ...(searches && { tools: [{ type: "web_search_20250305" as const, name: "web_search" as const }] }),
    ...(schema && { output_config: { format: { type: "json_schema" as const, schema } } }),
    ...(thinks && { thinking: { type: "enabled" as const, budget_tokens: 1024 } }),
  };
}

async function streamed(client: Anthropic, body: Body, { onText, signal }: CallOptions): Promise<Anthropic.Message> {
  const stream = client.messages.stream(body, { signal });
  if (onText) stream.on("text", onText);
  return await stream.finalMessage();
}

function answerOf({ content, stop_reason, usage }: Anthropic.Message): Answer {
  return {
    text: content.map((block) => block.type === "text" ? block.text : "").join(""),
    thoughts: content.map((block) => block.type === "thinking" ? block.thinking : "").join(""),
    calls: content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, input: block.input }] : []
    ),
    cited: content.flatMap((block) => block.type === "text" ? block.citations ?? [] : [])
      .flatMap((citation) => citation.type === "web_search_result_location" ? [citation.url] : []),
    stop: stop_reason ?? "",
    tokens: tokensOf(usage),
  };
}

type Counted = Pick<
  Anthropic.Usage,
  "input_tokens" | "output_tokens" | "cache_read_input_tokens" | "cache_creation_input_tokens"
>;

function tokensOf(usage: Counted): Tokens {
  return {
    fresh: usage.input_tokens,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
    output: usage.output_tokens,
  };
}
