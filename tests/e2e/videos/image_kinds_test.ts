import { assertEquals, assertStringIncludes } from "@std/assert";
import { UNUSUAL_IMAGES } from "../../support/unusual_images.ts";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway();

type Kind = keyof typeof UNUSUAL_IMAGES;
const frame = (kind: Kind) => ({
  type: "image_url",
  // What the sender declares does not matter.
  image_url: { url: `data:image/jpeg;base64,${UNUSUAL_IMAGES[kind]}` },
  frame_type: "first_frame",
});

async function framed(kind: Kind, fields: Record<string, unknown> = {}) {
  return await gateway.call("POST", "/v1/videos", { ...VALID_BODY, frame_images: [frame(kind)], ...fields });
}

Deno.test("pictures of kinds that Ark takes arrive as they were sent, with the type that they have", async () => {
  const types = {
    heic: "image/heic",
    animatedPng: "image/png",
    animatedWebp: "image/webp",
    animatedGif: "image/gif",
    webpWithAlpha: "image/webp",
    cmykJpeg: "image/jpeg",
    rotatedJpeg: "image/jpeg",
    png16: "image/png",
  } as const;
  for (const [kind, type] of Object.entries(types) as [keyof typeof types, string][]) {
    const { status, json, text } = await framed(kind);
    assertEquals([kind, status], [kind, 202], text);
    await gateway.until(json.id, "completed");
    const { content } = gateway.created().at(-1)!.body as { content: { image_url?: { url: string } }[] };
    const sent = content.find((part) => part.image_url)?.image_url?.url;
    assertEquals([kind, sent], [kind, `data:${type};base64,${UNUSUAL_IMAGES[kind]}`]);
  }
});

Deno.test("a picture of a kind that no provider takes is refused with the reason code and the position", async () => {
  const before = gateway.created().length;
  for (
    const [fields, position] of [
      [{}, "frame_images[0]"],
      [{
        frame_images: undefined,
        input_references: [frame("png16"), frame("avif")].map(({ type, image_url }) => ({ type, image_url })),
      }, "input_references[1]"],
    ] as const
  ) {
    for (const headers of [{}, { "x-service-dry-run": "true" }]) {
      const body = { ...VALID_BODY, frame_images: [frame("avif")], ...fields };
      const { status, json } = await gateway.call("POST", "/v1/videos", body, {
        authorization: `Bearer ${gateway.key}`,
        ...headers,
      });
      assertEquals([status, json.error.code], [400, "invalid_request"]);
      assertStringIncludes(json.error.message, "which is image/avif; the providers of the model take image/jpeg, ");
      assertEquals(json.error.message.endsWith(`: not_image at ${position}`), true, json.error.message);
    }
  }
  assertEquals(gateway.created().length, before);
});

Deno.test("a picture of a kind that a vendor does not name is refused, although another vendor takes it", async () => {
  for (
    const [model, kind, type] of [
      ["sandbox/video-openrouter", "animatedGif", "image/gif"],
      ["sandbox/video-vidu", "animatedGif", "image/gif"],
      ["sandbox/video-luma", "heic", "image/heic"],
      ["sandbox/video-kling", "webpWithAlpha", "image/webp"],
    ] as const
  ) {
    const { status, json } = await framed(kind, { model });
    assertEquals([model, status, json.error?.code], [model, 400, "invalid_request"]);
    assertStringIncludes(json.error.message, `which is ${type}; the providers of the model take image/jpeg, image/png`);
  }
});

Deno.test("real_person turns pictures of unusual kinds into JPEG or PNG, and refuses what cannot be decoded", async () => {
  for (const kind of ["animatedPng", "animatedWebp", "animatedGif", "webpWithAlpha", "cmykJpeg", "png16"] as const) {
    const { status, json, text } = await framed(kind, { real_person: true });
    assertEquals([kind, status], [kind, 202], text);
    await gateway.until(json.id, "completed");
  }
  for (const kind of ["heic", "avif"] as const) {
    const { status, json } = await framed(kind, { real_person: true });
    assertEquals([kind, status, json.error.code], [kind, 400, "invalid_request"]);
    assertEquals(json.error.message.endsWith("not_image at frame_images[0]"), true, json.error.message);
  }
});

Deno.test("the gateway of the unusual frames stops", () => gateway.stop());
