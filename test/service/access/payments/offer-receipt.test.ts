import { createServer, type Server } from "node:http";
import { decodePaymentResponseHeader } from "@x402/core/http";
import { type DiscoveryExtension, validateDiscoveryExtension } from "@x402/extensions/bazaar";
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  type JWSSignedOffer,
  type JWSSignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../../../../bin/supervisor/child-process.ts";
import { createOfferSigner, type OfferSigner } from "../../../../service/access/payments/offer-receipt.ts";
import { openReceiptKeys } from "../../../../service/verification/verdicts/receipt.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { fakeApp } from "../../api/fake-ports.ts";
import { ORIGIN, type PaymentWorld, paid, paymentWorld, SETTLED } from "../payment-world.ts";

const db = useDatabase();
const CHEAP = "/cheap/1?part=2";
const URL_OF_CHEAP = `${ORIGIN}${CHEAP}`;
let server: Server;
let signer: OfferSigner;
let world: PaymentWorld;

/** The DID document is served on this machine, where the official client looks it up. */
beforeAll(async () => {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const keys = await openReceiptKeys(`0x${"5e".repeat(32)}`, [`0x${"5f".repeat(32)}`]);
  const { signing, published } = keys;
  const shown = { ...fakeApp().ports.discovery, origin };
  const { app } = fakeApp({ discovery: shown, publicKeys: { keys: published } });
  signer = createOfferSigner({ ...signing, origin, now: () => new Date() });
  server = createServer(async ({ url = "" }, response) => {
    response.end(await (await app.request(url)).text());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(async () => {
  await db.$client.query("truncate ahs.payment");
  world = paymentWorld(db, { signer });
});

describe("an offer", () => {
  it("repeats the terms of the 402, signed by the key of this origin's DID, until a payment would end", async () => {
    const terms = await world.terms(CHEAP);
    const offers = extractOffersFromPaymentRequired(terms);
    const [offer] = decodeSignedOffers(offers);
    if (offer === undefined) throw new Error("the 402 has no offer");
    const { extra, maxTimeoutSeconds, ...accepted } = terms.accepts[0] ?? {};
    const payload = await verifyOfferSignatureJWS(offer.signedOffer as JWSSignedOffer);
    const now = Math.floor(Date.now() / 1_000);
    expect(payload).toEqual({
      ...accepted,
      ...{ version: 1, resourceUrl: URL_OF_CHEAP, validUntil: expect.any(Number) },
    });
    expect(Math.abs(payload.validUntil - now - Number(maxTimeoutSeconds))).toBeLessThan(30);
    expect(findAcceptsObjectFromSignedOffer(offer, terms.accepts)).toEqual(terms.accepts[0]);
    expect(isAccepted(terms.extensions?.["offer-receipt"])).toBe(true);
  });

  it("is not made without a key", async () => {
    const unsigned = paymentWorld(db);
    const terms = await unsigned.terms(CHEAP);
    expect(extractOffersFromPaymentRequired(terms)).toEqual([]);
    const response = await unsigned.request(CHEAP, paid(await unsigned.sign(CHEAP)));
    expect([response.status, extractReceiptFromResponse(response)]).toEqual([200, undefined]);
  });
});

describe("a receipt", () => {
  it("says that the payer paid for what was offered, by which transaction, also on a repeat", async () => {
    const terms = await world.terms(CHEAP);
    const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(terms));
    if (offer === undefined) throw new Error("the 402 has no offer");
    const headers = { ...paid(await world.signTerms(terms)), "idempotency-key": "0123456789abcdef012345" };
    const answers = [await world.request(CHEAP, headers), await world.request(CHEAP, headers)];
    expect(world.works.done).toBe(1);
    for (const answer of answers) {
      const receipt = extractReceiptFromResponse(answer) as JWSSignedReceipt;
      expect(await verifyReceiptSignatureJWS(receipt)).toEqual({
        version: 1,
        network: "eip155:31337",
        resourceUrl: URL_OF_CHEAP,
        payer: world.account.address.toLowerCase(),
        issuedAt: expect.any(Number),
        transaction: SETTLED,
      });
      expect(verifyReceiptMatchesOffer(receipt, offer, [world.account.address])).toBe(true);
      const report = decodePaymentResponseHeader(answer.headers.get("payment-response") ?? "");
      expect(isAccepted(report.extensions?.["offer-receipt"])).toBe(true);
    }
  });

  it("is not given for a payment that was refused", async () => {
    world.desk.answers.settle = { kind: "refused", reason: "insufficient_funds" };
    const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    const report = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
    expect([response.status, report.success, report.extensions]).toEqual([402, false, undefined]);
  });

  it("is left out where it cannot be signed, and the paid answer is given", async () => {
    const broken = { ...signer, receipt: () => Promise.reject(new Error("no key")) };
    const shop = paymentWorld(db, { signer: broken });
    const response = await shop.request(CHEAP, paid(await shop.sign(CHEAP)));
    const report = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
    expect([response.status, report]).toMatchObject([200, { success: true, transaction: SETTLED }]);
    expect(report.extensions).toBeUndefined();
  });
});

/** Whether the schema of an extension accepts what it holds, as the official check of another extension decides. */
function isAccepted(extension: unknown): boolean {
  return validateDiscoveryExtension(extension as DiscoveryExtension).valid;
}
