import { startTestGateway, type TestGateway, type TestGatewayOptions, textModel } from "../support/gateway.ts";

/** An embedding model with a price of a millionth of a dollar for a token. */
export function embeddingModel(id: string, providers: readonly string[], fields = {}): Record<string, unknown> {
  return {
    id,
    context_length: 8_192,
    pricing: { prompt: "0.000001" },
    embedding: {},
    serves: providers.map((provider) => ({ provider })),
    ...fields,
  };
}

/** A gateway with embedding models, and functions that call it. */
export interface EmbeddingGateway extends TestGateway {
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** What the account has spent, in USD. */
  spent(): Promise<number>;
}

/**
 * Starts a gateway with `sandbox/embedding-1` at the vendor with OpenAI's format, `sandbox/embedding-2` at that with
 * Google's, and the text model `sandbox/chat-1`.
 */
export async function startEmbeddingGateway(
  options: TestGatewayOptions & { readonly models?: readonly unknown[] } = {},
): Promise<EmbeddingGateway> {
  const models = [
    embeddingModel("sandbox/embedding-1", ["sandbox-openai"]),
    embeddingModel("sandbox/embedding-2", ["sandbox-google"]),
    textModel("sandbox/chat-1", ["sandbox-openai"]),
    ...options.models ?? [],
  ];
  const gateway = await startTestGateway({ ...options, config: { models, ...options.config } });
  const { address, key, adminKey } = gateway;
  return {
    ...gateway,
    post: (path, body, headers = {}) =>
      fetch(`${address}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async spent() {
      const answer = await fetch(`${address}/admin/v1/accounts/demo`, {
        headers: { authorization: `Bearer ${adminKey}` },
      });
      return Number(options.balance ?? "25.00") - Number((await answer.json()).balance);
    },
  };
}

/** Runs a test with a gateway that is stopped afterwards. */
export async function withEmbeddings(
  options: Parameters<typeof startEmbeddingGateway>[0],
  test: (gateway: EmbeddingGateway) => Promise<void>,
): Promise<void> {
  const gateway = await startEmbeddingGateway(options);
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

/** A vendor of OpenAI's format that answers every request with a text. Its provider is named `stub`. */
export async function withStub(
  reply: (request: Request) => string | Promise<string>,
  test: (gateway: EmbeddingGateway) => Promise<void>,
  { quirks = [], ...options }: Parameters<typeof startEmbeddingGateway>[0] & { readonly quirks?: readonly string[] } =
    {},
): Promise<void> {
  const handler = async (request: Request) =>
    new Response(await reply(request), { headers: { "content-type": "application/json" } });
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, handler);
  const provider = { kind: "openai", base_url: `http://127.0.0.1:${server.addr.port}/v1`, api_key: "stub-key", quirks };
  const models = [embeddingModel("stub/embedding-1", ["stub"]), ...options.models ?? []];
  await withEmbeddings(
    { ...options, models, config: { providers: { stub: provider }, models, ...options.config } },
    test,
  );
}
