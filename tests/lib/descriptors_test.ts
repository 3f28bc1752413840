import { assert, assertEquals } from "@std/assert";
import { descriptorLimit, DescriptorUse, hasFreeDescriptors } from "../../src/platform/lib/process/descriptors.ts";

const MODULE = new URL("../../src/platform/lib/process/descriptors.ts", import.meta.url).href;

/** Runs a program with so many descriptors, and the permissions of the gateway. Returns what it prints. */
async function runWith(descriptors: number, program: string): Promise<unknown> {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/program.ts`, program);
  const { stdout, stderr } = await new Deno.Command("bash", {
    args: [
      "-c",
      `ulimit -n ${descriptors}; exec "$0" run --quiet --no-check --no-prompt --allow-net --allow-read "$1"`,
      Deno.execPath(),
      `${folder}/program.ts`,
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  await Deno.remove(folder, { recursive: true });
  const text = new TextDecoder().decode(stdout);
  assert(text !== "", new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

const IS_LINUX = Deno.build.os === "linux";

Deno.test({
  name: "descriptors: the limit and the open ones are known with the permissions of the gateway",
  ignore: !IS_LINUX,
  async fn() {
    const found = await runWith(
      500,
      `
      import { descriptorLimit, DescriptorUse, hasFreeDescriptors } from "${MODULE}";
      const use = new DescriptorUse(await descriptorLimit());
      const before = use.measure();
      const open = [];
      const opening = (count) => { while (open.length < count) open.push(Deno.openSync("${MODULE.slice(7)}")); };
      const closing = (from, to) => { for (const file of open.splice(from, to - from)) file.close(); };
      opening(300);
      const many = use.measure();
      opening(430 - before.used);
      const most = use.measure();
      const isFree = [hasFreeDescriptors(64), hasFreeDescriptors(200)];
      closing(0, 100); // those with the lowest numbers
      const holes = use.measure();
      const isFreeAgain = hasFreeDescriptors(120);
      console.log(JSON.stringify({ limit: use.limit, before, many, most, isFree, holes, isFreeAgain }));
    `,
    ) as Record<string, { used: number; share: number }> & { limit: number; isFree: boolean[]; isFreeAgain: boolean };
    const { limit, before, many, most, isFree, holes, isFreeAgain } = found;
    assertEquals(limit, 500);
    // The platform may open a few of its own.
    const isNear = (measured: number | undefined, opened: number) => Math.abs((measured ?? 0) - opened) <= 5;
    assert(isNear(many?.used, (before?.used ?? 0) + 300), `${many?.used}`);
    assert(isNear(most?.used, 430), `${most?.used}`);
    assert((most?.share ?? 0) > 0.84);
    assertEquals(isFree, [true, false]);
    assert((holes?.share ?? 1) < 0.8);
    assertEquals(isFreeAgain, true);
  },
});

Deno.test({
  name: "descriptors: a process without a free one has used all",
  ignore: !IS_LINUX,
  async fn() {
    const found = await runWith(
      100,
      `
      import { DescriptorUse, hasFreeDescriptors } from "${MODULE}";
      const open = [];
      try { for (;;) open.push(Deno.openSync("/dev/null")); } catch { /* none is left */ }
      const found = [hasFreeDescriptors(1), new DescriptorUse(100).measure(), new DescriptorUse(null).measure().share];
      for (const file of open) file.close();
      console.log(JSON.stringify([...found, new DescriptorUse(null).measure().share, hasFreeDescriptors(40)]));
    `,
    );
    assertEquals(found, [false, { used: 100, share: 1 }, 1, 1, true]);
  },
});

Deno.test("descriptors: this process has some", async () => {
  assert(hasFreeDescriptors(64));
  assert(new DescriptorUse(await descriptorLimit()).measure().used > 0);
});
