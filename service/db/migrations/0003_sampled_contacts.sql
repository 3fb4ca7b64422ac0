CREATE TABLE "ahs"."sampled_contact" (
	"chain_id" integer NOT NULL,
	"counterparty" text NOT NULL,
	"account" text NOT NULL,
	"calls" integer NOT NULL,
	"first_block" bigint NOT NULL,
	"first_time" bigint NOT NULL,
	"last_block" bigint NOT NULL,
	"last_time" bigint NOT NULL,
	CONSTRAINT "sampled_contact_chain_id_counterparty_account_pk" PRIMARY KEY("chain_id","counterparty","account")
);
--> statement-breakpoint
-- Of accounts that are not followed contacts keep funds alone; what one called while it was followed stays.
UPDATE "ahs"."contact" c SET calls = (
	SELECT count(*) FROM ahs.own_call o
	WHERE o.chain_id = c.chain_id AND o.wallet = c.account AND o.source = 'enrich'
		AND (o.position = 0 OR (o.ok AND (o.recipient IS NOT NULL OR o."to" = any(o.emitters))))
		AND coalesce(o.recipient, o."to") = c.counterparty)
FROM "ahs"."stranger" s
WHERE s.chain_id = c.chain_id AND s.account = c.account AND c.calls > 0;
--> statement-breakpoint
DELETE FROM "ahs"."contact" WHERE calls = 0 AND sent_micro_usd = 0;
--> statement-breakpoint
-- Rows of blocks with own calls: sampled blocks are read as they are needed.
TRUNCATE "ahs"."enrich_block";
--> statement-breakpoint
ALTER TABLE "ahs"."stranger" DISABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP TABLE "ahs"."stranger" CASCADE;--> statement-breakpoint
ALTER TABLE "ahs"."enrich_block" ALTER COLUMN "transactions" DROP NOT NULL;--> statement-breakpoint
CREATE INDEX "sampled_contact_account" ON "ahs"."sampled_contact" USING btree ("chain_id","account","counterparty","calls");--> statement-breakpoint
CREATE INDEX "sampled_contact_last" ON "ahs"."sampled_contact" USING btree ("chain_id","last_time");