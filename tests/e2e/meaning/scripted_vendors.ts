import { PRICING, startTestGateway, type TestGateway } from "../../support/gateway.ts";

// deno-lint-ignore no-explicit-any -- a test looks wherever it likes
export type Json = any;

/** A reply of a vendor: one JSON text, or the data of the events of a stream. */
export type Script = string | { readonly events: readonly (Json | string)[]; readonly mediaType?: string };

/** A request as the vendor received it. */
export interface Sent {
  readonly path: string;
  readonly text: string;
  readonly json: Json;
}

/** What a caller received. */
export interface Got {
  readonly status: number;
  readonly text: string;
  readonly json: Json;
  /** The events of a stream. */
  readonly events: readonly Json[];
  readonly dropped: string;
  readonly requestId: string | null;
  readonly sent: readonly Sent[];
}

/** The vendors by the format that they speak, and the model of each. */
export const MODELS = {
  chat: "compat/m",
  responses: "resp/gpt-5",
  messages: "anth/claude-opus-4-8",
  content: "goo/gemini-3-pro",
  converse: "bed/amazon.nova-2-lite-v1",
} as const;

/** The name of a vendor's format. */
export type VendorFormat = keyof typeof MODELS;
/** The name of a caller's format. */
export type CallerFormat = Exclude<VendorFormat, "converse">;

/** The formats of callers. */
export const CALLERS: readonly CallerFormat[] = ["chat", "responses", "messages", "content"];

/** A gateway in front of one vendor for each format, whose replies a test writes. */
export interface ScriptedVendors {
  readonly gateway: TestGateway;
  /** Sends a question of a caller's format, and answers it with a script. */
  ask(caller: CallerFormat, model: string, script: Script, body?: Json): Promise<Got>;
  stop(): Promise<void>;
}

const VENDORS = [
  { name: "compat", kind: "openai", speaks: "chat", quirks: [] },
  { name: "plain", kind: "openai", speaks: "chat", quirks: ["no_text_parts", "no_refusal_field"] },
  { name: "resp", kind: "openai", speaks: "responses", quirks: [] },
  { name: "anth", kind: "anthropic" },
  { name: "goo", kind: "google" },
  { name: "bed", kind: "bedrock", region: "us-east-1" },
];

/** Starts the vendors and their gateway. @param isolates The number of threads that accept connections. */
export async function startScriptedVendors(isolates = 1): Promise<ScriptedVendors> {
  const sent: Sent[] = [];
  let script: Script = "";
  const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const text = await request.text();
    sent.push({ path: new URL(request.url).pathname, text, json: JSON.parse(text) });
    return responseOf(script);
  });
  const address = `http://127.0.0.1:${vendor.addr.port}`;
  const models = [...Object.values(MODELS), "plain/m", "resp/gpt-5.1"];
  const gateway = await startTestGateway({
    isolates,
    config: {
      providers: Object.fromEntries(
        VENDORS.map(({ name, kind, ...more }) => [name, {
          kind,
          ...more,
          base_url: `${address}/${name}${kind === "openai" ? "/v1" : ""}`,
          api_key: `key-of-${name}`,
        }]),
      ),
      models: models.map((id) => {
        const [provider, model] = id.split("/");
        return { id, pricing: PRICING, context_length: 400_000, serves: [{ provider, model }] };
      }),
    },
  });
  return {
    gateway,
    async ask(caller, model, reply, body = {}) {
      sent.length = 0;
      script = reply;
      const { path, request } = requestOf(caller, model, body);
      const response = await fetch(gateway.address + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.key}`,
          "content-type": "application/json",
          "msg-version": "2023-06-01",
        },
        body: typeof request === "string" ? request : JSON.stringify(request),
      });
      const text = await response.text();
      return {
        status: response.status,
        text,
        json: text.startsWith("{") ? JSON.parse(text) : null,
        events: eventsIn(text),
        dropped: response.headers.get("x-service-dropped") ?? "",
        requestId: response.headers.get("x-service-request-id"),
        sent: [...sent],
      };
    },
    async stop() {
      await gateway.stop();
      await vendor.shutdown();
    },
  };
}

function responseOf(script: Script): Response {
  if (typeof script === "string") return new Response(script, { headers: { "content-type": "application/json" } });
  const frames = script.events.map((event) => {
    if (typeof event === "string") return `data: ${event}\n\n`;
    return `${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
  });
  return new Response(frames.join(""), { headers: { "content-type": script.mediaType ?? "text/event-stream" } });
}

/** A request of a caller's format; a body of text is sent as it is. */
function requestOf(caller: CallerFormat, model: string, body: Json): { path: string; request: Json } {
  const isText = typeof body === "string";
  switch (caller) {
    case "chat":
      return {
        path: "/v1/chat/completions",
        request: isText ? body : { model, messages: [{ role: "user", content: "hi" }], ...body },
      };
    case "responses":
      return { path: "/v1/responses", request: isText ? body : { model, input: "hi", ...body } };
    case "messages":
      return {
        path: "/msgcompat/v1/messages",
        request: isText ? body : { model, max_tokens: 4000, messages: [{ role: "user", content: "hi" }], ...body },
      };
    case "content": {
      const { stream, ...rest } = isText ? { stream: false } : body;
      const call = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return {
        path: `/gencompat/v1beta/models/${model}:${call}`,
        request: isText ? body : { contents: [{ role: "user", parts: [{ text: "hi" }] }], ...rest },
      };
    }
  }
}

function eventsIn(text: string): Json[] {
  if (text.startsWith("{")) return [];
  return text.split("\n").filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice("data: ".length)));
}

/** A whole reply of a vendor of the chat format. */
export function chatReply(choice: Json, more: Json = {}): string {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const reply = { id: "c1", object: "chat.completion", created: 1, model: "m", usage, ...more };
  return JSON.stringify({ ...reply, choices: [{ index: 0, ...choice }] });
}

/** A chunk of a vendor of the chat format. */
export function chatChunk(delta: Json, finish: string | null = null): Json {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices };
}

/** A whole reply, or one chunk, of a vendor of the content format. */
export function contentReply(parts: readonly Json[], finishReason: string | null, more: Json = {}): Json {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  const candidate = { content: parts.length > 0 ? { role: "model", parts } : {}, index: 0, ...more };
  return {
    candidates: [{ ...candidate, ...(finishReason === null ? {} : { finishReason }) }],
    usageMetadata,
    modelVersion: "m",
    responseId: "r1",
  };
}

/** A whole reply of a vendor of the messages format. */
export function messagesReply(content: readonly Json[], stop: string | null = "end_turn"): string {
  const head = { id: "msg_1", type: "message", role: "assistant", model: "m", content };
  const usage = { input_tokens: 10, output_tokens: 5 };
  return JSON.stringify({ ...head, stop_reason: stop, stop_sequence: null, usage });
}

/** A whole reply of a vendor of the responses format. */
export function responsesReply(output: readonly Json[], more: Json = {}): Json {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const head = { id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m" };
  return { ...head, output, usage, error: null, incomplete_details: null, ...more };
}
