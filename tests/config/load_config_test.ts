import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError } from "../../src/config/tree/config_error.ts";
import { checkConfig, loadConfig } from "../../src/config/load_config.ts";
import { environmentOf } from "./support.ts";

function diskOf(files: Record<string, string>): (path: string) => string | null {
  return (path) => files[path] ?? null;
}

Deno.test("loadConfig() reads the named file, else SWITCHYARD_CONFIG, else the first default name", () => {
  const readFile = diskOf({ "a.yaml": "files: a", "b.json": '{"files":"b"}', "switchyard.json": '{"files":"c"}' });
  const env = environmentOf({ SWITCHYARD_CONFIG: "b.json" });
  assertEquals(loadConfig({ path: "a.yaml", env, readFile }).files, "a");
  assertEquals(loadConfig({ env, readFile }).files, "b");
  assertEquals(loadConfig({ env: environmentOf(), readFile }).files, "c");
});

Deno.test("loadConfig() needs no file", () => {
  const config = loadConfig({ env: environmentOf({ PORT: "0" }), readFile: () => null });
  assertEquals([config.server.port, config.files], [0, "./data/files"]);
});

Deno.test("loadConfig() refuses a named file that does not exist", () => {
  const error = assertThrows(
    () => loadConfig({ path: "gone.yaml", env: environmentOf(), readFile: () => null }),
    ConfigError,
  );
  assertEquals(error.problems, [
    'gone.yaml: expected a configuration file, got no such file; "switchyard init" writes switchyard.yaml',
  ]);
});

Deno.test("loadConfig() reads from the disk", () => {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${folder}/a.yaml`, "files: from-disk");
    Deno.writeFileSync(`${folder}/b.yaml`, new Uint8Array([0xff, 0xfe, 0]));
    assertEquals(loadConfig({ path: `${folder}/a.yaml`, env: environmentOf() }).files, "from-disk");
    const check = (name: string) => checkConfig({ path: `${folder}/${name}`, env: environmentOf() }).problems;
    assertEquals(check("b.yaml"), [`${folder}/b.yaml: expected UTF-8 text, got other bytes`]);
    assertEquals(check("").length, 1); // a folder
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("checkConfig() gives the source and all problems without throwing", () => {
  const readFile = diskOf({ "a.yaml": "logs: { level: loud }\nstor: x", "b.yaml": "logs: { level: warn }" });
  const bad = checkConfig({ path: "a.yaml", env: environmentOf(), readFile });
  assertEquals([bad.source, bad.problems.length, bad.config], ["a.yaml", 2, null]);
  const good = checkConfig({ path: "b.yaml", env: environmentOf(), readFile });
  assertEquals([good.source, good.problems, good.config?.logs.level], ["b.yaml", [], "warn"]);
  assertEquals(checkConfig({ env: environmentOf(), readFile }).source, "environment");
});
