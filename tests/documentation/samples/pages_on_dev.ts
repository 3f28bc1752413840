import { join } from "node:path";
import { environmentOf } from "../../../src/entry/cli/environment.ts";
import { checkConfig } from "../../../src/config/load_config.ts";
import { plainPng } from "../../support/heavy_media.ts";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { callerOf } from "../../support/gateway_call.ts";
import { untilSo } from "../../support/patience.ts";
import { callAdmin, callGateway, CHAT, createKey, idOf, untilEnded } from "./gateway_requests.ts";
import type { Scenario, Session } from "./scenario.ts";

/** The pages whose samples are run on the gateway of `dev`. */
export const PAGES_ON_DEV: readonly Scenario[] = [
  // First, as a later page adds an account.
  {
    page: "docs/webhooks.md",
    heading: "While developing",
    before: { "webhooks trigger": startApplication },
    runs: { "webhooks listen": listen },
  },
  { page: "README.md" },
  { page: "CONTRIBUTING.md" },
  { page: "docs/addresses.md" },
  { page: "docs/providers.md", heading: "Facts of models" },
  { page: "docs/console.md" },
  {
    page: "docs/get-started.md",
    before: { "videos/01a20371": untilCompleted },
    refused: { "ledger verify": "stop the gateway first" },
    runs: { "switchyard init": init },
  },
  { page: "docs/api/caches.md" },
  { page: "docs/api/chat-completions.md" },
  { page: "docs/api/dry-runs.md", before: { "X-Service-Dry-Run": useKeyOfOneRequest } },
  {
    page: "docs/api/errors.md",
    answers: {
      '"param"': (session) =>
        callGateway(session, "POST", "/v1/chat/completions", { body: { model: "sandbox/chat-1" } }),
      references_conflict: (session) => callGateway(session, "POST", "/v1/videos", { body: CONFLICTING_REFERENCES }),
      request_id: (session) =>
        callGateway(session, "POST", "/msgcompat/v1/messages", { body: { model: "sandbox/chat-1" } }),
      fieldViolations: (session) =>
        callGateway(session, "POST", "/gencompat/v1beta/cachedContents", {
          body: { model: "sandbox/chat-1", ttl: "1" },
        }),
      '"amount"': creditTwice,
    },
  },
  { page: "docs/api/generate-content.md" },
  { page: "docs/batches.md", before: { "batches/batch_": untilBatchCompleted } },
  {
    page: "docs/files.md",
    before: {
      "v1/files": async ({ stage: { folder } }) => {
        await Deno.writeTextFile(`${folder}/report.pdf`, "%PDF-1.7");
        await Deno.writeFile(`${folder}/first.png`, plainPng(256, 256));
      },
      "input_file": ({ ids, printed }) =>
        void ids.set("file-0123456789abcdef0123456789ab", JSON.parse(printed.at(-1)?.text ?? "{}").id),
      "input_reference": ({ ids, printed }) =>
        void ids.set("file-0123456789abcdef0123456789cd", JSON.parse(printed.at(-1)?.text ?? "{}").id),
    },
  },
  {
    page: "docs/api/health.md",
    answers: { '"providers"': async (session) => (await callAdmin(session, "GET", "/readyz?verbose")).json },
  },
  { page: "docs/api/idempotency.md" },
  {
    page: "docs/api/images.md",
    answers: {
      dry_run: (session) =>
        callGateway(session, "POST", "/v1/images/generations", {
          headers: { "x-service-dry-run": "true" },
          body: { model: "sandbox/image-reference-1", prompt: "A lighthouse at dusk", quality: "low", n: 3 },
        }),
    },
  },
  {
    page: "docs/api/limits.md",
    answers: {
      '"object": "key"': async (session) => {
        const fields = {
          name: "ci",
          models: ["sandbox/*"],
          rpm: 60,
          concurrency: 4,
          budget: { amount: "20", per: "month" },
        };
        return await callGateway(session, "GET", "/v1/key", { key: await createKey(session, fields) });
      },
      insufficient_credits: async (session) => {
        const key = await createKey(session, { budget: { amount: "0.0000001", per: "month" } });
        return await callGateway(session, "POST", "/v1/chat/completions", { key, body: CHAT });
      },
    },
  },
  { page: "docs/api/messages.md" },
  {
    page: "docs/api/money.md",
    shows: { "data: {": usageChunk },
    answers: { estimated_requests: ({ printed }) => JSON.parse(printed.at(-1)?.text ?? "") },
  },
  { page: "docs/api/responses.md" },
  { page: "docs/api/resuming.md" },
  { page: "docs/api/routing.md" },
  { page: "docs/api/text.md" },
  { page: "docs/api/videos.md", before: { unsigned_urls: untilCompleted, "/events": createVideo } },
  { page: "docs/caches.md" },
  { page: "docs/installing.md" },
  { page: "docs/testing.md" },
  {
    page: "docs/videos.md",
    before: { "first.png": (session) => Deno.writeFile(`${session.stage.folder}/first.png`, plainPng(256, 256)) },
    answers: { camera_fixed: createWithOptions },
  },
];

/** Runs `init` in a folder of its own, which has the file and the variable with the keys. */
async function init(session: Session, words: readonly string[]): Promise<string> {
  const folder = join(session.stage.folder, "init");
  await Deno.mkdir(folder);
  await Deno.writeTextFile(join(folder, "openai.key"), "sk-of-the-samples\n");
  const args = words.slice(words.indexOf("init"));
  const process = startGatewayProcess({ args, folder, env: { GROQ_API_KEY: "gsk-of-the-samples" } });
  const { code } = await process.ended;
  if (code !== 0) throw new Error(process.log());
  const { problems } = checkConfig({
    path: join(folder, "switchyard.yaml"),
    env: environmentOf(join(folder, "switchyard.yaml")),
  });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return process.output();
}

/** The application at the port of the page. It runs until the tests end. */
function startApplication({ replaced }: Session): void {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(null, { status: 204 }),
  );
  server.unref();
  replaced.set("localhost:3000", `localhost:${server.addr.port}`);
}

/** What `webhooks listen` prints until it has forwarded an event. */
async function listen(session: Session, [, ...words]: readonly string[]): Promise<string> {
  startApplication(session);
  const args = words.map((word) => word.replace("localhost:3000", session.replaced.get("localhost:3000") ?? ""));
  const process = startGatewayProcess({ args, folder: session.stage.folder });
  await process.until(/Listening/);
  await callGateway(session, "POST", "/v1/videos", { body: VIDEO });
  await process.until(/forwarded to .*\n/);
  process.kill("SIGTERM");
  await process.ended;
  return process.output();
}

const REFERENCE = { type: "image_url", image_url: { url: "https://vendor.example/a.png" } };

const VIDEO = { model: "sandbox/video-1", prompt: "A lighthouse at dusk" };

const CONFLICTING_REFERENCES = {
  ...VIDEO,
  frame_images: [{ ...REFERENCE, frame_type: "first_frame" }],
  input_references: [REFERENCE],
};

/** The page uses a key that has had its one request of this minute. */
async function useKeyOfOneRequest(session: Session): Promise<void> {
  const key = await createKey(session, { rpm: 1 });
  await callGateway(session, "POST", "/v1/chat/completions", { key, body: CHAT });
  session.variables.SWITCHYARD_KEY = key;
}

/** The same credit with two amounts. */
async function creditTwice(session: Session): Promise<unknown> {
  const credit = async (amount: string) =>
    await callAdmin(session, "POST", "/admin/v1/accounts/demo/credit", { amount, reference: "invoice-errors" });
  await credit("1");
  return (await credit("2")).json;
}

/** The last chunk but one of a stream: the usage. */
async function usageChunk(session: Session): Promise<string> {
  const { stage: { address }, variables: { SWITCHYARD_KEY } } = session;
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${SWITCHYARD_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ ...CHAT, stream: true, stream_options: { include_usage: true } }),
  });
  return (await response.text()).split("\n\n").find((event) => event.includes('"choices":[]')) ?? "";
}

/** Waits for the video that the page has created. The page then shows its task. */
async function untilCompleted(session: Session): Promise<void> {
  const { text } = await untilEnded(session, idOf(session, "01a2"));
  session.printed.push({ text, isSuccess: true });
}

async function untilBatchCompleted(session: Session): Promise<void> {
  const id = idOf(session, "batch_01a2");
  const call = callerOf(session.stage.address, { authorization: `Bearer ${session.variables.SWITCHYARD_KEY}` });
  await untilSo(async () => (await call("GET", `/v1/batches/${id}`)).json.status === "completed");
}

/** Creates a video, whose events the page then shows. */
async function createVideo(session: Session): Promise<void> {
  const task = await callGateway(session, "POST", "/v1/videos", { body: VIDEO });
  session.printed.push({ text: JSON.stringify(task), isSuccess: true });
}

/** The options of a provider are taken by a create. Gives the sample, if so. */
async function createWithOptions(session: Session, sample: unknown): Promise<unknown> {
  const { provider: { options } } = sample as { provider: { options: Record<string, unknown> } };
  const results = await Promise.all(
    Object.entries(options).map(async ([name, own]) => {
      const body = {
        model: name === "fal" ? "sandbox/video-queue-1" : "sandbox/video-1",
        prompt: "A lighthouse at dusk",
        provider: { options: { [`sandbox-${name}`]: own } },
      };
      return await callGateway(session, "POST", "/v1/videos", { body, headers: { "x-service-dry-run": "true" } });
    }),
  );
  const isTaken = results.every((result) => (result as { dry_run?: unknown }).dry_run === true);
  return isTaken ? sample : results;
}
