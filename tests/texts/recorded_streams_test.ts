import { assert, assertEquals } from "@std/assert";
import type { Form } from "../../src/conversation/seal.ts";
import { PassRelay } from "../../src/texts/pass_relay.ts";
import { attemptOf, bodyOf, CODECS, cutAt, relayAll, tillOf } from "./support.ts";

/** Recorded traffic of vendors, kept beside the repository; `SWITCHYARD_FIXTURES` names another place. */
const FOLDER = Deno.env.get("SWITCHYARD_FIXTURES") ?? new URL("../../../shared/fixtures", import.meta.url).pathname;

const FOLDERS: Readonly<Record<string, Form>> = {
  "anthropic": "messages",
  "google": "content",
  "openai-responses": "responses",
  "azure-responses": "responses",
  "open-responses": "responses",
  "openai-chat": "chat",
  "openai-compatible": "chat",
  "openrouter": "chat",
};

interface Recorded {
  readonly name: string;
  readonly form: Form;
  readonly wire: string;
}

function recordedStreams(): Recorded[] {
  return Object.entries(FOLDERS).flatMap(([folder, form]) => {
    const files = [...Deno.readDirSync(`${FOLDER}/${folder}`)].filter(({ name }) => name.endsWith(".chunks.txt"));
    return files.map(({ name }) => {
      const chunks = Deno.readTextFileSync(`${FOLDER}/${folder}/${name}`).split("\n").filter((line) => line !== "");
      const events = chunks.map((data) =>
        form === "chat" || form === "content" ? "" : `event: ${JSON.parse(data).type}\n`
      );
      const wire = chunks.map((data, at) => `${events[at]}data: ${data}\n\n`).join("");
      return { name: `${folder}/${name}`, form, wire: form === "chat" ? `${wire}data: [DONE]\n\n` : wire };
    });
  });
}

function isPresent(): boolean {
  try {
    return Deno.statSync(FOLDER).isDirectory;
  } catch {
    return false;
  }
}

const ABSENT = !isPresent();

Deno.test({
  name: `PassRelay passes every recorded stream byte for byte${ABSENT ? ` (skipped: no recordings at ${FOLDER})` : ""}`,
  ignore: ABSENT,
  async fn() {
    const streams = recordedStreams();
    assert(streams.length > 40);
    for (const { name, form, wire } of streams) {
      const follower = CODECS[form].usageFollower();
      const data = wire.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      for (const one of data) if (follower.concerns(one)) follower.follow(one);
      const till = tillOf();
      const turn = { body: bodyOf(form, form === "chat" ? { stream_options: { include_usage: true } } : {}) };
      const relay = new PassRelay(attemptOf(form, { till, turn }));
      const text = await relayAll(relay, cutAt(wire, Array.from({ length: 40 }, (_, at) => (at * 0.618) % 1)));
      const last = JSON.parse(data.findLast((one) => one.startsWith("{"))!);
      assertEquals(text.slice(0, wire.length), wire, name);
      // Some are runs of several replies, or were recorded without their end.
      const runs = data.filter((one) => one.includes('"message_start"') || one.includes('"response.created"')).length;
      if (runs > 1 || !follower.ended() || last.error) continue;
      assertEquals(text, wire, name);
      if (follower.usage() !== null) assertEquals(till.charges.map(({ usage }) => usage), [follower.usage()!], name);
    }
  },
});
