import { assert, assertEquals, assertMatch } from "@std/assert";
import { itemAt } from "../../support/items.ts";
import { ALL_MODES, startVideoGateway, type VideoGateway } from "../../support/video_gateway.ts";

/** An image of one pixel. */
const PIXEL = "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = (url = PIXEL) => ({ type: "image_url", image_url: { url } });
const LOGO = "asset://logo";

/** Two accounts at one vendor; the second one lets callers use its logo and a mascot. */
async function withGateway(play: (gateway: VideoGateway, vendor: VideoGateway) => Promise<void>): Promise<void> {
  const origin = await startVideoGateway();
  const { ark } = origin.sandbox.baseUrls;
  const provider = { kind: "ark", base_url: ark, api_key: "sandbox-key-ark" };
  const video = {
    modes: ALL_MODES,
    price_per_second: { default: "0.10" },
    resolutions: ["480p", "720p"],
    aspect_ratios: ["16:9", "9:16"],
    references: { image: 2, audio: 0, video: 1 },
    duration: { min: 4, max: 10 },
  };
  const both = [{ provider: "first" }, { provider: "second" }];
  const gateway = await startVideoGateway({
    config: {
      providers: {
        first: { ...provider, allow_references: ["asset:asset://mascot"] },
        second: { ...provider, allow_references: [`asset:${LOGO}`, "asset:asset://mascot"] },
      },
      models: [
        { id: "acme/short", video, serves: both },
        { id: "acme/elsewhere", video, serves: [both[0]] },
        { id: "acme/clips", video: { ...video, duration: { only: [4, 6, 8] } }, serves: both },
      ],
    },
  });
  try {
    await play(gateway, origin);
  } finally {
    await gateway.stop();
    await origin.stop();
  }
}

Deno.test("unsupported aspect ratios and references are rejected at the create, and the catalog lists supported ones", () =>
  withGateway(async ({ call }) => {
    const refusalOf = async (fields: object) => {
      const body = { model: "acme/short", prompt: "A lighthouse", ...fields };
      const { status, json } = await call("POST", "/v1/videos", body);
      assertEquals(status, 400);
      return [json.error.code, json.error.message];
    };
    assertEquals(await refusalOf({ aspect_ratio: "1:1" }), [
      "invalid_request",
      'Cannot read "aspect_ratio": expected one of 16:9, 9:16 for "acme/short"',
    ]);
    assertEquals(
      (await refusalOf({ size: "640x640" }))[1],
      'Cannot read "size": expected an aspect ratio of 16:9, 9:16 for "acme/short"',
    );
    assertMatch((await refusalOf({ resolution: "1080p" }))[1], /expected one of 480p, 720p/);
    assertEquals(await refusalOf({ input_references: [image(), image(), image()] }), [
      "too_many_references",
      'Cannot use 3 references of type image_url with "acme/short": expected at most 2',
    ]);
    const { json: model } = await call("GET", "/v1/models/acme/short");
    assertEquals(model.video, {
      modes: ALL_MODES,
      resolutions: ["480p", "720p"],
      default_resolution: "720p",
      aspect_ratios: ["16:9", "9:16"],
      duration: { min: 4, max: 10, default: 5, auto: false },
      audio: "never",
      max_references: { image: 2, audio: 0, video: 1 },
    });
    const framed = { frame_images: [{ ...image(), frame_type: "first_frame" }], aspect_ratio: "1:1" };
    const { status } = await call("POST", "/v1/videos", { model: "acme/short", prompt: "A lighthouse", ...framed });
    assertEquals(status, 202, "a frame has a shape of its own");
  }));

Deno.test("a model with fixed durations rejects any other at the create, and the error lists them", () =>
  withGateway(async ({ call, create, until }) => {
    const body = { model: "acme/clips", prompt: "A lighthouse", duration: 5 };
    const { status, json } = await call("POST", "/v1/videos", body);
    assertEquals([status, json.error.code, json.error.message], [
      400,
      "invalid_request",
      'Cannot read "duration": expected 4, 6 or 8 seconds for "acme/clips"',
    ]);
    const id = await create({ model: "acme/clips", prompt: "A lighthouse [[queue 0]] [[run 0]]" });
    assertEquals(((await until(id, "completed")).usage as { video_seconds: number }).video_seconds, 6);
    const { json: model } = await call("GET", "/v1/models/acme/clips");
    assertEquals(model.video.duration, { min: 4, max: 8, only: [4, 6, 8], default: 6, auto: false });
    const { json: { data } } = await call("GET", "/v1/videos/models");
    const listed = data.find(({ id }: { id: string }) => id === "acme/clips");
    assertEquals(listed.supported_durations, [4, 6, 8]);
  }));

Deno.test("an asset of the operator's vendor account goes to the provider that allows it, and to no other", () =>
  withGateway(async ({ call, create, until }, { created }) => {
    const fields = { model: "acme/short", input_references: [image(LOGO), image()] };
    for (let round = 0; round < 5; round++) {
      const id = await create(fields);
      assertEquals((await until(id, "completed")).provider, "second");
    }
    const part = itemAt(
      (itemAt(created(), 0).body as { content: { image_url?: { url: string } }[] }).content.slice(1),
      0,
    );
    assertEquals(part.image_url?.url, LOGO);
    const refusalOf = async (body: object) => {
      const { status, json } = await call("POST", "/v1/videos", { prompt: "A lighthouse", ...body });
      assertEquals(status, 400);
      return json.error.message;
    };
    for (const body of [{ ...fields, provider: { type: "first" } }, { ...fields, model: "acme/elsewhere" }]) {
      assertMatch(await refusalOf(body), /^Cannot read "input_references\[0\].image_url.url": it is an asset/);
    }
    assertMatch(
      await refusalOf({ ...fields, input_references: [image("asset://other")] }),
      /allow_references does not/,
    );
    const shared = { ...fields, input_references: [image("asset://mascot")] };
    assertMatch(await refusalOf(shared), /select one of first, second in "provider.type"/);
    assert((await call("POST", "/v1/videos", { ...shared, prompt: "x", provider: { type: "first" } })).status === 202);
    assertMatch(
      await refusalOf({ ...fields, input_references: [image("mm_file://1")] }),
      /expected an absolute https or http address/,
    );
  }));
