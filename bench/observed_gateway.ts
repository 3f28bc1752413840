/**
 * The gateway with or without the counts of its metrics. Arguments: its configuration, and `counted` or `uncounted`.
 * Whether it has a log of requests is a setting.
 */
import { startApp } from "../src/entry/app/app.ts";
import { openProcessOutput } from "../src/entry/cli/process/process_output.ts";
import { loadConfig } from "../src/config/load_config.ts";
import { argument } from "./argument.ts";

const [path] = Deno.args;
const countsRequests = argument(1, "counted or uncounted") === "counted";

const config = loadConfig({ path, env: (name) => Deno.env.get(name) });
const app = await startApp({ config, log: openProcessOutput(config).log, countsRequests });
Deno.addSignalListener("SIGTERM", () => void app.stop().then(() => Deno.exit(0)));
console.log(app.address);
