import { assert, assertEquals } from "@std/assert";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import type { LoggedRequest } from "../../../src/sandbox/request_log.ts";
import { itemAt } from "../../support/items.ts";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

/** A simulated vendor and its differences visible to a caller. */
interface Vendor {
  readonly name: string;
  /** Whether a result needs the vendor's key, so that callers cannot open the vendor's address. */
  readonly keepsResults: boolean;
  /** Which jobs the vendor can cancel. */
  readonly cancels: "running" | "nothing";
  /** Whether a create whose response was lost is found again. */
  readonly isSearchable: boolean;
  /** Whether the model accepts reference images. */
  readonly takesReferences: boolean;
  /** Consumption that the vendor reports. */
  readonly reports: "seconds" | "cost" | "nothing";
  /** An option that changes the price. Default: `mode`. */
  readonly priced?: Readonly<Record<string, unknown>>;
}

const VENDORS: readonly Vendor[] = [
  {
    name: "kling",
    keepsResults: false,
    cancels: "nothing",
    isSearchable: true,
    takesReferences: true,
    reports: "seconds",
  },
  {
    name: "openrouter",
    keepsResults: true,
    cancels: "nothing",
    isSearchable: false,
    takesReferences: true,
    reports: "cost",
  },
  {
    name: "fal",
    keepsResults: false,
    cancels: "running",
    isSearchable: false,
    takesReferences: false,
    reports: "seconds",
  },
  {
    name: "replicate",
    keepsResults: false,
    cancels: "running",
    isSearchable: false,
    takesReferences: true,
    reports: "nothing",
  },
  {
    name: "runway",
    keepsResults: false,
    cancels: "running",
    isSearchable: false,
    takesReferences: true,
    reports: "cost",
  },
  {
    name: "vidu",
    keepsResults: false,
    cancels: "nothing",
    isSearchable: false,
    takesReferences: true,
    reports: "nothing",
    priced: { off_peak: true },
  },
  {
    name: "luma",
    keepsResults: false,
    cancels: "nothing",
    isSearchable: false,
    takesReferences: false,
    reports: "nothing",
    priced: { video: { hdr: true } },
  },
];

const PIXEL = "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const frame = (frame_type: string) => ({ type: "image_url", image_url: { url: PIXEL }, frame_type });

const gateway = await startVideoGateway({ balance: "100.00" });
const { call, create, until } = gateway;

for (const vendor of VENDORS) {
  const { name, keepsResults, cancels, isSearchable, takesReferences, reports, priced = { mode: "pro" } } = vendor;
  const model = `sandbox/video-${name}`;
  const made = (prompt: string, fields: object = {}) => create({ model, prompt, ...fields });

  Deno.test(`${name}: a video is generated, charged and copied`, async () => {
    const task = await until(await made(VALID_BODY.prompt), "completed", "failed");
    assertEquals([task.status, task.provider], ["completed", name]);
    assertEquals(task.usage, { ...task.usage as object, video_seconds: 5, video_cost: "0.5000000000" });
    assertEquals((task.unsigned_urls as string[]).length, 1);
    const { headers } = await call("GET", `/v1/videos/${task.id}/content`);
    assertEquals(await (await fetch(headers.get("location")!)).bytes(), SAMPLE_VIDEO);
    if (keepsResults) assertEquals((await fetch(itemAt(task.unsigned_urls as string[], 0))).status, 401);
  });

  Deno.test(`${name}: frames reach the vendor in the form it accepts`, async () => {
    const fields = { frame_images: [frame("first_frame"), frame("last_frame")], resolution: "1080p" };
    assertEquals((await until(await made(VALID_BODY.prompt, fields), "completed", "failed")).status, "completed");
  });

  if (takesReferences) {
    Deno.test(`${name}: reference images reach the vendor in the form it accepts`, async () => {
      const picture = { type: "image_url", image_url: { url: PIXEL } };
      const id = await made(VALID_BODY.prompt, { input_references: [picture, picture], aspect_ratio: "1:1" });
      assertEquals((await until(id, "completed", "failed")).status, "completed");
    });
  }

  for (
    const [directive, status, code] of [
      ["[[queue 0]] [[run 0]] [[refuse]]", "failed", "content_policy_violation"],
      ["[[queue 0]] [[run 0]] [[failure]]", "failed", "upstream_error"],
      ["[[queue 0]] [[run 0]] [[noresult]]", "failed", "upstream_error"],
      ["[[reject]]", "failed", "content_policy_violation"],
      ["[[fail 429 2]] [[queue 0]] [[run 0]]", "completed", undefined],
      ["[[queue 0]] [[run 100]] [[word daydreaming]]", "completed", undefined],
    ] as const
  ) {
    Deno.test(`${name}: ${directive} ends the task as ${status}`, async () => {
      const task = await until(await made(`A lighthouse ${directive}`), "completed", "failed");
      assertEquals([task.status, (task.error as { code?: string } | null)?.code], [status, code]);
    });
  }

  Deno.test(`${name}: a running job is ${cancels === "nothing" ? "not " : ""}cancelled`, async () => {
    const id = await made("A lighthouse [[queue 0]] [[run 60000]]");
    while (gateway.logLines.every((line) => !line.includes("video_submitted") || !line.includes(id))) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const { status, json } = await call("DELETE", `/v1/videos/${id}`);
    if (cancels === "nothing") assertEquals([status, json.error.code], [400, "cancel_not_supported"]);
    else assertEquals([status, json.status ?? json.error], [200, "cancelled"]);
  });

  if (isSearchable) {
    Deno.test(`${name}: a create whose response was lost is found again and made once`, async () => {
      const task = await until(await made("A lost lighthouse [[queue 0]] [[run 0]] [[cut]]"), "completed", "failed");
      assertEquals(task.status, "completed");
      const isCreate = ({ method, body, path }: LoggedRequest) =>
        method === "POST" && path.startsWith(`/${name}/`) && JSON.stringify(body).includes("A lost lighthouse");
      assertEquals(gateway.sandbox.requests.filter(isCreate).length, 1);
    });
  }

  if (reports === "seconds") {
    Deno.test(`${name}: the duration that the vendor reports is charged`, async () => {
      const task = await until(await made(`${VALID_BODY.prompt} [[seconds 3]]`), "completed", "failed");
      assertEquals((task.usage as { video_seconds: number }).video_seconds, 3);
    });
  }

  if (reports === "cost") {
    Deno.test(`${name}: a cost above the price is charged`, async () => {
      const task = await until(await made(`${VALID_BODY.prompt} [[seconds 12]]`), "completed", "failed");
      const { video_seconds, video_cost } = task.usage as { video_seconds: number; video_cost: string };
      assertEquals([video_seconds, video_cost], [5, "0.6000000000"]);
    });
  }

  Deno.test(`${name}: options that change the price are rejected`, async () => {
    for (const option of [{ duration: 30 }, { callback_url: "https://evil.example" }, priced]) {
      const body = { model, prompt: VALID_BODY.prompt, provider: { options: { [name]: option } } };
      const { status, json } = await call("POST", "/v1/videos", body);
      assertEquals([status, json.error.code], [400, "invalid_request"], JSON.stringify(option));
      assert(json.error.message.includes(`provider.options.${name}.`), json.error.message);
    }
  });
}

Deno.test("the gateway of the vendors' tests stops", () => gateway.stop());
