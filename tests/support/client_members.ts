import { assert } from "@std/assert";

/**
 * The names of the members of a request type of an official client, as they are sent: those of the tests' lock file.
 *
 * @param module Such as `openai/resources/videos`.
 */
export async function membersOf(module: string, type: string): Promise<string[]> {
  const entry = import.meta.resolve(module.split("/").slice(0, module.startsWith("@") ? 2 : 1).join("/"));
  const folder = entry.slice(0, entry.lastIndexOf("/"));
  const path = module.split("/").slice(module.startsWith("@") ? 2 : 1).join("/");
  const source = await Deno.readTextFile(new URL(`${folder}/${path}.d.ts`));
  const [, body] = new RegExp(
    `export (?:interface|type) ${type}(?:Base)?(?:<[^{]*?>)?(?: =)?(?: extends \\w+)? \\{\n(.*?)\n\\};?\n`,
    "s",
  )
    .exec(source) ?? [];
  assert(body !== undefined, `${module} has no ${type}`);
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name = ""]) => snakeOf(name)).sort();
}

function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
