import { assertEquals } from "@std/assert";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { messages } from "../../src/conversation/codecs/messages/mod.ts";
import { reachableTiers } from "../../src/services/texts/plan/service_tier.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";
import { bodyOf, requestOf } from "./support.ts";

const PRICES = {
  pricing: { prompt: "0.001", completion: "0.002" },
  pricing_tiers: { flex: { prompt: "0.0005" }, priority: { prompt: "0.01" } },
};
const MODEL = readModel({ id: "acme/m", ...PRICES, serves: [{ provider: "one", model: "vm" }] });

for (
  const [tier, isTaken, tiers] of [
    ["flex", true, ["flex"]],
    ["priority", true, ["priority"]],
    ["priority", false, ["priority", null]],
    ["default", false, [null]],
  ] as const
) {
  Deno.test(`reachableTiers() has ${tier} if it ${isTaken ? "is" : "may not be"} supported`, () => {
    const request = { body: { service_tier: tier }, format: chat.caller };
    assertEquals(reachableTiers(request, MODEL, () => isTaken), tiers);
  });
}

Deno.test("TextService requests the tier from a vendor of another format in its own term, and reserves by it", async () => {
  const estimates: bigint[] = [];
  for (const [tier, vendor, sentAs] of [["flex", "responses", "flex"], ["flex", "messages", undefined]] as const) {
    const gateway = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] }, model: PRICES });
    const response = await gateway.service.handle(requestOf("chat", { body: bodyOf("chat", { service_tier: tier }) }));
    assertEquals(itemAt(gateway.sent, 0).body.service_tier, sentAs);
    assertEquals(response.headers.get("x-service-dropped")?.includes("service_tier") ?? false, sentAs === undefined);
    estimates.push(itemAt(gateway.estimates, 0));
  }
  const [carried, lost] = atLeast(estimates, 2);
  assertEquals(carried < lost, true, "what may be served at the usual price is reserved at it");
});

Deno.test("TextService translates the terms for tiers between formats", async () => {
  for (
    const [vendor, tier, sentAs] of [
      ["messages", "auto", "auto"],
      ["messages", "default", "standard_only"],
      ["messages", "priority", "auto"],
      ["responses", "default", "default"],
    ] as const
  ) {
    const gateway = textGatewayOf({ providers: { one: [vendor, wholeReply(vendor)] }, model: PRICES });
    await (await gateway.service.handle(requestOf("chat", { body: bodyOf("chat", { service_tier: tier }) }))).text();
    assertEquals(itemAt(gateway.sent, 0).body.service_tier, sentAs);
  }
  const request = { body: { service_tier: "standard_only" }, format: messages.caller };
  assertEquals(reachableTiers(request, MODEL, () => true), [null]);
});
