import { assertEquals, assertMatch } from "@std/assert";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { always, chatReply, type ScriptedUpstream, startScriptedUpstream } from "../support/scripted_upstream.ts";

const REPLY = chatReply("hello", { prompt: 1000, completion: 500 });

/** Mounts a small file system; null where the system does not permit it. */
async function mountSmallDisk(): Promise<{ readonly path: string; unmount(): Promise<void> } | null> {
  const path = await Deno.makeTempDir();
  const run = async (command: string, args: string[]) => {
    try {
      return (await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output()).success;
    } catch {
      return false;
    }
  };
  if (!await run("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", path])) {
    await Deno.remove(path);
    return null;
  }
  return {
    path,
    async unmount() {
      await run("umount", [path]);
      await Deno.remove(path);
    },
  };
}

/** Fills a file system completely. */
function fill(path: string): void {
  using file = Deno.openSync(`${path}/filler`, { write: true, create: true });
  const piece = new Uint8Array(4_096);
  try {
    for (;;) file.writeSync(piece);
  } catch { /* it is full */ }
}

interface Stage {
  readonly path: string;
  readonly gateway: TestGateway;
  readonly vendor: ScriptedUpstream;
  chat(): Promise<Response>;
}

/** Runs a test with a gateway whose store is on a disk that can be filled. */
function onSmallDisk(name: string, limits: Readonly<Record<string, unknown>>, work: (stage: Stage) => Promise<void>) {
  Deno.test(name, async (test) => {
    const disk = await mountSmallDisk();
    if (disk === null) {
      await test.step({ name: "skipped: no tmpfs can be mounted here", ignore: true, fn() {} });
      return;
    }
    const vendor = startScriptedUpstream(always(REPLY));
    const gateway = await startTestGateway({
      store: `kv:${disk.path}/switchyard.db`,
      config: {
        files: `${disk.path}/files`,
        limits,
        providers: {
          acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" },
        },
        models: [textModel("acme/m", ["acme"])],
      },
    });
    const chat = () =>
      fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/m", messages: [{ role: "user", content: "hello" }] }),
      });
    try {
      await work({ path: disk.path, gateway, vendor, chat });
    } finally {
      await gateway.stop();
      await vendor.stop();
      await disk.unmount();
    }
  });
}

onSmallDisk(
  "on an almost full disk no vendor is called, and calls succeed again when there is room",
  { min_free_disk: "1MB" },
  async ({ path, gateway, vendor, chat }) => {
    assertEquals((await (await chat()).json()).choices.length, 1);
    fill(path);
    const refused = await eventually(async () => {
      const response = await chat();
      if (response.status === 503) return response;
      await response.body?.cancel();
      return null;
    });
    assertEquals((await refused.json()).error.code, "storage_unavailable");
    assertEquals(refused.headers.get("retry-after"), "10");
    const asked = vendor.seen.length;
    for (let n = 0; n < 5; n++) assertEquals((await (await chat()).json()).error.code, "storage_unavailable");
    assertEquals(vendor.seen.length, asked);
    const ready = await fetch(`${gateway.address}/readyz`);
    assertEquals(ready.status, 503);
    // Free space is checked four times a second, so a write may fail first.
    assertMatch(await ready.text(), /^not ready: (\d+ bytes of disk are free|.*full)/);
    await Deno.remove(`${path}/filler`);
    await eventually(async () => {
      const response = await chat();
      await response.body?.cancel();
      return response.status === 200;
    });
    assertEquals(gateway.logLines.filter((line) => /"(disk_low|store_unwritable)"/.test(line)).length <= 2, true);
    assertEquals(gateway.logLines.some((line) => line.includes('"charge_lost"')), false);
  },
);

onSmallDisk(
  "a charge that a full disk rejects is written when there is room again",
  { min_free_disk: 0 },
  async ({ path, gateway, vendor, chat }) => {
    const money = accountMoney(gateway);
    await (await chat()).body?.cancel();
    const before = await money.balance();
    fill(path);
    const codes: string[] = [];
    // The journal has room in its last page until the ledger is written, 40 ms later.
    while (codes.at(-1) !== "storage_unavailable") {
      codes.push((await (await chat()).json()).error?.code ?? "served");
    }
    const served = codes.filter((code) => code === "served").length;
    const asked = vendor.seen.length - 1;
    for (let n = 0; n < 5; n++) assertEquals((await (await chat()).json()).error.code, "storage_unavailable");
    assertEquals(vendor.seen.length - 1, asked, "no vendor is called while the store takes no writes");
    assertEquals(
      (await fetch(`${gateway.address}/readyz`).then((response) => response.text())).startsWith("not ready"),
      true,
    );
    const clear = gateway.logLines.filter((line) => line.includes('"store_unwritable"'));
    assertEquals([clear.length, gateway.logLines.some((line) => line.includes('"charge_lost"'))], [1, false]);
    await Deno.remove(`${path}/filler`);
    // Each call costs 1,000 prompt tokens and 500 of the reply: 0.002 USD.
    await eventuallySlowly(async () => before - await money.balance() === BigInt(asked) * 20_000_000n);
    assertEquals(served <= asked, true);
    await eventuallySlowly(async () => (await chat()).status === 200);
  },
);

/** Waits longer, for effects that follow after seconds. */
async function eventuallySlowly(look: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await look()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("It did not come to pass");
}
