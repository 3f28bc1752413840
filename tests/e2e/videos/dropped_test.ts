import { assertEquals, assertMatch } from "@std/assert";
import type { JsonObject } from "../../../src/platform/lib/json/json_object.ts";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

/**
 * Models of Ark, which supports all fields, and of vendors without a seed, without a sound switch, or without both.
 */
const video = (audio: string) => ({ modes: ["text2video"], price_per_second: { default: "0.10" }, audio });
const ark = { provider: "ark", model: "seedance-sandbox" };
const gateway = await startVideoGateway({
  config: {
    models: [
      { id: VALID_BODY.model, video: video("switch"), serves: [ark] },
      { id: "sandbox/loud", video: video("always"), serves: [ark] },
      { id: "sandbox/silent", video: video("never"), serves: [ark] },
      { id: "sandbox/h3", video: video("always"), serves: [{ provider: "mini", model: "MiniMax-H3" }] },
      {
        id: "sandbox/both",
        video: video("always"),
        serves: [{ ...ark, weight: 9 }, { provider: "mini", model: "MiniMax-H3", weight: 1 }],
      },
      {
        id: "sandbox/set",
        video: {
          modes: ["text2video"],
          price_per_second: { "480p": "0.05", "720p": "0.10", "720p_audio": "0.20" },
          audio: "switch",
        },
        serves: [{ provider: "fal", model: "fal-ai/cogvideox-5b" }, { ...ark, weight: 0 }],
      },
    ],
    providers: {
      ark: { kind: "ark", base_url: "http://127.0.0.1:9/ark", api_key: "k" },
      fal: { kind: "fal", base_url: "http://127.0.0.1:9/fal", api_key: "k" },
      mini: { kind: "minimax", base_url: "http://127.0.0.1:9/mini", api_key: "k" },
    },
  },
});

const CASES: readonly [model: string, fields: JsonObject, dropped: readonly string[]][] = [
  [VALID_BODY.model, { seed: 7, generate_audio: false }, []],
  ["sandbox/loud", { generate_audio: false }, ["generate_audio"]],
  ["sandbox/loud", { generate_audio: true }, []],
  ["sandbox/loud", {}, []],
  ["sandbox/silent", { generate_audio: true }, ["generate_audio"]],
  ["sandbox/silent", { generate_audio: false }, []],
  ["sandbox/h3", { seed: 7, generate_audio: false }, ["seed", "generate_audio"]],
  ["sandbox/h3", { seed: null }, []],
  ["sandbox/both", { seed: 7 }, ["seed"]],
  ["sandbox/both", { seed: 7, provider: { type: "ark" } }, []],
  ["sandbox/set", { duration: 5, resolution: "720p", generate_audio: true }, [
    "duration",
    "resolution",
    "generate_audio",
  ]],
  ["sandbox/set", { duration: 2, resolution: "480p", generate_audio: false, provider: { type: "ark" } }, []],
];

const UNTOLD: readonly JsonObject[] = [{ duration: 2 }, { duration: 9 }, { resolution: "480p" }, { size: "640x480" }, {
  generate_audio: false,
}];

for (const fields of UNTOLD) {
  Deno.test(`a field that changes the price must be supported by every candidate: ${JSON.stringify(fields)} is 400`, async () => {
    const { status, json, text } = await gateway.call("POST", "/v1/videos", {
      ...VALID_BODY,
      model: "sandbox/set",
      ...fields,
    });
    assertEquals([status, json.error?.code], [400, "invalid_request"], text);
    assertMatch(json.error.message, new RegExp(`"${Object.keys(fields)[0]}".*provider\\.type`));
  });
}

for (const [model, fields, dropped] of CASES) {
  Deno.test(`a create returns the dropped fields: ${model} ${JSON.stringify(fields)}`, async () => {
    const header = dropped.length === 0 ? null : dropped.join(", ");
    const body = { ...VALID_BODY, model, ...fields };
    const tried = await gateway.call("POST", "/v1/videos", body, { "x-service-dry-run": "true" });
    assertEquals([tried.status, tried.json.dropped, tried.headers.get("x-service-dropped")], [200, dropped, header]);
    const key = { "idempotency-key": JSON.stringify([model, fields]) };
    for (const replayed of [null, "true"]) {
      const { status, headers } = await gateway.call("POST", "/v1/videos", body, key);
      assertEquals([status, headers.get("x-service-dropped"), headers.get("idempotent-replayed")], [
        202,
        header,
        replayed,
      ]);
    }
  });
}

Deno.test({
  name: "the gateway of the dropped fields stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
