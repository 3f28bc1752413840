import { assertEquals } from "@std/assert";
import { programOf } from "../../src/entry/cli/program_name.ts";

Deno.test("a command begins with the program that is there: that of npx, Deno, or switchyard where it is installed", () => {
  const ofNpx = "/home/ada/.npm/_npx/7a40be787520bede/node_modules/@deno/linux-x64-glibc/deno";
  assertEquals(programOf(ofNpx, false), `npx -y deno@${Deno.version.deno} task switchyard`);
  const onWindows = "C:\\Users\\ada\\npm-cache\\_npx\\7a40\\node_modules\\@deno\\win32-x64\\deno.exe";
  assertEquals(programOf(onWindows, false), `npx -y deno@${Deno.version.deno} task switchyard`);
  assertEquals(programOf("/usr/local/bin/deno", false), "deno task switchyard");
  assertEquals(programOf(ofNpx, true), "switchyard");
});
