import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseConfig, requireChainSettings } from "../../bin/config.ts";

const PAYEE = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";
/** Of the development mnemonic, as its key: known to everybody. */
const SENDER = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
const SENDER_KEY = "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba";

describe("parseConfig", () => {
  test("takes what is set and fills in the rest; an empty variable is not set", () => {
    expect(parseConfig({ PORT: "4555", HOST: "", DAILY_GAS: "9000000" })).toMatchObject({
      port: 4555,
      host: "127.0.0.1",
      dailyGas: 9_000_000n,
      databaseUrl: null,
      logLevel: "info",
    });
  });

  test("lists every faulty setting with what was expected and what was given", () => {
    const given = { PORT: "99999", LOG_LEVEL: "loud", POLLING_INTERVAL_MS: "1e3", PUBLIC_URL: "ftp://x" };
    expect(() => parseConfig(given)).toThrow(
      [
        "settings that do not fit:",
        '  PORT (or --port): expected a whole number from 1 to 65535, got "99999"',
        '  PUBLIC_URL: expected a URL that starts with http:// or https://, got "ftp://x"',
        '  LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, got "loud"',
        '  POLLING_INTERVAL_MS: expected a whole number from 100 to 60000, got "1e3"',
      ].join("\n"),
    );
  });

  test("takes proxies as a list, and refuses what is no address", () => {
    expect(
      parseConfig({ TRUSTED_PROXIES: "10.0.0.0/8, 2001:db8::1", IP_RATE_PER_MINUTE: "60" }),
    ).toMatchObject({
      trustedProxies: ["10.0.0.0/8", "2001:db8::1"],
      ipRatePerMinute: 60,
    });
    expect(parseConfig({}).trustedProxies).toEqual([]);
    expect(() => parseConfig({ TRUSTED_PROXIES: "10.0.0.0/8,proxy.example" })).toThrow(
      'TRUSTED_PROXIES: expected addresses or CIDR ranges, separated by commas, got "10.0.0.0/8,proxy.example"',
    );
  });

  test("takes a history source with what it needs", () => {
    const given = { HISTORY_SOURCE: "explorer", HISTORY_URL: "https://explorer.example/api?chainid=1" };
    expect(parseConfig({ ...given, HISTORY_API_KEY: "k", HISTORY_PAGE_SIZE: "25" })).toMatchObject({
      history: { source: "explorer", url: given.HISTORY_URL, apiKey: "k", pageSize: 25 },
    });
    expect(parseConfig({})).toMatchObject({
      history: { source: null, url: null, apiKey: null, pageSize: 500 },
      enrolment: { perDay: 200, maxFeeWei: 10n ** 14n },
    });
  });

  test("takes a provider of labels, with or without a key", () => {
    const url = "https://labels.example/v1";
    expect(parseConfig({ LABELS_URL: url, LABELS_API_KEY: "k" }).labels).toEqual({
      url,
      apiKey: "k",
      provider: "nansen",
    });
    const named = parseConfig({ LABELS_URL: url, LABELS_PROVIDER: "Names" }).labels;
    expect(named).toEqual({ url, apiKey: null, provider: "Names" });
    expect(parseConfig({}).labels).toEqual({ url: null, apiKey: null, provider: "nansen" });
  });

  test.each([
    [{ HISTORY_SOURCE: "explorer" }, "HISTORY_SOURCE: explorer needs HISTORY_URL, the explorer's API"],
    [{ HISTORY_SOURCE: "otterscan" }, "HISTORY_SOURCE: otterscan needs HISTORY_URL or RPC_URL"],
    [{ HISTORY_URL: "https://node.example" }, "HISTORY_URL: needs HISTORY_SOURCE=otterscan or explorer"],
    [
      { HISTORY_SOURCE: "otterscan", RPC_URL: "http://127.0.0.1:1", HISTORY_API_KEY: "k" },
      "HISTORY_API_KEY: needs HISTORY_SOURCE=explorer",
    ],
    [
      { HISTORY_SOURCE: "etherscan" },
      'HISTORY_SOURCE: expected one of none, otterscan, explorer, got "etherscan"',
    ],
    [{ LABELS_API_KEY: "k" }, "LABELS_API_KEY: needs LABELS_URL"],
    [{ ENROLMENT_MAX_FEE_WEI: "1e9" }, 'ENROLMENT_MAX_FEE_WEI: expected a whole number of wei, got "1e9"'],
  ])("refuses %j", (given, message) => {
    expect(() => parseConfig(given)).toThrow(message);
  });

  test("takes a facilitator of our own, whose key is elsewhere or here", () => {
    const payments = { X402_PAY_TO: PAYEE.toLowerCase(), X402_FACILITATOR_ADDRESS: SENDER };
    expect(parseConfig(payments)).toMatchObject({
      payments: { payTo: PAYEE, facilitatorUrl: null, facilitatorAddress: SENDER },
      keys: { facilitator: null },
    });
    expect(parseConfig({ ...payments, FACILITATOR_PRIVATE_KEY: SENDER_KEY })).toMatchObject({
      keys: { facilitator: { kind: "raw", privateKey: SENDER_KEY } },
    });
  });

  test("takes a facilitator that wants a token or a key", () => {
    const payments = { X402_PAY_TO: PAYEE, X402_FACILITATOR_URL: "https://f.example/x402" };
    const credentialsOf = (more: Record<string, string>) =>
      parseConfig({ ...payments, ...more }).payments.credentials;
    expect(credentialsOf({})).toBeNull();
    const token = { X402_FACILITATOR_TOKEN: "abc" };
    expect(credentialsOf(token)).toEqual({ kind: "header", name: "authorization", value: "Bearer abc" });
    expect(credentialsOf({ ...token, X402_FACILITATOR_HEADER: "X-Key" })).toEqual({
      ...{ kind: "header", name: "X-Key", value: "abc" },
    });
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const secret = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const key = credentialsOf({ X402_FACILITATOR_KEY_ID: "k", X402_FACILITATOR_KEY_SECRET: secret });
    expect(key).toMatchObject({ kind: "key", id: "k" });
    expect(JSON.stringify(key)).toBe('{"kind":"key","id":"k","key":{}}');
  });

  test.each([
    [{ X402_FACILITATOR_TOKEN: "abc" }, "needs X402_FACILITATOR_URL with https://"],
    [
      {
        X402_FACILITATOR_TOKEN: "abc",
        X402_PAY_TO: PAYEE,
        X402_FACILITATOR_URL: "http://localhost.f.example",
      },
      "needs X402_FACILITATOR_URL with https://",
    ],
    [{ X402_FACILITATOR_TOKEN: "abc", X402_FACILITATOR_KEY_ID: "k" }, "X402_FACILITATOR_TOKEN: excludes"],
    [{ X402_FACILITATOR_KEY_ID: "k" }, "X402_FACILITATOR_KEY_ID: needs X402_FACILITATOR_KEY_SECRET"],
    [{ X402_FACILITATOR_HEADER: "X-Key" }, "X402_FACILITATOR_HEADER: needs X402_FACILITATOR_TOKEN"],
    [
      { X402_FACILITATOR_KEY_SECRET: "secret-text" },
      "X402_FACILITATOR_KEY_SECRET: expected an EC key of P-256 in PEM, or 64 bytes of an Ed25519 key in base64, got a value not repeated here",
    ],
    [{ X402_FACILITATOR_TOKEN: "a b" }, "X402_FACILITATOR_TOKEN: expected printable ASCII characters"],
  ])("refuses credentials that do not fit: %j", (given, message) => {
    expect(() => parseConfig(given)).toThrow(message);
  });

  test.each([
    [{ X402_PAY_TO: PAYEE }, "X402_PAY_TO: needs X402_FACILITATOR_URL, or X402_FACILITATOR_ADDRESS"],
    [{ X402_FACILITATOR_URL: "https://f.example" }, "X402_FACILITATOR_URL: needs X402_PAY_TO"],
    [{ X402_FACILITATOR_ADDRESS: SENDER }, "X402_FACILITATOR_ADDRESS: needs X402_PAY_TO"],
    [
      { X402_PAY_TO: PAYEE, X402_FACILITATOR_ADDRESS: SENDER, X402_FACILITATOR_URL: "https://f.example" },
      "X402_FACILITATOR_URL: excludes X402_FACILITATOR_ADDRESS",
    ],
    [
      { X402_PAY_TO: PAYEE, X402_FACILITATOR_ADDRESS: PAYEE, FACILITATOR_PRIVATE_KEY: SENDER_KEY },
      "X402_FACILITATOR_ADDRESS: is not the address of FACILITATOR_PRIVATE_KEY",
    ],
    [
      { FACILITATOR_PRIVATE_KEY: SENDER_KEY, PUBLISHER_PRIVATE_KEY: SENDER_KEY },
      "FACILITATOR_PRIVATE_KEY: must be another key than PUBLISHER_PRIVATE_KEY",
    ],
    [{ X402_PAY_TO: "0x0000000000000000000000000000000000000000" }, "X402_PAY_TO: expected an address"],
    [{ X402_PAY_TO: PAYEE.replace("EA", "Ea") }, "X402_PAY_TO: expected an address"],
  ])("refuses payments that do not fit: %j", (given, message) => {
    expect(() => parseConfig(given)).toThrow(message);
  });

  test.each([
    "DATABASE_URL",
    "RPC_URL",
    "PUBLISHER_PRIVATE_KEY",
    "SIGNER_PRIVATE_KEY",
    "FACILITATOR_PRIVATE_KEY",
    "X402_FACILITATOR_URL",
    "X402_FACILITATOR_TOKEN",
    "X402_FACILITATOR_KEY_SECRET",
    "HISTORY_URL",
    "LABELS_URL",
  ])("does not repeat what %s holds", (name) => {
    const parse = () => parseConfig({ [name]: "0xsecret" });
    expect(parse).toThrow(name);
    expect(parse).not.toThrow("secret");
  });
});

describe("INTERFACES", () => {
  test.each([
    [undefined, ["scoring", "verification"]],
    ["scoring,verification", ["scoring", "verification"]],
    ["verification, scoring", ["scoring", "verification"]],
    ["verification", ["verification"]],
    ["scoring", ["scoring"]],
  ])("%s serves %j", (given, wanted) => {
    expect(parseConfig({ INTERFACES: given }).interfaces).toEqual(wanted);
  });

  test("is refused where it names something else", () => {
    expect(() => parseConfig({ INTERFACES: "scoring,admin" })).toThrow(
      'INTERFACES: expected names separated by commas: scoring, verification, got "scoring,admin"',
    );
  });
});

test("required settings come alone, or are all named where they are missing", () => {
  const given = { DATABASE_URL: "postgres://localhost/ahs", AHS_DEPLOYMENT: "/tmp/deployment.json" };
  const config = parseConfig({ ...given, RPC_URL: "http://localhost:8545", PANEL_API_KEY: "" });
  expect(requireChainSettings(config)).toEqual({
    databaseUrl: given.DATABASE_URL,
    rpcUrl: "http://localhost:8545",
    deploymentFile: given.AHS_DEPLOYMENT,
  });
  expect(() => requireChainSettings(parseConfig({}))).toThrow(
    "missing settings: DATABASE_URL (or --database-url), RPC_URL (or --rpc-url), AHS_DEPLOYMENT (or --deployment)",
  );
});
