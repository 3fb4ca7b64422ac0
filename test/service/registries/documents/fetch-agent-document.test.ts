import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type FetchAnswer, type FetchFailure, fetchFailure } from "../../../../service/net/exchange.ts";
import type { GuardedFetch } from "../../../../service/net/guarded-fetch.ts";
import {
  fetchAgentDocument,
  readAgentDocument,
} from "../../../../service/registries/documents/fetch-agent-document.ts";

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

test("no host is asked for a name that is no file of ipfs", async () => {
  const { asked, outcome } = await read("ipfs://169.254.169.254/latest", answered(200, DOCUMENT));
  expect([asked, outcome.state]).toEqual([[], "refused"]);
});

const readDocument = (value: unknown) => readAgentDocument(Buffer.from(JSON.stringify(value)));
const service = (changes: object = {}) => ({
  name: "A2A",
  endpoint: "https://agent.example/card.json",
  version: "0.3.0",
  ...changes,
});

describe("a registration document", () => {
  test("is read for its name, description and services, whatever else it says", () => {
    expect(
      readDocument({
        type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
        name: "Keeper",
        description: "Keeps vaults safe.",
        services: [service({ skills: ["a"] }), { name: "ENS", endpoint: "keeper.eth" }],
        x402Support: true,
        surprise: { deep: [1] },
      }),
    ).toEqual({
      kind: "document",
      name: "Keeper",
      description: "Keeps vaults safe.",
      services: [service(), { name: "ENS", endpoint: "keeper.eth", version: null }],
    });
  });

  test("may call its services endpoints, as earlier drafts did", () => {
    expect(readDocument({ endpoints: [service()] })).toEqual({
      kind: "document",
      name: null,
      description: null,
      services: [service()],
    });
  });

  test("goes by its services where it has both", () => {
    expect(readDocument({ services: [], endpoints: [service()] })).toMatchObject({ services: [] });
  });

  test("may name no service", () => {
    expect(readDocument({ name: "Silent" })).toEqual({
      kind: "document",
      name: "Silent",
      description: null,
      services: [],
    });
  });

  test("loses the entries that are no services, and repeated ones", () => {
    const broken = [{ name: 1 }, { endpoint: null }, { endpoint: "" }].map(service);
    const services = [null, 1, "x", [], {}, ...broken, service(), service({ version: 2 })];
    expect(readDocument({ name: "n", services })).toMatchObject({ services: [service()] });
  });

  test("has no more than 32 services", () => {
    const services = Array.from({ length: 800 }, (_, i) => service({ endpoint: `https://a.example/${i}` }));
    const document = readDocument({ services });
    expect(document.kind === "document" && document.services.length).toBe(32);
  });

  test("has texts that a database can hold", () => {
    const document = readAgentDocument(
      Buffer.from(
        String.raw`{"name":"a\u0000b\ud800","description":"Tra\u0000des.","services":[{"name":"w\u0000","endpoint":"x\u0000y"}]}`,
      ),
    );
    expect(document).toEqual({ kind: "document", name: "ab\ufffd", description: "Trades.", services: [] });
  });
});

test.each([
  ["nothing", Buffer.alloc(0), "it is not JSON"],
  ["half of a document", Buffer.from('{"name":"x'), "it is not JSON"],
  ["bytes of no text", Buffer.from([0xff, 0xfe, 0x00]), "it is not JSON"],
  ["a page", Buffer.from("<!doctype html>"), "it is not JSON"],
  ["a list", Buffer.from("[]"), "it is not a JSON object"],
  ["null", Buffer.from("null"), "it is not a JSON object"],
  ["an error in JSON", Buffer.from('{"error":"not found"}'), "it has neither a name nor a list of services"],
  ["sixty thousand open brackets", Buffer.from("[".repeat(60_000)), "it is not JSON"],
])("%s is malformed", (_name, body, detail) => {
  expect(readAgentDocument(body)).toEqual({ kind: "malformed", detail });
});
