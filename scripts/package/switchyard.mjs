#!/usr/bin/env node
// Runs the gateway with the Deno that is installed beside this package.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const deno = createRequire(import.meta.url)("deno/install_api.cjs").runInstall();
const app = new URL("../app/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, app), "utf8"));
const program = fileURLToPath(new URL("main.js", app));
const args = ["run", ...read("flags.json"), program, ...process.argv.slice(2)];
const gateway = spawn(deno, args, { stdio: "inherit", env: { ...read("environment.json"), ...process.env } });

for (const signal of SIGNALS) process.on(signal, () => gateway.kill(signal));
gateway.on("error", (error) => {
  console.error(`switchyard: cannot start Deno: ${error.message}`);
  process.exit(1);
});
gateway.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const each of SIGNALS) process.removeAllListeners(each);
  process.kill(process.pid, signal);
});
