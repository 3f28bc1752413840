import { assert, assertEquals } from "@std/assert";
import { RECORDINGS } from "../support/recordings.ts";
import { recordedAnswer } from "../support/vendor_stage.ts";
import { imageModel, startImageGateway } from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";

const TOKENS = { prompt: "0.000001", image_output: "0.00001" };

Deno.test({
  name:
    "all images of a recorded answer of Ark are returned, and the ordered ones charged (skipped without recordings)",
  ignore: RECORDINGS === null,
  async fn() {
    const recorded = recordedAnswer("ark/images-two");
    assert(recorded !== null);
    await using vendor = startStubVendor(() => Response.json(recorded.body, { status: recorded.status }));
    const gateway = await startImageGateway({
      providers: { stub: { kind: "ark", base_url: vendor.address, api_key: "stub-key" } },
      models: [
        imageModel("stub/priced-1", { series: "reference" }, ["stub"], { pricing: { per_image: "0.04" } }),
        imageModel("stub/tokens-1", { series: "reference" }, ["stub"], { pricing: TOKENS }),
      ],
    });
    try {
      const ask = async (model: string, stream: boolean) => {
        const before = Number(await gateway.balance());
        const body = { model, prompt: "a fox", quality: "low", size: "1024x1024", stream };
        const answer = await gateway.post("/v1/images/generations", body);
        const text = await answer.text();
        assertEquals(answer.status, 200, text);
        const given = stream
          ? [...text.matchAll(/"b64_json":"([^"]*)"/g)].map(([, data]) => data)
          : JSON.parse(text).data.map(({ b64_json }: { b64_json: string }) => b64_json);
        return { given, cost: Math.round((before - Number(await gateway.balance())) * 1e6) };
      };
      for (const stream of [false, true]) {
        const priced = await ask("stub/priced-1", stream);
        assertEquals([stream, priced], [stream, { given: ["test1234", "test5678"], cost: 40_000 }]);
        // One was ordered: 2 tokens of text, and 272 of an image of low quality.
        const counted = await ask("stub/tokens-1", stream);
        assertEquals([stream, counted], [stream, { given: ["test1234", "test5678"], cost: 2_722 }]);
      }
    } finally {
      await gateway.stop();
    }
  },
});
