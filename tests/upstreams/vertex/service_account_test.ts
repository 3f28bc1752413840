import { assert, assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { readProviderConfig } from "../../../src/vendors/upstreams/settings/provider_config.ts";
import { openProviders } from "../../../src/vendors/upstreams/opening/providers.ts";
import { configOf, problemsOf } from "../../config/support.ts";
import { present } from "../../support/items.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const PEM = "-----BEGIN PRIVATE KEY-----\nnot-a-real-key-of-acme\n-----END PRIVATE KEY-----\n";
const KEY = { type: "service_account", client_email: "a@b.iam.gserviceaccount.com", private_key: PEM };
const VERTEX = { kind: "vertex", project: "acme", service_account: JSON.stringify(KEY) };

/** The failure of a request that needs a token. */
async function failureWith(fields: Readonly<Record<string, unknown>>): Promise<UpstreamFailure> {
  const config = readProviderConfig({ kind: "vertex", project: "acme", ...fields });
  const providers = await openProviders({ vertex: config }, { clock: new ManualClock(), caCerts: [] });
  try {
    const provider = present(providers.byName.get("vertex"), "the provider");
    return await assertRejects(
      () => present(provider.probe, "its probe")(AbortSignal.timeout(10_000)),
      UpstreamFailure,
    );
  } finally {
    providers.close();
  }
}

Deno.test("vertex: nothing is sent without a usable key, and the failure does not show it", async () => {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, '{"type":"authorized_user"}');
    for (
      const [fields, what] of [
        [{ service_account: JSON.stringify(KEY) }, "private_key of the service account is not valid"],
        [{ service_account_file: `${file}.absent` }, "service_account_file cannot be read (NotFound)"],
        [{ service_account_file: file }, "the key file of the service account is not valid"],
      ] as const
    ) {
      const failure = await failureWith(fields);
      assertEquals(failure.message, `Provider "vertex" has no access token: ${what}`);
      assertEquals([failure.kind, failure.facts.accepted], ["auth", "no"]);
      assert(!Deno.inspect(failure, { depth: 10 }).includes("not-a-real-key"));
    }
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("vertex: the address is that of the location", () => {
  const addressAt = (location?: string) => readProviderConfig({ ...VERTEX, ...(location && { location }) }).baseUrl;
  assertEquals(addressAt(), "https://aiplatform.googleapis.com");
  assertEquals(addressAt("global"), "https://aiplatform.googleapis.com");
  assertEquals(addressAt("eu"), "https://aiplatform.eu.rep.googleapis.com");
  assertEquals(addressAt("europe-west4"), "https://europe-west4-aiplatform.googleapis.com");
});

for (
  const [what, fields, field] of [
    ["no project", { project: undefined }, "project"],
    ["a location with a dot", { location: "evil.example/" }, "location"],
    ["no credential", { service_account: undefined }, "service_account_file"],
    ["a key beside the account", { api_key: "k" }, "api_key"],
    ["two key files", { service_account_file: "/f" }, "service_account_file"],
    ["a user's credentials", { service_account: '{"type":"authorized_user"}' }, "service_account"],
    ["another kind", { kind: "google", api_key: "k" }, "project"],
  ] as const
) {
  Deno.test(`vertex: ${what} is a problem of ${field}`, () => {
    const problems = problemsOf(JSON.stringify({ providers: { one: { ...VERTEX, ...fields } } }));
    assert(problems.some((problem) => problem.includes(`providers.one.${field}: expected`)), problems.join("\n"));
    assert(!problems.join().includes("not-a-real-key"));
  });
}

Deno.test("vertex: a key or a proxy that authorizes requests replaces the account", () => {
  for (const fields of [{ api_key: "k" }, { base_url: "http://127.0.0.1:1" }]) {
    const { vertex } = readProviderConfig({ kind: "vertex", project: "acme", ...fields });
    assertEquals(vertex, { project: "acme", location: "global", account: null });
  }
});

Deno.test("vertex: the sample of the documentation is a valid configuration", () => {
  const page = Deno.readTextFileSync(new URL("../../../docs/clouds.md", import.meta.url));
  const samples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const sample = present(samples.find((text) => text.includes("kind: vertex")), "the sample");
  const { providers } = configOf(sample, { GOOGLE_APPLICATION_CREDENTIALS: "/key.json" });
  assertEquals(providers.vertex?.vertex?.account, { file: "/key.json" });
});
