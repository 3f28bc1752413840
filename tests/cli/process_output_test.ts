import { assertEquals, assertMatch } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** Runs lines behind an open process output named `output`, in a process of its own. */
async function run(lines: string, redirects = "") {
  const script = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(
    script,
    `import { openProcessOutput } from "${new URL("src/entry/cli/process/process_output.ts", ROOT)}";
    import { holdState, holdWork } from "${new URL("src/platform/lib/basics/held.ts", ROOT)}";
    import { unhandledErrors } from "${new URL("src/platform/lib/process/unhandled.ts", ROOT)}";
    import { StoreWriteError } from "${new URL("src/platform/store/store_errors.ts", ROOT)}";
    const output = openProcessOutput({ logs: { level: "info" } } as never);
    ${lines}`,
  );
  const args = ["run", "--quiet", "--no-check", `--config=${new URL("deno.json", ROOT).pathname}`, script];
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", `"$0" "$@" ${redirects}`, Deno.execPath(), ...args],
  }).output();
  await Deno.remove(script);
  return { code, said: new TextDecoder().decode(stdout), log: new TextDecoder().decode(stderr) };
}

for (
  const [name, line] of [
    ["an error that nobody catches", 'setTimeout(() => { throw new RangeError("a prompt"); });'],
    ["a rejection that nobody handles", 'setTimeout(() => void Promise.reject(new RangeError("a prompt")));'],
    ["a failure of work in the background", 'holdWork(Promise.reject(new RangeError("a prompt")));'],
  ] as const
) {
  Deno.test(`${name} is logged with its stack, without its message, and counted, and the process goes on`, async () => {
    const { code, log } = await run(
      `${line} setTimeout(() => { output.log.info("after", { count: unhandledErrors() }); output.flush().then(() => Deno.exit(3)); }, 50);`,
    );
    const [first, second] = log.trim().split("\n").map((each) => JSON.parse(each));
    assertEquals([code, first.event, second.event, second.count], [3, "unhandled_error", "after", 1]);
    assertMatch(first.reason, /^RangeError at /);
    assertEquals(log.includes("a prompt"), false);
  });
}

for (
  const [name, line, reason] of [
    ["work on state", 'holdState(Promise.reject(new RangeError("a prompt")), "charges");', /^StateFailure at /],
    [
      "a write of the store",
      'void Promise.reject(new StoreWriteError(new Error("a prompt")));',
      /^StoreWriteError at /,
    ],
  ] as const
) {
  Deno.test(`a failure of ${name} is logged after earlier lines, without its message, and ends the process with 1`, async () => {
    const { code, log } = await run(`output.log.info("before"); ${line} setTimeout(() => {}, 60_000);`);
    const lines = log.trim().split("\n").map((each) => JSON.parse(each));
    assertEquals([code, lines.map(({ event }) => event)], [1, ["before", "process.failed"]]);
    assertMatch(lines[1].reason, reason);
    assertEquals(log.includes("a prompt"), false);
  });
}

Deno.test("flush() waits for an unread log no longer than its timeout", async () => {
  const { code } = await run(
    'output.log.warn("x".repeat(200_000)); await output.flush(); Deno.exit(3);',
    "2> >(exec 0<&0; sleep 2)",
  );
  assertEquals(code, 3);
});

Deno.test("flush() writes everything to streams that are read", async () => {
  const { code, said, log } = await run(
    'for (let n = 0; n < 5_000; n++) { output.log.info("n"); output.print(String(n)); } await output.flush(); Deno.exit(0);',
  );
  assertEquals([code, said.trim().split("\n").length, log.trim().split("\n").length], [0, 5_000, 5_000]);
});
