CREATE INDEX "publish_intent_score" ON "ahs"."publish_intent" USING btree ("score_id");--> statement-breakpoint
CREATE INDEX "current_score_score" ON "ahs"."current_score" USING btree ("score_id");--> statement-breakpoint
ALTER TABLE "ahs"."api_key" ADD CONSTRAINT "api_key_balance" CHECK ("ahs"."api_key"."balance_units" >= 0);