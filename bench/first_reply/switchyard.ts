import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPackage } from "../../scripts/package.ts";
import type { Installation, Place } from "./installation.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const KEY = "sk-sy-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

/** The commands of the README: a clone, and `task dev` with simulated vendors. */
export const SWITCHYARD_CLONE: Installation = {
  label: "Switchyard, from a clone",
  commands: "git clone; npx deno task dev",
  vendor: "simulated, in the gateway",
  needs: ["git", "npx"],
  // As from another host: without the links that a local clone makes.
  install: () => [["git", "clone", "--quiet", "--no-local", ROOT, "switchyard"]],
  startsIn: "switchyard",
  start: () => ["npx", "-y", `deno@${Deno.version.deno}`, "task", "dev"],
  request(_place, printed) {
    const key = /SWITCHYARD_KEY=(sk-sy-\S+)/.exec(printed)?.[1];
    if (key === undefined) return null;
    return { path: "/v1/chat/completions", headers: { authorization: `Bearer ${key}` }, model: "sandbox/chat-1" };
  },
};

/** The package for npm, with a configuration file of one vendor. */
export const SWITCHYARD_PACKAGE: Installation = {
  label: "Switchyard, package for npm",
  commands: "npm install; switchyard serve",
  vendor: "on loopback",
  needs: ["npm"],
  async prepare({ folder, upstreamPort }) {
    await Deno.copyFile(await buildPackage(), join(folder, "switchyard.tgz"));
    await Deno.writeTextFile(join(folder, "package.json"), "{}");
    await Deno.writeTextFile(join(folder, "switchyard.yaml"), configFor(upstreamPort));
  },
  install: () => [["npm", "install", "--no-audit", "--no-fund", "./switchyard.tgz"]],
  start: ({ folder }) => [join(folder, "node_modules", ".bin", "switchyard"), "serve"],
  request: () => ({ path: "/v1/chat/completions", headers: { authorization: `Bearer ${KEY}` }, model: "canned/one" }),
};

function configFor(upstreamPort: Place["upstreamPort"]): string {
  return `
accounts:
  - id: first
    balance: "1"
    keys: ["${KEY}"]
providers:
  canned:
    kind: openai
    base_url: http://127.0.0.1:${upstreamPort}/v1
    api_key: upstream-key
models:
  - id: canned/one
    pricing: { prompt: "0.000001", completion: "0.000002" }
    serves: [{ provider: canned, model: canned-1 }]
`;
}
