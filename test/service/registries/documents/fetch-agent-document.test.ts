import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type FetchAnswer, type FetchFailure, fetchFailure } from "../../../../service/net/exchange.ts";
import type { GuardedFetch } from "../../../../service/net/guarded-fetch.ts";
import { fetchAgentDocument } from "../../../../service/registries/documents/fetch-agent-document.ts";

const DOCUMENT = JSON.stringify({ name: "on ipfs", services: [] });
const RAW = `f01551220${createHash("sha256").update(DOCUMENT).digest("hex")}`;
const FOLDER = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";

function answered(status: number, body: string): FetchAnswer {
  return { kind: "answered", status, headers: new Map(), body: Buffer.from(body) };
}

async function read(uri: string, answer: FetchAnswer | FetchFailure) {
  const asked: string[] = [];
  const fetch: GuardedFetch = async ({ url }) => {
    asked.push(url);
    return answer;
  };
  const outcome = await fetchAgentDocument(uri, { fetch, ipfsGateway: "https://g.example" });
  return { asked, outcome };
}

test("a document of ipfs is read from the gateway", async () => {
  const { asked, outcome } = await read(`ipfs://${FOLDER}/agent.json`, answered(200, DOCUMENT));
  expect(asked).toEqual([`https://g.example/ipfs/${FOLDER}/agent.json`]);
  expect(outcome).toMatchObject({ state: "current", name: "on ipfs", services: [] });
});

test("a single block that the gateway changed is not believed", async () => {
  expect((await read(`ipfs://${RAW}`, answered(200, DOCUMENT))).outcome).toMatchObject({ state: "current" });
  expect((await read(`ipfs://${RAW}`, answered(200, `${DOCUMENT} `))).outcome).toEqual({
    state: "malformed",
    detail: "What the gateway served is not what the CID names.",
  });
});

test.each([
  ["vanished", answered(504, ""), "unreachable"],
  ["moved elsewhere", answered(301, ""), "unreachable"],
  ["endless", fetchFailure("too_large"), "malformed"],
  ["slow", fetchFailure("timeout"), "unreachable"],
  ["no document", answered(200, "<html>"), "malformed"],
  ["behind a gateway that the guard refuses", fetchFailure("refused_target"), "refused"],
] as const)("a document of ipfs that is %s is %s", async (_, answer, state) => {
  expect((await read(`ipfs://${FOLDER}`, answer)).outcome.state).toBe(state);
});

test("nobody is asked for what names no file of ipfs", async () => {
  const { asked, outcome } = await read("ipfs://169.254.169.254/latest", answered(200, DOCUMENT));
  expect([asked, outcome.state]).toEqual([[], "refused"]);
});
