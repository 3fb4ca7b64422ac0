DROP INDEX "ahs"."score_latest";--> statement-breakpoint
CREATE INDEX "score_by_time" ON "ahs"."score" USING btree ("chain_id","wallet","as_of_time","id");