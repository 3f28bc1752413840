import type { JsonObject } from "../../../json.ts";
import type { FormFile, WrittenImageRequest } from "./picture_request.ts";
import { pythonArguments, pythonLiteral, typescriptLiteral, typescriptObject } from "../snippets/literals.ts";
import { openaiInPython, openaiInTypescript } from "../snippets/openai_client.ts";
import { KEY_VARIABLE, type Language, shellWord } from "../snippets/snippet.ts";

/**
 * A request for pictures as a program that writes them to files. The files of a form are expected beside it.
 *
 * @param baseUrl The gateway's public address, without a final slash.
 */
export function imageSnippet(language: Language, request: WrittenImageRequest, baseUrl: string): string {
  if (language === "curl") return curl(request, baseUrl);
  return language === "python" ? python(request, baseUrl) : typescript(request, baseUrl);
}

function curl({ path, fields, files }: WrittenImageRequest, baseUrl: string): string {
  const start = `curl ${shellWord(baseUrl + path)} \\
  --header "Authorization: Bearer $${KEY_VARIABLE}" \\
`;
  if (files.length === 0) {
    return `${start}  --header "Content-Type: application/json" \\
  --data-binary @- <<'JSON'
${JSON.stringify(fields, null, 2)}
JSON
`;
  }
  const parts = [
    // This option reads no file, whatever the text begins with.
    ...Object.entries(fields).map(([name, value]) => `--form-string ${shellWord(`${name}=${value}`)}`),
    ...files.map(({ field, name, file }) => `--form ${shellWord(`${field}=@${name};type=${file.mediaType}`)}`),
  ];
  return `${start}  ${parts.join(" \\\n  ")}
`;
}

function python({ fields, files }: WrittenImageRequest, baseUrl: string): string {
  const { known, untyped } = split(fields);
  const further = Object.keys(untyped).length > 0 && { extra_body: untyped };
  const images = files.filter(isImage).map(({ name }) => `open(${pythonLiteral(name)}, "rb")`);
  const mask = files.find((file) => !isImage(file));
  const opened = [
    ...images.length > 0 ? [`    image=[${images.join(", ")}],\n`] : [],
    ...mask === undefined ? [] : [`    mask=open(${pythonLiteral(mask.name)}, "rb"),\n`],
  ].join("");
  const call = pythonArguments({ ...known, ...further }).replace("(\n", () => `(\n${opened}`);
  return `import base64
${openaiInPython(baseUrl)}
result = client.images.${files.length === 0 ? "generate" : "edit"}${call}
for place, image in enumerate(result.data):
    with open(f"result-{place + 1}", "wb") as file:
        file.write(base64.b64decode(image.b64_json))
`;
}

function typescript({ fields, files }: WrittenImageRequest, baseUrl: string): string {
  const { known, untyped } = split(fields);
  const images = files.filter(isImage).map(({ name }) => `createReadStream(${typescriptLiteral(name)})`);
  const mask = files.find((file) => !isImage(file));
  const opened = [
    ...images.length > 0 ? [`    image: [${images.join(", ")}],\n`] : [],
    ...mask === undefined ? [] : [`    mask: createReadStream(${typescriptLiteral(mask.name)}),\n`],
  ].join("");
  const literal = typescriptObject(known, untyped).replace(/^\{\n?/, () => `{\n${opened}`);
  return `import { Buffer } from "node:buffer";
import { ${files.length === 0 ? "" : "createReadStream, "}writeFileSync } from "node:fs";
${openaiInTypescript(baseUrl)}
const result = await client.images.${files.length === 0 ? "generate" : "edit"}(${literal});
for (const [place, { b64_json }] of (result.data ?? []).entries()) {
  writeFileSync(\`result-\${place + 1}\`, Buffer.from(b64_json ?? "", "base64"));
}
`;
}

function isImage({ field }: FormFile): boolean {
  return field !== "mask";
}

/** The clients have no parameter for references. */
function split({ input_images, ...known }: JsonObject): { known: JsonObject; untyped: JsonObject } {
  return { known, untyped: input_images === undefined ? {} : { input_images } };
}
