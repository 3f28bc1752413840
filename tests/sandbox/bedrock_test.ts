import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  CountTokensCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
  ListAsyncInvokesCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";

const NOVA = "us.amazon.nova-2-lite-v1:0";
const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What the vendor's client sends with. Its own handler speaks HTTP/2, which changes what is signed. */
const HTTP1 = {
  metadata: { handlerProtocol: "http/1.1" },
  async handle({ protocol, hostname, port, path, query, method, headers, body }: SdkRequest) {
    const search = query && Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : "";
    const { host: _sentByFetch, ...sent } = headers;
    const response = await fetch(`${protocol}//${hostname}:${port}${path}${search}`, {
      method,
      headers: sent,
      body: body ?? null,
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return {
      response: {
        statusCode: response.status,
        headers: Object.fromEntries(response.headers),
        body: Readable.from([bytes]),
      },
    };
  },
};

interface SdkRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Record<string, string>;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: BodyInit;
}

/** Runs a test with the vendor's own client in front of the simulated vendor. */
async function withClient(
  play: (client: BedrockRuntimeClient, sandbox: Sandbox) => Promise<void>,
  secretAccessKey = "sandbox-secret",
) {
  const sandbox = await startSandbox({ port: 0 });
  const client = new BedrockRuntimeClient({
    endpoint: sandbox.baseUrls.bedrock,
    region: "us-east-1",
    credentials: { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey, sessionToken: "a-token" },
    maxAttempts: 1,
    requestHandler: HTTP1,
  });
  try {
    await play(client, sandbox);
  } finally {
    client.destroy();
    await sandbox.stop();
  }
}

const request = (text: string): ConverseCommandInput => ({
  modelId: NOVA,
  messages: [{ role: "user", content: [{ text }] }],
});

// The vendor's client keeps connections open.
const open = { sanitizeOps: false, sanitizeResources: false };

Deno.test("sandbox: the vendor's own client converses with Bedrock", open, () =>
  withClient(async (client) => {
    const { output, stopReason, usage } = await client.send(new ConverseCommand(request("one two")));
    assertEquals(output?.message?.content, [{ text: "You said: one two" }]);
    assertEquals([stopReason, usage?.inputTokens, usage?.totalTokens], ["end_turn", 2, 6]);
  }));

Deno.test("sandbox: the vendor's own client reads Bedrock's streams", open, () =>
  withClient(async (client) => {
    const tool = { toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } };
    const { stream = [] } = await client.send(
      new ConverseStreamCommand({
        ...request('[[think Hm]] [[tool weather {"city":"Bern"}]] Weather?'),
        toolConfig: { tools: [tool] },
      }),
    );
    const events = await Array.fromAsync(stream);
    const deltas = events.flatMap(({ contentBlockDelta }) => contentBlockDelta?.delta ?? []);
    assertEquals(deltas.map(({ reasoningContent }) => reasoningContent?.text ?? "").join(""), "Hm");
    assert(deltas.some(({ reasoningContent }) => reasoningContent?.signature));
    assertEquals(deltas.map(({ toolUse }) => toolUse?.input ?? "").join(""), '{"city":"Bern"}');
    assertEquals(events.at(-2)?.messageStop?.stopReason, "tool_use");
    assert((events.at(-1)?.metadata?.usage?.outputTokens ?? 0) > 0);
  }));

Deno.test(
  "sandbox: the vendor's own client invokes Anthropic's models at Bedrock",
  open,
  () =>
    withClient(async (client) => {
      const body = encoder.encode(JSON.stringify({
        anthropic_version: "bedrock-2023-05-31",
        max_tokens: 100,
        messages: [{ role: "user", content: "one two" }],
      }));
      const whole = await client.send(new InvokeModelCommand({ modelId: CLAUDE, body }));
      assertEquals(JSON.parse(decoder.decode(whole.body)).content, [{ type: "text", text: "You said: one two" }]);
      const streamed = await client.send(new InvokeModelWithResponseStreamCommand({ modelId: CLAUDE, body }));
      const types = (await Array.fromAsync(streamed.body ?? [])).map(({ chunk }) =>
        JSON.parse(decoder.decode(chunk?.bytes)).type
      );
      assertEquals([types[0], types.at(-1)], ["message_start", "message_stop"]);
      const counted = await client.send(
        new CountTokensCommand({ modelId: CLAUDE, input: { invokeModel: { body } } }),
      );
      assertEquals(counted.inputTokens, 2);
    }),
);

Deno.test("sandbox: Bedrock's errors are those of the vendor's own client", open, () =>
  withClient(async (client) => {
    for (
      const [text, name] of [
        ["[[fail 429]] a", "ThrottlingException"],
        ["[[fail 400]] a", "ValidationException"],
        ["[[fail 424]] a", "ModelErrorException"],
        ["[[fail 503]] a", "ServiceUnavailableException"],
        [" ", "ValidationException"],
      ] as const
    ) {
      const error = await assertRejects(() => client.send(new ConverseCommand(request(text))), Error);
      assertEquals(error.name, name);
    }
    const { stream = [] } = await client.send(new ConverseStreamCommand(request("[[error 1]] [[words 5]] go")));
    const error = await assertRejects(() => Array.fromAsync(stream), Error);
    assertEquals(error.name, "ServiceUnavailableException");
  }));

Deno.test("sandbox: Bedrock verifies signatures", open, async () => {
  await withClient(async (client) => {
    assertEquals((await client.send(new ListAsyncInvokesCommand({ maxResults: 1 }))).asyncInvokeSummaries, []);
  });
  await withClient(async (client) => {
    const error = await assertRejects(() => client.send(new ConverseCommand(request("a"))), Error);
    assertEquals(error.name, "InvalidSignatureException");
  }, "another-secret");
});

Deno.test("sandbox: Bedrock rejects what the vendor rejects", open, () =>
  withClient(async (client) => {
    const text = { text: "?" };
    const call = { toolUse: { toolUseId: "t", name: "weather", input: {} } };
    const tools = { tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } }] };
    const bad: Record<string, Partial<ConverseCommandInput>> = {
      "no message": { messages: [] },
      "the assistant first": { messages: [{ role: "assistant", content: [text] }] },
      "two turns of the user": { messages: [{ role: "user", content: [text] }, { role: "user", content: [text] }] },
      "calls without tools": { messages: [{ role: "user", content: [text] }, { role: "assistant", content: [call] }] },
      "a call without a result": {
        messages: [{ role: "user", content: [text] }, { role: "assistant", content: [call] }, {
          role: "user",
          content: [text],
        }],
        toolConfig: tools,
      },
      "a document alone": {
        messages: [{
          role: "user",
          content: [{ document: { format: "pdf", name: "a", source: { bytes: encoder.encode("x") } } }],
        }],
      },
      "a name of a document": {
        messages: [{
          role: "user",
          content: [text, { document: { format: "pdf", name: "a.pdf", source: { bytes: encoder.encode("x") } } }],
        }],
      },
      "a temperature above 1": { inferenceConfig: { temperature: 1.5 } },
      "foreign reasoning": {
        messages: [
          { role: "user", content: [text] },
          {
            role: "assistant",
            content: [{ reasoningContent: { reasoningText: { text: "Hm", signature: "x" } } }, text],
          },
          { role: "user", content: [text] },
        ],
      },
      "a choice of no tool": { toolConfig: { ...tools, toolChoice: { tool: { name: "time" } } } },
    };
    for (const [name, fields] of Object.entries(bad)) {
      const error = await assertRejects(() => client.send(new ConverseCommand({ ...request("a"), ...fields })), Error);
      assertEquals(error.name, "ValidationException", name);
    }
  }));
