import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { calculateJwkThumbprint, decodeProtectedHeader, FlattenedSign, type JSONWebKeySet } from "jose";
import { describe, expect, it } from "vitest";
import { claimText, openReceiptKeys } from "../../../../service/verification/verdicts/receipt.ts";
import type { VerdictView } from "../../../../service/verification/verdicts/verdict-view.ts";
import { bodyOf, NOW } from "../fake-ports.ts";
import {
  bothPorts,
  fakeBothApp,
  fakeVerificationApp,
  pendingView,
  RECEIPT_KEYS,
  VERDICT_ID,
  verdictResult,
  verdictView,
  withVerdict,
} from "./fake-verification-ports.ts";
import { gateOf, type RelyingParty } from "./verify-receipt.ts";

type Receipt = { readonly payload: string; readonly protected: string; readonly signature: string };

const PATH = `/v1/verdicts/${VERDICT_ID}/receipt`;
const SECONDS = NOW.getTime() / 1_000;

async function world(view: VerdictView = verdictView()) {
  const app = fakeVerificationApp(withVerdict(view));
  const jwks = await bodyOf<JSONWebKeySet>(await app.request("/.well-known/jwks.json"));
  const mapping = async (id: string) => {
    const response = await app.request(`/v1/receipt-mappings/${id}`);
    return response.status === 200 ? response.text() : null;
  };
  const party: RelyingParty = { jwks, mapping, now: SECONDS };
  return { app, party, receipt: await bodyOf<Receipt>(await app.request(PATH)) };
}

function claimsOf({ payload }: Receipt): Record<string, unknown> {
  return JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
}

/** The same receipt with other claims, signed by the service's own key. */
async function resigned(receipt: Receipt, changes: Record<string, unknown>): Promise<Receipt> {
  const text = JSON.stringify({ ...claimsOf(receipt), ...changes });
  const header = decodeProtectedHeader(receipt);
  const signed = await new FlattenedSign(new TextEncoder().encode(text))
    .setProtectedHeader({ ...header, alg: "EdDSA" })
    .sign(RECEIPT_KEYS.signing.key);
  return { protected: receipt.protected, ...signed };
}

describe("GET /v1/verdicts/{verdict_id}/receipt", () => {
  it("is verified by the published keys and rules alone", async () => {
    const { party, receipt } = await world();
    expect(await gateOf(receipt, party)).toBe("act");
    expect(decodeProtectedHeader(receipt)).toEqual({
      alg: "EdDSA",
      kid: await calculateJwkThumbprint(party.jwks.keys[0] ?? {}, "sha256"),
      typ: "application/vnd.verification.v0.3+jws",
    });
  });

  it("signs the RFC 8785 form of the whole profile", async () => {
    const { receipt } = await world();
    const claims = claimsOf(receipt);
    expect(Buffer.from(receipt.payload, "base64url").toString("utf8")).toBe(canonicalize(claims));
    expect(claims).toMatchObject({
      receipt_version: "0.3.0",
      iss: "https://health.example",
      sub: `verdict:${VERDICT_ID}`,
      iat: SECONDS,
      mapping_id: "agent-health-v0.3-2026-11-20-t070",
      v_gate_mapping: "agent-health-v0.3-2026-11-20-t070",
      v_verdict: "supported",
      v_confidence: 0.88,
      v_gate_threshold: 0.7,
      v_adversarial_result: "resilient",
      v_recommendation: "confident_supported",
      v_gate: "act",
      signature_meta: { jwks_url: "https://health.example/.well-known/jwks.json" },
    });
    expect(claims.exp).toBe(SECONDS + 30 * 86_400);
  });

  it("binds the claim by the hashes of output and specification", async () => {
    const { specHash, outputHash } = verdictView();
    const { subject } = claimsOf((await world()).receipt) as { subject: Record<string, string> };
    const claim = `{"output_hash":"${outputHash}","spec_hash":"${specHash}"}`;
    expect(claimText(verdictView())).toBe(claim);
    expect(subject.claim_hash).toBe(`sha256-${createHash("sha256").update(claim).digest("hex")}`);
  });

  it.each([
    ["ALLOW", "supported", "act"],
    ["REJECT", "refuted", "halt"],
    ["HOLD", "unverifiable", "halt"],
  ] as const)("%s is %s and %s", async (final_verdict, v_verdict, v_gate) => {
    const { party, receipt } = await world(verdictView({ result: verdictResult({ final_verdict }) }));
    expect(claimsOf(receipt)).toMatchObject({ v_verdict, v_gate });
    expect(await gateOf(receipt, party)).toBe(v_gate);
  });

  it("acts on a reviewer's ALLOW whatever the panel's confidence was", async () => {
    const review = { reviewed_by: "Trust desk", reason: "Checked." };
    const { party, receipt } = await world(
      verdictView({ result: verdictResult({ confidence: 0.4, review }) }),
    );
    expect(claimsOf(receipt)).toMatchObject({ v_method: "review", v_confidence: 0.4 });
    expect(await gateOf(receipt, party)).toBe("act");
  });

  it.each([
    ["vulnerable", { rules_fired: ["spec_gaming" as const] }, null],
    ["not_checked", {}, "It was off the schema."],
  ] as const)("says that the critic's part was %s", async (expected, methodology, abstained) => {
    const base = verdictResult({ final_verdict: "HOLD" });
    const result = {
      ...base,
      methodology: { ...base.methodology, ...methodology },
      findings: base.findings.map((finding) => ({ ...finding, abstained })),
    };
    const { receipt } = await world(verdictView({ result }));
    expect(claimsOf(receipt).v_adversarial_result).toBe(expected);
  });

  it("halts for a relying party whenever anything differs, even signed by our own key", async () => {
    const { party, receipt } = await world();
    const forged = [
      { v_gate: "halt" },
      { v_recommendation: "weak_supported" },
      { v_confidence: 0.1 },
      { v_verdict: "refuted" },
      { v_adversarial_result: "vulnerable" },
      { v_gate_mapping: "agent-health-v0.3-2026-11-20-t000" },
      { v_gate_mapping: "agent-health-v9.9-2026-11-20-t070" },
      { v_gate_mapping_hash: `sha256-${"0".repeat(64)}` },
      { exp: SECONDS - 3_600 },
      { iat: SECONDS + 3_600 },
    ];
    expect(await gateOf(await resigned(receipt, {}), party)).toBe("act");
    for (const changes of forged) expect(await gateOf(await resigned(receipt, changes), party)).toBe("halt");
  });

  it("halts for another's signature, other bytes, or a key that is not published", async () => {
    const { party, receipt } = await world();
    const stranger = await openReceiptKeys(`0x${"09".repeat(32)}`, []);
    expect(await gateOf({ ...receipt, payload: `${receipt.payload}A` }, party)).toBe("halt");
    expect(await gateOf(receipt, { ...party, jwks: { keys: [...stranger.published] } })).toBe("halt");
    expect(await gateOf(receipt, { ...party, mapping: async () => null })).toBe("halt");
  });

  it.each([
    ["pending", pendingView()],
    ["failed", pendingView({ status: "failed", errorMessage: "The model is down." })],
  ])("is 409 while the verdict is %s", async (_, view) => {
    const response = await fakeVerificationApp(withVerdict(view)).request(PATH);
    expect([response.status, (await bodyOf(response)).type]).toEqual([
      409,
      "/docs#problem-verdict-not-completed",
    ]);
  });

  it("is 503 without a key to sign with, and 404 for another id", async () => {
    const response = await fakeVerificationApp({ receiptKeys: null }).request(PATH);
    expect([response.status, (await bodyOf(response)).type]).toEqual([
      503,
      "/docs#problem-receipts-not-configured",
    ]);
    expect((await fakeVerificationApp().request("/v1/verdicts/x/receipt")).status).toBe(404);
  });
});

describe("/.well-known/jwks.json", () => {
  it("holds the public halves of the current and the earlier key, on either interface", async () => {
    for (const app of [fakeVerificationApp(), fakeBothApp()]) {
      const response = await app.request("/.well-known/jwks.json");
      const { keys } = await bodyOf<{ keys: Record<string, string>[] }>(response);
      expect(keys.map(({ kid }) => kid)).toEqual(RECEIPT_KEYS.published.map(({ kid }) => kid));
      expect(keys).toHaveLength(2);
      for (const key of keys) {
        expect(Object.keys(key).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
        expect(key).toMatchObject({ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" });
      }
    }
  });

  it("verifies what an earlier key signed", async () => {
    const earlier = await openReceiptKeys(`0x${"08".repeat(32)}`, []);
    const ports = bothPorts({ receiptKeys: earlier });
    const { party } = await world();
    const app = fakeVerificationApp(ports);
    expect(await gateOf(await bodyOf<Receipt>(await app.request(PATH)), party)).toBe("act");
  });
});

describe("GET /v1/receipt-mappings/{mapping_id}", () => {
  it.each(["x", "agent-health-v0.3-2026-11-20-t101", "agent-health-v0.3-2026-11-20-t70"])(
    "is 404 for %s",
    async (id) => {
      expect((await fakeVerificationApp().request(`/v1/receipt-mappings/${id}`)).status).toBe(404);
    },
  );
});
