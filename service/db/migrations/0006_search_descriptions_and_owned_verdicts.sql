CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;--> statement-breakpoint
ALTER TABLE "ahs"."agent_document" ADD COLUMN "description" text;--> statement-breakpoint
CREATE INDEX "agent_document_part" ON "ahs"."agent_document" USING gin (lower(left(name, 64)) public.gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "verdict_owner" ON "ahs"."verdict" USING btree ("owner","created_at" DESC NULLS LAST);