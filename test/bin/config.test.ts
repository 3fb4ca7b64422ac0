import { describe, expect, test } from "vitest";
import { parseConfig } from "../../bin/config.ts";

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
    [{ ENROLMENT_MAX_FEE_WEI: "1e9" }, 'ENROLMENT_MAX_FEE_WEI: expected a whole number of wei, got "1e9"'],
  ])("refuses %j", (given, message) => {
    expect(() => parseConfig(given)).toThrow(message);
  });

  test.each(["DATABASE_URL", "RPC_URL", "PUBLISHER_PRIVATE_KEY", "SIGNER_PRIVATE_KEY", "HISTORY_URL"])(
    "does not repeat what %s holds",
    (name) => {
      const parse = () => parseConfig({ [name]: "0xsecret" });
      expect(parse).toThrow(name);
      expect(parse).not.toThrow("secret");
    },
  );
});
