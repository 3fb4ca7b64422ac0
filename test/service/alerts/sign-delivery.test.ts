import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { signDelivery } from "../../../service/alerts/deliver-event.ts";

const NEW = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const OLD = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
const event = { id: "msg_1", body: '{"type":"subscription.test"}', secret: NEW };

describe("a signed delivery", () => {
  it("is verified by the public library", () => {
    const headers = signDelivery({ ...event, previousSecret: null }, new Date());
    expect(new Webhook(NEW).verify(event.body, headers)).toEqual({ type: "subscription.test" });
    expect(headers["webhook-signature"]?.split(" ")).toHaveLength(1);
  });

  it("is verified by the new and by the old secret after a rotation, and by no other", () => {
    const headers = signDelivery({ ...event, previousSecret: OLD }, new Date());
    expect(new Webhook(NEW).verify(event.body, headers)).toEqual({ type: "subscription.test" });
    expect(new Webhook(OLD).verify(event.body, headers)).toEqual({ type: "subscription.test" });
    expect(() => new Webhook(OTHER).verify(event.body, headers)).toThrow("No matching signature");
  });

  it("is signed anew for every attempt, with the id that it had", () => {
    const first = signDelivery({ ...event, previousSecret: null }, new Date(1_795_000_000_000));
    const second = signDelivery({ ...event, previousSecret: null }, new Date(1_795_000_300_999));
    expect([first["webhook-id"], second["webhook-id"]]).toEqual(["msg_1", "msg_1"]);
    expect(second["webhook-timestamp"]).toBe("1795000300");
    expect(second["webhook-signature"]).not.toBe(first["webhook-signature"]);
  });

  it("does not verify with another body", () => {
    const headers = signDelivery({ ...event, previousSecret: null }, new Date());
    expect(() => new Webhook(NEW).verify("{}", headers)).toThrow("No matching signature");
  });
});
