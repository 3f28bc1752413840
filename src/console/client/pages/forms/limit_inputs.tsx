import { Field } from "../../components/action_form.tsx";
import { TEXTS } from "../../texts.ts";
import type { LimitTexts } from "./limit_fields.ts";

const PERIODS = ["day", "week", "month", "total"] as const;
const BALANCES = ["prepaid", "unlimited"] as const;
const WEBHOOK_FORMATS = ["service", "openai"] as const;
const CAPTURES = ["", "none", "errors", "all"] as const;

/** The fields for the settings of a key or an account. */
export function LimitInputs({ holder, texts = {}, isOpen = false }: {
  readonly holder: "key" | "account";
  /** What the fields start with. Default: nothing. */
  readonly texts?: LimitTexts;
  /** Whether all fields are shown at once. Default: false. */
  readonly isOpen?: boolean;
}) {
  const input = (name: string, title: string, placeholder = "") => (
    <Field name={title}>
      <input name={name} defaultValue={texts[name] ?? ""} placeholder={placeholder} autocomplete="off" />
    </Field>
  );
  const { accounts: names } = TEXTS;
  return (
    <>
      {input("name", names.name)}
      {input("rpm", names.rpm)}
      {input("budget", names.budgetAmount)}
      <Field name={names.budgetPer}>
        <select name="per">
          {PERIODS.map((each) => (
            <option key={each} value={each} selected={each === texts.per}>{names.periods[each]}</option>
          ))}
        </select>
      </Field>
      <details class="further" open={isOpen}>
        <summary>{names.furtherLimits}</summary>
        <div class="further-fields">
          {input("tpm", names.tpm)}
          {input("concurrency", names.concurrency)}
          {input("models", names.models, "openai/*, fast")}
          {input("endpoints", names.endpoints, "chat_completions, messages")}
          {input("providers", names.providers)}
          {input("ip_allow", names.ipAllow, "10.0.0.0/8")}
          <Field name={names.capture}>
            <select name="capture">
              {CAPTURES.map((each) => (
                <option key={each} value={each} selected={each === (texts.capture ?? "")}>
                  {names.captures[each]}
                </option>
              ))}
            </select>
          </Field>
          {holder === "account" && (
            <Field name={names.balance}>
              <select name="balance">
                {BALANCES.map((each) => (
                  <option key={each} value={each} selected={each === texts.balance}>{names.balances[each]}</option>
                ))}
              </select>
            </Field>
          )}
          {holder === "account" && input("overdraft", names.overdraft)}
          {holder === "account" && input("notification_url", names.notificationUrl, "https://example.com/hook")}
          {holder === "account" && (
            <Field name={names.webhookFormat}>
              <select name="webhook_format">
                {WEBHOOK_FORMATS.map((each) => (
                  <option key={each} value={each} selected={each === (texts.webhook_format ?? "service")}>
                    {names.webhookFormats[each]}
                  </option>
                ))}
              </select>
            </Field>
          )}
          {input("expires_at", names.expiresAt, "2027-01-31")}
          <Field name={names.metadata}>
            <textarea
              name="metadata"
              rows={2}
              placeholder={names.metadataExample}
              defaultValue={texts.metadata ?? ""}
            />
          </Field>
        </div>
      </details>
    </>
  );
}
