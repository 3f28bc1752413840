import { isOwner } from "../../session_state.ts";
import type { ConfigInForce, ConfigSetting } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { STORED_SECTIONS } from "./config_change.ts";
import { ownerOf } from "./owner_badge.tsx";

/**
 * Why a setting cannot be changed in the console; null if it can be.
 *
 * @param setting Undefined for a new one.
 */
export function readOnlyReason(
  setting: ConfigSetting | undefined,
  section: string,
  { file, is_read_only }: Pick<ConfigInForce, "file" | "is_read_only">,
): string | null {
  const { readOnly, ownedByFile, ownedByEnvironment, onlyOwners, onlyRestart } = TEXTS.configuration;
  if (is_read_only) return readOnly;
  const owner = setting === undefined ? null : ownerOf(setting);
  if (owner === "file") return ownedByFile(`${file ?? ""} ${setting?.path ?? section}`.trim());
  if (owner === "environment") return ownedByEnvironment;
  if (!STORED_SECTIONS.some((each) => each === section)) return onlyRestart;
  return isOwner() ? null : onlyOwners;
}
