import { assertEquals } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { imageModel } from "../images/image_gateway.ts";
import { textModel } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { plainPng } from "../support/heavy_media.ts";
import { startLiveGateway } from "../support/live_gateway.ts";
import { ROOT } from "../webhooks/certificates.ts";
import { respondWith, startReceiver } from "../webhooks/receiver.ts";
import { RELOAD } from "./changed_gateway.ts";
import { untilSo } from "../support/patience.ts";

const PNG = plainPng(64, 64);

const REFUSED = [
  [400, "url"],
  [400, "input_images[0]"],
  [400, "invalid_callback_url"],
];

Deno.test("a changed egress.allow holds without a restart for media in texts, pictures and webhooks", async () => {
  const folder = await Deno.makeTempDir();
  const caFile = `${folder}/roots.pem`;
  await Deno.writeTextFile(caFile, ROOT);
  const sandbox = await startSandbox({ port: 0 });
  const receiver = startReceiver(respondWith(204));
  const host = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    return new Response(PNG, { headers: { "content-type": "image/png" } });
  });
  const { google, ark } = sandbox.baseUrls;
  const gateway = await startLiveGateway({
    sections: {
      files: `${folder}/files`,
      providers: {
        google: { kind: "google", base_url: google, api_key: "sandbox-key" },
        ark: { kind: "ark", base_url: ark, api_key: "sandbox-key" },
      },
      models: [
        textModel("sandbox/content-1", ["google"]),
        imageModel("sandbox/seer-1", { series: "reference" }, ["ark"], {
          pricing: { per_image: "0.04", per_input_image: "0.001" },
          serves: [{ provider: "ark", model: "seedream-5-0-pro" }],
        }),
        {
          id: "sandbox/video-1",
          video: { modes: ["text2video"], price_per_second: { default: "0.10" } },
          serves: [{ provider: "ark" }],
        },
      ],
      egress: { ca_file: caFile },
    },
  });
  const call = callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` });
  const picture = `http://127.0.0.1:${host.addr.port}/a.png`;
  const media = () =>
    call("POST", "/v1/chat/completions", {
      model: "sandbox/content-1",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: picture } }] }],
    });
  const reference = () =>
    call("POST", "/v1/images/generations", {
      model: "sandbox/seer-1",
      prompt: "a fox",
      quality: "high",
      input_images: [picture],
    });
  const video = () =>
    call("POST", "/v1/videos", {
      model: "sandbox/video-1",
      prompt: "A lighthouse [[queue 0]] [[run 0]]",
      callback_url: `https://127.0.0.1:${receiver.port}/hook`,
    });
  /** Of each answer the status and, of an error, the field. */
  const answers = async () => {
    const sent = [await media(), await reference(), await video()];
    return sent.map(({ status, json }) => [status, json.error?.param ?? json.error?.code ?? null]);
  };
  const allow = async (networks: readonly string[]) => {
    gateway.write({ egress: { ca_file: caFile, allow: networks } });
    assertEquals((await gateway.admin("POST", RELOAD)).status, 200);
  };
  try {
    assertEquals(await answers(), REFUSED);
    await allow(["127.0.0.1/32"]);
    assertEquals(await answers(), [[200, null], [200, null], [202, null]]);
    await untilSo(() => receiver.received.length !== 0);
    await allow([]);
    assertEquals(await answers(), REFUSED);
  } finally {
    await gateway.stop();
    await receiver.stop();
    await host.shutdown();
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
