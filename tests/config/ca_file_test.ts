import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readCaFile } from "../../src/config/ca_file.ts";
import { ConfigError } from "../../src/config/tree/config_error.ts";
import { ROOT } from "../webhooks/certificates.ts";

async function problemOf(path: string): Promise<string> {
  const { problems } = await assertRejects(() => readCaFile(path), ConfigError);
  assertEquals(problems.length, 1);
  assertStringIncludes(problems[0] ?? "", "egress.ca_file: expected a readable file of at most 4 MB");
  return problems[0]?.split(", got ")[1] ?? "";
}

Deno.test("egress.ca_file: a regular file with certificates is read, and any other is a problem that names the setting", async () => {
  const folder = await Deno.makeTempDir();
  const written = async (name: string, text: string) => {
    await Deno.writeTextFile(`${folder}/${name}`, text);
    return `${folder}/${name}`;
  };
  const several = `Roots of the company\n${ROOT}\n${ROOT}`;
  assertEquals(await readCaFile(await written("roots.pem", several)), several);
  assertEquals(await problemOf(`${folder}/missing.pem`), "no such file");
  assertEquals(await problemOf(folder), "a folder");
  assertEquals(await problemOf(await written("empty.pem", "")), "a file without a certificate");
  assertEquals(
    await problemOf(await written("key.pem", ROOT.replaceAll("CERTIFICATE", "PRIVATE KEY"))),
    "a file without a certificate",
  );
  const broken = `${ROOT}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
  assertEquals(await problemOf(await written("broken.pem", broken)), "a file whose certificate 2 cannot be read");
  assertEquals(await problemOf(await written("large.pem", " ".repeat(4_000_001))), "a file of 4000001 bytes");
  await Deno.remove(folder, { recursive: true });
});

Deno.test({
  name: "egress.ca_file: a device, which has no end, and a pipe, which nobody writes, are problems (needs Unix)",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    assertEquals(await problemOf("/dev/zero"), "a device, a pipe or a socket");
    const folder = await Deno.makeTempDir();
    const { success } = await new Deno.Command("mkfifo", { args: [`${folder}/pipe`] }).output();
    if (success) assertEquals(await problemOf(`${folder}/pipe`), "a device, a pipe or a socket");
    await Deno.remove(folder, { recursive: true });
  },
});
