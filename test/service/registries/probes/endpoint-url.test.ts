import { expect, test } from "vitest";
import { endpointText, liesUnder } from "../../../../service/registries/probes/endpoint-url.ts";

test.each([
  ["https://Agent.EXAMPLE", "https://agent.example/"],
  ["  https://agent.example:443/a/../b#part ", "https://agent.example/b"],
  ["http://2130706433/", "http://127.0.0.1/"],
  ["did:key:z6Mk", "did:key:z6Mk"],
  ["agent.eth", "agent.eth"],
  ["", null],
  ["   ", null],
  ["mail\u0000to", null],
  ["\ud800.eth", "\ufffd.eth"],
  [`https://agent.example/${"a".repeat(2_048)}`, null],
  [`https://agent.example/${"é".repeat(400)}`, null],
])("%j is spelled %j", (declared, spelled) => {
  expect(endpointText(declared)).toBe(spelled);
});

test.each([
  ["https://a.example/x", "https://a.example/x", true],
  ["https://a.example/x?q=1", "https://a.example/x", true],
  ["https://a.example/x/y", "https://a.example/x", true],
  ["https://a.example/x/y", "https://a.example/x/", true],
  ["https://a.example/x", "https://a.example/", true],
  ["https://a.example/xy", "https://a.example/x", false],
  ["https://a.example/", "https://a.example/x", false],
  ["https://a.example/x", "https://a.example/x/", false],
  ["http://a.example/x/y", "https://a.example/x", false],
  ["https://a.example:8443/x/y", "https://a.example/x", false],
  ["https://b.a.example/x", "https://a.example/", false],
  ["https://u@a.example/x", "https://a.example/", false],
  ["https://a.example/x/y?k=1", "https://a.example/x?k=1", false],
  ["https://a.example/x?k=1", "https://a.example/x?k=1", true],
  ["agent.eth/x", "agent.eth", false],
])("%s lies under %s: %s", (url, endpoint, under) => {
  expect(liesUnder(url, endpoint)).toBe(under);
});

test("a path that climbs out lies where it leads", () => {
  const spelled = endpointText("https://a.example/x/%2e%2e/admin");
  expect([spelled, liesUnder(spelled ?? "", "https://a.example/x")]).toEqual([
    "https://a.example/admin",
    false,
  ]);
});
