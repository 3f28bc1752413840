import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { imageFile, type ImageGateway, imageModel, startImageGateway } from "./image_gateway.ts";

/** Edits whose body is JSON, and the qualities of later models. */

const png = (await imageFile()).toBase64();
const DATA_URI = `data:image/png;base64,${png}`;
const EDIT = { model: "sandbox/painter-1", prompt: "a hat", quality: "low" };
// deno-lint-ignore no-explicit-any
type Json = any;

async function withGateway(test: (gateway: ImageGateway) => Promise<void>): Promise<void> {
  const served = (model: string) => ({
    ...imageModel(`sandbox/${model}`, { edits: true, qualities: ["low", "xhigh", "max"] }, []),
    serves: [{ provider: "one", model }],
  });
  const gateway = await startImageGateway({
    models: [served("gpt-image-2.5-sunburst"), served("gpt-image-2")],
  });
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

const edit = (gateway: ImageGateway, body: Json, headers = {}) => gateway.post("/v1/images/edits", body, headers);

Deno.test("POST /v1/images/edits takes JSON with images by data URI or base64, and a mask, and sends a form", async () => {
  await withGateway(async (gateway) => {
    for (const images of [[{ image_url: DATA_URI }], [DATA_URI, { image_url: png }]]) {
      const answer = await edit(gateway, {
        ...EDIT,
        images,
        mask: { image_url: DATA_URI },
        n: 2,
        output_format: "png",
      });
      const reply = await answer.json();
      assertEquals(answer.status, 200, JSON.stringify(reply).slice(0, 300));
      assertEquals([reply.data.length, reply.usage.num_input_images], [2, images.length]);
      const sent = gateway.sandbox.requests.at(-1);
      assertEquals(sent?.path, "/openai/v1/images/edits");
      assert(answer.headers.get("x-service-dropped") === null);
    }
  });
});

Deno.test("JSON edits are charged as those by a form", async () => {
  await withGateway(async (gateway) => {
    const before = Number(await gateway.balance());
    assertEquals((await edit(gateway, { ...EDIT, images: [{ image_url: DATA_URI }] })).status, 200);
    const byJson = before - Number(await gateway.balance());
    const form = new FormData();
    for (const [name, value] of Object.entries(EDIT)) form.set(name, value);
    form.set("image", new File([Uint8Array.fromBase64(png)], "a.png"));
    assertEquals((await edit(gateway, form)).status, 200);
    const byForm = before - byJson - Number(await gateway.balance());
    assert(byJson > 0 && Math.abs(byJson - byForm) < 1e-9, `${byJson} ${byForm}`);
  });
});

Deno.test("an edit as JSON is refused with the name of the field, before anything is sent", async () => {
  await withGateway(async (gateway) => {
    const image = { image_url: DATA_URI };
    const wrong: readonly (readonly [field: string, fields: Json])[] = [
      ["images", {}],
      ["images", { images: [] }],
      ["images", { images: DATA_URI }],
      ["images", { images: Array.from({ length: 17 }, () => image) }],
      ["images[0].image_url", { images: [{}] }],
      ["images[0].file_id", { images: [{ file_id: "" }] }],
      ["images[0].file_id", { images: [{ file_id: "file-1", image_url: DATA_URI }] }],
      ["images[1].image_url", { images: [image, { image_url: "no base64!" }] }],
      ["images[0].image_url", { images: [{ image_url: "http://127.0.0.1:1/a.png" }] }],
      ["mask.image_url", { images: [image], mask: { image_url: "data:image/png;base64,AAAA" } }],
      ["mask.image_url", { images: [image], mask: 5 }],
      ["n", { images: [image], n: 11 }],
      ["stream", { images: [image], stream: "maybe" }],
      ["prompt", { images: [image], prompt: { text: "x" } }],
      ["quality", { images: [image], quality: "auto" }],
    ];
    for (const [field, fields] of wrong) {
      const answer = await edit(gateway, { ...EDIT, ...fields });
      const { error } = await answer.json();
      assertEquals([answer.status, error.param], [400, field], JSON.stringify(fields).slice(0, 80));
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("a dry run of an edit as JSON reads its images, and names unknown fields", async () => {
  await withGateway(async (gateway) => {
    const headers = { "x-service-dry-run": "true" };
    const body = { ...EDIT, images: [{ image_url: DATA_URI }], style: "vivid" };
    const { estimate, dropped, mode } = await (await edit(gateway, body, headers)).json();
    assertEquals([mode, estimate.images, dropped], ["edit", 1, ["style"]]);
    const broken = await edit(gateway, { ...EDIT, images: ["AAAA"] }, headers);
    assertEquals([broken.status, (await broken.json()).error.param], [400, "images[0].image_url"]);
  });
});

Deno.test("the qualities xhigh and max reach models that have them, whole and streamed, and others refuse them", async () => {
  await withGateway(async (gateway) => {
    for (const quality of ["xhigh", "max"]) {
      const order = { model: "sandbox/gpt-image-2.5-sunburst", prompt: "a fox", quality, size: "1024x1024" };
      const answer = await gateway.post("/v1/images/generations", order);
      const reply = await answer.json();
      assertEquals([answer.status, reply.quality], [200, quality], JSON.stringify(reply).slice(0, 200));
      const edited = await edit(gateway, { ...order, images: [DATA_URI], stream: true });
      const text = await edited.text();
      assertStringIncludes(text, "image_edit.completed");
      assert(!text.includes("event: error"), text.slice(0, 300));
      const painter = await gateway.post("/v1/images/generations", { ...EDIT, quality });
      assertEquals([painter.status, (await painter.json()).error.param], [400, "quality"]);
      // The operator says that the model has them, and the vendor that it has not.
      const refused = await gateway.post("/v1/images/generations", { ...order, model: "sandbox/gpt-image-2" });
      assertEquals([refused.status, (await refused.json()).error.param], [400, "quality"]);
    }
  });
});
