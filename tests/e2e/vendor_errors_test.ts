import { assertEquals } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { valueAt } from "../support/items.ts";
import { answer, startScriptedUpstream } from "../support/scripted_upstream.ts";

/** The error of one vendor, in the order of `VENDORS`. */
interface Refusal {
  readonly openai: unknown;
  readonly anthropic: unknown;
  readonly google: unknown;
}

const openaiError = (message: string, code: string | null, type = "invalid_request_error") => ({
  error: { message, type, param: null, code },
});
const anthropicError = (message: string, type: string) => ({ type: "error", error: { type, message } });
const googleError = (code: number, message: string, status: string, ...details: unknown[]) => ({
  error: { code, message, status, ...details.length > 0 && { details } },
});

const REGION: Refusal = {
  openai: openaiError(
    "Country, region, or territory not supported",
    "unsupported_country_region_territory",
    "request_forbidden",
  ),
  anthropic: anthropicError("Request not allowed", "forbidden"),
  google: googleError(403, "Your location is not served", "PERMISSION_DENIED"),
};
const MODEL: Refusal = {
  openai: openaiError("Project `p` does not have access to model `m`", "model_not_found"),
  anthropic: anthropicError("Your account does not have access to this model", "permission_error"),
  google: googleError(403, "Your API key does not have permission to use this model", "PERMISSION_DENIED"),
};
const RATE: Refusal = {
  openai: openaiError("Slow down", "rate_limit_exceeded", "requests"),
  anthropic: anthropicError("Slow down", "rate_limit_error"),
  google: googleError(429, "Slow down", "RESOURCE_EXHAUSTED", { reason: "RATE_LIMIT_EXCEEDED" }),
};
const QUOTA: Refusal = { ...RATE, google: googleError(429, "Slow down", "RESOURCE_EXHAUSTED") };
const WRONG: Refusal = {
  openai: openaiError("Unknown value", "invalid_value"),
  anthropic: anthropicError("Unknown value", "invalid_request_error"),
  google: googleError(400, "Unknown value", "FAILED_PRECONDITION"),
};
const KEY: Refusal = {
  openai: openaiError("This API key has been deactivated", null),
  anthropic: anthropicError("This API key is disabled", "permission_error"),
  google: googleError(403, "Your API key was reported as leaked.", "PERMISSION_DENIED"),
};

/** The error's names for callers of each protocol: code and type, type, status. */
interface Told {
  readonly chat: readonly [code: string, type: string];
  readonly messages: string;
  readonly content: string;
}

const told = (code: string, type: string, messages: string, content: string): Told => ({
  chat: [code, type],
  messages,
  content,
});

const PERMISSION = told("permission_denied", "permission_error", "permission_error", "PERMISSION_DENIED");
const LIMIT = told("rate_limit_exceeded", "rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED");
const INVALID = told("invalid_request", "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT");
const AUTH = told("upstream_auth_failed", "upstream_auth_failed", "authentication_error", "UNAUTHENTICATED");

const CASES: readonly [what: string, status: number, refusal: Refusal, shown: number, words: Record<string, Told>][] = [
  ["a region", 403, REGION, 403, {
    openai: { ...PERMISSION, chat: ["unsupported_country_region_territory", "permission_error"] },
    anthropic: PERMISSION,
    google: PERMISSION,
  }],
  ["a model", 403, MODEL, 403, {
    openai: { ...PERMISSION, chat: ["model_not_found", "permission_error"] },
    anthropic: PERMISSION,
    google: PERMISSION,
  }],
  ["the gateway's key", 403, KEY, 401, { openai: AUTH, anthropic: AUTH, google: AUTH }],
  ["too many requests", 429, RATE, 429, { openai: LIMIT, anthropic: LIMIT, google: LIMIT }],
  ["a quota", 429, QUOTA, 429, { openai: LIMIT, anthropic: LIMIT, google: LIMIT }],
  ["a field", 400, WRONG, 400, {
    openai: { ...INVALID, chat: ["invalid_value", "invalid_request_error"] },
    anthropic: { ...INVALID, chat: ["invalid_request_error", "invalid_request_error"] },
    google: { ...INVALID, content: "FAILED_PRECONDITION" },
  }],
];

let reply = "";
const MODEL_LIST = answer(200, JSON.stringify({ data: [], models: [] }));
const vendor = startScriptedUpstream(async (side) => {
  for (let request = await side.request(); request !== null; request = await side.request()) {
    // A probe is answered as by a vendor that accepts the key.
    await side.say(request.method === "GET" ? MODEL_LIST : reply);
  }
});
const base_url = `http://127.0.0.1:${vendor.port}`;
const VENDORS = ["openai", "anthropic", "google"] as const;
/** A provider for each test, so that failures of one open no circuit for the next. */
const names = CASES.flatMap((_, at) =>
  VENDORS.flatMap((kind) => [[kind, `${kind}-${at}-whole`], [kind, `${kind}-${at}-stream`]] as const)
);
const gateway = await startTestGateway({
  config: {
    providers: Object.fromEntries(names.map(([kind, name]) => {
      return [name, { kind, base_url, api_key: "key-of-ours", ...kind === "openai" && { speaks: "both" } }];
    })),
    models: names.map(([, name]) => textModel(`a/${name}`, [name])),
  },
});

const turns = [{ role: "user", content: "hi" }];

/** Sends a request as a client of a protocol would. */
async function ask(path: string, body: Record<string, unknown>) {
  const answered = await fetch(gateway.address + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  return { http: answered.status, error: (await answered.json()).error };
}

for (const [at, [what, status, refusal, shown, words]] of CASES.entries()) {
  for (const kind of VENDORS) {
    for (const stream of [false, true]) {
      const way = stream ? "stream" : "whole";
      Deno.test(`a vendor's ${status} about ${what} is returned in the caller's own terms: ${kind}, ${way}`, async () => {
        reply = answer(status, JSON.stringify(refusal[kind]));
        const model = `a/${kind}-${at}-${way}`;
        const expected = valueAt(words, kind);
        const chat = await ask("/v1/chat/completions", { model, messages: turns, stream });
        assertEquals([chat.http, chat.error.code, chat.error.type], [shown, ...expected.chat]);
        const responses = await ask("/v1/responses", { model, input: "hi", stream });
        assertEquals([responses.http, responses.error.code, responses.error.type], [shown, ...expected.chat]);
        const messages = await ask("/msgcompat/v1/messages", { model, messages: turns, max_tokens: 10, stream });
        assertEquals([messages.http, messages.error.type], [shown, expected.messages]);
        const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
        const contents = [{ parts: [{ text: "hi" }] }];
        const content = await ask(`/gencompat/v1beta/models/${model}:${verb}`, { contents });
        assertEquals([content.http, content.error.code, content.error.status], [shown, shown, expected.content]);
      });
    }
  }
}

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: async () => {
    await gateway.stop();
    await vendor.stop();
  },
});
