import { assert, assertEquals } from "@std/assert";
import { type ChatMessage, modelAt, sendChat, startCachingGateway, wordsOf } from "./caching_gateway.ts";

/** A generator of numbers in [0, 1) that gives the same ones each time. Source: Numerical Recipes, "ranqd1". */
function numbers(): () => number {
  let state = 7;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

const AT_THREE = (more: Record<string, unknown> = {}, weights: readonly (number | undefined)[] = []) =>
  modelAt("sandbox-anthropic", "claude-opus-4-8", {
    id: "test/three",
    serves: ["sandbox-anthropic", "claude-2", "claude-3"].map((provider, index) => ({
      provider,
      model: "claude-opus-4-8",
      ...weights[index] !== undefined && { weight: weights[index] },
    })),
    ...more,
  });

type Gateway = Awaited<ReturnType<typeof startCachingGateway>>;

/** Runs a conversation, and returns the providers of its turns. */
async function talk(
  gateway: Gateway,
  name: string,
  turns: number,
  headersAt: (turn: number) => Record<string, string> = () => ({}),
): Promise<(string | null)[]> {
  const messages: ChatMessage[] = [{ role: "user", content: wordsOf(name, 1_200) }];
  const providers: (string | null)[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const { provider, message } = await sendChat(gateway, "three", messages, {}, headersAt(turn));
    providers.push(provider);
    messages.push({ role: "assistant", content: String(message.content) }, {
      role: "user",
      content: `Go on, ${turn}.`,
    });
  }
  return providers;
}

Deno.test("a conversation stays at the provider of its first turn, and the weights hold over conversations", async () => {
  const gateway = await startCachingGateway({ random: numbers(), config: { models: [AT_THREE()] } });
  try {
    const firsts = new Map<string | null, number>();
    for (let index = 0; index < 60; index++) {
      const providers = await talk(gateway, `c${index}x`, 3);
      assertEquals(new Set(providers).size, 1, `conversation ${index} moved: ${providers}`);
      firsts.set(providers[0] ?? null, (firsts.get(providers[0] ?? null) ?? 0) + 1);
    }
    assertEquals(firsts.size, 3);
    for (const [provider, count] of firsts) assert(count >= 10 && count <= 30, `${provider} has ${count} of 60`);
  } finally {
    await gateway.stop();
  }
});

Deno.test("weights that an operator set hold for each request, unless prefer_warm is set", async () => {
  for (const prefersWarm of [false, true]) {
    const gateway = await startCachingGateway({
      random: numbers(),
      config: { models: [AT_THREE(prefersWarm ? { prefer_warm: "5m" } : {}, [2, 2, 2])] },
    });
    try {
      const moved = [];
      for (let index = 0; index < 12; index++) moved.push(new Set(await talk(gateway, `c${index}x`, 4)).size > 1);
      assertEquals(moved.includes(true), !prefersWarm);
    } finally {
      await gateway.stop();
    }
  }
});

Deno.test("prefer_warm off splits each request by weight", async () => {
  const gateway = await startCachingGateway({
    random: numbers(),
    config: { models: [AT_THREE({ prefer_warm: "off" })] },
  });
  try {
    const moved = [];
    for (let index = 0; index < 12; index++) moved.push(new Set(await talk(gateway, `c${index}x`, 4)).size > 1);
    assert(moved.includes(true));
  } finally {
    await gateway.stop();
  }
});

Deno.test("a pin wins over the warm provider, at every turn", async () => {
  const gateway = await startCachingGateway({ random: numbers(), config: { models: [AT_THREE()] } });
  try {
    const pins = ["claude-2", "claude-3", "sandbox-anthropic", "claude-2"];
    const providers = await talk(gateway, "pinned", 4, (turn) => ({ "x-service-provider-type": pins[turn] ?? "" }));
    assertEquals(providers, pins);
  } finally {
    await gateway.stop();
  }
});

Deno.test("the explanation of a request says that its provider is warm", async () => {
  const gateway = await startCachingGateway({
    random: numbers(),
    config: { models: [AT_THREE()], request_log: { enabled: true } },
  });
  try {
    const [first] = await talk(gateway, "explained", 2);
    const answer = await fetch(`${gateway.address}/admin/v1/requests?limit=1`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    const { data } = await answer.json();
    assertEquals(data[0].routes[0].warm, first);
  } finally {
    await gateway.stop();
  }
});
