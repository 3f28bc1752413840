import { assertEquals } from "@std/assert";
import { type ExpectedMedium, judgeMedium } from "../../src/platform/lib/media/medium.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { imageFile } from "../images/image_gateway.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const image = (declaredType: string | null = "image/png"): ExpectedMedium => ({ kind: "image", declaredType });
const problemOf = async (head: Uint8Array, expected = image()) => (await judgeMedium(head, expected)).problem;

Deno.test("judgeMedium() refuses text of every kind, whatever its declared type", async () => {
  for (
    const text of [
      "<html>login</html>",
      " \n<!DOCTYPE html><title>Link expired</title>",
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
      '{"error":"expired"}',
      "Not found",
      "\u{feff}Not found",
      "Nicht verfügbar",
      "<svg xmlns='http://www.w3.org/2000/svg'/>",
      "%PDF-1.7 a document",
    ]
  ) {
    for (const kind of ["image", "video"] as const) {
      for (const declaredType of [null, "image/png", "video/mp4", "application/octet-stream"]) {
        assertEquals(await problemOf(bytes(text), { kind, declaredType }), "it is text", text);
      }
    }
  }
  const latin1 = new Uint8Array(200).map((_, at) => at % 7 === 0 ? 0xe9 : 0x61);
  assertEquals(await problemOf(latin1), "it is text");
  assertEquals(await problemOf(Uint8Array.of(0xff, 0xfe, 0x3c, 0, 0x68, 0)), "it is text");
  assertEquals(await problemOf(new Uint8Array()), "it is empty");
});

Deno.test("judgeMedium() accepts media whatever their declared type", async () => {
  for (const format of ["png", "jpeg", "webp"] as const) {
    const head = await imageFile({ format });
    for (const type of ["text/html", "application/json", null]) assertEquals(await problemOf(head, image(type)), null);
  }
  const video = SAMPLE_VIDEO.subarray(0, 4_100);
  assertEquals(await problemOf(video, { kind: "video", declaredType: "text/plain" }), null);
  assertEquals(await problemOf(video), "it is video/mp4");
  assertEquals(await problemOf(await imageFile(), { kind: "video", declaredType: null }), null);
});

Deno.test("judgeMedium() accepts unknown bytes by their declared type, and refuses other kinds of files", async () => {
  const unknown = Uint8Array.of(0x01, 0x02, 0x03, 0x04, 0x05, 0xfe);
  for (const type of [null, "", "image/x-new", "video/x-new", "application/octet-stream", "binary/octet-stream"]) {
    assertEquals(await judgeMedium(unknown, image(type)), { problem: null, isUnknown: true }, String(type));
  }
  assertEquals(await problemOf(unknown, image("text/html")), "it is declared as text/html");
  const archive = Uint8Array.of(
    0x50,
    0x4b,
    3,
    4,
    20,
    0,
    0,
    0,
    8,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    97,
  );
  assertEquals(await problemOf(archive), "it is application/zip");
});

Deno.test("judgeMedium() accepts SVG where it was ordered", async () => {
  const svg = { ...image("image/svg+xml"), takesSvg: true };
  for (const text of ["<svg/>", "<svg xmlns='x'></svg>", "<?xml version='1.0'?>\n<svg xmlns='x'></svg>"]) {
    assertEquals(await problemOf(bytes(text), svg), null, text);
  }
  assertEquals(await problemOf(bytes("<html>login</html>"), svg), "it is text");
});
