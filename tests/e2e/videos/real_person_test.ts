import { assert, assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { imageSize } from "image-size";
import { itemAt } from "../../support/items.ts";
import { closedOrigin, startVideoGateway } from "../../support/video_gateway.ts";
import { silentWav } from "../../support/wav.ts";

const gateway = await startVideoGateway();
const { call, create, until } = gateway;

/** A host of valid and invalid images. */
const host = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const { pathname } = new URL(request.url);
  switch (pathname) {
    case "/photo.jpg":
      return new Response(await photo(40, 30), { headers: { "content-type": "image/jpeg" } });
    case "/large.png":
      return new Response(await picture(3_000, 100, "image/png"));
    case "/huge.png":
      return new Response(pngHead(20_000, 10_000));
    case "/endless":
      return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)) }));
    case "/page.html":
      return new Response("<html>a page</html>", { headers: { "content-type": "image/png" } });
    case "/cut.jpg":
      return new Response((await photo(400, 300)).slice(0, 700));
    case "/metadata":
      return new Response(null, { status: 302, headers: { location: "http://169.254.169.254/latest" } });
    default:
      return new Response("nothing", { status: 404 });
  }
});
/** Closes every connection without a response. */
const rudeHost = Deno.listen({ port: 0, hostname: "127.0.0.1" });
const rude = `http://127.0.0.1:${rudeHost.addr.port}/a.png`;
(async () => {
  for await (const connection of rudeHost) connection.close();
})();
const origin = `http://127.0.0.1:${host.addr.port}`;
const image = (url: string) => ({ type: "image_url", image_url: { url } });

async function picture(width: number, height: number, type: string): Promise<Uint8Array<ArrayBuffer>> {
  const bitmap = await createImageBitmap(
    new ImageData(new Uint8ClampedArray(width * height * 4).fill(200), width, height),
  );
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("bitmaprenderer")!.transferFromImageBitmap(bitmap);
  return new Uint8Array(await (await canvas.convertToBlob({ type })).arrayBuffer());
}

/** A JPEG with EXIF orientation 6 and a comment that must be removed. */
async function photo(width: number, height: number): Promise<Uint8Array<ArrayBuffer>> {
  const plain = await picture(width, height, "image/jpeg");
  const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0];
  const exif = [...new TextEncoder().encode("Exif"), 0, 0, ...tiff, ...new TextEncoder().encode("SECRET PLACE")];
  const segment = [0xff, 0xe1, (exif.length + 2) >> 8, (exif.length + 2) & 255, ...exif];
  return new Uint8Array([...plain.slice(0, 2), ...segment, ...plain.slice(2)]);
}

function pngHead(width: number, height: number): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(64);
  bytes.write("\x89PNG\r\n\x1a\n", 0, "latin1");
  bytes.writeUInt32BE(13, 8);
  bytes.write("IHDR", 12, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return new Uint8Array(bytes);
}

const FAULTS: readonly [what: string, url: string, code: string][] = [
  ["malformed data", "data:image/png;base64,@@", "bad_data_uri"],
  ["data that is not base64", "data:image/png,abc", "bad_data_uri"],
  ["a host that refuses", `${closedOrigin()}/a.png`, "download_failed"],
  ["a host that breaks off", rude, "download_failed"],
  ["a redirect to a metadata address", `${origin}/metadata`, "download_failed"],
  ["a private address", "http://10.1.2.3/a.png", "download_failed"],
  ["a 404", `${origin}/nothing.png`, "unreachable"],
  ["a page that is called an image", `${origin}/page.html`, "not_image"],
  ["a truncated JPEG", `${origin}/cut.jpg`, "not_image"],
  ["200 megapixels", `${origin}/huge.png`, "too_large"],
  ["a file without end", `${origin}/endless`, "too_large"],
];

for (const [what, url, code] of FAULTS) {
  Deno.test(`real_person with ${what} is 400 invalid_request that ends in ${code} and the position`, async () => {
    const fields = { input_references: [image(`${origin}/photo.jpg`), image(url)] };
    const sent = gateway.created().length;
    const { status, json } = await call("POST", "/v1/videos", {
      model: "sandbox/video-1",
      prompt: "Someone",
      real_person: true,
      ...fields,
    });
    assertEquals([status, json.error.code], [400, "invalid_request"]);
    assertMatch(json.error.message, new RegExp(`${code} at input_references\\[1\\]$`));
    assertEquals(gateway.created().length, sent);
    assertEquals([...Deno.readDirSync(gateway.filesFolder)].filter(({ name }) => name.includes("-in-")), []);
  });
}

Deno.test("real_person sends every image upright, at most 2048 pixels a side and without metadata", async () => {
  const input_references = [image(`${origin}/photo.jpg`), image(`${origin}/large.png`)];
  const id = await create({ real_person: true, input_references });
  await until(id, "completed");
  const body = gateway.created().map((seen) => seen.body as Record<string, unknown>)
    .find(({ safety_identifier }) => safety_identifier === id)!;
  const content = body.content as { image_url?: { url: string } }[];
  const sent = content.flatMap(({ image_url }) => image_url?.url ?? []);
  const sizes = sent.map((uri) => imageSize(new Uint8Array(Buffer.from(itemAt(uri.split(","), 1), "base64"))));
  assertEquals(sizes.map(({ width, height, type }) => [width, height, type]), [[30, 40, "jpg"], [2048, 68, "png"]]);
  assert(!Buffer.from(itemAt(itemAt(sent, 0).split(","), 1), "base64").includes("SECRET"));
});

Deno.test("files of an order are removed once its task has ended", async () => {
  const id = await create({
    prompt: "Refused [[queue 0]] [[run 0]] [[refuse]]",
    frame_images: [
      {
        ...image(`data:image/png;base64,${Buffer.from(await picture(8, 8, "image/png")).toString("base64")}`),
        frame_type: "first_frame",
      },
    ],
  });
  assertEquals([...Deno.readDirSync(gateway.filesFolder)].filter(({ name }) => name.startsWith(`${id}-in-`)).length, 1);
  await until(id, "failed");
  while ([...Deno.readDirSync(gateway.filesFolder)].some(({ name }) => name.startsWith(id))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

Deno.test("an audio clip of 15 s is accepted, a longer one rejected with its position", async () => {
  const clip = (seconds: number) => ({
    type: "audio_url",
    audio_url: { url: `data:audio/wav;base64,${silentWav(seconds).toBase64()}` },
  });
  await until(await create({ input_references: [clip(15)] }), "completed");
  const { status, json } = await call("POST", "/v1/videos", {
    model: "sandbox/video-1",
    prompt: "A song",
    input_references: [clip(3), clip(15.5)],
  });
  assertEquals([status, json.error.code], [400, "invalid_request"]);
  assertMatch(json.error.message, /input_references\[1\].*15 seconds/);
});

Deno.test({
  name: "the gateway and the host of the real_person tests stop",
  async fn() {
    await gateway.stop();
    rudeHost.close();
    await host.shutdown();
  },
  sanitizeResources: false,
  sanitizeOps: false,
});
