import { encodeSIWxHeader } from "@x402/extensions/sign-in-with-x";
import { hashMessage } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { describe, expect, it } from "vitest";
import { Problem } from "../../../service/access/problems.ts";
import { createSignIn, takeSignInNonce } from "../../../service/access/sign-in.ts";
import { useDatabase } from "../../support/test-database.ts";
import { CHAIN_ID, forcedHeader, ORIGIN, SIGNER, signInHeader, signInInfo } from "./signed-in.ts";

type Contracts = Parameters<typeof createSignIn>[0]["contractSignatures"];

const NOW = new Date("2026-11-20T10:00:00.000Z");
const WALLET = SIGNER.address.toLowerCase();
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000).toISOString();

const db = useDatabase();

/** Signs a header in, against real nonces. */
function signInWith(header: string | undefined, contractSignatures: Contracts = null) {
  const signIn = createSignIn({
    origin: ORIGIN,
    chainId: CHAIN_ID,
    clock: { now: () => NOW },
    takeNonce: (use) => takeSignInNonce(db, use),
    contractSignatures,
  });
  return signIn({ header: (name) => (name === "sign-in-with-x" ? header : undefined) });
}

async function refusalOf(header: string): Promise<string> {
  const error: unknown = await signInWith(header).then(
    () => "signed in",
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw new Error(`no refusal: ${String(error)}`);
  expect([error.code, error.status]).toEqual(["sign-in-invalid", 401]);
  return error.detail;
}

describe("a sign-in", () => {
  it("made by the public client proves the wallet", async () => {
    expect(await signInWith(await signInHeader(signInInfo(NOW)))).toBe(WALLET);
  });

  it("is absent without the header, or with an empty one", async () => {
    expect([await signInWith(undefined), await signInWith("")]).toEqual([null, null]);
  });

  it("of a message that viem wrote is the same message", async () => {
    const { domain, uri, nonce, statement } = signInInfo(NOW);
    const message = createSiweMessage({
      address: SIGNER.address,
      chainId: CHAIN_ID,
      domain,
      nonce,
      uri,
      version: "1",
      issuedAt: NOW,
      ...(statement === undefined ? {} : { statement }),
    });
    const signature = await SIGNER.signMessage({ message });
    const members = { ...signInInfo(NOW), nonce, address: SIGNER.address, signature };
    expect(await signInWith(encodeSIWxHeader(members))).toBe(WALLET);
  });

  it.each([
    ["without a statement", { statement: undefined }],
    ["issued five minutes ago", { issuedAt: at(-300) }],
    ["by a clock that is half a minute ahead", { issuedAt: at(30) }],
    ["issued in another zone", { issuedAt: "2026-11-20T11:00:00+01:00" }],
    ["that expires later", { expirationTime: at(1) }],
    ["that holds since now", { notBefore: at(0) }],
    ["for another path of ours", { uri: `${ORIGIN}/keys/rotate?x=1` }],
    ["with resources and a request id", { resources: [`${ORIGIN}/keys`], requestId: "abc" }],
  ])("%s is taken", async (_name, changes) => {
    const info = JSON.parse(JSON.stringify({ ...signInInfo(NOW), ...changes }));
    expect(await signInWith(await signInHeader(info))).toBe(WALLET);
  });

  it.each([
    ["for another domain", { domain: "evil.example" }, 'domain: expected "api.example", got "evil.example"'],
    ["for our domain on another port", { domain: "api.example:8443" }, "domain: expected"],
    ["for a URI elsewhere", { uri: "https://evil.example/keys" }, `uri: expected a URL under ${ORIGIN}`],
    ["for our host without TLS", { uri: "http://api.example/keys" }, "uri: expected"],
    ["for no URI", { uri: "urn:x" }, "uri: expected"],
    ["for another chain", { chainId: "eip155:1" }, 'chainId: expected "eip155:31337", got "eip155:1"'],
    ["for our chain, written otherwise", { chainId: "eip155:031337" }, "chainId: expected"],
    ["of another version", { version: "2" }, 'version: expected "1"'],
    ["that is too old", { issuedAt: at(-301) }, "issuedAt: expected a time at most 5 minutes ago"],
    ["that is to come", { issuedAt: at(31) }, "issuedAt: expected a time that has come"],
    ["issued at no time", { issuedAt: "yesterday" }, "issuedAt: expected ISO 8601"],
    ["issued at a time without a zone", { issuedAt: "2026-11-20T10:00:00" }, "issuedAt: expected ISO 8601"],
    ["issued on a day that is none", { issuedAt: "2026-13-40T10:00:00Z" }, "issuedAt: expected ISO 8601"],
    ["that has expired", { expirationTime: at(0) }, "expirationTime: expected a time to come"],
    ["that does not hold yet", { notBefore: at(60) }, "notBefore: expected a time that has come"],
    ["with a short nonce", { nonce: "abc1234" }, "nonce: expected 8 to 96 letters and digits"],
    ["with a nonce of other characters", { nonce: "abcd-12345" }, "nonce: expected"],
    ["with a line break in its statement", { statement: "a\n\nURI: https://evil.example" }, "line break"],
    ["with a line break in a resource", { resources: ["https://a.example\n- b"] }, "line break"],
  ])("%s is refused, rightly signed as it is", async (_name, changes, reason) => {
    const info = { ...signInInfo(NOW), ...changes };
    const signature = await SIGNER.signMessage({ message: JSON.stringify(info) });
    const unsigned = encodeSIWxHeader({ ...info, address: SIGNER.address, signature });
    expect(await refusalOf(await forcedHeader(info).catch(() => unsigned))).toContain(reason);
  });

  it.each([
    ["is no base64", "%%%", "not valid base64"],
    ["is no JSON", btoa("hello"), "not valid JSON"],
    ["lacks members", btoa("{}"), "domain"],
    ["is a list", btoa("[]"), "expected base64"],
    ["is endless", "A".repeat(8_193), "8193 characters"],
  ])("whose header %s is refused", async (_name, header, reason) => {
    expect(await refusalOf(header)).toContain(reason);
  });

  it.each([
    ["a short address", { address: "0x1234" }, "address: expected"],
    ["an address of a broken checksum", { address: SIGNER.address.replace("C", "c") }, "address: expected"],
    ["no signature", { signature: "0x" }, "signature: expected"],
    ["half a byte of signature", { signature: "0xabc" }, "signature: expected"],
    ["a signature beyond the limit", { signature: `0x${"00".repeat(2_049)}` }, "signature: expected"],
    ["a signature of nobody", { signature: `0x${"11".repeat(65)}` }, "is not one of"],
    ["another's address", { address: "0x000000000000000000000000000000000000dEaD" }, "is not one of"],
    ["another kind", { type: "ed25519" }, 'type: expected "eip191"'],
    ["another statement", { statement: "I agree to something else." }, "is not one of"],
    ["another nonce", { nonce: "otherNonce1" }, "is not one of"],
    ["a later time", { issuedAt: at(-1) }, "is not one of"],
  ])("changed to %s is refused", async (_name, changes, reason) => {
    const genuine = JSON.parse(atob(await signInHeader(signInInfo(NOW))));
    expect(await refusalOf(btoa(JSON.stringify({ ...genuine, ...changes })))).toContain(reason);
  });

  it("counts once, though it is sent ten times at once", async () => {
    const header = await signInHeader(signInInfo(NOW));
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => signInWith(header)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await refusalOf(header)).toContain("was used before");
  });

  it("of another wallet with the same nonce uses up its own alone", async () => {
    const info = signInInfo(NOW);
    const mallory = privateKeyToAccount(generatePrivateKey());
    expect(await signInWith(await signInHeader(info, mallory))).toBe(mallory.address.toLowerCase());
    expect(await signInWith(await signInHeader(info))).toBe(WALLET);
  });

  it("of a sender that does not hold the key uses up no nonce", async () => {
    const genuine = await signInHeader(signInInfo(NOW));
    const forged = { ...JSON.parse(atob(genuine)), signature: `0x${"11".repeat(65)}` };
    await refusalOf(btoa(JSON.stringify(forged)));
    expect(await signInWith(genuine)).toBe(WALLET);
  });

  it("keeps its nonce until no server takes the message any more", async () => {
    const info = signInInfo(NOW);
    await signInWith(await signInHeader(info));
    const { rows } = await db.$client.query("select * from ahs.sign_in_nonce where nonce = $1", [info.nonce]);
    expect(rows).toEqual([{ nonce: info.nonce, address: WALLET, expires_at: new Date(at(600)) }]);
  });
});

describe("a contract wallet", () => {
  const contract = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

  async function headerOf(signature: string) {
    return encodeSIWxHeader({ ...signInInfo(NOW), address: contract, signature });
  }

  it("signs in when it accepts the signature over the message", async () => {
    const asked: string[] = [];
    const header = await headerOf("0x1234");
    const accepts: Contracts = async ({ address, hash, signature }) => {
      asked.push(address, hash, signature);
      return true;
    };
    expect(await signInWith(header, accepts)).toBe(contract.toLowerCase());
    const members = JSON.parse(atob(header));
    const message = createSiweMessage({
      ...members,
      chainId: CHAIN_ID,
      issuedAt: new Date(members.issuedAt),
    });
    expect(asked).toEqual([contract.toLowerCase(), hashMessage(message), "0x1234"]);
  });

  it("is refused where it does not, and where no node can be asked", async () => {
    const refuses = signInWith(await headerOf("0x1234"), async () => false);
    await expect(refuses).rejects.toThrow("nor does a contract there accept it");
    await expect(signInWith(await headerOf("0x1234"))).rejects.toThrow("is not one of");
  });
});
