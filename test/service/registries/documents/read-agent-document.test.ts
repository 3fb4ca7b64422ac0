import { describe, expect, test } from "vitest";
import { readAgentDocument } from "../../../../service/registries/documents/read-agent-document.ts";

const read = (value: unknown) => readAgentDocument(Buffer.from(JSON.stringify(value)));
const service = (changes: object = {}) => ({
  name: "A2A",
  endpoint: "https://agent.example/card.json",
  version: "0.3.0",
  ...changes,
});

describe("a registration document", () => {
  test("is read for its name and services, whatever else it says", () => {
    expect(
      read({
        type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
        name: "Keeper",
        services: [service({ skills: ["a"] }), { name: "ENS", endpoint: "keeper.eth" }],
        x402Support: true,
        surprise: { deep: [1] },
      }),
    ).toEqual({
      kind: "document",
      name: "Keeper",
      services: [service(), { name: "ENS", endpoint: "keeper.eth", version: null }],
    });
  });

  test("may call its services endpoints, as earlier drafts did", () => {
    expect(read({ endpoints: [service()] })).toEqual({ kind: "document", name: null, services: [service()] });
  });

  test("goes by its services where it has both", () => {
    expect(read({ services: [], endpoints: [service()] })).toMatchObject({ services: [] });
  });

  test("may name no service", () => {
    expect(read({ name: "Silent" })).toEqual({ kind: "document", name: "Silent", services: [] });
  });

  test("loses the entries that are none, and those said twice", () => {
    const broken = [
      null,
      1,
      "x",
      [],
      {},
      service({ name: 1 }),
      service({ endpoint: null }),
      service({ endpoint: "" }),
    ];
    expect(read({ name: "n", services: [...broken, service(), service({ version: 2 })] })).toMatchObject({
      services: [service()],
    });
  });

  test("has no more than 32 services", () => {
    const services = Array.from({ length: 800 }, (_, i) => service({ endpoint: `https://a.example/${i}` }));
    const document = read({ services });
    expect(document.kind === "document" && document.services.length).toBe(32);
  });

  test("has texts that a database can hold", () => {
    const document = readAgentDocument(
      Buffer.from(
        String.raw`{"name":"a\u0000b\ud800","services":[{"name":"w\u0000","endpoint":"x\u0000y"}]}`,
      ),
    );
    expect(document).toEqual({ kind: "document", name: "ab\ufffd", services: [] });
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
