import OpenAI, { APIError } from "openai";
import {
  type Answer,
  type CallOptions,
  type Client,
  type ClientConversation,
  schemaOf,
  StreamFailureEvent,
  type TurnInput,
} from "./client.ts";

type Item = OpenAI.Responses.ResponseInputItem;
type Response = OpenAI.Responses.Response;

/** `openai`, `responses`, without storage: the history is sent with each request. */
export const openaiResponses: Client = {
  name: "openai responses",
  stops: { end: "completed", tools: "completed" },
  offersSearch: true,
  runTools: null,
  runThread: null,
  open({ address, key, model }): ClientConversation {
    const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
    const input: Item[] = [];
    return {
      async send(said, asking = {}) {
        input.push(...itemsOf(said));
        const body = { model: asking.model ?? model, input: [...input], ...STORELESS, ...settingsOf(asking) };
        const response = asking.stream
          ? await streamed(client, body, asking)
          : await client.responses.create(body, { signal: asking.signal });
        input.push(...response.output as Item[]);
        return answerOf(response);
      },
    };
  },
  errorOf(thrown) {
    const isOwn = thrown instanceof APIError || thrown instanceof StreamFailureEvent;
    return {
      isOwn,
      status: thrown instanceof APIError ? thrown.status ?? null : null,
      message: (thrown as Error).message,
    };
  },
};

/** Without storage, reasoning goes back only if a reply had it encrypted. */
const STORELESS = { store: false, include: ["reasoning.encrypted_content" as const] };

function itemsOf(said: TurnInput): Item[] {
  if (said.kind === "tools") {
    return said.answers.map(({ call, text }) => ({ type: "function_call_output", call_id: call.id, output: text }));
  }
  if (said.png === undefined) return [{ role: "user", content: said.text }];
  const image_url = `data:image/png;base64,${said.png}`;
  return [{
    role: "user",
    content: [{ type: "input_text", text: said.text }, { type: "input_image", image_url, detail: "auto" }],
  }];
}

function settingsOf({ tools, schema, thinks, maxTokens: most, searches }: CallOptions) {
  return {
    ...(tools && {
      tools: tools.map((tool) => ({
        type: "function" as const,
        name: tool.name,
        description: tool.description,
        parameters: schemaOf(tool),
        strict: true,
      })),
    }),
    ...(most !== undefined && { max_output_tokens: most }),
    ...(searches && { tools: [{ type: "web_search" as const }] }),
    ...(schema && { text: { format: { type: "json_schema" as const, name: "answer", strict: true, schema } } }),
    ...(thinks && { reasoning: { effort: "low" as const, summary: "auto" as const } }),
  };
}

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;

async function streamed(client: OpenAI, body: Body, { onText, signal }: CallOptions): Promise<Response> {
  const stream = await client.responses.create({ ...body, stream: true }, { signal });
  for await (const event of stream) {
    switch (event.type) {
      case "response.output_text.delta":
        onText?.(event.delta);
        break;
      case "error":
        throw new StreamFailureEvent(event.message);
      case "response.failed":
        throw new StreamFailureEvent(event.response.error?.message ?? "");
      case "response.completed":
      case "response.incomplete":
        return event.response;
    }
  }
  if (signal?.aborted) throw signal.reason;
  throw new Error("The stream ended without its end event");
}

function answerOf({ output, status, usage }: Response): Answer {
  const cacheRead = usage?.input_tokens_details.cached_tokens ?? 0;
  const cacheWrite = usage?.input_tokens_details.cache_write_tokens ?? 0;
  const texts = output.flatMap((item) => item.type === "message" ? item.content : []);
  return {
    text: texts.map((part) => part.type === "output_text" ? part.text : "").join(""),
    thoughts: output.flatMap((item) => item.type === "reasoning" ? item.summary : []).map(({ text }) => text).join(""),
    calls: output.flatMap((item) =>
      item.type === "function_call" ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }] : []
    ),
    cited: texts.flatMap((part) => part.type === "output_text" ? part.annotations : [])
      .flatMap((annotation) => annotation.type === "url_citation" ? [annotation.url] : []),
    stop: status ?? "",
    tokens: {
      fresh: (usage?.input_tokens ?? 0) - cacheRead - cacheWrite,
      cacheRead,
      cacheWrite,
      output: usage?.output_tokens ?? 0,
    },
  };
}
