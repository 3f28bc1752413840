/**
 * Prints the slowest files of a run of tests, slowest first, with their seconds:
 *
 *     deno task test --junit-path=/tmp/tests.xml; deno run --allow-read scripts/slowest_tests.ts /tmp/tests.xml
 */
const COUNT = 20;

const [path] = Deno.args;
if (path === undefined) {
  console.error("Usage: scripts/slowest_tests.ts FILE_WITH_JUNIT_XML");
  Deno.exit(2);
}
for (const [file, seconds] of secondsByFile(await Deno.readTextFile(path)).slice(0, COUNT)) {
  console.log(`${seconds.toFixed(1).padStart(8)} s  ${file}`);
}

/** The seconds that the tests of each file took together, most first. */
function secondsByFile(junit: string): [file: string, seconds: number][] {
  const sums = new Map<string, number>();
  for (const [, attributes = ""] of junit.matchAll(/<testcase\b([^>]*)>/g)) {
    const file = attributeOf(attributes, "classname");
    sums.set(file, (sums.get(file) ?? 0) + Number(attributeOf(attributes, "time")));
  }
  return [...sums].sort(([, one], [, other]) => other - one);
}

function attributeOf(attributes: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
}
