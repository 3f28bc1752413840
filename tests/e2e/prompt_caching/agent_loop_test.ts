import { assert, assertEquals } from "@std/assert";
import { agentLoop, costOf, sendChat, startCachingGateway, wordsOf } from "./caching_gateway.ts";

const isolated = [1, 2];

for (const isolates of isolated) {
  Deno.test(`an agent's loop from a chat caller to Claude costs at most a quarter, ${isolates} threads`, async () => {
    const gateway = await startCachingGateway({ isolates });
    try {
      const without = await agentLoop(gateway, "off", { name: "a", turns: 20 });
      const marked = await agentLoop(gateway, "claude-opus-4-8", { name: "a", turns: 20 });
      assertEquals(without.map(({ readTokens }) => readTokens), without.map(() => 0));
      const share = costOf(marked) / costOf(without);
      assert(share <= 0.25, `the loop cost ${share} of what it costs without marks`);
      assertEquals(marked[0]?.saved, null, "the first turn pays for no write");
    } finally {
      await gateway.stop();
    }
  });
}

Deno.test("single requests that differ cost exactly what they cost without marks, and have none", async () => {
  const gateway = await startCachingGateway();
  try {
    for (let index = 0; index < 40; index++) {
      const messages = [
        { role: "system", content: wordsOf(`system-${index}-`, 1_200) },
        { role: "user", content: wordsOf(`question-${index}-`, 20) },
      ];
      const one = await sendChat(gateway, "claude-opus-4-8", messages);
      const other = await sendChat(gateway, "off", messages);
      assertEquals(one.cost, other.cost);
      assertEquals(one.saved, null);
    }
    const bodies = gateway.sandbox.requests.map(({ body }) => JSON.stringify(body));
    assertEquals(bodies.filter((body) => body.includes("cache_control")), []);
  } finally {
    await gateway.stop();
  }
});

Deno.test("a prefix that was seen before is marked, and read from the third request on", async () => {
  const gateway = await startCachingGateway();
  try {
    const system = { role: "system", content: wordsOf("shared", 1_500) };
    const turns = [];
    for (const question of ["one", "two", "three"]) {
      turns.push(await sendChat(gateway, "claude-opus-4-8", [system, { role: "user", content: question }]));
    }
    assertEquals(turns.map(({ saved }) => saved === null ? null : Math.sign(saved)), [null, -1, 1]);
    assert((turns[2]?.readTokens ?? 0) >= 1_500);
  } finally {
    await gateway.stop();
  }
});
