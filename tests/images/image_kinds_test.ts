import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { UNUSUAL_IMAGES } from "../support/unusual_images.ts";
import { imageModel, startImageGateway } from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";

type Kind = keyof typeof UNUSUAL_IMAGES;

const KINDS: Readonly<Record<Kind, { readonly reference: boolean; readonly upload: boolean }>> = {
  avif: { reference: false, upload: false },
  heic: { reference: false, upload: false },
  animatedGif: { reference: false, upload: false },
  animatedWebp: { reference: true, upload: false },
  webpWithAlpha: { reference: true, upload: false },
  animatedPng: { reference: true, upload: true },
  cmykJpeg: { reference: true, upload: true },
  rotatedJpeg: { reference: true, upload: true },
  png16: { reference: true, upload: true },
};

/** A gateway in front of a stub of OpenAI's format that keeps what it receives. */
const received: Uint8Array[] = [];
const vendor = startStubVendor(async (request) => {
  received.push(await request.bytes());
  return Response.json({ data: [{ b64_json: UNUSUAL_IMAGES.png16 }], usage: { input_tokens: 1, output_tokens: 1 } });
});
const gateway = await startImageGateway({
  providers: {
    stub: { kind: "openai", base_url: `${vendor.address}/v1`, api_key: "stub-key" },
    ark: { kind: "ark", base_url: `${vendor.address}/v1`, api_key: "stub-key" },
  },
  models: [
    imageModel("stub/painter-1", { edits: true }, ["stub"]),
    imageModel("stub/seer-1", { series: "reference" }, ["ark"]),
  ],
});

/** Whether the vendor's last request has a picture unchanged, as bytes or as base64. */
function hasArrived(kind: Kind): boolean {
  const last = Buffer.from(received.at(-1) ?? []);
  return last.includes(UNUSUAL_IMAGES[kind]) || last.includes(Buffer.from(UNUSUAL_IMAGES[kind], "base64"));
}

for (const [kind, { reference, upload }] of Object.entries(KINDS) as [Kind, (typeof KINDS)[Kind]][]) {
  Deno.test(`${kind} is ${reference ? "sent unchanged" : "refused"} as reference, and ${upload ? "sent" : "refused"} as upload`, async () => {
    const url = `data:image/png;base64,${UNUSUAL_IMAGES[kind]}`;
    const form = new FormData();
    const order = { model: "stub/painter-1", prompt: "a fox", quality: "low" };
    for (const [name, value] of Object.entries(order)) form.set(name, value);
    form.set("image", new File([Uint8Array.fromBase64(UNUSUAL_IMAGES[kind])], "a.png", { type: "image/png" }));
    for (
      const [path, body, isTaken, param] of [
        [
          "/v1/images/generations",
          { ...order, model: "stub/seer-1", input_images: [url] },
          reference,
          "input_images[0]",
        ],
        ["/v1/images/edits", { ...order, images: [{ image_url: url }] }, reference, "images[0].image_url"],
        ["/v1/images/edits", form, upload, "image[0]"],
      ] as const
    ) {
      const before = received.length;
      const answer = await gateway.post(path, body);
      const json = await answer.json();
      assertEquals([param, answer.status], [param, isTaken ? 200 : 400], JSON.stringify(json).slice(0, 300));
      if (isTaken) assertEquals([param, hasArrived(kind)], [param, true]);
      else assertEquals([json.error.param, received.length], [param, before]);
    }
  });
}

Deno.test("the gateway of the unusual pictures stops", async () => {
  await gateway.stop();
  await vendor[Symbol.asyncDispose]();
});
