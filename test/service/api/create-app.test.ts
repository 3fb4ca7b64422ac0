import { describe, expect, it } from "vitest";
import { bodyOf, fakeApp, fakeLedger, fakePorts, KEY, WALLET, WITH_KEY } from "./fake-ports.ts";

const ROUTE = `/ahs/route/${WALLET}`;

const failing = () =>
  fakeApp({
    scoreNow: async () => {
      throw new Error("broken");
    },
  }).app;

const ANSWERS = [
  [200, () => fakeApp().app.request(ROUTE, WITH_KEY)],
  [401, () => fakeApp().app.request(ROUTE)],
  [402, () => fakeApp({}, fakeLedger({ balanceUnits: 0 })).app.request(ROUTE, WITH_KEY)],
  [404, () => fakeApp().app.request("/nothing/here")],
  [405, () => fakeApp().app.request(ROUTE, { method: "DELETE" })],
  [422, () => fakeApp().app.request("/ahs/route/0x12")],
  [500, () => failing().request(`/ahs/${WALLET}`, WITH_KEY)],
  [503, () => fakeApp({ maxIndexAgeSeconds: 1 }).app.request(ROUTE, WITH_KEY)],
  [
    204,
    () =>
      fakeApp().app.request(ROUTE, {
        method: "OPTIONS",
        headers: { "Access-Control-Request-Method": "GET" },
      }),
  ],
] as const;

describe("every answer", () => {
  it.each(ANSWERS)("%i carries the headers of the interface", async (status, ask) => {
    const response = await ask();
    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-request-id": "generated-id",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "strict-origin-when-cross-origin",
      "access-control-allow-origin": "*",
      "access-control-expose-headers":
        "X-Charged-Usd, X-Balance-Usd, PAYMENT-REQUIRED, PAYMENT-RESPONSE, RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Digest, X-Request-Id, WWW-Authenticate, Mcp-Session-Id, Mcp-Protocol-Version",
    });
  });

  it.each(ANSWERS.filter(([status]) => !new Set<number>([200, 204, 422]).has(status)))(
    "%i is a problem",
    async (status, ask) => {
      const response = await ask();
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      const body = await bodyOf(response);
      expect(Object.keys(body)).toEqual(["type", "title", "status", "detail", "instance", "request_id"]);
      expect(body).toMatchObject({ status, request_id: "generated-id" });
    },
  );

  it("repeats the caller's request id in header, problem and log", async () => {
    const { app, log } = fakeApp();
    const response = await app.request(ROUTE, { headers: { "X-Request-Id": "job-17.retry:2" } });
    expect(response.headers.get("x-request-id")).toBe("job-17.retry:2");
    expect((await bodyOf(response)).request_id).toBe("job-17.retry:2");
    expect(log.map((line) => JSON.parse(line).request_id)).toEqual(["job-17.retry:2"]);
  });

  it.each(["", "two words", "x".repeat(129), 'quote"'])("replaces the request id %j", async (given) => {
    const response = await fakeApp().app.request("/livez", { headers: { "X-Request-Id": given } });
    expect(response.headers.get("x-request-id")).toBe("generated-id");
  });
});

describe("a browser", () => {
  it("lists the methods and headers that a browser may send", async () => {
    const response = await fakeApp().app.request(ROUTE, {
      method: "OPTIONS",
      headers: { Origin: "https://a.example", "Access-Control-Request-Method": "PUT" },
    });
    expect(response.headers.get("access-control-allow-methods")).toBe(
      "GET, HEAD, POST, PUT, DELETE, OPTIONS",
    );
    expect(response.headers.get("access-control-allow-headers")).toContain("X-API-Key");
    expect(response.headers.get("access-control-allow-headers")).toContain("PAYMENT-SIGNATURE");
  });

  it.each([
    ["https://a.example", "https://a.example"],
    ["https://b.example", null],
  ])("from %s is allowed %s where origins are listed", async (origin, allowed) => {
    const { app } = fakeApp({ allowedOrigins: ["https://a.example"] });
    const response = await app.request("/livez", { headers: { Origin: origin } });
    expect(response.headers.get("access-control-allow-origin")).toBe(allowed);
    expect(response.headers.get("vary")).toBe("Origin");
  });
});

describe("a method that a path does not have", () => {
  it("of a page is 405 with the ones it has", async () => {
    const response = await fakeApp().app.request("/docs", { method: "POST" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  it("OPTIONS lists the ones it has", async () => {
    const response = await fakeApp().app.request(ROUTE, { method: "OPTIONS" });
    expect([response.status, response.headers.get("allow")]).toEqual([204, "GET, OPTIONS"]);
  });
});

describe("/metrics", () => {
  it("counts answers by route and status, and never by address", async () => {
    const { app } = fakeApp({ socketAddress: () => "127.0.0.1" });
    await app.request(ROUTE, WITH_KEY);
    await app.request(ROUTE);
    await app.request("/no/such/path");
    const text = await (await app.request("/metrics")).text();
    expect(text).toContain(
      'ahs_http_requests_total{route="/ahs/route/{address}",method="GET",status="200"} 1',
    );
    expect(text).toContain(
      'ahs_http_requests_total{route="/ahs/route/{address}",method="GET",status="401"} 1',
    );
    expect(text).toContain('ahs_http_requests_total{route="unmatched",method="GET",status="404"} 1');
    expect(text).not.toContain(WALLET);
    expect(text).not.toContain(KEY);
  });

  it.each([
    ["another machine", () => "192.0.2.7", {}],
    ["a proxy on this machine", () => "::1", { "x-forwarded-for": "192.0.2.7" }],
    ["nowhere", () => null, {}],
  ])("is no page for %s", async (_name, socketAddress, headers) => {
    const { app } = fakeApp({ socketAddress });
    expect((await app.request("/metrics", { headers })).status).toBe(404);
  });

  it("is no page where it has a port of its own", async () => {
    const { app } = fakeApp({ socketAddress: () => "127.0.0.1", metricsPage: "elsewhere" });
    expect((await app.request("/metrics")).status).toBe(404);
  });
});

describe("browsers", () => {
  it("require https if the service is reached by https", async () => {
    const { ports } = fakePorts();
    const http = { ...ports.discovery, origin: "http://127.0.0.1:4020" };
    const transportSecurity = async (discovery: typeof http) =>
      (await fakeApp({ discovery }).app.request("/livez")).headers.get("strict-transport-security");
    expect([await transportSecurity(ports.discovery), await transportSecurity(http)]).toEqual([
      "max-age=31536000",
      null,
    ]);
  });

  it("may send and read what MCP clients need", async () => {
    const { app } = fakeApp();
    const preflight = await app.request("/mcp", {
      method: "OPTIONS",
      headers: { origin: "https://page.example", "access-control-request-method": "POST" },
    });
    const allowed = preflight.headers.get("access-control-allow-headers")?.toLowerCase().split(", ");
    expect(allowed).toEqual(
      expect.arrayContaining(["mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"]),
    );
    expect(preflight.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
  });
});
