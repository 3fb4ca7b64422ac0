CREATE TABLE "ahs"."pending_fact" (
	"chain_id" integer NOT NULL,
	"address" text NOT NULL,
	"wallet" text NOT NULL,
	"ancestor" boolean NOT NULL,
	"due_at" bigint NOT NULL,
	"asked" integer NOT NULL,
	CONSTRAINT "pending_fact_chain_id_address_wallet_pk" PRIMARY KEY("chain_id","address","wallet")
);
--> statement-breakpoint
CREATE INDEX "pending_fact_due" ON "ahs"."pending_fact" USING btree ("chain_id","wallet","due_at");--> statement-breakpoint
INSERT INTO "ahs"."pending_fact"
WITH "direct" AS (
	SELECT "chain_id", "wallet" AS "address", "wallet", 0::bigint AS "since" FROM "ahs"."enrich_wallet"
	UNION ALL
	SELECT "c"."chain_id", "c"."counterparty", "c"."account", "c"."first_time"
	FROM "ahs"."contact" "c" JOIN "ahs"."enrich_wallet" "w" ON "w"."chain_id" = "c"."chain_id" AND "w"."wallet" = "c"."account"
	UNION ALL
	SELECT "a"."chain_id", "a"."spender", "a"."owner", "a"."timestamp"
	FROM "ahs"."enrich_approval" "a" JOIN "ahs"."enrich_wallet" "w" ON "w"."chain_id" = "a"."chain_id" AND "w"."wallet" = "a"."owner"
), "wanted" AS (
	SELECT "chain_id", "address", "wallet", false AS "ancestor", "since" FROM "direct"
	UNION ALL
	SELECT "d"."chain_id", "parent", "d"."wallet", true, "d"."since"
	FROM "direct" "d" JOIN "ahs"."account_fact" "f" ON "f"."chain_id" = "d"."chain_id" AND "f"."address" = "d"."address"
	CROSS JOIN LATERAL (VALUES ("f"."creator"), ("f"."first_funder")) AS "parents" ("parent")
	WHERE "parent" IS NOT NULL
)
SELECT "chain_id", "address", "wallet", bool_and("ancestor"), min("since"), 0 FROM "wanted" "w"
WHERE NOT EXISTS (
	SELECT FROM "ahs"."account_fact" "f"
	WHERE "f"."chain_id" = "w"."chain_id" AND "f"."address" = "w"."address"
		AND ("f"."has_code" OR "f"."creator" IS NOT NULL OR "f"."first_funder" IS NOT NULL OR "f"."existed_at" IS NOT NULL)
)
GROUP BY "chain_id", "address", "wallet";
