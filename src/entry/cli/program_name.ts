/**
 * How a command begins in the folder of this process: a clone of the repository has no program `switchyard`, and a host
 * with only Node has no `deno`.
 *
 * @param execPath The path of Deno.
 * @param isInstalled Whether this is the package or an executable.
 */
export function programOf(execPath: string, isInstalled: boolean): string {
  if (isInstalled) return "switchyard";
  const isRunByNpx = /[\\/]_npx[\\/]/.test(execPath);
  return `${isRunByNpx ? `npx -y deno@${Deno.version.deno}` : "deno"} task switchyard`;
}
