import { html } from "hono/html";
import { z } from "zod";
import type { Grade, RoutingAction } from "../../model/score/record.ts";
import { dayWords, GRADES, levelWords, routeWords, strangeText } from "./page-words.ts";
import type { Fragment } from "./prose.ts";

const ACTIONS = ["instant_settle", "escrow", "reject"] as const satisfies readonly RoutingAction[];
const LEVELS = ["HIGH", "MEDIUM", "LOW"] as const;
const THREAT_ACTIONS = { ignore: "Ignore the list", escrow: "Escrow", reject: "Reject" } as const;

const policySchema = z.object({
  instant_grades: z.array(z.string()),
  escrow_grades: z.array(z.string()),
  escrow_disabled: z.boolean(),
  allowlist: z.array(z.string()),
  confidence_overrides: z.record(z.string(), z.record(z.string(), z.string())),
  insufficient_action: z.enum(ACTIONS),
  max_instant_usd: z.number().nullable(),
  safe_amount_multiple: z.number(),
  min_confidence_for_instant: z.enum(LEVELS).nullable(),
  threat_action: z.enum(["ignore", "escrow", "reject"]),
  updated_at: z.string().nullable(),
});

/** Numbers of a form are texts, which may be none. */
const sentSchema = policySchema
  .omit({ updated_at: true, confidence_overrides: true })
  .extend({ max_instant_usd: z.string().nullable(), safe_amount_multiple: z.string() });

/** A key's routing policy as the interface answers it, or as a form had it, with its entity tag. */
export type KeyPolicy = Omit<z.infer<typeof policySchema>, "max_instant_usd" | "safe_amount_multiple"> & {
  readonly max_instant_usd: number | string | null;
  readonly safe_amount_multiple: number | string;
  readonly tag: string;
};

/** Reads the answer of GET /ahs/route/policy. Throws on any other shape. */
export function policyIn(answer: unknown, tag: string): KeyPolicy {
  return { ...policySchema.parse(answer), tag };
}

/** The body of PUT /ahs/route/policy for a sent form. Texts stay as they are: the endpoint checks them. */
export function policyOfForm(form: URLSearchParams): Readonly<Record<string, unknown>> {
  const chosen = (action: RoutingAction) => GRADES.filter((grade) => form.get(`grade-${grade}`) === action);
  const optional = (name: string) =>
    form.get(name)?.trim() === "" ? null : (form.get(name)?.trim() ?? null);
  return {
    instant_grades: chosen("instant_settle"),
    escrow_grades: chosen("escrow"),
    escrow_disabled: form.get("escrow_disabled") === "on",
    insufficient_action: form.get("insufficient_action"),
    max_instant_usd: optional("max_instant_usd"),
    safe_amount_multiple: optional("safe_amount_multiple") ?? "0",
    min_confidence_for_instant: optional("min_confidence_for_instant"),
    threat_action: form.get("threat_action"),
    allowlist: (form.get("allowlist") ?? "").split(/[\s,]+/).filter((wallet) => wallet !== ""),
    confidence_overrides: overridesIn(form.get("confidence_overrides") ?? ""),
  };
}

/** A policy as a refused form had it, to be shown again. */
export function policyAsSent(form: URLSearchParams, stored: KeyPolicy): KeyPolicy {
  const sent = policyOfForm(form);
  const { data } = sentSchema.safeParse(sent);
  return data === undefined ? stored : { ...stored, ...data };
}

/** The texts that a form takes: the field's label, and the form of a valid one. */
const TEXT_FIELDS: Readonly<Record<string, readonly [label: string, expected: string]>> = {
  max_instant_usd: ["Largest amount in USD", "a number with at most 6 decimals, or nothing for no limit"],
  safe_amount_multiple: ["Multiple of the safe amount", "a number with at most 6 decimals"],
  allowlist: ["Wallets that always settle at once", "0x and 40 hexadecimal digits"],
};

const faultsSchema = z.object({
  detail: z
    .array(z.object({ type: z.string(), loc: z.array(z.unknown()), msg: z.string(), input: z.unknown() }))
    .min(1),
});

/** The first fault of a refused policy, by the field's label; null for another refusal. */
export function policyFault(answer: unknown): string | null {
  const [fault] = faultsSchema.safeParse(answer).data?.detail ?? [];
  if (fault === undefined) return null;
  const [label, expected] = TEXT_FIELDS[String(fault.loc[1])] ?? [];
  if (label === undefined) return fault.msg;
  return fault.type === "string_pattern_mismatch"
    ? `${label}: expected ${expected}, got ${strangeText(String(fault.input), 80)}.`
    : `${label}: ${fault.msg.replace(/^Value error, /, "")}.`;
}

/** The overrides that the form carries unchanged. */
function overridesIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

/** The form that changes a routing policy; null where the policy could not be read. */
export function renderPolicyEditor(policy: KeyPolicy | null, fault: string | null): Fragment {
  if (policy === null) return html`<p>The routing policy cannot be read now.</p>`;
  const { confidence_overrides: overrides } = policy;
  return html`${fault === null ? "" : html`<div class="notice alarm" role="alert"><p><b>The policy was not saved.</b> ${fault}</p></div>`}
<p class="quiet">${policy.updated_at === null ? "You have the default policy." : `Saved on ${dayWords(policy.updated_at.slice(0, 10))}.`} Sanctioned wallets are always rejected.</p>
<form method="post" action="/account#policy" class="policy"><input type="hidden" name="action" value="policy"><input type="hidden" name="tag" value="${policy.tag}"><input type="hidden" name="confidence_overrides" value="${JSON.stringify(overrides)}">
<fieldset><legend>By grade</legend><div class="choices">${GRADES.map((grade) => select(`grade-${grade}`, `Grade ${grade}`, { options: ACTION_NAMES, chosen: actionOf(grade, policy) }))}${select("insufficient_action", "Not enough history", { options: ACTION_NAMES, chosen: policy.insufficient_action })}</div></fieldset>
<fieldset><legend>Limits of settling at once</legend><div class="choices">
<div class="field"><label for="max_instant_usd">Largest amount in USD</label><input id="max_instant_usd" name="max_instant_usd" inputmode="decimal" value="${policy.max_instant_usd ?? ""}" placeholder="no limit"></div>
<div class="field"><label for="safe_amount_multiple">Multiple of the safe amount</label><input id="safe_amount_multiple" name="safe_amount_multiple" inputmode="decimal" required value="${policy.safe_amount_multiple}"></div>
${select("min_confidence_for_instant", "Lowest confidence", { options: LEVEL_NAMES, chosen: policy.min_confidence_for_instant ?? "" })}
</div></fieldset>
<fieldset><legend>Exceptions</legend><div class="choices">
${select("threat_action", "Wallets on a list of threats", { options: THREAT_ACTIONS, chosen: policy.threat_action })}
<label class="check"><input type="checkbox" name="escrow_disabled"${policy.escrow_disabled ? html` checked` : ""}> Reject whatever would wait in escrow</label></div>
<div class="field"><label for="allowlist">Wallets that always settle at once, one address a line</label><textarea id="allowlist" name="allowlist" rows="3" spellcheck="false">${policy.allowlist.join("\n")}</textarea></div></fieldset>
${Object.keys(overrides).length === 0 ? "" : html`<p class="small">Overrides by confidence stay as they are: ${overrideWords(overrides)}.</p>`}
<button class="button">Save the policy</button></form>`;
}

const ACTION_NAMES = Object.fromEntries(ACTIONS.map((action) => [action, routeWords(action)]));
const LEVEL_NAMES = { "": "Any", ...Object.fromEntries(LEVELS.map((level) => [level, levelWords(level)])) };

function actionOf(grade: Grade, { instant_grades, escrow_grades }: KeyPolicy): RoutingAction {
  if (instant_grades.includes(grade)) return "instant_settle";
  return escrow_grades.includes(grade) ? "escrow" : "reject";
}

function select(
  name: string,
  label: string,
  { options, chosen }: { readonly options: Readonly<Record<string, string>>; readonly chosen: string },
): Fragment {
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">${Object.entries(options).map(([value, words]) => html`<option value="${value}"${value === chosen ? html` selected` : ""}>${words}</option>`)}</select></div>`;
}

function overrideWords(overrides: KeyPolicy["confidence_overrides"]): string {
  return Object.entries(overrides)
    .flatMap(([grade, levels]) =>
      Object.entries(levels).map(([level, action]) => `grade ${grade} with ${level} confidence: ${action}`),
    )
    .join("; ");
}
