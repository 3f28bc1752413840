import { assertEquals, assertMatch } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { CLIENTS } from "./clients/all.ts";
import type { Answer, OfferedTool } from "./clients/client.ts";
import { VENDORS } from "./vendors.ts";

const WEATHER: OfferedTool = { name: "weather", description: "Tells the weather of a city", fields: ["city"] };

const gateway = await startTestGateway({ balance: "1000.00" });
const { address, key } = gateway;

const user = (text: string) => ({ kind: "user" as const, text });
const answers = ({ calls }: Answer, text: string) => ({
  kind: "tools" as const,
  answers: calls.map((call) => ({ call, text })),
});

for (const client of CLIENTS) {
  for (const first of VENDORS) {
    for (const second of VENDORS.filter((vendor) => vendor !== first)) {
      for (const stream of [false, true]) {
        const how = stream ? "streamed" : "whole";
        Deno.test({
          name: `${client.name}: a conversation moves from ${first.name} to ${second.name} and back, ${how}`,
          // Clients keep their connections open from test to test.
          sanitizeResources: false,
          sanitizeOps: false,
          async fn() {
            const talk = client.open({ address, key, model: first.model });
            const asking = { tools: [WEATHER], thinks: true, stream };
            const there = { ...asking, model: second.model };
            const asked = await talk.send(user('[[tool weather {"city":"Bern"}]] Weather?'), asking);
            assertEquals(asked.calls.length, 1);
            const told = await talk.send(answers(asked, "sunny"), there);
            assertMatch(told.text, /The tool weather answered: .*sunny/);
            const order = '[[tool weather {"city":"Oslo"}]] [[tool weather {"city":"Rome"}]] And there?';
            const again = await talk.send(user(order), there);
            assertEquals(again.calls.length, 2);
            const back = await talk.send(answers(again, "windy"), asking);
            assertMatch(back.text, /The tool weather answered: .*windy[^]*weather answered: .*windy/);
            const last = await talk.send(user("thank you"), { ...asking, model: first.model });
            assertEquals(last.text, "You said: thank you");
          },
        });
      }
    }
  }
}

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
