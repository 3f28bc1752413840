import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import * as fc from "fast-check";
import { parse, stringify } from "yaml";
import { importBifrost } from "../../../src/entry/cli/import/bifrost.ts";
import { importLitellm } from "../../../src/entry/cli/import/litellm.ts";
import { importOpenrouterModels } from "../../../src/entry/cli/import/openrouter_models.ts";
import { importPriceMap } from "../../../src/entry/cli/import/price_map.ts";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { LITELLM, LITERAL } from "../../support/imported.ts";

Deno.test("law: an import reads anything, writes valid YAML, and no secret is in the file or the report", () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom("os.environ/NAME", "env.NAME", "openai/x", "*", "$" + "{X}", "azure"),
    fc.constantFrom("vertex_ai/x", "bedrock/us-east-1/x", "azure/x", "azure_ai/claude-x", "cohere/rerank-x"),
    fc.constantFrom("gemini/x-image", "fal_ai/a/b"),
  );
  const value = fc.oneof(fc.jsonValue(), text, fc.double(), fc.constant([{}]));
  const params = fc.record({
    model: fc.oneof(text, value),
    api_key: fc.constant(LITERAL),
    api_base: fc.oneof(fc.webUrl(), value),
    rpm: value,
    weight: value,
    extra_headers: fc.constant({ "x-key": LITERAL }),
    input_cost_per_token: value,
    vertex_credentials: fc.oneof(fc.constant(LITERAL), value),
    tenant_id: text,
    client_id: text,
    client_secret: fc.constant(LITERAL),
    azure_ad_token: fc.constant(LITERAL),
    aws_access_key_id: fc.constant(LITERAL),
    aws_secret_access_key: fc.constant(LITERAL),
    aws_session_token: fc.constant(LITERAL),
    aws_region_name: text,
  }, { requiredKeys: [] });
  const litellm = fc.record({
    model_list: fc.array(
      fc.record({ model_name: fc.oneof(text, value), litellm_params: params }, { requiredKeys: [] }),
    ),
    router_settings: fc.record({ model_group_alias: fc.dictionary(text, text), fallbacks: value }),
    general_settings: fc.record({ master_key: fc.constant(LITERAL) }),
  }, { requiredKeys: [] });
  const secrets = fc.record({
    endpoint: text,
    tenant_id: text,
    client_id: text,
    client_secret: fc.constant(LITERAL),
    project_id: text,
    region: text,
    auth_credentials: fc.constant(LITERAL),
    access_key: fc.constant(LITERAL),
    secret_key: fc.constant(LITERAL),
    session_token: fc.constant(LITERAL),
  }, { requiredKeys: [] });
  const virtualKey = fc.record({
    name: fc.oneof(text, value),
    value: fc.constant(LITERAL),
    provider_configs: fc.oneof(value, fc.array(fc.record({ provider: text, allowed_models: value, key_ids: value }))),
    budgets: value,
    rate_limit: value,
    team_id: value,
    expires_at: value,
  }, { requiredKeys: ["value"] });
  const key = fc.record({
    value: fc.constant(LITERAL),
    name: value,
    weight: value,
    models: fc.oneof(fc.constant(["*"]), fc.array(text), value),
    aliases: value,
    azure_key_config: fc.oneof(value, secrets),
    vertex_key_config: fc.oneof(value, secrets),
    bedrock_key_config: fc.oneof(value, secrets),
  });
  const bifrost = fc.record({
    providers: fc.dictionary(
      fc.constantFrom("openai", "azure", "groq", "vertex", "bedrock", "cohere", "ollama", "x"),
      fc.record({ keys: fc.array(key) }),
    ),
    governance: fc.record({ virtual_keys: fc.array(virtualKey), teams: value, budgets: value, rate_limits: value }),
  }, { requiredKeys: [] });
  for (
    const [source, read] of [
      [fc.oneof(litellm, value), importLitellm],
      [fc.oneof(bifrost, value), importBifrost],
      [value, importOpenrouterModels],
      [value, (map: unknown, name: string) => importPriceMap(map, name, null)],
    ] as const
  ) {
    fc.assert(
      fc.property(source, (each) => {
        const { yaml, dropped, problems } = read(each, "source");
        assert(!`${yaml}${dropped.join("\n")}${problems.join("\n")}`.includes(LITERAL));
        parse(yaml);
      }),
      { numRuns: 40 },
    );
  }
});

/** Runs a command line in the folder. Returns its exit code, its output and its log. */
type Run = (line: string, env?: Record<string, string>) => Promise<{ code: number; said: string; complaint: string }>;

async function inFolder(play: (folder: string, run: Run) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const keys = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", GROQ_API_KEY: "k" };
  try {
    await play(folder, async (line, env = {}) => {
      const child = startGatewayProcess({ args: line.split(" "), folder, env: { ...keys, ...env } });
      const { code } = await child.ended;
      return { code, said: child.output(), complaint: child.log().trim() };
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the import commands write files that pass config check, with secrets in a file of their own", async () => {
  await inFolder(async (folder, run) => {
    await Deno.writeTextFile(`${folder}/config.yaml`, stringify(LITELLM));
    const imported = await run("import litellm config.yaml");
    assertEquals([imported.code, imported.complaint], [0, ""]);
    assertStringIncludes(imported.said, "Wrote switchyard.yaml with 6 providers, 4 models, 2 patterns of models");
    assertStringIncludes(imported.said, "2 secrets, readable only by its owner: AZURE_API_KEY, LITELLM_MASTER_KEY");
    assert(!imported.said.includes(LITERAL));
    const secrets = await Deno.readTextFile(`${folder}/.env`);
    assertEquals(secrets, `AZURE_API_KEY='${LITERAL}'\nLITELLM_MASTER_KEY='${LITERAL}'\n`);
    if (Deno.build.os !== "windows") assertEquals(((await Deno.stat(`${folder}/.env`)).mode ?? 0) & 0o777, 0o600);
    const checked = await run("config check", { AZURE_API_KEY: LITERAL, LITELLM_MASTER_KEY: LITERAL });
    assertEquals([checked.code, checked.complaint], [0, ""]);
    const again = await run("import litellm config.yaml");
    assertEquals(again.code, 2);
    assertStringIncludes(again.complaint, 'the file "switchyard.yaml" exists already');
    await Deno.writeTextFile(`${folder}/broken.yaml`, `a: [${LITERAL}`);
    const broken = await run("import litellm broken.yaml");
    assertEquals(broken.code, 2);
    assertStringIncludes(broken.complaint, 'broken.yaml: line 1: expected a closing "]"');
    assert(!broken.complaint.includes(LITERAL));
    assertEquals((await run("import portkey x.json")).code, 2);
  });
});

Deno.test("the import commands write no file without a model, as a gateway would offer its built-in models then", async () => {
  await inFolder(async (folder, run) => {
    await Deno.writeTextFile(
      `${folder}/config.yaml`,
      stringify({ model_list: [{ model_name: "scribe", litellm_params: { model: "elevenlabs/scribe" } }] }),
    );
    await Deno.writeTextFile(
      `${folder}/config.json`,
      JSON.stringify({
        providers: { elevenlabs: { keys: [{ value: LITERAL, models: ["*"] }] } },
        governance: { virtual_keys: [{ name: "team", value: LITERAL, provider_configs: [] }] },
      }),
    );
    await Deno.writeTextFile(
      `${folder}/models.json`,
      JSON.stringify({ data: [{ id: "a/b", pricing: { prompt: -1 } }] }),
    );
    await Deno.writeTextFile(`${folder}/prices.json`, "{}");
    for (
      const line of [
        "import litellm config.yaml",
        "import bifrost config.json",
        "import openrouter-models models.json",
        "models import prices.json",
      ]
    ) {
      const { code, said, complaint } = await run(line);
      const file = line.split(" ").at(-1);
      assertEquals(
        [code, complaint],
        [1, `switchyard: Nothing was written, because no model of "${file}" can be carried`],
      );
      assert(!said.includes("Wrote"));
    }
    assertStringIncludes((await run("import litellm config.yaml")).said, "model_list[0] (scribe): the vendor of");
    const files = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
    assertEquals(files.sort(), ["config.json", "config.yaml", "models.json", "prices.json"]);
  });
});

Deno.test("import litellm reads YAML as LiteLLM does", async () => {
  await inFolder(async (folder, run) => {
    const lines = [
      "defaults: &defaults { api_key: os.environ/OPENAI_API_KEY, tpm: 20_000 }",
      "model_list:",
      "  - model_name: fast",
      "    litellm_params: { <<: *defaults, model: openai/gpt-5.4-mini, rpm: 5, rpm: 7 }",
      "  - model_name: dated",
      "    litellm_params: { model: azure/mini, api_version: 2024-10-21 }",
    ];
    await Deno.writeTextFile(`${folder}/config.yaml`, lines.join("\n"));
    const { code, complaint } = await run("import litellm config.yaml");
    assertEquals([code, complaint], [0, ""]);
    const { providers } = parse(await Deno.readTextFile(`${folder}/switchyard.yaml`));
    assertEquals(providers, {
      "openai-fast": { kind: "openai", api_key: "${OPENAI_API_KEY}", rpm: 7, tpm: 20_000 },
      azure: {
        kind: "azure",
        base_url: "${AZURE_API_BASE}",
        api_key: "${AZURE_API_KEY}",
        api_version: "2024-10-21",
      },
    });
  });
});

Deno.test("docs/importing.md shows what the commands print for its sample", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/importing.md", import.meta.url));
  const [, config = ""] = /```yaml\n([^]*?)```/.exec(page) ?? [];
  const [, session = ""] = /```console\n([^]*?)```/.exec(page) ?? [];
  const [imported = "", checked = ""] = session.split(/^\$ switchyard .*\n/m).slice(1);
  await inFolder(async (folder, run) => {
    await Deno.writeTextFile(`${folder}/config.yaml`, config);
    assertEquals((await run("import litellm config.yaml")).said, imported);
    const env = { AZURE_API_BASE: "https://acme.openai.azure.com", AZURE_API_KEY: "k" };
    assertEquals((await run("config check", env)).said, checked);
  });
});

Deno.test("an import prints no control character of its source, and no line that its source has made", async () => {
  await inFolder(async (folder, run) => {
    const name = "\u001b]0;title\u0007\u009b2Jx\u007f\nWrote other.yaml with 1 secret";
    const source = {
      model_list: [
        { model_name: "good", litellm_params: { model: "openai/gpt-5.4-mini", api_key: "os.environ/OPENAI_API_KEY" } },
        { model_name: name, litellm_params: { model: `nobody/${name}`, [name]: 1, api_key: "os.environ/X" } },
      ],
      [name]: { [name]: 1 },
      router_settings: { [name]: name },
    };
    await Deno.writeTextFile(`${folder}/config.json`, JSON.stringify(source));
    const { said, complaint } = await run("import litellm config.json");
    assertStringIncludes(said, "Not carried:");
    assertStringIncludes(said, "title");
    assertEquals(`${said}${complaint}`.match(/[^\P{Cc}\n\t]/gu), null);
    assertEquals(`${said}\n${complaint}`.split("\n").filter((line) => line.startsWith("Wrote other.yaml")), []);
  });
});
