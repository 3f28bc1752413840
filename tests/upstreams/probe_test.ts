import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { openai } from "../../src/vendors/upstreams/openai/mod.ts";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { withVendor } from "./vendor.ts";

const IDLE = new AbortController().signal;

const PATHS = {
  openai: "/base/models",
  xai: "/base/models",
  anthropic: "/base/v1/models?limit=1",
  google: "/base/v1beta/models?pageSize=1",
  ark: "/base/contents/generations/tasks?page_num=1&page_size=1",
  minimax: "/base/v1/query/video_generation?task_id=0",
  bfl: "/base/credits",
  kling: "/base/v1/videos/text2video?pageNum=1&pageSize=1",
  runway: "/base/v1/organization",
  vidu: "/base/ent/v2/credits?show_detail=false",
  "dream-machine": "/base/credits",
  pika: "/base/billing/balance",
  replicate: "/base/account",
  bedrock: "/base/async-invoke?maxResults=1",
} as const;

for (const [kind, path] of Object.entries(PATHS)) {
  Deno.test(`${kind}: the probe sends a free request`, async () => {
    const body = { code: 0, data: [], base_resp: { status_code: 0, status_msg: "success" } };
    await withVendor(kind, [{ body }], async ({ probe }, seen) => {
      await probe!(IDLE);
      assertEquals(seen.map((each) => [each.method, each.path, each.bytes.length]), [["GET", path, 0]]);
    });
  });

  Deno.test(`${kind}: the probe fails as "auth" if the key is rejected, and with another kind otherwise`, async () => {
    for (const [status, expected] of [[401, "auth"], [404, "invalid"], [429, "rate_limited"], [503, "unavailable"]]) {
      await withVendor(kind, [{ status: Number(status), body: { error: { message: "No" } } }], async ({ probe }) => {
        const failure = await assertRejects(() => probe!(IDLE), UpstreamFailure);
        assertEquals(failure.kind, expected);
      });
    }
  });
}

Deno.test("luma: the probe requests a generation that does not exist, which a valid key may do", async () => {
  for (const [status, expected] of [[200, null], [404, null], [401, "auth"], [429, "rate_limited"]] as const) {
    await withVendor("luma", [{ status, body: { detail: "No" } }], async ({ probe }, seen) => {
      const kind = await probe!(IDLE).then(() => null, (failure: UpstreamFailure) => failure.kind);
      assertEquals([kind, seen[0]?.path], [expected, "/base/generations/00000000-0000-0000-0000-000000000000"]);
    });
  }
});

Deno.test("minimax: the probe reads the code in a status 200 response", async () => {
  for (const [code, expected] of [[1004, "auth"], [2049, "auth"], [1002, "rate_limited"], [2013, null], ["0", null]]) {
    await withVendor("minimax", [{ body: { base_resp: { status_code: code, status_msg: "" } } }], async ({ probe }) => {
      const kind = await probe!(IDLE).then(() => null, (failure: UpstreamFailure) => failure.kind);
      assertEquals(kind, expected, String(code));
    });
  }
});

Deno.test("openai: the probe of OpenRouter requests the key, because its model list needs none", async () => {
  const paths: string[] = [];
  const at = (base: string) => ({
    firstByteMs: 1_000,
    pathOf: (address: string) => address.startsWith(`${base}/`) ? address.slice(base.length) : null,
    json: (_method: string, path: string) => Promise.resolve(void paths.push(path)),
  });
  for (const base of ["https://openrouter.ai/api/v1", "https://relay.example/v1"]) {
    await openai.probe(at(base) as unknown as Outbound, IDLE);
  }
  assertEquals(paths, ["/key", "/models"]);
});

Deno.test("bfl: the probe reads a 403 as a rejected key", async () => {
  const body = { detail: "Not authenticated - Invalid Authentication" };
  await withVendor("bfl", [{ status: 403, body }], async ({ probe }) => {
    assertEquals((await assertRejects(() => probe!(IDLE), UpstreamFailure)).kind, "auth");
  });
});

Deno.test("google: the probe reads a 400 as a rejected key", async () => {
  const body = { error: { code: 400, message: "API key not valid", details: [{ reason: "API_KEY_INVALID" }] } };
  await withVendor("google", [{ status: 400, body }], async ({ probe }) => {
    assertEquals((await assertRejects(() => probe!(IDLE), UpstreamFailure)).kind, "auth");
  });
});

Deno.test("bedrock: a credential that may not list invocations is valid", async () => {
  const forbidden = (message: string) => [{ status: 403, body: { __type: "AccessDeniedException", message } }];
  await withVendor(
    "bedrock",
    forbidden("User: a is not authorized to perform: bedrock:ListAsyncInvokes"),
    ({ probe }) => probe!(IDLE),
  );
  await withVendor(
    "bedrock",
    forbidden("Authentication failed: Please make sure your API Key is valid."),
    async ({ probe }) => {
      assertEquals((await assertRejects(() => probe!(IDLE), UpstreamFailure)).kind, "auth");
    },
  );
});

Deno.test("fal: there is no probe", async () => {
  await withVendor("fal", [{ body: {} }], ({ probe }) => Promise.resolve(assertEquals(probe, undefined)));
});
