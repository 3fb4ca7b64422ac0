import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";

/** PEM texts. */
export type Identity = { readonly certificate: string; readonly privateKey: string };
export type Authority = Identity & { readonly name: string };

/** DER tags. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  time: 0x17,
} as const;
const [SEQUENCE, SET] = [0x30, 0x31];
const OID = {
  ecdsaWithSha256: "2a8648ce3d040302",
  commonName: "550403",
  basicConstraints: "551d13",
  subjectAltName: "551d11",
} as const;
const DAY_MS = 86_400_000;

/** A certificate authority of its own, good for a day either way. */
export function createAuthority(name = "Test authority"): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = certify({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
  });
  return { name, certificate, privateKey: pemOf(keys.privateKey) };
}

export type Wanted = {
  /** DNS names, or IPv4 addresses. */
  readonly names: readonly string[];
  /** When it ran out; a day from now unless given. */
  readonly notAfter?: Date;
};

/** A server's certificate for these names, signed by the authority. */
export function createIdentity(authority: Authority, { names, notAfter }: Wanted): Identity {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = certify({
    subject: names[0] ?? "nobody",
    issuer: authority.name,
    publicKey: keys.publicKey,
    signingKey: authority.privateKey,
    names,
    ...(notAfter === undefined ? {} : { notAfter }),
  });
  return { certificate, privateKey: pemOf(keys.privateKey) };
}

type Certificate = {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject | string;
  /** None makes it an authority's. */
  readonly names?: readonly string[];
  readonly notAfter?: Date;
};

/** X.509 version 3 (RFC 5280 section 4.1), since Node reads certificates but makes none. */
function certify({ subject, issuer, publicKey, signingKey, names, notAfter }: Certificate): string {
  const algorithm = der(SEQUENCE, oid(OID.ecdsaWithSha256));
  const last = notAfter ?? new Date(Date.now() + DAY_MS);
  const body = der(
    SEQUENCE,
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer),
    der(SEQUENCE, time(new Date(last.getTime() - 2 * DAY_MS)), time(last)),
    distinguishedName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(SEQUENCE, names === undefined ? authorityExtension() : namesExtension(names))),
  );
  const signature = createSign("sha256").update(body).sign(signingKey);
  const whole = der(SEQUENCE, body, algorithm, der(TAG.bits, Buffer.from([0]), signature));
  return `-----BEGIN CERTIFICATE-----\n${whole.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`;
}

function authorityExtension(): Buffer {
  const isAuthority = der(SEQUENCE, der(TAG.boolean, Buffer.from([0xff])));
  return der(
    SEQUENCE,
    oid(OID.basicConstraints),
    der(TAG.boolean, Buffer.from([0xff])),
    der(TAG.octets, isAuthority),
  );
}

function namesExtension(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    /^[\d.]+$/.test(name)
      ? der(0x87, Buffer.from(name.split(".").map(Number)))
      : der(0x82, Buffer.from(name)),
  );
  return der(SEQUENCE, oid(OID.subjectAltName), der(TAG.octets, der(SEQUENCE, ...entries)));
}

function distinguishedName(commonName: string): Buffer {
  const value = der(SEQUENCE, oid(OID.commonName), der(TAG.utf8, Buffer.from(commonName)));
  return der(SEQUENCE, der(SET, value));
}

/** UTCTime: YYMMDDHHMMSSZ. */
function time(moment: Date): Buffer {
  return der(TAG.time, Buffer.from(`${moment.toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));
}

function oid(hex: string): Buffer {
  return der(TAG.oid, Buffer.from(hex, "hex"));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const short = content.length < 0x80;
  const length = Buffer.from(content.length.toString(16).padStart(content.length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([
    Buffer.from([tag]),
    ...(short ? [] : [Buffer.from([0x80 | length.length])]),
    length,
    content,
  ]);
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
