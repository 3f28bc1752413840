import { sumOf } from "../../../src/console/client/pages/requests/session_sum.ts";
import { assertEquals } from "@std/assert";
import { videoVariantsOf } from "../../../src/console/client/pages/models/model_facts.ts";
import { curlText, isForPrograms } from "../../../src/console/client/pages/requests/curl_text.ts";
import { ownResultsOf } from "../../../src/console/client/pages/videos/own_results.ts";
import { ownTaskEventsOf, taskEventsOf } from "../../../src/console/client/pages/videos/task_events.ts";
import { LOGGED_REQUEST } from "./samples.ts";
import { ownAddress } from "../../../src/console/client/own_address.ts";

const TASK = {
  status: "pending",
  step: "submitted",
  step_since: 20,
  provider: "ark",
  created_at: 10,
  ended_at: null,
  deadline_at: 100,
  failure: null,
} as const;

Deno.test("console: the sum of a session has its failures, its tokens, its cost and its time", () => {
  const second = { ...LOGGED_REQUEST, received_at: 1_060, duration_ms: 500, status: 503, usage: null, cost: null };
  assertEquals(sumOf([second, LOGGED_REQUEST]), { failed: 1, input: 3, output: 5, cost: 0.000013, spanMs: 60_500 });
});

Deno.test("taskEventsOf() ends with the deadline while a task is pending, and with its end afterwards", () => {
  const of = (change: Partial<Parameters<typeof taskEventsOf>[0]>) =>
    taskEventsOf({ ...TASK, ...change }).map(({ name, at, note }) => [name, at, note]);
  assertEquals(of({}), [["created", 10, null], ["submitted", 20, "ark"], ["deadline", 100, null]]);
  assertEquals(of({ step: "waiting", step_since: null }), [["created", 10, null], ["deadline", 100, null]]);
  assertEquals(of({ status: "failed", ended_at: 30, failure: "x" }).at(-1), ["failed", 30, "x"]);
});

Deno.test("curlText() has the endpoint, a place for the key in the protocol's field, and the body as one word", () => {
  const base = { method: "POST", address: "https://gateway.example" };
  const body = `{"a":"it's"}`;
  assertEquals(
    curlText({ ...base, path: "/console/api/msgcompat/v1/messages", body }),
    [
      "curl 'https://gateway.example/msgcompat/v1/messages'",
      "-X POST",
      '-H "x-api-key: $API_KEY"',
      "-H 'Content-Type: application/json'",
      `--data-raw '{"a":"it'\\''s"}'`,
    ].join(" \\\n  "),
  );
  const got = curlText({ ...base, method: "GET", path: "/v1/models", body: null });
  assertEquals(got.split(" \\\n  "), [
    "curl 'https://gateway.example/v1/models'",
    '-H "Authorization: Bearer $API_KEY"',
  ]);
});

Deno.test("a sign-in to the console has no command line, as programs do not send it", () => {
  const paths = [
    "/v1/models",
    "/console/api/v1/models",
    "/console/session",
    "/console/api",
    "/consoles",
    "/admin/v1/x",
  ];
  assertEquals(paths.filter((path) => isForPrograms({ path })), [
    "/v1/models",
    "/console/api/v1/models",
    "/consoles",
    "/admin/v1/x",
  ]);
});

Deno.test("curlText() sends the texts of a form as fields, and leaves a place for its file", () => {
  const sent = { method: "POST", path: "/v1/images/edits", address: "https://gateway.example" };
  assertEquals(curlText({ ...sent, body: `{"prompt":"it's","n":"2"}` }).split(" \\\n  ").slice(3), [
    "--form-string 'prompt=it'\\''s'",
    "--form-string 'n=2'",
    "--form 'image[]=@…'",
  ]);
  assertEquals(
    curlText({ ...sent, path: "/v1/audio/transcriptions", body: null }).split(" \\\n  ").slice(3),
    ["--form 'file=@…'"],
  );
});

Deno.test("ownAddress() is below the console for copies at the gateway, and null for addresses of vendors", () => {
  assertEquals(
    ownAddress("https://gateway.example/files/a.mp4?expires=1&signature=s"),
    "/console/api/files/a.mp4?expires=1&signature=s",
  );
  assertEquals(ownAddress("https://vendor.example/files/a.mp4"), null);
  assertEquals(ownAddress("https://vendor.example/videos/a.mp4?signature=s"), null);
});

Deno.test("videoVariantsOf() has each resolution once, or once with sound and once without", () => {
  const pricing = {
    request: "1",
    per_second_720p: "0.1",
    per_second_1080p_audio: "0.3",
    per_second_1080p_silent: "0.2",
  };
  assertEquals(videoVariantsOf(pricing), [
    { title: "720p", fields: { resolution: "720p", audio: false } },
    { title: "1080p, audio", fields: { resolution: "1080p", audio: true } },
    { title: "1080p, silent", fields: { resolution: "1080p", audio: false } },
  ]);
});

Deno.test("ownTaskEventsOf() has the events that the caller's task names", () => {
  const task = { status: "pending", created_at: 10, updated_at: 20 };
  const of = (change: Partial<Parameters<typeof ownTaskEventsOf>[0]>) =>
    ownTaskEventsOf({ ...task, ...change }).map(({ name, at, note }) => [name, at, note]);
  assertEquals(of({}), [["created", 10, null]]);
  assertEquals(of({ provider: "ark", started_at: 15, status: "completed" }), [
    ["created", 10, null],
    ["submitted", null, "ark"],
    ["started", 15, null],
    ["completed", 20, null],
  ]);
  const error = { code: "upstream_error", message: "The vendor failed" };
  assertEquals(of({ status: "failed", error }).at(-1), ["failed", 20, "upstream_error"]);
});

Deno.test("ownResultsOf() prefers the copies at the gateway, once all are there", () => {
  const task = { unsigned_urls: ["https://a.example/1", "https://a.example/2"], mirror_urls: ["https://g.example/1"] };
  assertEquals(ownResultsOf(task).map(({ url }) => url), task.unsigned_urls);
  const copied = { ...task, mirror_urls: ["https://g.example/1", "https://g.example/2"] };
  assertEquals(ownResultsOf({ ...copied, thumbnail_url: "https://a.example/t" }), [
    { type: "video", index: 0, url: "https://g.example/1" },
    { type: "video", index: 1, url: "https://g.example/2" },
    { type: "thumbnail", index: 0, url: "https://a.example/t" },
  ]);
});
