import { assert, assertEquals } from "@std/assert";
import { startDevGateway } from "./dev_gateway.ts";

/** Commands about something that this test does not create, such as a source of prices, or with a file. */
const NEEDS_MORE = /\$\{(?!ACCOUNT|MODEL)\w+\}|-F "|\/prices\/apply/;

const isCurlInstalled = await new Deno.Command("curl", { args: ["--version"], stdout: "null", stderr: "null" }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: `every example of the API reference with a body is answered with success${isCurlInstalled ? "" : ": no curl"}`,
  ignore: !isCurlInstalled,
  async fn() {
    const gateway = await startDevGateway();
    try {
      const failures: string[] = [];
      let run = 0;
      for (const command of await commandsOf(gateway.address)) {
        if (NEEDS_MORE.test(command) || !command.includes("-d '")) continue;
        run++;
        const status = await statusOf(command, gateway);
        if (!/^2\d\d$/.test(status)) failures.push(`${status}: ${command}`);
      }
      assertEquals(failures, []);
      assert(run >= 20, `${run} commands`);
    } finally {
      await gateway.stop();
    }
  },
});

/** The commands of all pages. */
async function commandsOf(address: string): Promise<string[]> {
  const index = await (await fetch(`${address}/docs/api-reference`)).text();
  const links = new Set([...index.matchAll(/href="(\/docs\/api-reference\/[\w-]+)"/g)].map(([, link = ""]) => link));
  const pages = await Promise.all([...links].map(async (link) => await (await fetch(address + link)).text()));
  return pages.flatMap((html) => [...html.matchAll(/<pre><code>(curl [^<]*)<\/code><\/pre>/g)]).map(([, text = ""]) =>
    text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
  );
}

async function statusOf(
  command: string,
  { key, adminKey }: { key: string; adminKey: string },
) {
  const model = /:(batchE|e|asyncBatchE)mbed/.test(command) ? "embedding-1" : "any-1";
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `${command} -s -o /dev/null -w '%{http_code}'`],
    env: { SWITCHYARD_KEY: key, SWITCHYARD_ADMIN_KEY: adminKey, ACCOUNT: "demo", MODEL: `sandbox%2F${model}` },
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}
