import { NO_UPDATE_CHECK } from "./run_flags.ts";

/**
 * Markdown as `deno fmt` leaves it.
 *
 * @throws {Error} If the formatter fails.
 */
export async function formattedMarkdown(text: string): Promise<string> {
  const formatter = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext=md", "--line-width=120", "-"],
    env: NO_UPDATE_CHECK,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const output = formatter.output();
  const input = formatter.stdin.getWriter();
  await input.write(new TextEncoder().encode(text));
  await input.close();
  const { success, stdout } = await output;
  if (!success) throw new Error("Cannot format the page");
  return new TextDecoder().decode(stdout);
}
