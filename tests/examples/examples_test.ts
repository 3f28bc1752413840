import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY, LOOPBACK_ROOT } from "../support/loopback_certificate.ts";
import { startVideoGateway } from "../support/video_gateway.ts";
import { linkNodePackages, programTest } from "./programs.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url).pathname;
const scratch = await Deno.makeTempDir();
const rootFile = join(scratch, "root.pem");
const certificateFile = join(scratch, "certificate.pem");
const keyFile = join(scratch, "key.pem");
await Deno.writeTextFile(rootFile, LOOPBACK_ROOT);
await Deno.writeTextFile(certificateFile, LOOPBACK_CERTIFICATE);
await Deno.writeTextFile(keyFile, LOOPBACK_KEY);
const gateway = await startVideoGateway({ config: { egress: { allow: ["127.0.0.1/32"], ca_file: rootFile } } });

const ENVIRONMENT = {
  SWITCHYARD_ADDRESS: gateway.address,
  SWITCHYARD_KEY: gateway.key,
  // Go builds with what is installed and loads nothing.
  GOTOOLCHAIN: "local",
  GOPROXY: "off",
  GOFLAGS: "-mod=mod",
};

/** What each program is given before the file to run. */
const ARGUMENTS = { node: ["--preserve-symlinks"], python3: [], go: ["run"] } as const;

const TEXT_EXAMPLES = [
  { name: "node/chat.mjs", program: "node", packages: ["openai"] },
  { name: "node/messages.mjs", program: "node", packages: ["@anthropic-ai/sdk"] },
  { name: "python/chat.py", program: "python3" },
  { name: "go/chat.go", program: "go" },
] as const;

for (const example of TEXT_EXAMPLES) {
  const packages = "packages" in example ? example.packages : [];
  programTest(`examples/${example.name} prints a whole reply, a streamed one and the tokens`, {
    program: example.program,
    packages,
    run: async () => {
      const file = join(EXAMPLES, example.name);
      const runnable = packages.length === 0 ? file : await linkNodePackages(file, packages, scratch);
      const output = await outputOf(example.program, [...ARGUMENTS[example.program], runnable]);
      assertMatch(output, /^Whole: You said: Say hello\nStreamed: You said: Say hello\nTokens: [1-9][0-9]*\n$/);
    },
  });
}

programTest("examples/python/video.py saves the video", {
  program: "python3",
  run: async () => {
    const file = join(scratch, "video.mp4");
    const output = await outputOf("python3", [join(EXAMPLES, "python/video.py"), file]);
    assertMatch(output, /^Created: pending\nEnded: completed\nSaved: \d+ bytes\n$/);
    assert(output.includes(`Saved: ${(await Deno.stat(file)).size} bytes`));
  },
});

programTest("examples/node/video.mjs saves the video by OpenAI's client", {
  program: "node",
  packages: ["openai"],
  run: async () => {
    const saved = join(scratch, "node.mp4");
    const program = await linkNodePackages(join(EXAMPLES, "node/video.mjs"), ["openai"], scratch);
    const output = await outputOf("node", [...ARGUMENTS.node, program, saved]);
    assertMatch(output, /^Created: 5 seconds\nEnded: completed\nSaved: \d+ bytes\n$/);
    assert(output.includes(`Saved: ${(await Deno.stat(saved)).size} bytes`));
  },
});

programTest("examples/curl/chat.sh prints the models, a whole reply and a stream", {
  program: "curl",
  run: async () => {
    const output = await outputOf("sh", [join(EXAMPLES, "curl/chat.sh")]);
    assertMatch(output, /^Models:\n(?:"id":".*"\n)*"id":"sandbox\/chat-1"\n/);
    assertMatch(output, /\nWhole:\n\{.*"content":"You said: Say hello".*\}\nStreamed:\n(?:data: .*\n\n)+$/);
    assert(output.endsWith("data: [DONE]\n\n"));
  },
});

for (
  const { name, program } of [
    { name: "node/webhook_receiver.mjs", program: "node" },
    { name: "python/webhook_receiver.py", program: "python3" },
  ] as const
) {
  programTest(`examples/${name} takes a delivery of the gateway once and refuses a wrong signature`, {
    program,
    run: async () => {
      await using receiver = await startReceiver(program, join(EXAMPLES, name));
      const id = await gateway.create({ callback_url: `https://127.0.0.1:${receiver.port}/hook` });
      await gateway.until(id, "completed");
      assertEquals(await receiver.line(), `Received: video.generation.completed of task ${id}, status completed`);

      const client = Deno.createHttpClient({ caCerts: [LOOPBACK_ROOT] });
      const headers = {
        "webhook-id": `${id}-completed`,
        "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
        "webhook-signature": "v1,AAAA",
      };
      const address = `https://127.0.0.1:${receiver.port}/hook`;
      const refused = await fetch(address, { method: "POST", headers, body: "{}", client });
      await refused.body?.cancel();
      client.close();
      assertEquals(refused.status, 401);
      assertEquals(await receiver.line(), "Refused: the signature is wrong or too old");
    },
  });
}

Deno.test("examples: the gateway stops", async () => {
  await gateway.stop();
  await Deno.remove(scratch, { recursive: true });
});

/** Standard output of a program that has to end with 0. */
async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const result = await new Deno.Command(program, { args: [...args], env: ENVIRONMENT, stdin: "null" }).output();
  const output = new TextDecoder().decode(result.stdout);
  const errors = new TextDecoder().decode(result.stderr);
  assertEquals({ code: result.code, errors: result.success ? "" : errors }, { code: 0, errors: "" });
  return output;
}

/** A receiver as a process, with the account's secret. Disposing ends it. */
async function startReceiver(program: string, file: string) {
  const admin = { authorization: `Bearer ${gateway.adminKey}` };
  const { json } = await gateway.call("POST", "/admin/v1/accounts/demo/webhook-secret", {}, admin);
  const env = {
    WEBHOOK_SECRET: json.webhook_secret,
    PORT: "0",
    TLS_CERT_FILE: certificateFile,
    TLS_KEY_FILE: keyFile,
  };
  const child = new Deno.Command(program, { args: [file], env, stdin: "null", stdout: "piped" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const line = async (): Promise<string> => {
    while (!text.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`The receiver ended: ${text}`);
      text += value;
    }
    const end = text.indexOf("\n");
    const first = text.slice(0, end);
    text = text.slice(end + 1);
    return first;
  };
  const port = /^Listening on port (\d+)$/.exec(await line())?.[1];
  return {
    port,
    line,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    },
  };
}
