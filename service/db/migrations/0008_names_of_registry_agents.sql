ALTER TABLE "ahs"."registry_agent" ADD COLUMN "name" text;--> statement-breakpoint
CREATE INDEX "registry_agent_name" ON "ahs"."registry_agent" USING btree ("chain_id",lower(left(name, 64)) text_pattern_ops,"registry","agent_id");--> statement-breakpoint
CREATE INDEX "registry_agent_part" ON "ahs"."registry_agent" USING gin (lower(left(name, 64)) public.gin_trgm_ops);