import type { VendorAnswers } from "./vendor_answers.ts";

/** What the files are written from. */
export interface Answers {
  readonly vendors: readonly VendorAnswers[];
  /** The project at Google Cloud, if a vendor needs one. */
  readonly project: string | null;
  /** The name of the admin key. */
  readonly admin: string;
  readonly account: string;
  /** USD. */
  readonly balance: string;
  readonly port: string;
}

/** The file of the configuration that is written. */
export const CONFIG_FILE = "switchyard.yaml";
/** The variable of the key for callers. */
export const CALLER_KEY = "SWITCHYARD_KEY";
/**
 * The variable of the admin key. `SWITCHYARD_ADMIN_KEY` would set `server.admin_key` as well, whose name is "default".
 */
const OWNER_KEY = "SWITCHYARD_OWNER_KEY";

/** The keys that `init` generates. */
export interface GeneratedKeys {
  readonly callerKey: string;
  readonly adminKey: string;
}

/** The text of `.env`. */
export function envFile({ vendors }: Answers, { callerKey, adminKey }: GeneratedKeys): string {
  const keys = vendors.flatMap(({ key }) => key === null ? [] : [[key.variable, key.value]]);
  const lines = [...keys, [OWNER_KEY, adminKey], [CALLER_KEY, callerKey]];
  return `# Secrets of ${CONFIG_FILE}, which "switchyard" reads when it starts in this folder.\n` +
    lines.map(([name, value]) => `${name}='${value}'\n`).join("");
}

/** The text of the configuration, without secrets. */
export function configFile(answers: Answers): string {
  const { vendors, admin, account, balance, port } = answers;
  const models = vendors.flatMap(modelEntries);
  const builtIn = "catalog: built_in # the built-in models of these providers, added to those of a section models";
  return `# Written by "switchyard init". "switchyard config check" checks changes.

server:
  port: ${port}
  admin_keys: # of the admin API, the commands and the console
    - { name: ${JSON.stringify(admin)}, role: owner, key: "\${${OWNER_KEY}}" }

accounts:
  - id: ${JSON.stringify(account)}
    balance: "${balance}" # USD when the account is created; later "switchyard accounts credit"
    keys: ["\${${CALLER_KEY}}"]

providers:
${vendors.map((each) => providerEntry(each, answers)).join("")}
${builtIn}
${models.length === 0 ? "" : `\nmodels:\n${models.join("")}`}`;
}

function providerEntry({ vendor, key, address }: VendorAnswers, { project }: Answers): string {
  const fields = [
    `kind: ${vendor.kind}`,
    ...vendor.hasProject ? [`project: ${JSON.stringify(project)}`] : [],
    ...key === null ? [] : [`${vendor.hasProject ? "service_account_file" : "api_key"}: \${${key.variable}}`],
    ...address === null ? [] : [`base_url: ${JSON.stringify(address)}`],
  ];
  return `  ${vendor.name}:\n${fields.map((field) => `    ${field}\n`).join("")}`;
}

/** Entries of models that are not built in: a pattern for the vendor's list, or each by its name. */
function modelEntries({ vendor, models, price }: VendorAnswers): string[] {
  const prices = price === null ? null : `{ prompt: "${price.prompt}", completion: "${price.completion}" }`;
  if (vendor.models === "listed") return [`  - { id: "${vendor.name}/*", pricing: ${prices ?? "free"} }\n`];
  return models.map((model) => {
    const pricing = `, pricing: ${prices ?? "free"}`;
    const serves = `serves: [{ provider: ${vendor.name}, model: ${JSON.stringify(model)} }]`;
    return `  - { id: ${JSON.stringify(`${vendor.name}/${model}`)}${pricing}, ${serves} }\n`;
  });
}
