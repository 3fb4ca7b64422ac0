ALTER TABLE "ahs"."webhook_endpoint" ADD COLUMN "delivering_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ahs"."scan_run" ADD COLUMN "reach" bigint;--> statement-breakpoint
CREATE INDEX "webhook_event_next" ON "ahs"."webhook_event" USING btree ("endpoint_id","not_before") WHERE state = 'pending';