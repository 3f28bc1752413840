import { assert, assertEquals } from "@std/assert";
import { accountMoney } from "../support/account_money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { CALLER_PROTOCOLS, type CallerProtocol, type Json, MESSAGES, sendAs } from "./caller_protocols.ts";

/** Sandbox models with the vendor's names, which follow the vendor's rules. */
const NAMED = ["gpt-4.1", "gpt-4o-mini", "gpt-5-mini", "gpt-5.1", "o3"];

const gateway = await startTestGateway({
  config: {
    models: [
      ...["chat-1", "messages-1", "content-1"].map((name) =>
        textModel(`sandbox/${name}`, [`sandbox-${{ "chat-1": "openai", "messages-1": "anthropic" }[name] ?? "google"}`])
      ),
      ...NAMED.map((name) => textModel(`sandbox/${name}`, ["sandbox-openai"])),
    ],
  },
});
const account = accountMoney(gateway);

/** The limit of output tokens in each format. */
const LIMIT: Readonly<Record<CallerProtocol["name"], (tokens: number) => Json>> = {
  chat: (max_completion_tokens) => ({ max_completion_tokens }),
  responses: (max_output_tokens) => ({ max_output_tokens }),
  messages: (max_tokens) => ({ max_tokens }),
  content: (maxOutputTokens) => ({ generationConfig: { maxOutputTokens } }),
};
const LIMIT_FIELD = {
  chat: "max_completion_tokens",
  responses: "max_output_tokens",
  messages: "max_tokens",
  content: "generationConfig.maxOutputTokens",
};
/** Every field that a model may reject and that all formats have. */
const REASONING_SETTINGS: Readonly<Record<CallerProtocol["name"], Json>> = {
  chat: { temperature: 0.2, top_p: 0.9, reasoning_effort: "high" },
  responses: { temperature: 0.2, top_p: 0.9, reasoning: { effort: "high", summary: "auto" } },
  messages: { thinking: { type: "adaptive" }, output_config: { effort: "high" }, top_p: 0.95, temperature: 1 },
  content: { generationConfig: { temperature: 0.2, topP: 0.9, thinkingConfig: { thinkingLevel: "HIGH" } } },
};

function seen(): Json {
  return gateway.sandbox.requests.at(-1)!.body;
}

function limitIn(body: Json): number {
  return body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens ??
    body.generationConfig.maxOutputTokens;
}

for (const face of CALLER_PROTOCOLS) {
  for (const model of ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"]) {
    Deno.test(`a limit above that of ${model} is lowered and named in ${face.name}`, async () => {
      const before = await account.balance();
      const answer = await sendAs(face, gateway, { model, extra: LIMIT[face.name](32_000) });
      assertEquals(answer.status, 200, answer.text);
      assertEquals(limitIn(seen()), 16_384);
      assertEquals(answer.headers.get("x-service-dropped"), LIMIT_FIELD[face.name]);
      assert(await account.balance() < before);
    });

    Deno.test(`a limit of one token reaches ${model} from ${face.name}`, async () => {
      const answer = await sendAs(face, gateway, { model, extra: LIMIT[face.name](1) });
      const passes = face.ownModel === model;
      if (face.name === "responses" && passes) return assertEquals(answer.status, 400); // the vendor's own error
      assertEquals(answer.status, 200, answer.text);
      const isRaised = limitIn(seen()) === 16;
      assert(isRaised || limitIn(seen()) === 1);
      if (isRaised) assertEquals(answer.headers.get("x-service-dropped"), LIMIT_FIELD[face.name]);
    });
  }

  for (const name of NAMED) {
    Deno.test(`${face.name} with every field to ${name}: no unsupported field is sent, and all are named`, async () => {
      const model = `sandbox/${name}`;
      const answer = await sendAs(face, gateway, { model, extra: REASONING_SETTINGS[face.name] });
      assertEquals(answer.status, 200, answer.text);
      assert(answer.headers.get("x-service-dropped") !== null);
    });
  }
}

Deno.test("other values out of range stay 400", async () => {
  for (const tokens of [0, -1, 1.5]) {
    const { status, json } = await sendAs(MESSAGES, gateway, { extra: { max_tokens: tokens } });
    assertEquals([status, /max_tokens/.test(json.error.message)], [400, true]);
  }
});

Deno.test("a thinking budget is lowered with its limit, in passed and in translated requests", async () => {
  const extra = { max_tokens: 32_000, thinking: { type: "enabled", budget_tokens: 31_999 } };
  const passed = await sendAs(MESSAGES, gateway, { extra });
  assertEquals(passed.status, 200, passed.text);
  assertEquals(seen().thinking, { type: "enabled", budget_tokens: 16_383 });
  assertEquals(passed.headers.get("x-service-dropped"), "max_tokens, thinking.budget_tokens");
  const translated = await sendAs(MESSAGES, gateway, { model: "sandbox/content-1", extra });
  assertEquals(translated.status, 200, translated.text);
});

Deno.test({ name: "the gateway of the facts stops", sanitizeResources: false, sanitizeOps: false, fn: gateway.stop });
