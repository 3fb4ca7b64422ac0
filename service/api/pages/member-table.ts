import { html } from "hono/html";
import { memberOf, resolveSchema } from "../document-operations.ts";
import type { ApiDocument } from "../openapi-document.ts";
import { type Fragment, renderProse, valuesOf } from "./prose.ts";

/** request: what has to be sent, and what is taken where it is not, matters. answer: every member is there. */
type Side = "request" | "answer";

type Member = {
  /** Dotted; [] stands for each item of a list. */
  readonly name: string;
  /** What it has to be; empty where nothing is said of that. */
  readonly form: string;
  readonly meaning: string;
};

/** Deeper ones are left to the example. */
const MAX_DEPTH = 3;

/** The members of an object, those within them included: what each has to be and what it means. */
export function renderMemberTable(
  schema: unknown,
  { document, side }: { readonly document: ApiDocument; readonly side: Side },
): Fragment | string {
  const members = membersOf(schema, { document, side, prefix: "", depth: 1 });
  const shown = side === "request" ? members : members.filter(({ meaning }) => meaning !== "");
  if (shown.length === 0) return "";
  return html`<div class="scroll"><table class="members">
<thead><tr><th>Member</th>${side === "request" ? html`<th>Form</th>` : ""}<th>Meaning</th></tr></thead>
<tbody>${shown.map(
    ({ name, form, meaning }) => html`
<tr><td><code>${name}</code></td>${side === "request" ? html`<td>${form}</td>` : ""}<td>${renderProse(meaning)}</td></tr>`,
  )}</tbody>
</table></div>`;
}

type Place = {
  readonly document: ApiDocument;
  readonly side: Side;
  readonly prefix: string;
  readonly depth: number;
};

function membersOf(schema: unknown, place: Place): readonly Member[] {
  const { document, side, prefix, depth } = place;
  const object = plain(schema, document);
  const required = memberOf(object, "required");
  return Object.entries(memberOf(object, "properties") ?? {}).flatMap(([key, member]) => {
    const resolved = plain(member, document);
    const items = memberOf(resolved, "items");
    const name = `${prefix}${key}${items === undefined ? "" : "[]"}`;
    const isRequired = Array.isArray(required) && required.includes(key);
    const own = {
      name: `${prefix}${key}`,
      form: side === "request" ? formOf(resolved, isRequired) : "",
      meaning: [memberOf(member, "description") ?? memberOf(resolved, "description"), valuesOf(resolved)]
        .filter(Boolean)
        .join(": "),
    };
    if (depth === MAX_DEPTH) return [own];
    const within = membersOf(items ?? resolved, { ...place, prefix: `${name}.`, depth: depth + 1 });
    return [own, ...within];
  });
}

/** A schema without its reference and without its null, which alternatives stand for. */
function plain(schema: unknown, document: ApiDocument): unknown {
  const resolved = resolveSchema(schema, document);
  const alternatives = memberOf(resolved, "anyOf") ?? memberOf(resolved, "oneOf");
  if (!Array.isArray(alternatives)) return resolved;
  const [first, ...more] = alternatives.filter((one) => memberOf(one, "type") !== "null");
  return more.length === 0 && first !== undefined ? resolveSchema(first, document) : resolved;
}

/** Whether it has to be sent, what is taken where it is not, and its limits. */
function formOf(schema: unknown, isRequired: boolean): string {
  const standard = memberOf(schema, "default");
  const [least, most] = [memberOf(schema, "minLength"), memberOf(schema, "maxLength")];
  const [from, to] = [memberOf(schema, "minimum"), memberOf(schema, "maximum")];
  const items = memberOf(schema, "maxItems");
  return [
    isRequired ? "required" : "",
    typeOf(schema),
    typeof most === "number"
      ? `${typeof least === "number" ? `${least} to` : "at most"} ${grouped(most)} characters`
      : "",
    typeof from === "number" ? `from ${grouped(from)}` : "",
    typeof to === "number" ? `to ${grouped(to)}` : "",
    typeof items === "number" ? `at most ${items} items` : "",
    standard === undefined ? "" : `default ${JSON.stringify(standard)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function typeOf(schema: unknown): string {
  const type = memberOf(schema, "type");
  const names = Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : "";
  const format = memberOf(schema, "format");
  return typeof format === "string" ? `${names} (${format})` : names;
}

function grouped(count: number): string {
  return count.toLocaleString("en-GB");
}
