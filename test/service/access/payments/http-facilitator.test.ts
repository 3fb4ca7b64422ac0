import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { extractDiscoveryInfo } from "@x402/extensions/bazaar";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../../../../bin/supervisor/child-process.ts";
import type { PresentedPayment } from "../../../../service/access/access.ts";
import { createHttpFacilitator } from "../../../../service/access/payments/http-facilitator.ts";
import { LISTING } from "../payment-world.ts";

const HASH = `0x${"ab".repeat(32)}`;
const NETWORK = "eip155:31337";
const REQUIREMENTS = {
  scheme: "exact",
  network: NETWORK,
  asset: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  amount: "1000",
  payTo: "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
  maxTimeoutSeconds: 300,
  extra: {},
} as const;
const PAYMENT: PresentedPayment = {
  scheme: "exact",
  payer: "0x00000000000000000000000000000000000000aa",
  asset: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
  payTo: "0x976ea74026e726554db657fa54763abd0c3a0aa9",
  nonce: `0x${"11".repeat(32)}`,
  amount: 1_000n,
  validAfter: 0n,
  validBefore: 2n ** 32n,
  payload: { x402Version: 2, accepted: REQUIREMENTS, payload: {} },
  requirements: REQUIREMENTS,
};

type Answer = { readonly status?: number; readonly body: unknown } | "silence";
let server: Server | null = null;
let asked: string[] = [];
let bodies: string[] = [];

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

/** A facilitator that gives one answer after the other, the last one again and again. */
async function facilitatorAnswering(...answers: Answer[]) {
  asked = [];
  bodies = [];
  server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? "silence";
    asked.push(request.url ?? "");
    if (answer === "silence") return;
    bodies.push(await text(request));
    response.writeHead(answer.status ?? 200, { "content-type": "application/json" });
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return createHttpFacilitator({
    url: `http://127.0.0.1:${port}`,
    credentials: null,
    now: () => new Date(),
    verifyTimeoutMs: 200,
    settleTimeoutMs: 200,
    retryMs: 1,
  });
}

describe("a payment for a listed resource", () => {
  it("goes to the facilitator with our declaration, from which the official extension reads it", async () => {
    const good = { isValid: true, success: true, transaction: HASH, network: NETWORK };
    const facilitator = await facilitatorAnswering({ body: good });
    const listed = {
      resource: {
        url: "https://a.example/x/1",
        description: "A thing",
        serviceName: "Shop",
        tags: ["Things"],
      },
      extensions: { bazaar: LISTING.bazaar },
    };
    const payload = { ...PAYMENT.payload, extensions: { other: 1 } };
    await facilitator.verify({ ...PAYMENT, payload, listed });
    await facilitator.settle({ ...PAYMENT, payload, listed });
    const expected = {
      ...payload,
      resource: listed.resource,
      extensions: { other: 1, ...listed.extensions },
    };
    expect(new Set(asked)).toEqual(new Set(["/verify", "/settle"]));
    for (const body of bodies) expect(JSON.parse(body)).toMatchObject({ paymentPayload: expected });
    expect(extractDiscoveryInfo(expected, REQUIREMENTS)).toMatchObject({
      ...{ resourceUrl: "https://a.example/cheap/:id", description: "A thing", method: "GET" },
      ...{ serviceName: "Shop", tags: ["Things"], discoveryInfo: LISTING.bazaar.info },
    });
  });
});

describe("verification over HTTP", () => {
  it.each<[string, Answer[], object, number]>([
    ["good", [{ body: { isValid: true } }], { kind: "valid" }, 1],
    [
      "bad",
      [{ body: { isValid: false, invalidReason: "insufficient_funds" } }],
      { kind: "invalid", reason: "insufficient_funds" },
      1,
    ],
    [
      "bad for a reason that is nobody's business",
      [{ body: { isValid: false, invalidReason: "Error: at /srv/x.ts" } }],
      { kind: "invalid", reason: "payment_invalid" },
      1,
    ],
    [
      "good at the third attempt",
      [{ status: 500, body: "x" }, "silence", { body: { isValid: true } }],
      { kind: "valid" },
      3,
    ],
    ["unavailable after three failures", [{ status: 503, body: "x" }], { kind: "unavailable" }, 3],
    ["unavailable after three silences", ["silence"], { kind: "unavailable" }, 3],
    ...[500, 503, 408, 429].map((status): [string, Answer[], object, number] => [
      `unavailable after three times ${status}, whatever the body says`,
      [{ status, body: { isValid: false, invalidReason: "insufficient_funds" } }],
      { kind: "unavailable" },
      3,
    ]),
    [
      "unavailable for a reason that is the facilitator's own trouble",
      [{ body: { isValid: false, invalidReason: "unexpected_verify_error" } }],
      { kind: "unavailable" },
      3,
    ],
    ["unavailable when the answer makes no sense", [{ body: "hello" }], { kind: "unavailable" }, 3],
  ])("is %s", async (_name, answers, outcome, requests) => {
    const facilitator = await facilitatorAnswering(...answers);
    expect(await facilitator.verify(PAYMENT)).toMatchObject(outcome);
    expect(asked).toHaveLength(requests);
  });
});

describe("settlement over HTTP", () => {
  const settled = { success: true, transaction: HASH, network: NETWORK };
  const failed = (errorReason: string, transaction = "") => ({
    success: false,
    errorReason,
    transaction,
    network: NETWORK,
  });
  it.each<[string, Answer, object]>([
    ["settled", { body: settled }, { kind: "settled", transaction: HASH }],
    ["refused", { body: failed("insufficient_funds") }, { kind: "refused", reason: "insufficient_funds" }],
    ...[500, 503, 408, 429].map((status): [string, Answer, object] => [
      `unknown with ${status}, whatever the body says`,
      { status, body: failed("insufficient_funds") },
      { kind: "unknown" },
    ]),
    [
      "refused after it may have been sent",
      { body: failed("invalid_transaction_state") },
      { kind: "unknown" },
    ],
    [
      "refused as used, perhaps by itself",
      { body: failed("invalid_exact_evm_nonce_already_used") },
      { kind: "unknown" },
    ],
    [
      "refused by status",
      { status: 402, body: failed("invalid_payload") },
      { kind: "refused", reason: "invalid_payload" },
    ],
    [
      "unknown when it failed with a transaction",
      { body: failed("invalid_transaction_state", HASH) },
      { kind: "unknown" },
    ],
    ["unknown when it is pending", { body: failed("settlement_pending") }, { kind: "unknown" }],
    [
      "unknown when the facilitator does not know",
      { body: failed("unexpected_settle_error") },
      { kind: "unknown" },
    ],
    ["unknown when no answer comes", "silence", { kind: "unknown" }],
    ["unknown when the facilitator breaks", { status: 500, body: "x" }, { kind: "unknown" }],
    [
      "unknown when it names no transaction",
      { body: { ...settled, transaction: "yes" } },
      { kind: "unknown" },
    ],
  ])("is %s, asked once", async (_name, answer, outcome) => {
    const facilitator = await facilitatorAnswering(answer);
    expect(await facilitator.settle(PAYMENT)).toMatchObject(outcome);
    expect(asked).toEqual(["/settle"]);
  });

  it("is unavailable, and nothing has moved, where the facilitator cannot be reached", async () => {
    const facilitator = createHttpFacilitator({
      url: `http://127.0.0.1:${await freePort()}`,
      credentials: null,
      now: () => new Date(),
      retryMs: 1,
    });
    expect(await facilitator.settle(PAYMENT)).toMatchObject({ kind: "unavailable" });
  });
});
