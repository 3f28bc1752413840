import { assert, assertEquals } from "@std/assert";
import { LAZY_OPTION, NO_UPDATE_CHECK, RUN_ENVIRONMENT, V8_OPTION } from "../../scripts/run_flags.ts";
import config from "../../deno.json" with { type: "json" };

Deno.test("options of V8: the executable has those of the task start", () => {
  const words = config.tasks.start.command.split(" ");
  assertEquals(words.filter((word) => word.startsWith("--v8-flags")), [V8_OPTION]);
});

Deno.test("the task start loads modules when they are imported", () => {
  assert(config.tasks.start.command.split(" ").includes(LAZY_OPTION));
});

Deno.test("options of V8: this Deno accepts them", async () => {
  const args = ["eval", LAZY_OPTION, V8_OPTION, ""];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  assert(success, new TextDecoder().decode(stderr));
});

Deno.test("environment: the task start has that of the package", () => {
  const assignments = Object.entries(RUN_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  assertEquals(config.tasks.start.command.split(" ").slice(0, assignments.length), assignments);
});

Deno.test("environment: no task that starts the gateway lets Deno ask for a newer version", () => {
  const starts = Object.values(config.tasks).filter(({ command }) => / main\.ts( serve| dev)?$/.test(command));
  assertEquals(starts.length, 3);
  for (const { command } of starts) assert(command.split(" ").includes("DENO_NO_UPDATE_CHECK=1"), command);
});

Deno.test("environment: this Deno reads each of the variables with a number", async () => {
  const numbers = Object.entries(RUN_ENVIRONMENT).filter(([name]) => !(name in NO_UPDATE_CHECK));
  for (const [name, value] of numbers) {
    const start = (given: string) =>
      new Deno.Command(Deno.execPath(), { args: ["eval", ""], env: { [name]: given }, stderr: "null" }).output();
    assert((await start(value)).success, `${name}=${value} is refused`);
    assert(!(await start("many")).success, `${name} has no effect`);
  }
});
