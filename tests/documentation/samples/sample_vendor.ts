/** The vendor of the pages for operators, with the API of OpenAI. */
export interface SampleVendor {
  /** The key that it accepts. */
  readonly key: string;
  /** The settings of a provider for it. */
  providerWith(key: string): Record<string, unknown>;
  stop(): Promise<void>;
}

/**
 * Starts a vendor that is overloaded for the user `overloaded`. Its models use 1,200 tokens of input and 300 of output.
 * Keys other than its own are refused.
 */
export function startSampleVendor(): SampleVendor {
  const key = "sk-vendor-of-samples";
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (request.headers.get("authorization") !== `Bearer ${key}`) return failure(401, "Incorrect API key provided");
    if (request.method === "GET") return Response.json({ object: "list", data: [{ id: "gpt-5", object: "model" }] });
    const { model, user } = await request.json();
    return user === "overloaded" ? failure(503, "The engine is overloaded") : Response.json(replyOf(model));
  });
  const base_url = `http://127.0.0.1:${server.addr.port}/v1`;
  return {
    key,
    providerWith: (api_key) => ({ kind: "openai", base_url, api_key, speaks: "chat" }),
    stop: () => server.shutdown(),
  };
}

function failure(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status, headers: { "x-request-id": "req-vendor-81" } });
}

function replyOf(model: string) {
  const message = { role: "assistant", content: "Hello", refusal: null };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_795_392_797,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: 1_200, completion_tokens: 300, total_tokens: 1_500 },
  };
}
