import { command, type CommandHelp, CONFIG, flag, GATEWAY, option, PAGES } from "./command_help.ts";

const RUNNING = [CONFIG, GATEWAY];
const CHANGES = [...RUNNING, flag("json", "print the difference as JSON, not in sentences")];

/** Commands that set up a gateway, run it and care for its data. */
export const GATEWAY_COMMANDS: readonly CommandHelp[] = [
  command("init", "", "ask for vendors and their keys, write switchyard.yaml and .env, and start", {
    options: [
      option("vendors", "LIST", "vendors, separated by commas, instead of questions"),
      option("key", "VENDOR=SOURCE", "where a key is: @FILE, @- for the standard input, or env:NAME"),
      option("address", "VENDOR=URL", "the address of a resource, or of a server that you run"),
      option("models", "VENDOR=LIST", "deployments of azure, models of perplexity, vertex and bedrock"),
      option("price", "VENDOR=INPUT/OUTPUT", "USD for a million tokens, or free, where no prices are built in"),
      option("project", "ID", "vertex: the project, whose key file is the key"),
      option("admin", "NAME", "the name of the admin key, for the log of changes"),
      option("account", "ID", "the first account"),
      option("balance", "USD", "its balance"),
      option("port", "N", "the port to listen on"),
      flag("no-try", "do not try the keys at their vendors"),
      flag("no-start", "write the files only"),
    ],
    examples: [
      "init",
      "init --vendors openai,anthropic --key openai=@openai.key --admin ada --account acme --balance 50 --no-start",
      "init --vendors groq,ollama --price groq=0.15/0.60",
    ],
  }),
  command("serve", "", "start the gateway", {
    options: [
      CONFIG,
      flag("show-secrets", "print the webhook secrets of accounts that it creates"),
      option("roles", "ROLES", "with PostgreSQL: serve, which answers callers, or work, which runs jobs; default both"),
      flag("standby", "with PostgreSQL: wait until no other gateway uses the database"),
    ],
    examples: ["serve", "serve --config /etc/switchyard/switchyard.yaml", "serve --roles work"],
  }),
  command("dev", "", "start the gateway with simulated vendors; no keys needed", { examples: ["dev"] }),
  command("config check", "[FILE]", "check a configuration and print its problems", {
    options: [CONFIG],
    examples: ["config check", "config check new.yaml"],
  }),
  command("config schema", "", "print a JSON Schema of configuration files, by which editors complete and check them", {
    examples: ["config schema > switchyard.schema.json"],
  }),
  command(
    "config apply",
    "FILE",
    "activate a file without a restart: the gateway's own file, or settings for the store; print what changed",
    { options: CHANGES, examples: ["config apply switchyard.yaml"] },
  ),
  command("config diff", "FILE", 'print what "apply" would change', {
    options: CHANGES,
    examples: ["config diff switchyard.yaml"],
  }),
  command("config show", "", "show the active configuration", { options: RUNNING, examples: ["config show"] }),
  command("config reload", "", "read the gateway's file again", { options: CHANGES, examples: ["config reload"] }),
  command("config versions", "", "list the settings in the store", {
    options: [...RUNNING, ...PAGES],
    examples: ["config versions --limit 5"],
  }),
  command("config restore", "VERSION", "activate earlier settings of the store again", {
    options: CHANGES,
    examples: ["config restore 3"],
  }),
  command("store migrate", "", "add to the tables in PostgreSQL what this version needs", {
    options: [CONFIG],
    examples: ["store migrate --config switchyard.yaml"],
  }),
  command(
    "store copy",
    "kv:PATH [postgres://…]",
    "copy the store of a stopped gateway into an empty PostgreSQL database",
    { options: [CONFIG], examples: ["store copy kv:./data/switchyard.db postgres://switchyard@db.example/switchyard"] },
  ),
  command("backup", "FILE", "write the store, its journal of charges and the log of requests to one file", {
    options: [CONFIG, flag("files", "add the files of results")],
    examples: ["backup switchyard.backup", "backup switchyard.backup --files"],
  }),
  command("restore", "FILE", "put a backup in place", {
    options: [CONFIG, flag("replace", "move what is there aside")],
    examples: ["restore switchyard.backup", "restore switchyard.backup --replace"],
  }),
  command(
    "import",
    "litellm|bifrost|openrouter-models FILE",
    "write switchyard.yaml from another gateway's configuration, and say what could not be carried",
    {
      options: [
        option("output", "FILE", "the file to write; default switchyard.yaml"),
        option("env-file", "FILE", "the file for secrets; default .env"),
      ],
      examples: ["import litellm config.yaml", "import bifrost config.json --output new.yaml"],
    },
  ),
  command("models import", "FILE", "write models with prices from a price map in LiteLLM's format", {
    options: [
      option("providers", "LIST", "only models of these providers"),
      option("output", "FILE", "the file to write"),
    ],
    examples: ["models import model_prices.json --providers openai,anthropic"],
  }),
  command(
    "doctor",
    "",
    "check the configuration, the machine, the store and the providers, and say what to do",
    {
      options: [CONFIG, flag("offline", "call no vendor"), flag("json", "print JSON")],
      examples: ["doctor", "doctor --offline --json"],
    },
  ),
  command("completion", "bash|zsh|fish", "print a script that completes commands and options in a shell", {
    examples: ["completion bash > ~/.local/share/bash-completion/completions/switchyard"],
  }),
  command("version", "", "show the version, the commit and the version of Deno", { examples: ["version"] }),
  command("help", "[COMMAND]", "show all commands, or one with its options and examples", {
    examples: ["help", "help keys create"],
  }),
];
