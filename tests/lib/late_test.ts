import { assertEquals, assertRejects } from "@std/assert";
import { Late } from "../../src/platform/lib/process/late.ts";

Deno.test("Late loads at the first use, once, and shares what it has loaded", async () => {
  let loads = 0;
  const late = new Late(() => Promise.resolve({ number: ++loads }));
  assertEquals([late.loaded, late.loading, loads], [null, null, 0]);
  const [first, second] = await Promise.all([late.load(), late.load()]);
  assertEquals([first === second, late.loaded === first, loads], [true, true, 1]);
  assertEquals(await late.loading, first);
});

Deno.test("Late loads again after a failure, also one that is thrown at once", async () => {
  let loads = 0;
  const late = new Late(() => {
    if (++loads === 1) throw new TypeError("first");
    return loads === 2 ? Promise.reject(new TypeError("second")) : Promise.resolve(loads);
  });
  await assertRejects(late.load, TypeError, "first");
  await assertRejects(late.load, TypeError, "second");
  assertEquals([late.loaded, await late.load()], [null, 3]);
});

const SCRIPT = `
  import { closeSync, openSync } from "node:fs";
  import { Late } from "${import.meta.resolve("../../src/platform/lib/process/late.ts")}";
  const late = new Late(() => import("${import.meta.resolve("../../src/platform/lib/text/csv.ts")}"));
  const opened = [];
  try {
    for (;;) opened.push(openSync("/dev/null", "r"));
  } catch {}
  const answers = [];
  const load = () => late.load().then(() => "loaded", (error) => error.code ?? error.message);
  answers.push(await load(), await load());
  for (const descriptor of opened) closeSync(descriptor);
  answers.push(await load());
  console.log(JSON.stringify(answers));
`;

// Elsewhere than on Linux the limit of open files is not set for a child.
Deno.test({
  name: "Late loads nothing without free descriptors, and loads once there are some",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const path = await Deno.makeTempFile({ suffix: ".ts" });
    await Deno.writeTextFile(path, SCRIPT);
    const flags = ["--no-config", "--no-check", "--unstable-lazy-dynamic-imports", "--allow-read"];
    const { stdout, stderr } = await new Deno.Command("bash", {
      args: ["-c", 'ulimit -n 200; exec "$0" "$@"', Deno.execPath(), "run", "--quiet", ...flags, path],
      env: { DENO_NO_UPDATE_CHECK: "1" },
    }).output();
    await Deno.remove(path);
    const text = new TextDecoder().decode(stdout) || new TextDecoder().decode(stderr);
    assertEquals(JSON.parse(text), ["overloaded", "overloaded", "loaded"]);
  },
});
