import { describe, expect, test } from "vitest";
import type { ScanNight } from "../../../../service/registries/nightly/service-records.ts";
import type { GradeChange } from "../../../../service/scores/ecosystem.sql.ts";
import type { Ecosystem } from "../../../../service/scores/ecosystem.ts";
import type { SettledVerdict } from "../../../../service/verification/escrow/settled-verdicts.ts";
import { NOW, WALLET, WALLET_EIP55 } from "../fake-ports.ts";
import { EMPTY_ECOSYSTEM, htmlOf } from "./fake-public-pages.ts";

const NOTHING = {
  ecosystem: async (): Promise<Ecosystem> => EMPTY_ECOSYSTEM,
  distribution: async () => [],
  gradeChanges: async () => [],
  nights: async () => [],
};

function night(day: string, mean: number | null): ScanNight {
  const grades = { A: 1, B: 2, C: 0, D: 0, E: 0, F: 3, insufficient: 4 };
  return { night: day, grades, meanScoreHundredths: mean };
}

describe("the dashboard", () => {
  test("says of every part that there is nothing yet, on a chain of which nothing is known", async () => {
    const html = await htmlOf("/", NOTHING);
    for (const words of [
      "No wallet has a score yet.",
      "The trend appears after the second nightly scan.",
      "No grade changed recently.",
      "The index holds no block yet.",
      "No score is stored yet.",
      "Not published yet; a root is published every night.",
    ])
      expect(html).toContain(words);
    expect(html).not.toMatch(/NaN|Infinity|undefined|null/);
  });

  test("shows scores by grade in a picture and in words", async () => {
    const html = await htmlOf("/", {
      distribution: async () => [
        { score: 0, wallets: 3 },
        { score: 75, wallets: 1 },
        { score: 100, wallets: 996 },
      ],
    });
    expect(html).toContain(
      "A: 996 wallets; B: 1 wallet; C: 0 wallets; D: 0 wallets; E: 0 wallets; F: 3 wallets.",
    );
    expect(html).toContain('<td class="number">under\u00a01%</td>');
    expect(html).toContain("<title>95 to 100: 996 wallets</title>");
  });

  test("calls one night no trend, and draws two", async () => {
    const one = await htmlOf("/", { nights: async () => [night("2026-11-19", 7_150)] });
    expect(one).toContain("The trend appears after the second nightly scan.");
    expect(one).not.toContain("Mean score by night");
    const two = await htmlOf("/", {
      nights: async () => [night("2026-11-18", null), night("2026-11-19", 7_150)],
    });
    expect(two).toContain("From no score on 18 Nov 2026 to 71.5 on 19 Nov 2026, over 2 nights.");
    const none = await htmlOf("/", {
      nights: async () => [night("2026-11-18", null), night("2026-11-19", null)],
    });
    expect(none).not.toContain("Mean score by night");
    expect(none).toContain("No wallet had a score in 2 nightly scans.");
  });

  test("explains the product in three steps with a wallet to click, and lists settled verdicts", async () => {
    const verdict: SettledVerdict = {
      escrow: WALLET,
      jobId: 7n,
      decision: "ALLOW",
      score: 86,
      provider: WALLET,
      at: NOW,
      transactionHash: `0x${"cd".repeat(32)}`,
      verdictId: null,
    };
    const known = { ...verdict, verdictId: "0f8a1c1e-7c1d-4d57-8c27-2b1f0d3f5a90" };
    const html = await htmlOf("/", { settledVerdicts: async () => [verdict, known] });
    expect(html.match(/<ol class="how">.*<\/ol>/s)?.[0].match(/<li>/g)).toHaveLength(3);
    expect(html).toContain(`<a class="button plain" href="/wallet/${WALLET_EIP55}">See a scored wallet</a>`);
    expect(html).toContain('<b class="decision-ALLOW">ALLOW</b> <span class="quiet">86 of 100</span>');
    expect(html.match(/href="\/verdict\/[^"]*"/g)).toEqual([`href="/verdict/${known.verdictId}"`]);
    expect(html).toContain('<dt>Score</dt><dd class="number">1.00 USD</dd>');
  });

  test("shows a change of grade with its wallet and its transaction", async () => {
    const change: GradeChange = {
      wallet: WALLET,
      from: null,
      to: "D",
      at: new Date(NOW.getTime() - 90_000),
      transactionHash: `0x${"ab".repeat(32)}`,
    };
    const html = await htmlOf("/", { gradeChanges: async () => [change] });
    expect(html).toContain(`href="/wallet/${WALLET_EIP55}"`);
    expect(html).toContain("no grade: not enough history");
    expect(html).toContain(`title="0x${"ab".repeat(32)}"`);
    expect(html).toContain("90 s ago");
  });
});
