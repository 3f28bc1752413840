import { assert, assertEquals } from "@std/assert";
import { decodedImage, imageFile, type ImageGateway, startImageGateway } from "../images/image_gateway.ts";

/** Models whose vendors make images as jobs, at 0.03 USD an output image and 0.01 an input image. */
const MODELS = [
  { model: "sandbox/flux-1", size: "1536x1024" },
  { model: "sandbox/fal-1", size: "1536x1024" },
  // This vendor gets an aspect ratio.
  { model: "sandbox/replicate-1", size: "1248x832" },
];
const AT_ONCE = "[[queue 0]] [[run 0]]";

async function withGateway(play: (gateway: ImageGateway) => Promise<void>): Promise<void> {
  const gateway = await startImageGateway();
  try {
    await play(gateway);
  } finally {
    await gateway.stop();
  }
}

for (const { model, size: made } of MODELS) {
  Deno.test(`${model}: images of a vendor's jobs are polled, returned and charged`, () =>
    withGateway(async (gateway) => {
      const answer = await gateway.post("/v1/images/generations", {
        model,
        prompt: `a fox ${AT_ONCE}`,
        quality: "auto",
        size: "1536x1024",
        n: 2,
        output_format: "png",
      });
      assertEquals(answer.status, 200);
      const { data, size } = await answer.json();
      assertEquals([data.length, size], [2, made]);
      const { type, width, height } = await decodedImage(data[1].b64_json);
      assertEquals([type, `${width}x${height}`], ["image/png", made]);
      assertEquals(await gateway.balance(), "24.9400000000");
    }));

  Deno.test(`${model}: references and edits reach the vendor`, () =>
    withGateway(async (gateway) => {
      // Large enough for a vendor that requires such images to be uploaded.
      const picture = await imageFile({ width: 800, height: 800, format: "jpeg" });
      assert(picture.length > 65_536);
      const generated = await gateway.post("/v1/images/generations", {
        model,
        prompt: `a fox like this ${AT_ONCE}`,
        quality: "auto",
        input_images: [picture.toBase64()],
      });
      assertEquals(generated.status, 200, await generated.clone().text());
      assertEquals((await generated.json()).usage.num_input_images, 1);
      const form = new FormData();
      form.set("model", model);
      form.set("prompt", `a hat ${AT_ONCE}`);
      form.set("quality", "high");
      form.set("image", new File([picture], "a.jpg"));
      const edited = await gateway.post("/v1/images/edits", form);
      assertEquals(edited.status, 200, await edited.clone().text());
      assertEquals((await edited.json()).data.length, 1);
      assertEquals(await gateway.balance(), "24.9200000000");
    }));

  Deno.test(`${model}: a job that fails or is refused for its content costs nothing`, () =>
    withGateway(async (gateway) => {
      const statusOf = async (order: string) => {
        const { status } = await gateway.post("/v1/images/generations", {
          model,
          prompt: `a fox ${AT_ONCE} ${order}`,
          quality: "auto",
        });
        return status;
      };
      assert([400, 422].includes(await statusOf("[[refuse]]")));
      assert([400, 422].includes(await statusOf("[[reject]]")));
      assertEquals(await statusOf("[[failure]]"), 502);
      assertEquals(await statusOf("[[fail 429]]"), 429);
      assertEquals(await gateway.balance(), "25.0000000000");
      assert(!gateway.logLines.join("\n").includes("sandbox-key"));
    }));
}
