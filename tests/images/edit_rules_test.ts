import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { itemAt } from "../support/items.ts";
import { imageFile, type ImageGateway, startImageGateway } from "./image_gateway.ts";

type Part = readonly [
  name: string,
  value: string | Uint8Array<ArrayBuffer>,
  filename?: string | undefined,
  type?: string,
];

const png = await imageFile();
const BASE: readonly Part[] = [["model", "sandbox/painter-1"], ["prompt", "a hat"], ["quality", "low"]];
const IMAGE: Part = ["image", png, "a.png", "image/png"];

async function withGateway(test: (gateway: ImageGateway) => Promise<void>, limits = {}): Promise<void> {
  const gateway = await startImageGateway({ config: { limits } });
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

/** Writes a multipart form without a library, so that it can be invalid. */
async function formOf(parts: readonly Part[]): Promise<Uint8Array<ArrayBuffer>> {
  const pieces = parts.flatMap(([name, value, filename, type]) => {
    const file = filename === undefined ? "" : `; filename="${filename}"`;
    const head = `--B\r\nContent-Disposition: form-data; name="${name}"${file}\r\n`;
    return [head, type === undefined ? "" : `Content-Type: ${type}\r\n`, "\r\n", value, "\r\n"];
  });
  return await new Blob([...pieces, "--B--\r\n"]).bytes();
}

async function edit(gateway: ImageGateway, parts: readonly Part[], headers = {}): Promise<Response> {
  const type = { "content-type": "multipart/form-data; boundary=B" };
  return await gateway.post("/v1/images/edits", await formOf(parts), { ...type, ...headers });
}

/** The base form with some fields changed, added or, with null, removed. */
function changed(change: Readonly<Record<string, string | null>>): Part[] {
  const kept = BASE.filter(([name]) => !Object.hasOwn(change, name));
  const added = Object.entries(change).filter(([, value]) => value !== null);
  return [...kept, ...added.map(([name, value]): Part => [name, value!]), IMAGE];
}

async function refusalOf(answer: Response) {
  const { error } = await answer.json();
  return { status: answer.status, message: String(error.message), param: error.param };
}

Deno.test("POST /v1/images/edits rejects every field that the API reference rejects, naming it", async () => {
  await withGateway(async (gateway) => {
    const wrong: [field: string, change: Record<string, string | null>][] = [
      ["model", { model: null }],
      ["prompt", { prompt: null }],
      ["prompt", { prompt: " " }],
      ["quality", { quality: null }],
      ["quality", { quality: "auto" }],
      ["quality", { quality: "hd" }],
      ["n", { n: "0" }],
      ["n", { n: "11" }],
      ["n", { n: "1.5" }],
      ["n", { n: "two" }],
      ["size", { size: "1023x1024" }],
      ["output_format", { output_format: "gif" }],
      ["background", { background: "red" }],
      ["input_fidelity", { input_fidelity: "medium" }],
      ["stream", { stream: "yes" }],
    ];
    for (const [field, change] of wrong) {
      const { status, message, param } = await refusalOf(await edit(gateway, changed(change)));
      assertEquals([status, param], [400, field], message);
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("POST /v1/images/edits requires a complete multipart form", async () => {
  await withGateway(async (gateway) => {
    const whole = await formOf([...BASE, IMAGE]);
    const statusOf = async (body: unknown, type: string) => {
      const answer = await gateway.post("/v1/images/edits", body, { "content-type": type });
      return [answer.status, (await answer.json()).error.message];
    };
    assertEquals((await statusOf(JSON.stringify({ model: "x" }), "text/plain"))[0], 415);
    assertEquals((await statusOf(whole, "multipart/form-data"))[0], 400);
    assertEquals((await statusOf(whole, `multipart/form-data; boundary=${"B".repeat(71)}`))[0], 400);
    for (const length of [0, 20, 300, whole.length - 200, whole.length - 4]) {
      const [status, message] = await statusOf(whole.slice(0, length), "multipart/form-data; boundary=B");
      assertEquals(status, 400);
      assertStringIncludes(message, "ends before its last boundary");
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("POST /v1/images/edits requires the image as a file upload, never as text", async () => {
  await withGateway(async (gateway) => {
    const url: Part = ["image", "https://example.com/a.png"];
    for (const parts of [BASE, [...BASE, url], [...BASE, IMAGE, ["image[]", "x"] as Part]]) {
      const { status, message, param } = await refusalOf(await edit(gateway, parts));
      assertEquals(status, 400);
      assert(String(param).startsWith("image"));
      assertStringIncludes(message, "file upload");
    }
  });
});

Deno.test("POST /v1/images/edits recognises PNG and JPEG by their content, whatever their names", async () => {
  await withGateway(async (gateway) => {
    const jpeg = await imageFile({ format: "jpeg" });
    const good: Part[] = [
      ["image", png, "../../etc/passwd", "text/html"],
      ["image", jpeg, "a\0b.png", "image/png"],
      ["image", png, "x".repeat(10_000), "image/png"],
      ["image[]", png, "", "application/octet-stream"],
      ["image", png, undefined, "image/png"],
    ];
    for (const part of good) {
      const answer = await edit(gateway, [...BASE, part]);
      assertEquals([answer.status, (await answer.json()).usage?.num_input_images], [200, 1], String(part[2]));
    }
    const webp = await imageFile({ format: "webp" });
    const text = (content: string) => new TextEncoder().encode(content);
    const bad = [text("<html></html>"), text("<svg/>"), text("GIF89a\x01\0\x01\0"), text(""), webp, png.slice(0, 20)];
    for (const bytes of bad) {
      const { status, message } = await refusalOf(await edit(gateway, [...BASE, IMAGE, ["image", bytes, "b.png"]]));
      assertEquals(status, 400);
      assertStringIncludes(message, '"image[1]": expected a PNG or JPEG file');
    }
    const mask = await refusalOf(await edit(gateway, [...BASE, IMAGE, ["mask", jpeg, "m.png"]]));
    assertStringIncludes(mask.message, '"mask": expected a PNG file');
  });
});

Deno.test("POST /v1/images/edits rejects an image of too many pixels before it is decoded", async () => {
  await withGateway(async (gateway) => {
    const huge = png.slice();
    new DataView(huge.buffer).setUint32(16, 65_535);
    new DataView(huge.buffer).setUint32(20, 65_535);
    const { status, message } = await refusalOf(await edit(gateway, [...BASE, ["image", huge, "a.png"]]));
    assertEquals(status, 400);
    assertStringIncludes(message, "65535x65535");
  });
});

Deno.test("POST /v1/images/edits ignores extra_body and unknown parts, and applies the header", async () => {
  await withGateway(async (gateway) => {
    const extra: Part = ["extra_body", '{"provider":{"type":"nosuch"}}'];
    const parts: Part[] = [["model", "sandbox/split-1"], ...BASE.slice(1), extra, ["user", "me"], IMAGE];
    for (const provider of ["one", "two"]) {
      const answer = await edit(gateway, parts, { "x-service-provider-type": provider });
      assertEquals([answer.status, answer.headers.get("x-service-provider")], [200, provider]);
      await answer.body?.cancel();
    }
    const unknown = await edit(gateway, parts, { "x-service-provider-type": "nosuch" });
    assertEquals([unknown.status, (await unknown.json()).error.type], [400, "invalid_provider_type"]);
    const other = await edit(gateway, parts, { "x-service-provider-type": "ark" });
    assertEquals([other.status, (await other.json()).error.type], [400, "provider_type_unavailable"]);
    assertEquals("extra_body" in (itemAt(gateway.sandbox.requests, 0).body as object), false);
  });
});

Deno.test("POST /v1/images/edits rejects a field with two values", async () => {
  await withGateway(async (gateway) => {
    const twice = await edit(gateway, [...BASE, ["model", "sandbox/narrow-1"], IMAGE]);
    assertStringIncludes((await refusalOf(twice)).message, '"model": expected it once');
    const same = await edit(gateway, [...BASE, ["model", "sandbox/painter-1"], IMAGE]);
    assertEquals(same.status, 200);
    await same.body?.cancel();
  });
});

Deno.test("POST /v1/images/edits stops at 65 parts and at a part head of a megabyte", async () => {
  await withGateway(async (gateway) => {
    const many = Array.from({ length: 62 }, (_, at): Part => [`part${at}`, "x"]);
    const parts = await refusalOf(await edit(gateway, [...BASE, ...many, IMAGE]));
    assertStringIncludes(parts.message, "at most 64 parts");
    const head = await refusalOf(await edit(gateway, [...BASE, ["y".repeat(1_000_000), "x"], IMAGE]));
    assertStringIncludes(head.message, "8192 bytes");
  });
});

Deno.test("POST /v1/images/edits forwards all images and leaves the limit to the vendor", async () => {
  await withGateway(async (gateway) => {
    const images = (count: number) => Array.from({ length: count }, (): Part => ["image[]", png, "a.png"]);
    const sixteen = await edit(gateway, [...BASE, ...images(16)]);
    assertEquals([sixteen.status, (await sixteen.json()).usage.num_input_images], [200, 16]);
    const seventeen = await refusalOf(await edit(gateway, [...BASE, ...images(17)]));
    assertEquals(seventeen.status, 400);
    assertStringIncludes(seventeen.message, "at most 16 images"); // the vendor's message
  });
});

Deno.test("POST /v1/images/edits rejects a file and a body above their limits while they arrive", async () => {
  await withGateway(async (gateway) => {
    const filler = (bytes: number) => {
      const file = new Uint8Array(bytes);
      file.set(png);
      return file;
    };
    const within = await edit(gateway, [...BASE, ["image", filler(300_000), "a.png"]]);
    assertEquals(within.status, 200);
    await within.body?.cancel();
    const file = await refusalOf(await edit(gateway, [...BASE, ["image", filler(300_001), "a.png"]]));
    assertEquals([file.status, file.param], [413, "image[0]"]);
    const body = await edit(gateway, [
      ...BASE,
      ...Array.from({ length: 4 }, (): Part => ["image", filler(290_000), "a"]),
    ]);
    assertEquals(body.status, 413);
    await body.body?.cancel();
    // None of them leaves a file.
    const left = await Array.fromAsync(Deno.readDir(`${gateway.files}/uploads`)).catch(() => []);
    assertEquals(left, []);
  }, { edit_file: 300_000, edit_body: 1_000_000 });
});

Deno.test("POST /v1/images/edits drops input_fidelity for a model without it, and reports it", async () => {
  await withGateway(async (gateway) => {
    const answer = await edit(gateway, changed({ model: "sandbox/narrow-1", input_fidelity: "high" }));
    assertEquals([answer.status, answer.headers.get("x-service-dropped")], [200, "input_fidelity"]);
    await answer.body?.cancel();
    assertEquals("input_fidelity" in (itemAt(gateway.sandbox.requests, 0).body as object), false);
  });
});

Deno.test("POST /v1/images/edits reports the size of the image, and auto where auto was requested", async () => {
  await withGateway(async (gateway) => {
    for (const [size, told] of [["auto", "auto"], ["1024x1536", "1024x1536"], [null, "1536x1024"]] as const) {
      const answer = await edit(gateway, changed({ size, n: "2" }));
      const { size: used, data, usage } = await answer.json();
      assertEquals([used, data.length, usage.num_input_images], [told, 2, 1]);
    }
  });
});
