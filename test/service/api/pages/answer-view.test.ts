import fc from "fast-check";
import { expect, test } from "vitest";
import { renderAnswer } from "../../../../service/api/pages/reports/answer-view.ts";

const LAYOUT = { first: ["summary"], columns: { rows: ["a", "b"] } };

test("a report shows every JSON answer, with its texts as text and without what a page must not say", () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom("<script>alert(1)</script>", "a\u202eb", `0x${"ab".repeat(20)}`),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.constant(null),
      tie("list"),
      tie("members"),
    ),
    list: fc.array(tie("value"), { maxLength: 4 }),
    members: fc.dictionary(
      fc.constantFrom("summary", "rows", "wei", "action", "week", "calls", "severity", "total_usd", "share"),
      tie("value"),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("summary", "rows", "steps", "window"), value), (answer) => {
      const html = String(renderAnswer(answer, LAYOUT));
      expect(html).not.toMatch(/<script|\u202e|undefined|\[object/);
    }),
    { numRuns: 50 },
  );
});

test("a report shows amounts, shares, times and findings as people read them", () => {
  const html = String(
    renderAnswer(
      {
        address: `0x${"12".repeat(20)}`,
        success_rate: 0.98,
        spent: { wei: "2411368784000", eth: "0.000002411368784", value_usd: 0.0072 },
        steps: [
          {
            severity: "high",
            action: "retry_transaction",
            description: "Send it again.",
            reason: "It passes now.",
          },
        ],
        seen: { at: "2026-11-20T09:00:00.000Z" },
        findings: [],
      },
      LAYOUT,
    ),
  );
  for (const words of [
    "<dt>Success rate</dt><dd>98%</dd>",
    "<dt>Spent</dt><dd>0.00000241137 ETH (less than 0.01 USD)</dd>",
    '<span class="chip alarm">high</span> <b><bdi>Send it again.</bdi></b>',
    "20 Nov 2026, 09:00 UTC",
    "<dt>Findings</dt><dd>none</dd>",
  ])
    expect(html).toContain(words);
});

test("a report shows amounts of a token by its decimals, and a failed transaction by its hash", () => {
  const token = `0x${"12".repeat(20)}`;
  const html = String(
    renderAnswer(
      {
        holdings: [
          { token, symbol: "DAI", decimals: 18, amount: "792808504426381320620", value_usd: 817.7 },
          { token, symbol: "?", decimals: null, amount: "7000", value_usd: null },
        ],
        not_retried: [{ failure: { hash: `0x${"ab".repeat(32)}` }, reason: "maybe_repaired", by: null }],
      },
      { first: [], columns: { not_retried: ["failure", "reason"] } },
    ),
  );
  for (const words of [
    '<td data-name="Amount">792.809</td>',
    '<td data-name="Amount"><bdi>7000</bdi></td>',
    '<td data-name="Value" class="number">817.70 USD</td>',
    `<td data-name="Failure"><code title="0x${"ab".repeat(32)}">`,
    '<td data-name="Reason">maybe repaired</td>',
  ])
    expect(html).toContain(words);
  expect(html).not.toContain("Decimals");
});
