import { checksumAddress } from "viem";
import { expect, test } from "vitest";
import { washWallet } from "../../../../service/reports/wash/wash.ts";
import { dirtyRows } from "../../model/features/archetypes.ts";
import { factsOf } from "../diagnosis/reports.ts";

test("what to do about a token names the token, each once", () => {
  const facts = factsOf(dirtyRows({ days: 60, seed: 7 }));
  const { issues, portfolio } = washWallet(facts, {
    exchanges: { sent: [], returned: [], truncated: false },
    received: { tokens: [], truncated: false },
    drawnTokens: new Set(),
  });
  if (portfolio.kind !== "held") throw new Error("expected a wallet that holds something");
  const unknown = portfolio.positions.filter(({ recognised }) => !recognised);
  const actions = issues
    .filter(({ category }) => category === "unrecognised_tokens")
    .map(({ action }) => action);
  expect(actions.length).toBeGreaterThan(0);
  expect(
    actions.map((action) =>
      unknown.filter(({ token }) => action.includes(checksumAddress(token))).map(({ token }) => token),
    ),
  ).toEqual(unknown.map(({ token }) => [token]));
});
