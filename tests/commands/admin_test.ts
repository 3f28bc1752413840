import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/billing/api_key.ts";
import { closedOrigin } from "../support/video_gateway.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";

/** A folder with a configuration in it. Its vendor's address is nobody's, so its tasks stay pending. */
async function makePlace(server: Record<string, unknown> = {}) {
  const folder = await Deno.makeTempDir();
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const config = {
    server: { port: Number(new URL(closedOrigin()).port), admin_key: adminKey, ...server },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
    providers: { ark: { kind: "ark", base_url: closedOrigin(), api_key: "vendor-key" } },
    models: [{
      id: "sandbox/video-1",
      video: { modes: ["text2video"], price_per_second: { default: "0.10" } },
      serves: [{ provider: "ark" }],
    }],
  };
  const path = `${folder}/switchyard.json`;
  await Deno.writeTextFile(path, JSON.stringify(config));
  return {
    /** Starts the gateway; gives its address and the way to stop it. */
    async serve() {
      const process = startGatewayProcess({ args: ["serve", "--config", path], folder });
      const [, address] = await process.until(/ready at (http:\S+)/);
      return {
        address,
        async stop() {
          process.kill("SIGTERM");
          await process.ended;
        },
      };
    },
    /** Runs a command to its end. */
    async run(...words: string[]) {
      const process = startGatewayProcess({ args: [...words, "--config", path], folder });
      const { code } = await process.ended;
      return { code, said: process.output(), complaint: process.log().trim() };
    },
    /** Creates a video task; gives its id. */
    async create(address: string): Promise<string> {
      const response = await fetch(`${address}/v1/videos`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sandbox/video-1", prompt: "A lighthouse" }),
      });
      return (await response.json()).id;
    },
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}

Deno.test("tasks and signing keys are administered on a running gateway, and alike on its store once it is stopped", async () => {
  const place = await makePlace();
  const gateway = await place.serve();
  const id = await place.create(gateway.address);
  const listed = await place.run("tasks", "list", "--status", "pending", "--limit", "1");
  assertEquals([listed.code, JSON.parse(listed.said).data[0].id], [0, id]);
  const rotated = await place.run("signing-keys", "rotate");
  assertEquals(rotated.code, 0);
  const providers = await place.run("providers", "list");
  assertEquals([providers.code, JSON.parse(providers.said).data[0].name], [0, "ark"]);
  await gateway.stop();

  const again = await place.run("signing-keys", "rotate");
  assertEquals(JSON.parse(again.said).verifies[1], JSON.parse(rotated.said).signs);
  const shown = await place.run("tasks", "show", id);
  const { status, hold } = JSON.parse(shown.said);
  assertEquals([shown.code, status, hold.state], [0, "pending", "open"]);
  assertEquals(JSON.parse((await place.run("tasks", "list", "--account", "another")).said), { data: [], next: null });
  await place.remove();
});

Deno.test("providers list says that the health of providers is known to a running gateway alone", async () => {
  const place = await makePlace();
  const { code, said, complaint } = await place.run("providers", "list");
  assertEquals([code, said], [1, ""]);
  assertStringIncludes(complaint, "No gateway answers at http://127.0.0.1:");
  assertStringIncludes(complaint, "known to a running gateway alone");
  await place.remove();
});

Deno.test("--gateway names a running gateway whose port the configuration leaves open", async () => {
  const place = await makePlace({ port: 0 });
  const gateway = await place.serve();
  const { code, said } = await place.run("providers", "list", "--gateway", `${gateway.address}/`);
  assertEquals([code, JSON.parse(said).data.length], [0, 1]);
  const without = await place.run("tasks", "list");
  assertEquals(without.code, 2);
  assertStringIncludes(without.complaint, "expected --gateway URL, as server.port is 0");
  await gateway.stop();
  await place.remove();
});

Deno.test("a command that cannot be carried out ends with a word and no trace", async () => {
  const place = await makePlace({ admin_key: "" });
  for (
    const [words, code, complaint] of [
      [["tasks", "list", "--status", "lost"], 1, 'Cannot read "status": expected one of pending,'],
      [["tasks", "show", "lost"], 1, "Cannot find the task: no such task"],
      [["tasks", "show"], 2, "switchyard: expected a task's id"],
      [["tasks", "drop"], 2, 'switchyard tasks: there is no "drop"'],
      [["signing-keys"], 2, 'switchyard signing-keys: there is no ""'],
      [["providers", "list"], 2, "switchyard: expected server.admin_key"],
      [["providers", "list", "--gateway", "ftp://x"], 2, "switchyard: expected"],
    ] as const
  ) {
    const answer = await place.run(...words);
    assertEquals([answer.code, answer.said], [code, ""], words.join(" "));
    assert(answer.complaint.startsWith(complaint), answer.complaint);
    assert(!answer.complaint.includes("    at "), answer.complaint);
  }
  await place.remove();
});
