import { assertEquals } from "@std/assert";

/** One protocol of the gateway with handwritten requests: for what no client library would send or return. */
export interface CallerProtocol {
  readonly name: "chat" | "responses" | "messages" | "content";
  /** The model whose vendor uses the same format. */
  readonly ownModel: string;
  path(model: string, stream?: boolean): string;
  headers(key: string): Record<string, string>;
  /** A valid body with this text. */
  body(model: string, text: string, stream?: boolean): Record<string, unknown>;
  /** The text of a whole reply. */
  textIn(json: Json): string;
  /** The type of the error in a body. */
  errorType(json: Json): string;
}

// deno-lint-ignore no-explicit-any -- a test looks wherever it likes
export type Json = any;

const JSON_TYPE = { "content-type": "application/json" };

export const CHAT: CallerProtocol = {
  name: "chat",
  ownModel: "sandbox/chat-1",
  path: () => "/v1/chat/completions",
  headers: (key) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` }),
  body: (model, text, stream) => ({ model, ...(stream && { stream }), messages: [{ role: "user", content: text }] }),
  textIn: (json) => json.choices[0].message.content,
  errorType: (json) => json.error.type,
};

export const RESPONSES: CallerProtocol = {
  name: "responses",
  ownModel: "sandbox/chat-1",
  path: () => "/v1/responses",
  headers: CHAT.headers,
  body: (model, text, stream) => ({ model, ...(stream && { stream }), input: text }),
  textIn: (json) => json.output.find(({ type }: Json) => type === "message").content[0].text,
  errorType: CHAT.errorType,
};

export const MESSAGES: CallerProtocol = {
  name: "messages",
  ownModel: "sandbox/messages-1",
  path: () => "/msgcompat/v1/messages",
  headers: (key) => ({ ...JSON_TYPE, "x-api-key": key, "msg-version": "2023-06-01" }),
  body: (model, text, stream) => ({
    model,
    max_tokens: 2000,
    ...(stream && { stream }),
    messages: [{ role: "user", content: text }],
  }),
  textIn: (json) => json.content.find(({ type }: Json) => type === "text").text,
  errorType: (json) => json.error.type,
};

export const CONTENT: CallerProtocol = {
  name: "content",
  ownModel: "sandbox/content-1",
  path: (model, stream) =>
    `/gencompat/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  headers: (key) => ({ ...JSON_TYPE, "x-content-api-key": key }),
  body: (_model, text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
  textIn: (json) => json.candidates[0].content.parts.find(({ text }: Json) => text).text,
  errorType: (json) => json.error.status,
};

export const CALLER_PROTOCOLS: readonly CallerProtocol[] = [CHAT, RESPONSES, MESSAGES, CONTENT];

/** A response, read. */
export interface ProtocolResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Null where the text is no JSON. */
  readonly json: Json;
}

/** Options of a request. */
export interface ProtocolRequest {
  readonly model?: string;
  readonly text?: string;
  readonly stream?: boolean;
  /** Replaces the valid body; text is sent unchanged. */
  readonly body?: unknown;
  /** Added to the valid body. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the default path. */
  readonly path?: string;
}

/** Sends a request of this protocol to a gateway. */
export async function sendAs(
  face: CallerProtocol,
  { address, key }: { readonly address: string; readonly key: string },
  question: ProtocolRequest = {},
): Promise<ProtocolResponse> {
  const { model = face.ownModel, text = "hello there", stream = false } = question;
  const body = question.body ?? { ...face.body(model, text, stream), ...question.extra };
  const response = await fetch(address + (question.path ?? face.path(model, stream)), {
    method: "POST",
    headers: { ...face.headers(key), ...question.headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const said = await response.text();
  return { status: response.status, headers: response.headers, text: said, json: parsed(said) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The type by which each format names an error of docs/api/errors.md#codes. */
export const INVALID_REQUEST_TYPES: Readonly<Record<CallerProtocol["name"], string>> = {
  chat: "invalid_request_error",
  responses: "invalid_request_error",
  messages: "invalid_request_error",
  content: "INVALID_ARGUMENT",
};

/** Checks that an error has exactly the fields of its format. */
export function assertErrorShape(face: CallerProtocol, { json, headers }: ProtocolResponse): void {
  assertEquals(headers.get("content-type"), "application/json");
  switch (face.name) {
    case "messages":
      assertEquals(Object.keys(json).toSorted(), ["error", "request_id", "type"]);
      assertEquals([json.type, typeof json.error.type, typeof json.error.message], ["error", "string", "string"]);
      assertEquals(Object.keys(json.error).toSorted(), ["doc_url", "message", "type"]);
      return;
    case "content":
      assertEquals([typeof json.error.code, typeof json.error.message], ["number", "string"]);
      return;
    default:
      assertEquals(Object.keys(json.error).toSorted(), ["code", "doc_url", "message", "param", "type"]);
  }
}
