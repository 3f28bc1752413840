import { assertEquals } from "@std/assert";
import { imageFile, startImageGateway } from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";

/** The ways in which one picture is written. */
const WRITINGS: readonly (readonly [name: string, write: (base64: string) => string])[] = [
  ["as it is", (base64) => `data:image/png;base64,${base64}`],
  ["in lines of 76 characters", (base64) => `data:image/png;base64,${base64.replace(/.{76}/g, "$&\n")}`],
  ["with escapes", (base64) => `data:image/png;base64,${encodeURIComponent(base64)}`],
  ["without padding", (base64) => `data:image/png;base64,${base64.replace(/=+$/, "")}`],
  ["in capitals and with blanks", (base64) => `DATA:image/png; BASE64, ${base64} `],
  ["with escapes only", (base64) => `data:image/png,${escaped(base64)}`],
  ["with a parameter", (base64) => `data:image/png;name="a.png";base64,${base64}`],
];

function escaped(base64: string): string {
  return [...Uint8Array.fromBase64(base64)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

for (const where of ["in its thread", "in a thread for large bodies"]) {
  Deno.test(`a picture in a data: URI arrives at every endpoint, however it is written, ${where}`, async () => {
    const base64 = (await imageFile({ width: 321, height: 240 })).toBase64();
    const received: string[] = [];
    await using vendor = startStubVendor(async (request) => {
      received.push(...(await request.text()).match(/(?<="data":")[^"]+/g) ?? []);
      const content = { role: "model", parts: [{ text: "A fox" }] };
      return Response.json({ candidates: [{ content, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 3 } });
    });
    const video = { modes: ["text2video", "img2video"], price_per_second: { default: "0.1" } };
    const gateway = await startImageGateway({
      providers: { stub: { kind: "google", base_url: vendor.address, api_key: "stub-key" } },
      ...where === "in its thread" ? {} : { config: { limits: { large_body: 0 } } },
      models: [
        { id: "stub/chat-1", pricing: { prompt: "0.000001" }, serves: [{ provider: "stub" }] },
        { id: "sandbox/film-1", video, serves: [{ provider: "ark", model: "seedance-1-5-pro" }] },
      ],
    });
    try {
      for (const [name, write] of WRITINGS) {
        const url = write(base64);
        const statusOf = async (path: string, body: unknown) => {
          const answer = await gateway.post(path, body);
          const text = await answer.text();
          return answer.status < 300 ? answer.status : `${answer.status} ${text.slice(0, 200)}`;
        };
        const chat = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
        const input = [{ role: "user", content: [{ type: "input_image", image_url: url }] }];
        const frame = { type: "image_url", image_url: { url }, frame_type: "first_frame" };
        const film = { model: "sandbox/film-1", prompt: "x", duration: 5, frame_images: [frame] };
        assertEquals(
          [
            await statusOf("/v1/images/generations", {
              model: "sandbox/seer-1",
              prompt: "x",
              quality: "low",
              input_images: [url],
            }),
            await statusOf("/v1/videos", film),
            await statusOf("/v1/videos", { ...film, real_person: true }),
            await statusOf("/v1/chat/completions", { model: "stub/chat-1", messages: chat }),
            await statusOf("/v1/responses", { model: "stub/chat-1", input }),
          ],
          [200, 202, 202, 200, 200],
          name,
        );
      }
      assertEquals(received, WRITINGS.flatMap(() => [base64, base64]));
    } finally {
      await gateway.stop();
    }
  });
}
