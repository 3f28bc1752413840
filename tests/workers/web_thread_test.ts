import { assertEquals } from "@std/assert";
import { MIN_FREE_DESCRIPTORS } from "../../src/platform/lib/process/late.ts";

const DESCRIPTORS = 256;

/** A program that starts a thread while descriptors are short, and frees some then. */
const PROGRAM = `
  import { startWebThread } from "${new URL("../../src/platform/workers/web_thread.ts", import.meta.url)}";
  import { ManualClock } from "${new URL("../support/manual_clock.ts", import.meta.url)}";
  const open = [];
  const path = new URL(import.meta.url).pathname;
  // Some are left for the platform.
  while (open.length < ${DESCRIPTORS - MIN_FREE_DESCRIPTORS}) open.push(Deno.openSync(path));
  const clock = new ManualClock();
  const entry = "data:application/javascript,postMessage('it runs')";
  let starts = 0;
  const message = new Promise((resolve) => {
    const onStart = (thread) => (starts++, thread.onmessage = ({ data }) => resolve(data));
    globalThis.thread = startWebThread({ entry, onStart, clock });
  });
  const early = starts;
  clock.advance(60_000);
  const stillEarly = starts;
  for (const file of open.splice(0)) file.close();
  clock.advance(60_000);
  console.log(JSON.stringify([early, stillEarly, starts, await message]));
  Deno.exit(0);
`;

// Elsewhere than on Linux the limit of open files is not set for a child.
Deno.test({
  name: "a thread without requests starts as soon as descriptors are free, and the process goes on until then",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    await Deno.writeTextFile(`${folder}/program.ts`, PROGRAM);
    const { stdout, stderr } = await new Deno.Command("bash", {
      args: [
        "-c",
        `ulimit -n ${DESCRIPTORS}; exec "$0" run --quiet --no-check --no-prompt --allow-read --allow-env "$1"`,
        Deno.execPath(),
        `${folder}/program.ts`,
      ],
    }).output();
    await Deno.remove(folder, { recursive: true });
    const [said, log] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assertEquals(said?.trim(), `[0,0,1,"it runs"]`, log);
  },
});
