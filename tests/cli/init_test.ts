import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "node:path";
import { environmentOf } from "../../src/entry/cli/environment.ts";
import { collectAnswers } from "../../src/entry/cli/init/answers.ts";
import { configFile } from "../../src/entry/cli/init/files.ts";
import { INIT_VENDORS } from "../../src/entry/cli/init/vendors.ts";
import { readPrice } from "../../src/entry/cli/init/price.ts";
import type { TryKey } from "../../src/entry/cli/init/key_trial.ts";
import { InputEndedError, type Terminal, terminalOver } from "../../src/entry/cli/terminal.ts";
import { UsageError } from "../../src/entry/cli/usage_error.ts";
import { parse } from "yaml";
import { valueAt } from "../support/items.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";

const NOTHING = () => undefined;

/** A terminal that gives these answers in turn, and keeps the questions. */
function answering(
  ...answers: readonly string[]
): Terminal & { readonly questions: string[]; readonly told: string[] } {
  const questions: string[] = [];
  const told: string[] = [];
  const next = (question: string) => {
    questions.push(question);
    return Promise.resolve(answers[questions.length - 1] ?? "");
  };
  return { questions, told, ask: next, askSecret: next, tell: (text) => void told.push(text) };
}

/** A terminal with typed bytes, and what it shows. */
function typing(text: string) {
  const parts = text.match(/.{1,3}/gs) ?? [];
  const shown: string[] = [];
  const modes: boolean[] = [];
  const terminal = terminalOver({
    input: {
      setRaw: (isRaw) => void modes.push(isRaw),
      read(buffer) {
        const part = parts.shift();
        if (part === undefined) return Promise.resolve(null);
        return Promise.resolve(new TextEncoder().encodeInto(part, buffer).written);
      },
    },
    output: { writeSync: (bytes) => shown.push(new TextDecoder().decode(bytes)) },
  });
  return { terminal, shown: () => shown.join(""), modes };
}

function keysOf({ vendors }: Awaited<ReturnType<typeof collectAnswers>>) {
  return vendors.flatMap(({ key }) => key === null ? [] : [[key.variable, key.value]]);
}

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("init asks for what options and environment do not say, and Enter takes the proposal", async () => {
  const env = (name: string) => name === "ANTHROPIC_API_KEY" ? "from-environment" : undefined;
  const terminal = answering("openai, anthropic", "typed-key", "Ada", "", "7.50");
  const answers = await collectAnswers({ port: "9000" }, terminal, env);
  assertEquals(keysOf(answers), [["OPENAI_API_KEY", "typed-key"], ["ANTHROPIC_API_KEY", "from-environment"]]);
  assertEquals([answers.admin, answers.account, answers.balance, answers.port], ["Ada", "default", "7.50", "9000"]);
  assertEquals(terminal.questions.length, 5);
  assertMatch(terminal.questions[0] ?? "", /\[anthropic\]: $/);
});

Deno.test("init without a terminal needs a key for each vendor, and refuses what the configuration would", async () => {
  const env = (name: string) => name === "GOOGLE_API_KEY" ? "k" : undefined;
  assertEquals(keysOf(await collectAnswers({}, null, env)), [["GOOGLE_API_KEY", "k"]]);
  const refused = async (options: Parameters<typeof collectAnswers>[0], message: string) => {
    await assertRejects(() => collectAnswers(options, null, env), UsageError, message);
  };
  await refused({ vendors: "openai" }, "the vendor openai needs a key: set OPENAI_API_KEY");
  await refused({ vendors: "opnai" }, 'no vendor is called "opnai"; did you mean "openai"?');
  await refused({ account: "a b" }, "--account: expected");
  await refused({ balance: "free" }, "--balance: expected");
  await refused({ port: "99999" }, "--port: expected");
  await refused({ admin: "command line" }, "--admin: expected");
  await refused(
    { vendors: "together", key: ["together=env:GOOGLE_API_KEY"] },
    "--price together=…: expected INPUT/OUTPUT",
  );
  await refused({ vendors: "azure", key: ["azure=env:GOOGLE_API_KEY"] }, "--address azure=URL");
  await refused({ vendors: "vertex", project: "p", key: ["vertex=@none.json"] }, "the key file of a service account");
  await refused({ key: ["openai=@key"] }, "--key: expected VENDOR=… with one of the vendors google");
});

Deno.test("init at a terminal explains a wrong answer and asks the same question again", async () => {
  const terminal = answering(
    ...["opnai", "open", "99", "2, azu", "a key", "typed-key", "k", "azure", "https://a.openai.azure.com", "", "mini"],
    ...["cheap", "1/2", "command line", "Ada", "a b", "acme", "much", "5", "99999", "9000"],
  );
  const answers = await collectAnswers({}, terminal, NOTHING);
  assertEquals(keysOf(answers), [["ANTHROPIC_API_KEY", "typed-key"], ["AZURE_OPENAI_API_KEY", "k"]]);
  assertEquals([answers.admin, answers.account, answers.balance, answers.port], ["Ada", "acme", "5", "9000"]);
  const [list, ...explained] = terminal.told;
  assertMatch(list ?? "", /^Vendors:\n +1 openai +2 anthropic /);
  assertEquals(explained, [
    '  No vendor is called "opnai"; did you mean "openai"?',
    `  Several vendors have "open" in their name: 1 openai, ${
      INIT_VENDORS.findIndex(({ name }) => name === "openrouter") + 1
    } openrouter.`,
    `  Expected a number from 1 to ${INIT_VENDORS.length}, got 99.`,
    "  Expected a key of visible characters without quotes.",
    "  Expected an address that begins with https://.",
    "  Expected at least one name.",
    "  Expected INPUT/OUTPUT in USD for a million tokens, such as 0.15/0.60, or free.",
    '  Expected a name of 1 to 64 visible ASCII characters other than "command line" and "configuration".',
    "  Expected 1 to 64 of A-Z a-z 0-9 . _ -.",
    "  Expected an amount in USD, such as 25.00.",
    "  Expected a number up to 65535.",
  ]);
  assertEquals(terminal.questions.filter((question) => question.startsWith("Port")).length, 2);
});

Deno.test("init tries each typed key at once, and asks for another one until Enter keeps it", async () => {
  const tried: string[] = [];
  const tryKey: TryKey = ({ vendor, key }) => {
    tried.push(`${vendor.name} ${key?.value}`);
    return Promise.resolve({
      isAccepted: key?.value === "good",
      message: key?.value === "good" ? "Accepted" : "Refused",
    });
  };
  const env = (name: string) => name === "XAI_API_KEY" ? "bad-in-environment" : undefined;
  const terminal = answering("openai,anthropic,xai,ollama", "bad", "good", "worse", "", "Ada");
  const answers = await collectAnswers({}, terminal, env, tryKey);
  assertEquals(tried, ["openai bad", "openai good", "anthropic worse", "xai bad-in-environment"]);
  assertEquals(keysOf(answers).map(([, value]) => value), ["good", "worse", "bad-in-environment"]);
});

Deno.test("a typed secret is not shown, and Backspace works", async () => {
  const { terminal, shown, modes } = typing("abX\x7fc\rsecret\r");
  assertEquals(await terminal.ask("Name: "), "abc");
  assertEquals(await terminal.askSecret("Key: "), "secret");
  assertEquals(shown(), "Name: abX\b \bc\r\nKey: \r\n");
  assertEquals(modes, [true, false, true, false]);
});

Deno.test("Ctrl-C and the end of the input end the questions, and the terminal is as before", async () => {
  for (const text of ["ab\x03", "ab"]) {
    const { terminal, modes } = typing(text);
    await assertRejects(() => terminal.ask("Name: "), InputEndedError);
    assertEquals(modes, [true, false]);
  }
});

Deno.test("the file .env is read beside the configuration, after the environment, and again when it changed", async () => {
  await withFolder(async (folder) => {
    const env = environmentOf(join(folder, "switchyard.yaml"));
    assertEquals(env("SWITCHYARD_TEST_VALUE"), undefined);
    await Deno.writeTextFile(join(folder, ".env"), "SWITCHYARD_TEST_VALUE='one'\nPATH=none\n");
    assertEquals(env("SWITCHYARD_TEST_VALUE"), "one");
    assert(env("PATH") !== "none");
    await Deno.writeTextFile(join(folder, ".env"), 'SWITCHYARD_TEST_VALUE="another one" # comment\n');
    assertEquals(env("SWITCHYARD_TEST_VALUE"), "another one");
    await Deno.writeTextFile(join(folder, ".env"), "\ufeffSWITCHYARD_TEST_VALUE=after a mark\n");
    assertEquals(env("SWITCHYARD_TEST_VALUE"), "after a mark");
    const utf16 = [..."\ufeffSWITCHYARD_TEST_VALUE=of PowerShell\r\n"].flatMap((sign) => {
      const code = sign.charCodeAt(0);
      return [code & 0xff, code >> 8];
    });
    await Deno.writeFile(join(folder, ".env"), new Uint8Array(utf16));
    assertEquals(env("SWITCHYARD_TEST_VALUE"), "of PowerShell");
  });
});

Deno.test("init writes a configuration without secrets, with which the gateway starts; existing files stay", async () => {
  await withFolder(async (folder) => {
    const env = { OPENAI_API_KEY: "key-of-a-vendor-1234" };
    const init = () => startGatewayProcess({ args: ["init", "--no-start", "--port", "0"], folder, env });
    const first = init();
    assertEquals((await first.ended).code, 0, first.log());
    const text = await Deno.readTextFile(join(folder, "switchyard.yaml"));
    const secrets = await Deno.readTextFile(join(folder, ".env"));
    const key = /^SWITCHYARD_KEY='(.+)'$/m.exec(secrets)?.[1] ?? "";
    assert(first.output().includes(key) && key !== "");
    assertMatch(secrets, /^OPENAI_API_KEY='key-of-a-vendor-1234'$/m);
    assertEquals([text.includes("1234"), text.includes(key)], [false, false]);
    for (const name of ["switchyard.yaml", ".env"]) {
      assertEquals((await Deno.stat(join(folder, name))).mode! & 0o777, 0o600);
    }
    const second = init();
    assertEquals((await second.ended).code, 2);
    assertMatch(second.log(), /switchyard\.yaml exists already/);

    const gateway = startGatewayProcess({ args: ["serve"], folder }); // without the vendor's variable
    const [, address] = await gateway.until(/ready at (http:\S+)/);
    const response = await fetch(`${address}/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
    assertEquals(response.status, 200);
    await response.body?.cancel();
    gateway.kill("SIGTERM");
    assertEquals((await gateway.ended).code, 0);
  });
});

Deno.test("init: a key comes from a file, the standard input or a variable, and never from an argument", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "openai.key"), "key-in-file-1234\n");
    await Deno.writeTextFile(join(folder, "piped.key"), "key-in-pipe-1234\n");
    const args = ["--key", "openai=@openai.key", "--key", "anthropic=@-", "--key", "xai=env:OUR_KEY"];
    const init = startGatewayProcess({
      args: ["init", "--no-start", "--vendors", "openai,anthropic,xai", ...args],
      folder,
      env: { OUR_KEY: "key-in-variable-1234" },
      redirects: "< piped.key",
    });
    assertEquals((await init.ended).code, 0, init.log());
    const secrets = await Deno.readTextFile(join(folder, ".env"));
    assertMatch(secrets, /^OPENAI_API_KEY='key-in-file-1234'$/m);
    assertMatch(secrets, /^ANTHROPIC_API_KEY='key-in-pipe-1234'$/m);
    assertMatch(secrets, /^XAI_API_KEY='key-in-variable-1234'$/m);
  });
  const refused = async (source: string, message: string, env: (name: string) => string | undefined = NOTHING) => {
    const error = await assertRejects(
      () => collectAnswers({ vendors: "openai", key: [`openai=${source}`] }, null, env),
      UsageError,
      message,
    );
    assertEquals(error.message.includes("sk-typed"), false);
  };
  await refused("sk-typed-1234", "expected @FILE, @- for the standard input, or env:NAME");
  await refused("env:MISSING", "found no key of openai");
  await refused("@/none/sk-typed", "cannot read the file of openai: NotFound");
  const env = (name: string) => ({ OURS: "one", OPENAI_API_KEY: "two" })[name];
  await refused("env:OURS", "the environment variable OPENAI_API_KEY has another key", env);
});

const SERVICE_ACCOUNT = JSON.stringify({
  type: "service_account",
  client_email: "gateway@example.iam.gserviceaccount.com",
  private_key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
});

Deno.test("init configures vendors whose models are listed or named, with their prices", async () => {
  await withFolder(async (folder) => {
    const file = join(folder, "account.json");
    await Deno.writeTextFile(file, SERVICE_ACCOUNT);
    const options = [
      ["--vendors", "openai,together,azure,vertex,bedrock,ollama,vllm"],
      ...["openai", "together", "azure", "bedrock"].map((name) => ["--key", `${name}=env:OUR_KEY`]),
      ["--key", `vertex=@${file}`],
      ["--project", "example-project"],
      ["--address", "azure=https://example.openai.azure.com"],
      ["--address", "bedrock=https://bedrock-runtime.eu-west-1.amazonaws.com"],
      ["--address", "vllm=http://gpu.internal:8000/v1"],
      ["--models", "azure=mini,large"],
      ["--models", "vertex=gemini-2.5-pro"],
      ["--models", "bedrock=eu.anthropic.claude-x-v1:0"],
      ["--price", "together=0.15/0.6"],
      ["--price", "azure=1.25/10"],
      ["--price", "vertex=free"],
      ["--price", "bedrock=3/15"],
      ["--admin", "Ada L"],
    ].flat();
    const args = ["init", "--no-start", "--port", "0", ...options];
    const init = startGatewayProcess({ args, folder, env: { OUR_KEY: "key-of-a-vendor-1234" } });
    assertEquals((await init.ended).code, 0, init.log());
    assertMatch(
      init.output(),
      /models of openai, azure, vertex, bedrock, and the models that together, ollama, vllm list/,
    );
    const { server, providers, models } = parse(await Deno.readTextFile(join(folder, "switchyard.yaml")));
    assertEquals(server.admin_keys, [{ name: "Ada L", role: "owner", key: "${SWITCHYARD_OWNER_KEY}" }]);
    assertEquals(providers, {
      openai: { kind: "openai", api_key: "${OPENAI_API_KEY}" },
      together: { kind: "together", api_key: "${TOGETHER_API_KEY}" },
      azure: {
        kind: "azure",
        api_key: "${AZURE_OPENAI_API_KEY}",
        base_url: "https://example.openai.azure.com",
      },
      vertex: {
        kind: "vertex",
        project: "example-project",
        service_account_file: "${GOOGLE_APPLICATION_CREDENTIALS}",
      },
      bedrock: {
        kind: "bedrock",
        api_key: "${AWS_BEARER_TOKEN_BEDROCK}",
        base_url: "https://bedrock-runtime.eu-west-1.amazonaws.com",
      },
      ollama: { kind: "ollama" },
      vllm: { kind: "vllm", base_url: "http://gpu.internal:8000/v1" },
    });
    const azure = { prompt: "0.00000125", completion: "0.00001" };
    assertEquals(models, [
      { id: "together/*", pricing: { prompt: "0.00000015", completion: "0.0000006" } },
      { id: "azure/mini", pricing: azure, serves: [{ provider: "azure", model: "mini" }] },
      { id: "azure/large", pricing: azure, serves: [{ provider: "azure", model: "large" }] },
      { id: "vertex/gemini-2.5-pro", pricing: "free", serves: [{ provider: "vertex", model: "gemini-2.5-pro" }] },
      {
        id: "bedrock/eu.anthropic.claude-x-v1:0",
        pricing: { prompt: "0.000003", completion: "0.000015" },
        serves: [{ provider: "bedrock", model: "eu.anthropic.claude-x-v1:0" }],
      },
      { id: "ollama/*", pricing: "free" },
      { id: "vllm/*", pricing: "free" },
    ]);
    assertMatch(
      await Deno.readTextFile(join(folder, ".env")),
      new RegExp(`^GOOGLE_APPLICATION_CREDENTIALS='${file}'$`, "m"),
    );
    const checked = startGatewayProcess({ args: ["config", "check"], folder });
    assertEquals((await checked.ended).code, 0, checked.log());
  });
});

Deno.test("init: every question for a vendor of its own kind is asked at a terminal", async () => {
  const terminal = answering("azure", "k", "https://example.openai.azure.com", "mini", "1/2", "Ada", "", "", "");
  const answers = await collectAnswers({}, terminal, NOTHING);
  const { providers, models } = parse(configFile(answers));
  assertEquals(valueAt(providers, "azure"), {
    kind: "azure",
    api_key: "${AZURE_OPENAI_API_KEY}",
    base_url: "https://example.openai.azure.com",
  });
  assertEquals(models[0].id, "azure/mini");
  assertEquals(terminal.questions.length, 9);
});

Deno.test("a price for a million tokens becomes the exact price of a token", () => {
  assertEquals(readPrice("0.15/0.60"), { prompt: "0.00000015", completion: "0.0000006" });
  assertEquals(readPrice("0.0001/100000"), { prompt: "0.0000000001", completion: "0.1" });
  assertEquals(readPrice("0/12.5"), { prompt: "0", completion: "0.0000125" });
  assertEquals(readPrice("free"), null);
});

Deno.test("changes by the key that init wrote have the name of its admin", async () => {
  await withFolder(async (folder) => {
    const env = { OPENAI_API_KEY: "key-of-a-vendor-1234" };
    const init = startGatewayProcess({ args: ["init", "--no-start", "--port", "0", "--admin", "Ada"], folder, env });
    assertEquals((await init.ended).code, 0, init.log());
    const gateway = startGatewayProcess({ args: ["serve"], folder });
    const [, address = ""] = await gateway.until(/ready at (http:\S+)/);
    const run = async (...args: string[]) => {
      const command = startGatewayProcess({ args: [...args, "--gateway", address], folder });
      assertEquals((await command.ended).code, 0, command.log());
      return command.output();
    };
    await run("accounts", "create", "acme");
    const [entry] = JSON.parse(await run("audit", "list")).data;
    assertEquals(entry.actor, "Ada");
    gateway.kill("SIGTERM");
    assertEquals((await gateway.ended).code, 0);
  });
});
