import { unavailable } from "../../access/problems.ts";

/** One fault of a request, in the form of FastAPI with pydantic v2. */
export type ValidationFault = {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
};

/** A request whose path, query or body does not fit the schema: answered 422 with every fault in field order. */
export class ValidationFailed extends Error {
  override readonly name = "ValidationFailed";
  readonly faults: readonly ValidationFault[];

  constructor(faults: readonly ValidationFault[]) {
    super(`request refused for ${faults.length} fault(s)`);
    this.faults = faults;
  }

  /** The 422 body. */
  render(): { readonly detail: readonly ValidationFault[] } {
    return { detail: this.faults };
  }
}

/** The fault of a value that no schema expresses, with the reason. */
export function valueFault(loc: ValidationFault["loc"], input: unknown, error: string): ValidationFault {
  return { type: "value_error", loc, msg: `Value error, ${error}`, input, ctx: { error } };
}

const STRING_LIMIT = 256;
const STRUCTURE_LIMIT_BYTES = 2048;

/** The caller's value for a fault: strings are cut at 256 characters, objects and arrays over 2 KiB become null. */
export function echoInput(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "string") return value.slice(0, STRING_LIMIT);
  if (typeof value === "object" && value !== null && exceeds(value, STRUCTURE_LIMIT_BYTES)) return null;
  return value;
}

// Walks with its own stack and a budget, because JSON.stringify overflows the stack on hostile nesting.
function exceeds(root: object, limit: number): boolean {
  const open: unknown[] = [root];
  let bytes = 0;
  while (open.length > 0 && bytes <= limit) {
    const value = open.pop();
    if (typeof value === "object" && value !== null) {
      bytes += 2;
      for (const [key, member] of Object.entries(value)) {
        bytes += Array.isArray(value) ? 1 : Buffer.byteLength(key) + 4;
        open.push(member);
        if (bytes > limit) break;
      }
    } else {
      bytes += Buffer.byteLength(JSON.stringify(value) ?? "null");
    }
  }
  return bytes > limit;
}

const RETRY_AFTER_SECONDS = 10;

/** The guard of URLs that callers name. */
export type UrlGuard = {
  /** Why the guard refuses the URL; null if it does not. unresolved: no name server answers now. */
  refusal(
    url: string,
  ): Promise<{ readonly kind: "refused"; readonly error: string } | { readonly kind: "unresolved" } | null>;
};

/** Throws the 422 of a URL that the guard refuses, or a 503 if no name server answers for its host, before anything is charged. */
export async function refuseUrl(
  {
    loc,
    given,
    asked = given,
  }: { readonly loc: readonly string[]; readonly given: string; readonly asked?: string },
  refusal: UrlGuard["refusal"],
): Promise<void> {
  const refused = await refusal(asked);
  if (refused === null) return;
  if (refused.kind === "unresolved")
    throw unavailable("names-unavailable", `No name server answers for the host of ${loc.at(-1)}.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  throw new ValidationFailed([valueFault(loc, echoInput(given), refused.error)]);
}
