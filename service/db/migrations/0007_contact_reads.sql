DROP INDEX "ahs"."contact_account";--> statement-breakpoint
CREATE INDEX "contact_account" ON "ahs"."contact" USING btree ("chain_id","account","counterparty","calls");