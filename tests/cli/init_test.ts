import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "node:path";
import { environmentOf } from "../../src/cli/environment.ts";
import { collectAnswers } from "../../src/cli/init.ts";
import { InputEndedError, type Terminal, terminalOver } from "../../src/cli/terminal.ts";
import { UsageError } from "../../src/cli/usage_error.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";

const NOTHING = () => undefined;

/** A terminal that gives these answers in turn, and keeps the questions. */
function answering(...answers: readonly string[]): Terminal & { readonly questions: string[] } {
  const questions: string[] = [];
  const next = (question: string) => {
    questions.push(question);
    return Promise.resolve(answers[questions.length - 1] ?? "");
  };
  return { questions, ask: next, askSecret: next };
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
  const terminal = answering("openai, anthropic", "typed-key", "", "7.50");
  const answers = await collectAnswers({ port: "9000" }, terminal, env);
  assertEquals([...answers.keys], [["OPENAI_API_KEY", "typed-key"], ["ANTHROPIC_API_KEY", "from-environment"]]);
  assertEquals([answers.account, answers.balance, answers.port], ["default", "7.50", "9000"]);
  assertEquals(terminal.questions.length, 4);
  assertMatch(terminal.questions[0] ?? "", /\[anthropic\]: $/);
});

Deno.test("init without a terminal needs a key for each vendor, and refuses what the configuration would", async () => {
  const env = (name: string) => name === "GOOGLE_API_KEY" ? "k" : undefined;
  assertEquals([...(await collectAnswers({}, null, env)).keys], [["GOOGLE_API_KEY", "k"]]);
  const refused = async (options: Parameters<typeof collectAnswers>[0], message: string) => {
    await assertRejects(() => collectAnswers(options, null, env), UsageError, message);
  };
  await refused({ vendors: "openai" }, "the vendor openai needs a key: set OPENAI_API_KEY");
  await refused({ vendors: "opnai" }, 'got "opnai"');
  await refused({ account: "a b" }, "--account: expected");
  await refused({ balance: "free" }, "--balance: expected");
  await refused({ port: "99999" }, "--port: expected");
  await assertRejects(
    () => collectAnswers({}, answering("openai", "a key"), NOTHING),
    UsageError,
    "visible characters",
  );
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
