import { afterEach, describe, expect, it } from "vitest";
import { createModelProbe } from "../../../../service/verification/panel/probe-models.ts";
import { API_KEY } from "./a-panel.ts";
import { type ModelServer, type Respond, refuse, send, startModelServer, stayOpen } from "./model-server.ts";

let server: ModelServer;
afterEach(() => server.close());

async function probeOf(respond: () => Respond) {
  server = await startModelServer(respond);
  return createModelProbe({ baseUrl: server.baseUrl, apiKey: API_KEY });
}

describe("the probe of the model server", () => {
  it.each([
    ["lists its models", send({ object: "list", data: [] }), null],
    ["has no list", refuse(404, "no such path"), null],
    ["answers with something else", send("ready"), null],
    ["fails", refuse(503, "down"), "HTTP status 503"],
    ["limits us", refuse(429, "slow down"), "HTTP status 429"],
    ["does not know our key", refuse(401, `Incorrect API key provided: ${API_KEY}`), "HTTP status 401"],
    ["says nothing", stayOpen, "no answer within 2 s"],
  ])("tells of one that %s", async (_, respond, detail) => {
    const probe = await probeOf(() => respond);
    expect(await probe()).toEqual({ isReachable: detail === null, detail });
    expect(server.calls[0]?.path).toBe("/v1/models");
  });

  it("tells of one that is not there", async () => {
    const probe = await probeOf(() => stayOpen);
    await server.close();
    expect(await probe()).toEqual({ isReachable: false, detail: "the connection failed (ECONNREFUSED)" });
  });

  it("keeps nothing: what it said before is not what it says now", async () => {
    let respond = send({ data: [] });
    const probe = await probeOf(() => respond);
    expect((await probe()).isReachable).toBe(true);
    respond = refuse(503, "down");
    expect((await probe()).isReachable).toBe(false);
  });
});
