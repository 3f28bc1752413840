import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  decodedImage,
  imageFile,
  type ImageGateway,
  type ImageGatewayOptions,
  imageModel,
  startImageGateway,
} from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";

const REQUEST = { model: "sandbox/painter-1", prompt: "a fox", quality: "low" };

async function withGateway(options: ImageGatewayOptions, test: (gateway: ImageGateway) => Promise<void>) {
  const gateway = await startImageGateway(options);
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

const ask = (gateway: ImageGateway, change: Record<string, unknown>, headers = {}) =>
  gateway.post("/v1/images/generations", { ...REQUEST, ...change }, headers);

/** A gateway in front of a stub of the default protocol, with the model `stub/painter-1`. */
function stubbed(address: string, fields: Record<string, unknown> = {}): ImageGatewayOptions {
  return {
    providers: { stub: { kind: "openai", base_url: `${address}/v1`, api_key: "stub-key" } },
    models: [imageModel("stub/painter-1", { edits: true }, ["stub"], fields)],
  };
}

Deno.test("an account without money is refused before any download or vendor call", async () => {
  await using files = startStubVendor(async () => new Response(await imageFile()));
  await withGateway({ balance: "0" }, async (gateway) => {
    const answer = await ask(gateway, { model: "sandbox/seer-1", input_images: [`${files.address}/a.png`] });
    assertEquals([answer.status, (await answer.json()).error.type], [402, "insufficient_credits"]);
    assertEquals([gateway.sandbox.requests.length, files.requestedPaths.length], [0, 0]);
  });
});

Deno.test("a refusal has the vendor's message, is not retried elsewhere and costs nothing", async () => {
  await withGateway({}, async (gateway) => {
    const before = await gateway.balance();
    for (const model of ["sandbox/split-1", "sandbox/muse-1", "sandbox/seer-1", "sandbox/grok-1"]) {
      for (const stream of [false, true]) {
        const answer = await ask(gateway, { model, prompt: `[[refuse]] ${model} ${stream}`, stream });
        assertEquals(answer.status, 400, model);
        assert((await answer.json()).error.message.length > 10);
      }
    }
    assertEquals(gateway.sandbox.requests.length, 8);
    assertEquals(await gateway.balance(), before);
  });
});

Deno.test("a failed request leaves no reservation", async () => {
  // Enough for one image of either model, and for a few of the first.
  await withGateway({ balance: "0.05" }, async (gateway) => {
    for (let i = 0; i < 16; i++) {
      const answer = await ask(gateway, { prompt: `[[refuse]] fox ${i}` });
      assertEquals(answer.status, 400);
      await answer.body?.cancel();
    }
    const input_images = ["http://10.0.0.1/a.png"];
    for (let i = 0; i < 2; i++) {
      const answer = await ask(gateway, { model: "sandbox/seer-1", input_images });
      assertEquals(answer.status, 400);
      await answer.body?.cancel();
    }
  });
});

Deno.test("an image is charged at the catalog's price per image where the model has one", async () => {
  await withGateway({}, async (gateway) => {
    const answer = await ask(gateway, { model: "sandbox/grok-1", n: 2, quality: "high" });
    assertEquals((await answer.json()).usage, {
      input_tokens: 0,
      input_tokens_details: { text_tokens: 0 },
      output_tokens: 0,
      total_tokens: 0,
    });
    assertEquals(await gateway.balance(), "24.8800000000");
  });
});

Deno.test("tokens that a vendor does not report are estimated, and reported and charged alike", async () => {
  await withGateway({}, async (gateway) => {
    const answer = await ask(gateway, { prompt: "a fox [[nousage]]" });
    const { usage } = await answer.json();
    assertEquals([usage.input_tokens, usage.output_tokens], [5, 272 * 1.5]);
    // 5 × 0.000001 + 408 × 0.00001
    assertEquals(await gateway.balance(), "24.9959150000");
  });
});

Deno.test("cached tokens are charged at the prices of cached tokens", async () => {
  const b64_json = (await imageFile()).toBase64();
  const usage = {
    input_tokens: 400,
    input_tokens_details: { text_tokens: 100, image_tokens: 300, cached_tokens: 200 },
    output_tokens: 10,
  };
  await using vendor = startStubVendor(() => Response.json({ data: [{ b64_json }], usage }));
  const pricing = {
    prompt: "0.000010",
    input_cache_read: "0.000001",
    image_input: "0.000020",
    image_input_cache_read: "0.000002",
    image_output: "0.000100",
  };
  await withGateway(stubbed(vendor.address, { pricing }), async (gateway) => {
    await (await ask(gateway, { model: "stub/painter-1" })).body?.cancel();
    // 100 × 1 + 200 × 20 + 100 × 2 + 10 × 100 millionths: as many images as possible are fresh.
    assertEquals(await gateway.balance(), "24.9947000000");
  });
});

Deno.test("images at a URL are downloaded, measured and returned as base64", async () => {
  const png = await imageFile({ width: 96, height: 64 });
  let address = "";
  await using vendor = startStubVendor((request) =>
    request.method === "GET" ? new Response(png) : Response.json({ data: [{ url: `${address}/made.png` }] })
  );
  address = vendor.address;
  await withGateway(stubbed(address, { pricing: { per_image: "0.5" } }), async (gateway) => {
    const { data, size } = await (await ask(gateway, { model: "stub/painter-1" })).json();
    assertEquals(data[0].b64_json, png.toBase64());
    assertEquals(size, "96x64");
    assertEquals(await gateway.balance(), "24.5000000000");
  });
});

Deno.test("an image that cannot be downloaded is an upstream failure and costs nothing", async () => {
  const results = [
    { url: "http://10.1.2.3/made.png" },
    { url: "http://127.0.0.1:1/made.png" },
    { url: "file:///etc/passwd" },
    { b64_json: 'no"base64' },
  ];
  await using vendor = startStubVendor((_, nth) => Response.json({ data: [results[nth]] }));
  await withGateway(stubbed(vendor.address, { pricing: { per_image: "0.5" } }), async (gateway) => {
    for (const _ of results) {
      const answer = await ask(gateway, { model: "stub/painter-1" });
      assertEquals([answer.status, (await answer.json()).error.code], [502, "upstream_error"]);
    }
    assertEquals(await gateway.balance(), "25.0000000000");
  });
});

Deno.test("several calls return and cost what they made, also when one of them fails", async () => {
  const b64_json = (await imageFile({ width: 1280, height: 720 })).toBase64();
  await using vendor = startStubVendor((_, nth) =>
    nth === 1
      ? Response.json({ error: { code: "x", message: "busy" } }, { status: 503 })
      : Response.json({ data: [{ b64_json }] })
  );
  await withGateway({
    providers: { stub: { kind: "ark", base_url: vendor.address, api_key: "stub-key" } },
    models: [imageModel("stub/seer-1", { series: "reference" }, ["stub"], { pricing: { per_image: "0.5" } })],
  }, async (gateway) => {
    const { data } = await (await ask(gateway, { model: "stub/seer-1", n: 3 })).json();
    assertEquals(data.map(({ index }: { index: number }) => index), [0, 1]);
    assertEquals((await decodedImage(data[0].b64_json)).width, 1280);
    assertEquals(vendor.requestedPaths.length, 3);
    assertEquals(await gateway.balance(), "24.0000000000");
  });
});

Deno.test("a failing provider is followed by the next, and the request is charged once", async () => {
  await withGateway({ random: () => 0 }, async (gateway) => {
    for (const stream of [false, true]) {
      const answer = await ask(gateway, { model: "sandbox/split-1", prompt: `[[flaky 1]] fox ${stream}`, stream });
      assertEquals([answer.status, answer.headers.get("x-service-provider")], [200, "two"]);
      await answer.text();
    }
    assertEquals(gateway.sandbox.requests.length, 4);
    // Two images of 272 tokens, and the words of their prompts.
    assertStringIncludes(await gateway.balance(), "24.9945");
    assert(gateway.logLines.some((line) => line.includes("upstream_failed_over")));
  });
});

Deno.test("a pinned request goes only to its provider", async () => {
  await withGateway({ random: () => 0 }, async (gateway) => {
    const pin = (type: string) => ({ model: "sandbox/split-1", extra_body: { provider: { type } } });
    const byBody = await ask(gateway, pin("two"));
    assertEquals(byBody.headers.get("x-service-provider"), "two");
    await byBody.body?.cancel();
    const failed = await ask(gateway, { ...pin("two"), prompt: "[[flaky 1]] pinned" });
    assertEquals(failed.status, 503);
    await failed.body?.cancel();
    const both = await ask(gateway, pin("two"), { "x-service-provider-type": "one" });
    assertEquals([both.status, (await both.json()).error.type], [400, "invalid_request_error"]);
    const unknown = await ask(gateway, pin("nosuch"));
    assertEquals([unknown.status, (await unknown.json()).error.type], [400, "invalid_provider_type"]);
    const other = await ask(gateway, { ...pin("two"), model: "sandbox/painter-1" });
    const { error } = await other.json();
    assertEquals([other.status, error.type], [400, "provider_type_unavailable"]);
    assertStringIncludes(error.message, '"one"');
  });
});

Deno.test("images whose tokens are charged are all returned", async () => {
  const b64_json = (await imageFile()).toBase64();
  const usage = { input_tokens: 10, output_tokens: 200 };
  await using vendor = startStubVendor(() => Response.json({ data: [{ b64_json }, { b64_json }], usage }));
  await withGateway(stubbed(vendor.address), async (gateway) => {
    const answer = await ask(gateway, { model: "stub/painter-1" });
    assertEquals((await answer.json()).data.length, 2);
    assertEquals(await gateway.balance(), "24.9979900000"); // 10 × 1 + 200 × 10 millionths
  });
});

Deno.test("an image without reported tokens is charged as what was made, never above what was ordered", async () => {
  const pricing = { image_output: "0.00001" };
  for (
    const [made, reported, tokens] of [
      [{ width: 512, height: 512 }, {}, 1_040], // a quarter of 4,160
      [{ width: 1024, height: 1024 }, {}, 4_160],
      [{ width: 2048, height: 2048 }, {}, 4_160],
      [{ width: 1024, height: 1024 }, { quality: "medium" }, 1_056],
    ] as const
  ) {
    const b64_json = (await imageFile(made)).toBase64();
    await using vendor = startStubVendor(() => Response.json({ data: [{ b64_json }], ...reported }));
    await withGateway(stubbed(vendor.address, { pricing }), async (gateway) => {
      const answer = await ask(gateway, { model: "stub/painter-1", quality: "high", size: "1024x1024" });
      assertEquals((await answer.json()).usage.output_tokens, tokens);
      assertEquals(await gateway.balance(), (25 - tokens / 1e5).toFixed(10));
    });
  }
});

const NO_IMAGES = [
  ["text/html", "<html>login</html>"],
  ["application/json", '{"error":"expired"}'],
  ["application/xml", "<Error><Code>AccessDenied</Code></Error>"],
  ["image/png", "Not found"],
  ["image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'></svg>"],
  ["image/png", ""],
] as const;

for (const kind of ["at an address", "as base64", "as a data URI"]) {
  Deno.test(`what is no image returns 502 and costs nothing ${kind}, whole and streamed`, async () => {
    let address = "";
    let [type, text]: readonly [string, string] = NO_IMAGES[0];
    await using vendor = startStubVendor((request) => {
      if (request.method === "GET") return new Response(text, { headers: { "content-type": type } });
      const inline = btoa(text);
      const image = kind === "at an address"
        ? { url: `${address}/made.png` }
        : { b64_json: kind === "as base64" ? inline : `data:${type};base64,${inline}` };
      return Response.json({ data: [image], usage: { input_tokens: 5, output_tokens: 100 } });
    });
    address = vendor.address;
    await withGateway(stubbed(address), async (gateway) => {
      for ([type, text] of NO_IMAGES) {
        for (const stream of [false, true]) {
          const answer = await ask(gateway, { model: "stub/painter-1", stream });
          assertEquals([answer.status, (await answer.json()).error.type], [502, "upstream_error"], text);
        }
      }
      assertEquals(await gateway.balance(), "25.0000000000");
    });
  });
}

Deno.test("an image of an unknown kind is returned, and logged once for its provider", async () => {
  const b64_json = Uint8Array.of(1, 2, 3, 4, 250).toBase64();
  await using vendor = startStubVendor(() => Response.json({ data: [{ b64_json }], output_format: "x-new" }));
  await withGateway(stubbed(vendor.address), async (gateway) => {
    for (let i = 0; i < 2; i++) {
      assertEquals((await (await ask(gateway, { model: "stub/painter-1" })).json()).data[0].b64_json, b64_json);
    }
    assertEquals(gateway.logLines.filter((line) => line.includes("medium_unknown")).length, 1);
  });
});
