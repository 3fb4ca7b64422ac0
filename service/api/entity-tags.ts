import { Problem } from "../access/problems.ts";

/** What a conditional request names: any state of a resource, or those of certain tags. */
type Condition = { readonly kind: "any" } | { readonly kind: "tags"; readonly tags: readonly EntityTag[] };

type EntityTag = { readonly weak: boolean; readonly opaque: string };

const LIST = /^\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/;

/**
 * The versions that an If-Match header allows (RFC 9110, 13.1.1: weak tags match nothing); null where it allows any, or is
 * absent. Throws a 400 for one that is malformed, since ignoring it would lose somebody's update.
 */
export function versionsToMatch(header: string | undefined): readonly string[] | null {
  if (header === undefined) return null;
  const condition = parseCondition(header);
  if (condition === null) {
    const given = header.slice(0, 128);
    throw new Problem("header-malformed", `If-Match: expected * or a list of entity tags, got "${given}".`);
  }
  if (condition.kind === "any") return null;
  return condition.tags.filter(({ weak }) => !weak).map(({ opaque }) => opaque);
}

/** Whether an If-None-Match header names this version (RFC 9110, 13.1.2: weak tags count); a malformed one names none. */
export function namesVersion(header: string | undefined, version: string): boolean {
  const condition = header === undefined ? null : parseCondition(header);
  if (condition === null) return false;
  return condition.kind === "any" || condition.tags.some(({ opaque }) => opaque === version);
}

function parseCondition(header: string): Condition | null {
  if (header.trim() === "*") return { kind: "any" };
  const tags: EntityTag[] = [];
  for (let rest = header; rest !== ""; ) {
    const found = LIST.exec(rest);
    if (found === null) return null;
    const [whole, weak, opaque] = found;
    tags.push({ weak: weak !== undefined, opaque: opaque ?? "" });
    rest = rest.slice(whole.length);
  }
  return tags.length === 0 ? null : { kind: "tags", tags };
}
