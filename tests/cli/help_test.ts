import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ADMIN_COMMANDS, adminCallFor } from "../../src/entry/cli/admin/admin_call.ts";
import type { AdminArguments } from "../../src/entry/cli/admin/admin_arguments.ts";
import { completionFor } from "../../src/entry/cli/help/completion.ts";
import { COMMANDS, helpFor, optionAdvice, wordsOfHelp } from "../../src/entry/cli/help/help.ts";
import { UsageError } from "../../src/entry/cli/usage_error.ts";
import { atLeast } from "../support/items.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";

/** Options that every admin command takes. */
const SHARED = ["--config", "--gateway"];

/** The options that an admin command takes, with and without positional arguments. */
function optionsTaken(command: string, subcommand: string): string[] {
  const taken = new Set(SHARED);
  for (const hasWord of [true, false]) {
    let words = hasWord ? 1 : 0;
    const args: AdminArguments = {
      typed: new Map(),
      word: () => "1",
      hasWord: () => words-- > 0,
      option: (name) => {
        taken.add(`--${name}`);
        return "1";
      },
      time: (name) => {
        taken.add(`--${name}`);
        return 1_000;
      },
      day: (name) => {
        taken.add(`--${name}`);
        return "1970-01-01";
      },
      span: (name) => {
        taken.add(`--${name}`);
        return 1;
      },
      flag: (name) => {
        taken.add(`--${name}`);
        return true;
      },
      query: (...names) => {
        for (const name of names) taken.add(`--${name}`);
        return "";
      },
      end() {},
    };
    try {
      adminCallFor(command, subcommand, args);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error; // the value "1" is no JSON object
    }
  }
  return [...taken].sort();
}

Deno.test("help: every admin command is described, with exactly the options that it takes", () => {
  const described = COMMANDS.filter(({ words }) => ADMIN_COMMANDS.has(atLeast(words.split(" "), 1)[0]));
  for (const { words, options } of described) {
    const [command, subcommand = ""] = atLeast(words.split(" "), 1);
    if (words === "ledger verify") continue; // reads the store of a stopped gateway
    assertEquals(options.map(({ name }) => name).sort(), optionsTaken(command, subcommand), words);
  }
});

Deno.test("help: each command is described once, and its examples begin with its words", () => {
  const all = COMMANDS.map(({ words }) => words);
  assertEquals(all.length, new Set(all).size);
  for (const { words, examples } of COMMANDS) {
    assert(examples.length > 0, words);
    for (const example of examples) assert(`${example} `.startsWith(`${words} `), example);
  }
});

Deno.test("help: no line is longer than 120 columns", () => {
  const texts = [helpFor([]), ...COMMANDS.map(({ words }) => helpFor(words.split(" ")))];
  const long = texts.flatMap((text) => text.split("\n")).filter((line) => line.length > 120);
  assertEquals(long, []);
});

Deno.test("wordsOfHelp() finds the command of each way to request help", () => {
  for (
    const [line, expected] of [
      ["", []],
      ["help", []],
      ["--help", []],
      ["help keys create", ["keys", "create"]],
      ["keys create --help", ["keys", "create"]],
      ["keys create acme -h", ["keys", "create"]],
      ["serve --help", ["serve"]],
      ["keys --help", ["keys"]],
      ["keys create acme -- --help", null],
      ["keys list acme", null],
    ] as const
  ) {
    assertEquals(wordsOfHelp(line === "" ? [] : line.split(" ")), expected, line);
  }
});

Deno.test("help: an unknown command and an unknown option are answered with the nearest", () => {
  assertThrows(() => helpFor(["keys", "crate"]), UsageError, 'did you mean "keys create"?');
  assertEquals(optionAdvice(["keys", "list", "acme", "--limt", "3"], "--limt"), '\nDid you mean "--limit"?');
  assertEquals(
    optionAdvice(["signing-keys", "rotate", "--limt"], "--limt"),
    "\nIts options are --config, --gateway.",
  );
});

/** Runs a command in an empty folder. */
async function runProgram(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const folder = await Deno.makeTempDir();
  try {
    const program = startGatewayProcess({ args, folder });
    const { code } = await program.ended;
    return { code, stdout: program.output(), stderr: program.log() };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("switchyard: help, mistakes and completion from the command line", async () => {
  const help = await runProgram(["keys", "create", "--help"]);
  assertEquals([help.code, help.stdout.split("\n", 1)], [0, ["switchyard keys create ACCOUNT [OPTIONS]"]]);
  const mistake = await runProgram(["accounts", "list", "--limt", "3"]);
  assertEquals(mistake.code, 2);
  assertStringIncludes(mistake.stderr, 'Did you mean "--limit"?\nTry "switchyard help accounts list".');
  const shell = await runProgram(["completion", "tcsh"]);
  assertEquals([shell.code, shell.stderr], [
    2,
    'switchyard completion: expected one of bash, zsh, fish\nTry "switchyard help completion".\n',
  ]);
});

/** What bash completes the last word of a command line with; null where there is no bash. */
async function completedByBash(line: string): Promise<string[] | null> {
  const script = `${completionFor(["bash"])}
COMP_WORDS=(${line.split(" ").map((word) => `'${word}'`).join(" ")})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_switchyard
printf '%s\\n' "\${COMPREPLY[@]}"`;
  try {
    const { stdout } = await new Deno.Command("bash", { args: ["--norc", "-c", script] }).output();
    return new TextDecoder().decode(stdout).trim().split("\n");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

Deno.test("completion: bash completes commands, subcommands, options and choices", async () => {
  for (
    const [line, expected] of [
      ["switchyard adm", ["admin-keys"]],
      ["switchyard keys ro", ["rotate"]],
      ["switchyard keys create --b", ["--budget"]],
      ["switchyard keys create acme --b", ["--budget"]],
      ["switchyard admin-keys create --role o", ["owner"]],
      ["switchyard keys list acme --limit 3 --af", ["--after"]],
    ] as const
  ) {
    const completed = await completedByBash(line);
    if (completed !== null) assertEquals(completed, [...expected], line);
  }
});

Deno.test("completion: zsh uses the functions of bash, and fish has a line for each option", () => {
  assertStringIncludes(completionFor(["zsh"]), "#compdef switchyard");
  const fish = completionFor(["fish"]);
  assertStringIncludes(fish, "-l overlap -r -d 'how long the old key stays valid: 90m, 12h or seconds'");
  assertStringIncludes(fish, "-l role -x -a 'read write owner'");
});
