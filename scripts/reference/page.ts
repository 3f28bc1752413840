import { factsOf, type SettingFacts } from "../../src/platform/lib/settings/setting.ts";
import { formattedMarkdown } from "../formatted_markdown.ts";
import { allSettings, type Setting } from "./settings.ts";
import { type Default, defaultOf, exampleOf, expectationOf, isNumeric, takes, unitIn } from "./values.ts";

/** A setting with everything that the page says about it. */
interface DescribedSetting {
  readonly path: string;
  readonly text: string;
  /** What is expected, as problems say it. */
  readonly value: string;
  /** Null for a value that is no number. */
  readonly unit: string | null;
  readonly fallback: Default;
  /** What leaving it out means, where {@linkcode fallback} is derived. */
  readonly otherwise: string | null;
  /** As an operator would write it. */
  readonly example: unknown;
  /** Whether a reload applies a change. */
  readonly isLive: boolean;
}

/** What is missing or wrong in the entries of the settings, such as a text or a valid example. */
export function problemsOfTexts(): string[] {
  return allSettings().flatMap(problemsOfSetting);
}

function problemsOfSetting(setting: Setting): string[] {
  const facts = factsOf(setting.schema);
  if (facts === null) return [`${setting.path}: is not made by setting(), so it has no text`];
  const { value, unit, fallback, otherwise, example } = described(setting, facts);
  const problems: string[] = [];
  if (isNumeric(value) && unit === null) problems.push("has no unit");
  if (unitIn(value) !== null && facts.unit !== undefined) problems.push("has a unit in its schema already");
  if (example === undefined) problems.push("has no example");
  else if (!takes(setting.schema, withoutVariables(example))) problems.push("does not take its example");
  if (fallback.kind === "derived" && otherwise === null) problems.push("does not say what its absence means");
  if (fallback.kind !== "derived" && facts.otherwise !== undefined) {
    problems.push("has a default in its schema already");
  }
  return problems.map((problem) => `${setting.path}: ${problem}`);
}

/** All settings with everything that the page says about them. */
function describedSettings(): DescribedSetting[] {
  return allSettings().map((setting) => described(setting, factsOf(setting.schema) ?? { text: "" }));
}

function described({ path, schema, isLive }: Setting, facts: SettingFacts): DescribedSetting {
  const value = expectationOf(schema);
  const unit = unitIn(value) ?? facts.unit ?? null;
  const fallback = defaultOf(schema);
  return {
    path,
    text: facts.text,
    value,
    unit,
    fallback,
    otherwise: facts.otherwise ?? null,
    example: facts.example ?? exampleOf(schema, fallback),
    isLive,
  };
}

/** A variable's value is a secret of 32 characters, or a part of an address. */
function withoutVariables(example: unknown): unknown {
  return JSON.parse(JSON.stringify(example).replace(/\$\{\w+\}/g, "0123456789abcdef0123456789abcdef"));
}

const HEAD = `# Configuration reference

Every setting of \`switchyard.yaml\`. [configuration.md](configuration.md) explains them, with an example. This page
is written by \`deno task reference\` from the schemas that check the file.

- **required**: in each entry or optional section that is there.
- \`NAME\` stands for a name that you choose, \`[]\` for each item of a list.
- **Value** is what a [problem](configuration.md#problems) would say is expected. A size is bytes, or a number with B KB MB
  GB KiB MiB GiB.
- **Change**: \`reload\` takes effect [without a restart](configuration.md#changing-without-restart), \`restart\` at the next
  start.
- \`\${NAME}\` in an example is a [variable of the environment](configuration.md#values-from-the-environment).
`;

/** The page, by its path in the repository. */
export const REFERENCE_PAGE = "docs/configuration-reference.md";

/** The page as Markdown, as `deno fmt` leaves it. */
export async function formattedReference(): Promise<string> {
  return await formattedMarkdown(referencePage());
}

function referencePage(): string {
  const sections = Map.groupBy(describedSettings(), ({ path }) => sectionOf(path));
  const parts = [...sections].map(([name, settings]) =>
    [
      `## ${name}`,
      "",
      "| Setting | Meaning | Value | Unit | Default | Example | Change |",
      "| --- | --- | --- | --- | --- | --- | --- |",
      ...settings.map(rowOf),
    ].join("\n")
  );
  return [HEAD, ...parts].join("\n") + "\n";
}

/** The settings of the store and the files have no fields, and share a section of the page. */
function sectionOf(path: string): string {
  const [name = ""] = path.split(/[.[]/);
  return /^(store|files)/.test(name) ? "store and files" : name;
}

function rowOf({ path, text, value, unit, fallback, otherwise, example, isLive }: DescribedSetting): string {
  const absent = fallback.kind === "required" ? "**required**" : otherwise ?? defaultText(fallback, unit);
  const cells = [
    `\`${path}\``,
    linksFromReference(text),
    value,
    unit ?? "",
    linksFromReference(absent),
    code(example),
    isLive ? "reload" : "restart",
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Texts link to headings of the page that explains the settings. */
function linksFromReference(text: string): string {
  return text.replaceAll("](#", "](configuration.md#");
}

const BYTE_UNITS = [["GB", 1e9], ["MB", 1e6], ["KB", 1e3]] as const;

function defaultText(fallback: Default, unit: string | null): string {
  if (fallback.kind !== "value") return "";
  const { value } = fallback;
  if (typeof value === "number" && unit === "bytes") {
    const [name, size] = BYTE_UNITS.find(([, size]) => value >= size && value % size === 0) ?? ["", 1];
    return code(name === "" ? value : `${value / size}${name}`);
  }
  return code(value);
}

/** A value on one line, as YAML in flow style. */
function code(value: unknown): string {
  return `\`${flow(value)}\``;
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${flow(name)}: ${flow(field)}`);
    return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
  }
  // Text in quotes where YAML would read another type, or end the text.
  return typeof value === "string" && !/^[A-Za-z_./][\w./:-]*$/.test(value) ? JSON.stringify(value) : String(value);
}
