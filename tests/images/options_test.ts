import { assertEquals } from "@std/assert";
import { imageFile, type ImageGateway, imageModel, startImageGateway } from "./image_gateway.ts";
import { membersOf } from "../support/client_members.ts";
import { startStubVendor } from "./stub_vendor.ts";

/** A gateway in front of a stub of OpenAI's format that keeps the bodies it receives. */
async function withStub(test: (gateway: ImageGateway, bodies: string[]) => Promise<void>) {
  const bodies: string[] = [];
  const b64_json = (await imageFile()).toBase64();
  await using vendor = startStubVendor(async (request) => {
    bodies.push(new TextDecoder("latin1").decode(await request.bytes()));
    return Response.json({ data: [{ b64_json }], usage: { input_tokens: 1, output_tokens: 1 } });
  });
  const gateway = await startImageGateway({
    providers: { stub: { kind: "openai", base_url: `${vendor.address}/v1`, api_key: "stub-key" } },
    models: [imageModel("stub/painter-1", { edits: true }, ["stub"])],
  });
  try {
    await test(gateway, bodies);
  } finally {
    await gateway.stop();
  }
}

const IMAGE = { model: "stub/painter-1", prompt: "a fox", quality: "low" };

/**
 * Every member of `ImageGenerateParams` and `ImageEditParams` of OpenAI's client 7.59.0 that is neither required nor
 * about the reply, with values. `file_types_test.ts` has `svg`.
 */
const OPTIONS: readonly (readonly [name: string, values: readonly (string | number)[]])[] = [
  ["background", ["opaque", "transparent"]],
  ["complexity", ["low", "high"]],
  ["frame_count", [2, 16]],
  ["frame_duration_ms", [1, 100]],
  ["moderation", ["auto", "low"]],
  ["output_compression", [0, 80]],
  ["output_format", ["jpeg", "webp"]],
  ["response_format", ["url"]],
  ["safety_identifier", ["caller-1"]],
  ["style", ["vivid"]],
  ["user", ["caller-2"]],
];

/** The members that other tests follow to the vendor. */
const TESTED = [
  ...["image", "input_fidelity", "markup", "mask", "model", "n", "partial_images", "prompt", "quality", "size"],
  ...["stream", "svg"],
];

Deno.test("the client's types have no other members", async () => {
  const known = new Set([...TESTED, ...OPTIONS.map(([name]) => name)]);
  for (const type of ["ImageGenerateParams", "ImageEditParams"]) {
    const members = await membersOf("openai/resources/images", type);
    assertEquals([members.length > 10, members.filter((name) => !known.has(name))], [true, []]);
  }
});

function editForm(fields: Readonly<Record<string, string>>, picture: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...IMAGE, ...fields })) form.set(name, value);
  form.set("image", new File([picture], "a.png"));
  return form;
}

for (const kind of ["generations", "edits"] as const) {
  Deno.test(`every member of the client's ${kind} is sent with its value, 0 too, or named as dropped`, async () => {
    const picture = await imageFile();
    await withStub(async (gateway, bodies) => {
      for (const [name, values] of OPTIONS) {
        for (const value of values) {
          const body = kind === "edits" ? editForm({ [name]: String(value) }, picture) : { ...IMAGE, [name]: value };
          const answer = await gateway.post(`/v1/images/${kind}`, body);
          const text = await answer.text();
          assertEquals(answer.status, 200, `${name}: ${text}`);
          const sent = bodies.at(-1) ?? "";
          const isSent = kind === "edits"
            ? sent.includes(`name="${name}"\r\n\r\n${value}\r\n`)
            : JSON.parse(sent)[name] === value;
          const dropped = (answer.headers.get("x-service-dropped") ?? "").split(", ");
          assertEquals([name, value, isSent !== dropped.includes(name)], [name, value, true]);
        }
      }
    });
  });
}

Deno.test("vendors without an option do not receive it, and it is named", async () => {
  const gateway = await startImageGateway();
  const options = { background: "opaque", output_compression: 0, moderation: "low", user: "a", safety_identifier: "b" };
  const all = Object.keys(options);
  try {
    for (
      const [model, dropped] of [
        ["sandbox/muse-1", [...all, "output_format"]],
        ["sandbox/seer-1", all],
        ["sandbox/grok-1", [...all.filter((name) => name !== "user"), "output_format"]],
        ["sandbox/flux-1", all],
        ["sandbox/replicate-1", all],
      ] as const
    ) {
      for (const headers of [{}, { "x-service-dry-run": "true" }]) {
        const body = { ...IMAGE, model, output_format: "png", ...options };
        const answer = await gateway.post("/v1/images/generations", body, headers);
        assertEquals(answer.status, 200, await answer.text());
        const named = (answer.headers.get("x-service-dropped") ?? "").split(", ").sort();
        assertEquals([model, ...named], [model, ...[...dropped].sort()]);
      }
    }
  } finally {
    await gateway.stop();
  }
});

Deno.test("partial images are named where the vendor streams none", async () => {
  const gateway = await startImageGateway();
  try {
    for (const [model, dropped] of [["sandbox/muse-1", "partial_images"], ["sandbox/painter-1", null]] as const) {
      const body = { ...IMAGE, model, stream: true, partial_images: 1 };
      const answer = await gateway.post("/v1/images/generations", body);
      await answer.text();
      assertEquals([model, answer.headers.get("x-service-dropped")], [model, dropped]);
    }
  } finally {
    await gateway.stop();
  }
});

Deno.test("options with wrong values return 400 and name the field", async () => {
  await withStub(async (gateway, bodies) => {
    for (
      const [name, value] of [
        ["output_compression", 101],
        ["output_compression", -1],
        ["output_compression", "50%"],
        ["moderation", "off"],
        ["user", 7],
      ] as const
    ) {
      const answer = await gateway.post("/v1/images/generations", { ...IMAGE, [name]: value });
      assertEquals([answer.status, (await answer.json()).error.param], [400, name]);
    }
    assertEquals(bodies.length, 0);
  });
});

Deno.test("mask[] is the mask, and other spellings of input images are ignored without a word", async () => {
  const picture = await imageFile();
  await withStub(async (gateway, bodies) => {
    const form = editForm({}, picture);
    form.set("mask[]", new File([picture], "mask.png"));
    form.set("markup", new File([picture], "markup.png"));
    const answer = await gateway.post("/v1/images/edits", form);
    assertEquals([answer.status, answer.headers.get("x-service-dropped")], [200, "markup"], await answer.text());
    assertEquals(bodies[0]?.includes('name="mask"; filename="mask.png"'), true);
    const twice = editForm({}, picture);
    twice.append("mask[]", new File([picture], "a.png"));
    twice.append("mask", new File([picture], "b.png"));
    const refused = await gateway.post("/v1/images/edits", twice);
    assertEquals([refused.status, (await refused.json()).error.param], [400, "mask"]);
    const spelled = await gateway.post("/v1/images/generations", { ...IMAGE, images: ["a"], image_urls: ["a"] });
    assertEquals([spelled.status, spelled.headers.get("x-service-dropped")], [200, null], await spelled.text());
  });
});
