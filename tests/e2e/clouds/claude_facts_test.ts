import { assertEquals } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const seen: Json[] = [];

/** Claude Opus 5.5 at Bedrock and Vertex AI, where the vendor's rules are those of Anthropic. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  seen.push(body);
  const field = refusedField(body);
  if (field !== null) return Response.json({ message: `${field}: not supported for this model` }, { status: 400 });
  return Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-opus-5-5",
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  });
});

function refusedField({ thinking, tool_choice: choice, temperature }: Json): string | null {
  if (thinking !== undefined && thinking.type !== "adaptive") return "thinking.type";
  if (choice?.type === "any" || choice?.type === "tool") return "tool_choice";
  return temperature === undefined ? null : "temperature";
}

const base_url = `http://127.0.0.1:${vendor.addr.port}`;
const MODELS = ["bedrock/us.anthropic.claude-opus-5-5-20260922-v1:0", "vertex/anthropic/claude-opus-5-5"];
const gateway = await startTestGateway({
  config: {
    providers: {
      bedrock: { kind: "bedrock", base_url, api_key: "k", region: "us-east-1" },
      vertex: { kind: "vertex", base_url, api_key: "k", project: "acme-project", location: "us-east5" },
    },
    models: MODELS.map((id) => {
      const [provider = ""] = id.split("/");
      return {
        ...textModel(id, []),
        pricing: PRICING,
        serves: [{ provider, model: id.slice(provider.length + 1) }],
      };
    }),
  },
});

async function post(path: string, fields: Json): Promise<{ status: number; text: string; dropped: string }> {
  const response = await fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    },
    body: JSON.stringify({ max_tokens: 8_000, messages: [{ role: "user", content: "hi" }], ...fields }),
  });
  const dropped = response.headers.get("x-service-dropped") ?? "";
  return { status: response.status, text: await response.text(), dropped };
}

const FUNCTION = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
const TOOL = [{ name: "f", input_schema: { type: "object", properties: {} } }];

for (const model of MODELS) {
  Deno.test(`${model} has the facts of Anthropic's model: thinking, forced calls and sampling`, async () => {
    const cases: readonly (readonly [path: string, fields: Json, dropped: string])[] = [
      ["/v1/chat/completions", { reasoning_effort: "none" }, "reasoning_effort"],
      ["/v1/chat/completions", { tools: FUNCTION, tool_choice: "required" }, "tool_choice"],
      ["/v1/chat/completions", { temperature: 0.5 }, "temperature"],
      ["/msgcompat/v1/messages", { thinking: { type: "disabled" } }, "thinking"],
      ["/msgcompat/v1/messages", { thinking: { type: "enabled", budget_tokens: 2_000 } }, "thinking.budget_tokens"],
      ["/msgcompat/v1/messages", { tools: TOOL, tool_choice: { type: "any" } }, "tool_choice"],
      ["/msgcompat/v1/messages", { temperature: 0.5 }, "temperature"],
    ];
    for (const [path, fields, named] of cases) {
      const { status, text, dropped } = await post(path, { model, ...fields });
      assertEquals([status, dropped], [200, named], `${path} ${JSON.stringify(fields)}: ${text}`);
    }
  });
}

Deno.test("the gateway and the vendor stop", async () => {
  await gateway.stop();
  await vendor.shutdown();
});
