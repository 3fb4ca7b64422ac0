import { describe, expect, it } from "vitest";
import { bodyOf, WALLET, WITH_KEY } from "../fake-ports.ts";
import { fakeBothApp, fakeVerificationApp, WELL } from "./fake-verification-ports.ts";

describe("GET /health", () => {
  it("is 200 with every check while nothing fails", async () => {
    const response = await fakeVerificationApp().request("/health");
    expect([response.status, await bodyOf<unknown>(response)]).toEqual([
      200,
      { status: "ok", service: "agent-health-verification", version: "0.1.0", checks: WELL },
    ]);
  });

  it.each(["database", "queue", "model", "chain"])(
    "is 503 with the same body when %s fails",
    async (name) => {
      const checks = { ...WELL, [name]: { status: "failing" as const, detail: "does not answer" } };
      const app = fakeVerificationApp({ verificationHealth: async () => checks });
      const response = await app.request("/health");
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await bodyOf<unknown>(response)).toMatchObject({ status: "unavailable", checks });
    },
  );

  it("is 200 without a configured model, and says so", async () => {
    const checks = { ...WELL, model: { status: "not_configured" as const, detail: "no model" } };
    const app = fakeVerificationApp({ verificationHealth: async () => checks });
    expect((await app.request("/health")).status).toBe(200);
  });

  it("stands beside the priced diagnosis of a wallet, which it takes nothing from", async () => {
    const app = fakeBothApp();
    expect((await app.request("/health")).status).toBe(200);
    expect((await app.request(`/health/${WALLET}`)).status).toBe(401);
    expect((await app.request(`/health/${WALLET}`, WITH_KEY)).status).toBe(200);
  });
});
