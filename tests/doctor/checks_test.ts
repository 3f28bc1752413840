import { assertEquals, assertStringIncludes } from "@std/assert";
import { readConfig } from "../../src/config/config.ts";
import type { Model } from "../../src/vendors/catalog/model.ts";
import { checkFacts } from "../../src/entry/doctor/fact_checks.ts";
import { checkListedModels, checkPrices, checkUnpricedModels } from "../../src/entry/doctor/catalog_checks.ts";
import { writeFinding } from "../../src/entry/doctor/finding.ts";
import {
  checkDescriptors,
  checkDisk,
  checkFiles,
  checkRequestLog,
  checkVersion,
} from "../../src/entry/doctor/host_checks.ts";
import { checkClock, checkHosts, unreachable } from "../../src/entry/doctor/network_checks.ts";
import { closedOrigin } from "../support/video_gateway.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from "../support/loopback_certificate.ts";

/** Before the first change of a built-in price that the tests use. */
const NOW = Date.parse("2026-12-24T00:00:00Z");

function modelServedAs(name: string, outputs: readonly string[] = ["text"]): Model {
  return {
    id: `acme/${name}`,
    architecture: { outputModalities: outputs },
    serves: [{ provider: "acme", model: name }],
  } as unknown as Model;
}

Deno.test("a model counts as listed with or without its date, and only text models are compared", () => {
  const listed = new Map([["acme", new Set(["opus-4-20260101", "mini", "gone-soon"])]]);
  const found = (...models: Model[]) => checkListedModels(models, listed);
  assertEquals(found(modelServedAs("opus-4"), modelServedAs("mini-2026-01-01")).level, "ok");
  assertEquals(found(modelServedAs("painter", ["image"])).level, "ok");
  const missing = found(modelServedAs("opus-3"), modelServedAs("mini"));
  assertEquals(missing.level, "warning");
  assertStringIncludes(missing.text, "acme/opus-3 (opus-3 at acme)");
  assertEquals(checkListedModels([modelServedAs("x")], new Map()).level, "ok");
});

Deno.test("prices that differ from the built-in ones are named with both", () => {
  const config = (prompt: string) =>
    readConfig(
      JSON.stringify({
        providers: { anthropic: { kind: "anthropic", api_key: "sk-test-key-of-tests" } },
        models: [{
          id: "anthropic/claude-sonnet-5",
          pricing: { prompt, completion: "0.00001" },
          serves: [{ provider: "anthropic", model: "claude-sonnet-5" }],
        }],
      }),
      "test.json",
      () => undefined,
    );
  assertEquals(checkPrices(config("0.000002"), NOW).level, "ok");
  const finding = checkPrices(config("0.000004"), NOW);
  assertEquals(finding.level, "warning");
  assertStringIncludes(finding.text, "anthropic/claude-sonnet-5 prompt 0.000004, built in 0.000002");
});

Deno.test("the facts of models are named with their sources, and the models without", () => {
  const config = readConfig(
    JSON.stringify({
      providers: { acme: { kind: "openai", base_url: "http://127.0.0.1:1/v1", api_key: "key-of-tests-0123456789" } },
      models: ["gpt-5.1", "own", "other"].map((name) => ({
        id: `acme/${name}`,
        pricing: { prompt: "0.000001" },
        serves: [{ provider: "acme" }],
        ...name === "own" && { facts: { can_reason: true } },
      })),
    }),
    "test.json",
    () => undefined,
  );
  const { text } = checkFacts(config);
  const listed = checkFacts(config, { "acme/other": { canReason: false } });
  assertStringIncludes(listed.text, "the vendor's list (1)");
  assertStringIncludes(text, "what 2 models take is known by OpenAI, model page of GPT-6.2 Sol");
  assertStringIncludes(text, "facts of the model (1)");
  assertStringIncludes(text, "nothing is known of acme/other (other at acme), whose requests are not adapted");
});

Deno.test("prices are compared as they are at the moment, and with those of the model that answers", () => {
  const config = (name: string, prompt: string) =>
    readConfig(
      JSON.stringify({
        providers: { google: { kind: "google", api_key: "key-of-tests-0123456789" } },
        models: [{ id: `google/${name}`, pricing: { prompt }, serves: [{ provider: "google" }] }],
      }),
      "test.json",
      () => undefined,
    );
  const newYear = Date.parse("2027-01-01T00:00:00Z");
  const cheap = config("gemini-3.8-flash", "0.00000075");
  assertEquals(checkPrices(cheap, newYear - 1).level, "ok");
  assertStringIncludes(checkPrices(cheap, newYear).text, "prompt 0.00000075, built in 0.0000015");
  const finding = checkPrices(config("gemini-3.5-flash", "0.0000015"), NOW);
  assertStringIncludes(finding.text, "google/gemini-3.5-flash prompt 0.0000015, built in 0.00000075");
});

Deno.test("the clock is compared with the nearest vendor's, and whole seconds are tolerated", () => {
  assertEquals(checkClock([{ skewMs: null }]).level, "ok");
  assertEquals(checkClock([{ skewMs: 900_000 }, { skewMs: 1_200 }]).level, "ok");
  const late = checkClock([{ skewMs: -30_000 }]);
  assertEquals([late.level, late.text], ["warning", "30 s behind the nearest vendor's"]);
  assertEquals(checkClock([{ skewMs: 300_000 }]).level, "problem");
});

Deno.test("a file in the place of the folder is a problem, a folder that does not exist yet is not", async () => {
  const folder = await Deno.makeTempDir();
  const config = (files: string) => ({ files }) as Parameters<typeof checkFiles>[0];
  assertEquals((await checkFiles(config(`${folder}/a/b`))).level, "ok");
  await Deno.writeTextFile(`${folder}/file`, "");
  assertEquals((await checkFiles(config(`${folder}/file`))).level, "problem");
  assertEquals((await checkFiles(config(`${folder}/file/below`))).level, "problem");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("another minor version of Deno is a warning", () => {
  assertEquals(checkVersion("1.0.0", "2.9.6").level, "ok");
  const finding = checkVersion("1.0.0", "3.0.0");
  assertEquals(writeFinding(finding).split("\n").length, 2);
  assertStringIncludes(writeFinding(finding), "warning  version: switchyard 1.0.0 on Deno 3.0.0");
});

Deno.test("a low limit of open files is a warning that names the wanted limit", async () => {
  assertEquals((await checkDescriptors(() => Promise.resolve(null))).level, "ok");
  assertEquals((await checkDescriptors(() => Promise.resolve(65_536))).level, "ok");
  const low = await checkDescriptors(() => Promise.resolve(1_024));
  assertEquals([low.level, low.text], ["warning", "at most 1024 open files, which that many connections use up"]);
  assertStringIncludes(low.advice ?? "", "ulimit -n 65536");
});

function configIn(folder: string, text = ""): ReturnType<typeof readConfig> {
  const paths = `store: "kv:${folder}/data/store.db"\nfiles: "${folder}/files"\n`;
  return readConfig(
    paths + (text === "" ? `request_log: { path: "${folder}/log/requests" }` : text),
    "test.yaml",
    () => undefined,
  );
}

Deno.test("free space below the limit is a problem, and one little above it a warning, on any disk that is written", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.mkdir(`${folder}/log`);
  const config = configIn(folder, `request_log: { path: "${folder}/log/requests" }\nlimits: { min_free_disk: 1GB }`);
  const read: (readonly string[])[] = [];
  const levelAt = async (free: number | null) =>
    (await checkDisk(config, (folders) => {
      read.push(folders);
      return free;
    })).level;
  assertEquals([await levelAt(999_999_999), await levelAt(1_000_000_000), await levelAt(4_999_999_999)], [
    "problem",
    "warning",
    "warning",
  ]);
  assertEquals([await levelAt(5_000_000_000), await levelAt(null)], ["ok", "ok"]);
  assertEquals(read[0], [folder, `${folder}/log`], "folders that do not exist yet count as the nearest above them");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a log of requests that cannot be written is a problem, and capture without a log a warning", async () => {
  const folder = await Deno.makeTempDir();
  const found = (text = "") => checkRequestLog(configIn(folder, text));
  const fresh = await found();
  assertEquals([fresh.level, fresh.text], ["ok", `${folder}/log/requests can be written`]);
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), [], "nothing was created");
  await Deno.mkdir(`${folder}/log/requests`, { recursive: true });
  const blocked = await found();
  assertEquals(blocked.level, "problem");
  assertStringIncludes(blocked.advice ?? "", "request_log.path");
  assertEquals((await found("request_log: false")).level, "ok");
  const unused = await found("request_log: { enabled: false, capture: { secret_key: sixteen-letters-a } }");
  assertEquals([unused.level, unused.text], ["warning", "off, so request_log.capture has no effect"]);
  await Deno.remove(folder, { recursive: true });
});

/** What the check of a host finds at an address. */
async function hostAt(baseUrl: string, timeoutMs?: number) {
  const config = readConfig(
    `providers: { acme: { kind: openai, base_url: "${baseUrl}", api_key: k } }`,
    "test.yaml",
    () => undefined,
  );
  const [host] = await checkHosts(config, timeoutMs === undefined ? {} : { timeoutMs });
  return host?.finding;
}

Deno.test("a host with an untrusted certificate, and one that does not answer in time, are named as such", async () => {
  const silent = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using server = Deno.serve({ ...silent, cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY }, () => new Response());
  const untrusted = await hostAt(`https://127.0.0.1:${server.addr.port}/v1`);
  assertEquals([untrusted?.level, untrusted?.text], [
    "problem",
    `the certificate of https://127.0.0.1:${server.addr.port} is not trusted`,
  ]);
  assertStringIncludes(untrusted?.advice ?? "", "egress.ca_file");
  const held = Promise.withResolvers<Response>();
  await using slow = Deno.serve(silent, () => held.promise);
  const late = await hostAt(`http://127.0.0.1:${slow.addr.port}/v1`, 50);
  held.resolve(new Response());
  assertStringIncludes(late?.text ?? "", "did not answer within 0.05 s");
  assertStringIncludes(late?.advice ?? "", "HTTPS_PROXY");
});

Deno.test("a host on this machine is contacted without a proxy, as the gateway contacts it", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response("it"));
  const { origin } = new URL(`http://127.0.0.1:${server.addr.port}`);
  const program = `
    import { checkHosts } from "${new URL("../../src/entry/doctor/network_checks.ts", import.meta.url)}";
    const providers = { one: { baseUrl: "${origin}/v1" } };
    const [host] = await checkHosts({ providers, egress: { caFile: null } });
    console.log(JSON.stringify([host.finding.level, host.finding.text, host.skewMs !== null]));`;
  const env = { HTTP_PROXY: closedOrigin(), http_proxy: closedOrigin(), NO_PROXY: "", no_proxy: "" };
  const args = ["eval", "--no-check", program];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, env, stderr: "inherit" }).output();
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), ["ok", `${origin} answers`, true]);
});

Deno.test("a name that cannot be resolved is named as such, and other failures have an advice of their own", () => {
  const found = (message: string) =>
    unreachable({
      check: "host of acme",
      origin: "http://nowhere.invalid",
      error: new TypeError("fetch failed", { cause: new Error(message) }),
      timeoutMs: 10_000,
    });
  const request = "error sending request for url (http://nowhere.invalid/): client error (Connect): ";
  const unnamed = found(`${request}dns error: failed to lookup address information: Name or service not known`);
  assertEquals(unnamed.text, "the name in http://nowhere.invalid cannot be resolved");
  const refused = found(`${request}tcp connect error: Connection refused (os error 111)`);
  assertEquals(refused.text, "http://nowhere.invalid cannot be reached");
});

Deno.test("listed models that have no price are named, as they are not served", () => {
  const config = readConfig(
    `
providers:
  acme: { kind: openai, base_url: "http://127.0.0.1:1/v1" }
  openai: { kind: openai, api_key: key }
models:
  - { id: "acme/*" }
  - { id: "openai/gpt-*" }
`,
    "test.yaml",
    () => undefined,
  );
  const listed = new Map([["acme", new Set(["mini"])], ["openai", new Set(["gpt-6-sol", "gpt-99", "other"])]]);
  const found = checkUnpricedModels(config, listed);
  assertEquals(found.level, "warning");
  assertStringIncludes(found.text, "no price: mini (acme/*); gpt-99 (openai/gpt-*)");
  const priced = { ...config, modelPatterns: config.modelPatterns.map((each) => ({ ...each, servesUnpriced: true })) };
  assertEquals(checkUnpricedModels(priced, listed).level, "ok");
});
