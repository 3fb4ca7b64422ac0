ALTER TABLE "ahs"."registry_agent" ADD COLUMN "description" text;--> statement-breakpoint
ALTER TABLE "ahs"."registry_agent" ADD COLUMN "services" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."registry_agent" ADD COLUMN "document_state" text;--> statement-breakpoint
ALTER TABLE "ahs"."registry_agent" ADD COLUMN "document_detail" text;--> statement-breakpoint
ALTER TABLE "ahs"."registry_agent" ADD COLUMN "fetched_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ahs"."registry_agent" ADD COLUMN "attempts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."registry_agent" ADD COLUMN "not_before" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "registry_agent_due" ON "ahs"."registry_agent" USING btree ("chain_id","not_before") WHERE not_before is not null;--> statement-breakpoint
UPDATE "ahs"."registry_agent" SET "not_before" = 'epoch' WHERE "uri" IS NOT NULL;
