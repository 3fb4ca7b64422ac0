import { expect, it } from "vitest";
import { loadPageAssets } from "../../../../service/api/pages/assets.ts";
import { FONT_FILES } from "../../../../service/api/pages/style.ts";
import { fakeApp, REGISTRY } from "../fake-ports.ts";
import { fakePublicPages } from "../pages/fake-public-pages.ts";

const AGENT = { registry: REGISTRY, agentId: 142n };
const loaded = loadPageAssets();
const { app } = fakeApp({
  pages: { ...fakePublicPages(), ...loaded },
  discovery: {
    origin: "https://health.example",
    paymentTerms: () => [],
    sampleWallet: async () => "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc",
    sampleAgent: async () => AGENT,
    evaluation: null,
    registration: null,
    contracts: { oracle: null },
    securityContact: null,
  },
});
const PATHS = [
  ...["/openapi.json", "/docs", "/llms.txt", "/robots.txt", "/favicon.svg", "/assets/style.css"],
  ...["/.well-known/x402", "/.well-known/agent-registration.json", "/.well-known/jwks.json"],
  "/.well-known/did.json",
  ...loaded.assets.map(({ path }) => path),
];

const ask = (path: string, headers: Record<string, string>) => app.request(path, { headers });

it.each(PATHS)("%s is cached, tagged and not sent again to a client that has it", async (path) => {
  for (const encoding of ["identity", "gzip, br"]) {
    const first = await ask(path, { "accept-encoding": encoding });
    const tag = first.headers.get("etag") ?? "";
    expect([first.status, tag]).toEqual([200, expect.stringMatching(/^"[\w-]+"$/)]);
    expect(first.headers.get("cache-control")).toMatch(/^public, max-age=\d+/);
    const again = await ask(path, { "accept-encoding": encoding, "if-none-match": tag });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
    expect(again.headers.get("content-type")).toBeNull();
  }
});

it.each(PATHS)("%s is compressed for clients that take gzip alone, unless it is a font", async (path) => {
  const plain = await ask(path, { "accept-encoding": "br, gzip;q=0" });
  expect(plain.headers.get("content-encoding")).toBeNull();
  const zipped = await ask(path, { "accept-encoding": "deflate, gzip;q=0.5" });
  if (FONT_FILES.some((name) => path.endsWith(name))) {
    expect(zipped.headers.get("content-encoding")).toBeNull();
    return;
  }
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect([plain, zipped].map(({ headers }) => headers.get("vary"))).toEqual([
    "Accept-Encoding",
    "Accept-Encoding",
  ]);
  expect(plain.headers.get("etag")).not.toBe(zipped.headers.get("etag"));
  const unzipped = zipped.body?.pipeThrough(new DecompressionStream("gzip"));
  expect(await new Response(unzipped).text()).toBe(await plain.text());
});

it("makes the manifest again for another sample wallet or agent", async () => {
  let agent = AGENT;
  let wallet: `0x${string}` = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
  const changing = fakeApp({
    discovery: {
      origin: "https://health.example",
      paymentTerms: () => [],
      sampleWallet: async () => wallet,
      sampleAgent: async () => agent,
      evaluation: null,
      registration: null,
      contracts: { oracle: null },
      securityContact: null,
    },
  }).app;
  const tagOf = async () => (await changing.request("/.well-known/x402")).headers.get("etag");
  const first = await tagOf();
  expect(await tagOf()).toBe(first);
  wallet = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
  const second = await tagOf();
  expect(second).not.toBe(first);
  agent = { ...AGENT, agentId: 7n };
  expect(await tagOf()).not.toBe(second);
});
