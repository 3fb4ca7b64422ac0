import { Hono } from "hono";
import { expect, test } from "vitest";
import { Problem } from "../../../../service/access/problems.ts";
import type { ApiEnv } from "../../../../service/api/kit/api-env.ts";
import { requireOwnSite } from "../../../../service/api/pages/mount-pages.ts";

const ORIGIN = "https://health.example";

/** A server behind a proxy, that is asked by http. */
const app = new Hono<ApiEnv>();
app.post("/form", (context) => {
  requireOwnSite(context, ORIGIN);
  return context.text("taken");
});
app.onError((error, context) => context.text(error instanceof Problem ? error.code : "fault", 403));

async function send(headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await app.request("http://10.0.0.7:4020/form", { method: "POST", headers, body: "a=b" });
  return response.text();
}

test("a form of this site is taken, by whichever of its names it was opened", async () => {
  for (const headers of [
    { origin: ORIGIN, "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin" },
    { origin: ORIGIN },
    { origin: "http://10.0.0.7:4020" },
  ])
    expect([headers, await send(headers)]).toEqual([headers, "taken"]);
});

test("a form of another site is refused, whatever its type, and so is one that does not say where it comes from", async () => {
  const types = [
    "application/x-www-form-urlencoded",
    "text/plain",
    "multipart/form-data",
    "application/json",
    "",
  ];
  const from: Readonly<Record<string, string>>[] = [
    {},
    { origin: "null" },
    { origin: "https://evil.example" },
    { origin: "https://health.example.evil.example" },
    { origin: "http://health.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "anything" },
    { origin: ORIGIN, "sec-fetch-site": "cross-site" },
    { origin: "null", "sec-fetch-site": "same-origin" },
    { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
  ];
  for (const type of types) {
    for (const headers of from) {
      const sent: Record<string, string> = { ...headers, ...(type === "" ? {} : { "content-type": type }) };
      expect([sent, await send(sent)]).toEqual([sent, "cross-site"]);
    }
  }
});
