import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { jwtVerify } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import {
  type FacilitatorCredentials,
  readSigningKey,
} from "../../../../service/access/payments/facilitator-credentials.ts";
import { createHttpFacilitator, readSettlers } from "../../../../service/access/payments/http-facilitator.ts";
import { SCHEMES } from "../../../../service/access/schemes/schemes.ts";
import { aReservation } from "../../../support/a-reservation.ts";

const { payment: PAYMENT } = aReservation();
const { network } = PAYMENT.requirements;
const HASH = `0x${"ab".repeat(32)}`;
const now = () => new Date();
const ID = "organizations/1/apiKeys/2";
let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A facilitator below a path that answers 401 to requests without credentials. */
async function guarded(accepts: (headers: Headers, request: string) => Promise<boolean>): Promise<string> {
  server = createServer(async ({ headers, method, url = "" }, response) => {
    const isKnown = await accepts(headers, `${method} ${headers.host}${url}`).catch(() => false);
    response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
    const kinds = [{ x402Version: 2, scheme: "exact", network }];
    const good = { isValid: true, success: true, transaction: HASH, network, kinds };
    response.end(JSON.stringify(isKnown ? good : { error: "unauthorized" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/platform/x402`;
}

/** All three requests under the credentials. */
async function askAll(url: string, credentials: FacilitatorCredentials | null) {
  const facilitator = createHttpFacilitator({ url, credentials, now, retryMs: 1 });
  return [
    await facilitator.verify(PAYMENT),
    await facilitator.settle(PAYMENT),
    await readSettlers({ url, credentials, now, timeoutMs: 5_000 }, { network, schemes: SCHEMES }).then(
      (settlers) => settlers.has("exact"),
      String,
    ),
  ];
}

const DONE = [{ kind: "valid" }, { kind: "settled", transaction: HASH }, true];

describe("a facilitator that wants credentials", () => {
  it.each<[string, FacilitatorCredentials, (headers: Headers) => boolean]>([
    [
      "a bearer token",
      { kind: "header", name: "authorization", value: "Bearer abc" },
      (headers) => headers.authorization === "Bearer abc",
    ],
    [
      "a token in a header of its own",
      { kind: "header", name: "X-Secret-Key", value: "abc" },
      (headers) => headers["x-secret-key"] === "abc",
    ],
  ])("is asked with %s at each of its addresses", async (_name, credentials, accepts) => {
    const url = await guarded(async (headers) => accepts(headers));
    expect(await askAll(url, credentials)).toEqual(DONE);
  });

  it.each([
    ["ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })],
    ["EdDSA", generateKeyPairSync("ed25519")],
  ] as const)(
    "is asked with a token of %s for each request alone",
    async (alg, { privateKey, publicKey }) => {
      const seen: unknown[] = [];
      const url = await guarded(async ({ authorization }, request) => {
        const token = String(authorization).replace("Bearer ", "");
        const options = { issuer: "cdp", audience: "cdp_service", subject: ID, algorithms: [alg] };
        const { payload, protectedHeader } = await jwtVerify(token, publicKey, options);
        seen.push(protectedHeader);
        return String(payload.uris) === request && Number(payload.exp) - Number(payload.nbf) === 120;
      });
      const key = readSigningKey(secretOf(privateKey));
      if (key === null) throw new Error("the secret was not read");
      expect(await askAll(url, { kind: "key", id: ID, key })).toEqual(DONE);
      const header = { alg, kid: ID, typ: "JWT", nonce: expect.stringMatching(/^[0-9a-f]{32}$/) };
      expect(seen).toEqual([header, header, header]);
      expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(3);
    },
  );

  it("is unavailable without them, and has taken no order", async () => {
    const url = await guarded(async () => false);
    expect(await askAll(url, null)).toMatchObject([
      { kind: "unavailable" },
      { kind: "unavailable" },
      expect.stringContaining("(401)"),
    ]);
  });
});

describe("a signing key", () => {
  it("is read from PEM with its line ends written out", () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = secretOf(privateKey);
    expect(readSigningKey(pem.replaceAll("\n", "\\n"))?.equals(privateKey)).toBe(true);
  });

  it.each([
    ["another text", "secret"],
    ["broken PEM", "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----"],
    ["a key of another curve", secretOf(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey)],
    ["a seed with another public key", Buffer.alloc(64, 1).toString("base64")],
  ])("is not read from %s", (_name, secret) => {
    expect(readSigningKey(secret)).toBeNull();
  });
});

/** As the provider hands it out: SEC 1 in PEM, or seed and public key in base64. */
function secretOf(key: KeyObject): string {
  if (key.asymmetricKeyType === "ec") return key.export({ type: "sec1", format: "pem" }).toString();
  const { d = "", x = "" } = key.export({ format: "jwk" });
  return Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")]).toString("base64");
}
