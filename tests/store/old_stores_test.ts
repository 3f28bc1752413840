import { assertEquals, assertStringIncludes } from "@std/assert";
import { eventually } from "../support/account_money.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";

/**
 * Folders of `switchyard dev` that earlier versions wrote: each has three charged chats and one video of the account
 * `demo`. Between two of them the form of what is stored changed.
 */
const STORES: Readonly<Record<string, string>> = {
  first: "with accounts of the first form, no index of tasks, no journal and no log",
  before_journal: "killed, with tasks in their index, and without a journal of charges",
  before_usage: "without sums of usage and without limits of keys",
  killed: "killed, with its write-ahead log, and the first form of the log of requests",
  request_log_1: "with schema 1 of the log of requests",
  request_log_2: "with schema 2 of the log of requests, and usage without copies of days",
};
const CHARGED = 4;

class OldStore {
  private constructor(readonly folder: string) {}

  static async with(name: string, run: (store: OldStore) => Promise<void>): Promise<void> {
    const folder = await Deno.makeTempDir();
    try {
      await Deno.mkdir(`${folder}/data`);
      const archive = new URL(`./old_stores/${name}.tar.gz`, import.meta.url).pathname;
      const { code } = await new Deno.Command("tar", { args: ["-xzf", archive, "-C", `${folder}/data`] }).output();
      assertEquals(code, 0);
      await run(new OldStore(folder));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }

  async key(): Promise<string> {
    return (await Deno.readTextFile(`${this.folder}/data/dev-key`)).trim();
  }

  async dev() {
    const child = startGatewayProcess({ args: ["dev"], folder: this.folder, env: { PORT: "0" } });
    const address = itemAt(await child.until(/is ready at (\S+)/), 1);
    return {
      address,
      log: child.log,
      async stop() {
        child.kill("SIGTERM");
        await child.ended;
      },
    };
  }

  async run(...args: string[]): Promise<string> {
    const env = { SWITCHYARD_STORE: "kv:./data/dev.db" };
    const child = startGatewayProcess({ args, folder: this.folder, env });
    const { code } = await child.ended;
    assertEquals([code, child.log().trim()], [0, ""], args.join(" "));
    return child.output();
  }

  /** The number of charged requests. */
  async charged(): Promise<number> {
    const { data } = JSON.parse(await this.run("usage", "--format", "json")) as { data: { requests: number }[] };
    return data.reduce((sum, { requests }) => sum + requests, 0);
  }
}

for (const [name, what] of Object.entries(STORES)) {
  Deno.test(`a store ${what} is opened, and its money, keys and tasks go on`, async () => {
    await OldStore.with(name, async (store) => {
      const gateway = await store.dev();
      const authorization = `Bearer ${await store.key()}`;
      const chat = await fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "hello" }] }),
      });
      await chat.text();
      assertEquals(chat.status, 200);
      await eventually(async () => {
        const listed = await fetch(`${gateway.address}/v1/videos`, { headers: { authorization } });
        const { data } = await listed.json() as { data?: { status: string }[] };
        return data?.length === 1 && data[0]?.status === "completed";
      });
      await gateway.stop();
      assertEquals(/store_incomplete/.exec(gateway.log()), null, gateway.log());
      assertStringIncludes(await store.run("ledger", "verify"), " 0 differences");
      assertEquals(await store.charged(), CHARGED + 1);
    });
  });
}
