import { expect, test } from "vitest";
import { REGISTRY, WALLET_EIP55 } from "../fake-ports.ts";
import { fakePublicPages, pagesApp } from "./fake-public-pages.ts";

const { app } = pagesApp(fakePublicPages());

test.each([REGISTRY, encodeURIComponent(`eip155:31337:${REGISTRY}`)])(
  "an agent of %s leads to the page of its wallet, which may change",
  async (registry) => {
    const answer = await app.request(`/agent/${registry}/142`);
    expect([answer.status, answer.headers.get("location"), answer.headers.get("cache-control")]).toEqual([
      307,
      `/wallet/${WALLET_EIP55}`,
      "no-store",
    ]);
  },
);

test.each([
  [`/agent/${REGISTRY}/143`, "Agent unknown"],
  [`/agent/${WALLET_EIP55}/142`, "Registry not followed"],
  ["/agent/0x12/142", "Not an agent"],
  [`/agent/${REGISTRY}/first`, "Not an agent"],
])("%s is a readable 404", async (path, words) => {
  const answer = await app.request(path);
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining(words)]);
});
