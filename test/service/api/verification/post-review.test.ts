import { describe, expect, it } from "vitest";
import type { Review, ReviewOutcome } from "../../../../service/verification/verdicts/verdict-result.ts";
import { bodyOf, KEY } from "../fake-ports.ts";
import { storedKey } from "../routes/fake-key-ports.ts";
import { bothPorts, fakeVerificationApp, posted, VERDICT_ID } from "./fake-verification-ports.ts";

const PATH = `/v1/verdicts/${VERDICT_ID}/review`;
const CREDENTIALS = { "X-API-Key": KEY };
const BODY = { decision: "REJECT", reason: "Row 4 is invented." };

function desk(outcome: ReviewOutcome, scopes: "review"[] = ["review"]) {
  const reviews: Review[] = [];
  const { keys } = bothPorts();
  const app = fakeVerificationApp({
    keys: { ...keys, find: async () => storedKey({ name: "Trust desk", scopes }) },
    recordReview: async (review) => {
      reviews.push(review);
      return outcome;
    },
  });
  return { app, reviews };
}

const RECORDED: ReviewOutcome = { kind: "recorded", run: 2, evidenceHash: `0x${"44".repeat(32)}` };

describe("POST /v1/verdicts/{verdict_id}/review", () => {
  it("records the decision and the reason under the name of the key", async () => {
    const { app, reviews } = desk(RECORDED);
    const response = await app.request(PATH, posted(BODY, CREDENTIALS));
    expect([response.status, await bodyOf<unknown>(response)]).toEqual([
      200,
      {
        verdict_id: VERDICT_ID,
        final_verdict: "REJECT",
        run: 2,
        evidence_hash: `0x${"44".repeat(32)}`,
        reviewed_by: "Trust desk",
      },
    ]);
    expect(reviews).toEqual([{ verdictId: VERDICT_ID, ...BODY, reviewedBy: "Trust desk" }]);
  });

  it("is 403 for a key without the scope, and records nothing", async () => {
    const { app, reviews } = desk(RECORDED, []);
    const response = await app.request(PATH, posted(BODY, CREDENTIALS));
    expect([response.status, (await bodyOf(response)).type]).toEqual([403, "/docs#problem-scope-missing"]);
    expect(reviews).toEqual([]);
  });

  it.each([{ kind: "not_held", finalVerdict: "ALLOW" }, { kind: "undecided" }] as const)(
    "is 409 for a verdict that is $kind",
    async (outcome) => {
      const response = await desk(outcome).app.request(PATH, posted(BODY, CREDENTIALS));
      expect([response.status, (await bodyOf(response)).type]).toEqual([
        409,
        "/docs#problem-verdict-not-held",
      ]);
    },
  );

  it.each([
    ["HOLD", { ...BODY, decision: "HOLD" }],
    ["no reason", { decision: "ALLOW" }],
    ["an empty reason", { decision: "ALLOW", reason: "" }],
    ["a reason beyond 2,000 characters", { decision: "ALLOW", reason: "x".repeat(2_001) }],
  ])("is 422 for %s", async (_, body) => {
    const { app, reviews } = desk(RECORDED);
    expect((await app.request(PATH, posted(body, CREDENTIALS))).status).toBe(422);
    expect(reviews).toEqual([]);
  });
});
