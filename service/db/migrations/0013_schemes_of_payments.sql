DROP INDEX "ahs"."payment_authorization";--> statement-breakpoint
ALTER TABLE "ahs"."payment" ADD COLUMN "scheme" text DEFAULT 'exact' NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."payment" ADD COLUMN "charged_amount" numeric;--> statement-breakpoint
CREATE UNIQUE INDEX "payment_authorization" ON "ahs"."payment" USING btree ("chain_id","asset","payer","nonce","scheme");