import { assertEquals } from "@std/assert";
import { readModel } from "../../src/catalog/model.ts";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { messages } from "../../src/conversation/codecs/messages/mod.ts";
import { reservedTariff } from "../../src/texts/service_tier.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";
import { bodyOf, requestOf } from "./support.ts";

const PRICES = {
  pricing: { prompt: "0.001", completion: "0.002" },
  pricing_tiers: { flex: { prompt: "0.0005" }, priority: { prompt: "0.01" } },
};
const MODEL = readModel({ id: "acme/m", ...PRICES, serves: [{ provider: "one", model: "vm" }] });
const { flex, priority } = MODEL.tiers;

for (
  const [tier, isTaken, tariff] of [
    ["flex", true, flex],
    ["priority", true, priority],
    ["priority", false, priority],
    ["default", false, MODEL.tariff],
  ] as const
) {
  Deno.test(`reservedTariff() reserves for ${tier} where it ${isTaken ? "is" : "may not be"} taken`, () => {
    const turn = { body: { service_tier: tier }, format: chat.caller };
    assertEquals(reservedTariff(turn, MODEL, () => isTaken), tariff);
  });
}

Deno.test("reservedTariff() reserves the usual prices where a cheaper tier may not be taken", () => {
  const turn = { body: { service_tier: "flex" }, format: chat.caller };
  assertEquals(reservedTariff(turn, MODEL, () => false).prompt, MODEL.tariff.prompt);
});

Deno.test("TextTurns asks a vendor of another format for the tier in its own word, and reserves by it", async () => {
  const estimates: bigint[] = [];
  for (const [tier, vendor, sentAs] of [["flex", "responses", "flex"], ["flex", "messages", undefined]] as const) {
    const stage = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] }, model: PRICES });
    const response = await stage.service.handle(requestOf("chat", { body: bodyOf("chat", { service_tier: tier }) }));
    assertEquals(itemAt(stage.sent, 0).body.service_tier, sentAs);
    assertEquals(response.headers.get("x-service-dropped")?.includes("service_tier") ?? false, sentAs === undefined);
    estimates.push(itemAt(stage.estimates, 0));
  }
  const [carried, lost] = atLeast(estimates, 2);
  assertEquals(carried < lost, true, "what may be served at the usual price is reserved at it");
});

Deno.test("TextTurns passes the words for tiers between formats", async () => {
  for (
    const [vendor, tier, sentAs] of [
      ["messages", "auto", "auto"],
      ["messages", "default", "standard_only"],
      ["messages", "priority", "auto"],
      ["responses", "default", "default"],
    ] as const
  ) {
    const stage = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] }, model: PRICES });
    await (await stage.service.handle(requestOf("chat", { body: bodyOf("chat", { service_tier: tier }) }))).text();
    assertEquals(itemAt(stage.sent, 0).body.service_tier, sentAs);
  }
  const turn = { body: { service_tier: "standard_only" }, format: messages.caller };
  assertEquals(reservedTariff(turn, MODEL, () => true), MODEL.tariff);
});
