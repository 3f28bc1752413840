import { join } from "node:path";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { atLeast } from "../../support/items.ts";
import type { Stage } from "./scenario.ts";

/** Starts `switchyard dev` in a new folder. Commands on that folder's `switchyard.yaml` find it by its store. */
export async function startDevStage(): Promise<Stage> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const process = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" } });
  const [, address] = atLeast(await process.until(/ready at (http:\S+)/), 2);
  await process.until(/webhooks listen/); // the last line of the greeting
  const [key = "", adminKey = ""] = await Promise.all(
    ["dev-key", "dev.db.admin-key"].map((name) => secretIn(folder, name)),
  );
  await Deno.writeTextFile(join(folder, "switchyard.yaml"), `store: kv:${folder}/data/dev.db\n`);
  return {
    address,
    adminKey,
    folder,
    variables: { SWITCHYARD_KEY: key },
    greeting: process.output(),
    async stop() {
      process.kill("SIGTERM");
      await process.ended;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function secretIn(folder: string, name: string): Promise<string> {
  return (await Deno.readTextFile(join(folder, "data", name))).trim();
}
