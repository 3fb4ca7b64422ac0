import { describe, expect, it } from "vitest";
import { SCORING_ENDPOINTS } from "../../../service/api/create-app.ts";
import { VERIFICATION_ENDPOINTS } from "../../../service/api/create-verification-app.ts";
import { bodyOf, fakeApp, NOW, WALLET, WITH_KEY } from "./fake-ports.ts";
import {
  bothPorts,
  fakeBothApp,
  fakeVerificationApp,
  VERDICT_ID,
} from "./verification/fake-verification-ports.ts";

type App = ReturnType<typeof fakeVerificationApp>;

const alone = () => ({ scoring: fakeApp().app as App, verification: fakeVerificationApp() });
const textOf = async (app: App, path: string) => (await app.request(path)).text();
const statusOf = async (app: App, path: string) => (await app.request(path)).status;

async function toolsOf(app: App): Promise<readonly string[]> {
  const asked = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const response = await app.request("/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify(asked),
  });
  const text = await response.text();
  const line =
    text
      .split("\n")
      .find((one) => one.startsWith("data:"))
      ?.slice(5) ?? text;
  const answer: { result: { tools: { name: string }[] } } = JSON.parse(line);
  return answer.result.tools.map(({ name }) => name);
}

const VERIFICATION_TOOLS = [
  "register_spec",
  "verify_output",
  "get_verdict",
  "get_evidence",
  "offer_evidence",
  "appeal_verdict",
  "get_receipt",
];

describe("the verification interface alone", () => {
  it("answers its own paths and none of scoring's", async () => {
    const { verification } = alone();
    expect(await statusOf(verification, `/v1/verdicts/${VERDICT_ID}`)).toBe(200);
    expect(await statusOf(verification, "/health")).toBe(200);
    for (const path of ["/openapi.json", `/risk/${WALLET}`, `/health/${WALLET}`])
      expect([path, await statusOf(verification, path)]).toEqual([path, 404]);
  });

  it("describes itself alone", async () => {
    const { verification } = alone();
    const texts = await Promise.all([
      textOf(verification, "/llms.txt"),
      textOf(verification, "/.well-known/agent-registration.json"),
    ]);
    for (const text of texts) {
      expect(text).toContain("/v1/openapi.json");
      expect(text).not.toContain("/ahs/");
      expect(text).not.toContain("https://health.example/openapi.json");
    }
    expect(await toolsOf(verification)).toEqual([...VERIFICATION_TOOLS, "list_prices"]);
  });

  it("shows its reference at /v1/docs, to which /docs leads", async () => {
    const { verification } = alone();
    const page = await textOf(verification, "/v1/docs");
    for (const { path } of VERIFICATION_ENDPOINTS) expect(page).toContain(`<code>${path}</code>`);
    expect(page).not.toContain("<code>/ahs/{address}</code>");
    const moved = await verification.request("/docs");
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "/v1/docs"]);
  });
});

describe("the scoring interface alone", () => {
  it("answers and describes nothing of verification", async () => {
    const { scoring } = alone();
    for (const path of ["/health", "/v1/openapi.json", "/v1/docs", `/v1/verdicts/${VERDICT_ID}`])
      expect([path, await statusOf(scoring, path)]).toEqual([path, 404]);
    expect(await textOf(scoring, "/llms.txt")).not.toContain("/v1/");
    expect(await toolsOf(scoring)).not.toEqual(expect.arrayContaining(["verify_output"]));
  });
});

describe("both interfaces on one port", () => {
  it("answer each of their paths", async () => {
    const app = fakeBothApp();
    expect(await statusOf(app, `/v1/verdicts/${VERDICT_ID}`)).toBe(200);
    expect((await app.request(`/risk/${WALLET}`, WITH_KEY)).status).toBe(200);
  });

  it("keep a document each, the same as alone", async () => {
    const { scoring, verification } = alone();
    const both = fakeBothApp();
    expect(await textOf(both, "/openapi.json")).toBe(await textOf(scoring, "/openapi.json"));
    expect(await textOf(both, "/v1/openapi.json")).toBe(await textOf(verification, "/v1/openapi.json"));
  });

  it("refer to each other", async () => {
    const both = fakeBothApp();
    expect(await textOf(both, "/docs")).toContain('<a href="/v1/docs">Agent Health output verification</a>');
    expect(await textOf(both, "/v1/docs")).toContain('<a href="/docs">Agent Health</a>');
  });

  it("share llms.txt, tools and the payment manifest, which describe all", async () => {
    const ports = bothPorts();
    const app = fakeBothApp({
      discovery: {
        ...ports.discovery,
        paymentTerms: ({ units }) => [
          {
            ...{ scheme: "exact", network: "eip155:31337", asset: WALLET, payTo: WALLET },
            ...{ amount: String(units), maxTimeoutSeconds: 60, extra: {} },
          },
        ],
      },
      clock: { now: () => NOW, monotonicMs: () => 0 },
    });
    const text = await textOf(app, "/llms.txt");
    const priced = [...SCORING_ENDPOINTS, ...VERIFICATION_ENDPOINTS].filter(({ price }) => price !== null);
    for (const { method, path } of priced) expect(text).toContain(`[${method.toUpperCase()} ${path}]`);
    expect(await toolsOf(app)).toEqual(expect.arrayContaining([...VERIFICATION_TOOLS, "route_payment"]));
    type Manifest = {
      readonly resources: readonly { readonly url_template: string; readonly body: unknown }[];
    };
    const { resources } = await bodyOf<Manifest>(await app.request("/.well-known/x402"));
    const withExample = priced.filter(({ path }) => !path.includes("{verdict_id}"));
    expect(resources).toHaveLength(withExample.length);
    expect(resources.find(({ url_template }) => url_template.endsWith("/v1/outputs"))?.body).toMatchObject({
      spec_id: expect.any(String),
      output_text: expect.any(String),
      submitter_addr: expect.any(String),
      provider_addr: expect.any(String),
    });
  });
});
