import { startSandbox } from "../../../src/sandbox/mod.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../../support/gateway.ts";

/** Prices in the relation that Claude has. */
export const PRICING = {
  prompt: "0.000001",
  completion: "0.000001",
  input_cache_read: "0.0000001",
  input_cache_write_5m: "0.00000125",
  input_cache_write_1h: "0.000002",
};

/** A model of the test at a provider, by the vendor's name. */
export function modelAt(provider: string, model: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: `test/${model}`,
    context_length: 1_000_000,
    top_provider: { max_completion_tokens: 1_000 },
    pricing: PRICING,
    serves: [{ provider, model }],
    ...more,
  };
}

/** Starts a gateway with models of Claude and GPT, and several providers of Claude. */
export async function startCachingGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { config = {}, ...rest } = options;
  const sandbox = await startSandbox({ port: 0 });
  const { openai, anthropic, xai } = sandbox.baseUrls;
  const claude = { kind: "anthropic", base_url: anthropic, api_key: "sandbox-key-anthropic" };
  const gateway = await startTestGateway({
    balance: "100",
    ...rest,
    config: {
      providers: {
        "sandbox-openai": { kind: "openai", base_url: openai, api_key: "k", speaks: "both", quirks: [] },
        "sandbox-xai": { kind: "xai", base_url: xai, api_key: "k" },
        "sandbox-anthropic": claude,
        "claude-2": claude,
        "claude-3": claude,
        "uncached": { ...claude, prompt_caching: "off" },
      },
      models: [
        modelAt("sandbox-anthropic", "claude-opus-4-8"),
        modelAt("sandbox-anthropic", "claude-opus-4-8", { id: "test/off", prompt_caching: "off" }),
        modelAt("uncached", "claude-opus-4-8", { id: "test/uncached" }),
        modelAt("sandbox-openai", "gpt-6-sol"),
        modelAt("sandbox-openai", "gpt-5.4"),
        modelAt("sandbox-xai", "grok-4.7"),
      ],
      ...config,
    },
  });
  return {
    ...gateway,
    sandbox,
    async stop() {
      await gateway.stop();
      await sandbox.stop();
    },
  };
}

/** A text of so many words, different for each name. */
export function wordsOf(name: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${name}${index}`).join(" ");
}

/** A message of a chat completion. */
export type ChatMessage = Record<string, unknown> & { readonly role: string };

/** What a turn cost, and the tokens of caches in it. */
export interface TurnCost {
  readonly message: ChatMessage;
  readonly cost: number;
  readonly saved: number | null;
  readonly provider: string | null;
  readonly readTokens: number;
  readonly promptTokens: number;
}

/** Sends a conversation to a chat completion. */
export async function sendChat(
  { address, key }: Pick<TestGateway, "address" | "key">,
  model: string,
  messages: readonly ChatMessage[],
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<TurnCost> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: `test/${model}`, max_tokens: 100, messages, ...more }),
  });
  const body = await response.json();
  if (response.status !== 200) throw new Error(`status ${response.status}: ${JSON.stringify(body)}`);
  const saved = response.headers.get("x-service-cache-saved");
  return {
    message: body.choices[0].message,
    cost: Number(response.headers.get("x-service-cost")),
    saved: saved === null ? null : Number(saved),
    provider: response.headers.get("x-service-provider"),
    readTokens: body.usage.prompt_tokens_details?.cached_tokens ?? 0,
    promptTokens: body.usage.prompt_tokens,
  };
}

/** Sends a conversation as messages, and returns the reply. */
export async function sendMessages(
  { address, key }: Pick<TestGateway, "address" | "key">,
  model: string,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${address}/msgcompat/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": key, "msg-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({ model: `test/${model}`, max_tokens: 100, ...body }),
  });
  const reply = await response.json();
  if (response.status !== 200) throw new Error(`status ${response.status}: ${JSON.stringify(reply)}`);
  return reply;
}

/** The tool of an agent. */
export const TOOLS = [{
  type: "function",
  function: { name: "look", description: wordsOf("describe", 1_500), parameters: { type: "object", properties: {} } },
}];

/** Runs an agent's loop, and returns what its turns cost. */
export async function agentLoop(
  gateway: Pick<TestGateway, "address" | "key">,
  model: string,
  { name, turns, more = {} }: {
    readonly name: string;
    readonly turns: number;
    readonly more?: Record<string, unknown>;
  },
): Promise<readonly TurnCost[]> {
  const messages: ChatMessage[] = [
    { role: "system", content: wordsOf(`system-${name}-`, 4_000) },
    { role: "user", content: wordsOf(`task-${name}-`, 200) },
  ];
  const costs: TurnCost[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const answer = await sendChat(gateway, model, messages, { tools: TOOLS, ...more });
    costs.push(answer);
    messages.push(
      { role: "assistant", content: "I look.", tool_calls: [callOf(turn)] },
      { role: "tool", tool_call_id: `call_${turn}`, content: wordsOf(`result-${name}-${turn}-`, 150) },
    );
  }
  return costs;
}

function callOf(turn: number) {
  return { id: `call_${turn}`, type: "function", function: { name: "look", arguments: "{}" } };
}

/** The sum of what turns cost. */
export function costOf(turns: readonly TurnCost[]): number {
  return turns.reduce((sum, { cost }) => sum + cost, 0);
}
