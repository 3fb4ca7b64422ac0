import { zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  answerAt,
  DEMO_LABELS,
  type DemoServices,
  demoLabels,
  startDemoServices,
} from "../../devnet/demo-services.ts";
import { ARCHETYPES } from "../../devnet/population/archetypes/all.ts";
import { SERVICE_DOCUMENTS } from "../../devnet/population/service-documents.ts";
import { createGuardedFetch } from "../../service/net/guarded-fetch.ts";
import { probeEndpoint } from "../../service/registries/probes/probe-endpoint.ts";
import { createNansenSource } from "../../service/reports/labels/label-source.ts";

const MIXED_CASE = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
const warnings: string[] = [];
const logger = { warn: (message: string) => void warnings.push(message) };
let services: DemoServices;

beforeAll(async () => {
  const labels = demoLabels({ samples: { keeper: MIXED_CASE }, contracts: {} });
  services = await startDemoServices({ labels, logger, port: 0 });
});
afterAll(() => services.stop());

test("answers probes of the declared services as each kind must, and fails for agents that always fail", async () => {
  const fetch = createGuardedFetch({ resolve: async () => ["127.0.0.1"], loopback: "allowed" });
  const probe = async (path: string, kind: "other" | "a2a" | "mcp") => {
    const endpoint = `${services.origin}${path}`;
    const { outcome, status, valid } = await probeEndpoint(
      { endpoint, kind },
      { fetch, monotonicMs: () => performance.now() },
    );
    return { outcome, status, valid };
  };
  expect(await probe("/keeper/0", "other")).toEqual({ outcome: "ok", status: 200, valid: null });
  expect(await probe("/keeper/0/a2a", "a2a")).toEqual({ outcome: "ok", status: 200, valid: true });
  expect(await probe("/keeper/0/mcp", "mcp")).toEqual({ outcome: "ok", status: 200, valid: true });
  expect(await probe("/always-failing/0", "other")).toEqual({ outcome: "error", status: 503, valid: null });
  expect(await probe("/unknown", "other")).toEqual({ outcome: "error", status: 404, valid: null });
});

test("serves the documents of services as a gateway of ipfs does", async () => {
  const [first] = SERVICE_DOCUMENTS;
  const path = `/ipfs/f01701220${first?.configHash.slice(2)}`;
  const answer = await fetch(`${services.origin}${path}`);
  expect(await answer.json()).toMatchObject({ name: "Olas Trader" });
});

test("keeps most agents of a population up, some slow and a few failing", () => {
  const answers = ARCHETYPES.flatMap(({ name }) =>
    Array.from({ length: 20 }, (_, index) => answerAt(`/${name}/${index}`)),
  );
  const share = (some: readonly unknown[]) => some.length / answers.length;
  const up = answers.filter(({ status }) => status === 200);
  expect(share(up)).toBeGreaterThan(0.75);
  expect(share(answers.filter(({ status }) => status === 503))).toBeGreaterThan(0.05);
  expect(share(up.filter(({ delayMs }) => delayMs > 1_000))).toBeGreaterThan(0.1);
});

test("names known accounts as the provider of labels, and no others", async () => {
  const source = createNansenSource({
    url: services.labelsUrl,
    apiKey: null,
    provider: DEMO_LABELS,
    deadlineMs: 5_000,
  });
  expect(await source.read(MIXED_CASE)).toEqual({
    kind: "labels",
    labels: [{ label: "Keeper Bot", category: "automation" }],
  });
  expect(await source.read(zeroAddress)).toEqual({ kind: "labels", labels: [] });
});

test("has labels and documents on another port where the agents' is taken, and takes it over once it is free", async () => {
  const first = await startDemoServices({ labels: new Map(), logger, port: 0 });
  const port = Number(new URL(first.origin).port);
  const second = await startDemoServices({ labels: new Map(), logger, port });
  expect(warnings).toEqual([expect.stringContaining(`port ${port}`)]);
  const statusAt = (url: string) =>
    fetch(url).then(
      ({ status }) => status,
      () => null,
    );
  expect(await statusAt(`${second.origin}/keeper/0`)).toBe(200);
  await first.stop();
  await expect.poll(() => statusAt(`http://127.0.0.1:${port}/keeper/0`)).toBe(200);
  await second.stop();
  expect(await statusAt(`http://127.0.0.1:${port}/keeper/0`)).toBeNull();
});
