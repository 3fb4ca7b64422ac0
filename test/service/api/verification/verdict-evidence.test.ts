import { createHash } from "node:crypto";
import { keccak256, stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import type {
  EvidenceOffer,
  EvidenceOutcome,
} from "../../../../service/verification/verdicts/accept-evidence.ts";
import { bodyOf, KEY, NOW } from "../fake-ports.ts";
import {
  bothPorts,
  EVIDENCE,
  fakeVerificationApp,
  OWNER,
  posted,
  VERDICT_ID,
} from "./fake-verification-ports.ts";

const PATH = `/v1/verdicts/${VERDICT_ID}/evidence`;

describe("GET /v1/verdicts/{verdict_id}/evidence", () => {
  it("answers the very bytes that were hashed, with their digest", async () => {
    const response = await fakeVerificationApp().request(PATH);
    const body = await response.text();
    expect([response.status, response.headers.get("content-type"), body]).toEqual([
      200,
      "application/json",
      EVIDENCE,
    ]);
    expect(response.headers.get("etag")).toBe(`"${keccak256(stringToHex(body))}"`);
    const digest = createHash("sha256").update(body).digest("base64");
    expect(response.headers.get("content-digest")).toBe(`sha-256=:${digest}:`);
  });

  it("answers an earlier decision by its number, for ever the same", async () => {
    const response = await fakeVerificationApp().request(`${PATH}?run=1`);
    expect([response.status, response.headers.get("cache-control")]).toEqual([
      200,
      "private, max-age=31536000, immutable",
    ]);
  });

  it("is 404 for another verdict, a decision that is not there, and before the first", async () => {
    const { verdicts } = bothPorts();
    const undecided = fakeVerificationApp({ verdicts: { ...verdicts, evidence: async () => null } });
    const statuses = await Promise.all([
      fakeVerificationApp().request(`/v1/verdicts/x/evidence`),
      fakeVerificationApp().request(`${PATH}?run=2`),
      undecided.request(PATH),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it.each(["0", "-1", "x", "1.5", "99999"])("is 422 for run=%s", async (run) => {
    expect((await fakeVerificationApp().request(`${PATH}?run=${run}`)).status).toBe(422);
  });
});

const CREDENTIALS = { "X-API-Key": KEY };

function desk(outcome: EvidenceOutcome) {
  const offers: EvidenceOffer[] = [];
  const app = fakeVerificationApp({
    acceptEvidence: async (offer) => {
      offers.push(offer);
      return outcome;
    },
  });
  return { app, offers };
}

const STORED: EvidenceOutcome = { kind: "kept", textHash: `0x${"99".repeat(32)}`, count: 2, rerunAt: NOW };

describe("POST /v1/verdicts/{verdict_id}/evidence", () => {
  it("hands the text in under the caller's name and says when the verdict is run again", async () => {
    const { app, offers } = desk(STORED);
    const response = await app.request(PATH, posted({ text: "Here are the sources." }, CREDENTIALS));
    expect([response.status, await bodyOf<unknown>(response)]).toEqual([
      200,
      {
        verdict_id: VERDICT_ID,
        text_hash: `0x${"99".repeat(32)}`,
        count: 2,
        rerun_at: NOW.toISOString(),
      },
    ]);
    expect(offers).toEqual([
      { verdictId: VERDICT_ID, owner: OWNER, text: "Here are the sources.", isFinal: false },
    ]);
  });

  it("takes the last text as such", async () => {
    const { app, offers } = desk(STORED);
    await app.request(PATH, posted({ text: "That is all.", final: true }, CREDENTIALS));
    expect(offers).toMatchObject([{ isFinal: true }]);
  });

  it("acts once under an Idempotency-Key", async () => {
    const { app, offers } = desk(STORED);
    const request = () => posted({ text: "Once." }, { ...CREDENTIALS, "Idempotency-Key": "one" });
    const answers = [await app.request(PATH, request()), await app.request(PATH, request())];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(offers).toHaveLength(1);
  });

  it.each([
    ["unknown", { kind: "unknown" }, 404, "not-found"],
    ["another's", { kind: "stranger" }, 403, "not-the-submitter"],
    ["ALLOW", { kind: "not-held", status: "ALLOW" }, 409, "verdict-not-held"],
    ["being run again", { kind: "busy" }, 409, "verdict-not-held"],
    ["used up", { kind: "used-up" }, 409, "evidence-used-up"],
    ["kept for the other side", { kind: "reserved" }, 409, "evidence-used-up"],
    ["without its texts", { kind: "texts-dropped" }, 410, "texts-dropped"],
  ] as const)("refuses a text for a verdict that is %s", async (_, outcome, status, code) => {
    const response = await desk(outcome).app.request(PATH, posted({ text: "x" }, CREDENTIALS));
    expect([response.status, (await bodyOf(response)).type]).toEqual([status, `/docs#problem-${code}`]);
  });

  it.each([
    ["nothing", {}],
    ["an empty text", { text: "" }],
    ["more than 50,000 characters", { text: "x".repeat(50_001) }],
    ["a text that cannot be stored", { text: "a\0b" }],
    ["no boolean", { text: "x", final: "perhaps" }],
  ])("is 422 for %s", async (_, body) => {
    const { app, offers } = desk(STORED);
    expect((await app.request(PATH, posted(body, CREDENTIALS))).status).toBe(422);
    expect(offers).toEqual([]);
  });
});
