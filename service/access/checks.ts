import { fault, fine, type Verdict } from "../check.ts";

/** Whether the chain has the contracts of the schemes that are to be offered. */
export function judgeSchemes(
  schemes: readonly { readonly scheme: string; readonly hasCode: boolean }[],
): readonly Verdict[] {
  const missing = schemes.filter(({ hasCode }) => !hasCode);
  if (missing.length === 0) return [fine("code at the addresses of all schemes of X402_SCHEMES")];
  return missing.map(({ scheme }) =>
    fault(`no contract of ${scheme} on this chain`, "take it out of X402_SCHEMES: nothing would be paid"),
  );
}
