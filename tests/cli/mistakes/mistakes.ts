import { ADMIN_KEY, KEY, type Mistake, UNKNOWN_KEY } from "./place.ts";

/** A mistake in the configuration. */
function inConfig(name: string, change: (text: string) => string): Mistake {
  return {
    name,
    answer: async (place) => await place.run("config", "check", "--config", await place.write(change)),
  };
}

const replacing = (part: string, by: string) => (text: string) => text.replace(part, by);
const adding = (end: string) => (text: string) => text + end;

/** Mistakes in the configuration file. */
export const CONFIG_MISTAKES: readonly Mistake[] = [
  inConfig("tab in YAML", adding("limits:\n\tmemory: 1GiB\n")),
  inConfig("broken indentation", adding("   limits: { memory: 1GiB }\n")),
  inConfig("unclosed brace", adding("limits: { memory: 1GiB\n")),
  inConfig("unknown key (typo)", replacing("api_key: k1", "apikey: k1")),
  inConfig("wrong price: a number per million", replacing('"0.000001"', "1.25")),
  inConfig("wrong price: in quotes per million (2.50)", replacing('"0.000001"', '"2.50"')),
  inConfig("wrong price: comma", replacing('"0.000001"', '"0,000001"')),
  inConfig("unknown kind", replacing("kind: openai", "kind: opneai")),
  inConfig("unknown provider in serves", replacing("provider: openai, model", "provider: opneai, model")),
  inConfig("environment variable not set", replacing("api_key: k1", 'api_key: "${OPENAI_KEY_X}"')),
  inConfig("model id without slash", replacing("id: openai/gpt-5", "id: gpt-5")),
  inConfig("model twice", adding("  - { id: openai/gpt-5, pricing: free, serves: [{ provider: openai }] }\n")),
  inConfig("alias that points nowhere", adding("aliases: { fast: openai/gpt-9 }\n")),
  inConfig("short admin key", replacing(ADMIN_KEY, "admin")),
  inConfig("base_url without scheme", (text) => text.replace(/base_url: "[^"]*"/, 'base_url: "127.0.0.1:9"')),
  inConfig(
    "LiteLLM's own file given",
    () => "model_list:\n  - model_name: gpt-5\n    litellm_params: { model: openai/gpt-5 }\n",
  ),
  {
    name: "file does not exist",
    answer: (place) => place.run("serve", "--config", `${place.folder}/nothere.yaml`),
  },
  {
    name: "folder in place of a file",
    answer: async (place) => {
      await Deno.mkdir(`${place.folder}/folder`);
      return await place.run("serve", "--config", `${place.folder}/folder`);
    },
  },
];

/** Mistakes on the command line, while no gateway runs. */
export const COMMAND_MISTAKES: readonly Mistake[] = [
  { name: "unknown command", answer: (place) => place.run("account", "list") },
  { name: "unknown option", answer: (place) => place.run("serve", "--prot", "9") },
  {
    name: "unknown option of a command of the admin API",
    answer: (place) => place.run("keys", "create", "acme", "--budgets", "1"),
  },
  { name: "option without its value", answer: (place) => place.run("doctor", "--config") },
  { name: "missing argument", answer: (place) => place.run("accounts", "create") },
  {
    name: "command without a gateway and store",
    // In its own folder: where "dev" has run, the answer names its store, too.
    answer: (place) => place.runProcess("accounts", "list", "--config", `${place.folder}/switchyard.yaml`),
  },
  {
    name: "port in use",
    answer: async (place) => {
      const { hostname, port } = new URL(place.address);
      using _listener = Deno.listen({ hostname, port: Number(port) });
      return await place.runProcess("serve", "--config", await place.write());
    },
  },
  {
    name: "host of another machine",
    answer: async (place) => {
      const path = await place.write((text) => text.replace("{ port: ", "{ host: 203.0.113.9, port: "));
      return (await place.runProcess("serve", "--config", path)).replace(/:\d+ /, ":PORT ");
    },
  },
  {
    name: "store folder cannot be written",
    answer: async (place) => {
      const path = await place.write((text) => text.replace(/store: .*/, "store: kv:/proc/nope/s.db"));
      return await place.runProcess("serve", "--config", path);
    },
  },
  {
    name: "PostgreSQL not there",
    answer: async (place) => {
      const path = await place.write((text) => text.replace(/store: .*/, "store: postgres://u:pw@127.0.0.1:9/db"));
      return await place.runProcess("serve", "--config", path);
    },
  },
];

const CHAT = { model: "openai/gpt-5", messages: [{ role: "user", content: "hi" }] };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const OWN = bearer(KEY);

function chat(name: string, headers: Record<string, string>, body: unknown = CHAT): Mistake {
  return { name, answer: (place) => place.send("/v1/chat/completions", { headers, body }) };
}

function command(name: string, ...words: string[]): Mistake {
  return { name, answer: (place) => place.run(...words) };
}

/** Mistakes at a gateway that runs. */
export const GATEWAY_MISTAKES: readonly Mistake[] = [
  {
    name: "second gateway on the same store",
    answer: async (place) => {
      const path = await place.write((text) => text.replace(/port: \d+/, "port: 0"));
      return await place.runProcess("serve", "--config", path);
    },
  },
  chat("no key", {}),
  chat("wrong key", bearer(UNKNOWN_KEY)),
  chat("key without Bearer", { authorization: KEY }),
  chat("the admin key as API key", bearer(ADMIN_KEY)),
  {
    name: "an API key as admin key",
    answer: (place) => place.send("/admin/v1/accounts", { method: "GET", headers: OWN }),
  },
  chat("typo in model", OWN, { ...CHAT, model: "openai/gtp-5" }),
  chat("vendor's bare model name", OWN, { ...CHAT, model: "gpt-5" }),
  chat("no model", OWN, { messages: CHAT.messages }),
  chat("messages is a string", OWN, { ...CHAT, messages: "hi" }),
  chat("broken JSON", OWN, '{"model":"openai/gpt-5",}'),
  chat("curl without Content-Type", { ...OWN, "content-type": "application/x-www-form-urlencoded" }),
  { name: "/v1 forgotten", answer: (place) => place.send("/chat/completions", { headers: OWN, body: CHAT }) },
  { name: "/v1 twice", answer: (place) => place.send("/v1/v1/chat/completions", { headers: OWN, body: CHAT }) },
  {
    name: "Anthropic path at the root",
    answer: (place) => place.send("/v1/messages", { headers: OWN, body: { ...CHAT, max_tokens: 5 } }),
  },
  {
    name: "GET in place of POST",
    answer: (place) => place.send("/v1/chat/completions", { method: "GET", headers: OWN }),
  },
  { name: "the root page", answer: (place) => place.send("/", { method: "GET" }) },
  {
    name: "no balance",
    answer: async (place) => {
      await place.run("accounts", "create", "poor", "--balance", "0");
      const { secret } = await place.newKey("poor");
      return await place.send("/v1/chat/completions", { headers: bearer(secret), body: CHAT });
    },
  },
  {
    name: "expired key",
    answer: async (place) => {
      const expires = Math.ceil(Date.now() / 1_000) + 1;
      const { secret } = await place.newKey("acme", "--expires", String(expires));
      const send = () => place.send("/v1/chat/completions", { headers: bearer(secret), body: CHAT });
      let answer = await send();
      // Ends when the key has expired.
      while (answer.startsWith("200 ")) answer = await send();
      return answer;
    },
  },
  command("expiry in the past", "keys", "create", "acme", "--expires", "2020-01-01"),
  command("bad budget", "keys", "create", "acme", "--budget", "20/fortnight"),
  command("budget of a word", "keys", "create", "acme", "--budget", "much/month"),
  command("requests a minute of a word", "keys", "create", "acme", "--rpm", "many"),
  command("account twice", "accounts", "create", "acme"),
  command("unknown account", "keys", "create", "acne"),
  command("credit for an unknown account", "accounts", "credit", "acne", "10"),
  command("credit of a word", "accounts", "credit", "acme", "ten"),
  command("id of an account with a space", "accounts", "create", "acme corp"),
  {
    name: "revoked key",
    answer: async (place) => {
      const { id, secret } = await place.newKey("acme");
      await place.run("keys", "revoke", "acme", id);
      return await place.send("/v1/chat/completions", { headers: bearer(secret), body: CHAT });
    },
  },
  {
    name: "name of a key that is misspelled",
    answer: async (place) => {
      await place.newKey("acme", "--name", "laptop");
      return await place.run("keys", "show", "acme", "labtop");
    },
  },
  {
    name: "name of two keys",
    answer: async (place) => {
      await place.newKey("acme", "--name", "twin");
      await place.newKey("acme", "--name", "twin");
      return await place.run("keys", "revoke", "acme", "twin");
    },
  },
  {
    name: "endpoint that the model lacks",
    answer: (place) => place.send("/v1/embeddings", { headers: OWN, body: { model: "openai/gpt-5", input: "hi" } }),
  },
  command("unknown request", "explain", "req_0199"),
  {
    name: "wrong admin key",
    answer: async (place) => {
      const path = await place.write((text) => text.replace(ADMIN_KEY, "wrong-0123456789abcdef"));
      return await place.run("accounts", "list", "--config", path);
    },
  },
  command("ledger verify while it runs", "ledger", "verify"),
  {
    name: "restore while it runs",
    answer: async (place) => {
      const backup = `${place.folder}/backup.tar`;
      await place.run("backup", backup);
      return await place.run("restore", backup);
    },
  },
  {
    name: "vendor's key wrong",
    answer: async (place) => {
      await place.write((text) => text.replace("api_key: k1", "api_key: bad-key"), "switchyard.yaml");
      await place.run("config", "reload");
      const answer = await place.send("/v1/chat/completions", { headers: OWN, body: CHAT });
      return `${answer}\n${await place.run("providers", "test", "openai")}`;
    },
  },
  {
    name: "vendor not there",
    answer: async (place) => {
      const change = (text: string) => text.replace(/base_url: "[^"]*"/, 'base_url: "http://127.0.0.1:9"');
      await place.write(change, "switchyard.yaml");
      await place.run("config", "reload");
      const answer = await place.send("/v1/chat/completions", { headers: OWN, body: CHAT });
      return `${answer}\n${await place.run("providers", "test", "openai")}`;
    },
  },
  {
    name: "reload of a broken file",
    answer: async (place) => {
      await place.write((text) => `${text}x: [`, "switchyard.yaml");
      const answer = await place.run("config", "reload");
      await place.write((text) => text, "switchyard.yaml");
      return answer;
    },
  },
];

/** Mistakes after the gateway has stopped. */
export const STOPPED_MISTAKES: readonly Mistake[] = [
  {
    name: "restore of something else",
    answer: async (place) => {
      await Deno.writeTextFile(`${place.folder}/notes.txt`, "x\n");
      return await place.run("restore", `${place.folder}/notes.txt`);
    },
  },
  {
    name: "restore where a store exists",
    answer: (place) => place.run("restore", `${place.folder}/backup.tar`),
  },
  {
    name: "restore of a backup that is cut short",
    answer: async (place) => {
      const whole = await Deno.readFile(`${place.folder}/backup.tar`);
      await Deno.writeFile(`${place.folder}/cut.tar`, whole.subarray(0, 4_096));
      return await place.run("restore", `${place.folder}/cut.tar`, "--replace");
    },
  },
  { name: "restore of no file", answer: (place) => place.run("restore", `${place.folder}/nothing.tar`) },
];
