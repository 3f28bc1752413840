import { assertEquals } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { FORMATS, PAIRS } from "../support/formats.ts";
import { itemAt } from "../support/items.ts";
import { textGatewayOf, wholeReply } from "../texts/text_gateway.ts";
import { requestOf } from "../texts/support.ts";
import { doneByGateway } from "./done_by_gateway.ts";
import { isSilent } from "./judgement.ts";
import type { Outcome } from "./outcome.ts";
import { parametersOf } from "./parameters.ts";
import { type Probe, probesOf } from "./probes.ts";

const MODEL = {
  top_provider: { max_completion_tokens: 64_000 },
  pricing_tiers: { flex: {}, priority: {}, scale: {}, fast: {}, ultrafast: {} },
};

/** All parameters of the request itself and their direct members. */
const probes = new Map<CallerFormatName, readonly Probe[]>();
for (const form of FORMATS) {
  const all = probesOf(form, await parametersOf(form));
  probes.set(form, all.filter(({ steps }) => steps.length <= 2 && itemAt(steps, 0).key !== "stream"));
}

for (const [from, to] of PAIRS) {
  Deno.test(`a ${from} request to a ${to} vendor has its fields sent, or in X-Service-Dropped, or rejected`, async () => {
    const stage = textGatewayOf({ providers: { one: [to, wholeReply(to)] }, model: MODEL });
    const silent: string[] = [];
    for (const probe of probes.get(from)!) {
      const [outcome, baseline] = [await run(probe.with), await run(probe.without)];
      if (isSilent(probe, outcome, baseline) && doneByGateway(from, to, probe) === null) silent.push(probe.title);
    }
    assertEquals(silent, []);

    async function run(body: JsonObject): Promise<Outcome> {
      try {
        const response = await stage.service.handle(requestOf(from, { body, stream: false }));
        const dropped = response.headers.get("x-service-dropped")?.split(", ") ?? [];
        await response.body?.cancel();
        return { kind: "sent", body: JSON.stringify(stage.sent.at(-1)!.body), dropped };
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        return { kind: "refused", field: error.details.field ?? "", message: error.message };
      }
    }
  });
}
