import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse } from "yaml";
import { NO_UPDATE_CHECK } from "../../scripts/run_flags.ts";
import { PROGRAM } from "../support/program.ts";
import { closedOrigin } from "../support/video_gateway.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** `script` of util-linux runs a command at a pseudo-terminal. That of other systems takes other options. */
const hasScript = await hasPseudoTerminals();

async function hasPseudoTerminals(): Promise<boolean> {
  try {
    const { stdout } = await new Deno.Command("script", { args: ["--version"], stderr: "null" }).output();
    return new TextDecoder().decode(stdout).includes("util-linux");
  } catch {
    return false;
  }
}

/** A program at a pseudo-terminal, and what it shows. */
class Screen {
  #text = "";
  #read = 0;
  readonly #child: Deno.ChildProcess;
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;

  constructor(command: string, cwd: string, env: Readonly<Record<string, string>>) {
    this.#child = new Deno.Command("script", {
      args: ["--quiet", "--flush", "--return", "--command", command, "/dev/null"],
      cwd,
      env: { ...NO_UPDATE_CHECK, NO_COLOR: "1", ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#output = this.#child.stdout.getReader();
    this.#input = this.#child.stdin.getWriter();
  }

  /** Everything that was shown. */
  get text(): string {
    return this.#text;
  }

  /** Waits until a text is shown after those before, and gives what came before it. */
  async until(text: string): Promise<string> {
    const from = this.#read;
    // Ends with the text, or with the output.
    while (!this.#text.includes(text, from)) {
      const { value, done } = await this.#output.read();
      if (done) throw new Error(`It ended without showing ${JSON.stringify(text)}: ${this.#text}`);
      this.#text += new TextDecoder().decode(value);
    }
    const at = this.#text.indexOf(text, from);
    this.#read = at + text.length;
    return this.#text.slice(from, at);
  }

  /** Types an answer and Enter. */
  async type(answer: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${answer}\r`));
  }

  /** Presses Ctrl-C. */
  async interrupt(): Promise<void> {
    await this.#input.write(new Uint8Array([0x03]));
  }

  /** Waits for the end; gives the exit code. */
  async end(): Promise<number> {
    for (let part = await this.#output.read(); !part.done; part = await this.#output.read()) {
      this.#text += new TextDecoder().decode(part.value);
    }
    await this.#input.close().catch(() => {});
    return (await this.#child.status).code;
  }
}

function initAt(folder: string, options: string, env: Readonly<Record<string, string>> = {}): Screen {
  const flags = `--quiet --no-check --config=${ROOT}deno.json --allow-net --allow-env --allow-read ` +
    `--allow-write=${folder} --allow-sys=uid,statfs,systemMemoryInfo`;
  return new Screen(`${Deno.execPath()} run ${flags} ${PROGRAM} init ${options}`, folder, { USER: "ada", ...env });
}

/** A vendor with the API of Azure, which takes one key. */
function startVendor() {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.body?.cancel();
    const { headers } = request;
    if (headers.get("api-key") === "the-right-key" || headers.get("authorization") === "Bearer the-right-key") {
      return Response.json({ object: "list", data: [{ id: "mini", object: "model" }] });
    }
    return Response.json({ error: { code: "401", message: "Access denied." } }, { status: 401 });
  });
  return { origin: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

const test = (name: string, fn: (folder: string) => Promise<void>) =>
  Deno.test({
    name: hasScript ? name : `${name} (needs "script" of util-linux)`,
    ignore: !hasScript,
    async fn() {
      const folder = await Deno.realPath(await Deno.makeTempDir());
      try {
        await fn(folder);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });

test("init at a terminal: wrong answers, a key that is tried, a gateway that starts, and the next steps", async (folder) => {
  const vendor = startVendor();
  try {
    const port = new URL(closedOrigin()).port;
    const screen = initAt(folder, "");
    assertMatch(await screen.until("Which vendors?"), /Vendors:\r\n +1 openai +2 anthropic/);
    await screen.until("[openai]: ");
    await screen.type("azur3");
    await screen.until('did you mean "azure"?');
    await screen.until("[openai]: ");
    await screen.type("azu");
    await screen.until("Key of azure (is not shown): ");
    await screen.type("a-wrong-key");
    await screen.until("Address of the resource at azure: ");
    await screen.type(vendor.origin);
    await screen.until("Names of the deployments at azure, with commas between them: ");
    await screen.type("mini");
    await screen.until("or free: ");
    await screen.type("a dollar");
    await screen.until("Expected INPUT/OUTPUT in USD for a million tokens");
    await screen.until("or free: ");
    await screen.type("0.15/0.60");
    await screen.until("Trying the key at azure");
    await screen.until("The vendor rejects the key");
    await screen.until("Enter to keep this one: ");
    await screen.type("the-right-key");
    await screen.until("The vendor accepts the credential");
    await screen.until("Your name, for the audit log [ada]: ");
    await screen.type("");
    await screen.until("Account name [default]: ");
    await screen.type("acme");
    await screen.until("Opening balance of the account in USD [25.00]: ");
    await screen.type("much");
    await screen.until("Expected an amount in USD");
    await screen.until("Opening balance of the account in USD [25.00]: ");
    await screen.type("7.50");
    await screen.until("Port [8787]: ");
    await screen.type(port);
    await screen.until(`ready at http://127.0.0.1:${port}`);
    await screen.until(`curl http://127.0.0.1:${port}/v1/chat/completions`);
    await screen.until('"model":"azure/mini"');
    await screen.until(`console#link=`);
    await screen.until("docs/get-started.md");
    await screen.interrupt();
    await screen.end();
    assertEquals(screen.text.includes("the-right-key"), false);
    assertStringIncludes(await Deno.readTextFile(`${folder}/.env`), "AZURE_OPENAI_API_KEY='the-right-key'");
    const { accounts, server } = parse(await Deno.readTextFile(`${folder}/switchyard.yaml`));
    assertEquals([accounts[0].id, accounts[0].balance, String(server.port)], ["acme", "7.50", port]);
  } finally {
    await vendor.stop();
  }
});

test("init at a terminal: Ctrl-C ends it, and nothing is written", async (folder) => {
  const screen = initAt(folder, "--no-start --no-try");
  await screen.until("[openai]: ");
  await screen.type("");
  await screen.until("Key of openai (is not shown): ");
  await screen.interrupt();
  assertEquals(await screen.end(), 130);
  assertEquals([...Deno.readDirSync(folder)], []);
});
