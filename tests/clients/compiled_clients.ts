import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { builtFolder, type Cache, installer } from "./install.ts";
import type { ClientProgram } from "./program.ts";
import { sdkClients } from "./sdk_worker.ts";

const NO_FRAMEWORK = "plain HTTP client without this feature";

/** The Go packages, in one program. */
const goClients = sdkClients({
  name: "go",
  fast: false,
  install: (cache) =>
    built(cache, "go", (folder, target) => installer("go", ["build", "-o", `${target}/clients`, "."], folder)),
  command: (cache) => [join(builtFolder(cache, "go"), "clients")],
  path: () => [],
  rows: [
    { name: "openai-go, chat", row: "openai chat", version: "3.96.0" },
    { name: "openai-go, responses", row: "openai responses", version: "3.96.0" },
    { name: "anthropic-sdk-go", row: "anthropic", version: "1.84.0" },
    { name: "google.golang.org/genai", row: "genai", version: "1.77.0" },
  ],
});

/** The Java packages, in one program. */
const javaClients = sdkClients({
  name: "java",
  fast: false,
  install: (cache) =>
    built(cache, "java", async (folder, target) => {
      const copy = ["-q", "-B", "dependency:copy-dependencies", `-DoutputDirectory=${join(target, "lib")}`];
      await installer("mvn", copy, folder);
      const sources = (await sourcesIn(folder)).filter((path) => path.endsWith(".java"));
      await installer("javac", ["-d", join(target, "classes"), "-cp", join(target, "lib", "*"), ...sources], folder);
    }),
  command: (cache) => {
    const folder = builtFolder(cache, "java");
    return ["java", "-cp", `${join(folder, "classes")}:${join(folder, "lib", "*")}`, "Clients"];
  },
  path: () => [],
  rows: [
    { name: "openai-java, chat", row: "openai chat", version: "4.101.0" },
    { name: "openai-java, responses", row: "openai responses", version: "4.101.0" },
    { name: "anthropic-java", row: "anthropic", version: "3.12.0" },
    {
      name: "java.net.http, HTTP/1.1",
      row: "java.net.http",
      version: "17",
      lacks: {
        tools: NO_FRAMEWORK,
        "parallel tools": NO_FRAMEWORK,
        structured: NO_FRAMEWORK,
        reasoning: NO_FRAMEWORK,
      },
    },
  ],
});

/** The packages of compiled languages. They need `go`, or `mvn`, `javac` and `java`. */
export const compiledClients: readonly ClientProgram[] = [...goClients, ...javaClients];

/** Builds a folder beside this file, again when a file of it has changed. */
async function built(
  cache: Cache,
  name: string,
  build: (folder: string, target: string) => Promise<void>,
): Promise<void> {
  const folder = fileURLToPath(new URL(`./${name}/`, import.meta.url));
  const texts = await Promise.all((await sourcesIn(folder)).map((path) => Deno.readTextFile(path)));
  await cache.built(name, texts, (target) => build(folder, target));
}

async function sourcesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.filter(({ isFile }) => isFile).map(({ name }) => join(folder, name)).sort();
}
