import {
  accessLimitFields,
  CAPTURE_FIELD,
  INSTANT_FIELD,
  KEPT,
  METADATA_FIELD,
  NAME_FIELD,
  OVERDRAFT_FIELD,
  PROMPT_CACHING_FIELD,
  WEBHOOK_FORMAT_FIELD,
} from "../../limits/access_settings.ts";
import { setting } from "../../../platform/lib/settings/setting.ts";
import { receiverAddress } from "../../../platform/lib/settings/settings.ts";

interface Whose {
  /** A key or an account. */
  readonly whose: string;
  readonly expires: string;
  readonly metadata: Readonly<Record<string, string>>;
}

function fieldsOf({ whose, expires, metadata }: Whose) {
  return {
    name: setting(NAME_FIELD.nullish(), {
      text: `A name of ${whose} for people`,
      example: "ci",
      otherwise: KEPT,
    }),
    expires_at: setting(INSTANT_FIELD.nullish(), {
      text: `${expires}: a date, or Unix seconds`,
      example: "2027-01-31",
      otherwise: KEPT,
    }),
    metadata: setting(METADATA_FIELD.nullish(), {
      text: "Texts by name, which the gateway only stores",
      example: metadata,
      otherwise: KEPT,
    }),
    capture: setting(CAPTURE_FIELD.nullish(), {
      text: "Which requests have their bodies kept; needs `request_log.capture`",
      otherwise: KEPT,
    }),
    prompt_caching: setting(PROMPT_CACHING_FIELD.nullish(), {
      text: "Whether the gateway uses vendors' prompt caches by itself",
      example: "off",
      otherwise: KEPT,
    }),
    ...accessLimitFields(whose),
  };
}

/** The settings of a key, by the names that operators use. Null removes a setting. */
export const KEY_FIELDS = fieldsOf({
  whose: "the key",
  expires: "When the key becomes invalid",
  metadata: { team: "search" },
});

/** The settings of an account, by the names that operators use. Null removes a setting. */
export const ACCOUNT_FIELDS = {
  ...fieldsOf({
    whose: "the account",
    expires: "When all keys of the account become invalid",
    metadata: { customer: "C-17" },
  }),
  overdraft: setting(OVERDRAFT_FIELD.nullish(), {
    text: "How far the balance may fall below zero",
    example: "5.00",
    otherwise: KEPT,
  }),
  notification_url: setting(receiverAddress().nullish(), {
    text: "Gets the [notifications](webhooks.md#notifications) about the account",
    example: "https://example.com/hook",
    otherwise: KEPT,
  }),
  webhook_format: setting(WEBHOOK_FORMAT_FIELD.nullish(), {
    text: "The [body of events about batches](api/webhooks.md#format-of-openai)",
    example: "openai",
    otherwise: KEPT,
  }),
};
