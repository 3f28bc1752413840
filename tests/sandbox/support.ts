import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../src/sandbox/mod.ts";

/** A sandbox and the vendors' own clients for it. None of them retries. */
export interface SandboxUnderTest {
  readonly sandbox: Sandbox;
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly google: GoogleGenAI;
}

/** Runs a test against a sandbox of its own. */
export async function inSandbox(
  test: (world: SandboxUnderTest) => Promise<void>,
  options: Partial<SandboxOptions> = {},
): Promise<void> {
  const sandbox = await startSandbox({ port: 0, ...options });
  const { openai, anthropic, google } = sandbox.baseUrls;
  try {
    await test({
      sandbox,
      openai: new OpenAI({ baseURL: openai, apiKey: "sk-sandbox", maxRetries: 0 }),
      anthropic: new Anthropic({ baseURL: anthropic, apiKey: "sk-sandbox", maxRetries: 0 }),
      google: new GoogleGenAI({ apiKey: "sandbox", httpOptions: { baseUrl: google } }),
    });
  } finally {
    await sandbox.stop();
  }
}

/** The path, the key header and the minimal request of each format. */
export const ENDPOINTS = {
  chat: {
    path: (sandbox: Sandbox) => `${sandbox.baseUrls.openai}/chat/completions`,
    headers: { authorization: "Bearer sandbox" },
    body: (text: string) => ({ model: "m", messages: [{ role: "user", content: text }] }),
  },
  responses: {
    path: (sandbox: Sandbox) => `${sandbox.baseUrls.openai}/responses`,
    headers: { authorization: "Bearer sandbox" },
    body: (text: string) => ({ model: "m", input: text }),
  },
  messages: {
    path: (sandbox: Sandbox) => `${sandbox.baseUrls.anthropic}/v1/messages`,
    headers: { "x-api-key": "sandbox", "anthropic-version": "2023-06-01" },
    body: (text: string) => ({ model: "m", max_tokens: 1000, messages: [{ role: "user", content: text }] }),
  },
  content: {
    path: (sandbox: Sandbox) => `${sandbox.baseUrls.google}/v1beta/models/m:generateContent`,
    headers: { "x-goog-api-key": "sandbox" },
    body: (text: string) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
  },
} as const;

/** The name of a wire format. */
export type FormName = keyof typeof ENDPOINTS;

/** Every wire format. */
export const FORMS = Object.keys(ENDPOINTS) as FormName[];

/** Sends a raw body to a format's endpoint. */
export function post(
  sandbox: Sandbox,
  form: FormName,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const { path, headers: own } = ENDPOINTS[form];
  return fetch(path(sandbox), {
    method: "POST",
    headers: { "content-type": "application/json", ...own, ...headers },
    body: JSON.stringify(body),
  });
}

/** Requests a streamed reply to a prompt. */
export function postStreamed(sandbox: Sandbox, form: FormName, text: string, signal?: AbortSignal): Promise<Response> {
  const { path, headers, body } = ENDPOINTS[form];
  const isContent = form === "content";
  const url = isContent ? path(sandbox).replace(/:\w+$/, ":streamGenerateContent?alt=sse") : path(sandbox);
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(isContent ? body(text) : { ...body(text), stream: true }),
    signal: signal ?? null,
  });
}

/** A picture of one pixel: PNG, 70 bytes. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
