import { assertEquals } from "@std/assert";
import { costOf } from "../../src/money/billing/prices/tariff.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { imageQuantitiesOf } from "../../src/services/images/consumption.ts";
import { writeMoney } from "../../src/platform/lib/basics/money.ts";
import { NO_CONSUMPTION } from "../../src/vendors/upstreams/shared/images/image_reply.ts";
import type { ImageConsumption } from "../../src/vendors/upstreams/contract/image_upstream.ts";

function costWith(pricing: Record<string, string>, consumed: Partial<ImageConsumption>, made: number, given: number) {
  const model = readModel({ id: "acme/m", image: {}, serves: [{ provider: "acme" }], pricing });
  return writeMoney(costOf(imageQuantitiesOf({ ...NO_CONSUMPTION, ...consumed }, { made, given }), model.tariff));
}

Deno.test("imageQuantitiesOf() bills tokens, images and the request", () => {
  const byTokens = { prompt: "0.000005", image_input: "0.00001", image_output: "0.00004" };
  const consumed = { textTokens: 100, imageTokens: 1000, outputTokens: 4160 };
  assertEquals(costWith(byTokens, consumed, 1, 1), "0.1769000000");
  assertEquals(
    costWith({ per_image: "0.04", per_input_image: "0.01", request: "0.001" }, {}, 2, 1),
    "0.0910000000",
  );
});

Deno.test("imageQuantitiesOf() counts as many tokens of images as possible as fresh", () => {
  const pricing = {
    prompt: "0.00001",
    input_cache_read: "0.000001",
    image_input: "0.0001",
    image_input_cache_read: "0.00001",
  };
  const consumed = { textTokens: 100, imageTokens: 300, cachedTokens: 200 };
  // Of 200 cached tokens 100 are text and 100 images.
  assertEquals(costWith(pricing, consumed, 0, 0), "0.0211000000");
  // As the vendor reports them: 50 are text and 150 images.
  assertEquals(costWith(pricing, { ...consumed, cachedImageTokens: 150 }, 0, 0), "0.0170500000");
  assertEquals(costWith(pricing, { ...consumed, cachedTokens: 900 }, 0, 0), "0.0031000000");
});
