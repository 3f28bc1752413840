import { assert, assertEquals } from "@std/assert";
import type { TestGateway } from "../../support/gateway.ts";
import { agentLoop, sendChat, sendMessages, startCachingGateway, wordsOf } from "./caching_gateway.ts";

/** The number of marks in each request that a vendor got. */
function marksSent({ sandbox }: TestGateway): number[] {
  return sandbox.requests.map(({ body }) => JSON.stringify(body).split('"cache_control"').length - 1);
}

async function admin(gateway: TestGateway, method: string, path: string, body: unknown): Promise<Response> {
  return await fetch(`${gateway.address}${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

Deno.test("a loop has at most four marks in a request, and none in its first", async () => {
  const gateway = await startCachingGateway();
  try {
    await agentLoop(gateway, "claude-opus-4-8", { name: "a", turns: 4 });
    assertEquals(marksSent(gateway), [0, 4, 4, 4]);
  } finally {
    await gateway.stop();
  }
});

for (const where of ["account", "model", "provider"] as const) {
  Deno.test(`prompt_caching off of the ${where} leaves requests unmarked`, async () => {
    const gateway = await startCachingGateway();
    try {
      if (where === "account") {
        const changed = await admin(gateway, "PATCH", "/admin/v1/accounts/demo", { prompt_caching: "off" });
        assertEquals((await changed.json()).prompt_caching, "off");
      }
      const model = { account: "claude-opus-4-8", model: "off", provider: "uncached" }[where];
      await agentLoop(gateway, model, { name: "a", turns: 3 });
      assertEquals(marksSent(gateway), [0, 0, 0]);
    } finally {
      await gateway.stop();
    }
  });
}

Deno.test("prompt_caching off of a key leaves its requests unmarked, and those of another key marked", async () => {
  const gateway = await startCachingGateway();
  try {
    const created = await admin(gateway, "POST", "/admin/v1/accounts/demo/keys", { prompt_caching: "off" });
    const { secret, prompt_caching: setting } = await created.json();
    assertEquals(setting, "off");
    await agentLoop({ address: gateway.address, key: secret }, "claude-opus-4-8", { name: "a", turns: 2 });
    await agentLoop(gateway, "claude-opus-4-8", { name: "b", turns: 2 });
    assertEquals(marksSent(gateway), [0, 0, 0, 4]);
  } finally {
    await gateway.stop();
  }
});

Deno.test("a caller's own marks stay alone", async () => {
  const gateway = await startCachingGateway();
  try {
    const marked = { type: "text", text: wordsOf("own", 1_500), cache_control: { type: "ephemeral" } };
    const messages = [
      { role: "user", content: [marked] },
      { role: "assistant", content: "Yes." },
      { role: "user", content: "Go on." },
    ];
    await sendChat(gateway, "claude-opus-4-8", messages);
    assertEquals(marksSent(gateway), [1]);
  } finally {
    await gateway.stop();
  }
});

Deno.test("below the model's least length nothing is marked", async () => {
  const gateway = await startCachingGateway();
  try {
    const messages = [
      { role: "user", content: wordsOf("w", 300) },
      { role: "assistant", content: "Yes." },
      { role: "user", content: "Go on." },
    ];
    await sendChat(gateway, "claude-opus-4-8", messages);
    await sendChat(gateway, "claude-opus-4-8", messages);
    assertEquals(marksSent(gateway), [0, 0]);
  } finally {
    await gateway.stop();
  }
});

Deno.test("a dry run says what would be marked, and marks nothing later", async () => {
  const gateway = await startCachingGateway();
  try {
    const response = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": "application/json",
        "x-service-dry-run": "true",
      },
      body: JSON.stringify({
        model: "test/claude-opus-4-8",
        messages: [
          { role: "system", content: wordsOf("s", 1_500) },
          { role: "user", content: "One." },
          { role: "assistant", content: "Yes." },
          { role: "user", content: "Two." },
        ],
      }),
    });
    const { prompt_caching: caching } = await response.json();
    assertEquals(caching, [{
      provider: "sandbox-anthropic",
      marks: ["system", "turn 1", "turn 3"],
      cache_key: false,
    }]);
  } finally {
    await gateway.stop();
  }
});

for (const isolates of [1, 2]) {
  Deno.test(`the usage and the metrics have what caches saved, ${isolates} threads`, async () => {
    const gateway = await startCachingGateway({ isolates });
    try {
      const turns = await agentLoop(gateway, "claude-opus-4-8", { name: "a", turns: 6 });
      const saved = turns.reduce((sum, { saved }) => sum + (saved ?? 0), 0);
      const usage = await fetch(`${gateway.address}/v1/usage`, { headers: { authorization: `Bearer ${gateway.key}` } });
      const { total } = await usage.json();
      assert(Math.abs(Number(total.cache_saved) - saved) < 1e-9, `${total.cache_saved} is not ${saved}`);
      assert(saved > 0);
      const metrics = await fetch(`${gateway.address}/metrics`, {
        headers: { authorization: `Bearer ${gateway.adminKey}` },
      });
      const text = await metrics.text();
      assert(/switchyard_cache_saved_usd_total\{[^}]*claude-opus-4-8[^}]*\} 0\.\d+/.test(text), text.slice(0, 300));
      assert(/switchyard_cache_extra_usd_total\{[^}]*claude-opus-4-8[^}]*\} 0\.\d+/.test(text));
    } finally {
      await gateway.stop();
    }
  });
}

Deno.test("GPT gets one key for all turns, and breakpoints from GPT-5.6 on", async () => {
  const gateway = await startCachingGateway();
  try {
    for (const model of ["gpt-6-sol", "gpt-5.4"]) {
      const system = wordsOf("system", 1_500);
      const first = [{ role: "user", content: "One." }];
      await sendMessages(gateway, model, { system, messages: first });
      const second = [...first, { role: "assistant", content: "Yes." }, { role: "user", content: "Two." }];
      await sendMessages(gateway, model, { system, messages: second });
    }
    const bodies = gateway.sandbox.requests.map(({ body }) => body as Record<string, unknown>);
    const keys = bodies.map(({ prompt_cache_key: key }) => key);
    assertEquals(new Set(keys).size, 1, "one key for the account and its system text");
    assert(typeof keys[0] === "string" && /^[\w-]{32}$/.test(keys[0]));
    const breakpoints = bodies.map((body) => JSON.stringify(body).split("prompt_cache_breakpoint").length - 1);
    assertEquals(breakpoints.slice(2), [0, 0], "GPT-5.4 has none");
    assert((breakpoints[1] ?? 0) > 0, "the second turn has breakpoints");
  } finally {
    await gateway.stop();
  }
});

Deno.test("xAI gets one key for all turns of a conversation, in its header field", async () => {
  const gateway = await startCachingGateway();
  try {
    for (const name of ["one", "two"]) {
      const messages = [{ role: "user", content: wordsOf(name, 1_500) }];
      await sendMessages(gateway, "grok-4.7", { messages });
      const more = [{ role: "assistant", content: "Yes." }, { role: "user", content: "Go on." }];
      await sendMessages(gateway, "grok-4.7", { messages: [...messages, ...more] });
    }
    const keys = gateway.sandbox.requests.map(({ headers }) => headers["x-grok-conv-id"]);
    assert(keys[0] !== undefined);
    assertEquals(keys, [keys[0], keys[0], keys[2], keys[2]]);
    assert(keys[0] !== keys[2], "each conversation has its own");
  } finally {
    await gateway.stop();
  }
});

Deno.test("a messages caller's marks become breakpoints at GPT-5.6 and later, and are named at earlier models", async () => {
  const gateway = await startCachingGateway();
  try {
    const mark = { cache_control: { type: "ephemeral" } };
    const messages = [
      { role: "user", content: [{ type: "text", text: wordsOf("own", 1_500), ...mark }] },
      { role: "assistant", content: "Yes." },
      { role: "user", content: "Go on." },
    ];
    for (const model of ["gpt-6-sol", "gpt-5.4"]) await sendMessages(gateway, model, { messages });
    const breakpoints = gateway.sandbox.requests.map(({ body }) =>
      JSON.stringify(body).split('"prompt_cache_breakpoint":{"mode":"explicit"}').length - 1
    );
    assertEquals(breakpoints, [1, 0]);
  } finally {
    await gateway.stop();
  }
});
