import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { atLeast } from "../support/items.ts";
import { PROGRAM } from "../support/program.ts";
import { CHAT, sendAs } from "./caller_protocols.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const STREAMS = 8;
/** Takes longer than the span in which a signal counts as a copy. */
const LONG = "[[gap 20]] [[words 120]] go";

/** Runs `dev` in a new folder. */
async function withDev(
  run: (dev: { address: string; key: string; signal: (name: Deno.Signal) => void; log: () => string }) => Promise<void>,
): Promise<Deno.CommandStatus> {
  const folder = await Deno.makeTempDir();
  const process = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" } });
  const [, address] = atLeast(await process.until(/ready at (http:\S+)/), 2);
  const [, key] = atLeast(await process.until(/SWITCHYARD_KEY=(sk-sy-\w+)\n/), 2);
  await run({ address, key, signal: (name) => process.kill(name), log: process.log });
  const status = await process.ended;
  await Deno.remove(folder, { recursive: true });
  return status;
}

/** Opens streams and resolves once each has sent its head; `texts` are their complete texts. */
async function openStreams(address: string, key: string, text = LONG) {
  const answers = await Promise.all(
    Array.from({ length: STREAMS }, () =>
      fetch(`${address}${CHAT.path(CHAT.ownModel)}`, {
        method: "POST",
        headers: CHAT.headers(key),
        body: JSON.stringify(CHAT.body(CHAT.ownModel, text, true)),
      })),
  );
  return { texts: Promise.all(answers.map((answer) => answer.text().catch((error) => `cut: ${error}`))) };
}

function assertWhole(texts: readonly string[]): void {
  const cut = texts.filter((text) => !text.includes("word120") || !text.includes("data: [DONE]"));
  assertEquals(cut.map((text) => text.slice(-200)), []);
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`${signal} to the group of a task runner, which forwards it, lets every stream finish`, async () => {
    const folder = await Deno.makeTempDir();
    const command = `deno run --quiet --no-check --config ${ROOT}deno.json --allow-net --allow-env --allow-read ` +
      `--allow-write=./data ${PROGRAM} dev`;
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ tasks: { dev: command } }));
    const child = new Deno.Command("setsid", {
      args: [Deno.execPath(), "task", "--quiet", "dev"],
      cwd: folder,
      env: { PORT: "0" },
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let said = "";
    const { promise: greeted, resolve: greet } = Promise.withResolvers<void>();
    const output = (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        said += text;
        if (/video-1/.test(said)) greet();
      }
    })();
    await Promise.race([greeted, output]);
    const [, address] = atLeast(/ready at (http:\S+)/.exec(said)!, 2);
    const [, key] = atLeast(/SWITCHYARD_KEY=(sk-sy-\w+)\n/.exec(said)!, 2);
    const { texts } = await openStreams(address, key);
    await new Deno.Command("kill", { args: [`-${signal.slice(3)}`, "--", `-${child.pid}`] }).output();
    assertWhole(await texts);
    await child.status;
    await output;
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test({
  name: "SIGTERM to npx alone, which ends without passing it on, ends the gateway after its streams",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    const command = `deno run --quiet --no-check --config ${ROOT}deno.json --allow-net --allow-env --allow-read ` +
      `--allow-write=./data ${PROGRAM} dev`;
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ tasks: { dev: command } }));
    // npm starts a shell that stays, passes it signals, and ends when it does.
    await Deno.symlink("/bin/bash", `${folder}/npm`);
    await Deno.writeTextFile(
      `${folder}/npx.sh`,
      `sh -c '"$0" task --quiet dev; exit' "$1" & shell=$!\ntrap 'kill -TERM $shell' TERM\nwait $shell\nwait $shell\n`,
    );
    const child = new Deno.Command(`${folder}/npm`, {
      args: [`${folder}/npx.sh`, Deno.execPath()],
      cwd: folder,
      env: { PORT: "0", npm_command: "exec" },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    let printed = "";
    let logged = "";
    const { promise: greeted, resolve: greet } = Promise.withResolvers<void>();
    const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>, add: (text: string) => void) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) add(text);
    };
    // Both end when the gateway, the last process that has them, does.
    const output = Promise.all([
      collect(child.stdout, (text) => {
        printed += text;
        if (/video-1/.test(printed)) greet();
      }),
      collect(child.stderr, (text) => void (logged += text)),
    ]);
    await Promise.race([greeted, output]);
    const [, address] = atLeast(/ready at (http:\S+)/.exec(printed)!, 2);
    const [, key] = atLeast(/SWITCHYARD_KEY=(sk-sy-\w+)\n/.exec(printed)!, 2);
    const { texts } = await openStreams(address, key);
    child.kill("SIGTERM");
    await child.status;
    assertWhole(await texts);
    await output;
    assertStringIncludes(logged, "the npm that started the gateway has ended");
    assertStringIncludes(logged, '"stopped"');
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("a second signal within a second of the first counts as a copy of it", async () => {
  const { code } = await withDev(async ({ address, key, signal }) => {
    const { texts } = await openStreams(address, key);
    signal("SIGINT");
    signal("SIGTERM");
    signal("SIGINT");
    assertWhole(await texts);
  });
  assertEquals(code, 0);
});

Deno.test("a later second signal ends the process at once", async () => {
  const { code } = await withDev(async ({ address, key, signal, log }) => {
    const { texts } = await openStreams(address, key, "[[gap 20]] [[words 5000]] go");
    signal("SIGTERM");
    const isOver = texts.then(() => true);
    // Copies are ignored; the first signal that arrives a second later ends the process.
    while (!await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, 100, false))])) {
      try {
        signal("SIGTERM");
      } catch { /* already ended */ }
    }
    assert((await texts).some((text) => !text.includes("[DONE]")), "no stream was cut");
    assertStringIncludes(log(), '"stopping"');
  });
  assertEquals(code, 1);
});

Deno.test("SIGHUP and SIGPIPE end nothing, and SIGHUP is logged", async () => {
  const { code } = await withDev(async ({ address, key, signal, log }) => {
    const { texts } = await openStreams(address, key);
    signal("SIGPIPE");
    for (let copies = 0; copies < 3; copies++) signal("SIGHUP");
    assertWhole(await texts);
    assertEquals((await sendAs(CHAT, { address, key })).status, 200);
    assertStringIncludes(log(), '"event":"config_changed"');
    signal("SIGTERM");
  });
  assertEquals(code, 0);
});
