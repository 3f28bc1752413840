/**
 * Writes the input fields of fal's video and image models, from the types of its newest official client: `deno task
 * fal-endpoints`. Requires npm and a package registry.
 */
import ts from "typescript";
import type { FalImageInputs } from "../../../src/vendors/upstreams/fal/image_inputs.ts";
import type { NamedInputs } from "../../../src/vendors/upstreams/shared/videos/named_inputs.ts";
import { itemAt } from "../../support/items.ts";

const VIDEOS = new URL("../../../src/vendors/upstreams/fal/endpoints.json", import.meta.url);
const IMAGES = new URL("../../../src/vendors/upstreams/fal/image_endpoints.json", import.meta.url);

/** Field names by their content, preferred first. */
const NAMES = {
  firstFrame: ["first_frame_url", "start_image_url", "first_image_url", "image_url"],
  lastFrame: ["last_frame_url", "end_image_url", "tail_image_url", "last_image_url"],
  images: ["reference_image_urls", "image_urls", "ref_image_urls", "input_image_urls"],
  videos: ["reference_video_urls", "video_urls"],
  audios: ["reference_audio_urls", "audio_urls"],
  sound: ["generate_audio", "generate_audio_switch", "enable_audio", "audio"],
} as const;

/** Inputs that a caller cannot send. A model that requires one has other inputs than prompts and references. */
const FOREIGN = ["video_url", "audio_url", "mask_url", "mask_video_url", "mask_image_url", "video", "text_input"];

/** What an image model may require from a caller: a prompt, and images in one of these fields. */
const IMAGE_NAMES = { image: ["image_url"], images: ["image_urls", "input_image_urls"] } as const;
const GIVEN: readonly string[] = ["prompt", ...IMAGE_NAMES.image, ...IMAGE_NAMES.images];

interface Field {
  readonly isOptional: boolean;
  readonly type: string;
}

const folder = await Deno.makeTempDir();
await Deno.writeTextFile(`${folder}/package.json`, "{}");
await npmInstall("@fal-ai/client@latest");
const path = `${folder}/node_modules/@fal-ai/client/src/types/endpoints.d.ts`;
const source = ts.createSourceFile(path, await Deno.readTextFile(path), ts.ScriptTarget.Latest, true);
await Deno.remove(folder, { recursive: true });

const aliases = new Map(
  source.statements.filter(ts.isTypeAliasDeclaration).map((each) => [each.name.text, each.type]),
);
const endpoints = [...fieldTypes(aliases.get("EndpointTypeMap"))].map(([address, both]) => {
  const sides = fieldTypes(both.type);
  return { address, inputs: fieldsOf(sides.get("input")?.type), output: fieldsOf(sides.get("output")?.type) };
}).filter(({ inputs }) => inputs.has("prompt"));

await writeTable(
  VIDEOS,
  endpoints.filter(({ inputs, output }) =>
    (output.has("video") || output.has("videos")) && !FOREIGN.some((name) => inputs.get(name)?.isOptional === false)
  ).map(({ address, inputs }) => [address, inputsOf(inputs)]),
);
await writeTable(
  IMAGES,
  endpoints.filter(({ inputs, output }) =>
    (output.has("image") || output.has("images")) &&
    [...inputs].every(([name, { isOptional }]) => isOptional || GIVEN.includes(name))
  ).map(({ address, inputs }) => [address, imageInputsOf(inputs)]),
);

/** Models with the same inputs are grouped. */
async function writeTable(path: URL, rows: readonly (readonly [address: string, inputs: unknown])[]): Promise<void> {
  const groups = Map.groupBy(rows.toSorted(([a], [b]) => a < b ? -1 : 1), ([, inputs]) => JSON.stringify(inputs));
  const table = [...groups].map(([inputs, members]) => ({
    inputs: JSON.parse(inputs),
    addresses: members.map(([address]) => address),
  }));
  await Deno.writeTextFile(path, `${JSON.stringify(table, null, 2)}\n`);
}

function imageInputsOf(fields: ReadonlyMap<string, Field>): FalImageInputs {
  const nameOf = (names: readonly string[]) => names.find((name) => fields.has(name)) ?? null;
  const isNeeded = (name: string) => fields.get(name)?.isOptional === false;
  const size = fields.get("image_size")?.type;
  return withoutGaps<FalImageInputs>({
    image: nameOf(IMAGE_NAMES.image),
    images: nameOf(IMAGE_NAMES.images),
    needsImage: [...IMAGE_NAMES.image, ...IMAGE_NAMES.images].some(isNeeded),
    takesPixels: size?.includes("ImageSize"),
    sizes: size?.includes("ImageSize") ? null : textsIn(size, /^\d+x\d+$/),
    ratios: textsIn(fields.get("aspect_ratio")?.type, /^\d+:\d+$/),
    formats: textsIn(fields.get("output_format")?.type, /^(png|jpeg|webp)$/),
    qualities: textsIn(fields.get("quality")?.type, /^\w+$/),
    backgrounds: textsIn(fields.get("background")?.type, /^\w+$/),
    takesCount: fields.get("num_images")?.type === "number",
  });
}

/** Returns the texts of a type that match; null if there are none. */
function textsIn(type: string | undefined, form: RegExp): string[] | null {
  const texts = [...(type ?? "").matchAll(/"([^"]+)"/g)].map((match) => itemAt(match, 1)).filter((text) =>
    form.test(text)
  );
  return texts.length === 0 ? null : texts;
}

function inputsOf(fields: ReadonlyMap<string, Field>): NamedInputs {
  const nameOf = (names: readonly string[]) => names.find((name) => fields.has(name)) ?? null;
  return withoutGaps<NamedInputs>({
    firstFrame: nameOf(NAMES.firstFrame),
    lastFrame: nameOf(NAMES.lastFrame),
    images: nameOf(NAMES.images),
    videos: nameOf(NAMES.videos),
    audios: nameOf(NAMES.audios),
    sound: nameOf(NAMES.sound.filter((name) => fields.get(name)?.type === "boolean")),
    duration: durationOf(fields.get("duration")?.type),
    takesRatio: fields.has("aspect_ratio"),
    takesSeed: fields.has("seed"),
    resolutions: wordsIn(fields.get("resolution")?.type),
  });
}

/** Returns the inputs that are defined. */
function withoutGaps<T>(inputs: Partial<Record<keyof T, unknown>>): T {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => value)) as T;
}

function durationOf(type: string | undefined): NamedInputs["duration"] {
  if (type === undefined) return undefined;
  if (/"\d+s"/.test(type)) return "text_with_unit";
  return type.includes("number") || /(^|\| )\d/.test(type) ? "number" : "text";
}

/** Returns the values of an enumeration; undefined for a missing field. */
function wordsIn(type: string | undefined): string[] | undefined {
  if (type === undefined) return undefined;
  const message = [...type.matchAll(/"([^"]+)"/g)].map((match) => itemAt(match, 1)).filter((word) =>
    /^\d+[pPkK]$/.test(word)
  );
  return message;
}

function fieldsOf(type: ts.TypeNode | undefined): ReadonlyMap<string, Field> {
  return new Map([...fieldTypes(type)].map(([name, { isOptional, type }]) => [
    name,
    { isOptional, type: type.getText().replace(/\s+/g, " ") },
  ]));
}

function fieldTypes(
  type: ts.TypeNode | undefined,
): ReadonlyMap<string, { readonly isOptional: boolean; readonly type: ts.TypeNode }> {
  if (type === undefined) return new Map();
  if (ts.isIntersectionTypeNode(type)) return new Map(type.types.flatMap((each) => [...fieldTypes(each)]));
  if (ts.isTypeReferenceNode(type)) return fieldTypes(aliases.get(type.typeName.getText()));
  if (!ts.isTypeLiteralNode(type)) return new Map();
  return new Map(
    type.members.filter(ts.isPropertySignature).map((member) => [
      (member.name as ts.Identifier | ts.StringLiteral).text,
      { isOptional: member.questionToken !== undefined, type: member.type! },
    ]),
  );
}

async function npmInstall(name: string): Promise<void> {
  const { success } = await new Deno.Command("npm", {
    args: ["install", "--ignore-scripts", "--no-audit", "--no-fund", name],
    cwd: folder,
    stdout: "null",
  }).output();
  if (!success) throw new Error(`Cannot install ${name}`);
}
