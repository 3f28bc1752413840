import { assertEquals, assertMatch } from "@std/assert";
import { asListenError, type ListenError, SERVER_ADDRESS } from "../../src/platform/http/listen_error.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { closedOrigin } from "../support/video_gateway.ts";

/** Starts a gateway that cannot start. Returns its exit code and the lines that are not of its log. */
async function failedStart(config: (folder: string) => Record<string, unknown>) {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/file`, "x");
    const path = `${folder}/switchyard.json`;
    const tree = { server: { host: "127.0.0.1", port: 0 }, store: "kv::memory:", ...config(folder) };
    await Deno.writeTextFile(path, JSON.stringify(tree));
    const process = startGatewayProcess({ args: ["serve", "--config", path], folder });
    const { code } = await process.ended;
    const lines = process.log().split("\n").filter((line) => line !== "" && !line.startsWith("{"));
    return { code, said: lines.join("\n").replaceAll(folder, "FOLDER"), ready: process.output() };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** An S3 server that refuses every request with this code. */
function refusingBucket(code: string) {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(`<Error><Code>${code}</Code></Error>`, { status: 403 }),
  );
  return { origin: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

const bucketAt = (origin: string) => ({
  files: `s3://results/videos?endpoint=${origin}&region=eu`,
  files_credentials: { access_key_id: "id", secret_access_key: "a-secret-access-key" },
  egress: { allow: ["127.0.0.1/32"] },
});

const FAILURES: readonly (readonly [string, (folder: string) => Record<string, unknown>, RegExp])[] = [
  [
    "a host that this machine does not have",
    () => ({ server: { host: "203.0.113.9", port: 9 } }),
    /^switchyard: Cannot listen at 203\.0\.113\.9:9 \(setting "server\.host"\): this machine has no such address; choose/,
  ],
  [
    "a host that has no address, with one thread",
    () => ({ server: { host: "nowhere.invalid", port: 9, isolates: 1 } }),
    /^switchyard: Cannot listen at nowhere\.invalid:9 \(setting "server\.host"\): the host name cannot be resolved; /,
  ],
  [
    "an address of the admin API that this machine does not have",
    () => ({ server: { port: 0, admin_listen: "203.0.113.9:9", admin_key: "an-admin-key-of-tests" } }),
    /^switchyard: Cannot listen at 203\.0\.113\.9:9 \(setting "server\.admin_listen"\): /,
  ],
  [
    "a store below a file",
    (folder) => ({ store: `kv:${folder}/file/store.db` }),
    /^switchyard: Cannot use "FOLDER\/file\/store\.db" \(setting "store"\): a file exists where a folder is expected/,
  ],
  [
    "a store in a folder that cannot be created",
    () => ({ store: "kv:/proc/nowhere/store.db" }),
    /^switchyard: Cannot use "\/proc\/nowhere\/store\.db" \(setting "store"\): /,
  ],
  [
    "files below a file",
    (folder) => ({ files: `${folder}/file/files` }),
    /^switchyard: Cannot use "FOLDER\/file\/files" \(setting "files"\): part of the path is not a folder/,
  ],
  [
    "a log of requests below a file",
    (folder) => ({ request_log: { path: `${folder}/file/log.db` } }),
    /^switchyard: Cannot use "FOLDER\/file\/log\.db" \(setting "request_log\.path"\): /,
  ],
  [
    "a file of roots that is not there",
    () => ({ egress: { ca_file: "/nowhere.pem" } }),
    /^egress\.ca_file: expected a readable file .* with certificates in PEM, got no such file$/,
  ],
  [
    "a database that does not answer",
    () => ({ store: `postgres://user:sesame@${new URL(closedOrigin()).host}/db` }),
    /^switchyard: Cannot use the store at user@127\.0\.0\.1:\d+\/db \(setting "store"\): .*; start the database, or correct/,
  ],
  [
    "a bucket that does not answer",
    () => bucketAt(closedOrigin()),
    /^switchyard: Cannot use the bucket "results" at http:\S+ \(setting "files"\): no response/,
  ],
];

for (const [what, config, expected] of FAILURES) {
  Deno.test(`start: ${what} ends it with one sentence that names the setting`, async () => {
    const { code, said, ready } = await failedStart(config);
    assertMatch(said, expected);
    assertEquals([code, said.split("\n").length, said.includes(".ts:"), said.includes("sesame"), ready], [
      said.startsWith("switchyard:") ? 1 : 2,
      1,
      false,
      false,
      "",
    ]);
  });
}

Deno.test("start: a bucket that refuses ends it with what to correct", async () => {
  const bucket = refusingBucket("InvalidAccessKeyId");
  try {
    const { code, said } = await failedStart(() => bucketAt(bucket.origin));
    assertMatch(
      said,
      /^switchyard: .*\(setting "files"\): the access key id is unknown: correct files_credentials or /,
    );
    assertEquals([code, said.includes("a-secret-access-key")], [1, false]);
  } finally {
    await bucket.stop();
  }
});

for (const isolates of [1, 2]) {
  Deno.test(`start: a port that another process uses is named (${isolates} threads)`, async () => {
    using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { code, said } = await failedStart(() => ({
      server: { host: "127.0.0.1", port: other.addr.port, isolates },
    }));
    assertEquals(code, 1);
    assertEquals(
      said,
      `switchyard: Cannot listen at 127.0.0.1:${other.addr.port} (setting "server.port"): ` +
        "another process uses the port; stop it, or choose another port",
    );
  });
}

Deno.test("start: a port below 1024 without permission says so, and an unknown error stays as it is", () => {
  const failure = (error: unknown, host = "127.0.0.1") => asListenError({ host, port: 80 }, SERVER_ADDRESS, error);
  const refused = failure(new Deno.errors.PermissionDenied("x"), "::1") as ListenError;
  assertEquals(
    refused.message,
    'Cannot listen at [::1]:80 (setting "server.port"): a port below 1024 needs a permission; choose a higher one, ' +
      "or grant CAP_NET_BIND_SERVICE",
  );
  const other = new TypeError("x");
  assertEquals(failure(other), other);
});

Deno.test("dev takes the next port if another process has the usual one, and says so", async () => {
  const folder = await Deno.makeTempDir();
  const usual = 8787;
  const other = listenUnlessUsed(usual);
  try {
    const process = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "" } });
    const [, port] = await process.until(/ready at http:\/\/127\.0\.0\.1:(\d+)/);
    assertMatch(process.output(), new RegExp(`Another process uses port ${usual}; this gateway takes ${port}\\.`));
    assertEquals(Number(port) > usual, true);
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0);
  } finally {
    other?.close();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Null if another process has the port. */
function listenUnlessUsed(port: number): Deno.Listener | null {
  try {
    return Deno.listen({ hostname: "127.0.0.1", port });
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return null;
    throw error;
  }
}
